// Protocol buffers as bytes: a message taken apart into its fields, without a schema and without a
// library.
//
// A message is a list of fields. Each is a key, `number * 8 + wire type` as a varint, and a value:
//
//   wire type 0   a varint: seven bits a byte, the lowest first, the last byte below 128
//             1   eight bytes, 5 four bytes: the low byte first
//             2   a length as a varint and so many bytes: text, a message, or a packed list of
//                 numbers
//
// Wire types 3 and 4 (groups) are not used by XLA and are errors. A field that is not repeated may
// stand several times; the last one counts. One that is absent is 0, false or empty. Repeated
// numbers stand one field each or packed together.
//
// A `ProtoSource` knows where reading stands, in bytes and in fields, and keeps the first error;
// after it reading continues with defaults until whoever reads looks (`failed`), so that every read
// need not be checked. Memory is taken for what is there, never on the word of a length: a field's
// length is bounded by the message around it. Messages are nested no deeper than kMaxParseDepth.
//
// A field is asked for by its number, and its name next to it says what is read; there is no other list
// of fields. Messages and fields are those of xla/service/hlo.proto and xla/xla_data.proto, as the
// library of jaxlib 0.10.2 describes them to itself; numbers of fields never change.
//
// Example: the bytes 08 96 01 12 02 68 69 are field 1, the varint 150, and field 2, "hi".
//
//   ProtoSource source(bytes, "HloModuleProto");
//   const WireMessage message(bytes, source);
//   message.Integer({1, "id"});  // 150
//   message.Bytes({2, "name"});  // "hi"
//
// Source: the encoding of protocol buffers, protobuf.dev/programming-guides/encoding.

#ifndef XLA_INDEXING_HLO_PROTO_WIRE_FORMAT_H_
#define XLA_INDEXING_HLO_PROTO_WIRE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace xla_indexing::internal {

class ProtoSource {
 public:
  // `bytes` are all that is read; places count from their beginning. `what` names them in errors.
  ProtoSource(absl::string_view bytes, absl::string_view what)
      : begin_(bytes.data()), what_(what) {}
  ProtoSource(const ProtoSource&) = delete;
  ProtoSource& operator=(const ProtoSource&) = delete;

  bool failed() const { return !error_.empty(); }
  // The first error, `byte 123, computations[2].instructions[5].shape: what is wrong`.
  const std::string& error() const { return error_; }

  // Keeps an error found in the message that is being read, or at a place among the bytes, whose message
  // is the parts one after the other. Returns false.
  template <typename... Parts>
  bool Fail(const Parts&... parts) {
    return FailAt(place_, parts...);
  }
  template <typename... Parts>
  bool FailAt(const char* at, const Parts&... parts) {
    return KeepError(at, absl::StrCat(parts...));
  }

  // While it lives, errors name a field of the message that is being read. Fails where that is
  // nested too deep; then `ok` is false and the field must not be read.
  class Scope {
   public:
    static constexpr int64_t kNoIndex = -1;

    // `name` must be a literal. `index` is the position among the repeated fields of that name.
    Scope(ProtoSource& source, const char* name, const char* place, int64_t index = kNoIndex);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    bool ok() const { return ok_; }

   private:
    ProtoSource& source_;
    const char* outer_place_;
    bool ok_;
  };

  // While it lives, errors name the instruction or computation that is being read.
  class Named {
   public:
    Named(ProtoSource& source, absl::string_view kind, absl::string_view name);
    ~Named();
    Named(const Named&) = delete;
    Named& operator=(const Named&) = delete;

   private:
    ProtoSource& source_;
    absl::string_view outer_kind_;
    absl::string_view outer_name_;
  };

 private:
  struct Step {
    const char* name;
    int64_t index;
  };

  bool KeepError(const char* at, absl::string_view message);

  const char* begin_;
  absl::string_view what_;
  const char* place_ = begin_;
  absl::InlinedVector<Step, 8> path_;
  absl::string_view kind_;
  absl::string_view name_;
  std::string error_;
};

// A field of a message, by its number.
struct ProtoField {
  uint32_t number = 0;
  const char* name = "";  // Where errors are found in a message that it holds; a literal.
};

// What a field's value is.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;       // Of kVarint, kFixed64 and kFixed32.
  absl::string_view bytes;  // Of kBytes: the value; otherwise where the field begins, empty.
};

// The fields of a message in their order. What they hold is not read before it is asked for.
class WireMessage {
 public:
  // Takes `bytes`, a part of those of `source`, apart; fails there where they are no message.
  WireMessage(absl::string_view bytes, ProtoSource& source);

  ProtoSource& source() const { return source_; }
  // Keeps an error found in the message (ProtoSource::Fail). Returns a default value.
  template <typename T = bool, typename... Parts>
  T Fail(const Parts&... parts) const {
    source_.Fail(parts...);
    return T();
  }
  absl::string_view bytes() const { return bytes_; }
  absl::Span<const WireField> fields() const { return fields_; }

  bool Has(ProtoField wanted) const { return Find(wanted) != nullptr; }
  // An integer, an enumerator or a bool; 0 where absent.
  int64_t Integer(ProtoField wanted) const;
  bool Bool(ProtoField wanted) const { return Integer(wanted) != 0; }
  float Float(ProtoField wanted) const;
  double Double(ProtoField wanted) const;
  // Text or bytes; empty where absent.
  absl::string_view Bytes(ProtoField wanted) const;

  // The numbers of a repeated field of integers, enumerators or bools.
  template <typename Values>
  void Integers(ProtoField wanted, Values* values) const {
    ForEachVarint(wanted, [&](uint64_t value) {
      values->push_back(static_cast<typename Values::value_type>(value));
    });
  }
  template <typename Visit>
  void ForEachVarint(ProtoField wanted, Visit visit) const;
  // The bits of the numbers of a repeated field of floats (of 4 bytes) or doubles (of 8).
  template <typename Visit>
  void ForEachFixed(ProtoField wanted, size_t size, Visit visit) const;

  // Calls `read(const WireMessage&)` for the message in a field, if it is there.
  template <typename Read>
  void Message(ProtoField wanted, Read read) const {
    const WireField* field = FindBytes(wanted);
    if (field != nullptr) ReadInScope(*field, wanted.name, ProtoSource::Scope::kNoIndex, read);
  }
  // Calls `read(const WireMessage&, int64_t index)` for each message of a repeated field, until one
  // fails.
  template <typename Read>
  void Messages(ProtoField wanted, Read read) const {
    int64_t index = 0;
    for (const WireField& field : fields_) {
      if (field.number != wanted.number || !CheckIsBytes(field)) continue;
      ReadInScope(field, wanted.name, index,
                  [&](const WireMessage& message) { read(message, index); });
      if (source_.failed()) return;
      ++index;
    }
  }
  // Calls `read(absl::string_view)` for each text of a repeated field.
  template <typename Read>
  void Texts(ProtoField wanted, Read read) const {
    for (const WireField& field : fields_) {
      if (field.number == wanted.number && CheckIsBytes(field)) read(field.bytes);
    }
  }

 private:
  // False of most fields that are absent: the others are looked for.
  bool MayHave(ProtoField wanted) const { return (numbers_ >> wanted.number % 64 & 1) != 0; }
  // The last field of that number; null if there is none.
  const WireField* Find(ProtoField wanted) const;
  // The same, of a field that must have bytes.
  const WireField* FindBytes(ProtoField wanted) const;
  bool CheckIsBytes(const WireField& field) const;
  // The bits of a field that must have 4 or 8 bytes; 0 where absent.
  uint64_t Fixed(ProtoField wanted, WireType type) const;
  bool FailType(const WireField& field) const;

  template <typename Read>
  void ReadInScope(const WireField& field, const char* name, int64_t index, Read read) const {
    const ProtoSource::Scope scope(source_, name, field.bytes.data(), index);
    if (!scope.ok()) return;
    const WireMessage message(field.bytes, source_);
    if (!source_.failed()) read(message);
  }

  absl::string_view bytes_;
  ProtoSource& source_;
  absl::InlinedVector<WireField, 16> fields_;
  uint64_t numbers_ = 0;  // Bit `number % 64` of each field.
};

// Reads a varint at the beginning of `*bytes` and takes it off; false where none stands there that
// fits 64 bits.
bool ReadVarint(absl::string_view* bytes, uint64_t* value);
// Bytes as a message about them shows them: the first ones, with escapes for what is not printable.
std::string Shown(absl::string_view bytes);
// The number in the first `size` bytes, the lowest first.
uint64_t LittleEndian(const char* bytes, size_t size);

template <typename Visit>
void WireMessage::ForEachVarint(ProtoField wanted, Visit visit) const {
  if (!MayHave(wanted)) return;
  for (const WireField& field : fields_) {
    if (field.number != wanted.number) continue;
    if (field.type == WireType::kVarint) {
      visit(field.value);
    } else if (field.type == WireType::kBytes) {
      for (absl::string_view rest = field.bytes; !rest.empty();) {
        const char* const start = rest.data();
        uint64_t value = 0;
        if (!ReadVarint(&rest, &value)) {
          source_.FailAt(start, "this is no varint of 64 bits");
          return;
        }
        visit(value);
      }
    } else {
      FailType(field);
    }
  }
}

template <typename Visit>
void WireMessage::ForEachFixed(ProtoField wanted, size_t size, Visit visit) const {
  const WireType type = size == 4 ? WireType::kFixed32 : WireType::kFixed64;
  for (const WireField& field : fields_) {
    if (field.number != wanted.number) continue;
    if (field.type == type) {
      visit(field.value);
    } else if (field.type != WireType::kBytes) {
      FailType(field);
    } else if (field.bytes.size() % size != 0) {
      source_.FailAt(field.bytes.data(), "the bytes of a packed list end within a number");
    } else {
      for (size_t at = 0; at < field.bytes.size(); at += size) {
        visit(LittleEndian(field.bytes.data() + at, size));
      }
    }
  }
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_WIRE_FORMAT_H_
