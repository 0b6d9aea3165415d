#include "xla_indexing/hlo/transforms/replace_indexed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/literal.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"

namespace xla_indexing {
namespace {

using internal::CheckedAdd;
using internal::CheckedMul;
using Sizes = std::vector<int64_t>;
using Axes = std::vector<MovedAxis>;

// Offset and size for each dimension.
using Region = std::vector<MovedDim>;

Sizes SizesOf(const Shape& shape) { return {shape.dimensions().begin(), shape.dimensions().end()}; }

std::optional<int64_t> Product(absl::Span<const int64_t> sizes) {
  std::optional<int64_t> product = 1;
  for (const int64_t size : sizes) {
    if (product) product = CheckedMul(*product, size);
  }
  return product;
}

// The operations that take the place of one instruction. They are added only when all are known,
// since the last of them bears its name. Operations that do nothing are left out.
class Steps {
 public:
  // An array: an instruction of the copy, or the result of a step.
  using Handle = size_t;

  explicit Steps(InstructionRewriter* rewriter) : rewriter_(rewriter) {}

  Handle Given(const HloInstruction* instruction) {
    steps_.push_back({HloOpcode::kCopy, "", instruction->shape(), {}, nullptr, instruction});
    return steps_.size() - 1;
  }
  Handle Add(HloOpcode opcode, absl::string_view role, const Shape& shape,
             std::vector<Handle> operands,
             std::function<void(HloInstruction*)> set_attributes = nullptr) {
    fits_ = fits_ && shape.ElementCount().ok();
    steps_.push_back({opcode, role, shape, std::move(operands), std::move(set_attributes)});
    return steps_.size() - 1;
  }

  Sizes SizesAt(Handle array) const { return SizesOf(steps_[array].shape); }
  ElementType TypeAt(Handle array) const { return steps_[array].shape.element_type(); }
  Shape Like(Handle array, const Sizes& sizes) const { return Shape::Array(TypeAt(array), sizes); }

  Handle Slice(Handle array, const std::vector<SliceRange>& ranges) {
    Sizes sizes;
    for (const SliceRange& range : ranges) {
      sizes.push_back((range.limit - range.start - 1) / range.stride + 1);
    }
    if (sizes == SizesAt(array)) return array;
    return Add(HloOpcode::kSlice, "slice", Like(array, sizes), {array}, [ranges](auto* slice) {
      slice->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(ranges));
    });
  }
  Handle Reverse(Handle array, const Sizes& dims) {
    if (dims.empty()) return array;
    return Add(HloOpcode::kReverse, "reverse", Like(array, SizesAt(array)), {array},
               [dims](auto* reverse) { SetDimensions(dims, reverse); });
  }
  Handle Reshape(Handle array, const Sizes& sizes) {
    const Step& step = steps_[array];
    if (step.opcode == HloOpcode::kReshape && step.role == "reshape") array = step.operands[0];
    if (sizes == SizesAt(array)) return array;
    return Add(HloOpcode::kReshape, "reshape", Like(array, sizes), {array});
  }
  // Dimension i of the result is dimension order[i] of the array.
  Handle Transpose(Handle array, const Sizes& order) {
    if (absl::c_is_sorted(order)) return array;
    Sizes sizes;
    for (const int64_t dim : order) sizes.push_back(SizesAt(array)[dim]);
    return Add(HloOpcode::kTranspose, "transpose", Like(array, sizes), {array},
               [order](auto* transpose) { SetDimensions(order, transpose); });
  }
  // Dimension i of the array is dimension dims[i] of the result.
  Handle Broadcast(Handle array, const Sizes& sizes, const Sizes& dims) {
    if (dims.size() == sizes.size()) return array;
    // Dimensions of one index are no repetition.
    Sizes missing = sizes;
    for (const int64_t dim : dims) missing[dim] = 1;
    if (absl::c_all_of(missing, [](int64_t size) { return size == 1; })) {
      return Reshape(array, sizes);
    }
    return Add(HloOpcode::kBroadcast, "broadcast", Like(array, sizes), {array},
               [dims](auto* broadcast) { SetDimensions(dims, broadcast); });
  }
  Handle Pad(Handle array, Handle value, const std::vector<PaddingDimension>& padding) {
    Sizes sizes = SizesAt(array);
    bool is_any = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      is_any = is_any || padding[i] != PaddingDimension();
      const auto inner = CheckedMul(std::max<int64_t>(sizes[i] - 1, 0), padding[i].interior);
      auto size = inner ? CheckedAdd(*inner, sizes[i]) : std::nullopt;
      if (size) size = CheckedAdd(*size, padding[i].low);
      if (size) size = CheckedAdd(*size, padding[i].high);
      fits_ = fits_ && size;
      sizes[i] = size.value_or(0);
    }
    if (!is_any) return array;
    return Add(HloOpcode::kPad, "pad", Like(array, sizes), {array, value}, [padding](auto* pad) {
      pad->SetAttribute(AttributeKey::kPadding, absl::Span<const PaddingDimension>(padding));
    });
  }
  Handle Constant(const Literal& literal, absl::string_view role) {
    return Add(HloOpcode::kConstant, role, literal.shape(), {}, [literal](auto* constant) {
      constant->SetAttribute(AttributeKey::kConstantValue, &literal);
    });
  }
  Handle Integer(ElementType type, int64_t value, absl::string_view role) {
    return Constant(Literal::IntegerScalar(type, value), role);
  }
  // The element at these indices, as a scalar.
  Handle Element(Handle array, const Sizes& index) {
    std::vector<SliceRange> ranges;
    for (const int64_t i : index) ranges.push_back({i, i + 1, 1});
    return Reshape(Slice(array, ranges), {});
  }
  // A scalar of the type of the array that stands where no element is read.
  Handle AnyValue(Handle array) {
    const auto zero = Literal::Splat(Shape::Scalar(TypeAt(array)));
    fits_ = fits_ && zero.ok();
    return Constant(zero.ok() ? *zero : Literal(), "zero");
  }
  // The value of all elements of an array of the copy.
  Handle OneValueOf(const HloInstruction* array) {
    if (array->shape().rank() == 0) return Given(array);
    if (array->opcode() == HloOpcode::kBroadcast && array->operand(0)->shape().rank() == 0) {
      return Given(array->operand(0));
    }
    return Element(Given(array), Sizes(array->shape().rank(), 0));
  }

  // Adds all that `last` is computed from to the copy, `last` as what stands for the original. Nothing where a size does not
  // fit, so that the original is copied.
  void Emit(Handle last) {
    if (!fits_) return;
    const HloInstruction& original = rewriter_->original();
    if (steps_[last].made != nullptr) {
      last = Add(HloOpcode::kCopy, "copy", original.shape(), {last});
    }
    std::vector<bool> is_used(steps_.size(), false);
    is_used[last] = true;
    for (size_t i = steps_.size(); i-- > 0;) {
      if (!is_used[i]) continue;
      for (const Handle operand : steps_[i].operands) is_used[operand] = true;
    }
    for (Step& step : steps_) {
      if (step.made != nullptr || !is_used[&step - steps_.data()]) continue;
      std::vector<const HloInstruction*> operands;
      operands.reserve(step.operands.size());
      for (const Handle operand : step.operands) operands.push_back(steps_[operand].made);
      HloInstruction* made =
          &step == &steps_[last]
              ? rewriter_->Replace(step.opcode, original.shape(), operands)
              : rewriter_->AddHelper(step.opcode, step.role, step.shape, operands);
      if (step.set_attributes) step.set_attributes(made);
      step.made = made;
    }
  }

  static void SetDimensions(const Sizes& dimensions, HloInstruction* instruction) {
    instruction->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(dimensions));
  }

 private:
  struct Step {
    HloOpcode opcode;
    absl::string_view role;
    Shape shape;
    std::vector<Handle> operands;
    std::function<void(HloInstruction*)> set_attributes;
    const HloInstruction* made = nullptr;
  };

  InstructionRewriter* rewriter_;
  std::vector<Step> steps_;
  bool fits_ = true;
};

using Handle = Steps::Handle;

// Coordinates that share loops as one: the operand is transposed by `order` and reshaped to `sizes`.
struct Flattened {
  Sizes order;
  Sizes sizes;
  Axes axes;
};

bool ShareALoop(const MovedAxis& a, const MovedAxis& b) {
  return absl::c_any_of(a.terms, [&](const MovedTerm& x) {
    return absl::c_any_of(b.terms, [&](const MovedTerm& y) { return x.loop == y.loop; });
  });
}

Flattened Flatten(const Sizes& sizes, const Axes& axes) {
  Flattened flat;
  std::vector<bool> is_taken(axes.size(), false);
  for (size_t first = 0; first < axes.size(); ++first) {
    if (is_taken[first]) continue;
    std::vector<size_t> group = {first};
    is_taken[first] = true;
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t k = first + 1; k < axes.size(); ++k) {
        if (is_taken[k] || !ShareALoop(axes[group[i]], axes[k])) continue;
        is_taken[k] = true;
        group.push_back(k);
      }
    }
    absl::c_sort(group);
    MovedAxis sum;
    int64_t size = 1;
    for (const size_t k : group) {
      flat.order.push_back(static_cast<int64_t>(k));
      size *= sizes[k];
      sum.start = sum.start * sizes[k] + axes[k].start;
      for (MovedTerm& term : sum.terms) term.stride *= sizes[k];
      for (const MovedTerm& term : axes[k].terms) {
        const auto it =
            absl::c_find_if(sum.terms, [&](const MovedTerm& t) { return t.loop == term.loop; });
        if (it == sum.terms.end()) {
          sum.terms.push_back(term);
        } else {
          it->stride += term.stride;
        }
      }
      sum.runtime = axes[k].runtime;
    }
    sum.terms.erase(std::remove_if(sum.terms.begin(), sum.terms.end(),
                                   [](const MovedTerm& t) { return t.stride == 0; }),
                    sum.terms.end());
    flat.sizes.push_back(size);
    flat.axes.push_back(std::move(sum));
  }
  return flat;
}

// Makes all steps positive, the largest first; loops whose order was turned are added to
// `reversed`.
void Normalise(const Sizes& counts, MovedAxis* axis, Sizes* reversed) {
  for (MovedTerm& term : axis->terms) {
    if (term.stride > 0) continue;
    axis->start += term.stride * (counts[term.loop] - 1);
    term.stride = -term.stride;
    reversed->push_back(term.loop);
  }
  absl::c_sort(axis->terms, [&](const MovedTerm& a, const MovedTerm& b) {
    return std::make_pair(a.stride, a.loop) > std::make_pair(b.stride, b.loop);
  });
}

// Whether each step is the next one's times its count: the digits of one loop.
bool IsOneRun(const MovedAxis& axis, const Sizes& counts) {
  for (size_t i = 0; i + 1 < axis.terms.size(); ++i) {
    const MovedTerm& next = axis.terms[i + 1];
    if (axis.terms[i].stride != next.stride * counts[next.loop]) return false;
  }
  return true;
}

// The starts of a dynamic-slice or dynamic-update-slice, of one type. The operation clamps start k
// to [0, last[k]].
std::vector<Handle> Starts(const Axes& axes, const Sizes& last, InstructionRewriter* rewriter,
                           Steps* steps) {
  std::vector<std::optional<Handle>> values(axes.size());
  std::optional<ElementType> type;
  bool is_one_type = true;
  for (size_t k = 0; k < axes.size(); ++k) {
    const std::optional<RuntimeStart>& start = axes[k].runtime;
    if (!start) continue;
    Handle value = steps->Element(steps->Given(rewriter->CopyOf(*start->source)), start->element);
    const ElementType own = steps->TypeAt(value);
    const bool is_clamped_anyhow =
        axes[k].start == 0 && start->lower == 0 && start->upper == last[k];
    if (start->is_clamped && !is_clamped_anyhow) {
      const Handle lower = steps->Integer(own, start->lower, "least");
      const Handle upper = steps->Integer(own, start->upper, "greatest");
      value = steps->Add(HloOpcode::kClamp, "clamp", Shape::Scalar(own), {lower, value, upper});
    }
    values[k] = value;
    is_one_type = is_one_type && axes[k].start == 0 && (!type || *type == own);
    type = own;
  }
  const ElementType common = type && is_one_type ? *type : ElementType::kS64;
  const Shape scalar = Shape::Scalar(common);
  std::vector<Handle> starts;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!values[k]) {
      starts.push_back(steps->Integer(common, axes[k].start, "start"));
      continue;
    }
    Handle value = *values[k];
    if (steps->TypeAt(value) != common) {
      value = steps->Add(HloOpcode::kConvert, "convert", scalar, {value});
    }
    if (axes[k].start != 0) {
      const Handle more = steps->Integer(common, axes[k].start, "offset");
      value = steps->Add(HloOpcode::kAdd, "add", scalar, {value, more});
    }
    starts.push_back(value);
  }
  return starts;
}

bool HasRuntimeStart(const Axes& axes) {
  return absl::c_any_of(axes, [](const MovedAxis& axis) { return axis.runtime.has_value(); });
}

Handle DynamicSlice(Handle array, const Axes& starts, const Sizes& sizes,
                    InstructionRewriter* rewriter, Steps* steps) {
  Sizes last = steps->SizesAt(array);
  for (size_t k = 0; k < last.size(); ++k) last[k] -= sizes[k];
  std::vector<Handle> operands = Starts(starts, last, rewriter, steps);
  operands.insert(operands.begin(), array);
  return steps->Add(HloOpcode::kDynamicSlice, "dynamic_slice", steps->Like(array, sizes),
                    std::move(operands), [sizes](auto* slice) {
                      slice->SetAttribute(AttributeKey::kDynamicSliceSizes,
                                          absl::Span<const int64_t>(sizes));
                    });
}

// Axes without runtime starts, of a dynamic-slice of the array.
Handle TakeRuntimeStarts(Handle array, const Sizes& counts, Axes* axes,
                         InstructionRewriter* rewriter, Steps* steps) {
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
Handle TakeWindows(Handle array, size_t pos, int64_t b, int64_t count, Steps* steps) {
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
  sizes[pos] = elements.value_or(internal::kInt64Max);
  const Handle flat = steps->Reshape(array, sizes);
  std::vector<PaddingDimension> padding(sizes.size());
  padding[pos].high = added.value_or(internal::kInt64Max);
  const Handle padded = steps->Pad(flat, steps->AnyValue(array), padding);
  with_rows[pos + 1] = width.value_or(internal::kInt64Max);
  return steps->Reshape(padded, with_rows);
}

std::vector<SliceRange> WholeRanges(const Sizes& sizes) {
  std::vector<SliceRange> ranges;
  for (const int64_t size : sizes) ranges.push_back({0, size, 1});
  return ranges;
}

// The part of the result that a box is.
Handle Gathered(Handle array, const MovedBox& box, std::optional<Handle> fill,
                InstructionRewriter* rewriter, Steps* steps) {
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
    joined.push_back(Product(dim.counts).value_or(internal::kInt64Max));
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
struct Cut {
  size_t dim = 0;
  struct Part {
    int64_t offset;
    int64_t size;
    std::vector<const MovedBox*> boxes;
  };
  std::vector<Part> parts;
};

std::optional<Cut> FindCut(std::vector<const MovedBox*> boxes, const Region& region) {
  for (size_t d = 0; d < region.size(); ++d) {
    absl::c_stable_sort(boxes, [&](const MovedBox* a, const MovedBox* b) {
      return a->dims[d].offset < b->dims[d].offset;
    });
    Cut cut;
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
      Cut::Part& part = cut.parts.back();
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
  const std::optional<Cut> cut = FindCut(boxes, hull);
  if (!cut) return false;
  return absl::c_all_of(cut->parts, [&](const Cut::Part& part) {
    Region inner = hull;
    inner[cut->dim].offset = part.offset;
    inner[cut->dim].size = part.size;
    return CanAssembleRegion(part.boxes, inner, has_fill);
  });
}

class Assembler {
 public:
  Assembler(const Steps::Handle operand, std::optional<Handle> fill, InstructionRewriter* rewriter,
            Steps* steps)
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
    const Cut cut = *FindCut(boxes, hull);
    std::vector<Handle> parts;
    for (const Cut::Part& part : cut.parts) {
      Region inner = hull;
      inner[cut.dim].offset = part.offset;
      inner[cut.dim].size = part.size;
      parts.push_back(Assemble(part.boxes, inner));
    }
    const Shape shape = steps_->Like(parts[0], sizes);
    return steps_->Add(HloOpcode::kConcatenate, "concatenate", shape, std::move(parts),
                       [dim = static_cast<int64_t>(cut.dim)](auto* concatenate) {
                         Steps::SetDimensions({dim}, concatenate);
                       });
  }

 private:
  Handle operand_;
  std::optional<Handle> fill_;
  InstructionRewriter* rewriter_;
  Steps* steps_;
};

std::vector<const MovedBox*> PointersTo(const std::vector<MovedBox>& boxes) {
  std::vector<const MovedBox*> pointers;
  pointers.reserve(boxes.size());
  for (const MovedBox& box : boxes) pointers.push_back(&box);
  return pointers;
}

void ReplaceGather(const MovedPieces& pieces, InstructionRewriter* rewriter) {
  Steps steps(rewriter);
  const HloInstruction* operand =
      pieces.operand == nullptr ? rewriter->operand(0) : rewriter->CopyOf(*pieces.operand);
  std::optional<Handle> fill;
  if (pieces.fill != nullptr) fill = steps.OneValueOf(rewriter->CopyOf(*pieces.fill));
  const Assembler assembler(steps.Given(operand), fill, rewriter, &steps);
  const Handle whole = assembler.Assemble(PointersTo(pieces.boxes), WholeRegion(pieces.sizes));
  steps.Emit(steps.Reshape(whole, SizesOf(rewriter->original().shape())));
}

// One dimension of the array into which updates go by a dynamic-update-slice.
struct Place {
  int64_t size = 0;
  MovedAxis axis;  // with one term at most, of step 1
};

// How one dimension becomes several: a pad, then a reshape.
struct Split {
  size_t position = 0;
  PaddingDimension padding;
  Sizes sizes;
};

struct Placement {
  Flattened flat;
  std::vector<Split> splits;
  std::vector<Place> places;
  Sizes reversed;
};

// Appends the places of a dimension, whose steps are positive and the largest first. False where
// its terms do not stay within the next step.
bool PlaceAxis(int64_t size, MovedAxis axis, const Sizes& counts, Placement* placement) {
  if (axis.terms.empty() || (axis.terms.size() == 1 && axis.terms[0].stride == 1)) {
    placement->places.push_back({size, std::move(axis)});
    return true;
  }
  if (axis.runtime) return false;
  const MovedTerm first = axis.terms[0];
  axis.terms.erase(axis.terms.begin());
  int64_t rest = 1;
  for (const MovedTerm& term : axis.terms) rest += term.stride * (counts[term.loop] - 1);
  const int64_t step = first.stride;
  if (rest > step) return false;
  const int64_t column = axis.start % step;
  const int64_t low = column + rest <= step ? 0 : step - column;
  const auto length = CheckedAdd(size, low);
  if (!length) return false;
  const int64_t rows = (*length - 1) / step + 1;
  const auto padded = CheckedMul(rows, step);
  if (!padded) return false;
  placement->splits.push_back(
      {placement->places.size(), {low, *padded - *length, 0}, {rows, step}});
  MovedAxis row;
  row.start = (axis.start + low) / step;
  row.terms = {{first.loop, 1}};
  placement->places.push_back({rows, std::move(row)});
  axis.start = (axis.start + low) % step;
  return PlaceAxis(step, std::move(axis), counts, placement);
}

std::optional<Placement> PlacementOf(const MovedBox& box, const Sizes& operand_sizes) {
  const Sizes counts = box.LoopCounts();
  Placement placement;
  for (const MovedDim& dim : box.dims) {
    if (dim.skipped != 0 || Product(dim.counts) != dim.size) return std::nullopt;
  }
  placement.flat = Flatten(operand_sizes, box.axes);
  // A coordinate that shares a loop has no start that is known at run time only.
  if (placement.flat.sizes.size() != operand_sizes.size() && HasRuntimeStart(box.axes)) {
    return std::nullopt;
  }
  std::vector<bool> is_placed(counts.size(), false);
  for (size_t k = 0; k < placement.flat.axes.size(); ++k) {
    MovedAxis axis = placement.flat.axes[k];
    Normalise(counts, &axis, &placement.reversed);
    for (const MovedTerm& term : axis.terms) is_placed[term.loop] = true;
    if (!PlaceAxis(placement.flat.sizes[k], std::move(axis), counts, &placement)) {
      return std::nullopt;
    }
  }
  for (size_t loop = 0; loop < counts.size(); ++loop) {
    if (counts[loop] > 1 && !is_placed[loop]) return std::nullopt;
  }
  return placement;
}

// The updates of a box with loops as dimensions, arranged by `axes`, each with a loop or none.
Handle ArrangedUpdates(Handle updates, const MovedBox& box, const Axes& axes, const Sizes& reversed,
                       Steps* steps) {
  const Sizes counts = box.LoopCounts();
  std::vector<SliceRange> ranges;
  ranges.reserve(box.dims.size());
  for (const MovedDim& dim : box.dims) ranges.push_back({dim.offset, dim.offset + dim.size, 1});
  updates = steps->Reshape(steps->Slice(updates, ranges), counts);
  updates = steps->Reverse(updates, reversed);
  Sizes order;
  Sizes sizes;
  for (const MovedAxis& axis : axes) {
    sizes.push_back(axis.terms.empty() ? 1 : counts[axis.terms[0].loop]);
    if (!axis.terms.empty()) order.push_back(axis.terms[0].loop);
  }
  // Loops of one index that no coordinate has.
  for (size_t loop = 0; loop < counts.size(); ++loop) {
    const auto i = static_cast<int64_t>(loop);
    if (!absl::c_linear_search(order, i)) order.push_back(i);
  }
  return steps->Reshape(steps->Transpose(updates, order), sizes);
}

// Whether the update takes the place of the element, whatever that was.
bool ReplacesElements(const HloInstruction& scatter) {
  const HloInstruction* root = scatter.to_apply()->root_instruction();
  return root->opcode() == HloOpcode::kParameter && root->parameter_number() == 1;
}

// What the scatter makes of an element and its update, element by element.
Handle WithUpdates(const HloInstruction& scatter, Handle old, Handle updates, Steps* steps) {
  const HloComputation* combiner = scatter.to_apply();
  const HloInstruction* root = combiner->root_instruction();
  if (root->opcode() == HloOpcode::kParameter) return old;
  const Sizes sizes = steps->SizesAt(updates);
  const Shape shape = steps->Like(old, sizes);
  const auto is_parameter = [&](int64_t i) {
    return root->operand(i)->opcode() == HloOpcode::kParameter;
  };
  if (IsElementwise(root->opcode()) && root->operand_count() == 2 && is_parameter(0) &&
      is_parameter(1) && root->opcode() != HloOpcode::kCompare) {
    std::vector<Handle> operands;
    for (const HloInstruction* operand : root->operands()) {
      operands.push_back(operand->parameter_number() == 0 ? old : updates);
    }
    return steps->Add(root->opcode(), "combined", shape, std::move(operands));
  }
  return steps->Add(HloOpcode::kMap, "combined", shape, {old, updates},
                    [combiner, rank = sizes.size()](auto* map) {
                      Sizes dims(rank);
                      std::iota(dims.begin(), dims.end(), 0);
                      Steps::SetDimensions(dims, map);
                      map->SetAttribute(AttributeKey::kToApply, combiner);
                    });
}

Handle PlacedInto(Handle array, Handle updates, const MovedBox& box, InstructionRewriter* rewriter,
                  Steps* steps) {
  const Sizes sizes = steps->SizesAt(array);
  const Placement placement = *PlacementOf(box, sizes);
  const Flattened& flat = placement.flat;
  array = steps->Transpose(array, flat.order);
  const Sizes transposed = steps->SizesAt(array);
  array = steps->Reshape(array, flat.sizes);
  std::vector<Sizes> before_splits;
  for (const Split& split : placement.splits) {
    before_splits.push_back(steps->SizesAt(array));
    std::vector<PaddingDimension> padding(before_splits.back().size());
    padding[split.position] = split.padding;
    if (padding[split.position] != PaddingDimension()) {
      array = steps->Pad(array, steps->AnyValue(array), padding);
    }
    Sizes two = steps->SizesAt(array);
    two[split.position] = split.sizes[0];
    two.insert(two.begin() + static_cast<std::ptrdiff_t>(split.position) + 1, split.sizes[1]);
    array = steps->Reshape(array, two);
  }
  Axes axes;
  for (const Place& place : placement.places) axes.push_back(place.axis);
  Handle update = ArrangedUpdates(updates, box, axes, placement.reversed, steps);
  const Sizes update_sizes = steps->SizesAt(update);
  const HloInstruction& scatter = rewriter->original();
  if (!ReplacesElements(scatter)) {
    std::vector<SliceRange> ranges;
    ranges.reserve(axes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      ranges.push_back({axes[k].start, axes[k].start + update_sizes[k], 1});
    }
    const Handle old = HasRuntimeStart(axes)
                           ? DynamicSlice(array, axes, update_sizes, rewriter, steps)
                           : steps->Slice(array, ranges);
    update = WithUpdates(scatter, old, update, steps);
  }
  const Sizes array_sizes = steps->SizesAt(array);
  if (update_sizes == array_sizes) {
    array = update;
  } else {
    Sizes last = array_sizes;
    for (size_t k = 0; k < last.size(); ++k) last[k] -= update_sizes[k];
    std::vector<Handle> operands = Starts(axes, last, rewriter, steps);
    operands.insert(operands.begin(), {array, update});
    array = steps->Add(HloOpcode::kDynamicUpdateSlice, "updated", steps->Like(array, array_sizes),
                       std::move(operands));
  }
  for (size_t i = placement.splits.size(); i-- > 0;) {
    const Split& split = placement.splits[i];
    Sizes padded = before_splits[i];
    padded[split.position] += split.padding.low + split.padding.high;
    array = steps->Reshape(array, padded);
    std::vector<SliceRange> ranges = WholeRanges(padded);
    ranges[split.position] = {split.padding.low,
                              split.padding.low + before_splits[i][split.position], 1};
    array = steps->Slice(array, ranges);
  }
  array = steps->Reshape(array, transposed);
  Sizes inverse(flat.order.size());
  for (size_t i = 0; i < flat.order.size(); ++i) inverse[flat.order[i]] = static_cast<int64_t>(i);
  return steps->Transpose(array, inverse);
}

Handle Padded(Handle updates, const MovedBox& box, const Shape& operand, Handle value,
              const HloInstruction& scatter, Steps* steps) {
  const Sizes counts = box.LoopCounts();
  Sizes reversed;
  Axes axes = box.axes;
  std::vector<PaddingDimension> padding;
  for (size_t k = 0; k < axes.size(); ++k) {
    Normalise(counts, &axes[k], &reversed);
    const AxisSpan span = SpanOf(axes[k], counts).value_or(AxisSpan());
    const int64_t step = axes[k].terms.empty() ? 1 : axes[k].terms[0].stride;
    padding.push_back({span.start,
                       operand.dimension(static_cast<int64_t>(k)) - span.start - span.size,
                       step - 1});
  }
  Handle update = ArrangedUpdates(updates, box, axes, reversed, steps);
  if (!ReplacesElements(scatter)) {
    const Handle old = steps->Broadcast(value, steps->SizesAt(update), {});
    update = WithUpdates(scatter, old, update, steps);
  }
  return steps->Pad(update, value, padding);
}

void ReplaceScatter(const PlacedUpdates& placed, InstructionRewriter* rewriter) {
  Steps steps(rewriter);
  const HloInstruction* operand = rewriter->operand(0);
  const Handle updates = steps.Given(rewriter->operand(2));
  if (placed.is_pad) {
    const Handle value = steps.OneValueOf(operand);
    steps.Emit(
        Padded(updates, placed.boxes[0], operand->shape(), value, rewriter->original(), &steps));
    return;
  }
  Handle array = steps.Given(operand);
  for (const MovedBox& box : placed.boxes) {
    array = PlacedInto(array, updates, box, rewriter, &steps);
  }
  steps.Emit(array);
}

}  // namespace

std::vector<int64_t> MovedBox::LoopCounts() const {
  std::vector<int64_t> all;
  for (const MovedDim& dim : dims) all.insert(all.end(), dim.counts.begin(), dim.counts.end());
  return all;
}

std::optional<AxisSpan> SpanOf(const MovedAxis& axis, const std::vector<int64_t>& counts) {
  std::optional<int64_t> least = axis.start;
  std::optional<int64_t> greatest = axis.start;
  for (const MovedTerm& term : axis.terms) {
    const std::optional<int64_t> reach = CheckedMul(term.stride, counts[term.loop] - 1);
    if (!reach) return std::nullopt;
    std::optional<int64_t>& end = *reach < 0 ? least : greatest;
    if (end) end = CheckedAdd(*end, *reach);
  }
  if (!least || !greatest) return std::nullopt;
  const std::optional<int64_t> length = internal::CheckedSub(*greatest, *least);
  if (!length || *length == internal::kInt64Max) return std::nullopt;
  return AxisSpan{*least, *length + 1};
}

bool CanAssemble(const std::vector<MovedBox>& boxes, const std::vector<int64_t>& sizes,
                 bool has_fill) {
  return CanAssembleRegion(PointersTo(boxes), WholeRegion(sizes), has_fill);
}

bool CanPlace(const MovedBox& box, const std::vector<int64_t>& operand_sizes) {
  return PlacementOf(box, operand_sizes).has_value();
}

absl::StatusOr<std::unique_ptr<HloModule>> ReplaceIndexed(const HloModule& module,
                                                          const IndexedReplacements& replacements) {
  return RewriteModule(module, [&](InstructionRewriter& rewriter) {
    const auto it = replacements.find(&rewriter.original());
    if (it == replacements.end()) return absl::OkStatus();
    const IndexedReplacement& replacement = it->second;
    if (replacement.gather) {
      ReplaceGather(*replacement.gather, &rewriter);
    } else if (replacement.scatter) {
      ReplaceScatter(*replacement.scatter, &rewriter);
    }
    if (rewriter.replacement() != nullptr) return absl::OkStatus();
    if (replacement.is_sorted || replacement.is_unique) {
      HloInstruction* same = rewriter.ReplaceOperands(rewriter.operands());
      if (replacement.is_sorted) same->SetAttribute(AttributeKey::kIndicesAreSorted, true);
      if (replacement.is_unique) same->SetAttribute(AttributeKey::kUniqueIndices, true);
    }
    return absl::OkStatus();
  });
}

}  // namespace xla_indexing
