#include "xla_indexing/ops/loops/whole_leaves.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/loops/body/loop_ends.h"
#include "xla_indexing/ops/rules/frame/other_devices.h"
#include "xla_indexing/ops/unions/whole_sets.h"

namespace xla_indexing::internal {
namespace {

std::map<int64_t, int64_t> FindWholeLeaves(const LoopBody& body) {
  std::map<int64_t, int64_t> whole;
  BuildContext& build = body.build();
  const HloComputation& condition = *body.loop().while_condition();
  if (body.count() || body.HasDevices() || DevicesAcrossWhich(condition)) return whole;
  const Interval& counts = body.counter().counts;
  CalledComputation called = body.Called(condition);
  called.tightest = true;
  WholeSets sets(build.mlir_context);
  const auto is_whole = [&](const IndexingEntry& entry) {
    return sets.IsWhole(entry.indexing, body.Leaf(entry.operand_leaf));
  };
  std::vector<int64_t> leaves;
  std::set<int64_t> read;
  for (const OperandLeaf& leaf : build.options.computations->LeavesRead(condition, 0)) {
    read.insert(leaf.operand_leaf);
  }
  for (const IndexingEntry& entry : build.ReadOf(called, 0)) {
    if (!is_whole(entry)) continue;
    whole[entry.operand_leaf] = 0;
    if (!body.PassesThrough(entry.operand_leaf)) leaves.push_back(entry.operand_leaf);
  }
  if (leaves.empty() || (counts.has_upper() && counts.upper() < 1)) return whole;
  const auto is_not_read_before = [&](OperandLeaf leaf) {
    return !read.contains(leaf.operand_leaf);
  };
  for (const OperandLeaf& leaf :
       build.LeavesReadWholly(*body.loop().while_body(), leaves, is_not_read_before)) {
    whole[leaf.operand_leaf] = 1;
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
