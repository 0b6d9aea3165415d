#include "xla_indexing/query/in_place/order/free_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What each element of an instruction is an element of, each of another one.
const HloInstruction* MovedFrom(const HloInstruction* instruction) {
  while (MovesElements(instruction->opcode()) && instruction->opcode() != HloOpcode::kBroadcast &&
         instruction->operand_count() == 1 && instruction->shape().IsArray() &&
         instruction->operand(0)->shape().IsArray() &&
         BitsOfElement(instruction->shape()) == BitsOfElement(instruction->operand(0)->shape())) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

// Whether the contents are those of parameters.
bool IsOfParameter(const RuntimeVarIndexing& binding) {
  return binding.call_path.empty() && !binding.device &&
         MovedFrom(binding.instruction)->opcode() == HloOpcode::kParameter;
}

// Whether two variables may be of one element, whose number is the same.
bool MayBeOfOneElement(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  return MovedFrom(a.instruction) == MovedFrom(b.instruction) && a.leaf == b.leaf;
}

// Whether values of parameters at a point occur: those of one element are equal.
bool Occur(const OperandIndexing& indexing, llvm::ArrayRef<int64_t> point) {
  const IndexingMap& map = indexing.map();
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  const llvm::ArrayRef<int64_t> values = point.take_back(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    const auto element = ValuesAt(map, bindings[i].element, point);
    for (size_t k = 0; k < i; ++k) {
      if (values[i] == values[k] || !MayBeOfOneElement(bindings[i], bindings[k])) continue;
      if (bindings[i].instruction != bindings[k].instruction ||
          ValuesAt(map, bindings[k].element, point) == element) {
        return false;
      }
    }
  }
  return true;
}

// The least point of a domain (dimensions, then symbols), in lexicographic order, found by bisection
// variable by variable; nullopt if the budget does not suffice, or there is none. Of d0 and s0 in [0, 9]
// with d0 + s0 in [12, 18] it is (3, 9).
std::optional<llvm::SmallVector<int64_t, 8>> LeastPointOf(const IndexingMap& domain,
                                                          StepBudget* budget) {
  IndexingMap map = DomainOf(domain);
  llvm::SmallVector<int64_t, 8> point;
  const int count = map.num_dims() + map.num_symbols();
  for (int i = 0; i < count; ++i) {
    const bool is_dim = i < map.num_dims();
    const int symbol = i - map.num_dims();
    const AffineExpr variable = is_dim ? mlir::getAffineDimExpr(i, map.context())
                                       : mlir::getAffineSymbolExpr(symbol, map.context());
    const Interval bounds = is_dim ? map.dims()[i].bounds : map.symbol(symbol).bounds;
    if (bounds.IsEmpty()) return std::nullopt;
    int64_t low = bounds.has_lower() ? bounds.lower() : bounds.Contains(0) ? 0 : bounds.upper();
    int64_t high = bounds.has_upper() ? bounds.upper() : low;
    // Most often the least value will do.
    if (low < high &&
        HasIntegerPointWith(map, variable, Interval::Point(low), budget) != Answer::kYes) {
      ++low;
      while (low < high) {
        const auto middle = static_cast<int64_t>(low + (Int128{high} - low) / 2);
        const Answer below =
            HasIntegerPointWith(map, variable, Interval::Closed(low, middle), budget);
        if (below == Answer::kUndecided) return std::nullopt;
        (below == Answer::kYes ? high : low) = below == Answer::kYes ? middle : middle + 1;
      }
    }
    map.AddConstraint(kPartsFit, variable, Interval::Point(low));
    point.push_back(low);
  }
  const llvm::ArrayRef<int64_t> all = point;
  const auto num_dims = static_cast<size_t>(domain.num_dims());
  const absl::StatusOr<bool> is_inside =
      domain.Contains(all.take_front(num_dims), all.drop_front(num_dims));
  if (!is_inside.ok() || !*is_inside) return std::nullopt;
  return point;
}

}  // namespace

llvm::SmallVector<int64_t, 4> ValuesAt(const IndexingMap& map,
                                       llvm::ArrayRef<AffineExpr> expressions,
                                       llvm::ArrayRef<int64_t> point) {
  const IndexingMap values(
      kPartsFit,
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), expressions, map.context()),
      Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()));
  const auto num_dims = static_cast<size_t>(map.num_dims());
  const auto found = values.Evaluate(point.take_front(num_dims), point.drop_front(num_dims));
  if (!found.ok()) return {};
  return llvm::SmallVector<int64_t, 4>(found->begin(), found->end());
}

std::optional<llvm::SmallVector<int64_t, 8>> LeastPointThatOccurs(const OperandIndexing& indexing,
                                                                  const IndexingMap& domain,
                                                                  StepBudget* budget) {
  if (!absl::c_all_of(indexing.bindings(), IsOfParameter)) return std::nullopt;
  std::optional<llvm::SmallVector<int64_t, 8>> point = LeastPointOf(domain, budget);
  if (point && !Occur(indexing, *point)) return std::nullopt;
  return point;
}

std::string WhyNotFree(const OperandIndexing& indexing) {
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  for (size_t i = 0; i < bindings.size(); ++i) {
    const RuntimeVarIndexing& binding = bindings[i];
    if (!IsOfParameter(binding)) {
      return absl::StrCat("it depends on the values of ", binding.instruction->name(),
                          ", which are computed");
    }
    for (size_t k = 0; k < i; ++k) {
      if (MayBeOfOneElement(bindings[k], binding)) {
        return absl::StrCat("it depends on several values of ", binding.instruction->name(),
                            ", which may be one");
      }
    }
  }
  return "";
}

}  // namespace xla_indexing::internal
