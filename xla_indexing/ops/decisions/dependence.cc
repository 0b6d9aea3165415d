#include "xla_indexing/ops/decisions/dependence.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/rules/arithmetic/dot_match.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/ops/values/cases/sure_values.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Exprs = llvm::SmallVector<AffineExpr, 4>;

// Scalars that are not known tell cases apart, and what is known of some elements is kept.
class PartialValues final : public KnownArrays {
 public:
  PartialValues(ValueOrigins& origins, mlir::MLIRContext* context)
      : KnownArrays(origins, context, TellsApart::kAllValues) {}

  Dependence dependence() const override { return origins().dependence(); }
  bool MayBeKnown(const HloInstruction& instruction, bool is_called) const override {
    return origins().MayBeFixed(instruction, is_called);
  }
  bool MayBeMadeOfInfinite(const HloInstruction& instruction) const override {
    return origins().MayBeMadeOfInfinite(instruction);
  }
  std::optional<LeafSource> PassedByOnlyCaller(const HloInstruction& parameter,
                                               int64_t leaf) const override {
    return origins().PassedFor(parameter, leaf);
  }
  std::optional<ValueCases> Iterations(const CalledLoop& loop,
                                       const Domain& domain) const override {
    return origins().environment().Iterations(loop, domain);
  }
  std::optional<ValueCases> InIteration(const CalledLoop& loop, const Domain& domain, int64_t leaf,
                                        AffineExpr k) const override {
    return origins().environment().InIteration(loop, domain, leaf, k);
  }
  PassedScalar Passed(const HloInstruction& parameter, int64_t leaf) const override {
    return origins().environment().Passed(parameter, leaf);
  }
};

// Where the map of an operand is read: in these cases, and `value` in `chosen` where that is not null.
struct ReadCase {
  Constraints when;
  AffineExpr value = {};
  Interval chosen = Interval::All();
};
using ReadCases = llvm::SmallVector<ReadCase, 4>;

ExactnessLabel Missed(const HloInstruction& value) {
  return ExactnessLabel::OverApproximate(
      absl::StrCat("a value that decides what is read was not found: ", value.name()));
}

// An element is looked at in the time of so many steps of the question (base/question_budget.h).
constexpr int64_t kStepsOfVisit = 2;

// The element of an array, as something that callers may be asked for.
RuntimeVarIndexing ElementOf(const HloInstruction& array, llvm::ArrayRef<AffineExpr> index) {
  RuntimeVarIndexing element;
  element.instruction = &array;
  element.element.assign(index.begin(), index.end());
  return element;
}

// The instruction of the computation in question that an unknown is an element of, or comes from.
const HloInstruction& SourceOf(const RuntimeVarIndexing& unknown) {
  return unknown.call_path.empty() ? *unknown.instruction : *unknown.call_path.front();
}

// What is left of a map whose values, or predicates, are looked at.
class DecidedMap {
 public:
  DecidedMap(const OperandIndexing& indexing, ValueOrigins& origins)
      : indexing_(indexing),
        origins_(origins),
        context_(indexing.map().context()),
        label_(indexing.label()),
        environment_(origins, context_),
        evaluator_(Domain::Of(indexing.map()), context_, environment_) {}

  ElementEvaluator& evaluator() { return evaluator_; }
  // The parts are all that is read, although the map is more.
  void SetExact() { label_ = ExactnessLabel::Exact(); }

  // Where a predicate is `chosen`; nullopt if that is so everywhere.
  std::optional<ReadCases> WhereChosen(const RuntimeVarIndexing& predicate,
                                       const Interval& chosen) {
    if (predicate.value.kind() == ValueFunction::Kind::kIsNotZero) {
      return WhereNotZero(predicate, {});
    }
    // Those in which it is always read have the value 1, so that they are merged.
    ValueCases cases;
    ReadCases open;
    bool is_restricted = false;
    const CallPath path(predicate.call_path.begin(), predicate.call_path.end());
    for (ValueCase& each :
         evaluator_.Evaluate(predicate.instruction, predicate.leaf, predicate.element, path)) {
      if (const std::optional<int64_t> value = ConstantIn(each.value)) {
        if (chosen.Contains(*value != 0 ? 1 : 0)) {
          cases.push_back({std::move(each.when), Constant(1, context_)});
        } else {
          is_restricted = true;
        }
      } else if (MayBeKnownLater(each.value)) {
        is_restricted = true;
        open.push_back({std::move(each.when), each.value, chosen});
      } else {
        cases.push_back({std::move(each.when), Constant(1, context_)});
      }
    }
    if (!is_restricted) return std::nullopt;
    for (ValueCase& each : MergeCases(std::move(cases))) open.push_back({std::move(each.when)});
    return open;
  }

  // Where a factor is not 0 for certain, of the points that are `inside`; nullopt if that is so everywhere.
  std::optional<ReadCases> WhereNotZero(RuntimeVarIndexing factor, const Constraints& inside) {
    ValueCases cases = evaluator_.EvaluateFactor(factor, inside);
    // Callers are asked where they may know more of what they pass.
    AffineExpr asked;
    if (evaluator_.missed_parameter() != nullptr && origins_.IsGiven(SourceOf(factor))) {
      evaluator_.ForgetMissedParameter();
      factor.value = ValueFunction::IsNotZero();
      asked = evaluator_.SymbolOf(factor);
    }
    ValueCases read;
    ReadCases open;
    bool is_restricted = false;
    for (ValueCase& each : cases) {
      const bool is_known = each.value && !evaluator_.HasUnknown(each.value);
      if (evaluator_.IsZero(each)) {
        is_restricted = true;
      } else if (asked && !is_known) {
        is_restricted = true;
        open.push_back({std::move(each.when), asked, Interval::Point(1)});
      } else {
        read.push_back({std::move(each.when), Constant(1, context_)});
      }
    }
    if (!is_restricted) return std::nullopt;
    for (ValueCase& each : MergeCases(std::move(read))) open.push_back({std::move(each.when)});
    return open;
  }

  // The parts of the map in these cases; all of it without. `is_final`: no caller looks at it again.
  OperandIndexingSet PartsIn(const std::optional<ReadCases>& cases, bool is_final) {
    QuestionBudget::Spend(kStepsOfVisit * evaluator_.visits());
    is_final_ = is_final;
    if (!cases) return Labelled(OperandIndexingSet(indexing_));
    OperandIndexingSet parts;
    for (const ReadCase& each : *cases) {
      std::optional<OperandIndexing> part = PartOf(each);
      if (!part) return Labelled(OperandIndexingSet(indexing_));
      AddUnlessEmpty(*std::move(part), &parts);
    }
    return Labelled(parts);
  }

 private:
  // Whether callers of the computation may know what this expression of unknowns is.
  bool MayBeKnownLater(AffineExpr value) {
    if (!value) return false;
    if (evaluator_.MayTellApart(value)) return true;
    llvm::BitVector used(evaluator_.FirstUnknown() + evaluator_.unknowns().size());
    MarkSymbols(value, &used);
    return llvm::all_of(llvm::enumerate(evaluator_.unknowns()), [&](const auto& unknown) {
      return !used.test(evaluator_.FirstUnknown() + unknown.index()) ||
             origins_.IsGiven(SourceOf(unknown.value()));
    });
  }

  // Nullopt if a bound of affine/expr/build.h is passed.
  std::optional<OperandIndexing> PartOf(const ReadCase& part) const {
    const IndexingMap& map = indexing_.map();
    Domain domain = Domain::Of(map);
    RuntimeVarIndexings bindings(indexing_.bindings().begin(), indexing_.bindings().end());
    const unsigned first = evaluator_.FirstUnknown();
    llvm::BitVector used(first + evaluator_.unknowns().size());
    if (part.value) MarkSymbols(part.value, &used);
    for (const Constraint& constraint : part.when) MarkSymbols(constraint.expr, &used);
    Exprs symbols(used.size());
    for (unsigned i = 0; i < first; ++i) symbols[i] = mlir::getAffineSymbolExpr(i, context_);
    for (const auto [i, unknown] : llvm::enumerate(evaluator_.unknowns())) {
      if (!used.test(first + i)) continue;
      symbols[first + i] =
          mlir::getAffineSymbolExpr(domain.ranges.size() + domain.runtimes.size(), context_);
      domain.runtimes.push_back({evaluator_.BoundsOf(unknown), {}});
      bindings.push_back(unknown);
    }
    bool fits = true;
    for (const Constraint& constraint : part.when) {
      fits =
          fits && domain.Constrain(Substitute(constraint.expr, {}, symbols), constraint.interval);
    }
    if (part.value) {
      fits = fits && domain.Constrain(Substitute(part.value, {}, symbols), part.chosen);
    }
    if (!fits) return std::nullopt;
    return OperandIndexing(kPartsFit, domain.MakeMap(map.results(), context_), std::move(bindings),
                           label_);
  }

  OperandIndexingSet Labelled(OperandIndexingSet set) {
    const HloInstruction* missed = evaluator_.missed();
    if (missed == nullptr && is_final_) missed = evaluator_.missed_parameter();
    for (const RuntimeVarIndexing& unknown : evaluator_.unknowns()) {
      const bool is_array = unknown.shape().rank() > 0;
      if (is_array && origins_.IsOfModuleAlone(SourceOf(unknown))) missed = unknown.instruction;
    }
    if (missed == nullptr) return set;
    OperandIndexingSet labelled;
    for (OperandIndexing each : set) {
      each.Weaken(Missed(*missed));
      labelled.Add(std::move(each));
    }
    return labelled;
  }

  const OperandIndexing& indexing_;
  ValueOrigins& origins_;
  mlir::MLIRContext* context_;
  ExactnessLabel label_;
  const PartialValues environment_;
  ElementEvaluator evaluator_;
  bool is_final_ = true;
};

class ReadsOfInstruction {
 public:
  ReadsOfInstruction(const HloInstruction& instruction, Direction direction,
                     ScatterBounds scatter_bounds, ValueOrigins& origins,
                     mlir::MLIRContext* context)
      : instruction_(instruction),
        direction_(direction),
        drops_whole_windows_(scatter_bounds == ScatterBounds::kWindow),
        origins_(origins),
        context_(context) {}

  // The parts of a map of an operand that its value depends on.
  OperandIndexingSet Restricted(const OperandIndexing& indexing, int64_t operand) {
    if (indexing.IsUnknown() || indexing.replica_map() != nullptr || indexing.IsKnownEmpty()) {
      return OperandIndexingSet(indexing);
    }
    const IndexingMap& map = indexing.map();
    Exprs result;
    Exprs read(map.results().begin(), map.results().end());
    for (int i = 0; i < map.num_dims(); ++i) {
      result.push_back(mlir::getAffineDimExpr(static_cast<unsigned>(i), context_));
    }
    if (direction_ == Direction::kInputToOutput) std::swap(result, read);
    if (QuestionBudget::IsSpent()) {
      OperandIndexing all = indexing;
      all.Weaken(ExactnessLabel::OverApproximate(QuestionBudget::Reason()));
      return OperandIndexingSet(std::move(all));
    }
    DecidedMap decided(indexing, origins_);
    return decided.PartsIn(CasesOf(operand, result, read, decided),
                           instruction_.opcode() != HloOpcode::kSelect);
  }

 private:
  // Nullopt if it is always read. `read` is the index of the operand's element.
  std::optional<ReadCases> CasesOf(int64_t operand, const Exprs& result, const Exprs& read,
                                   DecidedMap& decided) {
    switch (instruction_.opcode()) {
      case HloOpcode::kSelect:
        if (operand == 0) return CasesOfElementwise(operand, result, decided.evaluator());
        return decided.WhereChosen(OperandElement(0, result),
                                   Interval::Point(operand == 1 ? 1 : 0));
      case HloOpcode::kMultiply:
        if (!origins_.IsOfData(*instruction_.operand(operand))) return std::nullopt;
        return decided.WhereNotZero(OperandElement(1 - operand, result), {});
      case HloOpcode::kDot:
        return CasesOfDot(operand, result, read, decided);
      case HloOpcode::kScatter:
        return operand == 1 ? CasesOfIndices(result, read, decided)
                            : CasesOfScatter(operand, result, decided);
      case HloOpcode::kConvolution:
        return CasesOfConvolution(operand, result, read, decided);
      default:
        return CasesOfElementwise(operand, result, decided.evaluator());
    }
  }

  RuntimeVarIndexing OperandElement(int64_t operand, const Exprs& index) const {
    const HloInstruction& array = *instruction_.operand(operand);
    return ElementOf(array, array.shape().IsScalar() ? Exprs() : index);
  }

  std::optional<ReadCases> CasesOfElementwise(int64_t operand, const Exprs& result,
                                              ElementEvaluator& evaluator) {
    // What depends on scalars alone is what tells cases apart.
    if (!origins_.IsOfData(*instruction_.operand(operand))) return std::nullopt;
    AffineExpr without;
    std::optional<ValueCases> values =
        evaluator.EvaluateWithout(instruction_, operand, result, &without);
    if (!values) return std::nullopt;
    return CasesWhereNot(
        *std::move(values),
        [&](const ValueCase& value) {
          if (value.floats != nullptr) return true;
          return HoldsIntegers(instruction_.shape().element_type()) && value.value &&
                 !evaluator.HasUnknown(value.value);
        },
        without);
  }

  std::optional<ReadCases> CasesOfDot(int64_t operand, const Exprs& result, const Exprs& read,
                                      DecidedMap& decided) const {
    if (operand > 1) return std::nullopt;
    const int64_t other = 1 - operand;
    const llvm::SmallVector<int64_t, 4> match = DotMatch(instruction_, other);
    const DotDimensionNumbers numbers = instruction_.dot_dimension_numbers();
    const auto own = operand == 0 ? numbers.lhs_contracting_dims : numbers.rhs_contracting_dims;
    const auto others = operand == 0 ? numbers.rhs_contracting_dims : numbers.lhs_contracting_dims;
    Exprs element;
    for (const int64_t dim : match) {
      element.push_back(dim == kWholeAxis ? AffineExpr() : result[static_cast<size_t>(dim)]);
    }
    for (const auto [mine, its] : llvm::zip_equal(own, others)) {
      element[static_cast<size_t>(its)] = read[static_cast<size_t>(mine)];
    }
    if (llvm::is_contained(element, AffineExpr())) return std::nullopt;
    return decided.WhereNotZero(ElementOf(*instruction_.operand(other), element), {});
  }

  // Where no update takes the place of the operand's element.
  std::optional<ReadCases> CasesOfScatter(int64_t operand, const Exprs& result,
                                          DecidedMap& decided) {
    if (operand != 0) return std::nullopt;
    const std::shared_ptr<const Literal> replaced = origins_.ReplacedBy(instruction_, context_);
    if (replaced == nullptr) return std::nullopt;
    std::optional<ValueCases> values = decided.evaluator().EvaluateIn(*replaced, result);
    if (!values) return std::nullopt;
    const bool are_all =
        llvm::all_of(*values, [](const ValueCase& v) { return ConstantIn(v.value); });
    if (are_all) decided.SetExact();
    return CasesWhereNot(*std::move(values),
                         [](const ValueCase& value) { return ConstantIn(value.value) == 1; });
  }

  // Where the window of an index vector may go, of which some components are known.
  std::optional<ReadCases> CasesOfIndices(const Exprs& result, const Exprs& read,
                                          DecidedMap& decided) const {
    const ScatterDimensionNumbers numbers = instruction_.scatter_dimension_numbers();
    const HloInstruction& indices = *instruction_.operand(1);
    const auto vector_dim = static_cast<size_t>(numbers.index_vector_dim);
    if (vector_dim >= read.size() || !origins_.IsOfData(indices)) return std::nullopt;
    const Shape& array = instruction_.shape();
    ElementEvaluator& evaluator = decided.evaluator();
    ReadCases cases = {{}};
    bool is_restricted = false;
    for (const auto [component, dim] : llvm::enumerate(numbers.scatter_dims_to_operand_dims)) {
      Exprs element = read;
      element[vector_dim] = Constant(static_cast<int64_t>(component), context_);
      const int64_t size = ScatterWindowSize(dim);
      ReadCases next;
      for (const ValueCase& value : evaluator.Evaluate(&indices, 0, element)) {
        const bool is_known = value.value && !evaluator.HasUnknown(value.value);
        is_restricted = is_restricted || is_known;
        for (const ReadCase& before : cases) {
          Constraints when = before.when;
          llvm::append_range(when, value.when);
          if (is_known) {
            when.push_back(
                {Sub(result[static_cast<size_t>(dim)], value.value), Interval::OfSize(size)});
            if (drops_whole_windows_) {
              when.push_back({value.value, Interval::Closed(0, array.dimension(dim) - size)});
            }
          }
          next.push_back({std::move(when)});
        }
      }
      if (next.size() > kMaxValueCases) {
        evaluator.SetMissed(indices);
        return std::nullopt;
      }
      cases = std::move(next);
    }
    return is_restricted ? std::optional(std::move(cases)) : std::nullopt;
  }

  // The size of a window of a scatter along a dimension of its array.
  int64_t ScatterWindowSize(int64_t dim) const {
    const ScatterDimensionNumbers numbers = instruction_.scatter_dimension_numbers();
    const auto is_left_out = [&](int64_t k) {
      return absl::c_linear_search(numbers.inserted_window_dims, k) ||
             absl::c_linear_search(numbers.input_batching_dims, k);
    };
    if (is_left_out(dim)) return 1;
    size_t window_dim = 0;
    for (int64_t k = 0; k < dim; ++k) window_dim += is_left_out(k) ? 0 : 1;
    return instruction_.operand(2)->shape().dimension(numbers.update_window_dims[window_dim]);
  }

  // Where the other factor of an element of the input, or of the kernel, is not 0.
  std::optional<ReadCases> CasesOfConvolution(int64_t operand, const Exprs& result,
                                              const Exprs& read, DecidedMap& decided) const {
    const ConvolutionDimensionNumbers* numbers = instruction_.convolution_dimension_numbers();
    const Window* window = instruction_.window();
    if (operand > 1 || numbers == nullptr || window == nullptr) return std::nullopt;
    const HloInstruction* other = instruction_.operand(1 - operand);
    if (instruction_.batch_group_count() != 1 || instruction_.is_sparse()) {
      decided.evaluator().SetMissed(*other);
      return std::nullopt;
    }
    Exprs element(static_cast<size_t>(other->shape().rank()));
    const bool is_of_kernel = operand == 0;
    const int64_t groups = instruction_.feature_group_count();
    const HloInstruction* kernel = instruction_.operand(1);
    const int64_t features = kernel->shape().dimension(numbers->kernel_input_feature);
    const int64_t filters = kernel->shape().dimension(numbers->kernel_output_feature);
    if (features <= 0 || groups <= 0 || filters < groups) return std::nullopt;
    const AffineExpr filter = result[numbers->output_feature];
    if (is_of_kernel) {
      element[numbers->kernel_input_feature] = Mod(read[numbers->input_feature], features);
      element[numbers->kernel_output_feature] = filter;
    } else {
      // A group of filters has features of its own.
      element[numbers->input_batch] = result[numbers->output_batch];
      element[numbers->input_feature] = Add(Scale(FloorDiv(filter, filters / groups), features),
                                            read[numbers->kernel_input_feature]);
    }
    Constraints inside;
    for (const auto [i, axis] : llvm::enumerate(window->dimensions)) {
      // input * base_dilation = result * stride - padding_low + k * window_dilation, and k is counted from the end
      // in a window that is reversed.
      const AffineExpr begin = Sub(Scale(result[numbers->output_spatial[i]], axis.stride),
                                   Constant(axis.padding_low, context_));
      const auto reversed = [&](AffineExpr k) {
        return axis.window_reversal ? Sub(Constant(axis.size - 1, context_), k) : k;
      };
      const int64_t size =
          is_of_kernel ? axis.size : other->shape().dimension(numbers->input_spatial[i]);
      AffineExpr at;
      if (is_of_kernel) {
        at = reversed(
            FloorDiv(Sub(Scale(read[numbers->input_spatial[i]], axis.base_dilation), begin),
                     axis.window_dilation));
        element[numbers->kernel_spatial[i]] = at;
      } else {
        at = FloorDiv(
            Add(begin, Scale(reversed(read[numbers->kernel_spatial[i]]), axis.window_dilation)),
            axis.base_dilation);
        element[numbers->input_spatial[i]] = at;
      }
      if (!at) return std::nullopt;
      if (!decided.evaluator().RangeOf(at, {}).IsSubsetOf(Interval::OfSize(size))) {
        inside.push_back({at, Interval::OfSize(size)});
      }
    }
    if (llvm::is_contained(element, AffineExpr())) return std::nullopt;
    return decided.WhereNotZero(ElementOf(*other, element), inside);
  }

  // The cases for which `is_decided` does not hold; nullopt if it holds for none, or if cases are told
  // apart by `without`.
  std::optional<ReadCases> CasesWhereNot(ValueCases values,
                                         llvm::function_ref<bool(const ValueCase&)> is_decided,
                                         AffineExpr without = {}) {
    ValueCases cases;
    bool is_restricted = false;
    for (ValueCase& value : values) {
      const bool is_told_apart = llvm::any_of(value.when, [&](const Constraint& constraint) {
        return without && constraint.expr.isFunctionOfSymbol(
                              llvm::cast<mlir::AffineSymbolExpr>(without).getPosition());
      });
      if (is_told_apart) return std::nullopt;
      if (is_decided(value)) {
        is_restricted = true;
        continue;
      }
      cases.push_back({std::move(value.when), Constant(1, context_)});
    }
    if (!is_restricted) return std::nullopt;
    ReadCases read;
    for (ValueCase& each : MergeCases(std::move(cases))) read.push_back({std::move(each.when)});
    return read;
  }

  const HloInstruction& instruction_;
  Direction direction_;
  bool drops_whole_windows_;
  ValueOrigins& origins_;
  mlir::MLIRContext* context_;
};

// Whether runtime variable `i` is a predicate that stands in the domain and nowhere else: that of a select, or
// whether a factor is not 0.
bool IsPredicate(const OperandIndexing& indexing, int i) {
  const RuntimeVarIndexing& binding = indexing.bindings()[i];
  if (binding.value.kind() == ValueFunction::Kind::kIsNotZero) return true;
  if (!IsPred(binding.shape().element_type()) || binding.shape().rank() == 0) return false;
  const unsigned symbol = static_cast<unsigned>(indexing.map().num_ranges() + i);
  const auto uses = [&](AffineExpr expr) { return expr.isFunctionOfSymbol(symbol); };
  return llvm::none_of(indexing.map().results(), uses) &&
         llvm::none_of(indexing.bindings(),
                       [&](const RuntimeVarIndexing& each) {
                         return llvm::any_of(each.element, uses) ||
                                (each.device && uses(each.device));
                       }) &&
         indexing.replica_map() == nullptr;
}

OperandIndexing WithoutRuntime(const OperandIndexing& indexing, int i) {
  const IndexingMap& map = indexing.map();
  const int symbol = map.num_ranges() + i;
  Exprs symbols(map.num_symbols());
  for (int k = 0; k < map.num_symbols(); ++k) {
    symbols[k] = mlir::getAffineSymbolExpr(k > symbol ? k - 1 : k, map.context());
  }
  Domain domain = Domain::Of(map);
  domain.runtimes.erase(domain.runtimes.begin() + i);
  ExactnessLabel label = indexing.label();
  Constraints constraints = std::move(domain.constraints);
  domain.constraints.clear();
  for (Constraint& constraint : constraints) {
    if (constraint.expr.isFunctionOfSymbol(static_cast<unsigned>(symbol))) {
      label = ExactnessLabel::Weaker(
          label, ExactnessLabel::OverApproximate("a predicate that is not known"));
      continue;
    }
    domain.constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
  }
  Exprs results;
  for (AffineExpr result : map.results()) results.push_back(Substitute(result, {}, symbols));
  RuntimeVarIndexings bindings(indexing.bindings().begin(), indexing.bindings().end());
  bindings.erase(bindings.begin() + i);
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& expr : binding.element) expr = Substitute(expr, {}, symbols);
  }
  return OperandIndexing(kPartsFit, domain.MakeMap(results, map.context()), std::move(bindings),
                         std::move(label));
}

// With a label that says that more may be known of a predicate than was found.
OperandIndexing WithLabelOfMissed(OperandIndexing indexing, ValueOrigins& origins,
                                  const RuntimeVarIndexing& predicate) {
  if (origins.IsPartlyOfModule(*predicate.instruction) ||
      origins.IsPartlyOfModule(SourceOf(predicate))) {
    indexing.Weaken(Missed(*predicate.instruction));
  }
  return indexing;
}

}  // namespace

bool RestrictToDependence(const HloInstruction& instruction, Direction direction,
                          ScatterBounds scatter_bounds, ValueOrigins& origins,
                          mlir::MLIRContext* context, InstructionIndexing* entries) {
  if (origins.MayHideDecision(instruction)) {
    for (IndexingEntry& entry : *entries) {
      OperandIndexingSet weakened;
      for (OperandIndexing each : entry.indexing) {
        if (!each.IsUnknown()) each.Weaken(Missed(instruction));
        weakened.Add(std::move(each));
      }
      entry.indexing = std::move(weakened);
    }
    return true;
  }
  if (!origins.MayDecideReads(instruction)) return false;
  ReadsOfInstruction reads(instruction, direction, scatter_bounds, origins, context);
  bool is_restricted = false;
  for (IndexingEntry& entry : *entries) {
    OperandIndexingSet restricted;
    for (const OperandIndexing& indexing : entry.indexing) {
      restricted.Add(reads.Restricted(indexing, entry.operand));
    }
    is_restricted = is_restricted || restricted != entry.indexing;
    entry.indexing = std::move(restricted);
  }
  std::erase_if(*entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  return is_restricted;
}

bool AreReadsDecided(const HloInstruction& instruction, ScatterBounds scatter_bounds,
                     ValueOrigins& origins, mlir::MLIRContext* context) {
  if (!origins.MayDecideReads(instruction)) return false;
  absl::StatusOr<InstructionIndexing> entries =
      OperationMaps(instruction, Direction::kOutputToInput, context, IndexingOptions());
  return !entries.ok() || RestrictToDependence(instruction, Direction::kOutputToInput,
                                               scatter_bounds, origins, context, &*entries);
}

void DecidePredicates(ValueOrigins& origins, OperandIndexingSet* set) {
  // The next predicate before runtime variable `end`. One in a loop whose iterations have no number yet is for
  // who knows the loop.
  const auto find = [](const OperandIndexing& indexing, int end) {
    for (int i = 0; i < end; ++i) {
      const RuntimeVarIndexing& binding = indexing.bindings()[i];
      const bool is_numbered = static_cast<int64_t>(binding.element.size()) ==
                               binding.NumLoops() + binding.shape().rank();
      if (is_numbered && IsPredicate(indexing, i)) return i;
    }
    return -1;
  };
  const auto count = [](const OperandIndexing& indexing) { return indexing.map().num_runtimes(); };
  if (llvm::all_of(*set,
                   [&](const OperandIndexing& each) { return find(each, count(each)) < 0; })) {
    return;
  }
  OperandIndexingSet decided;
  // Maps, and how many of their runtime variables are left to look at: what stays comes behind them.
  std::vector<std::pair<OperandIndexing, int>> pending;
  for (const OperandIndexing& indexing : *set) pending.emplace_back(indexing, count(indexing));
  while (!pending.empty()) {
    const auto [indexing, end] = std::move(pending.back());
    pending.pop_back();
    const int i = find(indexing, end);
    if (i < 0) {
      decided.Add(indexing);
      continue;
    }
    const RuntimeVarIndexing& binding = indexing.bindings()[i];
    const OperandIndexing without = WithoutRuntime(indexing, i);
    if (decided.size() + pending.size() >= kMaxValueCases || QuestionBudget::IsSpent()) {
      pending.emplace_back(WithLabelOfMissed(without, origins, binding), end - 1);
      continue;
    }
    DecidedMap rest(without, origins);
    const OperandIndexingSet parts =
        rest.PartsIn(rest.WhereChosen(binding, indexing.map().runtimes()[i].bounds),
                     /*is_final=*/false);
    for (const OperandIndexing& part : parts) pending.emplace_back(part, end - 1);
  }
  *set = std::move(decided);
}

bool HasPredicate(const OperandIndexingSet& set) {
  return llvm::any_of(set, [](const OperandIndexing& indexing) {
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      if (IsPredicate(indexing, i)) return true;
    }
    return false;
  });
}

void DropPredicates(ValueOrigins& origins, InstructionIndexing* entries) {
  for (IndexingEntry& entry : *entries) {
    DecidePredicates(origins, &entry.indexing);
    if (!HasPredicate(entry.indexing)) continue;
    OperandIndexingSet kept;
    for (OperandIndexing indexing : entry.indexing) {
      for (int i = indexing.map().num_runtimes(); i-- > 0;) {
        if (!IsPredicate(indexing, i)) continue;
        const RuntimeVarIndexing binding = indexing.bindings()[i];
        indexing = WithLabelOfMissed(WithoutRuntime(indexing, i), origins, binding);
      }
      kept.Add(std::move(indexing));
    }
    kept.Simplify();
    entry.indexing = std::move(kept);
  }
}

}  // namespace xla_indexing::internal
