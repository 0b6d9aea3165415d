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
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/literal.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"

namespace xla_indexing {
namespace {

using Sizes = std::vector<int64_t>;

// One operation of a chain, whose operand is the one before it.
struct ChainStep {
  HloOpcode opcode;
  absl::string_view role;
  Shape shape;
  std::function<void(HloInstruction*)> set_attributes;
};

Shape ArrayLike(const Shape& array, const Sizes& sizes) {
  return Shape::Array(array.element_type(), sizes);
}

void SetDimensions(const Sizes& dimensions, HloInstruction* instruction) {
  instruction->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(dimensions));
}

// The chain from an operand to the elements of a box, along the dimensions of the result.
std::vector<ChainStep> ChainOf(const Shape& operand, const MovedBox& box, const Shape& result) {
  std::vector<ChainStep> steps;
  Sizes sizes;
  std::vector<SliceRange> ranges;
  Sizes reversed;
  for (size_t i = 0; i < box.size(); ++i) {
    const MovedAxis& axis = box[i];
    const int64_t last = axis.start + (axis.count - 1) * axis.stride;
    ranges.push_back({std::min(axis.start, last), std::max(axis.start, last) + 1,
                      axis.stride < 0 ? -axis.stride : axis.stride});
    if (axis.stride < 0) reversed.push_back(static_cast<int64_t>(i));
    sizes.push_back(axis.count);
  }
  if (sizes != Sizes(operand.dimensions().begin(), operand.dimensions().end())) {
    steps.push_back({HloOpcode::kSlice, "slice", ArrayLike(operand, sizes), [ranges](auto* slice) {
                       slice->SetAttribute(AttributeKey::kSlice,
                                           absl::Span<const SliceRange>(ranges));
                     }});
  }
  if (!reversed.empty()) {
    steps.push_back({HloOpcode::kReverse, "reverse", ArrayLike(operand, sizes),
                     [reversed](auto* reverse) { SetDimensions(reversed, reverse); }});
  }
  Sizes kept;
  Sizes result_dims;
  for (size_t i = 0; i < box.size(); ++i) {
    if (!box[i].result_dim) continue;
    kept.push_back(sizes[i]);
    result_dims.push_back(*box[i].result_dim);
  }
  if (kept.size() != sizes.size()) {
    steps.push_back({HloOpcode::kReshape, "reshape", ArrayLike(operand, kept), nullptr});
  }
  if (!absl::c_is_sorted(result_dims)) {
    Sizes order(kept.size());
    std::iota(order.begin(), order.end(), 0);
    absl::c_sort(order, [&](int64_t a, int64_t b) { return result_dims[a] < result_dims[b]; });
    Sizes transposed;
    for (const int64_t i : order) transposed.push_back(kept[i]);
    steps.push_back({HloOpcode::kTranspose, "transpose", ArrayLike(operand, transposed),
                     [order](auto* transpose) { SetDimensions(order, transpose); }});
    absl::c_sort(result_dims);
  }
  if (static_cast<int64_t>(result_dims.size()) == result.rank()) return steps;
  // Dimensions of one index are no repetition.
  Sizes missing(result.dimensions().begin(), result.dimensions().end());
  for (const int64_t dim : result_dims) missing[dim] = 1;
  if (absl::c_all_of(missing, [](int64_t size) { return size == 1; })) {
    steps.push_back({HloOpcode::kReshape, "reshape", result, nullptr});
  } else {
    steps.push_back({HloOpcode::kBroadcast, "broadcast", result,
                     [result_dims](auto* broadcast) { SetDimensions(result_dims, broadcast); }});
  }
  return steps;
}

const HloInstruction* AddStep(const ChainStep& step, const Shape& shape, bool is_last,
                              const HloInstruction* operand, InstructionRewriter* rewriter) {
  HloInstruction* added = is_last ? rewriter->Replace(step.opcode, shape, {&operand, 1})
                                  : rewriter->AddHelper(step.opcode, step.role, shape, {operand});
  if (step.set_attributes) step.set_attributes(added);
  return added;
}

void ReplaceGather(const MovedPieces& pieces, InstructionRewriter* rewriter) {
  const Shape& shape = rewriter->original().shape();
  const HloInstruction* operand = rewriter->operand(0);
  const bool is_one = pieces.boxes.size() == 1;
  std::vector<const HloInstruction*> parts;
  for (size_t i = 0; i < pieces.boxes.size(); ++i) {
    Shape of_piece = ArrayLike(shape, Sizes(shape.dimensions().begin(), shape.dimensions().end()));
    if (!is_one) of_piece.SetDimension(pieces.dim, pieces.sizes[i]);
    const HloInstruction* part = operand;
    std::vector<ChainStep> steps = ChainOf(operand->shape(), pieces.boxes[i], of_piece);
    if (steps.empty() && is_one) {
      steps.push_back({HloOpcode::kCopy, "copy", of_piece, nullptr});
    }
    for (size_t k = 0; k < steps.size(); ++k) {
      const bool is_last = is_one && k + 1 == steps.size();
      part = AddStep(steps[k], is_last ? shape : steps[k].shape, is_last, part, rewriter);
    }
    parts.push_back(part);
  }
  if (is_one) return;
  SetDimensions({pieces.dim}, rewriter->Replace(HloOpcode::kConcatenate, shape, parts));
}

void ReplaceScatter(const ReplacedBox& replaced, InstructionRewriter* rewriter) {
  const HloInstruction* operand = rewriter->operand(0);
  const HloInstruction* updates = rewriter->operand(2);
  Sizes order;
  Sizes transposed;
  Sizes sizes;
  for (const MovedAxis& axis : replaced.box) {
    sizes.push_back(axis.count);
    if (!axis.result_dim) continue;
    order.push_back(*axis.result_dim);
    transposed.push_back(axis.count);
  }
  // Dimensions of size 1 that run along none.
  for (int64_t i = 0; i < updates->shape().rank(); ++i) {
    if (absl::c_linear_search(order, i)) continue;
    order.push_back(i);
    transposed.push_back(1);
  }
  const HloInstruction* update = updates;
  if (!absl::c_is_sorted(order)) {
    HloInstruction* transpose = rewriter->AddHelper(
        HloOpcode::kTranspose, "transpose", ArrayLike(updates->shape(), transposed), {update});
    SetDimensions(order, transpose);
    update = transpose;
  }
  if (transposed != sizes) {
    update = rewriter->AddHelper(HloOpcode::kReshape, "reshape", ArrayLike(updates->shape(), sizes),
                                 {update});
  }
  std::vector<const HloInstruction*> operands = {operand, update};
  for (const MovedAxis& axis : replaced.box) {
    HloInstruction* start =
        rewriter->AddHelper(HloOpcode::kConstant, "start", Shape::Scalar(ElementType::kS64), {});
    const Literal literal = Literal::IntegerScalar(ElementType::kS64, axis.start);
    start->SetAttribute(AttributeKey::kConstantValue, &literal);
    operands.push_back(start);
  }
  rewriter->Replace(HloOpcode::kDynamicUpdateSlice, rewriter->original().shape(), operands);
}

}  // namespace

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
    } else if (replacement.is_sorted || replacement.is_unique) {
      HloInstruction* same = rewriter.ReplaceOperands(rewriter.operands());
      if (replacement.is_sorted) same->SetAttribute(AttributeKey::kIndicesAreSorted, true);
      if (replacement.is_unique) same->SetAttribute(AttributeKey::kUniqueIndices, true);
    }
    return absl::OkStatus();
  });
}

}  // namespace xla_indexing
