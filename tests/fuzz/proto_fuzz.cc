// Whatever the bytes, the reader of protocol buffers gives a module or an error with its place; a
// module that it gives prints as text that reads back as an equal module, and can be verified and
// asked where its instructions come from.
//
// Inputs are changed as messages, so that the lengths around what is changed stay right: fields,
// taken apart as far as their bytes are fields themselves, are left out, said twice, exchanged,
// given another number or another value. Now and then bytes are changed instead.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/proto/proto_reader.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing::fuzz {
namespace {

constexpr int kDeepest = 12;

// A field of a message: a number, bytes, or the fields that the bytes are.
struct FieldTree {
  uint64_t key = 0;
  uint64_t number = 0;
  std::string bytes;
  std::vector<FieldTree> fields;
};

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    *value |= static_cast<uint64_t>(byte & 127) << (7 * i);
    if (byte >= 128) continue;
    bytes->remove_prefix(i + 1);
    return true;
  }
  return false;
}

void PutVarint(uint64_t value, std::string* bytes) {
  for (; value >= 128; value >>= 7) bytes->push_back(static_cast<char>(value | 128));
  bytes->push_back(static_cast<char>(value));
}

// The fields of a message; false where the bytes are none.
bool TakeApart(std::string_view bytes, int depth, std::vector<FieldTree>* fields) {
  while (!bytes.empty()) {
    FieldTree field;
    if (!TakeVarint(&bytes, &field.key) || field.key >> 3 == 0 || field.key >> 3 > 200)
      return false;
    const uint64_t type = field.key & 7;
    if (type == 0) {
      if (!TakeVarint(&bytes, &field.number)) return false;
    } else if (type == 2) {
      uint64_t size = 0;
      if (!TakeVarint(&bytes, &size) || size > bytes.size()) return false;
      field.bytes = bytes.substr(0, size);
      bytes.remove_prefix(size);
      if (depth == 0 || !TakeApart(field.bytes, depth - 1, &field.fields)) field.fields.clear();
    } else {
      const size_t size = type == 1 ? 8 : 4;
      if ((type != 1 && type != 5) || bytes.size() < size) return false;
      field.bytes = bytes.substr(0, size);
      bytes.remove_prefix(size);
    }
    fields->push_back(std::move(field));
  }
  return true;
}

std::string PutTogether(const std::vector<FieldTree>& fields) {
  std::string bytes;
  for (const FieldTree& field : fields) {
    PutVarint(field.key, &bytes);
    const uint64_t type = field.key & 7;
    const std::string value = field.fields.empty() ? field.bytes : PutTogether(field.fields);
    if (type == 0) PutVarint(field.number, &bytes);
    if (type == 2) PutVarint(value.size(), &bytes);
    if (type != 0) bytes += value;
  }
  return bytes;
}

// The lists of fields in a message, outermost first.
void ListsIn(std::vector<FieldTree>* fields, std::vector<std::vector<FieldTree>*>* lists) {
  if (fields->empty()) return;
  lists->push_back(fields);
  for (FieldTree& field : *fields) ListsIn(&field.fields, lists);
}

class MessageMutator {
 public:
  explicit MessageMutator(unsigned seed) : random_(seed) {}

  std::string Mutate(std::string bytes) {
    std::vector<FieldTree> fields;
    if (bytes.empty() || Below(16) == 0 || !TakeApart(bytes, kDeepest, &fields)) {
      return MutateBytes(std::move(bytes));
    }
    for (uint64_t changes = 1 + Below(4); changes > 0; --changes) MutateOne(&fields);
    return PutTogether(fields);
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string MutateBytes(std::string bytes) {
    const size_t at = Below(bytes.size() + 1);
    switch (Below(3)) {
      case 0:
        bytes.insert(at, 1, static_cast<char>(random_()));
        break;
      case 1:
        bytes.erase(at, 1 + Below(4));
        break;
      default:
        if (at < bytes.size()) bytes[at] ^= static_cast<char>(1U << Below(8));
    }
    return bytes;
  }

  uint64_t MutateNumber(uint64_t number) {
    switch (Below(8)) {
      case 0:
        return number + 1;
      case 1:
        return number - 1;
      case 2:
        return uint64_t{1} << Below(64);
      case 3:
        return (uint64_t{1} << Below(64)) - 1;
      case 4:
        return ~Below(4);
      case 5:
        return random_();
      default:
        return Below(40);
    }
  }

  void MutateOne(std::vector<FieldTree>* message) {
    std::vector<std::vector<FieldTree>*> lists;
    ListsIn(message, &lists);
    if (lists.empty()) return;
    std::vector<FieldTree>& fields = *lists[Below(lists.size())];
    const size_t i = Below(fields.size());
    const FieldTree other = AnyOf(lists);
    switch (Below(8)) {
      case 0:
        fields.erase(fields.begin() + static_cast<ptrdiff_t>(i));
        return;
      case 1:
        fields.insert(fields.begin() + static_cast<ptrdiff_t>(i), FieldTree(fields[i]));
        return;
      case 2:
        std::swap(fields[i], fields[Below(fields.size())]);
        return;
      case 3:
        fields[i] = other;
        return;
      case 4:
        fields.push_back(other);
        return;
      case 5:
        fields[i].key = (Below(100) + 1) << 3 | (fields[i].key & 7);
        return;
      default:
        fields[i].number = MutateNumber(fields[i].number);
        if (fields[i].fields.empty() && (fields[i].key & 7) == 2) {
          fields[i].bytes = MutateBytes(std::move(fields[i].bytes));
        }
    }
  }

  FieldTree AnyOf(const std::vector<std::vector<FieldTree>*>& lists) {
    const std::vector<FieldTree>& fields = *lists[Below(lists.size())];
    return fields[Below(fields.size())];
  }

  std::mt19937_64 random_;
};

void CheckBytes(std::string_view bytes) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module =
      ReadHloModuleProto({bytes.data(), bytes.size()}, "input");
  if (!module.ok()) {
    if (!absl::StartsWith(module.status().message(), "input: error: byte ")) std::abort();
    return;
  }
  VerifyModule(**module).IgnoreError();
  for (const HloComputation* computation : (*module)->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      instruction->SourceFrames();
    }
  }
  const std::string printed = (*module)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseModule(printed, "printed");
  std::string difference;
  if (!again.ok()) {
    difference = std::string(again.status().message());
  } else if (ModulesEqual(**module, **again, &difference)) {
    return;
  }
  std::fprintf(stderr, "%s\nprinted text:\n%s\n", difference.c_str(), printed.c_str());
  std::abort();
}

}  // namespace
}  // namespace xla_indexing::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  const std::string changed = xla_indexing::fuzz::MessageMutator(seed).Mutate(
      std::string(reinterpret_cast<const char*>(data), size));
  if (changed.size() > max_size) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xla_indexing::fuzz::CheckBytes({reinterpret_cast<const char*>(data), size});
  return 0;
}
