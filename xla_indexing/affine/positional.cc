#include "xla_indexing/affine/positional.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/number.h"
#include "xla_indexing/base/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/mix_bits.h"

namespace xla_indexing {

size_t PositionalAlgebra::NodesOf(const Number& number) const {
  size_t nodes = 0;
  for (const Digit& digit : number) {
    nodes += digit.IsConstant() ? 1 : source(digit.source).nodes;
    nodes = std::min(nodes, size_t{1} << 40);
  }
  return nodes;
}

int PositionalAlgebra::DepthOf(const Number& number) const {
  int depth = 0;
  for (const Digit& digit : number) {
    if (!digit.IsConstant()) depth = std::max(depth, source(digit.source).depth);
  }
  return depth;
}

bool PositionalAlgebra::IsMoved(const Number& number) const {
  return llvm::any_of(number, [&](const Digit& digit) {
    return !digit.IsConstant() && source(digit.source).is_moved;
  });
}

uint32_t PositionalAlgebra::Intern(Source source) {
  uint64_t hash = HashOf(source.number) + static_cast<uint64_t>(source.variable);
  for (const int64_t part :
       {source.factor, source.offset, source.modulus, source.least, source.greatest}) {
    hash = MixBits(hash + static_cast<uint64_t>(part));
  }
  hash >>= 1;
  llvm::SmallVector<uint32_t, 1>& ids = by_hash_[hash];
  for (const uint32_t id : ids) {
    const Source& known = this->source(id);
    if (known.kind == source.kind && known.variable == source.variable &&
        known.number == source.number && known.factor == source.factor &&
        known.offset == source.offset && known.modulus == source.modulus &&
        known.least == source.least && known.greatest == source.greatest) {
      return id;
    }
  }
  if (source.kind != Source::Kind::kVariable) {
    source.nodes = NodesOf(source.number) + 1;
    source.depth = DepthOf(source.number) + 1;
    source.is_moved = source.kind == Source::Kind::kLinear || IsMoved(source.number);
  }
  sources_.push_back(std::move(source));
  ids.push_back(static_cast<uint32_t>(sources_.size()));
  return ids.back();
}

Number PositionalAlgebra::AddVariable(int64_t size) {
  Source variable;
  variable.kind = Source::Kind::kVariable;
  variable.variable = num_variables();
  variables_.push_back(size);
  variable.greatest = size - 1;
  const uint32_t id = Intern(std::move(variable));
  Number number;
  if (size > 1) number.push_back({1, size, id, false});
  return number;
}

std::optional<int> PositionalAlgebra::AsVariable(const Number& number) const {
  if (number.size() != 1 || number[0].IsConstant() || number[0].flipped) return std::nullopt;
  const Source& from = source(number[0].source);
  if (from.kind != Source::Kind::kVariable || number[0].place != 1 ||
      from.greatest >= number[0].size) {
    return std::nullopt;
  }
  return from.variable;
}

Interval PositionalAlgebra::RangeOf(const Number& number) const {
  Interval range = Interval::Point(0);
  int64_t stride = 1;
  for (const Digit& digit : number) {
    Interval values = Interval::OfSize(digit.size);
    if (digit.IsConstant()) {
      values = Interval::Point(digit.place);
    } else {
      const Source& from = source(digit.source);
      const Interval whole = Interval::Closed(from.least, from.greatest).FloorDiv(digit.place);
      if (whole.IsSubsetOf(values)) values = whole;
      if (digit.flipped) values = Interval::Point(digit.size - 1).Sub(values);
    }
    range = range.Add(values.Mul(stride));
    stride *= digit.size;
  }
  return range;
}

std::optional<int64_t> PositionalAlgebra::ConstantResidue(const Number& number, int64_t divisor) {
  if (const Interval range = RangeOf(number); range.IsPoint()) {
    return FloorMod(range.lower(), divisor);
  }
  if (number.size() == 1 && !number[0].IsConstant()) {
    const Digit& digit = number[0];
    const Source& from = source(digit.source);
    // L = modulus * x with L = offset (mod divisor) for an x that is the digit.
    if (from.kind == Source::Kind::kLinear && digit.place == from.modulus &&
        GreatestOf(digit) < digit.size && from.factor % divisor == 0 &&
        Gcd(from.modulus, divisor) == 1) {
      constexpr int64_t kMaxTried = 4096;
      for (int64_t x = 0; x < std::min(divisor, kMaxTried); ++x) {
        const Int128 value = Int128{x} * from.modulus - from.offset;
        if (value % divisor == 0) return digit.flipped ? FloorMod(digit.size - 1 - x, divisor) : x;
      }
    }
  }
  if (SizeOf(number) % divisor != 0) return std::nullopt;
  const std::optional<Parts> parts = Cut(number, divisor);
  if (!parts) return std::nullopt;
  int64_t value = 0, stride = 1;
  for (const Digit& digit : parts->low) {
    if (!digit.IsConstant()) return std::nullopt;
    value += digit.place * stride;
    stride *= digit.size;
  }
  return value;
}

const PositionalAlgebra::Linearized* PositionalAlgebra::FindByIndices(
    llvm::ArrayRef<Number> indices) const {
  const auto found = by_indices_.find(HashOf(indices));
  if (found == by_indices_.end()) return nullptr;
  for (const size_t place : found->second) {
    if (llvm::ArrayRef<Number>(linearized_[place].indices) == indices) return &linearized_[place];
  }
  return nullptr;
}

const PositionalAlgebra::Linearized* PositionalAlgebra::FindByPosition(
    const Number& position, llvm::ArrayRef<int64_t> sizes) const {
  const auto found = by_position_.find(HashOf(position));
  if (found == by_position_.end()) return nullptr;
  for (const size_t place : found->second) {
    const Linearized& known = linearized_[place];
    if (known.position != position || known.indices.size() != sizes.size()) continue;
    if (llvm::all_of(llvm::zip(known.indices, sizes), [](const auto& pair) {
          return SizeOf(std::get<0>(pair)) == std::get<1>(pair);
        })) {
      return &known;
    }
  }
  return nullptr;
}

void PositionalAlgebra::Remember(llvm::ArrayRef<Number> indices, const Number& position) {
  by_indices_[HashOf(indices)].push_back(linearized_.size());
  by_position_[HashOf(position)].push_back(linearized_.size());
  linearized_.push_back({llvm::SmallVector<Number, 4>(indices), position});
}

std::optional<Number> PositionalAlgebra::Linearize(llvm::ArrayRef<Number> indices) {
  if (const Linearized* known = FindByIndices(indices)) return known->position;
  Number position;
  int64_t size = 1;
  for (const Number& index : llvm::reverse(indices)) {
    const std::optional<int64_t> product = CheckedMul(size, SizeOf(index));
    if (!product || !Append(position, index)) return std::nullopt;
    size = *product;
  }
  Remember(indices, position);
  return position;
}

std::optional<llvm::SmallVector<Number, 4>> PositionalAlgebra::Reshape(
    llvm::ArrayRef<Number> indices, llvm::ArrayRef<int64_t> to) {
  const std::optional<Number> position = Linearize(indices);
  if (!position) return std::nullopt;
  if (const Linearized* known = FindByPosition(*position, to)) return known->indices;
  llvm::SmallVector<Number, 4> result(to.size());
  Number rest = *position;
  for (size_t i = to.size(); i-- > 1;) {
    std::optional<Parts> parts = Cut(rest, to[i]);
    if (!parts) return std::nullopt;
    result[i] = std::move(parts->low);
    rest = std::move(parts->high);
  }
  if (!to.empty()) result[0] = std::move(rest);
  if (FindByIndices(result) == nullptr) Remember(result, *position);
  return result;
}

}  // namespace xla_indexing
