#include "xla_indexing/hlo/proto/wire_format.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/text/parts/lexer.h"

namespace xla_indexing::internal {
namespace {

// The largest number that a field can have.
constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

absl::string_view Emptied(absl::string_view at) { return at.substr(0, 0); }

}  // namespace

bool ReadVarint(absl::string_view* bytes, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    // The tenth byte holds the highest bit alone.
    if (i == 9 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 127) << (7 * i);
    if (byte < 128) {
      bytes->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

std::string Shown(absl::string_view bytes) {
  constexpr size_t kMostBytes = 60;
  return absl::StrCat(absl::CEscape(bytes.substr(0, kMostBytes)),
                      bytes.size() > kMostBytes ? "..." : "");
}

uint64_t LittleEndian(const char* bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

bool ProtoSource::KeepError(const char* at, absl::string_view message) {
  if (failed()) return false;
  absl::StrAppend(&error_, "byte ", at - begin_, ", ");
  if (path_.empty()) absl::StrAppend(&error_, what_);
  // A deep path is shown by its beginning and its end.
  constexpr size_t kFirstShown = 8;
  constexpr size_t kLastShown = 2;
  for (size_t i = 0; i < path_.size(); ++i) {
    if (i == kFirstShown && path_.size() > kFirstShown + kLastShown) {
      absl::StrAppend(&error_, "..");
      i = path_.size() - kLastShown;
    }
    absl::StrAppend(&error_, i == 0 ? "" : ".", path_[i].name);
    if (path_[i].index >= 0) absl::StrAppend(&error_, "[", path_[i].index, "]");
  }
  if (!name_.empty()) absl::StrAppend(&error_, " (", kind_, " '", name_, "')");
  absl::StrAppend(&error_, ": ", message);
  return false;
}

ProtoSource::Scope::Scope(ProtoSource& source, const char* name, const char* place, int64_t index)
    : source_(source),
      outer_place_(source.place_),
      ok_(source.path_.size() < static_cast<size_t>(kMaxParseDepth)) {
  if (!ok_) {
    source_.FailAt(place, "messages are nested more than ", kMaxParseDepth, " deep");
  }
  source_.path_.push_back({name, index});
  source_.place_ = place;
}

ProtoSource::Scope::~Scope() {
  source_.path_.pop_back();
  source_.place_ = outer_place_;
}

ProtoSource::Named::Named(ProtoSource& source, absl::string_view kind, absl::string_view name)
    : source_(source), outer_kind_(source.kind_), outer_name_(source.name_) {
  source_.kind_ = kind;
  source_.name_ = name;
}

ProtoSource::Named::~Named() {
  source_.kind_ = outer_kind_;
  source_.name_ = outer_name_;
}

WireMessage::WireMessage(absl::string_view bytes, ProtoSource& source)
    : bytes_(bytes), source_(source) {
  for (absl::string_view rest = bytes; !rest.empty();) {
    const absl::string_view start = rest;
    uint64_t key = 0;
    if (!ReadVarint(&rest, &key) || key >> 3 == 0 || key >> 3 > kMaxFieldNumber) {
      source_.FailAt(start.data(), "no field of a message begins here");
      return;
    }
    WireField& field = fields_.emplace_back();
    field.number = static_cast<uint32_t>(key >> 3);
    numbers_ |= uint64_t{1} << field.number % 64;
    field.type = static_cast<WireType>(key & 7);
    field.bytes = Emptied(start);
    bool complete = false;
    switch (field.type) {
      case WireType::kVarint:
        complete = ReadVarint(&rest, &field.value);
        break;
      case WireType::kFixed64:
      case WireType::kFixed32: {
        const size_t size = field.type == WireType::kFixed64 ? 8 : 4;
        complete = rest.size() >= size;
        if (!complete) break;
        field.value = LittleEndian(rest.data(), size);
        rest.remove_prefix(size);
        break;
      }
      case WireType::kBytes: {
        uint64_t length = 0;
        complete = ReadVarint(&rest, &length) && length <= rest.size();
        if (!complete) break;
        field.bytes = rest.substr(0, length);
        rest.remove_prefix(length);
        break;
      }
      default:
        source_.FailAt(start.data(), "field ", field.number, " has wire type ", key & 7,
                       ", which no field of HLO has");
        return;
    }
    if (!complete) {
      source_.FailAt(start.data(), "field ", field.number, " ends after its message");
      return;
    }
  }
}

const WireField* WireMessage::Find(ProtoField wanted) const {
  if (!MayHave(wanted)) return nullptr;
  for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
    if (field->number == wanted.number) return &*field;
  }
  return nullptr;
}

const WireField* WireMessage::FindBytes(ProtoField wanted) const {
  const WireField* field = Find(wanted);
  return field != nullptr && CheckIsBytes(*field) ? field : nullptr;
}

bool WireMessage::CheckIsBytes(const WireField& field) const {
  return field.type == WireType::kBytes || FailType(field);
}

bool WireMessage::FailType(const WireField& field) const {
  return source_.FailAt(field.bytes.data(), "field ", field.number, " cannot have wire type ",
                        static_cast<int>(field.type));
}

int64_t WireMessage::Integer(ProtoField wanted) const {
  const WireField* field = Find(wanted);
  if (field == nullptr) return 0;
  if (field->type != WireType::kVarint) {
    FailType(*field);
    return 0;
  }
  return static_cast<int64_t>(field->value);
}

uint64_t WireMessage::Fixed(ProtoField wanted, WireType type) const {
  const WireField* field = Find(wanted);
  if (field == nullptr) return 0;
  if (field->type != type) {
    FailType(*field);
    return 0;
  }
  return field->value;
}

float WireMessage::Float(ProtoField wanted) const {
  return std::bit_cast<float>(static_cast<uint32_t>(Fixed(wanted, WireType::kFixed32)));
}

double WireMessage::Double(ProtoField wanted) const {
  return std::bit_cast<double>(Fixed(wanted, WireType::kFixed64));
}

absl::string_view WireMessage::Bytes(ProtoField wanted) const {
  const WireField* field = FindBytes(wanted);
  return field == nullptr ? absl::string_view() : field->bytes;
}

}  // namespace xla_indexing::internal
