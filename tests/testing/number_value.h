// The value of a positional number (affine/mixed_radix/positional.h) where its variables have these
// values, from the definition of a digit.
#ifndef XLA_INDEXING_TESTS_TESTING_NUMBER_VALUE_H_
#define XLA_INDEXING_TESTS_TESTING_NUMBER_VALUE_H_

#include <cstdint>
#include <vector>

#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

inline int64_t ValueOfNumber(const PositionalAlgebra& algebra, const Number& number,
                             const std::vector<int64_t>& variables) {
  const auto value_of_source = [&](const PositionalAlgebra::Source& source) -> int64_t {
    switch (source.kind) {
      case PositionalAlgebra::Source::Kind::kVariable:
        return variables[source.variable];
      case PositionalAlgebra::Source::Kind::kFused:
        return ValueOfNumber(algebra, source.number, variables);
      case PositionalAlgebra::Source::Kind::kLinear:
        return source.factor * ValueOfNumber(algebra, source.number, variables) + source.offset;
    }
    return 0;
  };
  int64_t value = 0, stride = 1;
  for (const Digit& digit : number) {
    int64_t one = digit.lower_factor;
    if (!digit.IsConstant()) {
      one = FloorMod(FloorDiv(value_of_source(algebra.source(digit.source)), digit.lower_factor),
                     digit.extent);
      if (digit.flipped) one = digit.extent - 1 - one;
    }
    value += one * stride;
    stride *= digit.extent;
  }
  return value;
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TESTS_TESTING_NUMBER_VALUE_H_
