#include "xla_indexing/ops/values/fold_runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What takes the place of one runtime variable: values with conditions, and the runtime variables
// that they are functions of.
struct FoldedVariable {
  ValueCases cases;
  RuntimeVarIndexings unknowns;
  // The values that these may have.
  std::vector<Interval> values;
  // The variable stays, bound to the only unknown with its own value function.
  bool is_rebinding = false;
};

// The cases of the value function of an expression, that can have values in `range`.
ValueCases ApplyValueFunction(const ValueFunction& function, const ValueCase& argument,
                              const Interval& range, mlir::MLIRContext* context) {
  const auto piece = [&](const Interval& where, AffineExpr value) {
    Constraints when = argument.when;
    when.push_back({argument.value, where});
    return ValueCase{std::move(when), value};
  };
  if (function.kind() == ValueFunction::Kind::kAsIs ||
      range.IsSubsetOf(Interval::Closed(function.lower(), function.upper()))) {
    return {argument};
  }
  const bool is_clamp = function.kind() == ValueFunction::Kind::kClamp;
  AffineExpr below = Constant(is_clamp ? function.lower() : function.upper(), context);
  AffineExpr above = Constant(function.upper(), context);
  return {piece(Interval::AtMost(function.lower()).Sub(1), below),
          piece(Interval::Closed(function.lower(), function.upper()), argument.value),
          piece(Interval::AtLeast(function.upper()).Add(1), above)};
}

// Leaves out the unknowns that no value mentions, and numbers the others from `first` on.
void KeepUsedUnknowns(unsigned first, FoldedVariable* replacement, mlir::MLIRContext* context) {
  llvm::BitVector used(first + replacement->unknowns.size());
  for (const ValueCase& value_case : replacement->cases) {
    MarkSymbols(value_case.value, &used);
    for (const Constraint& constraint : value_case.when) MarkSymbols(constraint.expr, &used);
  }
  llvm::SmallVector<AffineExpr, 8> symbols(used.size());
  RuntimeVarIndexings kept;
  std::vector<Interval> values;
  for (size_t i = 0; i < replacement->unknowns.size(); ++i) {
    if (!used.test(first + i)) continue;
    symbols[first + i] = mlir::getAffineSymbolExpr(first + kept.size(), context);
    kept.push_back(std::move(replacement->unknowns[i]));
    values.push_back(replacement->values[i]);
  }
  for (ValueCase& value_case : replacement->cases) {
    value_case.value = Substitute(value_case.value, {}, symbols);
    for (Constraint& constraint : value_case.when) {
      constraint.expr = Substitute(constraint.expr, {}, symbols);
    }
  }
  replacement->unknowns = std::move(kept);
  replacement->values = std::move(values);
}

// Whether more is known of the values of an unknown than that they are of its type, so that the value
// function makes no difference.
bool IsNarrowed(const ElementEvaluator& evaluator, const ValueCase& unknown,
                const RuntimeVarIndexing& binding) {
  const auto symbol = llvm::cast<mlir::AffineSymbolExpr>(unknown.value);
  const RuntimeVarIndexing& source =
      evaluator.unknowns()[symbol.getPosition() - evaluator.FirstUnknown()];
  const Interval values = evaluator.BoundsOf(source);
  const bool is_same =
      binding.value.kind() == ValueFunction::Kind::kAsIs ||
      values.IsSubsetOf(Interval::Closed(binding.value.lower(), binding.value.upper()));
  return is_same && values != source.ValueRange();
}

// What runtime variable `i` can be replaced by.
std::optional<FoldedVariable> FindReplacement(const OperandIndexing& indexing, int i,
                                              const FoldOptions& options) {
  const IndexingMap& map = indexing.map();
  const RuntimeVarIndexing& binding = indexing.bindings()[i];
  const ElementType type = binding.shape().element_type();
  if (map.IsKnownEmpty() || !(IsIntegral(type) || IsPred(type)) ||
      binding.value.kind() == ValueFunction::Kind::kIsNotZero) {
    return std::nullopt;
  }
  Domain domain = Domain::Of(map);
  domain.runtimes.truncate(i);
  if (binding.value.kind() == ValueFunction::Kind::kIterations) {
    const CallPath path(binding.call_path.begin(), binding.call_path.end());
    std::optional<ValueCases> iterations =
        options.environment->Iterations({*binding.instruction, path, binding.element}, domain);
    if (!iterations) return std::nullopt;
    FoldedVariable replacement;
    replacement.cases = *std::move(iterations);
    return replacement;
  }
  // What nothing is known of stays as it is.
  if (!options.rebind_through_data_movement && binding.call_path.empty() &&
      !MayBeFollowed(*binding.instruction)) {
    return std::nullopt;
  }
  ElementEvaluator evaluator(std::move(domain), map.context(), *options.environment);
  evaluator.AssumeOfUnknowns(options.assumption);
  FoldedVariable replacement;
  const ValueCases values =
      evaluator.Evaluate(binding.instruction, binding.leaf, binding.element, binding.call_path);
  const bool has_unknowns = llvm::any_of(
      values, [&](const ValueCase& value) { return evaluator.HasUnknown(value.value); });
  const bool is_unknown = has_unknowns && values.size() == 1 &&
                          values[0].value.getKind() == mlir::AffineExprKind::SymbolId;
  const bool are_told_apart = llvm::all_of(
      values, [&](const ValueCase& value) { return evaluator.MayTellApart(value.value); });
  if (!are_told_apart && (values.size() > 1 || !values[0].when.empty())) return std::nullopt;
  if (is_unknown && !IsNarrowed(evaluator, values[0], binding)) {
    if (!options.rebind_through_data_movement) return std::nullopt;
    replacement.is_rebinding = true;
    replacement.cases = values;
  } else {
    for (const ValueCase& value : values) {
      const Interval range = evaluator.RangeOf(value.value, value.when);
      if (range.IsEmpty()) continue;
      ValueCases pieces = ApplyValueFunction(binding.value, value, range, map.context());
      if (!are_told_apart && pieces.size() > 1) return std::nullopt;
      replacement.cases.insert(replacement.cases.end(), pieces.begin(), pieces.end());
    }
  }
  replacement.unknowns = evaluator.unknowns();
  for (RuntimeVarIndexing& unknown : replacement.unknowns) {
    replacement.values.push_back(evaluator.BoundsOf(unknown));
    unknown.device = binding.device;
  }
  KeepUsedUnknowns(evaluator.FirstUnknown(), &replacement, map.context());
  if (!replacement.is_rebinding) return replacement;
  RuntimeVarIndexing& source = replacement.unknowns.front();
  source.value = binding.value;
  replacement.values.front() = source.ValueRange();
  if (source == binding) return std::nullopt;
  return replacement;
}

// The part of `indexing` in which runtime variable `i` has the value of one case; nullopt if a
// bound of affine/expr/build.h is passed.
std::optional<OperandIndexing> ReplaceRuntimeVariable(const OperandIndexing& indexing, int i,
                                                      const ValueCase& value_case,
                                                      const FoldedVariable& replacement) {
  const RuntimeVarIndexings& unknowns = replacement.unknowns;
  const IndexingMap& map = indexing.map();
  const int position = map.num_ranges() + i;
  const int added = static_cast<int>(unknowns.size());
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  symbols[position] = value_case.value;
  for (int j = position + 1; j < map.num_symbols(); ++j) {
    symbols[j] = mlir::getAffineSymbolExpr(j - 1 + added, map.context());
  }
  Domain domain = Domain::Of(map);
  domain.constraints.clear();
  const Interval bounds = domain.runtimes[i].bounds;
  const bool is_count = indexing.bindings()[i].value.kind() == ValueFunction::Kind::kIterations;
  domain.runtimes.erase(domain.runtimes.begin() + i);
  RuntimeVarIndexings bindings(indexing.bindings().begin(), indexing.bindings().end());
  bindings.erase(bindings.begin() + i);
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& expr : binding.element) {
      expr = Substitute(expr, {}, symbols);
      if (!expr) return std::nullopt;
    }
    if (!binding.device) continue;
    binding.device = Substitute(binding.device, {}, symbols);
    if (!binding.device) return std::nullopt;
  }
  std::optional<ReplicaMap> replica_map;
  if (indexing.replica_map() != nullptr) {
    replica_map = *indexing.replica_map();
    replica_map->device = Substitute(replica_map->device, {}, symbols);
    if (!replica_map->device) return std::nullopt;
    for (Constraint& constraint : replica_map->constraints) {
      constraint.expr = Substitute(constraint.expr, {}, symbols);
      if (!constraint.expr) return std::nullopt;
    }
  }
  for (int j = 0; j < added; ++j) {
    domain.runtimes.insert(domain.runtimes.begin() + i + j, {replacement.values[j], {}});
  }
  bindings.insert(bindings.begin() + i, unknowns.begin(), unknowns.end());

  llvm::SmallVector<AffineExpr, 4> results;
  for (AffineExpr expr : map.results()) {
    results.push_back(Substitute(expr, {}, symbols));
    if (!results.back()) return std::nullopt;
  }
  const IndexingMap box = domain.MakeMap({}, map.context());
  ExprSimplifier simplifier(map.context(), box.DimBounds(), box.SymbolBounds());
  bool fits = simplifier.Range(value_case.value).IsSubsetOf(bounds) ||
              domain.Constrain(value_case.value, bounds);
  for (const Constraint& constraint : value_case.when) {
    fits = fits && domain.Constrain(constraint.expr, constraint.interval);
  }
  for (const Constraint& constraint : map.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, {}, symbols);
    fits = fits && domain.Constrain(expr, constraint.interval);
    // What is folded next may need it: a counter below the number of iterations does not wrap.
    if (!fits || !is_count) continue;
    Constraint known = {expr, constraint.interval};
    NormalizeConstraint(simplifier, known, [&](AffineExpr variable, const Interval& interval) {
      Interval* variable_bounds = domain.BoundsOf(variable);
      *variable_bounds = variable_bounds->Intersect(interval);
    });
  }
  if (!fits) return std::nullopt;
  OperandIndexing result(kPartsFit, domain.MakeMap(results, map.context()), std::move(bindings),
                         indexing.label());
  if (replica_map) result.SetReplicaMap(kPartsFit, *std::move(replica_map));
  return result;
}

// A map of which the runtime variables before `next` are done.
struct UnfinishedMap {
  OperandIndexing indexing;
  int next = 0;
};

// The pieces that `piece` falls into where its next variable is replaced; nullopt if it stays.
std::optional<std::vector<UnfinishedMap>> FoldNext(const UnfinishedMap& piece, size_t max_pieces,
                                                   const FoldOptions& options) {
  const std::optional<FoldedVariable> replacement =
      FindReplacement(piece.indexing, piece.next, options);
  if (!replacement || replacement->cases.size() > max_pieces) return std::nullopt;
  const int next = piece.next + static_cast<int>(replacement->unknowns.size());
  std::vector<UnfinishedMap> pieces;
  for (const ValueCase& value_case : replacement->cases) {
    std::optional<OperandIndexing> indexing =
        ReplaceRuntimeVariable(piece.indexing, piece.next, value_case, *replacement);
    if (!indexing) return std::nullopt;
    pieces.push_back({*std::move(indexing), next});
  }
  return pieces;
}

}  // namespace

OperandIndexingSet FoldRuntimeVariables(const OperandIndexing& indexing,
                                        const FoldOptions& options) {
  if (IsOff(Engine::kFoldRuntime)) return OperandIndexingSet(indexing);
  OperandIndexingSet done;
  std::deque<UnfinishedMap> pending;
  pending.push_back({indexing, 0});
  while (!pending.empty()) {
    UnfinishedMap piece = std::move(pending.front());
    pending.pop_front();
    if (piece.next >= piece.indexing.map().num_runtimes()) {
      if (indexing.map().num_runtimes() == 0 || options.keeps_empty) {
        done.Add(std::move(piece.indexing));
      } else {
        AddUnlessEmpty(std::move(piece.indexing), &done);
      }
      continue;
    }
    const size_t others = done.size() + pending.size();
    std::optional<std::vector<UnfinishedMap>> pieces =
        FoldNext(piece, others < kMaxFoldedPieces ? kMaxFoldedPieces - others : 0, options);
    if (!pieces) {
      ++piece.next;
      pending.push_back(std::move(piece));
      continue;
    }
    for (UnfinishedMap& part : *pieces) {
      // A restriction that leaves nothing would cost places that others need.
      if (!part.indexing.IsKnownEmpty()) pending.push_back(std::move(part));
    }
  }
  return done;
}

bool HasRuntimeVariables(const OperandIndexingSet& set) {
  return llvm::any_of(
      set, [](const OperandIndexing& indexing) { return indexing.map().num_runtimes() > 0; });
}

OperandIndexingSet FoldRuntimeVariables(const OperandIndexingSet& set, const FoldOptions& options) {
  OperandIndexingSet result;
  for (const OperandIndexing& indexing : set) {
    if (indexing.map().num_runtimes() == 0) {
      result.Add(indexing);
    } else {
      result.Add(FoldRuntimeVariables(indexing, options));
    }
  }
  return result;
}

}  // namespace xla_indexing::internal
