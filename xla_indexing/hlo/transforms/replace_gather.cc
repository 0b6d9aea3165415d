// A gather whose indices are known, as slices, reshapes, transposes and concatenates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace internal {
namespace {

using Handle = ReplacementSteps::Handle;
using Region = std::vector<MovedDim>;
using Boxes = std::vector<const MovedBox*>;

// The box without runtime starts, of a dynamic-slice of the array.
Handle TakeRuntimeStarts(Handle array, MovedBox* box, ReplacementSteps* steps) {
  if (!box->HasRuntimeStart()) return array;
  Sizes sizes = steps->SizesAt(array);
  std::vector<MovedAxis> starts(box->axes.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    MovedAxis& axis = box->axes[k];
    if (!axis.runtime) continue;
    const AxisSpan span = SpanOf(axis, *box).value_or(AxisSpan());
    sizes[k] = span.size;
    starts[k].start = span.start;
    starts[k].runtime = std::move(axis.runtime);
    axis.start -= span.start;
    axis.runtime.reset();
  }
  return steps->DynamicSlice(array, starts, sizes);
}

// The part of the result that a box is.
Handle Gathered(Handle array, MovedBox box, ReplacementSteps* steps) {
  array = TakeRuntimeStarts(array, &box, steps);
  std::vector<SliceRange> ranges;
  Sizes reversed;
  Sizes dims;
  Sizes kept_sizes;
  for (size_t k = 0; k < box.axes.size(); ++k) {
    const MovedAxis& axis = box.axes[k];
    const AxisSpan span = SpanOf(axis, box).value_or(AxisSpan());
    ranges.push_back(
        {span.start, span.start + span.size, axis.stride < 0 ? -axis.stride : axis.stride});
    if (!axis.dim) continue;
    if (axis.stride < 0) reversed.push_back(static_cast<int64_t>(k));
    dims.push_back(*axis.dim);
    kept_sizes.push_back(box.CountOf(axis));
  }
  array = steps->Reshape(steps->Reverse(steps->Slice(array, ranges), reversed), kept_sizes);
  Sizes order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  array = steps->Transpose(array, order);
  absl::c_sort(dims);
  Sizes sizes;
  for (const MovedDim& dim : box.dims) sizes.push_back(dim.size);
  return steps->Broadcast(array, sizes, dims);
}

// The boxes in the parts of a region along a dimension, in order, where none is cut: at least two parts,
// which cover the region along that dimension.
struct CutRegion {
  size_t dim = 0;
  std::vector<std::pair<MovedDim, Boxes>> parts;
};

std::optional<CutRegion> FindCut(Boxes boxes, const Region& region) {
  for (size_t d = 0; d < region.size(); ++d) {
    absl::c_stable_sort(boxes, [&](const MovedBox* a, const MovedBox* b) {
      return a->dims[d].offset < b->dims[d].offset;
    });
    CutRegion cut{d, {}};
    int64_t end = region[d].offset;
    bool has_gap = false;
    for (const MovedBox* box : boxes) {
      const MovedDim& dim = box->dims[d];
      has_gap = has_gap || dim.offset > end;
      if (dim.offset >= end) cut.parts.push_back({{dim.offset, 0}, {}});
      end = std::max(end, dim.offset + dim.size);
      auto& [part, inside] = cut.parts.back();
      part.size = end - part.offset;
      inside.push_back(box);
    }
    if (has_gap || end != region[d].offset + region[d].size) return std::nullopt;
    if (cut.parts.size() > 1) return cut;
  }
  return std::nullopt;
}

// The region, which `join` puts together along dimensions from what `box` makes of boxes, if the boxes cover it
// and there are cuts between them.
struct Assembler {
  std::function<Handle(const MovedBox&)> box;
  std::function<Handle(std::vector<Handle>, size_t dim, const Region&)> join;

  std::optional<Handle> Assemble(const Boxes& boxes, const Region& region) const {
    if (boxes.size() == 1 && boxes[0]->dims == region) return box(*boxes[0]);
    if (boxes.size() < 2) return std::nullopt;
    const std::optional<CutRegion> cut = FindCut(boxes, region);
    if (!cut) return std::nullopt;
    std::vector<Handle> parts;
    for (const auto& [part, inside] : cut->parts) {
      Region inner = region;
      inner[cut->dim] = part;
      const std::optional<Handle> made = Assemble(inside, inner);
      if (!made) return std::nullopt;
      parts.push_back(*made);
    }
    return join(std::move(parts), cut->dim, region);
  }

  std::optional<Handle> AssembleAll(const std::vector<MovedBox>& boxes, const Sizes& sizes) const {
    Boxes pointers;
    for (const MovedBox& each : boxes) pointers.push_back(&each);
    Region whole;
    for (const int64_t size : sizes) whole.push_back({0, size});
    return Assemble(pointers, whole);
  }
};

}  // namespace

void ReplaceGather(const std::vector<MovedBox>& boxes, InstructionRewriter* rewriter) {
  ReplacementSteps steps(rewriter);
  const Handle operand = steps.Given(rewriter->operand(0));
  const auto concatenate = [&](std::vector<Handle> parts, size_t dim, const Region& region) {
    Sizes sizes;
    for (const MovedDim& each : region) sizes.push_back(each.size);
    const Shape shape = steps.Like(operand, sizes);
    return steps.Add(HloOpcode::kConcatenate, "concatenate", shape, std::move(parts),
                     [dim](auto* instruction) {
                       ReplacementSteps::SetDimensions({static_cast<int64_t>(dim)}, instruction);
                     });
  };
  const Assembler assembler{[&](const MovedBox& box) { return Gathered(operand, box, &steps); },
                            concatenate};
  const auto whole = assembler.AssembleAll(boxes, SizesOf(rewriter->original().shape()));
  if (whole) steps.Emit(*whole);
}

}  // namespace internal

bool CanAssemble(const std::vector<MovedBox>& boxes, const std::vector<int64_t>& sizes) {
  const internal::Assembler assembler{[](const MovedBox&) { return size_t{0}; },
                                      [](const auto&, size_t, const auto&) { return size_t{0}; }};
  return assembler.AssembleAll(boxes, sizes).has_value();
}

}  // namespace xla_indexing
