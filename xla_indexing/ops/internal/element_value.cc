#include "xla_indexing/ops/internal/element_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/box.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/operation_maps.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Bounds on the work for one value: instructions in a chain, and elements looked at in all.
constexpr int kMaxDepth = 64;
constexpr int kMaxVisits = 512;
// The elements of a constant that are compared with an affine function.
constexpr int64_t kMaxLiteralElements = 65536;
// The elements that a reduction may combine to one.
constexpr int64_t kMaxReducedElements = 16;

bool HoldsIntegers(ElementType type) { return IsIntegral(type) || IsPred(type); }

// `when` and one more condition; an expression stands there once.
Constraints And(Constraints when, AffineExpr expr, const Interval& interval) {
  for (Constraint& constraint : when) {
    if (constraint.expr != expr) continue;
    constraint.interval = constraint.interval.Intersect(interval);
    return when;
  }
  when.push_back({expr, interval});
  return when;
}

// Where both conditions are the same but for the interval of one expression, and the two intervals
// are one without a gap: the condition that one of the two holds.
std::optional<Constraints> EitherOf(const Constraints& a, const Constraints& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<size_t> other;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (other || a[i].expr != b[i].expr) return std::nullopt;
    other = i;
  }
  if (!other) return a;
  const Interval& x = a[*other].interval;
  const Interval& y = b[*other].interval;
  if (x.Add(1).Intersect(y).IsEmpty() && y.Add(1).Intersect(x).IsEmpty() &&
      x.Intersect(y).IsEmpty()) {
    return std::nullopt;
  }
  Constraints either = a;
  either[*other].interval = x.Union(y);
  if (either[*other].interval == Interval::All()) either.erase(either.begin() + *other);
  return either;
}

// Makes one case of those that have one value and conditions that are one.
ValueCases MergeCases(ValueCases cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (cases[i].value != cases[k].value) continue;
      std::optional<Constraints> either = EitherOf(cases[k].when, cases[i].when);
      if (!either) continue;
      cases[k].when = *std::move(either);
      cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(i));
      // The larger case may be one with others.
      i = 0;
      break;
    }
  }
  return cases;
}

// Whether an empty interval says that the conditions never hold.
bool IsNowhere(const Constraints& when) {
  return llvm::any_of(when, [](const Constraint& c) { return c.interval.IsEmpty(); });
}

// The literal, whose rank is not 0, as an affine function of the index, where it is one.
std::optional<AffineExpr> AffineLiteral(const Literal& literal, llvm::ArrayRef<AffineExpr> index) {
  const int64_t count = literal.ElementCount();
  if (count == 0 || count > kMaxLiteralElements) return std::nullopt;
  const std::optional<int64_t> origin = literal.IntegerAt(0);
  if (!origin) return std::nullopt;
  const auto sizes = literal.shape().dimensions();
  llvm::SmallVector<int64_t, 4> steps(sizes.size(), 0);
  AffineExpr value = Constant(*origin, index[0].getContext());
  int64_t stride = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    if (sizes[k] > 1) {
      const std::optional<int64_t> next = literal.IntegerAt(stride);
      const std::optional<int64_t> step = next ? CheckedSub(*next, *origin) : std::nullopt;
      if (!step) return std::nullopt;
      steps[k] = *step;
    }
    stride *= sizes[k];
    value = Add(value, Scale(index[k], steps[k]));
  }
  for (int64_t position = 0; position < count; ++position) {
    Int128 expected = *origin;
    int64_t rest = position;
    for (size_t k = sizes.size(); k-- > 0;) {
      expected += static_cast<Int128>(steps[k]) * (rest % sizes[k]);
      rest /= sizes[k];
    }
    const std::optional<int64_t> actual = literal.IntegerAt(position);
    if (!actual || *actual != expected) return std::nullopt;
  }
  return value ? std::optional<AffineExpr>(value) : std::nullopt;
}

// Whether a combiner is one operation on its two parameters for which neither their order nor that of
// the elements matters.
bool IsOrderlessCombiner(const HloInstruction& root) {
  switch (root.opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kOr:
      return root.operand(0)->opcode() == HloOpcode::kParameter &&
             root.operand(1)->opcode() == HloOpcode::kParameter &&
             root.operand(0) != root.operand(1);
    default:
      return false;
  }
}

// Operations whose result is made of elements of their operands, at places that shapes and
// attributes fix.
bool MovesElements(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
    case HloOpcode::kTuple:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool MayBeFollowed(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:  // Where it is passed there is a call.
      return false;
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kReduce:
      return true;
    default:
      return instruction.inlined_computation() != nullptr || MovesElements(instruction.opcode()) ||
             IsElementwise(instruction.opcode());
  }
}

ElementEvaluator::ElementEvaluator(Domain domain, mlir::MLIRContext* context, LoopState loop)
    : domain_(std::move(domain)),
      context_(context),
      loop_(std::move(loop)),
      first_unknown_(domain_.ranges.size() + domain_.runtimes.size()) {
  domain_.constraints.clear();
}

bool ElementEvaluator::HasUnknown(AffineExpr expr) const {
  llvm::BitVector used(first_unknown_ + unknowns_.size());
  MarkSymbols(expr, &used);
  return used.find_next(static_cast<int>(first_unknown_) - 1) >= 0;
}

Interval ElementEvaluator::RangeOf(AffineExpr expr, const Constraints& when) const {
  if (!expr) return Interval::All();
  Domain domain = domain_;
  for (const RuntimeVarIndexing& unknown : unknowns_) {
    domain.runtimes.push_back({ValuesOf(unknown), {}});
  }
  for (const Constraint& constraint : when) {
    if (!domain.Constrain(constraint.expr, constraint.interval)) return Interval::All();
  }
  IndexingMap map = domain.MakeMap({expr}, context_);
  if (!map.constraints().empty()) map.Simplify({.keep_variables = true});
  if (map.IsKnownEmpty()) return Interval::Empty();
  ExprSimplifier simplifier(context_, map.DimBounds(), map.SymbolBounds());
  return simplifier.Range(map.results()[0]);
}

ValueCases ElementEvaluator::Evaluate(const HloInstruction* instruction, int64_t leaf,
                                      llvm::ArrayRef<AffineExpr> element, CallPath path) {
  return EvaluateWhere({instruction, leaf, {element.begin(), element.end()}, std::move(path)}, {});
}

ValueCases ElementEvaluator::EvaluateWhere(const Element& element, const Constraints& when) {
  if (depth_ >= kMaxDepth || visits_ >= kMaxVisits) return Unknown(element, when);
  ++depth_;
  ++visits_;
  std::optional<ValueCases> cases = Follow(element, when);
  --depth_;
  if (!cases || cases->size() > kMaxCases) return Unknown(element, when);
  return *std::move(cases);
}

ValueCases ElementEvaluator::Unknown(const Element& element, const Constraints& when) {
  RuntimeVarIndexing unknown;
  unknown.instruction = element.instruction;
  unknown.leaf = element.leaf;
  unknown.call_path = element.path;
  unknown.element.assign(element.index.begin(), element.index.end());
  const auto index = llvm::find(unknowns_, unknown) - unknowns_.begin();
  if (index == static_cast<std::ptrdiff_t>(unknowns_.size())) {
    unknowns_.push_back(std::move(unknown));
  }
  return {{when, mlir::getAffineSymbolExpr(first_unknown_ + index, context_)}};
}

std::optional<ValueCases> ElementEvaluator::Follow(const Element& element,
                                                   const Constraints& when) {
  const HloOpcode opcode = element.instruction->opcode();
  if (element.path.empty() && !MayBeFollowed(*element.instruction)) return std::nullopt;
  if (opcode == HloOpcode::kConstant) return FollowConstant(element, when);
  if (opcode == HloOpcode::kIota) return FollowIota(element, when);
  if (opcode == HloOpcode::kParameter) return FollowParameter(element, when);
  if (opcode == HloOpcode::kDynamicSlice) return FollowDynamicSlice(element, when);
  if (element.instruction->inlined_computation() != nullptr) return FollowCall(element, when);
  if (MovesElements(opcode)) return FollowMovement(element, when);
  if (opcode == HloOpcode::kSelect) return FollowSelect(element, when);
  if (opcode == HloOpcode::kReduce) return FollowReduce(element, when);
  if (IsElementwise(opcode)) return FollowArithmetic(element, when);
  return std::nullopt;
}

std::optional<ValueCases> ElementEvaluator::FollowConstant(const Element& element,
                                                           const Constraints& when) {
  const Literal* literal = element.instruction->literal();
  if (literal == nullptr || literal->IsElided() || !literal->shape().IsArray()) {
    return std::nullopt;
  }
  if (element.index.empty()) {
    const std::optional<int64_t> value = literal->IntegerAt(int64_t{0});
    if (!value) return std::nullopt;
    return ValueCases{{when, Constant(*value, context_)}};
  }
  if (const std::optional<AffineExpr> value = AffineLiteral(*literal, element.index)) {
    return ValueCases{{when, *value}};
  }
  if (llvm::any_of(element.index, [this](AffineExpr expr) { return HasUnknown(expr); })) {
    return std::nullopt;
  }
  return FollowEachIndex(*literal, element.index, when);
}

std::optional<ValueCases> ElementEvaluator::FollowEachIndex(const Literal& literal,
                                                            llvm::ArrayRef<AffineExpr> index,
                                                            const Constraints& when) const {
  llvm::SmallVector<Interval, 4> box;
  for (const auto [k, expr] : llvm::enumerate(index)) {
    const int64_t size = literal.shape().dimension(static_cast<int64_t>(k));
    box.push_back(RangeOf(expr, when).Intersect(Interval::OfSize(size)));
  }
  const std::optional<int64_t> count = NumPoints(box);
  if (!count || *count > static_cast<int64_t>(kMaxCases)) return std::nullopt;
  ValueCases cases;
  llvm::SmallVector<int64_t, 4> at;
  if (!FirstPoint(box, &at)) return cases;
  do {
    const std::optional<int64_t> value = literal.IntegerAt(absl::Span<const int64_t>(at));
    if (!value) return std::nullopt;
    ValueCase& value_case = cases.emplace_back(ValueCase{when, Constant(*value, context_)});
    for (const auto [expr, interval, i] : llvm::zip_equal(index, box, at)) {
      if (!interval.IsPoint()) value_case.when.push_back({expr, Interval::Point(i)});
    }
  } while (NextPoint(box, absl::MakeSpan(at)));
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowIota(const Element& element,
                                                       const Constraints& when) {
  const int64_t dim = element.instruction->iota_dimension();
  if (dim < 0 || dim >= static_cast<int64_t>(element.index.size())) return std::nullopt;
  return Fitting(element.index[dim], element.type(), when);
}

std::optional<Constraints> ElementEvaluator::WhereMapped(const IndexingMap& map,
                                                         llvm::ArrayRef<AffineExpr> index,
                                                         const Constraints& when) const {
  Constraints where = when;
  bool is_decided = true;
  const auto restrict_to = [&](AffineExpr expr, const Interval& interval) {
    const Interval range = RangeOf(expr, where);
    const bool is_empty = range.Intersect(interval).IsEmpty();
    if (!is_empty && range.IsSubsetOf(interval)) return true;
    is_decided = is_decided && !HasUnknown(expr);
    where.push_back({expr, is_empty ? Interval::Empty() : interval});
    return !is_empty;
  };
  for (const auto [expr, dim] : llvm::zip_equal(index, map.dims())) {
    if (!restrict_to(expr, dim.bounds)) return where;
  }
  for (const Constraint& constraint : map.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, index, {});
    if (!expr) return std::nullopt;
    if (!restrict_to(expr, constraint.interval)) return where;
  }
  if (!is_decided) return std::nullopt;
  return where;
}

std::optional<ValueCases> ElementEvaluator::FollowMovement(const Element& element,
                                                           const Constraints& when) {
  IndexingOptions options;
  options.exact = true;
  options.fold_runtime_variables = false;
  const absl::StatusOr<InstructionIndexing> entries =
      OperationMaps(*element.instruction, Direction::kOutputToInput, context_, options,
                    OperandLeaf{0, element.leaf});
  if (!entries.ok()) return std::nullopt;
  ValueCases cases;
  for (const IndexingEntry& entry : *entries) {
    for (const OperandIndexing& indexing : entry.indexing) {
      const IndexingMap& map = indexing.map();
      const HloInstruction* operand = element.instruction->operand(entry.operand);
      Element source = {operand, entry.operand_leaf, {}, element.path};
      if (!indexing.IsExact() || map.num_symbols() > 0 || source.type() != element.type()) {
        return std::nullopt;
      }
      const std::optional<Constraints> where = WhereMapped(map, element.index, when);
      if (!where) return std::nullopt;
      if (IsNowhere(*where)) continue;
      for (AffineExpr result : map.results()) {
        source.index.push_back(Substitute(result, element.index, {}));
        if (!source.index.back()) return std::nullopt;
      }
      llvm::append_range(cases, EvaluateWhere(source, *where));
    }
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowParameter(const Element& element,
                                                            const Constraints& when) {
  if (element.path.empty()) return std::nullopt;
  const HloInstruction* caller = element.path.back();
  Element passed = element;
  passed.path.pop_back();
  if (caller == loop_.loop) {
    if (const AffineExpr value = loop_.value(element.leaf)) {
      return Fitting(value, element.type(), when);
    }
    if (!loop_.is_initial(element.leaf)) return std::nullopt;
    passed.instruction = caller->operand(0);
  } else if (caller->inlined_computation() == element.instruction->parent()) {
    passed.instruction = caller->operand(element.instruction->parameter_number());
  } else {
    return std::nullopt;
  }
  return EvaluateWhere(passed, when);
}

std::optional<ValueCases> ElementEvaluator::FollowCall(const Element& element,
                                                       const Constraints& when) {
  Element root = element;
  root.instruction = element.instruction->inlined_computation()->root_instruction();
  if (root.instruction == nullptr) return std::nullopt;
  root.path.push_back(element.instruction);
  ValueCases cases = EvaluateWhere(root, when);
  // What is not known inside is the call's own element, under its own name.
  llvm::BitVector used(first_unknown_ + unknowns_.size());
  for (const ValueCase& value_case : cases) {
    MarkSymbols(value_case.value, &used);
    for (const Constraint& constraint : value_case.when) MarkSymbols(constraint.expr, &used);
  }
  for (size_t i = 0; i < unknowns_.size(); ++i) {
    if (used.test(first_unknown_ + i) && unknowns_[i].call_path.size() > element.path.size()) {
      return std::nullopt;
    }
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowDynamicSlice(const Element& element,
                                                               const Constraints& when) {
  const HloInstruction& slice = *element.instruction;
  const Shape& array = slice.operand(0)->shape();
  if (slice.operand_count() != 1 + array.rank()) return std::nullopt;
  struct Partial {
    Constraints when;
    llvm::SmallVector<AffineExpr, 4> index;
  };
  std::vector<Partial> partials = {{when, {}}};
  for (int64_t i = 0; i < array.rank(); ++i) {
    const HloInstruction* start = slice.operand(1 + i);
    if (!start->shape().IsScalar()) return std::nullopt;
    AffineExpr last = Constant(array.dimension(i) - slice.shape().dimension(i), context_);
    std::vector<Partial> extended;
    for (const Partial& partial : partials) {
      for (const ValueCase& value : EvaluateWhere({start, 0, {}, element.path}, partial.when)) {
        if (!value.value || HasUnknown(value.value)) return std::nullopt;
        const std::optional<ValueCases> clamped =
            Clamp(Constant(0, context_), value.value, last, value.when);
        if (!clamped) return std::nullopt;
        for (const ValueCase& origin : *clamped) {
          AffineExpr index = Add(element.index[i], origin.value);
          if (!index) return std::nullopt;
          extended.push_back({origin.when, partial.index});
          extended.back().index.push_back(index);
        }
      }
    }
    partials = std::move(extended);
    if (partials.size() > kMaxCases) return std::nullopt;
  }
  ValueCases cases;
  for (const Partial& partial : partials) {
    llvm::append_range(
        cases, EvaluateWhere({slice.operand(0), 0, partial.index, element.path}, partial.when));
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowSelect(const Element& element,
                                                         const Constraints& when) {
  const auto operand_element = [&](int64_t i) {
    const HloInstruction* operand = element.instruction->operand(i);
    Element source = {operand, 0, element.index, element.path};
    if (operand->shape().IsScalar()) source.index.clear();
    return source;
  };
  if (!element.instruction->shape().IsArray()) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& predicate : EvaluateWhere(operand_element(0), when)) {
    const std::optional<int64_t> value = ConstantIn(predicate.value);
    if (!value) return std::nullopt;
    ValueCases chosen = EvaluateWhere(operand_element(*value != 0 ? 1 : 2), predicate.when);
    cases.insert(cases.end(), chosen.begin(), chosen.end());
    if (cases.size() > kMaxCases) return std::nullopt;
  }
  return MergeCases(std::move(cases));
}

std::optional<ValueCases> ElementEvaluator::FollowReduce(const Element& element,
                                                         const Constraints& when) {
  const HloInstruction& reduce = *element.instruction;
  if (reduce.operand_count() != 2 || reduce.to_apply() == nullptr) return std::nullopt;
  const HloInstruction* root = reduce.to_apply()->root_instruction();
  if (root == nullptr || !IsOrderlessCombiner(*root) || !HoldsIntegers(element.type())) {
    return std::nullopt;
  }
  const HloInstruction* array = reduce.operand(0);
  const HloInstruction* initial = reduce.operand(1);
  if (array->shape().element_type() != element.type() ||
      initial->shape().element_type() != element.type() ||
      root->shape().element_type() != element.type()) {
    return std::nullopt;
  }
  llvm::SmallVector<Interval, 4> box;
  Element source = {array, 0, {}, element.path};
  size_t next = 0;
  for (int64_t i = 0; i < array->shape().rank(); ++i) {
    const bool is_reduced = llvm::is_contained(reduce.dimensions(), i);
    box.push_back(is_reduced ? Interval::OfSize(array->shape().dimension(i)) : Interval::Point(0));
    source.index.push_back(is_reduced ? AffineExpr() : element.index[next++]);
  }
  const std::optional<int64_t> count = NumPoints(box);
  if (!count || *count > kMaxReducedElements) return std::nullopt;
  ValueCases cases = EvaluateWhere({initial, 0, {}, element.path}, when);
  llvm::SmallVector<int64_t, 4> at;
  if (!FirstPoint(box, &at)) return cases;
  do {
    Element each = source;
    for (size_t i = 0; i < at.size(); ++i) {
      if (!each.index[i]) each.index[i] = Constant(at[i], context_);
    }
    ValueCases combined;
    for (const ValueCase& before : cases) {
      for (const ValueCase& value : EvaluateWhere(each, before.when)) {
        if (RangeOf(value.value, value.when).IsEmpty()) continue;
        std::optional<ValueCases> result = Apply(*root, {before.value, value.value}, value.when);
        if (!result) return std::nullopt;
        llvm::append_range(combined, *result);
      }
      if (combined.size() > kMaxCases) return std::nullopt;
    }
    cases = MergeCases(std::move(combined));
  } while (NextPoint(box, absl::MakeSpan(at)));
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowArithmetic(const Element& element,
                                                             const Constraints& when) {
  struct Partial {
    Constraints when;
    llvm::SmallVector<AffineExpr, 3> values;
  };
  std::vector<Partial> partials = {{when, {}}};
  for (const HloInstruction* operand : element.instruction->operands()) {
    if (!operand->shape().IsArray() || !HoldsIntegers(operand->shape().element_type())) {
      return std::nullopt;
    }
    Element source = {operand, 0, element.index, element.path};
    if (operand->shape().IsScalar()) source.index.clear();
    std::vector<Partial> extended;
    for (const Partial& partial : partials) {
      for (ValueCase& value_case : EvaluateWhere(source, partial.when)) {
        if (!value_case.value || RangeOf(value_case.value, value_case.when).IsEmpty()) continue;
        extended.push_back({std::move(value_case.when), partial.values});
        extended.back().values.push_back(value_case.value);
      }
    }
    partials = std::move(extended);
    if (partials.size() > kMaxCases) return std::nullopt;
  }
  ValueCases cases;
  for (const Partial& partial : partials) {
    std::optional<ValueCases> result = Apply(*element.instruction, partial.values, partial.when);
    if (!result) return std::nullopt;
    cases.insert(cases.end(), result->begin(), result->end());
  }
  return MergeCases(std::move(cases));
}

std::optional<ValueCases> ElementEvaluator::Fitting(AffineExpr value, ElementType type,
                                                    const Constraints& when) const {
  if (!value || !HoldsIntegers(type)) return std::nullopt;
  // A sum of values of u64 may pass 2^64 where it passes 2^63, the end of what can be told apart.
  const Interval fitting =
      ValuesOfElementType(type).Intersect(Interval::Closed(kInt64Min, kInt64Max));
  if (!RangeOf(value, when).IsSubsetOf(fitting)) return std::nullopt;
  return ValueCases{{when, value}};
}

std::optional<ValueCases> ElementEvaluator::Split(AffineExpr expr, int64_t bound, AffineExpr low,
                                                  AffineExpr high, const Constraints& when) const {
  if (!expr || !low || !high) return std::nullopt;
  const Interval range = RangeOf(expr, when);
  if (range.IsSubsetOf(Interval::AtMost(bound))) return ValueCases{{when, low}};
  const Interval above =
      Interval::AtMost(bound).IsEmpty() ? Interval::All() : Interval::AtLeast(bound).Add(1);
  if (range.IsSubsetOf(above)) return ValueCases{{when, high}};
  if (HasUnknown(expr)) return std::nullopt;
  return ValueCases{{And(when, expr, Interval::AtMost(bound)), low},
                    {And(when, expr, above), high}};
}

std::optional<ValueCases> ElementEvaluator::Compare(const HloInstruction& instruction,
                                                    AffineExpr difference,
                                                    const Constraints& when) const {
  const absl::string_view direction = instruction.comparison_direction();
  AffineExpr yes = Constant(1, context_);
  AffineExpr no = Constant(0, context_);
  if (direction == "LT") return Split(difference, -1, yes, no, when);
  if (direction == "LE") return Split(difference, 0, yes, no, when);
  if (direction == "GT") return Split(difference, 0, no, yes, when);
  if (direction == "GE") return Split(difference, -1, no, yes, when);
  if (direction != "EQ" && direction != "NE") return std::nullopt;
  if (direction == "NE") std::swap(yes, no);
  // Below 0, then from 0 on, which is split at 0 again.
  const std::optional<ValueCases> parts = Split(difference, -1, no, yes, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == yes) result = Split(difference, 0, yes, no, part.when);
    if (!result) return std::nullopt;
    cases.insert(cases.end(), result->begin(), result->end());
  }
  return cases;
}

namespace {

// The value of an operation that an affine expression of the operands' values x and y is, where
// nothing wraps; null for all others.
AffineExpr AffineValue(const HloInstruction& instruction, AffineExpr x, bool x_is_not_negative,
                       AffineExpr y) {
  const bool is_logical = IsPred(instruction.shape().element_type());
  // The divisor, the shift or the mask.
  const std::optional<int64_t> constant = ConstantIn(y);
  const int64_t c = constant.value_or(-1);
  const bool is_shift = c >= 0 && c <= 62;
  switch (instruction.opcode()) {
    case HloOpcode::kConvert:
      return x;
    case HloOpcode::kNegate:
      return Scale(x, -1);
    case HloOpcode::kAdd:
      return is_logical ? AffineExpr() : Add(x, y);
    case HloOpcode::kSubtract:
      return is_logical ? AffineExpr() : Sub(x, y);
    case HloOpcode::kMultiply: {
      if (constant) return Scale(x, *constant);
      const std::optional<int64_t> factor = ConstantIn(x);
      return factor ? Scale(y, *factor) : AffineExpr();
    }
    case HloOpcode::kShiftLeft:
      return is_shift ? Scale(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return x_is_not_negative && is_shift ? FloorDiv(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kAnd: {
      const bool is_mask = c >= 0 && c < kInt64Max && (c & (c + 1)) == 0;
      return x_is_not_negative && is_mask ? Mod(x, c + 1) : AffineExpr();
    }
    case HloOpcode::kNot:
      return is_logical ? Sub(Constant(1, x.getContext()), x) : AffineExpr();
    default:
      return {};
  }
}

}  // namespace

std::optional<ValueCases> ElementEvaluator::Clamp(AffineExpr lower, AffineExpr value,
                                                  AffineExpr upper, const Constraints& when) const {
  const std::optional<ValueCases> at_least = Split(Sub(lower, value), 0, value, lower, when);
  if (!at_least) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *at_least) {
    const std::optional<ValueCases> at_most =
        Split(Sub(part.value, upper), 0, part.value, upper, part.when);
    if (!at_most) return std::nullopt;
    llvm::append_range(cases, *at_most);
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::Divide(const HloInstruction& instruction, AffineExpr x,
                                                   AffineExpr y, const Constraints& when) const {
  const int64_t c = ConstantIn(y).value_or(-1);
  if (c < 1) return std::nullopt;
  const bool is_quotient = instruction.opcode() == HloOpcode::kDivide;
  AffineExpr rest = Mod(x, c);
  AffineExpr floor = is_quotient ? FloorDiv(x, c) : rest;
  // Below 0, where division leaves a rest, the quotient toward zero is one more.
  AffineExpr above = floor && is_quotient ? Add(floor, Constant(1, context_))
                     : floor              ? Sub(floor, y)
                                          : AffineExpr();
  const std::optional<ValueCases> parts = Split(x, -1, above, floor, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == above) result = Split(rest, 0, floor, above, part.when);
    if (!result) return std::nullopt;
    llvm::append_range(cases, *result);
  }
  for (const ValueCase& each : cases) {
    if (!Fitting(each.value, instruction.shape().element_type(), each.when)) return std::nullopt;
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::Apply(const HloInstruction& instruction,
                                                  llvm::ArrayRef<AffineExpr> values,
                                                  const Constraints& when) {
  const ElementType type = instruction.shape().element_type();
  AffineExpr x = values[0];
  AffineExpr y = values.size() > 1 ? values[1] : AffineExpr();
  const bool is_not_negative = RangeOf(x, when).IsSubsetOf(Interval::AtLeast(0));
  switch (instruction.opcode()) {
    case HloOpcode::kCompare:
      return Compare(instruction, Sub(x, y), when);
    case HloOpcode::kAbs:
      // The least value of a signed type has no absolute value in it.
      if (!is_not_negative && !Fitting(Scale(x, -1), type, when)) return std::nullopt;
      return Split(x, -1, Scale(x, -1), x, when);
    case HloOpcode::kOr:
      if (!IsPred(type)) return std::nullopt;
      [[fallthrough]];
    case HloOpcode::kMaximum:
      return Split(Sub(x, y), 0, y, x, when);
    case HloOpcode::kSign: {
      const std::optional<ValueCases> parts =
          Split(x, -1, Constant(-1, context_), Constant(1, context_), when);
      if (!parts) return std::nullopt;
      ValueCases cases;
      for (const ValueCase& part : *parts) {
        std::optional<ValueCases> result = ValueCases{part};
        if (part.value == Constant(1, context_)) {
          result = Split(x, 0, Constant(0, context_), part.value, part.when);
        }
        if (!result) return std::nullopt;
        llvm::append_range(cases, *result);
      }
      return cases;
    }
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return Divide(instruction, x, y, when);
    case HloOpcode::kMinimum:
      return Split(Sub(x, y), 0, x, y, when);
    case HloOpcode::kClamp:
      return Clamp(x, y, values[2], when);
    case HloOpcode::kAnd:
      if (IsPred(type)) return Split(Sub(x, y), 0, x, y, when);
      [[fallthrough]];
    default:
      return Fitting(AffineValue(instruction, x, is_not_negative, y), type, when);
  }
}

}  // namespace xla_indexing::internal
