#include "xla_indexing/gpu/internal/launch_access.h"

#include <algorithm>
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
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// Digits of digits; what is not found by then is counted with its divisions.
constexpr int kMaxPasses = 8;

absl::Status NumbersDoNotFit() {
  return absl::OutOfRangeError(absl::StrCat(
      "the addresses, or what they are computed of, pass 2^62 bits, or there are more than ",
      FormAlgebra::kMaxVariables, " variables and digits of variables"));
}

ValueRange Clamped(const Interval& interval) {
  return {
      interval.has_lower() ? std::max(interval.lower(), -FormAlgebra::kLimit)
                           : -FormAlgebra::kLimit,
      interval.has_upper() ? std::min(interval.upper(), FormAlgebra::kLimit) : FormAlgebra::kLimit};
}

// What hlo/internal/physical_layout.h computes with: forms.
struct FormIndices {
  FormAlgebra& algebra;

  PhysicalIndices<Form> Reshape(absl::Span<const Form> indices, absl::Span<const int64_t> from,
                                absl::Span<const int64_t> to) const {
    Form position;
    int64_t stride = 1;
    for (size_t i = indices.size(); i-- > 0;) {
      position = algebra.Add(position, indices[i], stride);
      stride *= from[i];
    }
    PhysicalIndices<Form> result(to.size());
    for (size_t i = to.size(); i-- > 1;) {
      result[i] = algebra.Modulo(position, to[i]);
      position = algebra.FloorDivide(position, to[i]);
    }
    if (!to.empty()) result[0] = std::move(position);
    return result;
  }
  static Form Pad(const Form& index, int64_t /*from*/, int64_t /*to*/) { return index; }
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

LaunchAccessBuilder::LaunchAccessBuilder(const ThreadMapping& mapping,
                                         llvm::ArrayRef<int64_t> sizes, int64_t warp_size)
    : mapping_(mapping),
      sizes_(sizes),
      warp_size_(warp_size),
      threads_(mapping.ThreadsPerBlock()),
      warps_of_block_(CeilDiv(threads_, warp_size)) {
  const std::optional<int64_t> warps = CheckedMul(warps_of_block_, mapping.NumBlocks());
  has_warps_ = warps.value_or(0) > 0;
  if (has_warps_) warp_.values = {0, *warps - 1};
  for (const Variable& range : mapping.map.ranges()) {
    loops_.emplace_back().values = Clamped(range.bounds);
  }
}

// The variable as the sum of its digits, the digits within their bounds together.
void LaunchAccessBuilder::AddRoot(Root* root, LaunchAccess* access) {
  FormAlgebra& algebra = access->algebra;
  root->digits.clear();
  root->form = Form();
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

// Elements that the threads compute, and where they do.
void LaunchAccessBuilder::AddThreads(LaunchAccess* access) {
  FormAlgebra& algebra = access->algebra;
  const int lane_id = algebra.num_variables();
  const Form lane = algebra.AddVariable(0, std::min(warp_size_, threads_) - 1);
  access->inner |= VariableSet{1} << lane_id;
  AddRoot(&warp_, access);
  for (size_t i = 0; i < loops_.size(); ++i) {
    AddRoot(&loops_[i], access);
    if (mapping_.IsVectorRange(static_cast<int>(i)) && algebra.ok()) {
      access->inner |= VariableSet{1} << loops_[i].digits[0].first;
    }
  }
  Form thread = lane;
  Form block = warp_.form;
  if (warps_of_block_ > 1) {
    thread = algebra.Add(lane, algebra.Modulo(warp_.form, warps_of_block_), warp_size_);
    block = algebra.FloorDivide(warp_.form, warps_of_block_);
    if (threads_ % warp_size_ != 0) access->constraints.push_back({thread, {0, threads_ - 1}});
  }
  llvm::SmallVector<Form, 4> dims(mapping_.map.num_dims());
  const auto delinearize = [&](const Form& id, llvm::ArrayRef<int> coordinates,
                               llvm::ArrayRef<int64_t> sizes) {
    int64_t stride = 1;
    for (size_t i = 0; i < coordinates.size(); ++i) {
      Form& coordinate = dims[coordinates[i]];
      coordinate = stride == 1 ? id : algebra.FloorDivide(id, stride);
      if (i + 1 < coordinates.size()) coordinate = algebra.Modulo(coordinate, sizes[i]);
      stride *= sizes[i];
      const Interval& bounds = mapping_.map.dims()[coordinates[i]].bounds;
      if (bounds != Interval::OfSize(sizes[i])) {
        access->constraints.push_back({coordinate, Clamped(bounds)});
      }
    }
  };
  delinearize(thread, mapping_.thread_dims, mapping_.thread_sizes);
  delinearize(block, mapping_.block_dims, mapping_.block_sizes);
  llvm::SmallVector<Form, 4> symbols;
  for (const Root& loop : loops_) symbols.push_back(loop.form);
  elements_.clear();
  for (const mlir::AffineExpr result : mapping_.map.results()) {
    elements_.push_back(algebra.FromExpr(result, dims, symbols));
  }
  for (const Constraint& constraint : mapping_.map.constraints()) {
    access->constraints.push_back(
        {algebra.FromExpr(constraint.expr, dims, symbols), Clamped(constraint.interval)});
  }
}

void LaunchAccessBuilder::AddOperand(const OperandIndexing& indexing, LaunchAccess* access) {
  FormAlgebra& algebra = access->algebra;
  const IndexingMap& map = indexing.map();
  llvm::SmallVector<Form, 4> symbols;
  for (int i = 0; i < map.num_symbols(); ++i) {
    AddRoot(&symbols_[i], access);
    symbols.push_back(symbols_[i].form);
    const int runtime = i - map.num_ranges();
    if (runtime < 0) continue;
    const VariableSet bit = VariableSet{1} << (symbols_[i].digits[0].first & 63);
    (IsOneValue(indexing, runtime) ? access->launch : access->free) |= bit;
    // A value outside the interval has no point.
    const RuntimeVarIndexing& binding = indexing.bindings()[runtime];
    access->may_be_fewer |= !binding.ValueRange().IsSubsetOf(map.runtimes()[runtime].bounds);
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    const int symbol = map.num_ranges() + i;
    if ((access->free & (VariableSet{1} << (symbols_[symbol].digits[0].first & 63))) == 0) continue;
    for (const mlir::AffineExpr element : indexing.bindings()[i].element) {
      const Form key = algebra.FromExpr(element, elements_, symbols);
      // Keys that are the same for all lanes tell none apart.
      if ((algebra.VariablesOf(key) & access->inner) != 0) access->keys.push_back(key);
    }
  }
  for (const auto& [i, dim] : llvm::enumerate(map.dims())) {
    // The mapping itself stays within the array.
    if (Interval::OfSize(sizes_[i]).IsSubsetOf(dim.bounds)) continue;
    access->constraints.push_back({elements_[i], Clamped(dim.bounds)});
  }
  for (const Constraint& constraint : map.constraints()) {
    access->constraints.push_back(
        {algebra.FromExpr(constraint.expr, elements_, symbols), Clamped(constraint.interval)});
  }
  results_.clear();
  for (const mlir::AffineExpr result : map.results()) {
    results_.push_back(algebra.FromExpr(result, elements_, symbols));
  }
}

void LaunchAccessBuilder::AddAddress(const AccessedTensor& tensor, LaunchAccess* access) {
  FormAlgebra& algebra = access->algebra;
  if (tensor.base_count > 1) {
    AddRoot(&base_, access);
    access->launch |= VariableSet{1} << (base_.digits[0].first & 63);
    access->address = algebra.Add(access->address, base_.form, tensor.base_step);
  }
  const llvm::ArrayRef<Form> indices = tensor.indexing == nullptr ? elements_ : results_;
  FormIndices forms{algebra};
  const PhysicalIndices<Form> axes = ToPhysical(
      tensor.layout.physical, absl::MakeConstSpan(indices.data(), indices.size()), forms);
  for (const auto& [index, stride] : llvm::zip(axes, tensor.layout.strides)) {
    access->address = algebra.Add(access->address, index, stride);
  }
  access->width = tensor.layout.physical.width;
  access->extent = {0, tensor.layout.size + tensor.base_step * (tensor.base_count - 1)};
}

// Divisors of variables that make a chain. Whether there are new ones.
bool LaunchAccessBuilder::FindBoundaries(const LaunchAccess& access) {
  const llvm::ArrayRef<FormDivision> divisions = access.algebra.divisions();
  bool found = false;
  const auto look_at = [&](Root* root) {
    if (root->values.lower < 0) return;
    llvm::SmallVector<int64_t, 8> all(root->boundaries.begin(), root->boundaries.end());
    for (const auto& [digit, below] : root->digits) {
      for (const FormDivision& division : divisions) {
        const Form& dividend = division.dividend;
        if (!IsOneTerm(dividend)) continue;
        const Form* of = &dividend;
        std::optional<int64_t> divisor = division.divisor;
        // A digit of a quotient, (D floordiv a) mod b, changes with D floordiv (a*b).
        if (const int id = dividend.terms[0].id; id >= FormAlgebra::kMaxVariables) {
          const FormDivision& quotient = divisions[id - FormAlgebra::kMaxVariables];
          if (quotient.is_mod) continue;
          of = &quotient.dividend;
          divisor = CheckedMul(*divisor, quotient.divisor);
        }
        for (const auto& [id, coefficient] : of->terms) {
          if (id != digit || !divisor || coefficient < 1 || *divisor % coefficient != 0) continue;
          // What is added to the multiples of the coefficient does not carry.
          const ValueRange sum = access.algebra.RangeOf(*of);
          const ValueRange digits = access.algebra.range(id);
          if (sum.lower < coefficient * digits.lower ||
              sum.upper - coefficient * digits.upper >= coefficient) {
            continue;
          }
          const std::optional<int64_t> boundary = CheckedMul(*divisor / coefficient, below);
          if (boundary && *boundary <= root->values.upper) all.push_back(*boundary);
        }
      }
    }
    absl::c_sort(all);
    llvm::SmallVector<int64_t, 4> chain;
    for (const int64_t divisor : all) {
      const int64_t last = chain.empty() ? 1 : chain.back();
      if (divisor > last && divisor % last == 0) chain.push_back(divisor);
    }
    // A chain that drops a boundary for a smaller divisor would not come to an end.
    const bool keeps = absl::c_all_of(
        root->boundaries, [&](int64_t boundary) { return llvm::is_contained(chain, boundary); });
    if (!keeps || chain.size() == root->boundaries.size()) return;
    root->boundaries = chain;
    found = true;
  };
  look_at(&warp_);
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (!mapping_.IsVectorRange(static_cast<int>(i))) look_at(&loops_[i]);
  }
  const VariableSet whole = access.launch | access.free;
  for (Root& symbol : symbols_) {
    if ((whole >> symbol.digits[0].first & 1) == 0) look_at(&symbol);
  }
  return found;
}

absl::StatusOr<LaunchAccess> LaunchAccessBuilder::Build(const AccessedTensor& tensor) {
  LaunchAccess access;
  const OperandIndexing* indexing = tensor.indexing;
  if (!has_warps_) {
    if (threads_ > 0 && mapping_.NumBlocks() > 0) return NumbersDoNotFit();
    access.is_empty = true;
    return access;
  }
  if (mapping_.map.IsKnownEmpty() || (indexing != nullptr && indexing->IsKnownEmpty())) {
    access.is_empty = true;
    return access;
  }
  warp_.boundaries.clear();
  for (Root& loop : loops_) loop.boundaries.clear();
  symbols_.clear();
  base_.values = {0, tensor.base_count - 1};
  if (indexing != nullptr) {
    if (indexing->IsUnknown()) return absl::UnimplementedError(indexing->label().reason);
    if (indexing->replica_map() != nullptr) {
      return absl::UnimplementedError("it is read on other devices");
    }
    for (const Interval& bounds : indexing->map().SymbolBounds()) {
      if (!bounds.IsFinite()) {
        return absl::UnimplementedError(
            absl::StrCat("a variable is in ", bounds.ToString(), ", which is not finite"));
      }
      symbols_.emplace_back().values = Clamped(bounds);
    }
  }
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    access = LaunchAccess();
    AddThreads(&access);
    if (indexing != nullptr) AddOperand(*indexing, &access);
    AddAddress(tensor, &access);
    if (!access.algebra.ok()) break;
    // What came and went on the way does not count.
    llvm::SmallVector<Form*, 8> forms = {&access.address};
    for (FormConstraint& constraint : access.constraints) forms.push_back(&constraint.form);
    for (Form& key : access.keys) forms.push_back(&key);
    access.algebra.KeepOnly(forms);
    if (pass + 1 == kMaxPasses || !FindBoundaries(access)) return access;
  }
  // Too many digits are no reason to give up.
  return NumbersDoNotFit();
}

int64_t LaunchAccessBuilder::ValueOf(const Root& root, const RequestPoint& point) const {
  int64_t value = 0;
  for (const auto& [digit, multiple] : root.digits) value += point.values[digit] * multiple;
  return value;
}

WarpRequest LaunchAccessBuilder::RequestAt(const RequestPoint& point) const {
  WarpRequest request;
  const int64_t warp = ValueOf(warp_, point);
  int64_t block = warp / warps_of_block_;
  for (const int64_t size : mapping_.block_sizes) {
    request.block.push_back(block % size);
    block /= size;
  }
  request.first_thread = warp % warps_of_block_ * warp_size_;
  for (const Root& loop : loops_) request.loops.push_back(ValueOf(loop, point));
  for (const Root& symbol : symbols_) request.symbols.push_back(ValueOf(symbol, point));
  if (!base_.digits.empty()) request.base = ValueOf(base_, point);
  return request;
}

}  // namespace xla_indexing::internal
