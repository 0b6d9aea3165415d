#include "xla_indexing/fusion/chain/reindexing.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

bool Reshape(const Shape& from, const Shape& to, PositionalAlgebra& algebra, Indices& indices) {
  if (*from.ElementCount() != *to.ElementCount()) return false;
  const auto sizes = to.dimensions();
  std::optional<Indices> reshaped =
      algebra.Reshape(indices, llvm::ArrayRef(sizes.data(), sizes.size()));
  if (!reshaped) return false;
  indices = *std::move(reshaped);
  return true;
}

// dimensions[i] is the dimension of the operand that dimension i of the result is.
void Transpose(absl::Span<const int64_t> dimensions, Direction direction, Indices& indices) {
  Indices permuted(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    if (direction == Direction::kOutputToInput) {
      permuted[dimensions[i]] = std::move(indices[i]);
    } else {
      permuted[i] = std::move(indices[dimensions[i]]);
    }
  }
  indices = std::move(permuted);
}

// The variables that digits depend on, each once.
class VariableSearch {
 public:
  explicit VariableSearch(const PositionalAlgebra& algebra) : algebra_(algebra) {}

  void Add(const Number& number) {
    llvm::SmallVector<const Number*, 8> pending = {&number};
    while (!pending.empty()) {
      for (const Digit& digit : *pending.pop_back_val()) {
        if (digit.IsConstant()) continue;
        const NumberSource& source = algebra_.source(digit.source);
        if (source.kind != NumberSource::Kind::kVariable) {
          if (seen_.insert(digit.source).second) pending.push_back(&source.number);
        } else if (!llvm::is_contained(found_, source.variable)) {
          found_.push_back(source.variable);
        }
      }
    }
  }
  llvm::SmallVector<int, 8>& found() { return found_; }

 private:
  const PositionalAlgebra& algebra_;
  llvm::SmallDenseSet<uint32_t, 16> seen_;
  llvm::SmallVector<int, 8> found_;
};

// Indices of these sizes that may have any value: the first free variables that the position does
// not depend on, new ones where there are not as many.
class FreeIndices {
 public:
  FreeIndices(const Position& position, int num_dims, PositionalAlgebra* algebra)
      : algebra_(*algebra), next_(num_dims) {
    if (algebra->num_variables() > num_dims)
      used_ = VariablesOf(position.indices, position.restrictions, *algebra);
  }

  Number Next(int64_t size) {
    for (int i = next_; i < algebra_.num_variables(); ++i) {
      if (algebra_.RangeOfVariable(i) != Interval::OfSize(size) || llvm::is_contained(used_, i)) {
        continue;
      }
      used_.push_back(i);
      return algebra_.Variable(i);
    }
    Number index = algebra_.AddVariable(size);
    used_.push_back(algebra_.num_variables() - 1);
    return index;
  }

 private:
  PositionalAlgebra& algebra_;
  const int next_;
  llvm::SmallVector<int, 8> used_;
};

// Leaves out restrictions of free variables that nothing else depends on: some value meets them.
void DropUnusedVariables(int num_dims, const PositionalAlgebra& algebra, Position& position) {
  Restrictions& restrictions = position.restrictions;
  for (size_t i = restrictions.size(); i-- > 0;) {
    const std::optional<int> variable = algebra.AsVariable(restrictions[i].index);
    if (!variable || *variable < num_dims) continue;
    VariableSearch others(algebra);
    for (const Number& index : position.indices) others.Add(index);
    for (size_t j = 0; j < restrictions.size(); ++j) {
      if (j != i) others.Add(restrictions[j].index);
    }
    if (!llvm::is_contained(others.found(), *variable)) restrictions.erase(&restrictions[i]);
  }
}

// To the side with more indices, of these sizes: which(dim) is the index on the other side that
// index `dim` is; -1 for one that is free.
void Expand(absl::Span<const int64_t> sizes, llvm::function_ref<int64_t(int64_t dim)> which,
            int num_dims, PositionalAlgebra& algebra, Position& position) {
  FreeIndices free(position, num_dims, &algebra);
  Indices result;
  for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim) {
    const int64_t index = which(dim);
    result.push_back(index < 0 ? free.Next(sizes[dim]) : position.indices[index]);
  }
  position.indices = std::move(result);
}

// dimensions[i] is the dimension of the result that dimension i of the operand is.
void Broadcast(absl::Span<const int64_t> dimensions, const Shape& to, Direction direction,
               int num_dims, PositionalAlgebra& algebra, Position& position) {
  if (direction == Direction::kOutputToInput) {
    Indices result;
    for (const int64_t dim : dimensions) result.push_back(std::move(position.indices[dim]));
    position.indices = std::move(result);
    DropUnusedVariables(num_dims, algebra, position);
    return;
  }
  const auto operand_dim = [&](int64_t dim) {
    const auto found = absl::c_find(dimensions, dim);
    return found != dimensions.end() ? found - dimensions.begin() : -1;
  };
  Expand(to.dimensions(), operand_dim, num_dims, algebra, position);
}

// The result lacks `dimensions` of the reduced operand. It has no dimension in common with the initial
// value.
void Reduce(absl::Span<const int64_t> dimensions, bool is_initial_value, const Shape& to,
            Direction direction, int num_dims, PositionalAlgebra& algebra, Position& position) {
  const bool backward = direction == Direction::kOutputToInput;
  if (is_initial_value) {
    // A broadcast of a scalar.
    Broadcast({}, to, direction, num_dims, algebra, position);
    return;
  }
  const auto is_reduced = [&](int64_t dim) { return absl::c_linear_search(dimensions, dim); };
  if (backward) {
    int64_t next = 0;
    const auto result_dim = [&](int64_t dim) { return is_reduced(dim) ? -1 : next++; };
    Expand(to.dimensions(), result_dim, num_dims, algebra, position);
    return;
  }
  Indices result;
  for (size_t dim = 0; dim < position.indices.size(); ++dim) {
    if (!is_reduced(static_cast<int64_t>(dim))) {
      result.push_back(std::move(position.indices[dim]));
    }
  }
  position.indices = std::move(result);
  DropUnusedVariables(num_dims, algebra, position);
}

// An axis of which every `step`-th index from `start` on is an index of another: the result's axis
// in the operand of a slice, the operand's in the result of a pad or a concatenation.
struct Embedding {
  int64_t start = 0;
  int64_t step = 1;
  int64_t inner_size = 1;
  int64_t outer_size = 1;
};

// From an index of the inner axis to the outer one, or back. Only the elements that are on both
// sides are led on.
Reindexed Embed(const Embedding& axis, bool outward, PositionalAlgebra& algebra,
                Restrictions& restrictions, Number& index) {
  // inner = (outer - start) / step.
  const std::optional<int64_t> end = CheckedMul(axis.inner_size - 1, axis.step);
  const std::optional<int64_t> last = end ? CheckedAdd(*end, axis.start) : std::nullopt;
  if (!last || axis.start == kInt64Min) return Reindexed::kRefused;
  const Interval inner = Interval::OfSize(axis.inner_size);
  const Interval outer = Interval::OfSize(axis.outer_size);
  Restriction restriction{index};
  if (outward) {
    restriction.interval = inner.Intersect(outer.Sub(axis.start).PreimageOfMul(axis.step));
  } else {
    restriction.interval = outer.Intersect(Interval::Closed(axis.start, *last));
    restriction.residues = Congruence::Of(axis.start, axis.step);
  }
  if (restriction.interval.Intersect(algebra.RangeOf(index)).IsEmpty()) return Reindexed::kNowhere;
  std::optional<Number> result =
      outward ? algebra.Affine(index, axis.step, axis.start, 1, axis.outer_size)
              : algebra.Affine(index, 1, -axis.start, axis.step, axis.inner_size);
  if (!result) return Reindexed::kRefused;
  if (!Restrict(std::move(restriction), algebra, restrictions)) return Reindexed::kNowhere;
  index = *std::move(result);
  return Reindexed::kMoved;
}

// What hlo/memory/physical_layout.h computes with: positional numbers. Places that are padded are
// embedded. Where a number cannot be said, or no element is left, all that follows is one of no
// meaning.
class NumberAlgebra {
 public:
  NumberAlgebra(PositionalAlgebra* algebra, Restrictions* restrictions)
      : algebra_(algebra), restrictions_(restrictions) {}

  Reindexed reindexed() const { return reindexed_; }

  PhysicalIndices<Number> Reshape(absl::Span<const Number> indices,
                                  absl::Span<const int64_t> /*from*/,
                                  absl::Span<const int64_t> to) {
    std::optional<Indices> reshaped;
    if (reindexed_ == Reindexed::kMoved) {
      reshaped = algebra_->Reshape(llvm::ArrayRef(indices.data(), indices.size()),
                                   llvm::ArrayRef(to.data(), to.size()));
      if (!reshaped) reindexed_ = Reindexed::kRefused;
    }
    if (!reshaped) return PhysicalIndices<Number>(to.size());
    return {reshaped->begin(), reshaped->end()};
  }
  Number Pad(const Number& index, int64_t from, int64_t to) {
    return Moved(index, {0, 1, from, to}, /*outward=*/true);
  }
  Number Unpad(const Number& index, int64_t from, int64_t to) {
    return Moved(index, {0, 1, to, from}, /*outward=*/false);
  }
  Number Any(int64_t size) { return algebra_->AddVariable(size); }

 private:
  Number Moved(Number index, const Embedding& axis, bool outward) {
    if (reindexed_ == Reindexed::kMoved) {
      reindexed_ = Embed(axis, outward, *algebra_, *restrictions_, index);
    }
    return index;
  }

  PositionalAlgebra* algebra_;
  Restrictions* restrictions_;
  Reindexed reindexed_ = Reindexed::kMoved;
};

Reindexed Bitcast(const Shape& from, const Shape& to, PositionalAlgebra& algebra,
                  Position& position) {
  if (HaveSamePlaces(from, to)) return Reindexed::kMoved;
  const absl::StatusOr<PhysicalLayout> from_layout = PhysicalLayoutOf(from);
  const absl::StatusOr<PhysicalLayout> to_layout = PhysicalLayoutOf(to);
  if (!from_layout.ok() || !to_layout.ok()) return Reindexed::kRefused;
  const absl::StatusOr<WidthRatio> ratio = WidthRatioOf(*from_layout, *to_layout);
  if (!ratio.ok()) return Reindexed::kRefused;
  NumberAlgebra numbers(&algebra, &position.restrictions);
  const PhysicalIndices<Number> indices =
      AtSamePlace(*from_layout, *to_layout, *ratio,
                  absl::MakeConstSpan(position.indices.data(), position.indices.size()), numbers);
  position.indices.assign(indices.begin(), indices.end());
  return numbers.reindexed();
}

// So many operands of a concatenate count as one step of the question, since each begins where
// those before it end (base/question_budget.h).
constexpr int64_t kOperandsInAStep = 256;

// How the axes of an operand lie in those of the result, or those of the result in the operand's.
llvm::SmallVector<Embedding, 4> EmbeddingsOf(const HloInstruction& instruction, int64_t operand) {
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  llvm::SmallVector<Embedding, 4> axes;
  for (int64_t dim = 0; dim < output.rank(); ++dim) {
    axes.push_back({0, 1, input.dimension(dim), output.dimension(dim)});
  }
  switch (instruction.opcode()) {
    case HloOpcode::kSlice:
      for (int64_t dim = 0; dim < output.rank(); ++dim) {
        const SliceRange& range = instruction.slice()[dim];
        axes[dim] = {range.start, range.stride, output.dimension(dim), input.dimension(dim)};
      }
      break;
    case HloOpcode::kPad:
      for (int64_t dim = 0; dim < output.rank(); ++dim) {
        const PaddingDimension& padding = instruction.padding()[dim];
        axes[dim].start = padding.low;
        axes[dim].step = padding.Step();
      }
      break;
    default: {
      const int64_t dim = instruction.dimensions()[0];
      QuestionBudget::Spend(operand / kOperandsInAStep);
      for (const HloInstruction* before : instruction.operands().first(operand)) {
        axes[dim].start += before->shape().dimension(dim);
      }
    }
  }
  return axes;
}

Reindexed ApplyEmbedding(const HloInstruction& instruction, int64_t operand, Direction direction,
                         PositionalAlgebra& algebra, Position& position) {
  const bool operand_is_inner = instruction.opcode() != HloOpcode::kSlice;
  const bool outward = operand_is_inner == (direction == Direction::kInputToOutput);
  int64_t dim = 0;
  for (const Embedding& axis : EmbeddingsOf(instruction, operand)) {
    const bool is_same = axis.start == 0 && axis.step == 1 && axis.inner_size == axis.outer_size;
    if (!is_same) {
      const Reindexed reindexed =
          Embed(axis, outward, algebra, position.restrictions, position.indices[dim]);
      if (reindexed != Reindexed::kMoved) return reindexed;
    }
    ++dim;
  }
  return Reindexed::kMoved;
}

Reindexed MovedIf(bool moved) { return moved ? Reindexed::kMoved : Reindexed::kRefused; }

}  // namespace

llvm::SmallVector<int, 8> VariablesOf(llvm::ArrayRef<Number> indices,
                                      llvm::ArrayRef<Restriction> restrictions,
                                      const PositionalAlgebra& algebra) {
  VariableSearch variables(algebra);
  for (const Number& index : indices) variables.Add(index);
  for (const Restriction& restriction : restrictions) variables.Add(restriction.index);
  return std::move(variables.found());
}

bool IsReindexing(const HloInstruction& instruction, int64_t operand) {
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  switch (instruction.opcode()) {
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
    case HloOpcode::kTranspose:
    case HloOpcode::kReverse:
    case HloOpcode::kBroadcast:
    case HloOpcode::kSlice:
    case HloOpcode::kConcatenate:
    case HloOpcode::kReduce:
      break;
    case HloOpcode::kPad:
      if (operand != 0) return false;
      break;
    default:
      return IsElementwise(instruction.opcode()) && output.IsArray() && input.IsArray() &&
             output.dimensions() == input.dimensions();
  }
  return output.HasElements() && input.HasElements();
}

Reindexed ApplyReindexing(const HloInstruction& instruction, int64_t operand, Direction direction,
                          int num_dims, PositionalAlgebra& algebra, Position& position) {
  if (IsOff(Engine::kPositionalNumbers)) return Reindexed::kRefused;
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  const bool backward = direction == Direction::kOutputToInput;
  const Shape& from = backward ? output : input;
  const Shape& to = backward ? input : output;
  switch (instruction.opcode()) {
    case HloOpcode::kReshape:
      return MovedIf(Reshape(from, to, algebra, position.indices));
    case HloOpcode::kBitcast:
      return Bitcast(from, to, algebra, position);
    case HloOpcode::kTranspose:
      Transpose(instruction.dimensions(), direction, position.indices);
      return Reindexed::kMoved;
    case HloOpcode::kReverse:
      for (const int64_t dim : instruction.dimensions()) {
        Reverse(position.indices[dim]);
      }
      return Reindexed::kMoved;
    case HloOpcode::kBroadcast:
      Broadcast(instruction.dimensions(), to, direction, num_dims, algebra, position);
      return Reindexed::kMoved;
    case HloOpcode::kReduce:
      Reduce(instruction.dimensions(), operand == 1, to, direction, num_dims, algebra, position);
      return Reindexed::kMoved;
    case HloOpcode::kSlice:
    case HloOpcode::kPad:
    case HloOpcode::kConcatenate:
      return ApplyEmbedding(instruction, operand, direction, algebra, position);
    default:
      return Reindexed::kMoved;
  }
}

}  // namespace xla_indexing::internal
