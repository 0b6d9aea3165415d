// Operations that compute an element from many: dot and its kin, and reduce.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/reduce_together.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

// The dimensions of an array of `rank` that are in neither list, in order.
Index OtherDimensions(int64_t rank, absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  Index others;
  for (int64_t d = 0; d < rank; ++d) {
    if (!absl::c_linear_search(a, d) && !absl::c_linear_search(b, d)) others.push_back(d);
  }
  return others;
}

// Calls `visit` for every product of an element of lhs and one of rhs that an index of the result
// names from dimension `first` on: with that index, and those of the elements.
void ForEachProduct(
    const Array& result, size_t first, Operands operands, const DotDimensionNumbers& numbers,
    const Index& lhs_free, const Index& rhs_free,
    absl::FunctionRef<void(const Index& index, const Index& in_lhs, const Index& in_rhs)> visit) {
  const Array& lhs = operands[0]->front();
  Index contracted_sizes;
  for (int64_t d : numbers.lhs_contracting_dims) contracted_sizes.push_back(lhs.size(d));
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Index in_lhs(lhs.rank());
    Index in_rhs(operands[1]->front().rank());
    size_t next = first;
    for (size_t b = 0; b < numbers.lhs_batch_dims.size(); ++b, ++next) {
      in_lhs[numbers.lhs_batch_dims[b]] = index[next];
      in_rhs[numbers.rhs_batch_dims[b]] = index[next];
    }
    for (int64_t d : lhs_free) in_lhs[d] = index[next++];
    for (int64_t d : rhs_free) in_rhs[d] = index[next++];
    ForEachIndex(contracted_sizes, [&](const Index& contracted) {
      for (size_t c = 0; c < contracted.size(); ++c) {
        in_lhs[numbers.lhs_contracting_dims[c]] = contracted[c];
        in_rhs[numbers.rhs_contracting_dims[c]] = contracted[c];
      }
      visit(index, in_lhs, in_rhs);
    });
  });
}

}  // namespace

// result[batch.., m.., n..] = sum over k of lhs[batch, m, k] * rhs[batch, k, n], the dimensions
// placed as the dimension numbers say.
Array Dot(const HloInstruction& instruction, Operands operands) {
  const DotDimensionNumbers numbers = instruction.dot_dimension_numbers();
  const Array& lhs = operands[0]->front();
  const Array& rhs = operands[1]->front();
  const Index lhs_free =
      OtherDimensions(lhs.rank(), numbers.lhs_batch_dims, numbers.lhs_contracting_dims);
  const Index rhs_free =
      OtherDimensions(rhs.rank(), numbers.rhs_batch_dims, numbers.rhs_contracting_dims);

  Array result(instruction.shape());
  const ElementType type = result.shape().element_type();
  const bool is_of_integers = IsIntegral(type) && instruction.opcode() == HloOpcode::kDot;
  for (Element& element : result.elements()) {
    if (is_of_integers) element.value = 0;
  }
  ForEachProduct(
      result, 0, operands, numbers, lhs_free, rhs_free,
      [&](const Index& index, const Index& in_lhs, const Index& in_rhs) {
        SourceSet& sources = result.at(index).sources;
        std::optional<Integer>& sum = result.at(index).value;
        const std::optional<Integer> factors[] = {lhs.at(in_lhs).value, rhs.at(in_rhs).value};
        if (sum && factors[0] && factors[1]) {
          sum = WrapInteger(type,
                            *sum + WrapInteger(type, *factors[0]) * WrapInteger(type, *factors[1]));
        } else {
          sum.reset();
        }
        const Element& a = lhs.at(in_lhs);
        const Element& b = rhs.at(in_rhs);
        const auto is_zero = [](const Element& factor) {
          return factor.is_fixed && !factor.is_scalar && factor.value == Integer(0);
        };
        if (!is_zero(b)) sources.AddAll(a.sources);
        if (!is_zero(a)) sources.AddAll(b.sources);
      });
  return result;
}

Value ReduceTogether(const HloInstruction& instruction, Operands inits,
                     absl::FunctionRef<void(const Index&, SourceSet*)> add_inputs) {
  Value result = MakeValue(instruction.shape());
  ForEachIndex(result[0].sizes(), [&](const Index& index) {
    SourceSet sources;
    for (const Value* init : inits) sources.AddAll(init->front().elements()[0].sources);
    add_inputs(index, &sources);
    for (Array& array : result) array.at(index).sources = sources;
  });
  return result;
}

// Every product lhs[batch, m, k] * rhs[batch, k, n (, group)] is looked at, group by group: whether
// its row, m or k, is one of those that the group begins and ends with. The sizes are read one
// after another for that, up to the group in which the row is found (m), or to that of the result
// (k).
Array RaggedDot(const HloInstruction& instruction, Operands operands) {
  const DotDimensionNumbers numbers = instruction.dot_dimension_numbers();
  const Array& lhs = operands[0]->front();
  const Array& rhs = operands[1]->front();
  const Array& sizes = operands[2]->front();
  const int64_t ragged = instruction.GetIntegers(AttributeKey::kLhsRaggedDims)[0];
  const absl::Span<const int64_t> group_dims = instruction.GetIntegers(AttributeKey::kRhsGroupDims);
  if (absl::c_linear_search(numbers.lhs_batch_dims, ragged)) return Dot(instruction, operands);
  const bool in_contraction = absl::c_linear_search(numbers.lhs_contracting_dims, ragged);
  const Index lhs_free =
      OtherDimensions(lhs.rank(), numbers.lhs_batch_dims, numbers.lhs_contracting_dims);
  Index rhs_used(numbers.rhs_contracting_dims.begin(), numbers.rhs_contracting_dims.end());
  rhs_used.insert(rhs_used.end(), group_dims.begin(), group_dims.end());
  const Index rhs_free = OtherDimensions(rhs.rank(), numbers.rhs_batch_dims, rhs_used);
  // The dimensions of lhs along which sizes differ: batch, and those of the same kind before.
  Index prefix;
  if (sizes.rank() > 1) {
    prefix.assign(numbers.lhs_batch_dims.begin(), numbers.lhs_batch_dims.end());
    const Index same_kind = in_contraction ? Index(numbers.lhs_contracting_dims.begin(),
                                                   numbers.lhs_contracting_dims.end())
                                           : lhs_free;
    prefix.insert(prefix.end(), same_kind.begin(), absl::c_find(same_kind, ragged));
  }

  Array result(instruction.shape());
  const auto add_product = [&](const Index& index, const Index& in_lhs, Index in_rhs) {
    SourceSet& sources = result.at(index).sources;
    Index in_sizes;
    for (int64_t d : prefix) in_sizes.push_back(in_lhs[d]);
    in_sizes.push_back(0);
    Integer end = 0;
    for (int64_t g = 0; g < sizes.size(sizes.rank() - 1); ++g) {
      if (in_contraction ? g > index[0] : end > in_lhs[ragged]) break;
      in_sizes.back() = g;
      sources.AddAll(sizes.at(in_sizes).sources);
      const Integer begin = end;
      end += std::max<Integer>(*sizes.at(in_sizes).value, 0);
      if (in_lhs[ragged] < begin || in_lhs[ragged] >= end) continue;
      if (in_contraction && g != index[0]) continue;
      if (!in_contraction) in_rhs[group_dims[0]] = g;
      sources.AddAll(lhs.at(in_lhs).sources);
      sources.AddAll(rhs.at(in_rhs).sources);
    }
  };
  ForEachProduct(result, in_contraction ? 1 : 0, operands, numbers, lhs_free, rhs_free,
                 add_product);
  return result;
}

// The values of an operand that belong to a block each have the sources of its scale too; then it
// is a dot.
Array ScaledDot(const HloInstruction& instruction, Operands operands) {
  Value scaled[2] = {*operands[0], *operands[1]};
  for (size_t side = 0; side < 2; ++side) {
    Array& values = scaled[side].front();
    const Array& scales = operands[2 + side]->front();
    ForEachIndex(values.sizes(), [&](const Index& index) {
      Index block(scales.rank());
      for (int64_t d = 0; d < scales.rank(); ++d) {
        const int64_t block_size = (values.size(d) + scales.size(d) - 1) / scales.size(d);
        block[d] = index[d] / block_size;
      }
      values.at(index).sources.AddAll(scales.at(block).sources);
    });
  }
  return Dot(instruction, {&scaled[0], &scaled[1]});
}

const HloInstruction* CombinerOf(const HloInstruction& reduce) {
  const HloInstruction* root = reduce.to_apply()->root_instruction();
  if (reduce.operand_count() != 2 || root == nullptr || root->operand_count() != 2) return nullptr;
  for (const HloInstruction* operand : root->operands()) {
    if (operand->opcode() != HloOpcode::kParameter) return nullptr;
    if (operand->shape() != root->shape()) return nullptr;
  }
  if (root->operand(0) == root->operand(1)) return nullptr;
  switch (root->opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return root;
    default:
      return nullptr;
  }
}

// In row-major order of the elements:
// result[kept] = fold of operand[kept, reduced] over all reduced indices, beginning with the inits.
// The first half of the operands are the inputs.
Value Reduce(const HloInstruction& instruction, Operands operands) {
  const Operands inputs = operands.subspan(0, operands.size() / 2);
  const absl::Span<const int64_t> sizes = inputs[0]->front().sizes();
  const absl::Span<const int64_t> reduced = instruction.dimensions();
  const Index kept = OtherDimensions(static_cast<int64_t>(sizes.size()), reduced, {});
  Index reduced_sizes;
  for (int64_t d : reduced) reduced_sizes.push_back(sizes[d]);
  const auto for_each_input = [&](const Index& index,
                                  absl::FunctionRef<void(const Index& read)> visit) {
    Index read(sizes.size());
    for (size_t k = 0; k < kept.size(); ++k) read[kept[k]] = index[k];
    ForEachIndex(reduced_sizes, [&](const Index& position) {
      for (size_t k = 0; k < reduced.size(); ++k) read[reduced[k]] = position[k];
      visit(read);
    });
  };
  Value result = ReduceTogether(instruction, operands.subspan(inputs.size()),
                                [&](const Index& index, SourceSet* sources) {
                                  for_each_input(index, [&](const Index& read) {
                                    for (const Value* input : inputs)
                                      sources->AddAll(input->front().at(read).sources);
                                  });
                                });
  const HloInstruction* combiner = CombinerOf(instruction);
  if (combiner == nullptr) {
    ForEachIndex(result.front().sizes(), [&](const Index& index) {
      std::vector<std::optional<Integer>> values;
      for (const Value* init : operands.subspan(inputs.size())) {
        values.push_back(init->front().elements()[0].value);
      }
      for_each_input(index, [&](const Index& read) {
        for (const Value* input : inputs) values.push_back(input->front().at(read).value);
        values = ScalarResults(*instruction.to_apply(), values);
      });
      for (size_t leaf = 0; leaf < result.size(); ++leaf)
        result[leaf].at(index).value = values[leaf];
    });
    return result;
  }
  Array& array = result.front();
  ForEachIndex(array.sizes(), [&](const Index& index) {
    std::optional<Integer> value = operands[1]->front().elements()[0].value;
    for_each_input(index, [&](const Index& read) {
      const std::optional<Integer> both[] = {value, inputs[0]->front().at(read).value};
      value = ElementwiseInteger(*combiner, both);
    });
    array.at(index).value = value;
  });
  return result;
}

}  // namespace xla_indexing::reference
