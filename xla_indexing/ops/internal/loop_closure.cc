#include "xla_indexing/ops/internal/loop_closure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/decide.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/few_maps.h"
#include "xla_indexing/ops/internal/leaf_relation.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Maps of one leaf, and compositions for one answer.
constexpr size_t kMaxMapsOfPlace = 16;
constexpr int64_t kMaxComposedForAnswer = 4096;
// How often one piece, and a part of several, is taken until it must repeat itself.
constexpr int kMaxPeriod = 6;
constexpr size_t kMaxPowers = 12;
// The pairs of pieces of which it is asked whether one can follow the other.
constexpr int64_t kMaxPairs = 4096;
// Where nothing is known of as many steps from a leaf, nothing is to be had of a loop.
constexpr size_t kManyLeaves = 16;

// first ; second, simplified; nothing where that passes a bound, or one of them is unknown.
std::optional<OperandIndexing> Compose(const OperandIndexing& first,
                                       const OperandIndexing& second) {
  if (first.IsUnknown() || second.IsUnknown() || !QuestionBudget::Spend()) return std::nullopt;
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, second);
  if (!composed.ok()) return std::nullopt;
  QuestionBudget::Spend(static_cast<int64_t>(StepsToSimplify(composed->map())));
  composed->Simplify();
  return WithSumsJoined(*std::move(composed));
}

bool MentionsOnly(AffineExpr expr, int num_dims, int first, int last) {
  return llvm::all_of(VariablesOf(expr, num_dims),
                      [&](int variable) { return variable >= first && variable < last; });
}

// Whether what runtime variables are read from is the same in all iterations.
bool HasFixedValues(const OperandIndexing& map) {
  const int first_runtime = map.map().num_dims() + map.map().num_ranges();
  return llvm::all_of(map.bindings(), [&](const RuntimeVarIndexing& binding) {
    return !binding.device && llvm::all_of(binding.element, [&](AffineExpr expr) {
      return MentionsOnly(expr, map.map().num_dims(), first_runtime,
                          first_runtime + map.map().num_runtimes());
    });
  });
}

// --- One piece ---

// What an iteration does to each dimension: it adds a number, or (none) leaves nothing of it.
using Shifts = llvm::SmallVector<std::optional<int64_t>, 4>;

// The difference of two expressions where the domain of the map makes it constant.
std::optional<int64_t> Difference(AffineExpr a, AffineExpr b, const IndexingMap& map) {
  const AffineExpr difference = Sub(a, b);
  if (const auto constant = ConstantIn(difference)) return constant;
  // Where e = c, multiples of e - c may be added.
  for (const Constraint& constraint : map.constraints()) {
    if (!constraint.interval.IsPoint()) continue;
    const AffineExpr zero =
        Sub(constraint.expr, Constant(constraint.interval.lower(), map.context()));
    for (const int64_t factor : {1, -1}) {
      if (const auto constant = ConstantIn(Add(difference, Scale(zero, factor)))) return constant;
    }
  }
  return std::nullopt;
}

// How an expression changes along shifts.
enum class Change : uint8_t { kNone, kUp, kDown, kAnyhow };

Change Opposite(Change change) {
  if (change == Change::kUp) return Change::kDown;
  return change == Change::kDown ? Change::kUp : change;
}

Change ChangeOf(AffineExpr expr, const Shifts& shifts) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return Change::kAnyhow;
  Int128 slope = 0;
  Change all = Change::kNone;
  const auto add = [&](Change change) {
    if (change == Change::kNone || all == change) return;
    all = all == Change::kNone ? change : Change::kAnyhow;
  };
  for (const Term& term : sum.terms()) {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
      const std::optional<int64_t>& shift = shifts[dim.getPosition()];
      if (!shift) return Change::kAnyhow;
      slope += static_cast<Int128>(term.coefficient) * *shift;
    } else if (const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom)) {
      const Change change = ChangeOf(division.getLHS(), shifts);
      if (change == Change::kNone) continue;
      if (term.atom.getKind() != mlir::AffineExprKind::FloorDiv) return Change::kAnyhow;
      add(term.coefficient > 0 ? change : Opposite(change));
    }
  }
  if (slope != 0) add(slope > 0 ? Change::kUp : Change::kDown);
  return all;
}

// The shifts of a piece whose powers have the closed form above.
std::optional<Shifts> ShiftsOf(const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  const int num_dims = map.num_dims();
  if (map.num_results() != num_dims || !HasFixedValues(piece) || piece.replica_map() != nullptr) {
    return std::nullopt;
  }
  Shifts shifts;
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  for (int i = 0; i < num_dims; ++i) {
    const AffineExpr result = map.results()[i];
    shifts.push_back(Difference(result, mlir::getAffineDimExpr(i, map.context()), map));
    if (shifts.back()) continue;
    if (!MentionsOnly(result, num_dims, num_dims, num_dims + map.num_symbols()) ||
        !simplifier.Range(result).IsSubsetOf(map.dims()[i].bounds)) {
      return std::nullopt;
    }
  }
  if (!shifts[0] || *shifts[0] == 0) return std::nullopt;
  for (const Constraint& constraint : map.constraints()) {
    if (MentionsOnly(constraint.expr, num_dims, num_dims, num_dims + map.num_symbols())) continue;
    // A range variable has another value in each iteration.
    const auto is_range = [&](int variable) {
      return variable >= num_dims && variable < num_dims + map.num_ranges();
    };
    if (llvm::any_of(VariablesOf(constraint.expr, num_dims), is_range) ||
        ChangeOf(constraint.expr, shifts) == Change::kAnyhow) {
      return std::nullopt;
    }
  }
  return shifts;
}

// p^m for m >= 1, a range variable; nothing where a piece is none of this kind.
std::optional<OperandIndexing> CloseShifting(const OperandIndexing& piece) {
  const std::optional<Shifts> shifts = ShiftsOf(piece);
  if (!shifts) return std::nullopt;
  const IndexingMap& map = piece.map();
  mlir::MLIRContext* context = map.context();
  Renaming renaming;
  renaming.dims = Variables(map.dims());
  renaming.ranges = Variables(map.ranges());
  const AffineExpr times = mlir::getAffineSymbolExpr(map.num_ranges(), context);
  renaming.ranges.push_back({Interval::AtLeast(1), {}});
  for (int i = 0; i < map.num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    renaming.runtimes.push_back(i);
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(map.num_ranges() + 1 + i, context));
  }
  const auto renamed = [&](AffineExpr expr) { return Substitute(expr, {}, renaming.for_symbols); };
  renaming.results_dropped = map.num_results();
  llvm::SmallVector<AffineExpr, 4> at_last;
  for (int i = 0; i < map.num_dims(); ++i) {
    const AffineExpr dim = mlir::getAffineDimExpr(i, context);
    const int64_t shift = (*shifts)[i].value_or(0);
    renaming.results_added.push_back((*shifts)[i] ? Add(dim, Scale(times, shift))
                                                  : renamed(map.results()[i]));
    at_last.push_back(Add(dim, Scale(Sub(times, Constant(1, context)), shift)));
    if (!at_last.back()) return std::nullopt;
    if (shift != 0) renaming.constraints_added.push_back({at_last.back(), map.dims()[i].bounds});
  }
  for (const Constraint& constraint : map.constraints()) {
    if (ChangeOf(constraint.expr, *shifts) == Change::kNone) continue;
    renaming.constraints_added.push_back(
        {Substitute(renamed(constraint.expr), at_last, {}), constraint.interval});
  }
  OperandIndexing closed = Renamed(piece, std::move(renaming));
  if (closed.IsUnknown()) return std::nullopt;
  closed.Simplify();
  return closed;
}

}  // namespace

std::optional<OperandIndexingSet> ClosePiece(const OperandIndexing& piece) {
  // The map of what is unknown has no time.
  if (piece.IsUnknown()) return std::nullopt;
  OperandIndexingSet powers;
  std::optional<OperandIndexing> power = piece;
  for (int period = 1; period <= kMaxPeriod; ++period) {
    if (power->IsKnownEmpty()) return powers;
    const std::optional<OperandIndexing> closed = CloseShifting(*power);
    if (!closed) {
      powers.Add(*power);
      power = Compose(*power, piece);
      if (!power) return std::nullopt;
      continue;
    }
    OperandIndexingSet all = powers;
    all.Add(*closed);
    for (const OperandIndexing& first : powers) {
      std::optional<OperandIndexing> rest = Compose(*closed, first);
      if (!rest) return std::nullopt;
      all.Add(*std::move(rest));
    }
    all.Simplify();
    return all;
  }
  return std::nullopt;
}

namespace {

// --- Pieces that do not mention the time ---

// Whether an iteration is the same whenever it is, but for the time; and there is one like it at all
// times.
bool IsTimeless(const LoopBody& body, const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  if (piece.IsUnknown() || !HasFixedValues(piece)) return false;
  const Interval times = body.Times();
  if (map.dims()[0].bounds != times.Intersect(body.is_forward() ? times.Sub(1) : times.Add(1))) {
    return false;
  }
  if (!ConstantIn(Sub(map.results()[0], mlir::getAffineDimExpr(0, map.context())))) return false;
  const auto mentions = [](AffineExpr expr) { return expr.isFunctionOfDim(0); };
  return !llvm::any_of(map.results().drop_front(), mentions) &&
         !llvm::any_of(map.constraints(),
                       [&](const Constraint& constraint) { return mentions(constraint.expr); });
}

// The numbers of iterations first, first + stride, .., which go on to `last` or without end.
struct PowerRange {
  size_t first;
  std::optional<size_t> last;
  size_t stride = 1;
};

// What a map does between leaves as a timed map that takes so many iterations.
OperandIndexing InSoManyIterations(const LoopBody& body, const OperandIndexing& map,
                                   const PowerRange& numbers) {
  mlir::MLIRContext* context = map.map().context();
  const int64_t direction = body.is_forward() ? 1 : -1;
  const OperandIndexing timed = AddTime(map, body.Times(), {});
  Renaming renaming;
  renaming.dims = Variables(timed.map().dims());
  renaming.ranges = Variables(timed.map().ranges());
  AffineExpr passed = Constant(static_cast<int64_t>(numbers.first), context);
  const bool is_range = numbers.last != numbers.first;
  if (is_range) {
    const AffineExpr range = mlir::getAffineSymbolExpr(renaming.ranges.size(), context);
    const Interval values =
        numbers.last
            ? Interval::Closed(
                  0, static_cast<int64_t>((*numbers.last - numbers.first) / numbers.stride))
            : Interval::AtLeast(0);
    renaming.ranges.push_back({values, {}});
    passed = Add(passed, Scale(range, static_cast<int64_t>(numbers.stride)));
  }
  for (int i = 0; i < timed.map().num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (int i = 0; i < timed.map().num_runtimes(); ++i) {
    renaming.runtimes.push_back(i);
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(renaming.ranges.size() + i, context));
  }
  const AffineExpr time = Add(mlir::getAffineDimExpr(0, context), Scale(passed, direction));
  renaming.results_added.push_back(time);
  renaming.constraints_added.push_back({time, body.Times()});
  return Renamed(timed, std::move(renaming));
}

// Powers of pieces that do not mention the time, from one leaf.
class TimelessPowers {
 public:
  TimelessPowers(const LoopBody& body, const std::map<int64_t, LeafSets>& steps)
      : body_(body), steps_(steps) {}

  // Adds all powers from a leaf; false where they do not repeat themselves.
  bool AddFrom(int64_t leaf, LoopClosure* closure) {
    std::vector<LeafSets> powers = {steps_.at(leaf)};
    size_t repeated = 0;
    while (true) {
      std::optional<LeafSets> next = Next(powers.back());
      if (!next) return false;
      const auto same = llvm::find(powers, *next);
      if (same != powers.end()) {
        repeated = static_cast<size_t>(same - powers.begin());
        break;
      }
      if (powers.size() == kMaxPowers) return false;
      powers.push_back(*std::move(next));
    }
    // powers[repeated], .., come again and again.
    const size_t period = powers.size() - repeated;
    std::map<int64_t, std::vector<std::pair<OperandIndexing, std::vector<size_t>>>> reached;
    for (size_t i = 0; i < powers.size(); ++i) {
      for (const auto& [to, set] : powers[i]) {
        auto& maps = reached[to];
        for (const OperandIndexing& map : set) {
          auto same = llvm::find_if(maps, [&](const auto& known) { return known.first == map; });
          if (same == maps.end()) same = maps.insert(maps.end(), {map, {}});
          same->second.push_back(i);
        }
      }
    }
    for (const auto& [to, maps] : reached) {
      OperandIndexingSet& all = (*closure)[{leaf, to}];
      for (const auto& [map, at] : maps) {
        for (const PowerRange& range : RangesOf(at, repeated, period)) {
          all.Add(InSoManyIterations(body_, map, range));
        }
      }
      WriteWithFewMaps(&all);
    }
    return true;
  }

 private:
  // The numbers of iterations i + 1 for each i of `at`, in ascending order, where from `repeated`
  // on what is so for i is so for i + period.
  static std::vector<PowerRange> RangesOf(llvm::ArrayRef<size_t> at, size_t repeated,
                                          size_t period) {
    const size_t in_period = llvm::count_if(at, [&](size_t i) { return i >= repeated; });
    std::vector<PowerRange> ranges;
    for (size_t j = 0; j < at.size(); ++j) {
      const bool again = at[j] >= repeated;
      const bool follows = !ranges.empty() && ranges.back().last == at[j];
      if (follows && (!again || in_period == period)) {
        ranges.back().last = at[j] + 1;
      } else {
        ranges.push_back({at[j] + 1, at[j] + 1});
      }
      if (again && in_period < period) {
        ranges.back() = {at[j] + 1, std::nullopt, period};
      } else if (again && j + 1 == at.size()) {
        ranges.back().last = std::nullopt;
      }
    }
    return ranges;
  }

  std::optional<LeafSets> Next(const LeafSets& sets) {
    LeafSets next;
    for (const auto& [leaf, set] : sets) {
      const auto step = steps_.find(leaf);
      if (step == steps_.end()) continue;
      for (const auto& [to, maps] : step->second) {
        for (const OperandIndexing& first : set) {
          for (const OperandIndexing& second : maps) {
            if (!budget_.Take(1)) return std::nullopt;
            std::optional<OperandIndexing> composed = Compose(first, second);
            if (!composed) return std::nullopt;
            next[to].Add(*std::move(composed));
          }
        }
      }
    }
    std::erase_if(next, [](const auto& place) { return place.second.empty(); });
    for (auto& [leaf, set] : next) {
      set.Simplify();
      if (set.size() > 1) set.DropSubsumed(body_.Leaf(leaf));
      if (set.size() > kMaxMapsOfPlace) return std::nullopt;
    }
    return next;
  }

  const LoopBody& body_;
  const std::map<int64_t, LeafSets>& steps_;
  StepBudget budget_{kMaxComposedForAnswer};
};

// --- The graph ---

// Whether a leaf is what it was in the iteration before, whatever the body makes of it: iterations
// lead from it to itself and to nothing else.
bool IsStill(const LoopBody& body, int64_t leaf) {
  if (body.PassesThrough(leaf)) return true;
  const LeafSets& steps = body.TimedStepsOf(leaf);
  if (steps.size() != 1 || steps.begin()->first != leaf || steps.begin()->second.size() != 1) {
    return false;
  }
  const OperandIndexing& step = steps.begin()->second.maps().front();
  if (!step.IsExact() || step.map().num_symbols() > 0 || !step.map().constraints().empty() ||
      step.replica_map() != nullptr) {
    return false;
  }
  for (int i = 1; i < step.map().num_dims(); ++i) {
    if (step.map().results()[i] != mlir::getAffineDimExpr(i, step.map().context()) ||
        step.map().dims()[i].bounds != Interval::OfSize(body.Leaf(leaf).dimension(i - 1))) {
      return false;
    }
  }
  return true;
}

class ClosedLoop {
 public:
  explicit ClosedLoop(const LoopBody& body) : body_(body) {
    if (!body.memo().graph) body.memo().graph = MakeGraph();
  }

  // Everything that ways from `start`, timed, lead to at any time; nothing where some part has no
  // closed form, or there are too many maps.
  std::optional<LeafSets> Through(const LeafSets& start) {
    if (!Graph().is_made) return std::nullopt;
    std::vector<LoopPart>& parts = Graph().parts;
    std::vector<LeafSets> arrived(parts.size());
    joined_.clear();
    LeafSets places = start;
    for (size_t i = 0; i < Graph().pieces.size(); ++i) {
      const LoopPiece& piece = Graph().pieces[i];
      if (const auto set = start.find(piece.from); set != start.end()) {
        arrived[piece.part][piece.from] = set->second;
      }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (arrived[i].empty()) continue;
      for (auto& [leaf, set] : arrived[i]) {
        if (joined_.contains({i, leaf}) && !Bound(&set)) return std::nullopt;
      }
      if (!Solve(parts[i])) return std::nullopt;
      const std::optional<LeafSets> left = Leave(parts[i], arrived[i]);
      if (!left) return std::nullopt;
      for (const auto& [leaf, set] : *left) places[leaf].Add(set);
      Enter(static_cast<int>(i), *left, &arrived);
    }
    for (auto& [leaf, set] : places) {
      if (!Bound(&set)) return std::nullopt;
    }
    return places;
  }

 private:
  LoopGraph& Graph() { return *body_.memo().graph; }

  // Where the closure of a part leads from what has arrived there.
  std::optional<LeafSets> Leave(const LoopPart& part, const LeafSets& arrived) {
    LeafSets left;
    for (const auto& [ends, maps] : *part.closure) {
      const auto set = arrived.find(ends.first);
      if (set == arrived.end()) continue;
      if (!ComposeAll(set->second, maps, &left[ends.second])) return std::nullopt;
    }
    std::erase_if(left, [](const auto& place) { return place.second.empty(); });
    for (auto& [leaf, set] : left) {
      if (!body_.is_forward() && IsStill(body_, leaf)) set = AtTimeZero(set);
      if (!Bound(&set)) return std::nullopt;
    }
    return left;
  }

  // Adds what has left a part to what has arrived at the parts that it leads to, each of which is
  // entered from a leaf once.
  void Enter(int from, const LeafSets& left, std::vector<LeafSets>* arrived) {
    std::set<std::pair<int, int64_t>> entered;
    for (const int i : Graph().parts[from].pieces) {
      const LoopPiece& piece = Graph().pieces[i];
      const auto set = left.find(piece.to);
      if (set == left.end()) continue;
      for (const int next : piece.next) {
        const int part = Graph().pieces[next].part;
        if (part == from || !entered.insert({part, piece.to}).second) continue;
        OperandIndexingSet& at_part = (*arrived)[part][piece.to];
        if (!at_part.empty()) joined_.insert({part, piece.to});
        at_part.Add(set->second);
      }
    }
  }

  // What leads to such a leaf at any time leads to what the loop begins with.
  static OperandIndexingSet AtTimeZero(const OperandIndexingSet& set) {
    OperandIndexingSet result;
    for (const OperandIndexing& map : set) {
      Renaming renaming;
      renaming.dims = Variables(map.map().dims());
      renaming.ranges = Variables(map.map().ranges());
      for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
      renaming.results_dropped = 1;
      renaming.results_added.push_back(Constant(0, map.map().context()));
      result.Add(Renamed(map, std::move(renaming)));
    }
    return result;
  }

  bool ComposeAll(const OperandIndexingSet& first, const OperandIndexingSet& second,
                  OperandIndexingSet* result) {
    for (const OperandIndexing& a : first) {
      for (const OperandIndexing& b : second) {
        if (!budget_.Take(1)) return false;
        std::optional<OperandIndexing> composed = Compose(a, b);
        if (!composed) return false;
        result->Add(*std::move(composed));
      }
    }
    return true;
  }

  static bool Bound(OperandIndexingSet* set) {
    WriteWithFewMaps(set);
    return set->size() <= 2 * kMaxMapsOfPlace;
  }

  LoopGraph MakeGraph() {
    LoopGraph graph;
    const int64_t leaf_count = body_.loop().shape().LeafCount();
    std::map<int64_t, std::vector<int>> from;
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      if (!body_.is_forward() && body_.PassesThrough(leaf)) continue;
      const LeafSets& steps = body_.TimedStepsOf(leaf);
      if (steps.size() >= kManyLeaves && IsNothingButLeaves(steps)) return graph;
      for (const auto& [to, maps] : steps) {
        // What starts there is there at all times.
        if (to == leaf && body_.PassesThrough(leaf)) continue;
        for (const OperandIndexing& map : maps) {
          from[leaf].push_back(static_cast<int>(graph.pieces.size()));
          graph.pieces.push_back({leaf, to, map});
        }
      }
    }
    int64_t pairs = 0;
    for (LoopPiece& piece : graph.pieces) {
      for (const int next : from[piece.to]) {
        const OperandIndexing& second = graph.pieces[next].map;
        bool follows = true;
        if (IsRestricted(second) && ++pairs <= kMaxPairs) {
          const std::optional<OperandIndexing> both = Compose(piece.map, second);
          follows = !both || !both->IsKnownEmpty();
        }
        if (follows) piece.next.push_back(next);
      }
    }
    FindParts(&graph);
    graph.is_made = true;
    return graph;
  }

  // Whether the walk over the body was stopped, so that nothing is known but which leaves an
  // iteration leads to.
  static bool IsNothingButLeaves(const LeafSets& steps) {
    return llvm::all_of(steps, [](const auto& step) {
      return absl::StrContains(step.second.label().reason, kTooManySteps);
    });
  }

  bool IsRestricted(const OperandIndexing& timed) const {
    if (timed.IsUnknown()) return false;
    return !timed.map().constraints().empty() || timed.map().num_dims() > 1;
  }

  // Tarjan's algorithm, with a stack of its own.
  static void FindParts(LoopGraph* graph) {
    const auto count = static_cast<int>(graph->pieces.size());
    std::vector<int> number(count, -1);
    std::vector<int> least(count, 0);
    std::vector<bool> is_open(count, false);
    std::vector<int> open;
    struct Visit {
      int piece;
      size_t next = 0;
    };
    std::vector<Visit> visits;
    int numbered = 0;
    const auto begin = [&](int piece) {
      number[piece] = least[piece] = numbered++;
      open.push_back(piece);
      is_open[piece] = true;
      visits.push_back({piece});
    };
    for (int root = 0; root < count; ++root) {
      if (number[root] < 0) begin(root);
      while (!visits.empty()) {
        Visit& visit = visits.back();
        const int piece = visit.piece;
        const std::vector<int>& nexts = graph->pieces[piece].next;
        if (visit.next < nexts.size()) {
          const int next = nexts[visit.next++];
          if (number[next] < 0) {
            begin(next);
          } else if (is_open[next]) {
            least[piece] = std::min(least[piece], number[next]);
          }
          continue;
        }
        visits.pop_back();
        if (!visits.empty()) {
          least[visits.back().piece] = std::min(least[visits.back().piece], least[piece]);
        }
        if (least[piece] != number[piece]) continue;
        LoopPart& part = graph->parts.emplace_back();
        int member = -1;
        do {
          member = open.back();
          open.pop_back();
          is_open[member] = false;
          part.pieces.push_back(member);
        } while (member != piece);
        std::sort(part.pieces.begin(), part.pieces.end());
      }
    }
    // Parts were closed after those that they lead to.
    std::reverse(graph->parts.begin(), graph->parts.end());
    for (size_t i = 0; i < graph->parts.size(); ++i) {
      for (const int piece : graph->parts[i].pieces) {
        graph->pieces[piece].part = static_cast<int>(i);
      }
    }
  }

  // Finds the closure of a part; false where there is none.
  bool Solve(LoopPart& part) {
    if (!part.is_solved) {
      part.is_solved = true;
      part.closure = ClosureOf(part);
    }
    return part.closure.has_value();
  }

  std::optional<LoopClosure> ClosureOf(const LoopPart& part) {
    const LoopPiece& first = Graph().pieces[part.pieces[0]];
    LoopClosure closure;
    if (part.pieces.size() == 1) {
      if (!llvm::is_contained(first.next, part.pieces[0])) {
        closure[{first.from, first.to}].Add(first.map);
        return closure;
      }
      if (std::optional<OperandIndexingSet> powers = ClosePiece(first.map)) {
        closure[{first.from, first.to}] = *std::move(powers);
        return closure;
      }
    }
    std::map<int64_t, LeafSets> steps;
    for (const int i : part.pieces) {
      const LoopPiece& piece = Graph().pieces[i];
      if (!IsTimeless(body_, piece.map)) return std::nullopt;
      bool depends_on_time = false;
      OperandIndexing step = DropTime(piece.map, Interval::All(), 1, &depends_on_time);
      step.Simplify();
      steps[piece.from][piece.to].Add(std::move(step));
    }
    for (auto& [leaf, sets] : steps) {
      for (auto& [to, set] : sets) {
        set.Simplify();
        if (set.size() > 1) set.DropSubsumed(body_.Leaf(to));
      }
    }
    TimelessPowers powers(body_, steps);
    for (const auto& [leaf, sets] : steps) {
      if (!powers.AddFrom(leaf, &closure)) return std::nullopt;
    }
    return closure;
  }

  const LoopBody& body_;
  // The parts and leaves where what arrives comes from several parts.
  std::set<std::pair<size_t, int64_t>> joined_;
  StepBudget budget_{kMaxComposedForAnswer};
};

// --- From the beginning to the end ---

// How often the loop runs is a number, or the first dimension of all maps.
class Ends {
 public:
  explicit Ends(const LoopBody& body) : body_(body) {}

  // `set` to where the loop begins (forwards) or ends.
  OperandIndexingSet Start(const OperandIndexingSet& set, bool at_any_time) const {
    OperandIndexingSet started;
    for (const OperandIndexing& map : set) {
      if (map.IsUnknown()) {
        started.Add(map);
        continue;
      }
      const AffineExpr begin = Constant(0, map.map().context());
      OperandIndexing with_number = body_.count() ? map : AddTime(map, Counts(), {});
      const AffineExpr time = body_.is_forward() ? begin : End(with_number);
      started.Add(at_any_time ? AtAnyTime(with_number) : WithResult(with_number, time));
    }
    started.Simplify();
    return started;
  }

  // `set` to a time that is a number.
  OperandIndexingSet AtTime(const OperandIndexingSet& set, int64_t time) const {
    OperandIndexingSet timed;
    for (const OperandIndexing& map : set) {
      if (map.IsUnknown()) {
        timed.Add(map);
        continue;
      }
      timed.Add(WithResult(body_.count() ? map : AddTime(map, Counts(), {}),
                           Constant(time, map.map().context())));
    }
    timed.Simplify();
    return timed;
  }

  // Maps that start from a time, their first dimension, as maps from any time until the end.
  OperandIndexingSet FromAnyTime(const OperandIndexingSet& timed) const {
    OperandIndexingSet result;
    for (const OperandIndexing& map : timed) {
      if (map.IsUnknown()) {
        result.Add(map);
        continue;
      }
      bool depends_on_time = false;
      if (body_.count()) {
        result.Add(DropTime(map, Interval::All(), 0, &depends_on_time));
        continue;
      }
      // With the number of iterations before the time.
      OperandIndexing with_number = AddTime(map, Counts(), {});
      const AffineExpr number = mlir::getAffineDimExpr(0, map.map().context());
      const AffineExpr time = mlir::getAffineDimExpr(1, map.map().context());
      if (!with_number.AddConstraint(Sub(number, time), Interval::AtLeast(0)).ok()) return {};
      result.Add(SecondDimensionToRange(with_number));
    }
    result.Simplify();
    return result;
  }

  // The part of `places` that is where the ways end, without the time.
  LeafSets AtEnd(const LeafSets& places) const {
    LeafSets end;
    for (const auto& [leaf, set] : places) {
      const bool at_any_time = !body_.is_forward() && body_.PassesThrough(leaf);
      OperandIndexingSet restricted;
      for (const OperandIndexing& map : set) {
        const AffineExpr last = body_.is_forward() ? End(map) : Constant(0, map.map().context());
        const AffineExpr missing = Sub(last, map.map().results()[0]);
        OperandIndexing at_end = map;
        if (!at_any_time && !at_end.AddConstraint(missing, Interval::Point(0)).ok()) return {};
        Renaming renaming = NothingRenamed(at_end);
        renaming.results_dropped = 1;
        restricted.Add(Renamed(at_end, std::move(renaming)));
      }
      WriteWithFewMaps(&restricted);
      for (const OperandIndexing& map : restricted) end[leaf].Add(WithoutNumber(map));
      if (!body_.count()) WriteWithFewMaps(&end[leaf]);
      if (end[leaf].size() > 1) end[leaf].DropSubsumed(body_.Leaf(leaf));
    }
    std::erase_if(end, [](const auto& place) { return place.second.empty(); });
    return end;
  }

  // `timed`, from where `places` lead to at a time until the end, behind them.
  std::optional<OperandIndexingSet> BeforeEnd(const OperandIndexingSet& places,
                                              const OperandIndexingSet& timed) const {
    OperandIndexingSet result;
    for (const OperandIndexing& map : places) {
      OperandIndexing restricted = map;
      const AffineExpr missing = Sub(End(map), map.map().results()[0]);
      if (!restricted.AddConstraint(missing, Interval::AtLeast(0)).ok()) return std::nullopt;
      for (const OperandIndexing& next : timed) {
        std::optional<OperandIndexing> composed = Compose(restricted, next);
        if (!composed) return std::nullopt;
        result.Add(*std::move(composed));
      }
    }
    WriteWithFewMaps(&result);
    OperandIndexingSet without;
    for (const OperandIndexing& map : result) without.Add(WithoutNumber(map));
    without.Simplify();
    return without;
  }

 private:
  Interval Counts() const { return body_.counter().counts; }

  // The time at which the loop ends.
  AffineExpr End(const OperandIndexing& map) const {
    mlir::MLIRContext* context = map.map().context();
    return body_.count() ? Constant(*body_.count(), context) : mlir::getAffineDimExpr(0, context);
  }

  static Renaming NothingRenamed(const OperandIndexing& map) {
    Renaming renaming;
    renaming.dims = Variables(map.map().dims());
    renaming.ranges = Variables(map.map().ranges());
    for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
    return renaming;
  }

  static OperandIndexing WithResult(const OperandIndexing& map, AffineExpr result) {
    Renaming renaming = NothingRenamed(map);
    renaming.results_added.push_back(result);
    return Renamed(map, std::move(renaming));
  }

  static void RenumberSymbols(const OperandIndexing& map, int ranges_added, Renaming* renaming) {
    const int num_ranges = map.map().num_ranges();
    for (int i = 0; i < map.map().num_symbols(); ++i) {
      renaming->for_symbols.push_back(
          mlir::getAffineSymbolExpr(i < num_ranges ? i : i + ranges_added, map.map().context()));
    }
  }

  // `map` to a leaf that is the same at all times.
  OperandIndexing AtAnyTime(const OperandIndexing& map) const {
    Renaming renaming = NothingRenamed(map);
    const AffineExpr time = mlir::getAffineSymbolExpr(map.map().num_ranges(), map.map().context());
    renaming.ranges.push_back({body_.Times(), {}});
    RenumberSymbols(map, 1, &renaming);
    renaming.results_added.push_back(time);
    renaming.constraints_added.push_back({Sub(End(map), time), Interval::AtLeast(0)});
    return Renamed(map, std::move(renaming));
  }

  static OperandIndexing SecondDimensionToRange(const OperandIndexing& map) {
    Renaming renaming = NothingRenamed(map);
    mlir::MLIRContext* context = map.map().context();
    renaming.ranges.push_back(renaming.dims[1]);
    renaming.dims.erase(renaming.dims.begin() + 1);
    renaming.for_dims = {mlir::getAffineDimExpr(0, context),
                         mlir::getAffineSymbolExpr(map.map().num_ranges(), context)};
    for (int i = 2; i <= map.map().num_dims(); ++i) {
      renaming.for_dims.push_back(mlir::getAffineDimExpr(i - 1, context));
    }
    RenumberSymbols(map, 1, &renaming);
    return Renamed(map, std::move(renaming));
  }

  // Where the number of iterations is not known, and makes a difference, it is any.
  OperandIndexing WithoutNumber(const OperandIndexing& map) const {
    if (body_.count() || map.IsUnknown()) return map;
    bool depends_on_number = map.map().dims()[0].bounds != Counts();
    OperandIndexing result = DropTime(map, Counts(), /*results_dropped=*/0, &depends_on_number);
    if (depends_on_number) {
      result.Weaken(ExactnessLabel::OverApproximate(
          absl::StrCat("the number of iterations of ", body_.loop().name(), " is not known")));
    }
    return result;
  }

  const LoopBody& body_;
};

}  // namespace

std::optional<LeafSets> AllIterationsInClosedForm(const LoopBody& body, const LeafSets& start,
                                                  const Shape& /*from*/) {
  const Ends ends(body);
  LeafSets timed;
  for (const auto& [leaf, set] : start) {
    timed[leaf] = ends.Start(set, body.is_forward() && body.PassesThrough(leaf));
  }
  const std::optional<LeafSets> places = ClosedLoop(body).Through(timed);
  if (!places) return std::nullopt;
  return ends.AtEnd(*places);
}

std::optional<LeafSets> ReadByConditionInClosedForm(const LoopBody& body) {
  const Ends ends(body);
  LeafSets start;
  for (const IndexingEntry& entry :
       body.build().ReadOf(body.Called(*body.loop().while_condition()), 0)) {
    const OperandIndexingSet timed = body.TimedCondition(entry.indexing, /*to_state=*/true);
    // What is the same at all times is read from what the loop begins with.
    bool depends_on_time = !IsStill(body, entry.operand_leaf);
    OperandIndexingSet at_beginning;
    for (const OperandIndexing& map : timed) {
      at_beginning.Add(DropTime(map, Interval::All(), 1, &depends_on_time));
    }
    start[entry.operand_leaf] =
        depends_on_time ? ends.FromAnyTime(timed) : ends.AtTime(at_beginning, 0);
  }
  const std::optional<LeafSets> places = ClosedLoop(body).Through(start);
  if (!places) return std::nullopt;
  return ends.AtEnd(*places);
}

std::optional<OperandIndexingSet> ReachOfConditionInClosedForm(const LoopBody& body,
                                                               const LeafSets& start,
                                                               const Shape& /*from*/) {
  const Ends ends(body);
  LeafSets timed;
  for (const auto& [leaf, set] : start) {
    timed[leaf] = ends.Start(set, body.PassesThrough(leaf));
  }
  const std::optional<LeafSets> places = ClosedLoop(body).Through(timed);
  if (!places) return std::nullopt;
  const HloComputation& condition = *body.loop().while_condition();
  OperandIndexingSet reached;
  for (const auto& [leaf, set] : *places) {
    if (body.build().options.computations->LeavesReached(condition, {0, leaf}).empty()) continue;
    for (const IndexingEntry& entry : body.build().ReachOf(body.Called(condition), {0, leaf})) {
      const std::optional<OperandIndexingSet> to_condition =
          ends.BeforeEnd(set, body.TimedCondition(entry.indexing, /*to_state=*/false));
      if (!to_condition) return std::nullopt;
      reached.Add(*to_condition);
    }
  }
  reached.Simplify();
  return reached;
}

}  // namespace xla_indexing::internal
