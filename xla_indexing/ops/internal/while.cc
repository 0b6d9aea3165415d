// While: r = f^T(init), where f is the body and T the first number for which the condition c does
// not hold of f^T(init).
//
// A leaf of the result reads what f^T reads: the maps of the body composed T times. Where the body
// changes a leaf, T decides what it is, so that it also reads what the condition reads of
// f^0(init), .., f^T(init), as a conditional reads its predicate. A leaf that the body passes
// through is init's whatever T is, and reads nothing else.
//
// T is known where the loop is counted (ops/internal/loop_counter.h). Runtime variables of the body
// are of one iteration:
//
//   those bound to the counted leaf have the value of that iteration,
//   those bound to a leaf that is passed through are bound to init's,
//   others are taken for any of their values, over-approximate.
//
// Composition stops where another iteration changes nothing; past kMaxSteps iterations the maps are
// squared, so that a body that translates, permutes or repeats itself is exact however often it
// runs. Where T is not known the answer is the union over all numbers of iterations, exact only
// where it is the same for all; past kMaxMaps maps it is whole leaves, all those that are
// reachable. A loop that comes there from one leaf comes there from every leaf that leads to it,
// which is not tried again: models have loops with hundreds of leaves.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/builders.h"
#include "xla_indexing/ops/internal/call_scope.h"
#include "xla_indexing/ops/internal/leaf_relation.h"
#include "xla_indexing/ops/internal/loop_counter.h"
#include "xla_indexing/ops/internal/loop_memo.h"
#include "xla_indexing/ops/internal/other_devices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr int64_t kMaxSteps = 256;
constexpr size_t kMaxMaps = 16;
// Past so many maps of a leaf those that others cover are left out.
constexpr size_t kMergePast = 4;
// For one leaf no more maps than this are composed; a state may have hundreds of leaves, each of
// which is asked for.
constexpr size_t kMaxComposed = 256;
constexpr size_t kMaxComposedByDoubling = 4096;
// Rounds until the union over all numbers of iterations must have stopped growing.
constexpr int kMaxRounds = 16;

// The relation of a loop, in one direction.
class WhileLoop {
 public:
  WhileLoop(BuildContext& build, Direction direction)
      : build_(build),
        loop_(build.instruction),
        forward_(direction == Direction::kInputToOutput),
        counter_(FindLoopCounter(build.instruction)),
        memo_(build.options.computations->MemoOf(build.instruction, direction)) {}

  bool PassesThrough(int64_t leaf) {
    if (!memo_.passes_through) memo_.passes_through = LeavesPassedThrough(loop_);
    return (*memo_.passes_through)[leaf];
  }

  // Those that it does not.
  const std::vector<int64_t>& ChangedLeaves() {
    if (!memo_.changed) {
      std::vector<int64_t>& changed = memo_.changed.emplace();
      const int64_t leaf_count = loop_.shape().LeafCount();
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
        if (!PassesThrough(leaf)) changed.push_back(leaf);
      }
    }
    return *memo_.changed;
  }

  // From an array of shape `from`, where `start` leads to leaves of the state after all iterations
  // (backwards) or before them, to those at the other end.
  LeafSets AllIterations(const LeafSets& start, const Shape& from) {
    has_whole_leaves_ = false;
    if (!counter_ || IsTooWide(start)) return AnyIterations(start, from);
    if (counter_->count > kMaxSteps) {
      std::optional<LeafSets> sets = AllByDoubling(start, from);
      return sets ? *std::move(sets) : AnyIterations(start, from);
    }
    LeafSets sets = start;
    for (int64_t k = 0; k < counter_->count; ++k) {
      is_varying_ = false;
      LeafSets next = Step(sets, IterationOf(k), from);
      if (TooMany(next)) return AnyIterations(start, from);
      const bool is_stable = !is_varying_ && next == sets;
      sets = std::move(next);
      if (is_stable) break;
    }
    return sets;
  }

  // Whether the last answer, of all iterations, is all of every leaf that it leads to and that the
  // body changes.
  bool HasWholeLeaves() const { return has_whole_leaves_; }

  // Forwards from an array of shape `from` to the scalar that the condition yields, at whichever
  // iteration. `all` is where all iterations lead, which any number does where none is known.
  OperandIndexingSet ReachOfCondition(LeafSets sets, const LeafSets& all, const Shape& from) {
    if (!counter_) return ToCondition(all, from);
    const LeafSets start = sets;
    OperandIndexingSet reached = ToCondition(sets, from);
    for (int64_t k = 0; k < counter_->count; ++k) {
      is_varying_ = false;
      LeafSets next;
      if (k < kMaxSteps) next = Step(sets, IterationOf(k), from);
      if (k >= kMaxSteps || TooMany(next)) return ToCondition(AnyIterations(start, from), from);
      const bool is_stable = !is_varying_ && next == sets;
      if (is_stable) break;
      sets = std::move(next);
      reached.Add(ToCondition(sets, from));
    }
    reached.Simplify();
    return reached;
  }

  // Backwards from the scalar that the condition yields, at whichever iteration.
  const LeafSets& ReadByCondition() {
    if (!memo_.read_by_condition) memo_.read_by_condition = FindReadByCondition();
    return *memo_.read_by_condition;
  }

 private:
  LeafSets FindReadByCondition() {
    const Shape& decision = loop_.while_condition()->root_instruction()->shape();
    LeafSets reads;
    for (const IndexingEntry& entry : build_.ReadOf(Called(*loop_.while_condition()), 0)) {
      for (const OperandIndexing& map : entry.indexing) {
        reads[entry.operand_leaf].Add(Resolve(map, std::nullopt));
      }
      reads[entry.operand_leaf].Simplify();
    }
    if (!counter_ || counter_->count > kMaxSteps) return AnyIterations(reads, decision);
    // The answer is for all leaves, whatever was composed for the one that asks first.
    composed_ = 0;
    max_composed_ = kMaxComposed;
    LeafSets all = reads;
    for (int64_t k = 0; k < counter_->count; ++k) {
      is_varying_ = false;
      LeafSets next = Step(all, IterationOf(k), decision);
      AddAll(reads, &next);
      if (TooMany(next)) return AnyIterations(reads, decision);
      const bool is_stable = !is_varying_ && next == all;
      all = std::move(next);
      if (is_stable) break;
    }
    return all;
  }

  CalledComputation Called(const HloComputation& computation) const {
    return {loop_, computation, std::nullopt};
  }

  // The number of the iteration of step k from where maps start.
  int64_t IterationOf(int64_t k) const { return forward_ ? k : counter_->count - 1 - k; }

  const Shape& Leaf(int64_t leaf) const { return loop_.shape().Leaf(leaf); }

  void AddAll(const LeafSets& from, LeafSets* to) const {
    for (const auto& [leaf, set] : from) {
      (*to)[leaf].Add(set);
      Simplify(leaf, &(*to)[leaf]);
    }
  }

  // Many maps are cheaper to compose without those that others cover.
  void Simplify(int64_t leaf, OperandIndexingSet* set) const {
    set->Simplify();
    if (set->size() > kMergePast) set->DropCovered(Leaf(leaf));
  }

  bool TooMany(const LeafSets& sets) const {
    if (composed_ > max_composed_ || QuestionBudget::IsSpent()) return true;
    for (const auto& [leaf, set] : sets) {
      if (set.size() > kMaxMaps) return true;
    }
    return false;
  }

  // What the condition reads of leaves, from where maps lead to them.
  OperandIndexingSet ToCondition(const LeafSets& sets, const Shape& from) {
    OperandIndexingSet reached;
    ComputationIndexer& indexer = *build_.options.computations;
    for (const auto& [leaf, set] : sets) {
      if (indexer.LeavesReached(*loop_.while_condition(), {0, leaf}).empty()) continue;
      for (const IndexingEntry& entry :
           build_.ReachOf(Called(*loop_.while_condition()), {0, leaf})) {
        OperandIndexingSet step;
        for (const OperandIndexing& map : entry.indexing) step.Add(Resolve(map, std::nullopt));
        reached.Add(ComposeOrWiden(set, step, from, Shape::Scalar(ElementType::kPred),
                                   build_.mlir_context));
      }
    }
    return reached;
  }

  // Why a value of body or condition is not known in each iteration.
  std::string WhyAny(const RuntimeVarIndexing& value) const {
    const std::string any = absl::StrCat("values that differ from iteration to iteration of ",
                                         loop_.name(), " are taken for any");
    if (!IsOfState(value)) {
      return absl::StrCat(any, ", and so is ", value.instruction->name(),
                          ", which is computed in it");
    }
    if (!counter_) {
      return absl::StrCat("the number of iterations of ", loop_.name(),
                          " is not known, nor what leaf ", value.leaf, " of its state is in each");
    }
    if (value.leaf != counter_->leaf) {
      return absl::StrCat(any, ", and so is leaf ", value.leaf, " of its state");
    }
    return absl::StrCat(any, ": ", WhyAnyNumber());
  }

  // Why the iterations of a counted loop are not looked at one by one.
  std::string WhyAnyNumber() const {
    return counter_->count > kMaxSteps
               ? absl::StrCat("it has ", counter_->count, " iterations, more than ", kMaxSteps)
               : absl::StrCat("the maps of all ", counter_->count, " iterations are too many");
  }

  // Whether a value is a leaf of the state at the beginning of an iteration.
  static bool IsOfState(const RuntimeVarIndexing& value) {
    return value.call_path.size() == 1 && value.instruction->opcode() == HloOpcode::kParameter;
  }

  // A map of body or condition in one iteration, of which nothing is known without a number.
  OperandIndexing Resolve(OperandIndexing map, std::optional<int64_t> iteration) {
    std::vector<std::optional<Interval>> intervals(map.bindings().size());
    bool has_ranges = false;
    for (size_t i = 0; i < intervals.size(); ++i) {
      RuntimeVarIndexing binding = map.bindings()[i];
      if (IsOfState(binding)) {
        if (PassesThrough(binding.leaf)) {
          binding.call_path.clear();
          binding.instruction = loop_.operand(0);
          map.SetBinding(kPartsFit, static_cast<int>(i), std::move(binding));
          continue;
        }
        if (counter_ && iteration && binding.leaf == counter_->leaf) {
          is_varying_ = true;
          intervals[i] =
              Interval::Point(binding.value.Apply(counter_->start + *iteration * counter_->step));
          has_ranges = true;
          continue;
        }
      }
      map.Weaken(ExactnessLabel::OverApproximate(WhyAny(binding)));
      intervals[i] = Interval::All();
      has_ranges = true;
    }
    if (has_ranges) map = WithRanges(map, intervals);
    map.Simplify();
    return map;
  }

  // Through one iteration of the body.
  LeafSets Step(const LeafSets& sets, std::optional<int64_t> iteration, const Shape& from) {
    LeafSets next;
    for (const auto& [leaf, set] : sets) {
      for (const IndexingEntry& entry : EntriesOf(leaf)) {
        composed_ += set.size() * entry.indexing.size();
        if (entry.indexing.size() > kMaxMaps) composed_ = max_composed_ + 1;
        if (composed_ > max_composed_) return next;
        OperandIndexingSet step;
        for (const OperandIndexing& map : entry.indexing) step.Add(Resolve(map, iteration));
        const int64_t to = forward_ ? entry.output_leaf : entry.operand_leaf;
        if (!step.label().IsExact()) inexact_.try_emplace(to, step.label());
        next[to].Add(ComposeOrWiden(set, step, from, Leaf(to), build_.mlir_context));
      }
    }
    SimplifyAll(&next);
    return next;
  }

  void SimplifyAll(LeafSets* sets) const {
    for (auto it = sets->begin(); it != sets->end();) {
      Simplify(it->first, &it->second);
      it = it->second.empty() ? sets->erase(it) : std::next(it);
    }
  }

  // As AllIterations, for a large number of them: f^(2j) = f^j f^j. Nothing where that is too many
  // maps.
  std::optional<LeafSets> AllByDoubling(LeafSets sets, const Shape& from) {
    composed_ = 0;
    max_composed_ = kMaxComposedByDoubling;
    int power = 0;
    for (int64_t rest = counter_->count; rest > 0; rest /= 2, ++power) {
      if (rest % 2 == 1) sets = Through(power, sets, from);
      if (TooMany(sets)) return std::nullopt;
    }
    return sets;
  }

  // Through 2^power iterations.
  LeafSets Through(int power, const LeafSets& sets, const Shape& from) {
    LeafSets next;
    for (const auto& [leaf, set] : sets) {
      for (const auto& [to, step] : Doubled(power, leaf)) {
        composed_ += set.size() * step.size();
        if (composed_ > max_composed_) return next;
        next[to].Add(ComposeOrWiden(set, step, from, Leaf(to), build_.mlir_context));
      }
    }
    SimplifyAll(&next);
    return next;
  }

  // The maps of 2^power iterations from a leaf; of no meaning once too many were composed. What is
  // known of them is not for other leaves of the result, which have their own bound.
  const LeafSets& Doubled(int power, int64_t leaf) {
    const auto known = doubled_.find({power, leaf});
    if (known != doubled_.end()) return known->second;
    const Shape& from = Leaf(leaf);
    LeafSets sets;
    if (power > 0) {
      sets = Through(power - 1, Doubled(power - 1, leaf), from);
    } else {
      sets[leaf].Add(IdentityIndexing(from, build_.mlir_context));
      sets = Step(sets, std::nullopt, from);
    }
    return doubled_[{power, leaf}] = std::move(sets);
  }

  const InstructionIndexing& EntriesOf(int64_t leaf) {
    const auto [it, is_new] = memo_.entries.try_emplace(leaf);
    if (is_new) {
      const CalledComputation body = Called(*loop_.while_body());
      it->second = forward_ ? build_.ReachOf(body, {0, leaf}) : build_.ReadOf(body, leaf);
    }
    return it->second;
  }

  // The leaves that one iteration from a leaf can lead to.
  const std::vector<int64_t>& LeavesFrom(int64_t leaf) {
    const auto [it, is_new] = memo_.leaves.try_emplace(leaf);
    if (is_new) {
      ComputationIndexer& indexer = *build_.options.computations;
      const HloComputation& body = *loop_.while_body();
      for (const OperandLeaf& to :
           forward_ ? indexer.LeavesReached(body, {0, leaf}) : indexer.LeavesRead(body, leaf)) {
        it->second.push_back(to.operand_leaf);
      }
    }
    return it->second;
  }

  // Whether one iteration is more maps than are composed.
  bool IsTooWide(const LeafSets& start) {
    return llvm::any_of(
        start, [&](const auto& place) { return LeavesFrom(place.first).size() > kMaxComposed; });
  }

  // Why any number of iterations from one of these leaves is whole leaves, if it is: so it is where
  // it is from a leaf that iterations lead to.
  std::optional<std::string> WhyHopeless(const LeafSets& start) {
    llvm::SmallVector<int64_t, 8> leaves;
    for (const auto& [leaf, set] : start) leaves.push_back(leaf);
    std::set<int64_t> seen(leaves.begin(), leaves.end());
    for (size_t i = 0; i < leaves.size(); ++i) {
      for (const int64_t next : LeavesFrom(leaves[i])) {
        if (seen.insert(next).second) leaves.push_back(next);
      }
    }
    // Passed through by every iteration, a leaf leads where the first one leads.
    llvm::erase_if(leaves, [&](int64_t leaf) { return PassesThrough(leaf); });
    for (const int64_t leaf : leaves) {
      const auto known = memo_.why_whole.find(leaf);
      if (known != memo_.why_whole.end()) return known->second;
    }
    for (const int64_t leaf : leaves) {
      if (!UnionFrom(leaf)) return memo_.why_whole.at(leaf);
    }
    return std::nullopt;
  }

  std::string TooManyMaps() const {
    return absl::StrCat("whole leaf: the maps of ", loop_.name(), " are too many");
  }

  LeafSets Identity(int64_t leaf) const {
    LeafSets identity;
    identity[leaf].Add(IdentityIndexing(Leaf(leaf), build_.mlir_context));
    return identity;
  }

  const std::optional<LeafSets>& UnionFrom(int64_t leaf) {
    const auto [it, is_new] = memo_.unions.try_emplace(leaf);
    if (is_new) {
      const LeafSets start = Identity(leaf);
      if (!IsTooWide(start)) it->second = Union(start, Leaf(leaf));
      std::optional<std::string> why =
          it->second ? WhyOnlyWholeLeaves(*it->second, Leaf(leaf)) : TooManyMaps();
      if (why) {
        it->second.reset();
        memo_.why_whole.emplace(leaf, *std::move(why));
      }
    }
    return it->second;
  }

  // Why nothing is said but that some leaves are reached, if that is so.
  std::optional<std::string> WhyOnlyWholeLeaves(const LeafSets& sets, const Shape& from) const {
    std::string why;
    for (const auto& [leaf, set] : sets) {
      const OperandIndexing whole = WholeTensorIndexing(from, Leaf(leaf), "", build_.mlir_context);
      const auto map = llvm::find_if(set, [&](const OperandIndexing& each) {
        return !each.IsExact() && OperandIndexing::IdenticalRelation(each, whole);
      });
      if (map == set.end()) return std::nullopt;
      if (why.empty()) why = map->label().reason;
    }
    return why;
  }

  // The union over all numbers of iterations.
  LeafSets AnyIterations(const LeafSets& start, const Shape& from) {
    if (start.empty()) return {};
    if (const std::optional<std::string> why = WhyHopeless(start)) {
      return ReachableLeaves(start, from, *why);
    }
    const int64_t leaf = start.begin()->first;
    const bool is_known = start == Identity(leaf) && from == Leaf(leaf);
    const std::optional<LeafSets> all = is_known ? UnionFrom(leaf) : Union(start, from);
    return all ? *all : ReachableLeaves(start, from, TooManyMaps());
  }

  // The union over all numbers of iterations; none where it has too many maps.
  std::optional<LeafSets> Union(const LeafSets& start, const Shape& from) {
    LeafSets all = start;
    // Whether one more iteration can make a difference.
    bool has_changed = false;
    inexact_.clear();
    composed_ = 0;
    max_composed_ = kMaxComposed;
    for (int round = 0; round < kMaxRounds && !TooMany(all); ++round) {
      const LeafSets step = Step(all, std::nullopt, from);
      if (composed_ > max_composed_) break;
      has_changed = has_changed || !SameRelations(step, all);
      LeafSets more = all;
      AddAll(step, &more);
      if (SameRelations(more, all)) {
        if (has_changed || !inexact_.empty()) WeakenUnion(has_changed, &all);
        return all;
      }
      all = std::move(more);
    }
    return std::nullopt;
  }

  static bool SameRelations(const LeafSets& a, const LeafSets& b) {
    if (a.size() != b.size()) return false;
    for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
      if (i->first != j->first || i->second.size() != j->second.size()) return false;
      for (size_t m = 0; m < i->second.size(); ++m) {
        if (!OperandIndexing::IdenticalRelation(i->second.maps()[m], j->second.maps()[m]))
          return false;
      }
    }
    return true;
  }

  // Each leaf for its own reason, where an iteration has one that leads there.
  void WeakenUnion(bool depends_on_number, LeafSets* sets) const {
    std::string number = absl::StrCat("the number of iterations of ", loop_.name());
    if (counter_) {
      absl::StrAppend(&number, " is taken for any: ", WhyAnyNumber());
    } else {
      absl::StrAppend(&number, " is not known");
    }
    const ExactnessLabel label =
        depends_on_number ? ExactnessLabel::OverApproximate(number) : inexact_.begin()->second;
    for (auto& [leaf, set] : *sets) {
      const auto own = inexact_.find(leaf);
      OperandIndexingSet weaker;
      for (OperandIndexing map : set) {
        map.Weaken(own == inexact_.end() ? label : own->second);
        weaker.Add(std::move(map));
      }
      set = std::move(weaker);
    }
  }

  // Whether an iteration can lead to other devices.
  bool HasDevices() {
    if (!memo_.has_devices) memo_.has_devices = DevicesAcrossWhich(*loop_.while_body()).has_value();
    return *memo_.has_devices;
  }

  // Every element of the leaves that are reached at all; where an iteration leads to other devices,
  // on those too.
  LeafSets ReachableLeaves(const LeafSets& start, const Shape& from, const std::string& why) {
    std::vector<int64_t> pending;
    LeafSets all;
    has_whole_leaves_ = true;
    const bool has_devices = HasDevices();
    Interval readers = Interval::Empty();
    Interval devices = Interval::Empty();
    const auto add_devices = [&](const OperandIndexingSet& set) {
      for (const OperandIndexing& map : set) {
        if (map.replica_map() == nullptr) continue;
        readers = readers.Union(map.replica_map()->readers);
        devices = devices.Union(map.DevicesRead());
      }
    };
    const auto reach = [&](int64_t leaf) {
      const auto [set, is_new] = all.try_emplace(leaf);
      if (!is_new) return;
      set->second.Add(WholeTensorIndexing(from, Leaf(leaf), why, build_.mlir_context));
      pending.push_back(leaf);
    };
    for (const auto& [leaf, set] : start) {
      add_devices(set);
      if (forward_ && PassesThrough(leaf)) {  // Nothing else leads there.
        all[leaf] = set;
        pending.push_back(leaf);
      } else {
        reach(leaf);
      }
    }
    while (!pending.empty()) {
      const int64_t leaf = pending.back();
      pending.pop_back();
      for (const int64_t next : LeavesFrom(leaf)) reach(next);
      if (!has_devices) continue;
      for (const IndexingEntry& entry : EntriesOf(leaf)) add_devices(entry.indexing);
    }
    if (readers.IsEmpty()) return all;
    for (auto& [leaf, set] : all) {
      if (forward_ && PassesThrough(leaf)) continue;  // It stays where it is.
      set.Add(OnAnyDevice(set.maps()[0], readers, devices));
    }
    return all;
  }

  BuildContext& build_;
  const HloInstruction& loop_;
  const bool forward_;
  const std::optional<LoopCounter> counter_;
  // Whether a step depended on the number of the iteration.
  bool is_varying_ = false;
  // The maps composed since the last way to answer was begun.
  size_t composed_ = 0;
  size_t max_composed_ = kMaxComposed;
  // Why steps to a leaf were larger than what is read.
  std::map<int64_t, ExactnessLabel> inexact_;
  // Whether an answer was whole leaves.
  bool has_whole_leaves_ = false;
  std::map<std::pair<int, int64_t>, LeafSets> doubled_;
  LoopMemo& memo_;
};

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

}  // namespace

void WhileOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedOutputToInput(build, output_leaf);
    return;
  }
  const Shape& from = build.instruction.shape().Leaf(output_leaf);
  const OperandIndexingSet identity(IdentityIndexing(from, build.mlir_context));
  WhileLoop loop(build, Direction::kOutputToInput);
  if (loop.PassesThrough(output_leaf)) {
    build.Add(output_leaf, 0, output_leaf, identity);
    return;
  }
  LeafSets reads = loop.AllIterations({{output_leaf, identity}}, from);
  const bool has_whole_leaves = loop.HasWholeLeaves();
  const OperandIndexingSet to_scalar(ToScalar(from, build.mlir_context));
  for (const auto& [leaf, set] : loop.ReadByCondition()) {
    if (has_whole_leaves && reads.contains(leaf) && !AddToWholeLeaf(set)) continue;
    reads[leaf].Add(ComposeOrWiden(to_scalar, set, from, build.instruction.shape().Leaf(leaf),
                                   build.mlir_context));
  }
  for (auto& [leaf, set] : reads) {
    set.Simplify();
    build.Add(output_leaf, 0, leaf, std::move(set));
  }
}

void WhileInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedInputToOutput(build, operand, operand_leaf);
    return;
  }
  const Shape& state = build.instruction.shape();
  const Shape& from = state.Leaf(operand_leaf);
  const OperandIndexingSet identity(IdentityIndexing(from, build.mlir_context));
  WhileLoop loop(build, Direction::kInputToOutput);
  LeafSets reached = loop.AllIterations({{operand_leaf, identity}}, from);
  const bool has_whole_leaves = loop.HasWholeLeaves();
  // What the condition reads reaches every leaf that changes.
  const OperandIndexingSet to_scalar =
      loop.ReachOfCondition({{operand_leaf, identity}}, reached, from);
  const bool adds_to_whole = AddToWholeLeaf(to_scalar);
  for (const int64_t leaf : loop.ChangedLeaves()) {
    if (to_scalar.empty()) break;
    if (has_whole_leaves && reached.contains(leaf) && !adds_to_whole) continue;
    const OperandIndexingSet everywhere(FromScalar(state.Leaf(leaf), build.mlir_context));
    reached[leaf].Add(
        ComposeOrWiden(to_scalar, everywhere, from, state.Leaf(leaf), build.mlir_context));
  }
  for (auto& [leaf, set] : reached) {
    set.Simplify();
    build.Add(leaf, operand, operand_leaf, std::move(set));
  }
}

}  // namespace xla_indexing::internal
