#include "xla_indexing/affine/mixed_radix/number_sources.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/mix_bits.h"

namespace xla_indexing::internal {

size_t NumberSources::HashOfValue::operator()(const NumberSource* source) const {
  uint64_t hash = HashOf(source->number);
  for (const int64_t part :
       {source->factor, source->offset, source->modulus, source->least, source->greatest}) {
    hash = MixBits(hash + static_cast<uint64_t>(part));
  }
  return hash;
}

bool NumberSources::EqualValue::operator()(const NumberSource* a, const NumberSource* b) const {
  return a->kind == b->kind && a->number == b->number && a->factor == b->factor &&
         a->offset == b->offset && a->modulus == b->modulus && a->least == b->least &&
         a->greatest == b->greatest;
}

uint32_t NumberSources::Intern(NumberSource source) {
  if (const auto known = by_value_.find(&source); known != by_value_.end()) return (*known)->id;
  source.nodes = NodesOf(source.number) + 1;
  source.depth = DepthOf(source.number) + 1;
  source.is_moved = source.kind == NumberSource::Kind::kLinear || IsMoved(source.number);
  const uint32_t id = Add(std::move(source));
  by_value_.insert(&storage_[id - 1]);
  return id;
}

uint32_t NumberSources::Add(NumberSource source) {
  source.id = static_cast<uint32_t>(storage_.size()) + 1;
  return storage_.New(std::move(source))->id;
}

void NumberSources::Clear() {
  by_value_.clear();
  storage_.Clear();
}

size_t NumberSources::NodesOf(const Number& number) const {
  size_t nodes = 0;
  for (const Digit& digit : number) {
    nodes += digit.IsConstant() ? 1 : (*this)[digit.source].nodes;
    nodes = std::min(nodes, size_t{1} << 40);
  }
  return nodes;
}

int NumberSources::DepthOf(const Number& number) const {
  int depth = 0;
  for (const Digit& digit : number) {
    if (!digit.IsConstant()) depth = std::max(depth, (*this)[digit.source].depth);
  }
  return depth;
}

bool NumberSources::IsMoved(const Number& number) const {
  return llvm::any_of(number, [&](const Digit& digit) {
    return !digit.IsConstant() && (*this)[digit.source].is_moved;
  });
}

// Values are less than the number's size, which fits int64.
Interval NumberSources::RangeOf(const Number& number) const {
  int64_t least = 0;
  int64_t greatest = 0;
  int64_t stride = 1;
  for (const Digit& digit : number) {
    int64_t low = 0;
    int64_t high = digit.extent - 1;
    if (digit.IsConstant()) {
      low = high = digit.value();
    } else {
      if (HasRoom(digit)) {
        low = (*this)[digit.source].least / digit.lower_factor;
        high = GreatestOf(digit);
      }
      if (digit.flipped) {
        std::swap(low, high);
        low = digit.extent - 1 - low;
        high = digit.extent - 1 - high;
      }
    }
    least += low * stride;
    greatest += high * stride;
    stride *= digit.extent;
  }
  return Interval::Closed(least, greatest);
}

void NumberSources::ShrinkToFit(Number& number) const {
  if (number.empty()) return;
  Digit& top = number.back();
  if (top.IsConstant() || top.flipped || KindOf(top) != NumberSource::Kind::kVariable) return;
  top.extent = std::min(top.extent, GreatestOf(top) + 1);
}

bool NumberSources::Resize(Number& number, int64_t size) const {
  if (number.empty()) return false;
  Digit& top = number.back();
  const int64_t below = SizeOf(number) / top.extent;
  if (top.IsConstant() || top.flipped || size % below != 0 ||
      KindOf(top) != NumberSource::Kind::kVariable ||
      GreatestOf(top) >= std::min(top.extent, size / below)) {
    return false;
  }
  top.extent = size / below;
  return true;
}

}  // namespace xla_indexing::internal
