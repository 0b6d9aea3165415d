#include "xla_indexing/ops/values/ordered_arrays.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

// Empty where they are not known.
using MaybeNumbers = llvm::SmallVector<std::optional<Number>, 4>;

// The most elements that one is chosen from, with what a reduction begins with: each is compared with each.
constexpr size_t kMaxChoices = 65;

// A computation on scalars, of constants and elementwise operations.
class ScalarComputation {
 public:
  // Nothing if it is another one.
  static std::optional<ScalarComputation> Of(const HloComputation* computation) {
    if (computation == nullptr || computation->root_instruction() == nullptr) return std::nullopt;
    const bool is_scalar = absl::c_all_of(computation->instructions(), [&](const auto* each) {
      if (each == computation->root_instruction() && each->opcode() == HloOpcode::kTuple) {
        return true;
      }
      const bool is_followed = each->opcode() == HloOpcode::kParameter ||
                               each->opcode() == HloOpcode::kConstant ||
                               IsElementwise(each->opcode());
      return is_followed && each->shape().IsScalar() && MayBeKnown(each->shape(), 1);
    });
    if (!is_scalar) return std::nullopt;
    return ScalarComputation(*computation);
  }

  // The results for these arguments, as far as they are known. Empty when no steps are left.
  MaybeNumbers Call(llvm::ArrayRef<std::optional<Number>> arguments, StepBudget* budget) const {
    if (!budget->Take(computation_.instruction_count())) return {};
    MaybeNumbers values;
    for (const HloInstruction* each : computation_.instructions()) {
      values.push_back(ValueOf(*each, arguments, values));
    }
    const HloInstruction& root = *computation_.root_instruction();
    const auto value_of = [&](const HloInstruction* each) {
      return values[static_cast<size_t>(each->index_in_computation())];
    };
    if (root.opcode() != HloOpcode::kTuple) return {value_of(&root)};
    MaybeNumbers results;
    for (const HloInstruction* each : root.operands()) results.push_back(value_of(each));
    return results;
  }

 private:
  explicit ScalarComputation(const HloComputation& computation) : computation_(computation) {}

  static std::optional<Number> ValueOf(const HloInstruction& instruction,
                                       llvm::ArrayRef<std::optional<Number>> arguments,
                                       const MaybeNumbers& values) {
    switch (instruction.opcode()) {
      case HloOpcode::kParameter: {
        const auto number = static_cast<size_t>(instruction.parameter_number());
        return number < arguments.size() ? arguments[number] : std::nullopt;
      }
      case HloOpcode::kConstant: {
        const Literal* literal = instruction.literal();
        if (literal == nullptr || literal->IsElided()) return std::nullopt;
        return NumberAt(*literal, 0);
      }
      case HloOpcode::kTuple:
        return std::nullopt;
      default:
        break;
    }
    llvm::SmallVector<Number, 3> operands;
    for (const HloInstruction* operand : instruction.operands()) {
      const std::optional<Number>& value =
          values[static_cast<size_t>(operand->index_in_computation())];
      if (!value || !IsPortable(*value)) return std::nullopt;
      operands.push_back(*value);
    }
    return ApplyToNumbers(instruction, operands);
  }

  const HloComputation& computation_;
};

// Elements of arrays of one shape at one position.
MaybeNumbers ElementsAt(absl::Span<const KnownLeaves> arrays, int64_t position) {
  MaybeNumbers numbers;
  for (const KnownLeaves& array : arrays) {
    numbers.push_back(array[0] != nullptr ? NumberAt(*array[0], position) : std::nullopt);
  }
  return numbers;
}

bool AreSame(const MaybeNumbers& a, const MaybeNumbers& b) {
  return absl::c_equal(a, b, [](const auto& x, const auto& y) { return x && y && IsSame(*x, *y); });
}

// Which of them a reduction of them chooses, whatever the order: the computation is one of its two arguments
// for all pairs of them, and always that one. Nothing if there is none.
std::optional<size_t> ChosenOf(const ScalarComputation& reducer,
                               absl::Span<const MaybeNumbers> choices, StepBudget* budget) {
  if (choices.size() > kMaxChoices) return std::nullopt;
  std::vector<bool> is_chosen(choices.size(), true);
  for (size_t a = 0; a < choices.size(); ++a) {
    for (size_t b = 0; b < choices.size(); ++b) {
      MaybeNumbers arguments = choices[a];
      llvm::append_range(arguments, choices[b]);
      const MaybeNumbers result = reducer.Call(arguments, budget);
      const bool is_a = AreSame(result, choices[a]);
      const bool is_b = AreSame(result, choices[b]);
      if (!is_a && !is_b) return std::nullopt;
      if (!is_a) is_chosen[a] = false;
      if (!is_b) is_chosen[b] = false;
    }
  }
  const auto found = absl::c_find(is_chosen, true);
  if (found == is_chosen.end()) return std::nullopt;
  return static_cast<size_t>(found - is_chosen.begin());
}

// Sorts positions of elements, keeping the order of those that are equal. Any comparison leads to an end.
class StableSort {
 public:
  // Whether the first element comes before the second, if that is known.
  using ComesBefore = absl::FunctionRef<std::optional<bool>(int64_t, int64_t)>;

  explicit StableSort(ComesBefore comes_before) : comes_before_(comes_before) {}

  // False where a comparison was not known.
  bool Sort(std::vector<int64_t>* row) {
    for (size_t width = 1; width < row->size(); width *= 2) {
      std::vector<int64_t> merged;
      for (size_t begin = 0; begin < row->size(); begin += 2 * width) {
        if (!Merge(*row, begin, width, &merged)) return false;
      }
      *row = std::move(merged);
    }
    return true;
  }

 private:
  bool Merge(const std::vector<int64_t>& row, size_t begin, size_t width,
             std::vector<int64_t>* merged) {
    const size_t middle = std::min(begin + width, row.size());
    const size_t end = std::min(middle + width, row.size());
    size_t a = begin;
    size_t b = middle;
    while (a < middle && b < end) {
      const std::optional<bool> is_second = comes_before_(row[b], row[a]);
      if (!is_second) return false;
      merged->push_back(row[*is_second ? b++ : a++]);
    }
    merged->insert(merged->end(), row.begin() + a, row.begin() + middle);
    merged->insert(merged->end(), row.begin() + b, row.begin() + end);
    return true;
  }

  ComesBefore comes_before_;
};

// Calls `visit` for each row of an array along a dimension, with the positions of its elements, as long as it
// returns true.
bool ForEachRow(const Shape& array, int64_t dim,
                absl::FunctionRef<bool(const std::vector<int64_t>&)> visit) {
  int64_t stride = 1;
  for (int64_t i = dim + 1; i < array.rank(); ++i) stride *= array.dimension(i);
  const int64_t count = *array.ElementCount();
  std::vector<int64_t> row(static_cast<size_t>(array.dimension(dim)));
  for (int64_t begin = 0; begin < count; ++begin) {
    if (begin / stride % array.dimension(dim) != 0) continue;
    for (size_t i = 0; i < row.size(); ++i) row[i] = begin + static_cast<int64_t>(i) * stride;
    if (!visit(row)) return false;
  }
  return true;
}

// The leaves of a sort in the making.
class SortedLeaves {
 public:
  explicit SortedLeaves(absl::Span<const KnownLeaves> operands) : operands_(operands) {
    for (const KnownLeaves& operand : operands) {
      std::optional<Literal>& leaf = leaves_.emplace_back();
      if (operand[0] == nullptr) continue;
      absl::StatusOr<Literal> zeros = Literal::Zeros(operand[0]->shape());
      if (zeros.ok()) leaf = *std::move(zeros);
    }
  }

  // The elements at `from` of the operands come to `to`; or those at `other`, so that leaves in which they
  // differ are not known.
  void Set(int64_t to, int64_t from, int64_t other) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (!leaves_[i]) continue;
      const uint64_t bits = operands_[i][0]->BitsAt(from);
      if (bits == operands_[i][0]->BitsAt(other)) {
        leaves_[i]->SetBits(to, bits);
      } else {
        leaves_[i].reset();
      }
    }
  }

  KnownLeaves Leaves() {
    KnownLeaves known(leaves_.size());
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i]) known[i] = std::make_shared<const Literal>(*std::move(leaves_[i]));
    }
    return known;
  }

 private:
  absl::Span<const KnownLeaves> operands_;
  std::vector<std::optional<Literal>> leaves_;
};

}  // namespace

KnownLeaves SortArrays(const HloInstruction& sort, absl::Span<const KnownLeaves> operands,
                       StepBudget* budget) {
  KnownLeaves leaves(operands.size());
  const std::optional<ScalarComputation> comparator = ScalarComputation::Of(sort.to_apply());
  const Shape& shape = sort.operand(0)->shape();
  if (!comparator || sort.dimensions().size() != 1) return leaves;
  const auto comes_before = [&](int64_t a, int64_t b) -> std::optional<bool> {
    MaybeNumbers arguments;
    for (const auto& [x, y] : llvm::zip_equal(ElementsAt(operands, a), ElementsAt(operands, b))) {
      arguments.append({x, y});
    }
    const MaybeNumbers result = comparator->Call(arguments, budget);
    if (result.size() != 1 || !result[0]) return std::nullopt;
    const auto* is_first = std::get_if<int64_t>(&*result[0]);
    if (is_first == nullptr) return std::nullopt;
    return *is_first != 0;
  };
  SortedLeaves sorted(operands);
  const bool is_stable = sort.GetBool(AttributeKey::kIsStable);
  const auto sort_row = [&](const std::vector<int64_t>& row) {
    std::vector<int64_t> order = row;
    if (!budget->Take(static_cast<int64_t>(row.size())) || !StableSort(comes_before).Sort(&order)) {
      return false;
    }
    for (size_t k = 0; k < row.size(); ++k) {
      std::optional<bool> is_after = true;
      if (!is_stable && k > 0) is_after = comes_before(order[k - 1], order[k]);
      if (!is_after) return false;
      sorted.Set(row[k], order[k], *is_after ? order[k] : order[k - 1]);
    }
    return true;
  };
  return ForEachRow(shape, sort.dimensions()[0], sort_row) ? sorted.Leaves() : leaves;
}

KnownLeaves ChooseFromArrays(const HloInstruction& reduce, absl::Span<const KnownLeaves> operands,
                             absl::Span<const std::vector<int64_t>> elements, StepBudget* budget) {
  const size_t count = operands.size() / 2;
  KnownLeaves leaves(count);
  const std::optional<ScalarComputation> reducer = ScalarComputation::Of(reduce.to_apply());
  if (!reducer) return leaves;
  std::vector<Literal> chosen;
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<Literal> zeros = Literal::Zeros(reduce.shape().Leaf(static_cast<int64_t>(i)));
    if (!zeros.ok()) return leaves;
    chosen.push_back(*std::move(zeros));
  }
  // Equal elements have equal results: by their bits.
  absl::flat_hash_map<std::vector<uint64_t>, std::optional<size_t>> known;
  for (size_t at = 0; at < elements.size(); ++at) {
    std::vector<MaybeNumbers> choices = {ElementsAt(operands.subspan(count), 0)};
    for (const int64_t position : elements[at]) {
      choices.push_back(ElementsAt(operands.first(count), position));
    }
    std::vector<uint64_t> bits;
    for (const int64_t position : elements[at]) {
      for (size_t i = 0; i < count; ++i) bits.push_back(operands[i][0]->BitsAt(position));
    }
    if (!budget->Take(static_cast<int64_t>(bits.size()))) return leaves;
    const auto [it, is_new] = known.try_emplace(std::move(bits));
    if (is_new) it->second = ChosenOf(*reducer, choices, budget);
    if (!it->second) return leaves;
    for (size_t i = 0; i < count; ++i) {
      SetNumber(&chosen[i], static_cast<int64_t>(at), *choices[*it->second][i]);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    leaves[i] = std::make_shared<const Literal>(std::move(chosen[i]));
  }
  return leaves;
}

}  // namespace xla_indexing::internal
