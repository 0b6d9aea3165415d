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

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Digits of digits; what is not found by then is counted with its divisions.
constexpr int kMaxPasses = 8;

absl::Status NumbersDoNotFit() {
  return absl::OutOfRangeError(absl::StrCat(
      "the addresses, or what they are computed of, pass 2^62 bits, or there are more than ",
      AccessProgram::kMaxVariables, " variables and digits of variables"));
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
    if (!stride || *stride > AccessProgram::kLimit) return NumbersDoNotFit();
    result.strides[axis] = *stride;
    stride = CheckedMul(*stride, std::max<int64_t>(sizes[axis], 1));
  }
  if (!stride || *stride > AccessProgram::kLimit) return NumbersDoNotFit();
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
  for (const Constraint& constraint : map.constraints()) {
    constraints_.push_back(
        {Substitute(constraint.expr, elements_, symbols), Clamped(constraint.interval)});
  }
  llvm::SmallVector<AffineExpr, 4> results;
  for (const AffineExpr result : map.results()) {
    results.push_back(Substitute(result, elements_, symbols));
  }
  elements_ = std::move(results);
}

// An expression is null if one of its numbers does not fit.
void LaunchAccessBuilder::MakeExprs(const AccessedTensor& tensor) {
  elements_ = threads_.elements;
  constraints_ = threads_.constraints;
  keys_.clear();
  is_one_value_.clear();
  may_be_fewer_ = false;
  if (tensor.indexing != nullptr) MakeReads(*tensor.indexing);
  mlir::MLIRContext* const context = mapping_.map.context();
  const ExprIndices indices{context};
  const PhysicalIndices<AffineExpr> axes = ToPhysical(
      tensor.layout.physical, absl::MakeConstSpan(elements_.data(), elements_.size()), indices);
  llvm::SmallVector<Summand, 4> summands;
  for (const auto& [index, stride] : llvm::zip(axes, tensor.layout.strides)) {
    summands.push_back({index, stride});
  }
  if (HasBase()) summands.push_back({VariableOf(base_), tensor.base_step});
  address_ = summands.empty() ? Constant(0, context) : LinearCombination(summands);
}

// The expressions over the digits of variables, compiled.
LaunchAccess LaunchAccessBuilder::MakeAccess(const AccessedTensor& tensor) {
  mlir::MLIRContext* const context = mapping_.map.context();
  llvm::SmallVector<ValueRange, 8> variables = {{0, threads_.NumLanes() - 1}};
  llvm::SmallVector<AffineExpr, 8> dims = {mlir::getAffineDimExpr(0, context)};
  llvm::SmallVector<LaunchThreads::ExprConstraint, 8> constraints;
  llvm::SmallVector<Summand, 4> digits;
  const auto add_digit = [&](Root* root, ValueRange values, int64_t multiple) {
    root->digits.push_back({static_cast<int>(variables.size()), multiple});
    digits.push_back({mlir::getAffineDimExpr(variables.size(), context), multiple});
    variables.push_back(values);
  };
  for (Root* root : Roots()) {
    root->digits.clear();
    digits.clear();
    int64_t below = 1;
    for (const int64_t boundary : root->boundaries) {
      add_digit(root, {0, boundary / below - 1}, below);
      below = boundary;
    }
    // Digits may be within their bounds together only.
    const auto [lower, upper] = root->values;
    add_digit(root, {FloorDiv(lower, below), FloorDiv(upper, below)}, below);
    dims.push_back(digits.size() == 1 ? digits.front().expr : LinearCombination(digits));
    if (lower % below != 0 || (upper + 1) % below != 0) {
      constraints.push_back({dims.back(), root->values});
    }
  }
  for (const auto& [expr, interval] : constraints_) {
    constraints.push_back({Substitute(expr, dims, {}), interval});
  }
  llvm::SmallVector<AffineExpr, 8> exprs = {Substitute(address_, dims, {})};
  for (const auto& [expr, interval] : constraints) exprs.push_back(expr);
  for (const AffineExpr key : keys_) exprs.push_back(Substitute(key, dims, {}));

  LaunchAccess access;
  access.program = AccessProgram(exprs, variables);
  const AccessProgram& program = access.program;
  if (program.exprs().empty()) return access;
  if (llvm::all_of(Roots(), [](const Root* root) { return root->boundaries.empty(); })) {
    // There are no digits yet, and these are the same expressions in fewer words.
    llvm::ArrayRef<AffineExpr> forms = program.exprs();
    address_ = forms.front();
    for (auto& [expr, interval] : constraints_) expr = (forms = forms.drop_front()).front();
    for (AffineExpr& key : keys_) key = (forms = forms.drop_front()).front();
  }
  access.inner = 1;
  const auto bit_of = [](const Root& root) { return VariableSet{1} << root.digits[0].first; };
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (mapping_.IsVectorRange(static_cast<int>(i))) access.inner |= bit_of(loops_[i]);
  }
  for (size_t i = 0; i < is_one_value_.size(); ++i) {
    (is_one_value_[i] ? access.launch : access.free) |= bit_of(symbols_[num_ranges_ + i]);
  }
  if (HasBase()) access.launch |= bit_of(base_);
  int expr = 0;
  access.address = program.program().StepOf(expr++);
  for (const LaunchThreads::ExprConstraint& constraint : constraints) {
    access.constraints.push_back({program.program().StepOf(expr++), constraint.second});
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    // Keys that are the same for all lanes tell none apart.
    const int key = program.program().StepOf(expr++);
    if ((program.VariablesOf(key) & access.inner) != 0) access.keys.push_back(key);
  }
  access.width = tensor.layout.physical.width;
  access.extent = {0, tensor.layout.size + tensor.base_step * (tensor.base_count - 1)};
  access.may_be_fewer = may_be_fewer_;
  return access;
}

// The variables beside the lane, in the order of their positions.
llvm::SmallVector<LaunchAccessBuilder::Root*, 8> LaunchAccessBuilder::Roots() {
  llvm::SmallVector<Root*, 8> roots = {&warp_};
  for (Root& loop : loops_) roots.push_back(&loop);
  for (Root& symbol : symbols_) roots.push_back(&symbol);
  if (HasBase()) roots.push_back(&base_);
  return roots;
}

namespace {

// The number of values of the variable after which the quotient floor(dividend / divisor) changes,
// where it is such a number: the coefficient divides the divisor, and what is added to the multiples of
// the coefficient does not carry.
std::optional<int64_t> ValuesOfQuotient(const AccessProgram& program, int dividend, int64_t divisor,
                                        int variable) {
  const int64_t coefficient = program.CoefficientOf(dividend, variable);
  if (coefficient < 1 || divisor % coefficient != 0) return std::nullopt;
  const ValueRange& sum = program.range(dividend);
  const ValueRange& digits = program.variable(variable);
  if (sum.lower < Int128{coefficient} * digits.lower ||
      sum.upper >= Int128{coefficient} * (Int128{digits.upper} + 1)) {
    return std::nullopt;
  }
  return divisor / coefficient;
}

// The same of the quotient that a division changes with. A digit of a quotient, (D floordiv a) mod b,
// changes with D floordiv (a*b); there is none for a digit of a mod.
std::optional<int64_t> ValuesOfDivision(const AccessProgram& program,
                                        const ExprProgram::Division& division, int variable) {
  const auto* const inner = llvm::find_if(
      program.divisions(),
      [&](const ExprProgram::Division& other) { return other.step == division.dividend; });
  if (inner == program.divisions().end()) {
    return ValuesOfQuotient(program, division.dividend, division.divisor, variable);
  }
  const std::optional<int64_t> divisor = CheckedMul(division.divisor, inner->divisor);
  if (inner->is_mod || !divisor) return std::nullopt;
  return ValuesOfQuotient(program, inner->dividend, *divisor, variable);
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
bool LaunchAccessBuilder::FindBoundaries(const AccessProgram& program, Root* root) {
  if (root->values.lower < 0) return false;
  llvm::SmallVector<int64_t, 8> all(root->boundaries.begin(), root->boundaries.end());
  for (const auto& [digit, below] : root->digits) {
    for (const ExprProgram::Division& division : program.divisions()) {
      const std::optional<int64_t> values = ValuesOfDivision(program, division, digit);
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
  bool found = FindBoundaries(access.program, &warp_);
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (mapping_.IsVectorRange(static_cast<int>(i))) continue;
    found |= FindBoundaries(access.program, &loops_[i]);
  }
  const VariableSet whole = access.launch | access.free;
  for (Root& symbol : symbols_) {
    if ((whole >> symbol.digits[0].first & 1) != 0) continue;
    found |= FindBoundaries(access.program, &symbol);
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
  if (threads_.has_blocks && threads_.warps_of_block < threads_.num_warps) {
    warp_.boundaries.push_back(threads_.warps_of_block);
  }
  MakeExprs(tensor);
  access = MakeAccess(tensor);
  for (int pass = 1; pass < kMaxPasses && FindBoundaries(access); ++pass) {
    access = MakeAccess(tensor);
  }
  if (!access.program.ok()) return NumbersDoNotFit();
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
  if (HasBase()) request.base = ValueOf(base_, point);
  return request;
}

}  // namespace xla_indexing::internal
