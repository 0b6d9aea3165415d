#include "tests/testing/hlo_chain.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace xla_indexing {
namespace {

ChainSizes RowMajor(size_t rank) {
  ChainSizes layout(rank);
  std::iota(layout.rbegin(), layout.rend(), 0);
  return layout;
}

ChainSizes RandomOrder(size_t rank, Random& random) {
  ChainSizes order = RowMajor(rank);
  random.Shuffle(&order);
  return order;
}

int64_t Count(const ChainSizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

ChainSizes PrimeFactors(const ChainSizes& sizes) {
  ChainSizes factors;
  for (int64_t size : sizes) {
    for (int64_t p = 2; p * p <= size; ++p) {
      for (; size % p == 0; size /= p) factors.push_back(p);
    }
    if (size > 1) factors.push_back(size);
  }
  return factors;
}

// One to four sizes that these factors multiply to.
ChainSizes RandomSizes(const ChainSizes& factors, Random& random) {
  ChainSizes sizes(random.Between(1, 4), 1);
  for (const int64_t factor : factors) {
    sizes[random.Between(0, static_cast<int64_t>(sizes.size()) - 1)] *= factor;
  }
  return sizes;
}

ChainArray ArrayOf(ChainSizes sizes) {
  ChainSizes layout = RowMajor(sizes.size());
  return {std::move(sizes), std::move(layout)};
}

ChainSizes Permuted(const ChainSizes& sizes, const ChainSizes& dimensions) {
  ChainSizes result;
  for (const int64_t dim : dimensions) result.push_back(sizes[dim]);
  return result;
}

ChainSizes InverseOrder(const ChainSizes& order) {
  ChainSizes inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return inverse;
}

ChainStep Reshape(const ChainArray& from, ChainSizes sizes) {
  return {ChainOpcode::kReshape, from, ArrayOf(std::move(sizes)), {}, {}, {}, {}};
}

ChainStep Bitcast(const ChainArray& from, ChainArray to) {
  return {ChainOpcode::kBitcast, from, std::move(to), {}, {}, {}, {}};
}

ChainStep Transpose(const ChainArray& from, ChainSizes dimensions) {
  return {ChainOpcode::kTranspose,
          from,
          {Permuted(from.sizes, dimensions), from.layout},
          std::move(dimensions),
          {},
          {},
          {}};
}

ChainStep Reverse(const ChainArray& array, ChainSizes dimensions) {
  return {ChainOpcode::kReverse, array, array, std::move(dimensions), {}, {}, {}};
}

ChainStep Slice(const ChainArray& from, ChainSizes start, ChainSizes sizes, ChainSizes stride) {
  ChainStep step{
      ChainOpcode::kSlice, from, {std::move(sizes), from.layout}, {}, std::move(start), {},
      std::move(stride)};
  return step;
}

ChainStep Pad(const ChainArray& from, ChainSizes low, ChainSizes high, ChainSizes interior) {
  ChainStep step{ChainOpcode::kPad,  from, from, {}, std::move(low), std::move(high),
                 std::move(interior)};
  for (size_t i = 0; i < from.sizes.size(); ++i) {
    step.to.sizes[i] = step.start[i] + step.end[i] + (from.sizes[i] - 1) * (step.stride[i] + 1) + 1;
  }
  return step;
}

ChainStep Concatenate(const ChainArray& from, int64_t dim, int64_t before, int64_t after) {
  ChainStep step{ChainOpcode::kConcatenate, from, from, {dim}, {before}, {after}, {}};
  step.to.sizes[dim] += before + after;
  return step;
}

// A slice that takes out what a pad or concatenation put its operand into.
ChainStep Extraction(const ChainStep& step) {
  const size_t rank = step.from.sizes.size();
  ChainSizes start(rank, 0), stride(rank, 1);
  if (step.opcode == ChainOpcode::kConcatenate) {
    start[step.dimensions[0]] = step.start[0];
  } else {
    start = step.start;
    for (size_t i = 0; i < rank; ++i) stride[i] = step.stride[i] + 1;
  }
  return Slice(step.to, std::move(start), step.from.sizes, std::move(stride));
}

ChainStep Inverse(const ChainStep& step) {
  switch (step.opcode) {
    case ChainOpcode::kReshape:
      return Reshape(step.to, step.from.sizes);
    case ChainOpcode::kBitcast:
      return Bitcast(step.to, step.from);
    case ChainOpcode::kTranspose:
      return Transpose(step.to, InverseOrder(step.dimensions));
    case ChainOpcode::kReverse:
      return step;
    default:
      return Extraction(step);
  }
}

ChainSizes SomeDimensions(size_t rank, Random& random) {
  ChainSizes dimensions;
  for (size_t i = 0; i < rank; ++i) {
    if (random.OneIn(2)) dimensions.push_back(static_cast<int64_t>(i));
  }
  return dimensions;
}

ChainStep RandomPad(const ChainArray& from, Random& random) {
  const size_t rank = from.sizes.size();
  ChainSizes low(rank), high(rank), interior(rank);
  for (size_t i = 0; i < rank; ++i) {
    low[i] = random.OneIn(2) ? random.Between(0, 3) : 0;
    high[i] = random.OneIn(2) ? random.Between(0, 3) : 0;
    interior[i] = random.OneIn(4) ? random.Between(0, 2) : 0;
  }
  return Pad(from, low, high, interior);
}

ChainStep RandomSlice(const ChainArray& from, Random& random) {
  const size_t rank = from.sizes.size();
  ChainSizes start(rank, 0), sizes = from.sizes, stride(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    if (random.OneIn(2)) continue;
    start[i] = random.Between(0, std::min<int64_t>(from.sizes[i] - 1, 4));
    const int64_t limit = random.Between(start[i] + 1, from.sizes[i]);
    stride[i] = random.OneIn(3) ? random.Between(1, 3) : 1;
    sizes[i] = (limit - start[i] + stride[i] - 1) / stride[i];
  }
  return Slice(from, start, sizes, stride);
}

ChainStep RandomConcatenate(const ChainArray& from, Random& random) {
  const int64_t dim = random.Between(0, static_cast<int64_t>(from.sizes.size()) - 1);
  return Concatenate(from, dim, random.Between(0, 3), random.Between(0, 3));
}

ChainStep RandomReindexing(const ChainArray& from, Random& random) {
  const ChainSizes factors = PrimeFactors(from.sizes);
  switch (random.Between(0, 3)) {
    case 0:
      return Reshape(from, RandomSizes(factors, random));
    case 1: {
      ChainSizes sizes = RandomSizes(factors, random);
      ChainSizes layout = RandomOrder(sizes.size(), random);
      return Bitcast(from, {std::move(sizes), std::move(layout)});
    }
    case 2:
      return Transpose(from, RandomOrder(from.sizes.size(), random));
    default:
      return Reverse(from, SomeDimensions(from.sizes.size(), random));
  }
}

ChainStep RandomStep(const ChainArray& from, unsigned kinds, Random& random) {
  if ((kinds & kCutting) != 0 && random.OneIn(4)) return RandomSlice(from, random);
  if ((kinds & kPlacing) != 0 && random.OneIn(4)) {
    return random.OneIn(2) ? RandomPad(from, random) : RandomConcatenate(from, random);
  }
  return RandomReindexing(from, random);
}

// --- Rewriting

using Steps = std::vector<ChainStep>;

// The dimensions of `to` that the reversed dimensions of `from` become, where a reshape lies
// between and every group of dimensions that it mixes is reversed as a whole or not at all.
std::optional<ChainSizes> ReversedThroughReshape(const ChainSizes& from, const ChainSizes& to,
                                                 const ChainSizes& dimensions) {
  ChainSizes result;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t first_i = i, first_j = j;
    int64_t product_i = 1, product_j = 1;
    do {
      if (j >= to.size() || (i < from.size() && product_i <= product_j)) {
        product_i *= from[i++];
      } else {
        product_j *= to[j++];
      }
    } while (product_i != product_j || (i == first_i && i < from.size()) ||
             (j == first_j && j < to.size()));
    size_t reversed = 0, count = 0;
    for (size_t k = first_i; k < i; ++k) {
      if (from[k] == 1) continue;
      ++count;
      reversed += std::count(dimensions.begin(), dimensions.end(), static_cast<int64_t>(k));
    }
    if (reversed != 0 && reversed != count) return std::nullopt;
    if (reversed == 0) continue;
    for (size_t k = first_j; k < j; ++k) result.push_back(static_cast<int64_t>(k));
  }
  return result;
}

ChainStep MirroredSlice(const ChainArray& from, const ChainStep& slice,
                        const ChainSizes& reversed) {
  ChainSizes start = slice.start;
  for (const int64_t dim : reversed) {
    start[dim] =
        from.sizes[dim] - 1 - (slice.start[dim] + (slice.to.sizes[dim] - 1) * slice.stride[dim]);
  }
  return Slice(from, start, slice.to.sizes, slice.stride);
}

// b after a as a' after b'; none where no rule says how.
std::optional<Steps> Swapped(const ChainStep& a, const ChainStep& b) {
  if (a.opcode == ChainOpcode::kTranspose) {
    const ChainSizes back = InverseOrder(a.dimensions);
    const auto through = [&](const ChainSizes& values) { return Permuted(values, back); };
    const auto positions = [&](const ChainSizes& dimensions) {
      return Permuted(a.dimensions, dimensions);
    };
    std::optional<ChainStep> first;
    if (b.opcode == ChainOpcode::kReverse) first = Reverse(a.from, positions(b.dimensions));
    if (b.opcode == ChainOpcode::kSlice) {
      first = Slice(a.from, through(b.start), through(b.to.sizes), through(b.stride));
    }
    if (b.opcode == ChainOpcode::kPad) {
      first = Pad(a.from, through(b.start), through(b.end), through(b.stride));
    }
    if (b.opcode == ChainOpcode::kConcatenate) {
      first = Concatenate(a.from, a.dimensions[b.dimensions[0]], b.start[0], b.end[0]);
    }
    if (!first) return std::nullopt;
    return Steps{*first, Transpose(first->to, a.dimensions)};
  }
  if (a.opcode == ChainOpcode::kReverse) {
    if (b.opcode == ChainOpcode::kReverse) {
      return Steps{Reverse(a.from, b.dimensions), Reverse(a.from, a.dimensions)};
    }
    if (b.opcode == ChainOpcode::kSlice) {
      ChainStep first = MirroredSlice(a.from, b, a.dimensions);
      return Steps{first, Reverse(first.to, a.dimensions)};
    }
    if (b.opcode == ChainOpcode::kPad) {
      ChainSizes low = b.start, high = b.end;
      for (const int64_t dim : a.dimensions) std::swap(low[dim], high[dim]);
      ChainStep first = Pad(a.from, low, high, b.stride);
      return Steps{first, Reverse(first.to, a.dimensions)};
    }
    if (b.opcode == ChainOpcode::kConcatenate) {
      const bool mirrored =
          std::count(a.dimensions.begin(), a.dimensions.end(), b.dimensions[0]) > 0;
      ChainStep first = Concatenate(a.from, b.dimensions[0], mirrored ? b.end[0] : b.start[0],
                                    mirrored ? b.start[0] : b.end[0]);
      return Steps{first, Reverse(first.to, a.dimensions)};
    }
    if (b.opcode == ChainOpcode::kReshape) {
      auto dimensions = ReversedThroughReshape(a.from.sizes, b.to.sizes, a.dimensions);
      if (!dimensions) return std::nullopt;
      ChainStep first = Reshape(a.from, b.to.sizes);
      return Steps{first, Reverse(first.to, *dimensions)};
    }
  }
  if (a.opcode == ChainOpcode::kReshape && b.opcode == ChainOpcode::kReverse) {
    auto dimensions = ReversedThroughReshape(b.from.sizes, a.from.sizes, b.dimensions);
    if (!dimensions) return std::nullopt;
    ChainStep first = Reverse(a.from, *dimensions);
    return Steps{first, Reshape(first.to, a.to.sizes)};
  }
  return std::nullopt;
}

// The step as two steps.
std::optional<Steps> SplitInTwo(const ChainStep& step, Random& random) {
  const size_t rank = step.from.sizes.size();
  switch (step.opcode) {
    case ChainOpcode::kReshape: {
      ChainStep first = Reshape(step.from, RandomSizes(PrimeFactors(step.from.sizes), random));
      return Steps{first, Reshape(first.to, step.to.sizes)};
    }
    case ChainOpcode::kBitcast: {
      // To the order in memory, to the other order in memory, and from there.
      ChainSizes from_order(step.from.layout.rbegin(), step.from.layout.rend());
      ChainSizes to_order(step.to.layout.rbegin(), step.to.layout.rend());
      ChainStep first = Transpose(ArrayOf(step.from.sizes), from_order);
      ChainStep second = Reshape(first.to, Permuted(step.to.sizes, to_order));
      ChainStep third = Transpose(second.to, InverseOrder(to_order));
      return Steps{first, second, third};
    }
    case ChainOpcode::kTranspose: {
      ChainStep first = Transpose(step.from, RandomOrder(rank, random));
      return Steps{first,
                   Transpose(first.to, Permuted(InverseOrder(first.dimensions), step.dimensions))};
    }
    case ChainOpcode::kReverse: {
      const ChainSizes some = SomeDimensions(rank, random);
      ChainSizes rest;
      for (size_t i = 0; i < rank; ++i) {
        const auto dim = static_cast<int64_t>(i);
        const auto in = [&](const ChainSizes& list) {
          return std::count(list.begin(), list.end(), dim) > 0;
        };
        if (in(some) != in(step.dimensions)) rest.push_back(dim);
      }
      return Steps{Reverse(step.from, some), Reverse(step.from, rest)};
    }
    case ChainOpcode::kSlice: {
      const ChainSizes some = SomeDimensions(rank, random);
      ChainSizes start(rank, 0), sizes = step.from.sizes, stride(rank, 1);
      ChainSizes rest_start = step.start, rest_stride = step.stride;
      for (const int64_t dim : some) {
        start[dim] = std::exchange(rest_start[dim], 0);
        stride[dim] = std::exchange(rest_stride[dim], 1);
        sizes[dim] = step.to.sizes[dim];
      }
      ChainStep first = Slice(step.from, start, sizes, stride);
      return Steps{first, Slice(first.to, rest_start, step.to.sizes, rest_stride)};
    }
    case ChainOpcode::kPad: {
      ChainSizes low(rank, 0), high(rank, 0), interior(rank, 0);
      ChainSizes rest_low = step.start, rest_high = step.end;
      for (size_t i = 0; i < rank; ++i) {
        interior[i] = step.stride[i];
        low[i] = random.Between(0, step.start[i]);
        high[i] = random.Between(0, step.end[i]);
        rest_low[i] -= low[i];
        rest_high[i] -= high[i];
      }
      ChainStep first = Pad(step.from, low, high, interior);
      return Steps{first, Pad(first.to, rest_low, rest_high, ChainSizes(rank, 0))};
    }
    case ChainOpcode::kConcatenate: {
      const int64_t before = random.Between(0, step.start[0]);
      const int64_t after = random.Between(0, step.end[0]);
      ChainStep first = Concatenate(step.from, step.dimensions[0], before, after);
      return Steps{first, Concatenate(first.to, step.dimensions[0], step.start[0] - before,
                                      step.end[0] - after)};
    }
  }
  return std::nullopt;
}

// Layouts count for bitcasts alone: what follows a changed step takes over the layout before it,
// up to the next bitcast, which is given a transpose where that changed what it means.
bool SameArray(const ChainArray& a, const ChainArray& b) {
  return a.sizes == b.sizes && a.layout == b.layout;
}

std::string StepText(const ChainStep& step, const std::string& operand, const std::string& name) {
  std::string text;
  const auto list = [](const ChainSizes& values) { return absl::StrJoin(values, ","); };
  std::string head = absl::StrCat(name, " = ", step.to.ToString());
  switch (step.opcode) {
    case ChainOpcode::kReshape:
      return absl::StrCat(head, " reshape(", operand, ")");
    case ChainOpcode::kBitcast:
      return absl::StrCat(head, " bitcast(", operand, ")");
    case ChainOpcode::kTranspose:
      return absl::StrCat(head, " transpose(", operand, "), dimensions={", list(step.dimensions),
                          "}");
    case ChainOpcode::kReverse:
      return absl::StrCat(head, " reverse(", operand, "), dimensions={", list(step.dimensions),
                          "}");
    case ChainOpcode::kSlice: {
      std::vector<std::string> parts;
      for (size_t i = 0; i < step.start.size(); ++i) {
        parts.push_back(absl::StrCat("[", step.start[i], ":",
                                     step.start[i] + (step.to.sizes[i] - 1) * step.stride[i] + 1,
                                     ":", step.stride[i], "]"));
      }
      return absl::StrCat(head, " slice(", operand, "), slice={", absl::StrJoin(parts, ", "), "}");
    }
    case ChainOpcode::kPad: {
      std::vector<std::string> parts;
      for (size_t i = 0; i < step.start.size(); ++i) {
        parts.push_back(absl::StrCat(step.start[i], "_", step.end[i], "_", step.stride[i]));
      }
      return absl::StrCat(head, " pad(", operand, ", zero), padding=", absl::StrJoin(parts, "x"));
    }
    case ChainOpcode::kConcatenate: {
      const auto filler = [&](int64_t size, const std::string& filler_name) {
        ChainArray array = step.from;
        array.sizes[step.dimensions[0]] = size;
        return absl::StrCat(filler_name, " = ", array.ToString(),
                            " broadcast(zero), dimensions={}\n  ");
      };
      return absl::StrCat(filler(step.start[0], name + "_before"),
                          filler(step.end[0], name + "_after"), head, " concatenate(", name,
                          "_before, ", operand, ", ", name, "_after), dimensions={",
                          step.dimensions[0], "}");
    }
  }
  return text;
}

}  // namespace

std::string ChainArray::ToString() const {
  return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]{", absl::StrJoin(layout, ","), "}");
}

HloChain RandomHloChain(const ChainSizes& factors, int64_t length, unsigned kinds, Random& random) {
  ChainSizes some = factors;
  random.Shuffle(&some);
  some.resize(random.Between(1, std::min<int64_t>(static_cast<int64_t>(some.size()), 7)));
  ChainArray array = ArrayOf(RandomSizes(some, random));
  array.layout = RandomOrder(array.sizes.size(), random);
  HloChain chain;
  while (static_cast<int64_t>(chain.size()) < length) {
    chain.push_back(RandomStep(array, kinds, random));
    array = chain.back().to;
  }
  return chain;
}

HloChain InverseHloChain(const HloChain& chain) {
  HloChain inverse;
  for (size_t i = chain.size(); i-- > 0;) {
    ChainStep step = Inverse(chain[i]);
    // A bitcast needs the layout that the step after it had.
    step.from = inverse.empty() ? chain[i].to : inverse.back().to;
    if (step.opcode == ChainOpcode::kBitcast || step.opcode == ChainOpcode::kReshape) {
      step.to = chain[i].from;
    } else {
      step.to.layout = chain[i].from.layout;
    }
    inverse.push_back(std::move(step));
  }
  return inverse;
}

HloChain RewrittenHloChain(HloChain chain, int64_t changes, Random& random) {
  // Bitcasts are written as what they are, since rewriting does not keep layouts.
  HloChain result;
  for (const ChainStep& step : chain) {
    if (step.opcode == ChainOpcode::kBitcast) {
      const Steps parts = *SplitInTwo(step, random);
      result.insert(result.end(), parts.begin(), parts.end());
    } else {
      result.push_back(step);
    }
  }
  for (ChainStep& step : result) {
    step.from.layout = RowMajor(step.from.sizes.size());
    step.to.layout = RowMajor(step.to.sizes.size());
  }
  for (int64_t change = 0; change < changes; ++change) {
    const int64_t at = random.Between(0, static_cast<int64_t>(result.size()) - 1);
    Steps replacement;
    size_t replaced = 1;
    switch (random.Between(0, 2)) {
      case 0: {
        if (at + 1 >= static_cast<int64_t>(result.size())) continue;
        std::optional<Steps> swapped = Swapped(result[at], result[at + 1]);
        if (!swapped) continue;
        replacement = *std::move(swapped);
        replaced = 2;
        break;
      }
      case 1: {
        if (result[at].opcode == ChainOpcode::kBitcast) continue;
        std::optional<Steps> split = SplitInTwo(result[at], random);
        if (!split) continue;
        replacement = *std::move(split);
        break;
      }
      default: {
        const ChainArray& array = result[at].from;
        if (array.layout != RowMajor(array.sizes.size())) continue;
        ChainStep there = RandomStep(array, kReindexings | kPlacing, random);
        if (Count(there.to.sizes) > (int64_t{1} << 40)) continue;
        ChainStep back = Inverse(there);
        if (there.opcode == ChainOpcode::kBitcast) {
          there.to.layout = RandomOrder(there.to.sizes.size(), random);
          back = Bitcast(there.to, array);
        }
        replacement = {there, back, result[at]};
        break;
      }
    }
    result.erase(result.begin() + at, result.begin() + at + static_cast<int64_t>(replaced));
    result.insert(result.begin() + at, replacement.begin(), replacement.end());
  }
  for (size_t i = 1; i < result.size(); ++i) {
    if (!SameArray(result[i - 1].to, result[i].from)) return {};
  }
  return result;
}

std::string ToHlo(const HloChain& chain) {
  std::string text = absl::StrCat("f {\n  x0 = ", chain[0].from.ToString(),
                                  " parameter(0)\n  zero = f32[] constant(0)\n");
  for (size_t i = 0; i < chain.size(); ++i) {
    std::string step = StepText(chain[i], absl::StrCat("x", i), absl::StrCat("x", i + 1));
    if (i + 1 == chain.size()) {
      const size_t line = step.rfind("  x") == std::string::npos ? 0 : step.rfind("  x") + 2;
      step.insert(line, "ROOT ");
    }
    absl::StrAppend(&text, "  ", step, "\n");
  }
  return text + "}\n";
}

}  // namespace xla_indexing
