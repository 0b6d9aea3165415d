#include "xla_indexing/hlo/transforms/moved_axes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using Handle = ReplacementSteps::Handle;

bool ShareALoop(const MovedAxis& a, const MovedAxis& b) {
  return absl::c_any_of(a.terms, [&](const MovedTerm& x) {
    return absl::c_any_of(b.terms, [&](const MovedTerm& y) { return x.loop == y.loop; });
  });
}

}  // namespace

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

bool IsOneRun(const MovedAxis& axis, const Sizes& counts) {
  for (size_t i = 0; i + 1 < axis.terms.size(); ++i) {
    const MovedTerm& next = axis.terms[i + 1];
    if (axis.terms[i].stride != next.stride * counts[next.loop]) return false;
  }
  return true;
}

bool HasRuntimeStart(const Axes& axes) {
  return absl::c_any_of(axes, [](const MovedAxis& axis) { return axis.runtime.has_value(); });
}

std::vector<Handle> Starts(const Axes& axes, const Sizes& last, InstructionRewriter* rewriter,
                           ReplacementSteps* steps) {
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

Handle DynamicSlice(Handle array, const Axes& starts, const Sizes& sizes,
                    InstructionRewriter* rewriter, ReplacementSteps* steps) {
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

}  // namespace xla_indexing::internal
