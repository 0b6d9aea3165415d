// Writes protocol buffers by hand: a message as the list of its fields. Knows nothing of HLO, nor of
// what reads it.
//
// Example: a shape f32[2,3], field 2 its element type, field 3 its sizes, packed:
//
//   ProtoWriter().Integer(2, 11).Packed(3, {2, 3}).bytes()

#ifndef XLA_INDEXING_TESTS_TESTING_PROTO_WRITER_H_
#define XLA_INDEXING_TESTS_TESTING_PROTO_WRITER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace xla_indexing {

class ProtoWriter {
 public:
  const std::string& bytes() const { return bytes_; }

  ProtoWriter& Integer(uint32_t field, int64_t value) {
    Key(field, 0);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }
  ProtoWriter& Bytes(uint32_t field, std::string_view value) {
    Key(field, 2);
    Varint(value.size());
    bytes_.append(value);
    return *this;
  }
  ProtoWriter& Message(uint32_t field, const ProtoWriter& message) {
    return Bytes(field, message.bytes());
  }
  // The fields of another message, in this one.
  ProtoWriter& Append(const ProtoWriter& fields) {
    bytes_ += fields.bytes();
    return *this;
  }
  // Integers in one field.
  ProtoWriter& Packed(uint32_t field, const std::vector<int64_t>& values) {
    ProtoWriter list;
    for (const int64_t value : values) list.Varint(static_cast<uint64_t>(value));
    return Bytes(field, list.bytes());
  }
  ProtoWriter& Float(uint32_t field, float value) { return Fixed(field, 5, value); }
  ProtoWriter& Double(uint32_t field, double value) { return Fixed(field, 1, value); }

 private:
  void Varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
  }
  void Key(uint32_t field, uint32_t type) { Varint(uint64_t{field} << 3 | type); }
  template <typename T>
  ProtoWriter& Fixed(uint32_t field, uint32_t type, T value) {
    Key(field, type);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
    return *this;
  }

  std::string bytes_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_PROTO_WRITER_H_
