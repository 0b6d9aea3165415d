// The sources that digits are of (affine/mixed_radix/number.h), each of which is made once, and what
// they say of numbers.
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_SOURCES_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_SOURCES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "xla_indexing/affine/expr/object_arena.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// An integer quantity x >= 0: a variable, a number made of digits (a fused source), or a linear
// source factor * N + offset of a number N.
struct NumberSource {
  enum class Kind { kVariable, kFused, kLinear };
  Kind kind = Kind::kVariable;
  int variable = 0;  // its position
  Number number;     // of a fused source and a linear source
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t modulus = 1;  // divides every value
  // The least and the greatest value.
  int64_t least = 0;
  int64_t greatest = 0;
  // How many digits occur in it, those of its digits' sources counted, and how deep sources nest.
  size_t nodes = 1;
  int depth = 0;
  bool is_moved = false;  // it is linear, or of digits of such sources
  uint32_t id = 0;        // in digits
};

class NumberSources {
 public:
  // The source of that id. It stays where it is when others are made.
  const NumberSource& operator[](uint32_t id) const { return storage_[id - 1]; }
  size_t size() const { return storage_.size(); }
  // The id of a source like this one, which is no variable. Its nodes, depth and id need not be set.
  uint32_t Intern(NumberSource source);
  // The id of a new source, unlike all others.
  uint32_t Add(NumberSource source);
  void Clear();

  // What follows from the digits' sources for a number.
  size_t NodesOf(const Number& number) const;
  int DepthOf(const Number& number) const;
  // Whether a linear source is part of the number: its values are known under restrictions alone.
  bool IsMoved(const Number& number) const;
  // An interval that contains the values of the number.
  Interval RangeOf(const Number& number) const;

  // What follows from its source for a digit that is not constant: the source's kind, the greatest
  // value of floor(x / lower_factor), and whether the digit is all of that.
  NumberSource::Kind KindOf(const Digit& digit) const { return (*this)[digit.source].kind; }
  int64_t GreatestOf(const Digit& digit) const {
    return (*this)[digit.source].greatest / digit.lower_factor;
  }
  bool HasRoom(const Digit& digit) const { return GreatestOf(digit) < digit.extent; }

  // Takes room from the most significant digit that it never needs.
  void ShrinkToFit(Number& number) const;
  // Gives the number another size, of which it is known to be less, where its most significant
  // digit is of a variable and has room for it.
  bool Resize(Number& number, int64_t size) const;

 private:
  struct HashOfValue {
    size_t operator()(const NumberSource* source) const;
  };
  struct EqualValue {
    bool operator()(const NumberSource* a, const NumberSource* b) const;
  };

  ObjectArena<NumberSource> storage_;                                           // by id
  absl::flat_hash_set<const NumberSource*, HashOfValue, EqualValue> by_value_;  // those of numbers
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_SOURCES_H_
