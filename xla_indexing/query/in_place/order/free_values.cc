#include "xla_indexing/query/in_place/order/free_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Whether some coordinate of two elements, over variables of one map, differs by a constant.
bool AreNeverEqual(llvm::ArrayRef<AffineExpr> a, llvm::ArrayRef<AffineExpr> b) {
  for (const auto& [x, y] : llvm::zip(a, b)) {
    const AffineExpr difference = Sub(x, y);
    if (!difference) continue;
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(difference);
    if (constant && constant.getValue() != 0) return true;
  }
  return false;
}

// What the elements of an instruction are elements of.
const HloInstruction* MovedFrom(const HloInstruction* instruction) {
  while (true) {
    switch (instruction->opcode()) {
      case HloOpcode::kBitcast:
        if (BitsOfElement(instruction->shape()) !=
            BitsOfElement(instruction->operand(0)->shape())) {
          return instruction;
        }
        break;
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
        break;
      default:
        return instruction;
    }
    instruction = instruction->operand(0);
  }
}

// The contents of an element that a function makes `value` of.
Interval ContentsFor(const ValueFunction& function, int64_t value) {
  if (function.kind() != ValueFunction::Kind::kClamp) return Interval::Point(value);
  Interval contents = Interval::Point(value);
  if (value == function.lower()) contents = contents.Union(Interval::AtMost(value));
  if (value == function.upper()) contents = contents.Union(Interval::AtLeast(value));
  return contents;
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

// Parts of a domain in which two variables that may be of one element have one value, or are of
// different elements.
llvm::SmallVector<IndexingMap, 4> Parts(const OperandIndexing& indexing,
                                        const IndexingMap& domain) {
  llvm::SmallVector<IndexingMap, 4> parts = {domain};
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  const auto add = [&](AffineExpr difference, Interval interval) {
    if (!difference) return;
    parts.push_back(domain);
    parts.back().AddConstraint(kPartsFit, difference, interval);
  };
  for (size_t i = 0; i < bindings.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!MayBeOfOneElement(bindings[i], bindings[k])) continue;
      const auto variable = [&](size_t of) {
        return mlir::getAffineSymbolExpr(domain.num_ranges() + static_cast<unsigned>(of),
                                         domain.context());
      };
      add(Sub(variable(i), variable(k)), Interval::Point(0));
      if (bindings[i].instruction != bindings[k].instruction) continue;
      for (const auto& [x, y] : llvm::zip(bindings[i].element, bindings[k].element)) {
        add(Sub(x, y), Interval::AtLeast(1));
        add(Sub(x, y), Interval::AtMost(-1));
      }
    }
  }
  return parts;
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

std::optional<std::vector<ElementContents>> ContentsAt(const OperandIndexing& indexing,
                                                       llvm::ArrayRef<int64_t> point) {
  const IndexingMap& map = indexing.map();
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  const llvm::ArrayRef<int64_t> values =
      point.drop_front(static_cast<size_t>(map.num_dims()) + static_cast<size_t>(map.num_ranges()));
  std::vector<ElementContents> all;
  for (size_t i = 0; i < bindings.size(); ++i) {
    Interval contents = ValuesOfElementType(bindings[i].shape().element_type());
    const auto element = ValuesAt(map, bindings[i].element, point);
    // What is true of one element, and what may be of it.
    int64_t value = values[i];
    bool is_first = true;
    for (size_t k = 0; k < bindings.size(); ++k) {
      if (k != i && !MayBeOfOneElement(bindings[i], bindings[k])) continue;
      const bool is_same_array = bindings[k].instruction == bindings[i].instruction;
      if (is_same_array && ValuesAt(map, bindings[k].element, point) != element) continue;
      is_first &= !is_same_array || k >= i;
      contents = contents.Intersect(ContentsFor(bindings[k].value, values[k]));
      if (!contents.Contains(value)) value = values[k];
    }
    if (!contents.Contains(value)) return std::nullopt;
    if (is_first) all.push_back({static_cast<int>(i), value});
  }
  return all;
}

std::optional<llvm::SmallVector<int64_t, 8>> LeastPointThatOccurs(const OperandIndexing& indexing,
                                                                  const IndexingMap& domain,
                                                                  StepBudget* budget) {
  if (WhyNotFree(indexing).empty()) return LeastPointOf(domain, budget);
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    if (!IsOfParameter(binding)) return std::nullopt;
  }
  for (const IndexingMap& part : Parts(indexing, domain)) {
    std::optional<llvm::SmallVector<int64_t, 8>> point = LeastPointOf(part, budget);
    if (point && ContentsAt(indexing, *point)) return point;
  }
  return std::nullopt;
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
      const RuntimeVarIndexing& other = bindings[k];
      if (!MayBeOfOneElement(other, binding)) continue;
      if (other.instruction != binding.instruction ||
          !AreNeverEqual(other.element, binding.element)) {
        return absl::StrCat("it depends on several values of ", binding.instruction->name(),
                            ", which may be one");
      }
    }
  }
  return "";
}

}  // namespace xla_indexing::internal
