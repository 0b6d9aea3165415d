#include "xla_indexing/ops/internal/whole_leaves.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/cover.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/internal/loop_ends.h"
#include "xla_indexing/ops/internal/map_builder.h"
#include "xla_indexing/ops/internal/other_devices.h"

namespace xla_indexing::internal {
namespace {

// Steps of the decision whether several maps lead to every element.
constexpr int64_t kMaxStepsToCover = 2'000;

const Shape& ScalarShape() {
  static const auto* scalar = new Shape(Shape::Scalar(ElementType::kPred));
  return *scalar;
}

// Whether maps from a scalar that are exact lead to `whole`, every element of a leaf, together.
bool AreWhole(const OperandIndexingSet& maps, const OperandIndexing& whole) {
  std::vector<IndexingMap> exact;
  for (const OperandIndexing& map : maps) {
    if (!map.IsExact() || !map.bindings().empty() || map.replica_map() != nullptr) continue;
    if (OperandIndexing::IdenticalRelation(map, whole)) return true;
    exact.push_back(map.map());
  }
  StepBudget budget(kMaxStepsToCover);
  return !exact.empty() && IsCovered(whole.map(), exact, &budget) == Answer::kYes;
}

// Decides that once for leaves that are read alike, such as those of a model's layers.
class WholeLeafFinder {
 public:
  explicit WholeLeafFinder(const LoopBody& body) : body_(body) {}

  // Whether the entry, from a scalar to a leaf of the state, is about all of it.
  bool IsWhole(const IndexingEntry& entry) {
    OperandIndexing whole = EveryElement(ScalarShape(), body_.Leaf(entry.operand_leaf),
                                         ExactnessLabel::Exact(), body_.build().mlir_context);
    const auto [known, is_new] = known_.try_emplace({std::move(whole), entry.indexing}, false);
    if (is_new) known->second = AreWhole(entry.indexing, known->first.first);
    return known->second;
  }

 private:
  const LoopBody& body_;
  absl::node_hash_map<std::pair<OperandIndexing, OperandIndexingSet>, bool> known_;
};

std::map<int64_t, int64_t> FindWholeLeaves(const LoopBody& body) {
  std::map<int64_t, int64_t> whole;
  BuildContext& build = body.build();
  const HloComputation& condition = *body.loop().while_condition();
  if (body.count() || body.HasDevices() || DevicesAcrossWhich(condition)) return whole;
  const Interval& counts = body.counter().counts;
  CalledComputation called = body.Called(condition);
  called.tightest = true;
  WholeLeafFinder finder(body);
  std::vector<int64_t> leaves;
  std::set<int64_t> read;
  for (const OperandLeaf& leaf : build.options.computations->LeavesRead(condition, 0)) {
    read.insert(leaf.operand_leaf);
  }
  for (const IndexingEntry& entry : build.ReadOf(called, 0)) {
    if (!finder.IsWhole(entry)) continue;
    whole[entry.operand_leaf] = 0;
    if (!body.PassesThrough(entry.operand_leaf)) leaves.push_back(entry.operand_leaf);
  }
  if (leaves.empty() || (counts.has_upper() && counts.upper() < 1)) return whole;
  CalledComputation iteration = body.Called(*body.loop().while_body());
  for (const IndexingEntry& entry : build.ReadByWholeLeaves(iteration, leaves)) {
    if (read.contains(entry.operand_leaf)) continue;
    if (finder.IsWhole(entry)) whole[entry.operand_leaf] = 1;
  }
  return whole;
}

OperandIndexingSet MapsThroughCondition(const LoopBody& body, int64_t from, int64_t to, int64_t k) {
  mlir::MLIRContext* context = body.build().mlir_context;
  OperandIndexingSet maps;
  AddUnlessEmpty(
      LoopEnds(body).AfterIterations(
          EveryElement(body.Leaf(from), body.Leaf(to), ExactnessLabel::Exact(), context), k),
      &maps);
  // Without an iteration it is as it was.
  if (from == to && k > 0) maps.Add(IdentityIndexing(body.Leaf(from), context));
  maps.Simplify();
  return maps;
}

}  // namespace

const std::map<int64_t, int64_t>& WholeLeavesOf(const LoopBody& body) {
  std::optional<std::map<int64_t, int64_t>>& known =
      body.build()
          .options.computations->MemoOf(body.loop(), Direction::kOutputToInput)
          .whole_leaves;
  if (!known) known = FindWholeLeaves(body);
  return *known;
}

OperandIndexingSet ThroughCondition(const LoopBody& body, int64_t from, int64_t to, int64_t k) {
  if (from == to) return MapsThroughCondition(body, from, to, k);
  const auto [known, is_new] = body.memo().through_condition.try_emplace(
      {body.Leaf(from).dimensions(), body.Leaf(to).dimensions(), k});
  if (is_new) known->second = MapsThroughCondition(body, from, to, k);
  return known->second;
}

}  // namespace xla_indexing::internal
