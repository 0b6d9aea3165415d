#include "xla_indexing/affine/mixed_radix/positional.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/memory/instance_pool.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

PositionalAlgebra::PositionalAlgebra() : state_(InstancePool<PositionalState>::Take()) {
  state_->Clear();
}

PositionalAlgebra::~PositionalAlgebra() {
  InstancePool<PositionalState>::GiveBack(std::move(state_));
}

const NumberSource& PositionalAlgebra::source(uint32_t id) const { return state_->sources[id]; }

size_t PositionalAlgebra::num_sources() const { return state_->sources.size(); }

bool PositionalAlgebra::IsMoved(const Number& number) const {
  return state_->sources.IsMoved(number);
}

size_t PositionalAlgebra::NodesOf(const Number& number) const {
  return state_->sources.NodesOf(number);
}

int PositionalAlgebra::DepthOf(const Number& number) const {
  return state_->sources.DepthOf(number);
}

Interval PositionalAlgebra::RangeOf(const Number& number) const {
  return state_->sources.RangeOf(number);
}

void PositionalAlgebra::ShrinkToFit(Number& number) const { state_->sources.ShrinkToFit(number); }

Number PositionalAlgebra::AddVariable(int64_t size) {
  Digit digit = Digit::Constant(0, 1);
  if (size > 1) {
    NumberSource variable;
    variable.kind = NumberSource::Kind::kVariable;
    variable.variable = num_variables();
    variable.greatest = size - 1;
    digit = {1, size, state_->sources.Add(std::move(variable)), false};
  }
  variables_.push_back(digit);
  return Variable(num_variables() - 1);
}

Number PositionalAlgebra::Variable(int position) const {
  const Digit& digit = variables_[position];
  return digit.IsConstant() ? Number() : Number{digit};
}

namespace {

// The row-major position of the indices.
std::optional<Number> Linearize(PositionalState& state, llvm::ArrayRef<Number> indices) {
  Number position;
  int64_t size = 1;
  for (const Number& index : llvm::reverse(indices)) {
    const std::optional<int64_t> product = CheckedMul(size, SizeOf(index));
    if (!product || !Append(state, position, index)) return std::nullopt;
    size = *product;
  }
  return position;
}

}  // namespace

std::optional<llvm::SmallVector<Number, 4>> PositionalAlgebra::Reshape(
    llvm::ArrayRef<Number> indices, llvm::ArrayRef<int64_t> to) {
  std::optional<Number> rest = Linearize(*state_, indices);
  if (!rest) return std::nullopt;
  llvm::SmallVector<Number, 4> result(to.size());
  for (size_t i = to.size(); i-- > 1;) {
    std::optional<NumberParts> parts = Cut(*state_, *rest, to[i]);
    if (!parts) return std::nullopt;
    result[i] = std::move(parts->low);
    *rest = std::move(parts->high);
  }
  if (!to.empty()) result[0] = *std::move(rest);
  return result;
}

std::optional<Number> PositionalAlgebra::Affine(const Number& number, int64_t factor,
                                                int64_t offset, int64_t divisor, int64_t size) {
  return AffineImage(*state_, number, factor, offset, divisor, size);
}

std::optional<int> PositionalAlgebra::AsVariable(const Number& number) const {
  if (number.size() != 1 || number[0].IsConstant() || number[0].flipped) return std::nullopt;
  const Source& from = source(number[0].source);
  if (from.kind != Source::Kind::kVariable || number[0].lower_factor != 1 ||
      from.greatest >= number[0].extent) {
    return std::nullopt;
  }
  return from.variable;
}

std::optional<PositionalAlgebra::AffineForm> PositionalAlgebra::AsAffine(const Number& number) {
  if (number.empty()) return std::nullopt;
  if (const Digit& low = number.front(); low.IsConstant()) {
    return AffineForm{Number(number.begin() + 1, number.end()), low.extent, low.value()};
  }
  if (const Digit& high = number.back(); high.IsConstant()) {
    const Number low(number.begin(), number.end() - 1);
    return AffineForm{low, 1, high.value() * SizeOf(low)};
  }
  if (IsFlipped(number)) {
    Number reversed = number;
    Reverse(reversed);
    return AffineForm{std::move(reversed), -1, SizeOf(number) - 1};
  }
  if (number.size() > 1) {
    Number without = number;
    const std::optional<int64_t> offset = MoveOffsetsOut(*state_, without);
    if (!offset || without == number) return std::nullopt;
    return AffineForm{std::move(without), 1, *offset};
  }
  const Digit& digit = number.front();
  const Source& from = source(digit.source);
  if (from.kind != Source::Kind::kLinear || from.modulus % digit.lower_factor != 0 ||
      !state_->sources.HasRoom(digit)) {
    return std::nullopt;
  }
  return AffineForm{from.number, from.factor, from.offset, digit.lower_factor};
}

PositionalAlgebra::HighDigits PositionalAlgebra::AsHighDigits(const Number& number) {
  HighDigits high{number};
  while (!high.whole.empty()) {
    const Digit least = high.whole.front();
    if (least.IsConstant() || least.lower_factor == 1) break;
    const Source& from = source(least.source);
    Number whole;
    if (from.kind == Source::Kind::kVariable) {
      whole = {{1, least.lower_factor * least.extent, least.source, least.flipped}};
    } else if (from.kind == Source::Kind::kFused &&
               least.lower_factor * least.extent == SizeOf(from.number)) {
      whole = from.number;
      if (least.flipped) Reverse(whole);
    } else {
      break;
    }
    const std::optional<int64_t> divisor = CheckedMul(high.divisor, least.lower_factor);
    const Number above(high.whole.begin() + 1, high.whole.end());
    if (!divisor || !CheckedMul(SizeOf(high.whole), least.lower_factor) ||
        !Append(*state_, whole, above))
      break;
    high = {std::move(whole), *divisor};
  }
  return high;
}

std::optional<int64_t> PositionalAlgebra::ConstantResidue(const Number& number, int64_t divisor) {
  if (const Interval range = RangeOf(number); range.IsPoint()) {
    return FloorMod(range.lower(), divisor);
  }
  if (number.size() == 1 && !number[0].IsConstant()) {
    const Digit& digit = number[0];
    const Source& from = source(digit.source);
    // L = modulus * x with L = offset (mod divisor) for an x that is the digit.
    if (from.kind == Source::Kind::kLinear && digit.lower_factor == from.modulus &&
        state_->sources.HasRoom(digit) && from.factor % divisor == 0 &&
        Gcd(from.modulus, divisor) == 1) {
      constexpr int64_t kMaxTried = 4096;
      for (int64_t x = 0; x < std::min(divisor, kMaxTried); ++x) {
        const Int128 value = Int128{x} * from.modulus - from.offset;
        if (value % divisor == 0)
          return digit.flipped ? FloorMod(digit.extent - 1 - x, divisor) : x;
      }
    }
  }
  if (SizeOf(number) % divisor != 0) return std::nullopt;
  const std::optional<NumberParts> parts = Cut(*state_, number, divisor);
  return parts ? ConstantValue(parts->low) : std::nullopt;
}

}  // namespace xla_indexing::internal
