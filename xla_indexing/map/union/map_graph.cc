#include "xla_indexing/map/union/map_graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/union/facts.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// sum in values.
struct SumInValues {
  LinearSum sum;
  Progression values;
};

LinearSum WithoutTerm(const LinearSum& sum, AffineExpr atom) {
  LinearSum without = sum;
  without.RemoveTerm(atom);
  return without;
}

// All products of the values with a factor other than 0, and nothing else; nullopt if these do not fit, or
// the values have one end.
std::optional<Progression> ProductsOf(const Progression& values, int64_t factor) {
  if (values.IsEmpty()) return values;
  if (values.interval.IsFinite()) return ExactMul(values, factor);
  const std::optional<int64_t> modulus = CheckedMul(values.residues.modulus(), factor);
  const std::optional<int64_t> residue = CheckedMul(values.residues.residue(), factor);
  if (!values.interval.IsAll() || !modulus || !residue || *modulus == kInt64Min) {
    return std::nullopt;
  }
  return Progression{Interval::All(),
                     Congruence::Of(*residue, *modulus < 0 ? -*modulus : *modulus)};
}

// All differences of the values and a constant, in the same way.
std::optional<Progression> DifferencesOf(const Progression& values, int64_t constant) {
  if (values.IsEmpty() || constant == 0) return values;
  if (values.interval.IsFinite()) {
    if (constant == kInt64Min) return std::nullopt;
    return ExactSum(-constant, {values});
  }
  if (!values.interval.IsAll()) return std::nullopt;
  return values.Sub(Progression::Point(constant));
}

// Whether the ends are so small that sums of a few of them fit.
bool IsSmall(const Interval& interval) {
  constexpr int64_t kMaxNumber = int64_t{1} << 60;
  const Interval small = Interval::Closed(-kMaxNumber, kMaxNumber);
  return (!interval.has_lower() || small.Contains(interval.lower())) &&
         (!interval.has_upper() || small.Contains(interval.upper()));
}

// e floordiv m.
struct FloorDivision {
  AffineExpr dividend;
  int64_t divisor = 1;
};

std::optional<FloorDivision> AsFloorDivision(AffineExpr atom) {
  const auto quotient = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(atom);
  if (!quotient || quotient.getKind() != mlir::AffineExprKind::FloorDiv) return std::nullopt;
  const auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(quotient.getRHS());
  if (!divisor || divisor.getValue() < 1) return std::nullopt;
  return FloorDivision{quotient.getLHS(), divisor.getValue()};
}

// floor(e / m) + g in [a, b]   is   e + m*g in [m*a, m*b + m - 1], and of -floor(e / m) the same with the
// sum and the interval negated. As often as there is a quotient.
void ReplaceQuotients(SumInValues* row) {
  for (size_t i = 0; i < row->sum.terms().size();) {
    const Term term = row->sum.terms()[i++];
    const std::optional<FloorDivision> quotient = AsFloorDivision(term.atom);
    const bool is_interval = row->values.interval.IsFinite() && !row->values.IsEmpty() &&
                             (row->values.residues.IsAll() || row->values.interval.IsPoint());
    if (!quotient || (term.coefficient != 1 && term.coefficient != -1) || !is_interval) continue;
    LinearSum sum = WithoutTerm(row->sum, term.atom);
    sum.Scale(term.coefficient);
    sum.Scale(quotient->divisor);
    sum.AddScaled(LinearSum::FromExpr(quotient->dividend), 1);
    const Interval values = row->values.interval.Mul(term.coefficient)
                                .Mul(quotient->divisor)
                                .Add(Interval::OfSize(quotient->divisor));
    if (!sum.valid() || !values.IsFinite()) continue;
    *row = {sum, {values, Congruence::All()}};
    i = 0;
  }
}

// The x of which divisor * x is one of the values; nullopt if they are no progression.
std::optional<Progression> DividedBy(const Progression& values, int64_t divisor) {
  const Congruence multiples = values.residues.Intersect(Congruence::Of(0, divisor));
  if (divisor == 1 || values.IsEmpty()) return values;
  if (multiples.IsEmpty()) return Progression::Empty();
  if (multiples.modulus() % divisor != 0) return std::nullopt;
  const Congruence residues = multiples.IsPoint() ? Congruence::Point(multiples.residue() / divisor)
                                                  : Congruence::Of(multiples.residue() / divisor,
                                                                   multiples.modulus() / divisor);
  return Progression::Of(values.interval.PreimageOfMul(divisor), residues);
}

// Writes the sum without a constant and common factors, its first coefficient positive; false if numbers
// do not fit.
bool Reduce(SumInValues* row) {
  row->sum.Sort();
  std::optional<Progression> values = DifferencesOf(row->values, row->sum.constant());
  row->sum.RemoveConstant();
  if (!values) return false;
  if (!row->sum.terms().empty()) {
    const bool is_negative = row->sum.terms().front().coefficient < 0;
    const int64_t gcd = row->sum.CoefficientGcd();
    if (is_negative) {
      row->sum.Scale(-1);
      values = ProductsOf(*values, -1);
    }
    if (!row->sum.valid() || !values) return false;
    row->sum.DivideExactly(gcd);
    values = DividedBy(*values, gcd);
  }
  if (values) row->values = *values;
  return values.has_value();
}

class GraphMaker {
 public:
  explicit GraphMaker(const IndexingMap& map)
      : context_(map.context()), num_results_(map.num_results()), piece_(map) {
    for (int i = 0; i < piece_.num_ranges; ++i) renumbered_.push_back(Range(i));
  }

  std::optional<Piece> Make() {
    const auto is_empty = [](const PieceAtom& atom) { return atom.values.IsEmpty(); };
    if (piece_.num_symbols != piece_.num_ranges || llvm::any_of(piece_.atoms, is_empty)) {
      return std::nullopt;
    }
    for (size_t i = piece_.num_variables(); i < piece_.atoms.size(); ++i) {
      AddRow(piece_.atoms[i].expr, piece_.atoms[i].values);
    }
    for (int i = 0; i < num_results_ && fits_; ++i) SolveResult(i);
    for (const SumInValues& row : rows_) fits_ = fits_ && row.sum.valid() && !HasRange(row.sum);
    if (!fits_) return std::nullopt;
    ReplaceKnownQuotients();
    for (SumInValues& row : rows_) ReplaceQuotients(&row);
    return Graph();
  }

 private:
  // A range as numerator / divisor.
  struct Solution {
    int range = 0;
    LinearSum numerator;
    int64_t divisor = 1;
  };

  // Symbols are the results, then the ranges.
  AffineExpr Result(int i) const { return mlir::getAffineSymbolExpr(i, context_); }
  AffineExpr Range(int i) const { return mlir::getAffineSymbolExpr(num_results_ + i, context_); }
  bool HasRange(AffineExpr expr) const {
    for (int i = 0; i < piece_.num_ranges; ++i) {
      if (expr.isFunctionOfSymbol(num_results_ + i)) return true;
    }
    return false;
  }
  bool HasRange(const LinearSum& sum) const {
    return llvm::any_of(sum.terms(), [&](const Term& term) { return HasRange(term.atom); });
  }

  // What the rows say, without ranges; nullopt if numbers do not fit.
  std::optional<Piece> Graph() const {
    Piece graph = piece_;
    graph.num_ranges = graph.num_symbols = num_results_;
    graph.atoms.truncate(graph.num_dims);
    graph.results.clear();
    for (int i = 0; i < num_results_; ++i) {
      graph.results.push_back(Result(i));
      graph.atoms.push_back({Result(i), {}});
    }
    for (SumInValues row : rows_) {
      if (!Reduce(&row)) return std::nullopt;
      if (row.sum.terms().empty() && row.values.Contains(0)) continue;
      if (!IsSmall(row.values.interval)) return std::nullopt;
      const AffineExpr expr = row.sum.ToExpr(context_);
      if (!expr) return std::nullopt;
      graph.Restrict(expr, row.values);
    }
    return graph;
  }

  void AddRow(AffineExpr expr, const Progression& values) {
    const AffineExpr renumbered = Substitute(expr, {}, renumbered_);
    fits_ = fits_ && renumbered;
    if (fits_) rows_.push_back({LinearSum::FromExpr(renumbered), values});
  }

  // Adds that result i is t, from which follows what its range is, where it has one that is not known.
  void SolveResult(int i) {
    AddRow(piece_.results[i], Progression::Point(0));
    if (!fits_) return;
    SumInValues& row = rows_.back();
    row.sum.AddTerm(Result(i), -1);
    for (const Solution& solution : solutions_) Replace(solution, &row);
    if (!fits_ || !row.sum.valid() || !HasRange(row.sum)) return;
    std::optional<Solution> solution;
    for (const Term& term : row.sum.terms()) {
      if (!HasRange(term.atom)) continue;
      // c*s + r = t: the only range, and nowhere else.
      fits_ = fits_ && !solution && llvm::isa<mlir::AffineSymbolExpr>(term.atom) &&
              term.coefficient != kInt64Min;
      if (!fits_) return;
      const bool is_positive = term.coefficient > 0;
      solution.emplace();
      solution->range = static_cast<int>(
          llvm::cast<mlir::AffineSymbolExpr>(term.atom).getPosition() - num_results_);
      solution->numerator = WithoutTerm(row.sum, term.atom);
      if (is_positive) solution->numerator.Scale(-1);
      solution->divisor = is_positive ? term.coefficient : -term.coefficient;
    }
    rows_.pop_back();
    for (SumInValues& other : rows_) Replace(*solution, &other);
    const std::optional<Progression> values =
        ProductsOf(piece_.atoms[piece_.num_dims + solution->range].values, solution->divisor);
    fits_ = fits_ && values && solution->numerator.valid();
    if (!fits_) return;
    rows_.push_back({solution->numerator, *values});
    solutions_.push_back(*std::move(solution));
  }

  void Replace(const Solution& solution, SumInValues* row) {
    const AffineExpr range = Range(solution.range);
    const unsigned symbol = num_results_ + solution.range;
    const bool is_in_division = llvm::any_of(row->sum.terms(), [&](const Term& term) {
      return term.atom != range && term.atom.isFunctionOfSymbol(symbol);
    });
    if (is_in_division) {
      llvm::SmallVector<AffineExpr, 8> symbols(symbol + 1);
      symbols[symbol] = LinearSum(solution.numerator).ToExpr(context_);
      const AffineExpr expr = row->sum.ToExpr(context_);
      fits_ = fits_ && solution.divisor == 1 && symbols[symbol] && expr;
      if (fits_) row->sum = LinearSum::FromExpr(Substitute(expr, {}, symbols));
      return;
    }
    const int64_t coefficient = row->sum.CoefficientOf(range);
    if (coefficient == 0) return;
    int64_t factor = coefficient;
    if (coefficient % solution.divisor == 0) {
      factor = coefficient / solution.divisor;
    } else {
      fits_ = fits_ && ScaleRow(solution.divisor, row);
    }
    row->sum.RemoveTerm(range);
    row->sum.AddScaled(solution.numerator, factor);
  }

  static bool ScaleRow(int64_t factor, SumInValues* row) {
    const std::optional<Progression> values = ProductsOf(row->values, factor);
    if (!values) return false;
    row->sum.Scale(factor);
    row->values = *values;
    return true;
  }

  // Replaces quotients by (e - c) / m. What that says of residues, as floor(d / 2) = 1 (mod 2) does of an even
  // d, may be what is needed for others.
  void ReplaceKnownQuotients() {
    for (size_t i = 0; i < rows_.size();) {
      const bool has_quotient = llvm::any_of(rows_[i].sum.terms(), [](const Term& term) {
        return AsFloorDivision(term.atom).has_value();
      });
      const std::optional<Piece> graph = has_quotient ? Graph() : std::nullopt;
      i = graph && ReplaceKnownQuotient(*graph, &rows_[i]) ? 0 : i + 1;
    }
  }

  static bool ReplaceKnownQuotient(const Piece& graph, SumInValues* row) {
    Facts facts(graph);
    if (facts.IsEmpty()) return false;
    for (const Term& term : row->sum.terms()) {
      const std::optional<FloorDivision> quotient = AsFloorDivision(term.atom);
      if (!quotient) continue;
      LinearSum dividend = LinearSum::FromExpr(quotient->dividend);
      const std::optional<int64_t> remainder =
          facts.ValuesOf(dividend).residues.ResidueModulo(quotient->divisor);
      SumInValues scaled = *row;
      if (!remainder || !ScaleRow(quotient->divisor, &scaled)) continue;
      scaled.sum.RemoveTerm(term.atom);
      dividend.SubtractConstant(*remainder);
      scaled.sum.AddScaled(dividend, term.coefficient);
      if (!scaled.sum.valid()) continue;
      *row = scaled;
      return true;
    }
    return false;
  }

  mlir::MLIRContext* context_;
  const int num_results_;
  const Piece piece_;
  llvm::SmallVector<AffineExpr, 4> renumbered_;
  std::vector<SumInValues> rows_;
  std::vector<Solution> solutions_;
  bool fits_ = true;
};

// Replaces result i by what atom n leaves of it, where its own values need not be said or the atom has
// equally spaced ones; false if that is not so, or numbers do not fit.
bool CountValuesOf(int i, size_t n, Piece* graph) {
  const AffineExpr result = graph->results[i];
  const LinearSum sum = LinearSum::FromExpr(graph->atoms[n].expr);
  const int64_t sign = sum.valid() ? sum.CoefficientOf(result) : 0;
  const bool is_in_division = llvm::any_of(sum.terms(), [&](const Term& term) {
    return term.atom != result && term.atom.isFunctionOfSymbol(i);
  });
  const Progression of_sum = graph->atoms[n].values;
  const std::optional<Int128> count = of_sum.Count();
  if ((sign != 1 && sign != -1) || is_in_division || !count || *count < 1 || *count > kInt64Max)
    return false;
  const Progression own = graph->atoms[graph->num_dims + i].values;
  Piece without = *graph;
  without.atoms[graph->num_dims + i].values = {};
  Facts facts(without);
  if (facts.IsEmpty()) return false;
  const bool is_free = own.Contains(facts.ValuesOf(result));
  if (!is_free && of_sum.stride() < 2) return false;
  // sign * t + rest = first + step * s
  LinearSum value = WithoutTerm(sum, result);
  value.Scale(-sign);
  const Progression offsets = of_sum.Mul(sign);
  value.AddConstant(offsets.first());
  if (*count > 1) value.AddTerm(result, offsets.step());
  const AffineExpr expr = value.ToExpr(graph->context);
  if (!expr) return false;
  llvm::SmallVector<AffineExpr, 4> symbols(i + 1);
  symbols[i] = expr;
  without.atoms[graph->num_dims + i].values = {Interval::OfSize(static_cast<int64_t>(*count)),
                                               Congruence::All()};
  without.atoms.erase(without.atoms.begin() + static_cast<std::ptrdiff_t>(n));
  for (PieceAtom& atom : llvm::MutableArrayRef(without.atoms).drop_front(graph->num_variables())) {
    atom.expr = Substitute(atom.expr, {}, symbols);
    if (!atom.expr) return false;
  }
  for (AffineExpr& each : without.results) {
    each = Substitute(each, {}, symbols);
    if (!each) return false;
  }
  if (!is_free) without.atoms.push_back({expr, own});
  *graph = std::move(without);
  return true;
}

}  // namespace

std::optional<Piece> GraphOfMap(const IndexingMap& map) { return GraphMaker(map).Make(); }

std::optional<IndexingMap> MapOfGraph(Piece graph, const IndexingMap& like) {
  for (int i = 0; i < graph.num_ranges; ++i) {
    for (size_t n = graph.num_variables(); n < graph.atoms.size(); ++n) {
      if (CountValuesOf(i, n, &graph)) break;
    }
  }
  Constraints constraints;
  if (!graph.AppendConstraints(&constraints)) return std::nullopt;
  Variables variables(like.dims());
  Variables ranges(graph.num_ranges);
  for (int i = 0; i < graph.num_dims; ++i) variables[i].bounds = graph.atoms[i].values.interval;
  for (int i = 0; i < graph.num_ranges; ++i) {
    ranges[i].bounds = graph.atoms[graph.num_dims + i].values.interval;
  }
  IndexingMap map(
      kPartsFit,
      mlir::AffineMap::get(graph.num_dims, graph.num_ranges, graph.results, graph.context),
      std::move(variables), std::move(ranges), {}, std::move(constraints));
  map.Simplify();
  return map;
}

}  // namespace xla_indexing::internal
