// What the linear sources of numbers say: a source k*N + c, whose values m divides, says of N in which
// interval it is and in which residue class.
//
//   k*N + c in I                        N in (I - c)/k
//   P = D + b*N in J                    N in floor(J / b)
//   m' divides k'*N + c', m divides m'  m divides k*N + c, where k*c' = k'*c (mod m)
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using LinearSources = llvm::SmallVector<const NumberSource*, 4>;

// The linear sources that the numbers are made of, each once.
LinearSources LinearSourcesOf(const NumberSources& sources, llvm::ArrayRef<Number> numbers) {
  LinearSources linear;
  llvm::SmallDenseSet<uint32_t, 8> seen;
  llvm::SmallVector<const Number*, 8> pending;
  for (const Number& number : numbers) pending.push_back(&number);
  while (!pending.empty()) {
    for (const Digit& digit : *pending.pop_back_val()) {
      if (digit.IsConstant()) continue;
      const NumberSource& source = sources[digit.source];
      if (!source.is_moved || !seen.insert(digit.source).second) continue;
      if (source.kind == NumberSource::Kind::kLinear) linear.push_back(&source);
      pending.push_back(&source.number);
    }
  }
  return linear;
}

// The interval that the source says its number to be in.
Interval RangeSaid(const NumberSource& linear) {
  return Interval::Closed(linear.least, linear.greatest)
      .Sub(linear.offset)
      .PreimageOfMul(linear.factor);
}

// The interval that the source says another number to be in, which has to be its number or the high
// digits of that.
Interval RangeSaid(PositionalState& state, const NumberSource& linear, const Number& number) {
  if (linear.number == number) return RangeSaid(linear);
  const int64_t size = SizeOf(linear.number);
  if (size % SizeOf(number) != 0) return Interval::All();
  const int64_t divisor = size / SizeOf(number);
  const std::optional<NumberParts> parts = Cut(state, linear.number, divisor);
  if (!parts || parts->high != number) return Interval::All();
  return RangeSaid(linear).FloorDiv(divisor);
}

// Whether the modulus of `linear` divides its values wherever that of `known` divides those of that.
// The factor of a source has no divisor in common with its modulus.
bool SaysDivisor(const NumberSource& known, const NumberSource& linear) {
  if (linear.modulus == 1) return true;
  const Int128 difference =
      Int128{linear.factor} * known.offset - Int128{known.factor} * linear.offset;
  return linear.number == known.number && known.modulus % linear.modulus == 0 &&
         difference % linear.modulus == 0;
}

}  // namespace

bool SayAllOf(PositionalState& state, llvm::ArrayRef<Number> made, llvm::ArrayRef<Number> of) {
  const LinearSources linear = LinearSourcesOf(state.sources, of);
  if (linear.empty()) return true;
  const LinearSources known = LinearSourcesOf(state.sources, made);
  return llvm::all_of(linear, [&](const NumberSource* source) {
    Interval range = state.sources.RangeOf(source->number);
    bool is_divided = source->modulus == 1;
    for (const NumberSource* other : known) {
      if (other == source) return true;
      range = range.Intersect(RangeSaid(state, *other, source->number));
      is_divided = is_divided || SaysDivisor(*other, *source);
    }
    return is_divided && range.IsSubsetOf(RangeSaid(*source));
  });
}

}  // namespace xla_indexing::internal
