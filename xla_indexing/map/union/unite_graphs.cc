#include "xla_indexing/map/union/unite_graphs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/union/facts.h"
#include "xla_indexing/map/union/map_graph.h"
#include "xla_indexing/map/union/piece.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Graphs with more sums are not compared.
constexpr size_t kMaxExprs = 20;
// The hull of all graphs is not tried for more than these, that of two not where they differ in more sums.
constexpr size_t kMaxGraphs = 256;
constexpr size_t kMaxCutSums = 4;
// The steps of a question (base/question_budget.h) that it takes to derive what follows from a graph.
constexpr int64_t kStepsOfFacts = 2;
// The parts of a hull that are looked at, for each graph.
constexpr int64_t kMaxPartsOfHull = 64;

// What one graph says of each sum.
using Values = llvm::SmallVector<Progression, 8>;

struct Graph {
  Values least;              // no larger than is seen
  Values most;               // as large as may be: the same pairs
  std::vector<size_t> maps;  // which are in it
};

// Graphs over common sums.
class Graphs {
 public:
  explicit Graphs(const std::vector<Piece>& pieces) : like_(pieces.front()) {
    for (const Piece& piece : pieces) {
      for (const PieceAtom& atom : piece.atoms) {
        if (!llvm::is_contained(exprs_, atom.expr)) exprs_.push_back(atom.expr);
      }
    }
    AddDifferences(pieces);
    if (!AreComparable()) return;
    hull_.assign(exprs_.size(), Progression::Empty());
    for (size_t i = 0; i < pieces.size(); ++i) {
      Facts facts(pieces[i]);
      if (facts.IsEmpty()) continue;
      Graph graph;
      for (const AffineExpr expr : exprs_) graph.least.push_back(facts.ValuesOf(expr));
      for (const PieceAtom& atom : pieces[i].atoms) {
        Progression& values = graph.least[llvm::find(exprs_, atom.expr) - exprs_.begin()];
        values = values.Intersect(atom.values);
      }
      graph.maps.push_back(i);
      hull_ = HullOf(hull_, graph.least);
      graphs_.push_back(std::move(graph));
    }
    for (Graph& graph : graphs_) Enlarge(&graph);
  }

  // Without this there are none.
  bool AreComparable() const { return exprs_.size() <= kMaxExprs; }
  const std::vector<Graph>& all() const { return graphs_; }

  void Unite() {
    for (size_t before = graphs_.size() + 1;
         graphs_.size() < before && !QuestionBudget::IsSpent();) {
      before = graphs_.size();
      UniteAll();
      for (size_t k = 0; k < exprs_.size() && graphs_.size() > 1; ++k) UniteInOneSum(k);
      if (graphs_.size() == before) UnitePairs();
    }
  }

  // The graph without sums of which the others leave nothing to say.
  Piece ToPiece(const Graph& graph) const {
    Values values = graph.least;
    for (size_t k = exprs_.size(); k-- > static_cast<size_t>(like_.num_variables());) {
      const Progression own = std::exchange(values[k], Progression{});
      if (!IsImplied(values, k, own)) values[k] = own;
    }
    return ToPiece(values);
  }

 private:
  // Adds d_j - t_i where no graph says more of result i than an interval, and the graphs differ in d_j:
  // what rectangles have together may be a triangle.
  void AddDifferences(const std::vector<Piece>& pieces) {
    const auto sums = [&] { return llvm::ArrayRef(exprs_).drop_front(like_.num_variables()); };
    for (int i = 0; i < like_.num_ranges; ++i) {
      const AffineExpr result = like_.results[i];
      const auto is_of_result = [&](AffineExpr sum) { return sum.isFunctionOfSymbol(i); };
      if (llvm::any_of(sums(), is_of_result)) continue;
      for (int j = 0; j < like_.num_dims; ++j) {
        const auto is_same = [&](const Piece& piece) {
          return piece.atoms[j].values == like_.atoms[j].values;
        };
        if (!llvm::all_of(pieces, is_same)) exprs_.push_back(Sub(like_.Variable(j), result));
      }
    }
  }

  Piece ToPiece(const Values& values) const {
    Piece piece = like_;
    piece.atoms.clear();
    for (const auto& [expr, in] : llvm::zip_equal(exprs_, values)) {
      const bool is_variable = static_cast<int>(piece.atoms.size()) < piece.num_variables();
      if (is_variable || !(in == Progression{})) piece.atoms.push_back({expr, in});
    }
    return piece;
  }
  // Whether the graph of these values says that those of sum k are among `own`, as far as that is seen.
  bool IsImplied(const Values& values, size_t k, const Progression& own) const {
    if (!QuestionBudget::Spend(kStepsOfFacts)) return false;
    Facts facts(ToPiece(values));
    return facts.IsEmpty() || own.Contains(facts.ValuesOf(exprs_[k]));
  }

  static Values HullOf(const Values& a, const Values& b) {
    Values hull;
    for (const auto& [of_a, of_b] : llvm::zip_equal(a, b)) hull.push_back(of_a.Hull(of_b));
    return hull;
  }
  static Graph HullOf(llvm::ArrayRef<const Graph*> graphs) {
    Graph hull = *graphs.front();
    for (const Graph* graph : graphs.drop_front()) {
      hull.least = HullOf(hull.least, graph->least);
      hull.maps.insert(hull.maps.end(), graph->maps.begin(), graph->maps.end());
    }
    return hull;
  }

  // Finds the largest values from the least, within the hull of all graphs.
  void Enlarge(Graph* graph) const {
    graph->most = graph->least;
    for (size_t k = 0; k < exprs_.size(); ++k) {
      const Progression own = graph->most[k];
      for (const Progression& larger :
           {hull_[k], Progression::Of(hull_[k].interval, own.residues)}) {
        if (larger == own || !larger.Contains(own)) continue;
        graph->most[k] = larger;
        if (IsImplied(graph->most, k, own)) break;
        graph->most[k] = own;
      }
    }
  }
  // Finds the least values from the largest.
  void Reduce(Graph* graph) const {
    Facts facts(ToPiece(graph->most));
    for (size_t k = 0; k < exprs_.size(); ++k) {
      graph->least[k] = facts.IsEmpty() ? Progression::Empty()
                                        : graph->most[k].Intersect(facts.ValuesOf(exprs_[k]));
    }
  }

  static size_t NumDifferences(const Graph& a, const Graph& b, size_t but) {
    size_t count = 0;
    for (size_t k = 0; k < a.most.size(); ++k) count += k == but || a.most[k] == b.most[k] ? 0 : 1;
    return count;
  }

  void UniteInOneSum(size_t k) {
    std::vector<std::vector<const Graph*>> groups;
    for (const Graph& graph : graphs_) {
      const auto group = llvm::find_if(groups, [&](const std::vector<const Graph*>& of) {
        return NumDifferences(*of.front(), graph, k) == 0;
      });
      if (group == groups.end()) {
        groups.push_back({&graph});
      } else {
        group->push_back(&graph);
      }
    }
    if (groups.size() == graphs_.size()) return;
    std::vector<Graph> united;
    for (const std::vector<const Graph*>& group : groups) {
      for (Graph& graph : UnitedInOneSum(group, k)) united.push_back(std::move(graph));
    }
    graphs_ = std::move(united);
  }
  // Graphs that agree in all but sum k.
  std::vector<Graph> UnitedInOneSum(llvm::ArrayRef<const Graph*> group, size_t k) const {
    std::vector<Progression> parts;
    for (const Graph* graph : group) parts.push_back(graph->most[k]);
    std::vector<Graph> united;
    std::vector<const Graph*> left(group.begin(), group.end());
    for (const Progression& values : internal::Unite(parts)) {
      std::vector<const Graph*> of;
      llvm::erase_if(left, [&](const Graph* graph) {
        if (!values.Contains(graph->most[k])) return false;
        of.push_back(graph);
        return true;
      });
      const bool are_apart = values.Count() == Int128{2} && values.stride() > 1;
      if (of.size() < 2 || are_apart) {
        for (const Graph* graph : of) united.push_back(*graph);
        continue;
      }
      Graph one = HullOf(of);
      one.most = group.front()->most;
      one.most[k] = values;
      Reduce(&one);
      Enlarge(&one);
      united.push_back(std::move(one));
    }
    for (const Graph* graph : left) united.push_back(*graph);
    return united;
  }

  void UniteAll() {
    if (graphs_.size() < 3 || graphs_.size() > kMaxGraphs) return;
    std::vector<const Graph*> graphs;
    graphs.reserve(graphs_.size());
    for (const Graph& graph : graphs_) graphs.push_back(&graph);
    if (std::optional<Graph> all = HullIfEqual(graphs)) graphs_ = {*std::move(all)};
  }

  void UnitePairs() {
    for (size_t i = 0; i < graphs_.size(); ++i) {
      for (size_t j = i + 1; j < graphs_.size(); ++j) {
        if (NumDifferences(graphs_[i], graphs_[j], exprs_.size()) > kMaxCutSums) continue;
        std::optional<Graph> both = HullIfEqual({&graphs_[i], &graphs_[j]});
        if (!both) continue;
        graphs_[i] = *std::move(both);
        graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(j));
        j = i;
      }
    }
  }

  // The hull of graphs where it is their union.
  std::optional<Graph> HullIfEqual(llvm::ArrayRef<const Graph*> graphs) const {
    Graph hull = HullOf(graphs);
    int64_t parts_left = kMaxPartsOfHull * static_cast<int64_t>(graphs.size());
    if (!AreIn(ToPiece(hull.least), graphs, &parts_left)) return std::nullopt;
    Enlarge(&hull);
    return hull;
  }

  // Whether each pair of the piece is one of a graph: all are of one of them, or what is outside of that is
  // of the others.
  bool AreIn(Piece piece, llvm::ArrayRef<const Graph*> graphs, int64_t* parts_left) const {
    if (--*parts_left < 0 || !QuestionBudget::Spend(kStepsOfFacts)) return false;
    Facts facts(piece);
    if (facts.IsEmpty()) return true;
    Values values;
    for (const AffineExpr expr : exprs_) values.push_back(facts.ValuesOf(expr));
    const Graph* nearest = nullptr;
    size_t least_cut = kMaxCutSums + 1;
    llvm::SmallVector<const Graph*, 8> others;
    for (const Graph* graph : graphs) {
      size_t cut = 0;
      bool may_meet = true;
      for (size_t k = 0; k < values.size() && may_meet; ++k) {
        cut += graph->most[k].Contains(values[k]) ? 0 : 1;
        may_meet = !graph->least[k].Intersect(values[k]).IsEmpty();
      }
      if (!may_meet) continue;
      if (cut == 0) return true;
      others.push_back(graph);
      if (cut < least_cut) {
        nearest = graph;
        least_cut = cut;
      }
    }
    if (nearest == nullptr) return false;
    llvm::erase(others, nearest);
    for (size_t k = 0; k < values.size(); ++k) {
      const Progression& of_nearest = nearest->most[k];
      if (of_nearest.Contains(values[k])) continue;
      const auto outside = Outside(values[k], of_nearest);
      if (!outside) return false;
      for (const Progression& part : *outside) {
        Piece outer = piece;
        outer.Restrict(exprs_[k], part);
        if (!AreIn(std::move(outer), others, parts_left)) return false;
      }
      piece.Restrict(exprs_[k], of_nearest);
    }
    return true;
  }

  const Piece like_;
  std::vector<AffineExpr> exprs_;  // dimensions, results, sums
  Values hull_;
  std::vector<Graph> graphs_;
};

}  // namespace

std::vector<IndexingMap> UniteGraphs(const std::vector<IndexingMap>& maps) {
  if (IsOff(Engine::kUniteGraphs)) return maps;
  std::vector<IndexingMap> united;
  std::vector<Piece> pieces;
  std::vector<const IndexingMap*> with_graph;
  for (const IndexingMap& map : maps) {
    if (std::optional<Piece> piece = GraphOfMap(map)) {
      pieces.push_back(*std::move(piece));
      with_graph.push_back(&map);
    } else {
      united.push_back(map);
    }
  }
  if (pieces.size() < 2) return maps;
  Graphs graphs(pieces);
  if (!graphs.AreComparable()) return maps;
  graphs.Unite();
  for (const Graph& graph : graphs.all()) {
    std::optional<IndexingMap> map;
    if (graph.maps.size() > 1) {
      map = MapOfGraph(graphs.ToPiece(graph), *with_graph[graph.maps.front()]);
    }
    if (map) {
      united.push_back(*std::move(map));
    } else {
      for (const size_t i : graph.maps) united.push_back(*with_graph[i]);
    }
  }
  return united;
}

}  // namespace xla_indexing::internal
