#include "xla_indexing/gpu/requests/launch_access.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/simplify/named_ranges.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Digits of digits; what is not found by then is counted with its divisions.
constexpr int kMaxPasses = 8;

absl::Status NumbersDoNotFit() {
  return absl::OutOfRangeError(absl::StrCat(
      "the addresses, or what they are computed of, pass 2^62 bits, or there are more than ",
      FormAlgebra::kMaxVariables, " variables and digits of variables"));
}

// What hlo/memory/physical_layout.h computes with: expressions, null past int64.
struct ExprIndices {
  mlir::MLIRContext* context;

  PhysicalIndices<AffineExpr> Reshape(absl::Span<const AffineExpr> indices,
                                      absl::Span<const int64_t> from,
                                      absl::Span<const int64_t> to) const {
    AffineExpr position = Constant(0, context);
    for (size_t i = 0; i < indices.size(); ++i) {
      position = Add(Scale(position, from[i]), indices[i]);
    }
    PhysicalIndices<AffineExpr> result(to.size());
    for (size_t i = to.size(); i-- > 1;) {
      result[i] = Mod(position, to[i]);
      position = FloorDiv(position, to[i]);
    }
    if (!to.empty()) result[0] = position;
    return result;
  }
  static AffineExpr Pad(AffineExpr index, int64_t /*from*/, int64_t /*to*/) { return index; }
};

// A variable or a division, as it is.
bool IsOneTerm(const Form& form) {
  return form.constant == 0 && form.terms.size() == 1 && form.terms[0].coefficient == 1;
}

// Whether the runtime variable has one value for all points of its map.
bool IsOneValue(const OperandIndexing& indexing, int variable) {
  const int ranges = indexing.map().num_ranges();
  llvm::SmallVector<int, 2> pending = {variable};
  llvm::SmallVector<bool, 4> seen(indexing.map().num_runtimes());
  while (!pending.empty()) {
    const RuntimeVarIndexing& binding = indexing.bindings()[pending.pop_back_val()];
    for (const mlir::AffineExpr element : binding.element) {
      bool is_one = true;
      element.walk([&](mlir::AffineExpr e) {
        is_one &= !llvm::isa<mlir::AffineDimExpr>(e);
        const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(e);
        if (!symbol) return;
        const int read = static_cast<int>(symbol.getPosition()) - ranges;
        is_one &= read >= 0;
        if (read >= 0 && !seen[read]) {
          seen[read] = true;
          pending.push_back(read);
        }
      });
      if (!is_one) return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<ByteLayout> ByteLayoutOf(const Shape& array) {
  absl::StatusOr<PhysicalLayout> physical = PhysicalLayoutOf(array);
  if (!physical.ok()) {
    return absl::Status(
        physical.status().code(),
        absl::StrCat(array.ToStringWithoutLayout(), " has ", physical.status().message()));
  }
  ByteLayout result;
  result.physical = *std::move(physical);
  const DimensionVector& sizes = result.physical.sizes;
  result.strides.assign(sizes.size(), 0);
  std::optional<int64_t> stride = result.physical.width;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (!stride || *stride > FormAlgebra::kLimit) return NumbersDoNotFit();
    result.strides[axis] = *stride;
    stride = CheckedMul(*stride, std::max<int64_t>(sizes[axis], 1));
  }
  if (!stride || *stride > FormAlgebra::kLimit) return NumbersDoNotFit();
  result.size = *stride;
  return result;
}

LaunchAccessBuilder::LaunchAccessBuilder(const ThreadMapping& mapping, const LaunchThreads& threads,
                                         llvm::ArrayRef<int64_t> sizes)
    : mapping_(mapping), threads_(threads), sizes_(sizes) {
  warp_.values = {0, threads.num_warps - 1};
  for (const Variable& range : mapping.map.ranges()) {
    loops_.emplace_back().values = Clamped(range.bounds);
  }
}

// The variable as the sum of its digits, the digits within their bounds together.
void LaunchAccessBuilder::AddRoot(Root* root, LaunchAccess* access) {
  FormAlgebra& algebra = access->algebra;
  int64_t below = 1;
  for (const int64_t boundary : root->boundaries) {
    root->digits.push_back({algebra.num_variables(), below});
    root->form = algebra.Add(root->form, algebra.AddVariable(0, boundary / below - 1), below);
    below = boundary;
  }
  const auto [lower, upper] = root->values;
  root->digits.push_back({algebra.num_variables(), below});
  root->form = algebra.Add(
      root->form, algebra.AddVariable(FloorDiv(lower, below), FloorDiv(upper, below)), below);
  if (lower % below != 0 || (upper + 1) % below != 0) {
    access->constraints.push_back({root->form, root->values});
  }
}

AffineExpr LaunchAccessBuilder::VariableOf(const Root& root) const {
  return mlir::getAffineDimExpr(root.position, mapping_.map.context());
}

// What they access of an operand.
void LaunchAccessBuilder::MakeReads(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  llvm::SmallVector<AffineExpr, 4> symbols;
  for (const Root& symbol : symbols_) symbols.push_back(VariableOf(symbol));
  for (int i = 0; i < map.num_runtimes(); ++i) {
    // A value outside the interval has no point.
    const RuntimeVarIndexing& binding = indexing.bindings()[i];
    may_be_fewer_ |= !binding.ValueRange().IsSubsetOf(map.runtimes()[i].bounds);
    is_one_value_.push_back(IsOneValue(indexing, i));
    if (is_one_value_.back()) continue;
    for (const AffineExpr element : binding.element) {
      keys_.push_back(Substitute(element, elements_, symbols));
    }
  }
  for (const auto& [i, dim] : llvm::enumerate(map.dims())) {
    // The mapping itself stays within the array.
    if (Interval::OfSize(sizes_[i]).IsSubsetOf(dim.bounds)) continue;
    constraints_.push_back({elements_[i], Clamped(dim.bounds)});
  }
  const auto names = NamedRangesOf(map);
  for (const NamedRange& name : names) {
    names_.push_back(name.range);
    symbols_[name.range].value = Substitute(name.value, elements_, symbols);
  }
  for (const auto& [i, constraint] : llvm::enumerate(map.constraints())) {
    const auto gives = [i = static_cast<int>(i)](const NamedRange& name) {
      return name.constraint == i;
    };
    if (llvm::any_of(names, gives)) continue;
    constraints_.push_back(
        {Substitute(constraint.expr, elements_, symbols), Clamped(constraint.interval)});
  }
  llvm::SmallVector<AffineExpr, 4> results;
  for (const AffineExpr result : map.results()) {
    results.push_back(Substitute(result, elements_, symbols));
  }
  elements_ = std::move(results);
}

// False where a number does not fit.
bool LaunchAccessBuilder::MakeExprs(const AccessedTensor& tensor) {
  elements_ = threads_.elements;
  constraints_ = threads_.constraints;
  names_.clear();
  keys_.clear();
  is_one_value_.clear();
  may_be_fewer_ = false;
  if (tensor.indexing != nullptr) MakeReads(*tensor.indexing);
  mlir::MLIRContext* const context = mapping_.map.context();
  address_ = Constant(0, context);
  if (tensor.base_count > 1) address_ = Scale(VariableOf(base_), tensor.base_step);
  const ExprIndices indices{context};
  const PhysicalIndices<AffineExpr> axes = ToPhysical(
      tensor.layout.physical, absl::MakeConstSpan(elements_.data(), elements_.size()), indices);
  for (const auto& [index, stride] : llvm::zip(axes, tensor.layout.strides)) {
    address_ = Add(address_, Scale(index, stride));
  }
  llvm::SmallVector<Interval, 8> intervals = {Interval::OfSize(threads_.NumLanes())};
  for (const Root* root : Roots()) {
    intervals.push_back(Interval::Closed(root->values.lower, root->values.upper));
  }
  ExprSimplifier simplifier(context, intervals, {});
  bool fits = true;
  const auto simplify = [&](AffineExpr* expr) {
    fits = fits && *expr;
    if (fits) *expr = simplifier.Simplify(*expr);
  };
  simplify(&address_);
  for (const int name : names_) simplify(&symbols_[name].value);
  for (auto& [expr, interval] : constraints_) simplify(&expr);
  for (AffineExpr& key : keys_) simplify(&key);
  return fits;
}

void LaunchAccessBuilder::AddNames(llvm::MutableArrayRef<Form> forms, LaunchAccess* access) {
  for (const int name : names_) {
    const Root& root = symbols_[name];
    Form& form = forms[root.position];
    form = access->algebra.FromExpr(root.value, forms);
    const ValueRange values = access->algebra.RangeOf(form);
    if (values.lower < root.values.lower || values.upper > root.values.upper) {
      access->constraints.push_back({form, root.values});
    }
  }
}

// The expressions as forms over the digits of variables.
LaunchAccess LaunchAccessBuilder::MakeForms(const AccessedTensor& tensor) {
  LaunchAccess access;
  FormAlgebra& algebra = access.algebra;
  llvm::SmallVector<Form, 8> forms = {algebra.AddVariable(0, threads_.NumLanes() - 1)};
  access.inner = 1;
  for (Root* root : Roots()) {
    root->digits.clear();
    root->form = Form();
    if (!root->value) AddRoot(root, &access);
    forms.push_back(root->form);
  }
  AddNames(forms, &access);
  // Variables past the most that there may be fail the algebra.
  const auto bit_of = [](const Root& root) {
    return VariableSet{1} << (root.digits[0].first % FormAlgebra::kMaxVariables);
  };
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (mapping_.IsVectorRange(static_cast<int>(i))) access.inner |= bit_of(loops_[i]);
  }
  for (size_t i = 0; i < is_one_value_.size(); ++i) {
    (is_one_value_[i] ? access.launch : access.free) |= bit_of(symbols_[num_ranges_ + i]);
  }
  if (tensor.base_count > 1) access.launch |= bit_of(base_);
  access.address = algebra.FromExpr(address_, forms);
  for (const auto& [expr, interval] : constraints_) {
    access.constraints.push_back({algebra.FromExpr(expr, forms), interval});
  }
  for (const AffineExpr expr : keys_) {
    const Form key = algebra.FromExpr(expr, forms);
    // Keys that are the same for all lanes tell none apart.
    if ((algebra.VariablesOf(key) & access.inner) != 0) access.keys.push_back(key);
  }
  access.width = tensor.layout.physical.width;
  access.extent = {0, tensor.layout.size + tensor.base_step * (tensor.base_count - 1)};
  access.may_be_fewer = may_be_fewer_;
  // Divisions that were needed only on the way do not count.
  llvm::SmallVector<Form*, 8> kept = {&access.address};
  for (FormConstraint& constraint : access.constraints) kept.push_back(&constraint.form);
  for (Form& key : access.keys) kept.push_back(&key);
  algebra.KeepOnly(kept);
  algebra.CheckRanges(kept);
  return access;
}

// The variables beside the lane, in the order of their positions.
llvm::SmallVector<LaunchAccessBuilder::Root*, 8> LaunchAccessBuilder::Roots() {
  llvm::SmallVector<Root*, 8> roots = {&warp_};
  for (Root& loop : loops_) roots.push_back(&loop);
  for (Root& symbol : symbols_) roots.push_back(&symbol);
  roots.push_back(&base_);
  return roots;
}

namespace {

// A division by which a form changes: floor(dividend / divisor).
struct FormQuotient {
  const Form* dividend;
  std::optional<int64_t> divisor;  // none where it does not fit
};

// The quotient that a division changes with. A digit of a quotient, (D floordiv a) mod b, changes
// with D floordiv (a*b); there is none for a digit of a mod.
std::optional<FormQuotient> QuotientOf(const FormAlgebra& algebra, const FormDivision& division) {
  const Form& dividend = division.dividend;
  if (!IsOneTerm(dividend) || dividend.terms[0].id < FormAlgebra::kMaxVariables) {
    return FormQuotient{&dividend, division.divisor};
  }
  const FormDivision& inner =
      algebra.divisions()[dividend.terms[0].id - FormAlgebra::kMaxVariables];
  if (inner.is_mod) return std::nullopt;
  return FormQuotient{&inner.dividend, CheckedMul(division.divisor, inner.divisor)};
}

// The number of values of the variable `id` after which the quotient changes, where it is such a
// number: the coefficient divides the divisor, and what is added to the multiples of the coefficient
// does not carry.
std::optional<int64_t> ValuesOfQuotient(const FormAlgebra& algebra, const FormQuotient& quotient,
                                        int id) {
  if (!quotient.divisor) return std::nullopt;
  for (const auto& term : quotient.dividend->terms) {
    const int64_t coefficient = term.coefficient;
    if (term.id != id || coefficient < 1 || *quotient.divisor % coefficient != 0) continue;
    const ValueRange sum = algebra.RangeOf(*quotient.dividend);
    const ValueRange digits = algebra.range(id);
    if (sum.lower >= Int128{coefficient} * digits.lower &&
        sum.upper < Int128{coefficient} * (Int128{digits.upper} + 1)) {
      return *quotient.divisor / coefficient;
    }
  }
  return std::nullopt;
}

// The numbers, in ascending order, without those that the one before does not divide.
llvm::SmallVector<int64_t, 4> ChainOf(llvm::SmallVector<int64_t, 8> numbers) {
  absl::c_sort(numbers);
  llvm::SmallVector<int64_t, 4> chain;
  for (const int64_t number : numbers) {
    const int64_t last = chain.empty() ? 1 : chain.back();
    if (number > last && number % last == 0) chain.push_back(number);
  }
  return chain;
}

}  // namespace

// Adds divisors of the variable to its boundaries. Whether there are new ones.
bool LaunchAccessBuilder::FindBoundaries(const FormAlgebra& algebra, Root* root) {
  if (root->values.lower < 0) return false;
  llvm::SmallVector<int64_t, 8> all(root->boundaries.begin(), root->boundaries.end());
  for (const auto& [digit, below] : root->digits) {
    for (const FormDivision& division : algebra.divisions()) {
      const std::optional<FormQuotient> quotient = QuotientOf(algebra, division);
      const std::optional<int64_t> values =
          quotient ? ValuesOfQuotient(algebra, *quotient, digit) : std::nullopt;
      const std::optional<int64_t> boundary = values ? CheckedMul(*values, below) : std::nullopt;
      if (boundary && *boundary <= root->values.upper) all.push_back(*boundary);
    }
  }
  const llvm::SmallVector<int64_t, 4> chain = ChainOf(std::move(all));
  // A chain that drops a boundary for a smaller divisor would not come to an end.
  const bool keeps = absl::c_all_of(
      root->boundaries, [&](int64_t boundary) { return llvm::is_contained(chain, boundary); });
  if (!keeps || chain.size() == root->boundaries.size()) return false;
  root->boundaries = chain;
  return true;
}

bool LaunchAccessBuilder::FindBoundaries(const LaunchAccess& access) {
  bool found = FindBoundaries(access.algebra, &warp_);
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (mapping_.IsVectorRange(static_cast<int>(i))) continue;
    found |= FindBoundaries(access.algebra, &loops_[i]);
  }
  const VariableSet whole = access.launch | access.free;
  for (Root& symbol : symbols_) {
    if (symbol.value) continue;
    if ((whole >> symbol.digits[0].first & 1) != 0) continue;
    found |= FindBoundaries(access.algebra, &symbol);
  }
  return found;
}

absl::StatusOr<LaunchAccess> LaunchAccessBuilder::Build(const AccessedTensor& tensor) {
  LaunchAccess access;
  const OperandIndexing* indexing = tensor.indexing;
  if (threads_.num_warps == 0) {
    if (threads_.num_threads > 0 && mapping_.NumBlocks() > 0) return NumbersDoNotFit();
    access.is_empty = true;
    return access;
  }
  if (mapping_.map.IsKnownEmpty() || (indexing != nullptr && indexing->IsKnownEmpty())) {
    access.is_empty = true;
    return access;
  }
  symbols_.clear();
  num_ranges_ = 0;
  base_.values = {0, tensor.base_count - 1};
  if (indexing != nullptr) {
    if (indexing->IsUnknown()) return absl::UnimplementedError(indexing->label().reason);
    if (indexing->replica_map() != nullptr) {
      return absl::UnimplementedError("it is read on other devices");
    }
    num_ranges_ = indexing->map().num_ranges();
    for (const Interval& bounds : indexing->map().SymbolBounds()) {
      if (!bounds.IsFinite()) {
        return absl::UnimplementedError(
            absl::StrCat("a variable is in ", bounds.ToString(), ", which is not finite"));
      }
      symbols_.emplace_back().values = Clamped(bounds);
    }
  }
  int position = 1;
  for (Root* root : Roots()) {
    if (root->values.lower > root->values.upper) return NumbersDoNotFit();
    root->position = position++;
    root->boundaries.clear();
  }
  if (threads_.divides_warps_of_block && threads_.warps_of_block > 1 &&
      threads_.warps_of_block < threads_.num_warps) {
    warp_.boundaries.push_back(threads_.warps_of_block);
  }
  if (!MakeExprs(tensor)) return NumbersDoNotFit();
  access = MakeForms(tensor);
  for (int pass = 1; pass < kMaxPasses && FindBoundaries(access); ++pass) {
    access = MakeForms(tensor);
  }
  if (!access.algebra.ok()) return NumbersDoNotFit();
  return access;
}

int64_t LaunchAccessBuilder::ValueOf(const Root& root, const RequestPoint& point) const {
  int64_t value = 0;
  for (const auto& [digit, multiple] : root.digits) value += point.values[digit] * multiple;
  return value;
}

WarpRequest LaunchAccessBuilder::RequestAt(const RequestPoint& point) const {
  WarpRequest request;
  const int64_t warp = ValueOf(warp_, point);
  int64_t block = warp / threads_.warps_of_block;
  for (const int64_t size : mapping_.block_sizes) {
    request.block.push_back(block % size);
    block /= size;
  }
  request.first_thread = warp % threads_.warps_of_block * threads_.warp_size;
  for (const Root& loop : loops_) request.loops.push_back(ValueOf(loop, point));
  for (const Root& symbol : symbols_) request.symbols.push_back(ValueOf(symbol, point));
  if (!base_.digits.empty()) request.base = ValueOf(base_, point);
  return request;
}

}  // namespace xla_indexing::internal
