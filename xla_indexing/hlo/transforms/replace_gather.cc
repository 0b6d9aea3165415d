#include "xla_indexing/hlo/transforms/replace_gather.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_axes.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using Handle = ReplacementSteps::Handle;

// Offset and size for each dimension.
using Region = std::vector<MovedDim>;

// Axes without runtime starts, of a dynamic-slice of the array.
Handle TakeRuntimeStarts(Handle array, const Sizes& counts, Axes* axes,
                         InstructionRewriter* rewriter, ReplacementSteps* steps) {
  if (!HasRuntimeStart(*axes)) return array;
  Sizes sizes = steps->SizesAt(array);
  Axes starts(axes->size());
  for (size_t k = 0; k < axes->size(); ++k) {
    MovedAxis& axis = (*axes)[k];
    if (!axis.runtime) continue;
    const AxisSpan span = SpanOf(axis, counts).value_or(AxisSpan());
    sizes[k] = span.size;
    starts[k].start = span.start;
    starts[k].runtime = std::move(axis.runtime);
    axis.start -= span.start;
    axis.runtime.reset();
  }
  return DynamicSlice(array, starts, sizes, rewriter, steps);
}

// The array whose dimension `pos` has elements start + b * j + r of the dimension, as row j of a new
// dimension before it: r counts on.
Handle TakeWindows(Handle array, size_t pos, int64_t b, int64_t count, ReplacementSteps* steps) {
  Sizes sizes = steps->SizesAt(array);
  const int64_t n = sizes[pos];
  Sizes kept(sizes.size());
  std::iota(kept.begin(), kept.end(), 0);
  for (size_t i = pos; i < kept.size(); ++i) ++kept[i];
  Sizes with_rows = sizes;
  with_rows.insert(with_rows.begin() + static_cast<std::ptrdiff_t>(pos), count);
  array = steps->Broadcast(array, with_rows, kept);
  const auto elements = Product({n, count});
  const auto added = Product({b, count});
  const auto width = CheckedAdd(n, b);
  // Sizes that do not fit make a step that does not, and so nothing is replaced.
  sizes[pos] = elements.value_or(kInt64Max);
  const Handle flat = steps->Reshape(array, sizes);
  std::vector<PaddingDimension> padding(sizes.size());
  padding[pos].high = added.value_or(kInt64Max);
  const Handle padded = steps->Pad(flat, steps->AnyValue(array), padding);
  with_rows[pos + 1] = width.value_or(kInt64Max);
  return steps->Reshape(padded, with_rows);
}

// The part of the result that a box is.
Handle Gathered(Handle array, const MovedBox& box, std::optional<Handle> fill,
                InstructionRewriter* rewriter, ReplacementSteps* steps) {
  const Sizes counts = box.LoopCounts();
  Axes axes = box.axes;
  array = TakeRuntimeStarts(array, counts, &axes, rewriter, steps);
  if (fill) {
    std::vector<PaddingDimension> padding;
    for (size_t k = 0; k < axes.size(); ++k) {
      const AxisSpan span = SpanOf(axes[k], counts).value_or(AxisSpan());
      const int64_t low = std::max<int64_t>(-span.start, 0);
      padding.push_back(
          {low, std::max<int64_t>(span.start + span.size - steps->SizesAt(array)[k], 0), 0});
      axes[k].start += low;
    }
    array = steps->Pad(array, *fill, padding);
  }
  Flattened flat = Flatten(steps->SizesAt(array), axes);
  array = steps->Reshape(steps->Transpose(array, flat.order), flat.sizes);
  Sizes reversed;
  std::vector<SliceRange> ranges;
  Sizes split;
  for (MovedAxis& axis : flat.axes) {
    Normalise(counts, &axis, &reversed);
    const AxisSpan span = SpanOf(axis, counts).value_or(AxisSpan());
    const bool is_run = IsOneRun(axis, counts);
    const int64_t stride = is_run && !axis.terms.empty() ? axis.terms.back().stride : 1;
    ranges.push_back({span.start, span.start + span.size, stride});
    if (!is_run || axis.terms.empty()) {
      split.push_back(span.size);
    } else {
      for (const MovedTerm& term : axis.terms) split.push_back(counts[term.loop]);
    }
  }
  array = steps->Reshape(steps->Slice(array, ranges), split);
  // The loop of each dimension; -1 for one index.
  Sizes loops;
  for (MovedAxis& axis : flat.axes) {
    if (axis.terms.empty()) loops.push_back(-1);
    if (axis.terms.empty() || IsOneRun(axis, counts)) {
      for (const MovedTerm& term : axis.terms) loops.push_back(term.loop);
      continue;
    }
    // The shortest loops first, so that the arrays in between stay small.
    absl::c_sort(axis.terms, [&](const MovedTerm& a, const MovedTerm& b) {
      return std::make_pair(counts[a.loop], a.loop) < std::make_pair(counts[b.loop], b.loop);
    });
    for (size_t i = 0; i + 1 < axis.terms.size(); ++i) {
      const MovedTerm& term = axis.terms[i];
      array = TakeWindows(array, loops.size(), term.stride, counts[term.loop], steps);
      loops.push_back(term.loop);
    }
    const MovedTerm& last = axis.terms.back();
    std::vector<SliceRange> rest = WholeRanges(steps->SizesAt(array));
    rest[loops.size()] = {0, (counts[last.loop] - 1) * last.stride + 1, last.stride};
    array = steps->Slice(array, rest);
    loops.push_back(last.loop);
  }
  Sizes reversed_dims;
  Sizes kept_loops;
  Sizes kept_sizes;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (absl::c_linear_search(reversed, loops[i])) reversed_dims.push_back(static_cast<int64_t>(i));
    if (loops[i] < 0) continue;
    kept_loops.push_back(loops[i]);
    kept_sizes.push_back(counts[loops[i]]);
  }
  array = steps->Reshape(steps->Reverse(array, reversed_dims), kept_sizes);
  Sizes order(kept_loops.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_sort(order, [&](int64_t a, int64_t b) { return kept_loops[a] < kept_loops[b]; });
  array = steps->Transpose(array, order);
  absl::c_sort(kept_loops);
  array = steps->Broadcast(array, counts, kept_loops);
  Sizes joined;
  std::vector<SliceRange> part;
  for (const MovedDim& dim : box.dims) {
    joined.push_back(Product(dim.counts).value_or(kInt64Max));
    part.push_back({dim.skipped, dim.skipped + dim.size, 1});
  }
  return steps->Slice(steps->Reshape(array, joined), part);
}

Region WholeRegion(const Sizes& sizes) {
  Region region;
  for (const int64_t size : sizes) region.push_back({0, size, 0, {}});
  return region;
}

Region HullOf(const std::vector<const MovedBox*>& boxes) {
  Region hull = boxes.front()->dims;
  for (const MovedBox* box : boxes) {
    for (size_t i = 0; i < hull.size(); ++i) {
      const MovedDim& dim = box->dims[i];
      const int64_t end = std::max(hull[i].offset + hull[i].size, dim.offset + dim.size);
      hull[i].offset = std::min(hull[i].offset, dim.offset);
      hull[i].size = end - hull[i].offset;
    }
  }
  return hull;
}

bool SameRegion(const Region& a, const Region& b) {
  return absl::c_equal(a, b, [](const MovedDim& x, const MovedDim& y) {
    return x.offset == y.offset && x.size == y.size;
  });
}

// The parts of a region along a dimension, in order, each with its boxes, where none is cut: at
// least two of them. Parts without boxes are gaps.
struct CutRegion {
  size_t dim = 0;
  struct Part {
    int64_t offset;
    int64_t size;
    std::vector<const MovedBox*> boxes;
  };
  std::vector<Part> parts;
};

std::optional<CutRegion> FindCut(std::vector<const MovedBox*> boxes, const Region& region) {
  for (size_t d = 0; d < region.size(); ++d) {
    absl::c_stable_sort(boxes, [&](const MovedBox* a, const MovedBox* b) {
      return a->dims[d].offset < b->dims[d].offset;
    });
    CutRegion cut;
    cut.dim = d;
    int64_t end = region[d].offset;
    const auto add_gap = [&](int64_t limit) {
      if (end < limit) cut.parts.push_back({end, limit - end, {}});
      end = std::max(end, limit);
    };
    for (const MovedBox* box : boxes) {
      const MovedDim& dim = box->dims[d];
      if (dim.offset >= end) {
        add_gap(dim.offset);
        cut.parts.push_back({dim.offset, 0, {}});
      }
      end = std::max(end, dim.offset + dim.size);
      CutRegion::Part& part = cut.parts.back();
      part.size = end - part.offset;
      part.boxes.push_back(box);
    }
    add_gap(region[d].offset + region[d].size);
    if (cut.parts.size() > 1) return cut;
  }
  return std::nullopt;
}

bool CanAssembleRegion(const std::vector<const MovedBox*>& boxes, const Region& region,
                       bool has_fill) {
  if (boxes.empty()) return has_fill;
  const Region hull = HullOf(boxes);
  if (!SameRegion(hull, region) && !has_fill) return false;
  if (boxes.size() == 1) return true;
  const std::optional<CutRegion> cut = FindCut(boxes, hull);
  if (!cut) return false;
  return absl::c_all_of(cut->parts, [&](const CutRegion::Part& part) {
    Region inner = hull;
    inner[cut->dim].offset = part.offset;
    inner[cut->dim].size = part.size;
    return CanAssembleRegion(part.boxes, inner, has_fill);
  });
}

class Assembler {
 public:
  Assembler(const Handle operand, std::optional<Handle> fill, InstructionRewriter* rewriter,
            ReplacementSteps* steps)
      : operand_(operand), fill_(fill), rewriter_(rewriter), steps_(steps) {}

  Handle Assemble(const std::vector<const MovedBox*>& boxes, const Region& region) const {
    Sizes sizes;
    for (const MovedDim& dim : region) sizes.push_back(dim.size);
    if (boxes.empty()) return steps_->Broadcast(*fill_, sizes, {});
    const Region hull = HullOf(boxes);
    if (!SameRegion(hull, region)) {
      std::vector<PaddingDimension> padding;
      for (size_t i = 0; i < hull.size(); ++i) {
        const int64_t low = hull[i].offset - region[i].offset;
        padding.push_back({low, region[i].size - low - hull[i].size, 0});
      }
      return steps_->Pad(Assemble(boxes, hull), *fill_, padding);
    }
    if (boxes.size() == 1) return Gathered(operand_, *boxes[0], fill_, rewriter_, steps_);
    const CutRegion cut = *FindCut(boxes, hull);
    std::vector<Handle> parts;
    for (const CutRegion::Part& part : cut.parts) {
      Region inner = hull;
      inner[cut.dim].offset = part.offset;
      inner[cut.dim].size = part.size;
      parts.push_back(Assemble(part.boxes, inner));
    }
    const Shape shape = steps_->Like(parts[0], sizes);
    return steps_->Add(HloOpcode::kConcatenate, "concatenate", shape, std::move(parts),
                       [dim = static_cast<int64_t>(cut.dim)](auto* concatenate) {
                         ReplacementSteps::SetDimensions({dim}, concatenate);
                       });
  }

 private:
  Handle operand_;
  std::optional<Handle> fill_;
  InstructionRewriter* rewriter_;
  ReplacementSteps* steps_;
};

std::vector<const MovedBox*> PointersTo(const std::vector<MovedBox>& boxes) {
  std::vector<const MovedBox*> pointers;
  pointers.reserve(boxes.size());
  for (const MovedBox& box : boxes) pointers.push_back(&box);
  return pointers;
}

}  // namespace

bool CanAssembleBoxes(const std::vector<MovedBox>& boxes, const Sizes& sizes, bool has_fill) {
  return CanAssembleRegion(PointersTo(boxes), WholeRegion(sizes), has_fill);
}

void ReplaceGather(const MovedPieces& pieces, InstructionRewriter* rewriter) {
  ReplacementSteps steps(rewriter);
  const HloInstruction* operand =
      pieces.operand == nullptr ? rewriter->operand(0) : rewriter->CopyOf(*pieces.operand);
  std::optional<Handle> fill;
  if (pieces.fill != nullptr) fill = steps.OneValueOf(rewriter->CopyOf(*pieces.fill));
  const Assembler assembler(steps.Given(operand), fill, rewriter, &steps);
  const Handle whole = assembler.Assemble(PointersTo(pieces.boxes), WholeRegion(pieces.sizes));
  steps.Emit(steps.Reshape(whole, SizesOf(rewriter->original().shape())));
}

}  // namespace xla_indexing::internal
