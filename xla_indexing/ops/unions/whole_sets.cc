#include "xla_indexing/ops/unions/whole_sets.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/cover.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

// Steps of the decision whether several maps map to every element.
constexpr int64_t kMaxStepsToCover = 2'000;

bool MayCount(const OperandIndexing& map) {
  return map.IsExact() && map.bindings().empty() && map.replica_map() == nullptr;
}

// Whether the map is ()[s0, s1, ..] -> (s0, s1, ..) over all of the array, but for the order of its
// variables, and with any number in place of an index that has one value.
bool IsEveryElement(const IndexingMap& map, const Shape& to) {
  if (map.num_dims() != 0 || !map.constraints().empty()) return false;
  llvm::SmallBitVector used(map.num_symbols());
  for (int64_t i = 0; i < to.rank(); ++i) {
    const mlir::AffineExpr index = map.affine_map().getResult(static_cast<unsigned>(i));
    const auto range = llvm::dyn_cast<mlir::AffineSymbolExpr>(index);
    if (!range) {
      if (to.dimension(i) == 1 && llvm::isa<mlir::AffineConstantExpr>(index)) continue;
      return false;
    }
    const unsigned position = range.getPosition();
    if (used.test(position)) return false;
    used.set(position);
    if (!(map.ranges()[position].bounds == Interval::OfSize(to.dimension(i)))) return false;
  }
  // The others have values.
  for (int position = 0; position < map.num_symbols(); ++position) {
    if (!used.test(position) && map.ranges()[position].bounds.IsEmpty()) return false;
  }
  return true;
}

}  // namespace

bool WholeSets::IsWhole(const OperandIndexingSet& maps, const Shape& to) {
  if (IsOff(Engine::kWholeSets)) return false;
  std::vector<IndexingMap> exact;
  for (const OperandIndexing& map : maps) {
    if (!MayCount(map)) continue;
    if (IsEveryElement(map.map(), to)) return true;
    exact.push_back(map.map());
  }
  if (exact.empty()) return false;
  const auto [known, is_new] =
      known_.try_emplace({{to.dimensions().begin(), to.dimensions().end()}, maps}, false);
  if (is_new) {
    const OperandIndexing whole =
        EveryElement(Shape::Scalar(ElementType::kPred), to, ExactnessLabel::Exact(), context_);
    StepBudget budget(kMaxStepsToCover);
    known->second = IsCovered(whole.map(), exact, &budget) == Answer::kYes;
  }
  return known->second;
}

}  // namespace xla_indexing::internal
