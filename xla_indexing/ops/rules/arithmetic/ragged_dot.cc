// Ragged dot: a dot in which one dimension of lhs, the ragged one, consists of groups of rows,
// group g being the rows [start_g, start_g + size_g) with start_g = size_0 + .. + size_{g-1}. The
// sizes are the last dimension of operand 2, whose other dimensions, if it has any, are dimensions
// of lhs: the sizes may differ along these. With batch, free and contracting indices b, m, n, k as
// for dot:
//
//   m is ragged   r[b, m, n]    = sum over k of lhs[b, m, k] * rhs[b, k, n, g],   m in group g
//   k is ragged   r[g, b, m, n] = sum over the k in group g of lhs[b, m, k] * rhs[b, k, n]
//   b is ragged   a dot; the sizes are not read
//
// Rows past the last group read nothing. Each product of a sum reads the sizes that say whether it
// is part of it: those of the groups that start at or before row m, or those of the groups up to g.
//
// The sizes are runtime variables, and starts sums of them, so that a map for each group is exact.
// A size counts as 0 where it is negative. Past 32 groups the maps do not tell groups apart.
//
// Source: XLA's operation semantics; jax.lax.ragged_dot_general.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/ops/rules/arithmetic/dot_match.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

enum RaggedOperand : int64_t { kLhs, kRhs, kSizes };

constexpr int64_t kMaxGroups = 32;

enum class RaggedMode { kFree, kContracting, kBatch };

struct RaggedDims {
  int64_t ragged = 0;  // The ragged dimension of lhs.
  RaggedMode mode = RaggedMode::kFree;
  // The dimensions of lhs that the leading dimensions of the sizes are: the batch dimensions, then
  // those of the ragged one's kind before it.
  llvm::SmallVector<int64_t, 2> prefix;
};

RaggedDims DimsOf(const BuildContext& build) {
  const DotDimensionNumbers numbers = build.instruction.dot_dimension_numbers();
  RaggedDims dims;
  dims.ragged = build.instruction.GetIntegers(AttributeKey::kLhsRaggedDims).front();
  dims.prefix.assign(numbers.lhs_batch_dims.begin(), numbers.lhs_batch_dims.end());
  if (absl::c_linear_search(numbers.lhs_batch_dims, dims.ragged)) {
    dims.mode = RaggedMode::kBatch;
  } else if (absl::c_linear_search(numbers.lhs_contracting_dims, dims.ragged)) {
    dims.mode = RaggedMode::kContracting;
    for (const int64_t dim : numbers.lhs_contracting_dims) {
      if (dim == dims.ragged) break;
      dims.prefix.push_back(dim);
    }
  } else {
    for (int64_t dim = 0; dim < dims.ragged; ++dim) {
      if (!absl::c_linear_search(numbers.lhs_batch_dims, dim) &&
          !absl::c_linear_search(numbers.lhs_contracting_dims, dim)) {
        dims.prefix.push_back(dim);
      }
    }
  }
  if (build.Operand(kSizes).rank() == 1) dims.prefix.clear();
  return dims;
}

// The loops of the sums, and what they are in every tensor.
struct RaggedLoops {
  LoopNest nest;  // With the axes of the result.
  llvm::SmallVector<NestAxis, 6> lhs;
  llvm::SmallVector<NestAxis, 6> rhs;
  llvm::SmallVector<NestAxis, 6> prefix;  // The axes of the sizes before the groups.
  Loop row = -1;                          // The index of the ragged dimension.
  Loop group = -1;
};

RaggedLoops LoopsOf(const BuildContext& build, const RaggedDims& dims) {
  const DotDimensionNumbers numbers = build.instruction.dot_dimension_numbers();
  const int64_t first = dims.mode == RaggedMode::kContracting ? 1 : 0;
  RaggedLoops loops;
  LoopNest& nest = loops.nest;
  const auto add_axes = [&](const Shape& shape, absl::Span<const int64_t> match,
                            llvm::SmallVectorImpl<NestAxis>* axes) {
    for (size_t k = 0; k < match.size(); ++k) {
      const Interval indices = IndicesOfAxis(shape.dimension(static_cast<int64_t>(k)));
      axes->push_back(match[k] == kWholeAxis ? NestAxis::Along(nest.AddLoop(indices))
                                             : nest.result[match[k]]);
      Interval& loop = nest.loops[axes->back().loop];
      loop = loop.Intersect(indices);
    }
  };
  for (const int64_t size : build.Output().dimensions()) {
    nest.result.push_back(NestAxis::Along(nest.AddLoop(size)));
  }
  add_axes(build.Operand(kLhs), DotMatch(build.instruction, kLhs, first), &loops.lhs);
  add_axes(build.Operand(kRhs), DotMatch(build.instruction, kRhs, first), &loops.rhs);
  for (size_t k = 0; k < numbers.lhs_contracting_dims.size(); ++k) {
    loops.rhs[numbers.rhs_contracting_dims[k]] = loops.lhs[numbers.lhs_contracting_dims[k]];
  }
  for (const int64_t dim : dims.prefix) loops.prefix.push_back(loops.lhs[dim]);
  loops.row = loops.lhs[dims.ragged].loop;
  loops.group =
      dims.mode == RaggedMode::kContracting
          ? nest.result.front().loop
          : loops.rhs[build.instruction.GetIntegers(AttributeKey::kRhsGroupDims).front()].loop;
  return loops;
}

// Reads of the sizes of all groups.
void AddReads(const BuildContext& build, int64_t groups, RaggedLoops* loops) {
  const Interval& rows = loops->nest.loops[loops->row];
  for (int64_t g = 0; g < groups; ++g) {
    LoopRead& read = loops->nest.reads.emplace_back();
    read.instruction = build.instruction.operand(kSizes);
    for (const NestAxis& axis : loops->prefix) read.element.push_back(axis.loop);
    read.element.push_back(loops->nest.AddLoop(Interval::Point(g)));
    read.value = ValueFunction::Clamp(0, rows.has_upper() ? rows.upper() + 1 : kInt64Max);
  }
}

// A nest for each group g, in which the row is in that group.
LoopNests NestsOfGroups(const RaggedLoops& loops, int64_t groups) {
  LoopNests nests;
  for (int64_t g = 0; g < groups; ++g) {
    LoopNest& nest = nests.emplace_back(loops.nest);
    nest.loops[loops.group] = Interval::Point(g);
    nest.bounds = {{loops.row, g, Interval::AtLeast(0)}, {loops.row, g + 1, Interval::AtMost(-1)}};
  }
  return nests;
}

// What is read of the sizes.
LoopNests NestsOfSizes(RaggedLoops loops, RaggedMode mode, int64_t groups) {
  loops.nest.operand = loops.prefix;
  const Loop group = loops.nest.AddLoop(groups);
  loops.nest.operand.push_back(NestAxis::Along(group));
  if (mode == RaggedMode::kContracting) {
    loops.nest.orders = {{group, loops.group}};
    return std::move(loops.nest);
  }
  LoopNests nests;
  for (int64_t g = 0; g < groups; ++g) {
    LoopNest& nest = nests.emplace_back(loops.nest);
    nest.loops[group] = Interval::Point(g);
    nest.bounds = {{loops.row, g, Interval::AtLeast(0)}};
  }
  return nests;
}

}  // namespace

LoopNests RaggedDotNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const RaggedDims dims = DimsOf(build);
  if (dims.mode == RaggedMode::kBatch) {
    return operand == kSizes ? LoopNests() : DotNests(build, output_leaf, operand);
  }
  const Shape& sizes = build.Operand(kSizes);
  const int64_t groups = sizes.dimension(sizes.rank() - 1);
  RaggedLoops loops = LoopsOf(build, dims);
  LoopNest& nest = loops.nest;
  if (operand == kLhs) nest.operand = loops.lhs;
  if (operand == kRhs) nest.operand = loops.rhs;
  if (groups == Shape::kUnboundedSize || groups > kMaxGroups) {
    // Any row may be in any group; sizes may be read by anything.
    if (operand == kSizes) {
      nest.operand = loops.prefix;
      nest.operand.push_back(NestAxis::Along(nest.AddLoop(groups)));
    }
    nest.label = ExactnessLabel::OverApproximate(
        absl::StrCat("rows of all groups: more than ", kMaxGroups, " groups"));
    return std::move(nest);
  }
  AddReads(build, groups, &loops);
  if (operand == kSizes) return NestsOfSizes(std::move(loops), dims.mode, groups);
  if (operand == kLhs && dims.mode == RaggedMode::kFree) {
    nest.bounds = {{loops.row, groups, Interval::AtMost(-1)}};
    return std::move(nest);
  }
  return NestsOfGroups(loops, groups);
}

}  // namespace xla_indexing::internal
