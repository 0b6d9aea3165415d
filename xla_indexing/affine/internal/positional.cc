#include "xla_indexing/affine/internal/positional.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/mix_bits.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

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
  for (const Source* known = memory_->source_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash == hash && known->kind == source.kind && known->variable == source.variable &&
        known->number == source.number && known->factor == source.factor &&
        known->offset == source.offset && known->modulus == source.modulus &&
        known->least == source.least && known->greatest == source.greatest) {
      return known->id;
    }
  }
  if (source.kind != Source::Kind::kVariable) {
    source.nodes = NodesOf(source.number) + 1;
    source.depth = DepthOf(source.number) + 1;
    source.is_moved = source.kind == Source::Kind::kLinear || IsMoved(source.number);
  }
  Source* made = memory_->sources.New();
  *made = std::move(source);
  made->id = static_cast<uint32_t>(num_sources());
  memory_->source_table.Insert(hash, made);
  return made->id;
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

// Values are less than the number's size, which fits int64.
Interval PositionalAlgebra::RangeOf(const Number& number) const {
  int64_t least = 0;
  int64_t greatest = 0;
  int64_t stride = 1;
  for (const Digit& digit : number) {
    int64_t low = 0;
    int64_t high = digit.size - 1;
    if (digit.IsConstant()) {
      low = high = digit.place;
    } else {
      const Source& from = source(digit.source);
      if (const int64_t end = from.greatest / digit.place; end < digit.size) {
        low = from.least / digit.place;
        high = end;
      }
      if (digit.flipped) {
        std::swap(low, high);
        low = digit.size - 1 - low;
        high = digit.size - 1 - high;
      }
    }
    least += low * stride;
    greatest += high * stride;
    stride *= digit.size;
  }
  return Interval::Closed(least, greatest);
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
  return parts ? ConstantValue(parts->low) : std::nullopt;
}

const LinearizedIndices* PositionalAlgebra::FindByIndices(llvm::ArrayRef<Number> indices,
                                                          size_t hash) const {
  for (const LinearizedIndices* known = memory_->index_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash == hash && llvm::ArrayRef<Number>(known->indices) == indices) return known;
  }
  return nullptr;
}

const LinearizedIndices* PositionalAlgebra::FindByPosition(const Number& position, size_t hash,
                                                           llvm::ArrayRef<int64_t> sizes) const {
  const auto has_sizes = [&](const LinearizedIndices& known) {
    return known.indices.size() == sizes.size() &&
           llvm::all_of(llvm::zip(known.indices, sizes), [](const auto& pair) {
             return SizeOf(std::get<0>(pair)) == std::get<1>(pair);
           });
  };
  const IndicesOfPosition* first = nullptr;
  for (const IndicesOfPosition* of = memory_->position_table.First(hash); of != nullptr;
       of = of->next) {
    if (of->hash != hash || (first != nullptr && first->order < of->order)) continue;
    if (of->known->position == position && has_sizes(*of->known)) first = of;
  }
  return first != nullptr ? first->known : nullptr;
}

const LinearizedIndices* PositionalAlgebra::Remember(llvm::ArrayRef<Number> indices, size_t hash,
                                                     const Number& position, size_t position_hash) {
  LinearizedIndices* linearized = memory_->linearized.New();
  linearized->indices.assign(indices.begin(), indices.end());
  linearized->position = position;
  linearized->position_hash = position_hash;
  memory_->index_table.Insert(hash, linearized);
  IndicesOfPosition* of = memory_->positions.New();
  of->known = linearized;
  of->order = memory_->positions.size();
  memory_->position_table.Insert(position_hash, of);
  return linearized;
}

const LinearizedIndices* PositionalAlgebra::Linearize(llvm::ArrayRef<Number> indices) {
  const size_t hash = HashOf(indices);
  if (const LinearizedIndices* known = FindByIndices(indices, hash)) return known;
  Number position;
  int64_t size = 1;
  for (const Number& index : llvm::reverse(indices)) {
    const std::optional<int64_t> product = CheckedMul(size, SizeOf(index));
    if (!product || !Append(position, index)) return nullptr;
    size = *product;
  }
  return Remember(indices, hash, position, HashOf(position));
}

std::optional<llvm::SmallVector<Number, 4>> PositionalAlgebra::Reshape(
    llvm::ArrayRef<Number> indices, llvm::ArrayRef<int64_t> to) {
  const LinearizedIndices* linearized = Linearize(indices);
  if (linearized == nullptr) return std::nullopt;
  const Number& position = linearized->position;
  const size_t position_hash = linearized->position_hash;
  if (const LinearizedIndices* known = FindByPosition(position, position_hash, to)) {
    return known->indices;
  }
  llvm::SmallVector<Number, 4> result(to.size());
  Number rest = position;
  for (size_t i = to.size(); i-- > 1;) {
    std::optional<Parts> parts = Cut(rest, to[i]);
    if (!parts) return std::nullopt;
    result[i] = std::move(parts->low);
    rest = std::move(parts->high);
  }
  if (!to.empty()) result[0] = std::move(rest);
  const size_t hash = HashOf(result);
  if (FindByIndices(result, hash) == nullptr) Remember(result, hash, position, position_hash);
  return result;
}

}  // namespace xla_indexing::internal
