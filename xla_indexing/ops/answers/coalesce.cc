#include "xla_indexing/ops/answers/coalesce.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/union/facts.h"
#include "xla_indexing/map/union/piece.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// How many ways are tried in which the runtime variables of one map can be those of another.
constexpr int kMaxMatches = 16;
// In a walk, runtime variables are compared if there are no more maps than these.
constexpr size_t kFewMembers = 24;
// What a check takes that is none at a glance.
constexpr int64_t kStepsOfCheck = 4;
// How many maps are compared at a glance in the time of a step of the question's budget
// (base/question_budget.h).
constexpr size_t kComparedInAStep = 64;

// The map with the reader as its last dimension and the device as its last result.
IndexingMap WithDevice(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  const ReplicaMap* devices = indexing.replica_map();
  if (devices == nullptr) return map;
  Variables dims(map.dims());
  dims.push_back({devices->readers, {}});
  llvm::SmallVector<AffineExpr, 4> results(map.results());
  results.push_back(devices->device);
  Constraints constraints(map.constraints());
  constraints.append(devices->constraints.begin(), devices->constraints.end());
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                     Variables(map.runtimes()), std::move(constraints));
}

void AppendSource(const RuntimeVarIndexing& binding, llvm::SmallVectorImpl<AffineExpr>* results) {
  results->append(binding.element.begin(), binding.element.end());
  if (binding.device) results->push_back(binding.device);
}

Piece WithSources(Piece piece, const OperandIndexing& of) {
  for (const RuntimeVarIndexing& binding : of.bindings()) AppendSource(binding, &piece.results);
  return piece;
}

// Whether both are of one array and one computation.
bool AreComparable(const OperandIndexing& a, const OperandIndexing& b) {
  return !a.IsUnknown() && !b.IsUnknown() && a.map().num_dims() == b.map().num_dims() &&
         a.map().num_results() == b.map().num_results() && a.map().context() == b.map().context() &&
         (a.replica_map() == nullptr) == (b.replica_map() == nullptr);
}

bool HaveSameSource(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  return CompareSources(a, b) == 0 && a.value == b.value && !a.device == !b.device;
}

// The map of a piece made of `like`.
std::optional<OperandIndexing> FromPiece(const Piece& piece, const OperandIndexing& like) {
  const std::optional<IndexingMap> all = piece.ToMap(WithDevice(like));
  if (!all) return std::nullopt;
  llvm::ArrayRef<AffineExpr> left = all->results();
  const auto take = [&](size_t count) {
    const llvm::ArrayRef<AffineExpr> taken = left.take_front(count);
    left = left.drop_front(count);
    return taken;
  };
  const int num_dims = like.map().num_dims();
  const llvm::ArrayRef<AffineExpr> results = take(like.map().num_results());
  std::optional<ReplicaMap> devices;
  if (like.replica_map() != nullptr) {
    devices = ReplicaMap{all->dims().back().bounds, take(1).front(), {}};
  }
  Constraints constraints;
  for (const Constraint& constraint : all->constraints()) {
    const bool is_of_reader = devices && constraint.expr.isFunctionOfDim(num_dims);
    (is_of_reader ? devices->constraints : constraints).push_back(constraint);
  }
  RuntimeVarIndexings bindings(like.bindings().begin(), like.bindings().end());
  for (RuntimeVarIndexing& binding : bindings) {
    const llvm::ArrayRef<AffineExpr> element = take(binding.element.size());
    binding.element.assign(element.begin(), element.end());
    if (binding.device) binding.device = take(1).front();
  }
  OperandIndexing map(
      kPartsFit,
      IndexingMap(kPartsFit,
                  mlir::AffineMap::get(num_dims, all->num_symbols(), results, all->context()),
                  Variables(all->dims().take_front(num_dims)), Variables(all->ranges()),
                  Variables(all->runtimes()), std::move(constraints)),
      std::move(bindings), like.label());
  if (devices) map.SetReplicaMap(kPartsFit, *std::move(devices));
  map.Simplify();
  return map;
}

// Leaves out indices of axes of one element.
void DropIndicesOfOne(const Shape& to, llvm::SmallVectorImpl<AffineExpr>* results) {
  for (int64_t i = to.rank(); i-- > 0;) {
    if (to.dimension(i) == 1) results->erase(results->begin() + i);
  }
}

// Whether `a` has all pairs of `b`, of which these are facts, where runtime variable i of a is that of
// b at same[i]. The results of both end with what these are read from.
bool ContainsWith(const Piece& a, const Piece& b, llvm::ArrayRef<int> same, Facts* facts) {
  llvm::SmallVector<AffineExpr, 8> symbols;
  Piece renamed = a;
  const int num_runtimes = b.num_symbols - b.num_ranges;
  renamed.num_symbols = a.num_ranges + num_runtimes;
  for (int i = 0; i < a.num_symbols; ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(
        i < a.num_ranges ? i : a.num_ranges + same[i - a.num_ranges], a.context));
  }
  const int kept = a.num_dims + a.num_ranges;
  renamed.atoms.truncate(kept);
  for (int i = 0; i < num_runtimes; ++i) renamed.atoms.push_back({renamed.Variable(kept + i), {}});
  for (const PieceAtom& atom : llvm::ArrayRef(a.atoms).drop_front(kept)) {
    const AffineExpr expr = Substitute(atom.expr, {}, symbols);
    if (!expr) return false;
    renamed.Restrict(expr, atom.values);
  }
  for (AffineExpr& result : renamed.results) result = Substitute(result, {}, symbols);
  return !llvm::is_contained(renamed.results, AffineExpr()) && Contains(renamed, b, facts);
}

}  // namespace

UnionMember::UnionMember(OperandIndexing map, const Shape* to) : map_(std::move(map)), to_(to) {}

const Piece& UnionMember::piece() {
  if (piece_) return *piece_;
  piece_.emplace(WithDevice(map_));
  if (to_ == nullptr) return *piece_;
  for (int i = 0; i < map_.map().num_results(); ++i) {
    piece_->Restrict(map_.map().results()[i],
                     {IndicesOfAxis(to_->dimension(i)), Congruence::All()});
  }
  DropIndicesOfOne(*to_, &piece_->results);
  return *piece_;
}

Facts& UnionMember::facts() {
  if (!facts_) facts_ = std::make_unique<Facts>(piece());
  return *facts_;
}

const std::optional<UnionMember::Pair>& UnionMember::least_pair() {
  if (least_pair_) return *least_pair_;
  least_pair_.emplace();
  const IndexingMap& map = map_.map();
  Pair pair;
  llvm::SmallVector<int64_t, 4> symbols;
  for (const auto& [variables, values] :
       {std::pair(map.dims(), &pair.dims), std::pair(map.ranges(), &symbols)}) {
    for (const Variable& variable : variables) {
      if (!variable.bounds.has_lower()) return *least_pair_;
      values->push_back(variable.bounds.lower());
    }
  }
  for (const Constraint& constraint : map.constraints()) {
    const std::optional<int64_t> value = ValueAt(constraint.expr, pair.dims, symbols);
    if (!value || !constraint.interval.Contains(*value)) return *least_pair_;
  }
  for (const AffineExpr result : map.results()) {
    pair.results.push_back(ValueAt(result, pair.dims, symbols));
  }
  *least_pair_ = std::move(pair);
  return *least_pair_;
}

bool UnionMember::MayHave(const Pair& pair, bool any_range) {
  const IndexingMap& map = map_.map();
  if (results_.empty()) {
    for (const AffineExpr result : map.results()) results_.push_back(LinearSum::FromExpr(result));
  }
  for (const auto& [i, sum] : llvm::enumerate(results_)) {
    if (!sum.valid() || !pair.results[i] ||
        (to_ != nullptr && to_->dimension(static_cast<int64_t>(i)) == 1))
      continue;
    Interval values = Interval::Point(sum.constant());
    for (const Term& term : sum.terms()) {
      Interval of_atom = Interval::All();
      if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom)) {
        if (!any_range) of_atom = map.symbol(static_cast<int>(symbol.getPosition())).bounds;
      } else if (const std::optional<int64_t> value = ValueAt(term.atom, pair.dims, {})) {
        of_atom = Interval::Point(*value);
      }
      values = values.Add(of_atom.Mul(term.coefficient));
    }
    if (!values.Contains(*pair.results[i])) return false;
  }
  return true;
}

bool UnionMember::Covers(UnionMember& other) {
  const OperandIndexing& b = other.map_;
  if (IsOff(Engine::kCoalesce) || !AreComparable(map_, b) ||
      (to_ != nullptr && to_->rank() != b.map().num_results())) {
    return false;
  }
  for (int i = 0; i < b.map().num_dims(); ++i) {
    if (!b.map().dims()[i].bounds.IsSubsetOf(map_.map().dims()[i].bounds)) return false;
  }
  if (other.least_pair() && !MayHave(*other.least_pair())) return false;
  if (!QuestionBudget::Spend(kStepsOfCheck)) return false;
  // The runtime variables of the other that read the same array as each one of this.
  std::vector<llvm::SmallVector<int, 2>> same(map_.bindings().size());
  for (size_t i = 0; i < same.size(); ++i) {
    for (int k = 0; k < b.map().num_runtimes(); ++k) {
      if (HaveSameSource(map_.bindings()[i], b.bindings()[k])) same[i].push_back(k);
    }
    if (same[i].empty()) return false;
  }
  if (other.facts().IsEmpty()) return true;
  if (b.bindings().empty()) return Contains(piece(), other.piece(), &other.facts());
  const Piece piece_a = WithSources(piece(), map_);
  llvm::SmallVector<size_t, 4> choice(same.size(), 0);
  for (int tried = 0; tried < kMaxMatches; ++tried) {
    llvm::SmallVector<int, 4> match;
    Piece piece_b = other.piece();
    for (size_t i = 0; i < same.size(); ++i) {
      match.push_back(same[i][choice[i]]);
      AppendSource(b.bindings()[match.back()], &piece_b.results);
    }
    if (ContainsWith(piece_a, piece_b, match, &other.facts())) return true;
    size_t next = 0;
    while (next < same.size() && ++choice[next] == same[next].size()) choice[next++] = 0;
    if (next == same.size()) return false;
  }
  return false;
}

std::optional<OperandIndexing> UnionMember::Coalesced(UnionMember& other, Witness witness) {
  const OperandIndexing& b = other.map_;
  if (IsOff(Engine::kCoalesce) || map_.label().exactness != b.label().exactness ||
      !AreComparable(map_, b) || !llvm::equal(map_.bindings(), b.bindings(), HaveSameSource)) {
    return std::nullopt;
  }
  // Both have the formula of this one then.
  if (witness == Witness::kRanges && other.least_pair() &&
      !MayHave(*other.least_pair(), /*any_range=*/true)) {
    return std::nullopt;
  }
  if (other.facts().IsEmpty()) return std::nullopt;
  const std::optional<Piece> both =
      b.bindings().empty() ? Coalesce(piece(), other.piece(), witness, &other.facts())
                           : Coalesce(WithSources(piece(), map_), WithSources(other.piece(), b),
                                      witness, &other.facts());
  return both ? FromPiece(*both, map_) : std::nullopt;
}

void DropCovered(const Shape* to, std::vector<OperandIndexing>* maps) {
  std::vector<UnionMember> members;
  members.reserve(maps->size());
  for (const OperandIndexing& map : *maps) members.emplace_back(map, to);
  std::vector<bool> is_gone(maps->size());
  const auto covers = [&](size_t i, size_t j) {
    return members[i].Covers(members[j]) &&
           (members[i].map().IsExact() || !members[j].map().IsExact() ||
            !members[j].Covers(members[i]));
  };
  // In a walk only what is cheap to see: not which runtime variables of many maps are the same.
  const bool are_few = maps->size() <= kFewMembers;
  const auto is_cheap = [&](size_t i, size_t j) {
    const auto& bindings = members[i].map().bindings();
    return to == nullptr || bindings.empty() ||
           (are_few && llvm::equal(bindings, members[j].map().bindings(), HaveSameSource));
  };
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t j = 0; j < members.size() && !is_gone[i]; ++j) {
      if (i == j || is_gone[j] || !is_cheap(i, j)) continue;
      if (j % kComparedInAStep == 0 && !QuestionBudget::Spend()) break;
      is_gone[j] = covers(i, j);
    }
  }
  size_t i = 0;
  llvm::erase_if(*maps, [&](const OperandIndexing&) { return is_gone[i++]; });
}

namespace {

// The affine map of an answer whose normal form does not depend on its intervals, as long as these
// have several values: results are sums of variables, and there are no constraints. Null for all
// other answers.
mlir::AffineMap FixedFormula(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  const auto is_point = [](const Variable& variable) { return variable.bounds.IsPoint(); };
  const auto is_sum = [](AffineExpr result) { return result.isPureAffine(); };
  if (!indexing.bindings().empty() || indexing.replica_map() != nullptr ||
      !map.constraints().empty() || llvm::any_of(map.dims(), is_point) ||
      llvm::any_of(map.ranges(), is_point) || !llvm::all_of(map.results(), is_sum)) {
    return {};
  }
  return map.affine_map();
}

// Which members may become one with which. Those of fixed formulas, with ranges as ranges, only with
// those of the same formula.
class Candidates {
 public:
  Candidates(Witness witness, const std::vector<UnionMember>& members) : witness_(witness) {
    for (size_t i = 0; i < members.size(); ++i) Add(i, members[i].map());
  }

  void Add(size_t i, const OperandIndexing& map) {
    formulas_.resize(std::max(formulas_.size(), i + 1));
    formulas_[i] = witness_ == Witness::kRanges ? FixedFormula(map) : mlir::AffineMap();
    of_formula_[formulas_[i]].insert(i);
  }

  // The first from j on that may become one with i.
  size_t Next(size_t i, size_t j) const {
    if (!formulas_[i]) return j + (i == j ? 1 : 0);
    size_t next = formulas_.size();
    for (const mlir::AffineMap formula : {formulas_[i], mlir::AffineMap()}) {
      const auto of = of_formula_.find(formula);
      if (of == of_formula_.end()) continue;
      auto found = of->second.lower_bound(j);
      if (found != of->second.end() && *found == i) ++found;
      if (found != of->second.end()) next = std::min(next, *found);
    }
    return next;
  }

 private:
  const Witness witness_;
  std::vector<mlir::AffineMap> formulas_;
  llvm::DenseMap<mlir::AffineMap, std::set<size_t>> of_formula_;
};

}  // namespace

void CoalesceAll(Witness witness, int64_t max_steps, std::vector<OperandIndexing>* maps) {
  const int64_t least_left = QuestionBudget::Left() - max_steps;
  std::vector<UnionMember> members;
  members.reserve(maps->size());
  for (const OperandIndexing& map : *maps) members.emplace_back(map);
  Candidates candidates(witness, members);
  std::vector<bool> is_gone(maps->size());
  for (size_t i = 0; i < members.size(); ++i) {
    // The maps before this one have been compared with it, unless it becomes another one.
    for (size_t j = candidates.Next(i, witness == Witness::kRanges ? i + 1 : 0);
         j < members.size() && !is_gone[i]; j = candidates.Next(i, j + 1)) {
      if (is_gone[j]) continue;
      if (!QuestionBudget::Spend() || QuestionBudget::Left() < least_left) break;
      std::optional<OperandIndexing> both = members[i].Coalesced(members[j], witness);
      if (!both && witness == Witness::kRanges) both = members[j].Coalesced(members[i], witness);
      if (!both) continue;
      is_gone[j] = true;
      members[i] = UnionMember(*std::move(both));
      candidates.Add(i, members[i].map());
      j = static_cast<size_t>(-1);
    }
  }
  maps->clear();
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_gone[i]) maps->push_back(members[i].map());
  }
}

}  // namespace xla_indexing::internal
