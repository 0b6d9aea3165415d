// While: r = f^T(init), where f is the body and T the first number for which the condition c does
// not hold of f^T(init).
//
// A leaf of the result reads what f^T reads: the maps of the body composed T times
// (ops/loops/loop_iterations.h). Where the body changes a leaf, T decides what it is, so that it
// also reads what the condition reads of f^0(init), .., f^T(init), as a conditional reads its
// predicate. A leaf that the body passes through is init's whatever T is, and reads nothing else.
//
// T is known where the loop is counted (ops/values/loop_counter.h). Where it is not, what the
// condition reads wholly is all that is to be said of a leaf (ops/loops/whole_leaves.h). A leaf does not
// depend on T in a loop that runs until nothing changes (ops/loops/fixed_point.h).

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/loop_body.h"
#include "xla_indexing/ops/loops/closure/loop_closure.h"
#include "xla_indexing/ops/loops/fixed_point.h"
#include "xla_indexing/ops/loops/loop_iterations.h"
#include "xla_indexing/ops/loops/whole_leaves.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What the condition reads of leaves, from where maps lead to them.
OperandIndexingSet ToCondition(const LoopBody& body, const LeafSets& sets, const Shape& from) {
  OperandIndexingSet reached;
  BuildContext& build = body.build();
  const HloComputation& condition = *body.loop().while_condition();
  for (const auto& [leaf, set] : sets) {
    if (build.options.computations->LeavesReached(condition, {0, leaf}).empty()) continue;
    for (const IndexingEntry& entry : build.ReachOf(body.Called(condition), {0, leaf})) {
      reached.Add(ComposeOrWiden(set, body.InAnyIteration(entry.indexing), from,
                                 Shape::Scalar(ElementType::kPred), build.mlir_context));
    }
  }
  return reached;
}

// Forwards from an array of shape `from` to the scalar that the condition yields, at whichever
// iteration.
OperandIndexingSet ReachOfCondition(const LoopBody& body, const LeafSets& start,
                                    const Shape& from) {
  if (!llvm::any_of(start, [&](const auto& place) { return body.LeadsToCondition(place.first); })) {
    return {};
  }
  if (!body.IsBeyondClosing()) {
    if (std::optional<OperandIndexingSet> closed = ReachOfConditionInClosedForm(body, start)) {
      return *std::move(closed);
    }
  }
  return ToCondition(body, ReachableLeaves(body, start, from), from);
}

LeafSets FindReadByCondition(const LoopBody& body) {
  if (!body.IsBeyondClosing()) {
    if (std::optional<LeafSets> closed = ReadByConditionInClosedForm(body)) {
      return *std::move(closed);
    }
  }
  const HloComputation& condition = *body.loop().while_condition();
  LeafSets reads;
  for (const IndexingEntry& entry : body.build().ReadOf(body.Called(condition), 0)) {
    reads[entry.operand_leaf].Add(entry.indexing);
  }
  return ReachableLeaves(body, reads, condition.root_instruction()->shape());
}

// Backwards from the scalar that the condition yields, at whichever iteration.
const LeafSets& ReadByCondition(const LoopBody& body) {
  std::optional<LeafSets>& known = body.memo().read_by_condition;
  if (!known) known = FindReadByCondition(body);
  return *known;
}

// (d..) -> (), and ()[s..] -> (s..).
OperandIndexing ToScalar(const Shape& from, mlir::MLIRContext* context) {
  return MapBuilder(from, Shape::Scalar(ElementType::kPred), context).Build({});
}

OperandIndexing FromScalar(const Shape& to, mlir::MLIRContext* context) {
  const Shape scalar = Shape::Scalar(ElementType::kPred);
  MapBuilder builder(scalar, to, context);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const int64_t size : to.dimensions()) indices.push_back(builder.AddRangeOverAxis(size));
  return builder.Build(indices);
}

// Whether adding these maps to all of a leaf, over-approximate, makes a difference: where one has a
// better label, or leads to other devices.
bool AddToWholeLeaf(const OperandIndexingSet& set) {
  return llvm::any_of(set, [](const OperandIndexing& map) {
    return map.IsExact() || map.replica_map() != nullptr;
  });
}

// Whether it matters how often the loop runs, and thus what the condition reads.
bool DependsOnCount(const LoopBody& body) {
  if (body.build().options.dependence == Dependence::kReads) return true;
  std::optional<bool>& depends = body.memo().depends_on_count;
  if (!depends) depends = !EndsAtFixedPoint(body.loop());
  return *depends;
}

// The maps for any number of iterations but none: where that does not matter, one more makes no difference.
OperandIndexingSet AfterAnyCount(const LoopBody& body, const OperandIndexingSet& set) {
  const Interval counts = Interval::AtLeast(1).Intersect(body.Counts());
  OperandIndexingSet result;
  for (OperandIndexing each : set) {
    const IndexingMap& map = each.map();
    std::vector<std::optional<Interval>> intervals(static_cast<size_t>(map.num_runtimes()));
    bool is_after_none = false;
    for (int i = 0; i < map.num_runtimes(); ++i) {
      const RuntimeVarIndexing& binding = each.bindings()[i];
      if (binding.value.kind() != ValueFunction::Kind::kIterations ||
          binding.instruction != &body.loop() || !binding.call_path.empty()) {
        continue;
      }
      intervals[static_cast<size_t>(i)] = Interval::AtLeast(1);
      is_after_none =
          is_after_none || map.runtimes()[i].bounds.Intersect(Interval::AtLeast(1)).IsEmpty();
      // Else it holds for each of these numbers.
      const auto symbol = static_cast<unsigned>(map.num_ranges() + i);
      const auto is_used = [&](AffineExpr expr) { return expr.isFunctionOfSymbol(symbol); };
      if (!counts.IsSubsetOf(map.runtimes()[i].bounds) || llvm::any_of(map.results(), is_used) ||
          llvm::any_of(each.bindings(),
                       [&](const RuntimeVarIndexing& other) {
                         return llvm::any_of(other.element, is_used);
                       }) ||
          llvm::any_of(map.constraints(),
                       [&](const Constraint& constraint) { return is_used(constraint.expr); })) {
        each.Weaken(ExactnessLabel::OverApproximate(
            absl::StrCat("how often ", body.loop().name(), " runs may be any number")));
      }
    }
    if (is_after_none) continue;
    if (llvm::any_of(intervals, [](const auto& interval) { return interval.has_value(); })) {
      each = WithRanges(each, intervals);
    }
    result.Add(std::move(each));
  }
  return result;
}

const std::map<int64_t, int64_t>& WholeLeavesRead(const LoopBody& body) {
  static const auto* none = new std::map<int64_t, int64_t>();
  return DependsOnCount(body) ? WholeLeavesOf(body) : *none;
}

// What a leaf that the body changes reads of the leaves that the condition does not read wholly.
LeafSets ReadButForWhole(const LoopBody& body, int64_t output_leaf,
                         const std::map<int64_t, int64_t>& whole) {
  mlir::MLIRContext* context = body.build().mlir_context;
  const Shape& from = body.Leaf(output_leaf);
  const OperandIndexingSet identity(IdentityIndexing(from, context));
  auto [reads, are_whole_leaves] = AllIterations(body, {{output_leaf, identity}}, from);
  const OperandIndexingSet to_scalar(ToScalar(from, context));
  static const auto* nothing = new LeafSets();
  for (const auto& [leaf, set] : DependsOnCount(body) ? ReadByCondition(body) : *nothing) {
    if (whole.contains(leaf)) continue;
    if (are_whole_leaves && reads.contains(leaf) && !AddToWholeLeaf(set)) continue;
    reads[leaf].Add(ComposeOrWiden(to_scalar, set, from, body.Leaf(leaf), context));
  }
  std::erase_if(reads, [&](const auto& read) { return whole.contains(read.first); });
  for (auto& [leaf, set] : reads) {
    if (!DependsOnCount(body)) set = AfterAnyCount(body, set);
    set.Simplify();
  }
  return std::move(reads);
}

}  // namespace

void WhileOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedOutputToInput(build, output_leaf);
    return;
  }
  const LoopBody body(build, Direction::kOutputToInput);
  if (body.PassesThrough(output_leaf)) {
    build.Add(output_leaf, 0, output_leaf,
              IdentityIndexing(body.Leaf(output_leaf), build.mlir_context));
    return;
  }
  const std::map<int64_t, int64_t>& whole = WholeLeavesRead(body);
  LeafSets reads;
  if (static_cast<int64_t>(whole.size()) < build.instruction.shape().LeafCount()) {
    reads = ReadButForWhole(body, output_leaf, whole);
  }
  for (const auto& [leaf, k] : whole) reads[leaf] = ThroughCondition(body, output_leaf, leaf, k);
  for (auto& [leaf, set] : reads) build.Add(output_leaf, 0, leaf, std::move(set));
}

void WhileInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedInputToOutput(build, operand, operand_leaf);
    return;
  }
  const Shape& state = build.instruction.shape();
  const Shape& from = state.Leaf(operand_leaf);
  const OperandIndexingSet identity(IdentityIndexing(from, build.mlir_context));
  const LoopBody body(build, Direction::kInputToOutput);
  const std::map<int64_t, int64_t>& whole = WholeLeavesRead(body);
  if (const auto known = whole.find(operand_leaf); known != whole.end()) {
    if (body.PassesThrough(operand_leaf)) build.Add(operand_leaf, operand, operand_leaf, identity);
    for (const int64_t leaf : body.ChangedLeaves()) {
      build.Add(leaf, operand, operand_leaf,
                ThroughCondition(body, operand_leaf, leaf, known->second));
    }
    SortEntries(&build.entries);
    return;
  }
  const LeafSets start = {{operand_leaf, identity}};
  auto [reached, are_whole_leaves] = AllIterations(body, start, from);
  // What the condition reads reaches every leaf that changes.
  const OperandIndexingSet to_scalar =
      DependsOnCount(body) ? ReachOfCondition(body, start, from) : OperandIndexingSet();
  const bool adds_to_whole = AddToWholeLeaf(to_scalar);
  for (const int64_t leaf : body.ChangedLeaves()) {
    if (to_scalar.empty()) break;
    if (are_whole_leaves && reached.contains(leaf) && !adds_to_whole) continue;
    const OperandIndexingSet everywhere(FromScalar(state.Leaf(leaf), build.mlir_context));
    reached[leaf].Add(
        ComposeOrWiden(to_scalar, everywhere, from, state.Leaf(leaf), build.mlir_context));
  }
  for (auto& [leaf, set] : reached) {
    if (!DependsOnCount(body) && !body.PassesThrough(leaf)) set = AfterAnyCount(body, set);
    set.Simplify();
    build.Add(leaf, operand, operand_leaf, std::move(set));
  }
}

}  // namespace xla_indexing::internal
