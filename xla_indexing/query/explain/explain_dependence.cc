#include "xla_indexing/query/explain/explain_dependence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/metadata.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing {
namespace {

using Point = llvm::SmallVector<int64_t, 8>;

// Ways to the leaves of an instruction past this number are one way, to the whole of the leaf.
constexpr size_t kMaxReadWays = 64;
constexpr int64_t kStepsToFindPoint = int64_t{1} << 20;

std::string BracedElement(absl::Span<const int64_t> element) {
  return absl::StrCat("{", absl::StrJoin(element, ","), "}");
}

absl::Status CheckElement(absl::string_view what, const HloInstruction& instruction, int64_t leaf,
                          absl::Span<const int64_t> element) {
  const Shape& shape = instruction.shape();
  if (leaf < 0 || leaf >= shape.LeafCount()) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", instruction.name(), " has ",
                                                   shape.LeafCount(), " leaves, not leaf ", leaf));
  }
  const Shape& array = shape.Leaf(leaf);
  const std::string named =
      absl::StrCat("element ", BracedElement(element), " of ", what, " ", instruction.name());
  if (!array.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(named, ": leaf ", leaf, " is no array"));
  }
  if (static_cast<size_t>(array.rank()) != element.size()) {
    return absl::InvalidArgumentError(absl::StrCat(named, ": it has ", element.size(),
                                                   " indices, and the array, ", array.ToString(),
                                                   ", ", array.rank(), " dimensions"));
  }
  for (size_t i = 0; i < element.size(); ++i) {
    const int64_t size = array.dimensions()[i];
    if (element[i] < 0 || (size != Shape::kUnboundedSize && element[i] >= size)) {
      return absl::InvalidArgumentError(absl::StrCat(
          named, ": index ", element[i], " is outside dimension ", i, " of ", array.ToString()));
    }
  }
  return absl::OkStatus();
}

// All of an array, as a map from a scalar.
OperandIndexing AllElements(const Shape& array, std::string reason, mlir::MLIRContext* context) {
  Variables ranges;
  llvm::SmallVector<mlir::AffineExpr> results;
  for (const int64_t size : array.dimensions()) {
    results.push_back(mlir::getAffineSymbolExpr(results.size(), context));
    ranges.push_back(
        {size == Shape::kUnboundedSize ? Interval::AtLeast(0) : Interval::Closed(0, size - 1), {}});
  }
  const int num_symbols = static_cast<int>(results.size());
  return OperandIndexing(
      kPartsFit,
      IndexingMap(kPartsFit, mlir::AffineMap::get(0, num_symbols, results, context), {},
                  std::move(ranges), {}),
      {}, ExactnessLabel::OverApproximate(std::move(reason)));
}

OperandIndexing OneElement(absl::Span<const int64_t> element, mlir::MLIRContext* context) {
  llvm::SmallVector<mlir::AffineExpr> results;
  for (const int64_t index : element) {
    results.push_back(mlir::getAffineConstantExpr(index, context));
  }
  return OperandIndexing(
      kPartsFit, IndexingMap(kPartsFit, mlir::AffineMap::get(0, 0, results, context), {}, {}, {}));
}

// A point with these results, or any, of a map from a scalar. `is_proven` says whether there is none, where none
// is returned. Symbol by symbol, the least value that some point has.
std::optional<Point> FindPoint(IndexingMap map, std::optional<absl::Span<const int64_t>> results,
                               bool* is_proven) {
  *is_proven = false;
  StepBudget budget(kStepsToFindPoint);
  const llvm::SmallVector<mlir::AffineExpr, 4> exprs(map.results());
  for (size_t i = 0; results && i < exprs.size(); ++i) {
    map.AddConstraint(kPartsFit, exprs[i], Interval::Point((*results)[i]));
  }
  if (map.IsKnownEmpty() || DomainHasIntegerPoint(map, &budget) == Answer::kNo) {
    *is_proven = true;
    return std::nullopt;
  }
  Point point;
  for (int i = 0; i < map.num_symbols(); ++i) {
    const mlir::AffineExpr symbol = mlir::getAffineSymbolExpr(i, map.context());
    const Interval bounds = map.symbol(i).bounds;
    const Interval hull = bounds.IsPoint() ? bounds : HullOver(map, symbol, bounds, &budget);
    if (hull.IsEmpty() || !hull.has_lower()) return std::nullopt;
    point.push_back(hull.lower());
    map.AddConstraint(kPartsFit, symbol, Interval::Point(hull.lower()));
    if (map.IsKnownEmpty()) return std::nullopt;
  }
  const absl::StatusOr<bool> contains = map.Contains({}, point);
  const auto at = map.Evaluate({}, point);
  if (!contains.ok() || !*contains || !at.ok()) return std::nullopt;
  if (results && !std::equal(at->begin(), at->end(), results->begin(), results->end())) {
    return std::nullopt;
  }
  return point;
}

// One way from the output's element to elements of a leaf of an instruction.
struct ReadWay {
  const HloInstruction* instruction;
  int64_t leaf;
  int64_t length;
  OperandIndexing elements;  // a map from a scalar
  const ReadWay* user;       // null: the output
  OperandIndexing step;      // the map from the user's elements
};

// Ways from the element of the output to everything on the way to a parameter. A walk in reverse
// topological order reaches an instruction when all ways to it are known; of two ways with one set
// of elements the shorter one is kept, since whatever follows is the same for both. So the shortest
// chain is among the ways that are left. The set of a way is the image of the output's element:
// from any element in it that reads what follows, there is a chain back to the output.
class WaysToParameter {
 public:
  WaysToParameter(const HloComputation& computation, const HloInstruction& parameter,
                  HloIndexer& indexer, mlir::MLIRContext* context)
      : computation_(computation), parameter_(parameter), indexer_(indexer), context_(context) {
    leads_.resize(computation.instructions().size());
    leads_[parameter.index_in_computation()] = true;
    for (const HloInstruction* instruction : computation.instructions()) {
      for (const HloInstruction* operand : instruction->operands()) {
        if (leads_[operand->index_in_computation()]) {
          leads_[instruction->index_in_computation()] = true;
        }
      }
    }
  }

  absl::Status Walk(int64_t leaf, absl::Span<const int64_t> element) {
    pending_.resize(leads_.size());
    const HloInstruction& root = *computation_.root_instruction();
    Add({&root, leaf, 1, OneElement(element, context_), nullptr, OneElement({}, context_)});
    for (int64_t at = root.index_in_computation(); at > parameter_.index_in_computation(); --at) {
      std::vector<const ReadWay*>& ways = pending_[at];
      std::stable_sort(ways.begin(), ways.end(),
                       [](const ReadWay* a, const ReadWay* b) { return a->length < b->length; });
      for (const ReadWay* way : Kept(ways)) {
        if (absl::Status status = Step(*way); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  std::vector<const ReadWay*> ToLeaf(int64_t leaf) const {
    std::vector<const ReadWay*> ways = pending_[parameter_.index_in_computation()];
    ways.erase(std::remove_if(ways.begin(), ways.end(),
                              [&](const ReadWay* way) { return way->leaf != leaf; }),
               ways.end());
    // Those that prove something first.
    std::stable_sort(ways.begin(), ways.end(), [](const ReadWay* a, const ReadWay* b) {
      return std::pair(!a->elements.IsExact(), a->length) <
             std::pair(!b->elements.IsExact(), b->length);
    });
    return ways;
  }

 private:
  void Add(ReadWay way) {
    if (!leads_[way.instruction->index_in_computation()]) return;
    ways_.push_back(std::move(way));
    pending_[ways_.back().instruction->index_in_computation()].push_back(&ways_.back());
  }

  // The shortest way to each set of elements; where there are too many, one to all elements of the leaf.
  std::vector<const ReadWay*> Kept(const std::vector<const ReadWay*>& ways) {
    std::vector<const ReadWay*> kept;
    absl::flat_hash_map<int64_t, std::vector<const ReadWay*>> by_leaf;
    for (const ReadWay* way : ways) {
      std::vector<const ReadWay*>& known = by_leaf[way->leaf];
      if (known.size() > kMaxReadWays) continue;
      if (std::any_of(known.begin(), known.end(),
                      [&](const ReadWay* other) { return other->elements == way->elements; })) {
        continue;
      }
      if (known.size() == kMaxReadWays || !QuestionBudget::Spend()) {
        const std::string reason = known.size() == kMaxReadWays
                                       ? absl::StrCat("there are more than ", kMaxReadWays,
                                                      " ways to ", way->instruction->name())
                                       : QuestionBudget::Reason();
        known.resize(kMaxReadWays + 1);
        ways_.push_back(*way);
        ways_.back().elements =
            AllElements(way->instruction->shape().Leaf(way->leaf), reason, context_);
        kept.push_back(&ways_.back());
        continue;
      }
      known.push_back(way);
      kept.push_back(way);
    }
    return kept;
  }

  absl::Status Step(const ReadWay& way) {
    const absl::StatusOr<SharedIndexing> entries =
        indexer_.Index(*way.instruction, Direction::kOutputToInput, OperandLeaf{0, way.leaf});
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : **entries) {
      const HloInstruction& operand = *way.instruction->operand(entry.operand);
      if (!leads_[operand.index_in_computation()]) continue;
      const Shape& array = operand.shape().Leaf(entry.operand_leaf);
      for (const OperandIndexing& map : entry.indexing) {
        OperandIndexing step = map;
        absl::StatusOr<OperandIndexing> elements =
            map.IsUnknown()
                ? absl::StatusOr<OperandIndexing>(AllElements(array, map.label().reason, context_))
                : ComposeOperandIndexing(way.elements, map);
        if (!elements.ok()) {
          elements = AllElements(array, std::string(elements.status().message()), context_);
        }
        elements->Simplify();
        if (elements->IsKnownEmpty()) continue;
        Add({&operand, entry.operand_leaf, way.length + 1, *std::move(elements), &way,
             std::move(step)});
      }
    }
    return absl::OkStatus();
  }

  const HloComputation& computation_;
  const HloInstruction& parameter_;
  HloIndexer& indexer_;
  mlir::MLIRContext* context_;
  std::vector<bool> leads_;   // by position: whether it is computed from the parameter
  std::deque<ReadWay> ways_;  // that stay where they are
  std::vector<std::vector<const ReadWay*>> pending_;
};

// What a step is about, as the original says it.
DependenceStep StepAt(const ReadWay& way, const FusionView& view,
                      const HloComputation& computation) {
  const HloInstruction* original = view.OriginalOf(*way.instruction);
  const HloInstruction& instruction = original != nullptr   ? *original
                                      : way.user == nullptr ? *computation.root_instruction()
                                                            : *way.instruction;
  DependenceStep step;
  step.instruction = std::string(instruction.name());
  step.opcode = std::string(instruction.opcode_name());
  step.computation = std::string(instruction.parent()->name());
  step.op_name = instruction.metadata().op_name;
  const std::vector<SourceFrame> frames = instruction.SourceFrames();
  if (!frames.empty()) {
    step.source_file = frames[0].file;
    step.source_line = frames[0].line;
  }
  step.leaf = way.leaf;
  const FusionView::Iterations iterations = view.IterationsOf(*way.instruction);
  step.iterations.assign(iterations.begin(), iterations.end());
  return step;
}

absl::StatusOr<DependenceReport> Explain(const HloComputation& computation,
                                         const DependenceQuestion& question, HloIndexers& indexers,
                                         int depth);

// The steps in the branch through which a conditional, `step`, reads `next`, without the branch's parameter;
// none of other instructions.
std::vector<DependenceStep> StepsInBranch(const ReadWay& way, const DependenceStep& step,
                                          const DependenceStep& next, const FusionView& view,
                                          HloIndexers& indexers, int depth) {
  constexpr int kMaxDepth = 8;
  const HloInstruction& conditional = *way.user->instruction;
  const HloInstruction* original = view.OriginalOf(conditional);
  const bool has_branches = conditional.opcode() == HloOpcode::kConditional &&
                            original != nullptr && original->opcode() == HloOpcode::kConditional &&
                            depth < kMaxDepth;
  if (!has_branches) return {};
  const auto branches = original->branch_computations();
  for (size_t i = 0; i < branches.size(); ++i) {
    if (conditional.operand(static_cast<int64_t>(i + 1)) != way.instruction) continue;
    const absl::StatusOr<DependenceReport> report = Explain(
        *branches[i], {step.leaf, step.element, 0, way.leaf, next.element}, indexers, depth + 1);
    if (!report.ok() || report->answer != Answer::kYes) continue;
    std::vector<DependenceStep> steps(report->steps.begin(), report->steps.end() - 1);
    for (DependenceStep& each : steps) {
      each.iterations.insert(each.iterations.begin(), step.iterations.begin(),
                             step.iterations.end());
    }
    return steps;
  }
  return {};
}

// The end of the steps that are of the same iteration as the first one.
size_t EndOfIteration(const std::vector<DependenceStep>& steps, size_t first) {
  size_t end = first + 1;
  while (end < steps.size() && steps[end].iterations == steps[first].iterations) ++end;
  return end;
}

// Whether a step does in the iteration before what another one does.
bool Repeats(const DependenceStep& step, const DependenceStep& other) {
  std::vector<int64_t> before = other.iterations;
  if (!before.empty()) before.back() -= other.repeats;
  return step.iterations == before && step.instruction == other.instruction &&
         step.computation == other.computation && step.leaf == other.leaf &&
         step.element == other.element && step.reason == other.reason &&
         step.runtime_values.empty() && other.runtime_values.empty();
}

// Makes the same steps in one iteration after another one.
std::vector<DependenceStep> WithRepeats(const std::vector<DependenceStep>& steps) {
  std::vector<DependenceStep> merged;
  size_t last = 0;  // the first step of the iteration that was added last
  for (size_t first = 0; first < steps.size();) {
    const size_t end = EndOfIteration(steps, first);
    const bool is_same =
        !steps[first].iterations.empty() && merged.size() - last == end - first &&
        std::equal(merged.begin() + static_cast<std::ptrdiff_t>(last), merged.end(),
                   steps.begin() + static_cast<std::ptrdiff_t>(first),
                   [](const DependenceStep& a, const DependenceStep& b) { return Repeats(b, a); });
    if (is_same) {
      for (size_t i = last; i < merged.size(); ++i) ++merged[i].repeats;
    } else {
      last = merged.size();
      merged.insert(merged.end(), steps.begin() + static_cast<std::ptrdiff_t>(first),
                    steps.begin() + static_cast<std::ptrdiff_t>(end));
    }
    first = end;
  }
  return merged;
}

// The elements of a chain along a way to this element, from the last to the first.
absl::Status ChooseElements(const ReadWay& last, absl::Span<const int64_t> element,
                            const FusionView& view, const HloComputation& computation,
                            HloIndexers& indexers, int depth, DependenceReport* report) {
  std::vector<DependenceStep>& steps = report->steps;
  steps.push_back(StepAt(last, view, computation));
  steps.back().element.assign(element.begin(), element.end());
  for (const ReadWay* way = &last; way->user != nullptr; way = way->user) {
    const ReadWay& user = *way->user;
    DependenceStep step = StepAt(user, view, computation);
    const IndexingMap& of_user = user.elements.map();
    step.reason = way->step.label().reason;
    if (way->step.IsUnknown()) {
      // Any element may be read, so any of the user's will do.
      bool is_proven = false;
      const auto point = FindPoint(of_user, std::nullopt, &is_proven);
      const auto at = point ? of_user.Evaluate({}, *point)
                            : absl::StatusOr<llvm::SmallVector<int64_t, 4>>(
                                  absl::ResourceExhaustedError("no element was found"));
      if (!at.ok()) return at.status();
      step.element.assign(at->begin(), at->end());
      steps.push_back(std::move(step));
      continue;
    }
    const IndexingMap& read = way->step.map();
    absl::StatusOr<IndexingMap> both = ComposeIndexingMaps(of_user, read);
    if (!both.ok()) return both.status();
    bool is_proven = false;
    const auto point = FindPoint(*both, absl::MakeConstSpan(steps.back().element), &is_proven);
    if (!point) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no element of ", user.instruction->name(), " was found that reads ",
                       BracedElement(steps.back().element), " of ", way->instruction->name()));
    }
    // Ranges of the read, ranges of the user, runtime variables of the read, those of the user.
    Point of_user_point(point->begin() + read.num_ranges(),
                        point->begin() + read.num_ranges() + of_user.num_ranges());
    const auto runtimes = point->begin() + read.num_ranges() + of_user.num_ranges();
    of_user_point.append(runtimes + read.num_runtimes(), point->end());
    const auto at = of_user.Evaluate({}, of_user_point);
    if (!at.ok()) return at.status();
    step.element.assign(at->begin(), at->end());
    for (int i = 0; i < read.num_runtimes(); ++i) {
      const HloInstruction& copy = *way->step.bindings()[i].instruction;
      const HloInstruction* named = view.OriginalOf(copy);
      step.runtime_values.emplace_back((named != nullptr ? *named : copy).name(), runtimes[i]);
      report->depends_on_values = true;
    }
    std::vector<DependenceStep> inside =
        StepsInBranch(*way, step, steps.back(), view, indexers, depth);
    std::move(inside.rbegin(), inside.rend(), std::back_inserter(steps));
    steps.push_back(std::move(step));
  }
  std::reverse(steps.begin(), steps.end());
  steps = WithRepeats(steps);
  return absl::OkStatus();
}

// The answer by the maps of one indexer; `parameter` is that of the view.
absl::StatusOr<DependenceReport> FindChain(const FusionView& view,
                                           const HloComputation& computation,
                                           const HloInstruction& parameter,
                                           const DependenceQuestion& question,
                                           HloIndexers& indexers, HloIndexer& indexer, int depth) {
  WaysToParameter ways(view.computation(), parameter, indexer, indexers.context());
  DependenceReport report;
  if (absl::Status status = ways.Walk(question.output_leaf, question.output_element);
      !status.ok()) {
    return status;
  }
  std::string undecided;
  for (const ReadWay* way : ways.ToLeaf(question.operand_leaf)) {
    bool is_proven = false;
    if (!FindPoint(way->elements.map(), absl::MakeConstSpan(question.operand_element),
                   &is_proven)) {
      if (!is_proven) undecided = "whether a way leads to the element was not decided";
      continue;
    }
    if (absl::Status status = ChooseElements(*way, question.operand_element, view, computation,
                                             indexers, depth, &report);
        !status.ok()) {
      report.steps.clear();
      report.depends_on_values = false;
      undecided = std::string(status.message());
      continue;
    }
    if (!way->elements.IsExact()) {
      report.reason = way->elements.label().reason;
    } else if (way->elements.replica_map() != nullptr) {
      report.reason = "it may be read on another device";
    } else {
      report.answer = Answer::kYes;
    }
    return report;
  }
  report.answer = undecided.empty() ? Answer::kNo : Answer::kUndecided;
  report.reason = undecided;
  return report;
}

// Text of a module as it can be shown: a terminal takes nothing in it for a command.
std::string Shown(absl::string_view text) {
  std::string shown(text.substr(0, 200));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace

namespace {

// By the maps of operations, then by the exact ones.
absl::StatusOr<DependenceReport> ExplainInView(const FusionView& view,
                                               const HloComputation& computation,
                                               const DependenceQuestion& question,
                                               HloIndexers& indexers, int depth) {
  const std::optional<int64_t> parameter =
      view.ParameterOf(*computation.parameters()[question.operand]);
  if (!parameter) {
    DependenceReport report;
    report.answer = Answer::kNo;  // Nothing that the output is computed from uses it.
    return report;
  }
  const HloInstruction& copy = *view.computation().parameters()[*parameter];
  absl::StatusOr<DependenceReport> report =
      FindChain(view, computation, copy, question, indexers, indexers.usual(), depth);
  if (!report.ok() || report->answer != Answer::kUndecided) return report;
  absl::StatusOr<DependenceReport> exact =
      FindChain(view, computation, copy, question, indexers, indexers.exact(), depth);
  return exact.ok() && exact->answer != Answer::kUndecided ? exact : report;
}

bool HasIterations(const FusionView& view) {
  return std::any_of(view.computation().instructions().begin(),
                     view.computation().instructions().end(),
                     [&](const HloInstruction* copy) { return !view.IterationsOf(*copy).empty(); });
}

absl::StatusOr<DependenceReport> Explain(const HloComputation& computation,
                                         const DependenceQuestion& question, HloIndexers& indexers,
                                         int depth) {
  const QuestionBudget budget;
  if (question.operand < 0 ||
      static_cast<size_t>(question.operand) >= computation.parameters().size()) {
    return absl::InvalidArgumentError(absl::StrCat("computation ", computation.name(), " has ",
                                                   computation.parameters().size(),
                                                   " parameters, not number ", question.operand));
  }
  const HloInstruction& operand = *computation.parameters()[question.operand];
  const HloInstruction& root = *computation.root_instruction();
  for (const absl::Status& status :
       {CheckElement("output", root, question.output_leaf, question.output_element),
        CheckElement("parameter", operand, question.operand_leaf, question.operand_element)}) {
    if (!status.ok()) return status;
  }
  // By the iterations of loops, then by loops as they are, whose maps may be known where those are not.
  absl::StatusOr<FusionView> view = FusionView::OfIterations(computation, indexers.context());
  if (!view.ok()) return view.status();
  absl::StatusOr<DependenceReport> report =
      ExplainInView(*view, computation, question, indexers, depth);
  const bool is_decided = report.ok() && report->answer != Answer::kUndecided;
  if (is_decided || !HasIterations(*view)) return report;
  view = FusionView::OfComputation(computation);
  if (!view.ok()) return view.status();
  absl::StatusOr<DependenceReport> by_loops =
      ExplainInView(*view, computation, question, indexers, depth);
  return by_loops.ok() && by_loops->answer != Answer::kUndecided ? by_loops : report;
}

}  // namespace

absl::StatusOr<DependenceReport> ExplainDependence(const HloComputation& computation,
                                                   const DependenceQuestion& question,
                                                   HloIndexers& indexers) {
  return Explain(computation, question, indexers, /*depth=*/0);
}

std::string DependenceText(const DependenceReport& report) {
  if (report.steps.empty()) {
    return report.answer == Answer::kNo ? "it does not depend on it"
                                        : absl::StrCat("not decided: ", Shown(report.reason));
  }
  const DependenceStep& first = report.steps.front();
  const DependenceStep& last = report.steps.back();
  int64_t count = 0;
  for (const DependenceStep& step : report.steps) count += step.repeats;
  std::string text = absl::StrCat(
      first.instruction, " ", BracedElement(first.element),
      report.answer == Answer::kYes ? " depends on " : " may depend on ", last.instruction, " ",
      BracedElement(last.element), ": ", count, " instructions");
  if (report.depends_on_values) absl::StrAppend(&text, "\n  for some values of the program");
  if (!report.reason.empty()) absl::StrAppend(&text, "\n  reason: ", Shown(report.reason));
  size_t name_width = 0;
  size_t element_width = 0;
  const auto shown_element = [](const DependenceStep& step) {
    return absl::StrCat(BracedElement(step.element),
                        step.leaf == 0 ? "" : absl::StrCat(" of leaf ", step.leaf));
  };
  for (const DependenceStep& step : report.steps) {
    name_width = std::max(name_width, step.instruction.size());
    element_width = std::max(element_width, shown_element(step).size());
  }
  for (const DependenceStep& step : report.steps) {
    absl::StrAppend(&text, "\n  ", step.instruction,
                    std::string(name_width - step.instruction.size() + 2, ' '));
    const std::string element = shown_element(step);
    absl::StrAppend(&text, element, std::string(element_width - element.size() + 2, ' '),
                    step.opcode);
    if (!step.op_name.empty()) absl::StrAppend(&text, "  ", Shown(step.op_name));
    if (!step.source_file.empty()) {
      absl::StrAppend(&text, "  ", Shown(step.source_file), ":", step.source_line);
    }
    if (!step.iterations.empty()) {
      absl::StrAppend(&text, step.repeats > 1 ? "  in iterations " : "  in iteration ",
                      absl::StrJoin(step.iterations, ", "));
      if (step.repeats > 1) {
        absl::StrAppend(&text, " to ", step.iterations.back() - step.repeats + 1);
      }
    }
    for (const auto& [name, value] : step.runtime_values) {
      absl::StrAppend(&text, "  for ", name, " = ", value);
    }
    if (!step.reason.empty()) absl::StrAppend(&text, "  may: ", Shown(step.reason));
  }
  return text;
}

}  // namespace xla_indexing
