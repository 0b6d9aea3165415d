#include "xla_indexing/ops/loops/closure/spreading.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/loops/closure/box_steps.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The dimensions that the steps of one product change.
struct Product {
  std::vector<size_t> dims;
};

// How many strides there are from the first step to the last one.
int64_t GapsIn(const Progression& steps) {
  return steps.stride() == 0 ? 0 : (steps.last() - steps.first()) / steps.stride();
}

// A box, and the steps in it.
class Spreading {
 public:
  // In the box of all that the translations lead from or to; or else of what they lead both from and
  // to, as where elements at the border are read and stay what they are.
  static std::optional<Spreading> Find(const std::vector<BoxTranslation>& translations) {
    std::optional<Spreading> found = Find(translations, /*all=*/true);
    return found ? found : Find(translations, /*all=*/false);
  }

  // In the box of a window, of which the translations are sums of steps.
  static std::optional<Spreading> Find(const StepWindow& window,
                                       const std::vector<BoxTranslation>& translations) {
    Spreading found;
    const std::optional<IntervalBox> box = window.Box();
    if (!box) return std::nullopt;
    found.iterations_ = window.iterations;
    found.times_ = window.times;
    found.box_ = *box;
    found.progressions_ = window.steps;
    found.goes_round_.assign(box->size(), false);
    Product product;
    for (size_t j = 0; j < box->size(); ++j) {
      if (!found.ReachesSums(j)) return std::nullopt;
      if (found.Moves(j)) product.dims.push_back(j);
    }
    found.products_.push_back(std::move(product));
    const auto is_left_out = [&](const BoxTranslation& translation) {
      return found.Inside(translation) == translation.domain && found.AddsWhatStepsAdd(translation);
    };
    if (!absl::c_all_of(translations, is_left_out)) return std::nullopt;
    return found;
  }

  // The part of a translation's domain that leads from the box into the box.
  IntervalBox Inside(const BoxTranslation& translation) const {
    return CommonBox(translation.domain, CommonBox(box_, ShiftedBox(box_, translation.step, -1)));
  }

  std::vector<IndexingMap> Powers(mlir::MLIRContext* context) const {
    // Where one dimension wraps around, and has gone all the way round after some iterations, which
    // of its elements the iterations began with makes no difference.
    std::optional<size_t> round;
    for (size_t j = 0; j < box_.size(); ++j) {
      if (!goes_round_[j] || progressions_[j].stride() == 0) continue;
      if (round) return {Power(context, Interval::AtLeast(1), std::nullopt)};
      round = j;
    }
    if (!round || products_.size() > 1 || Period(*round) != Size(*round)) {
      return {Power(context, Interval::AtLeast(1), std::nullopt)};
    }
    const int64_t gaps = GapsIn(progressions_[*round]);
    const int64_t all_round = (Period(*round) - 1 + gaps - 1) / gaps;
    std::vector<IndexingMap> powers;
    if (all_round > 1) {
      powers.push_back(Power(context, Interval::Closed(1, all_round - 1), std::nullopt));
    }
    powers.push_back(Power(context, Interval::AtLeast(std::max<int64_t>(all_round, 1)), round));
    return powers;
  }

 private:
  static std::optional<Spreading> Find(const std::vector<BoxTranslation>& translations, bool all) {
    Spreading found;
    if (!found.FindBox(translations, all) || !found.FindSteps(translations)) return std::nullopt;
    found.FindRounds();
    if (!found.FindProducts() || !found.LeavesOutOnlySums(translations)) return std::nullopt;
    return found;
  }

  int64_t Size(size_t j) const { return *box_[j].Size(); }
  bool Moves(size_t j) const { return progressions_[j] != Progression::Point(0); }
  // After how many strides dimension j is where it was.
  int64_t Period(size_t j) const {
    return Size(j) / std::gcd(Size(j), std::max<int64_t>(progressions_[j].stride(), 1));
  }

  bool FindBox(const std::vector<BoxTranslation>& translations, bool all) {
    IntervalBox from;
    IntervalBox to;
    for (const BoxTranslation& translation : translations) {
      if (iterations_ == 0 || std::abs(translation.iterations) < std::abs(iterations_)) {
        iterations_ = translation.iterations;
        times_ = translation.times;
      }
      if (translation.IsStill()) continue;
      const IntervalBox image = ShiftedBox(translation.domain, translation.step, 1);
      if (from.empty()) {
        from = translation.domain;
        to = image;
      }
      for (size_t j = 0; j < from.size(); ++j) {
        from[j] = from[j].Union(translation.domain[j]);
        to[j] = to[j].Union(image[j]);
      }
    }
    box_ = CommonBox(from, to);
    for (size_t j = 0; all && j < box_.size(); ++j) box_[j] = from[j].Union(to[j]);
    return !from.empty() && !IsEmptyBox(box_);
  }

  // All steps of the least number of iterations, which have to lead from everywhere in the box.
  bool FindSteps(const std::vector<BoxTranslation>& translations) {
    std::map<BoxStep, std::vector<IntervalBox>> domains;
    for (const BoxTranslation& translation : translations) {
      if (translation.iterations != iterations_) continue;
      if (translation.times != times_) return false;
      const IntervalBox inside = Inside(translation);
      if (!IsEmptyBox(inside)) domains[translation.step].push_back(inside);
    }
    for (auto& [step, boxes] : domains) {
      if (!CoverBox(std::move(boxes), CommonBox(box_, ShiftedBox(box_, step, -1)))) return false;
      steps_.insert(step);
    }
    return !steps_.empty() && steps_.size() <= kMaxBoxSteps;
  }

  // Finds the dimensions that go round, and writes steps in them as the smaller of the two.
  void FindRounds() {
    goes_round_.assign(box_.size(), false);
    for (size_t j = 0; j < box_.size(); ++j) {
      const int64_t size = Size(j);
      const auto on_the_other_side = [&](const BoxStep& step) {
        BoxStep other = step;
        other[j] += step[j] > 0 ? -size : size;
        return other;
      };
      bool moves = false;
      bool goes_round = true;
      for (const BoxStep& step : steps_) {
        if (step[j] == 0) continue;
        moves = true;
        goes_round = goes_round && steps_.contains(on_the_other_side(step));
      }
      goes_round_[j] = moves && goes_round;
      if (!goes_round_[j]) continue;
      std::set<BoxStep> shorter;
      for (const BoxStep& step : steps_) {
        const BoxStep other = on_the_other_side(step);
        const bool other_is_shorter =
            step[j] != 0 && (std::abs(other[j]) < std::abs(step[j]) ||
                             (std::abs(other[j]) == std::abs(step[j]) && other[j] > step[j]));
        shorter.insert(other_is_shorter ? other : step);
      }
      steps_ = std::move(shorter);
    }
  }

  // Divides the dimensions that move into products.
  bool FindProducts() {
    std::vector<size_t> product_of(box_.size());
    std::iota(product_of.begin(), product_of.end(), size_t{0});
    std::vector<std::set<int64_t>> values(box_.size());
    bool has_still = false;
    for (const BoxStep& step : steps_) {
      std::optional<size_t> first;
      for (size_t j = 0; j < step.size(); ++j) {
        values[j].insert(step[j]);
        if (step[j] == 0) continue;
        if (!first) first = product_of[j];
        const size_t joined = product_of[j];
        for (size_t& product : product_of) {
          if (product == joined) product = *first;
        }
      }
      has_still = has_still || !first;
    }
    for (size_t j = 0; j < box_.size(); ++j) {
      Progression steps = Progression::Empty();
      for (const int64_t value : values[j]) steps = steps.Hull(Progression::Point(value));
      if (steps.Count() != values[j].size()) return false;
      progressions_.push_back(steps);
    }
    std::map<size_t, Product> products;
    for (size_t j = 0; j < box_.size(); ++j) {
      if (values[j].size() > 1 || *values[j].begin() != 0) {
        products[product_of[j]].dims.push_back(j);
      }
    }
    for (auto& [dim, product] : products) products_.push_back(std::move(product));
    if (products_.empty() || (products_.size() > 1 && !has_still)) return false;
    return absl::c_all_of(products_, [&](const Product& product) { return HasAllSteps(product); });
  }

  // Whether all combinations of the steps of a product's dimensions are steps, and their sums can be
  // reached.
  bool HasAllSteps(const Product& product) const {
    int64_t in_product = 1;
    for (const size_t j : product.dims) {
      in_product *= GapsIn(progressions_[j]) + 1;
      if (in_product > static_cast<int64_t>(kMaxBoxSteps) || !ReachesSums(j)) return false;
    }
    const auto is_in_product = [&](const BoxStep& step) {
      for (size_t j = 0; j < step.size(); ++j) {
        if (step[j] != 0 && !absl::c_linear_search(product.dims, j)) return false;
      }
      return true;
    };
    return in_product == absl::c_count_if(steps_, is_in_product);
  }

  // Whether sums of the steps of a dimension can be reached within the box.
  bool ReachesSums(size_t j) const {
    const Progression& steps = progressions_[j];
    if (goes_round_[j] || steps.first() >= 0 || steps.last() <= 0 || steps.Contains(0)) return true;
    return GapsIn(steps) == 1 && steps.first() == -steps.last() && Size(j) >= 2 * steps.last();
  }

  // Whether pieces that take several iterations add what as many steps add.
  bool LeavesOutOnlySums(const std::vector<BoxTranslation>& translations) const {
    return absl::c_all_of(translations, [&](const BoxTranslation& translation) {
      return translation.iterations == iterations_ || IsEmptyBox(Inside(translation)) ||
             AddsWhatStepsAdd(translation);
    });
  }

  bool AddsWhatStepsAdd(const BoxTranslation& translation) const {
    if (translation.iterations % iterations_ != 0) return false;
    const int64_t number = translation.iterations / iterations_;
    if (number < 0 || number > kMaxBoxStep) return false;
    // Its steps begin when the others do.
    if (!translation.times.IsSubsetOf(times_) ||
        !translation.times.Add((number - 1) * iterations_).IsSubsetOf(times_)) {
      return false;
    }
    for (size_t j = 0; j < box_.size(); ++j) {
      if (!Moves(j) && translation.step[j] != 0) return false;
    }
    Int128 needed = 0;
    for (const Product& product : products_) {
      int64_t in_product = 0;
      for (const size_t j : product.dims) {
        const std::optional<int64_t> least = LeastStepsTo(j, translation.step[j]);
        if (!least) return false;
        in_product = std::max(in_product, *least);
      }
      needed += in_product;
    }
    return needed <= number;
  }

  // The least number of steps of dimension j that add c, where any greater number can do so too.
  std::optional<int64_t> LeastStepsTo(size_t j, int64_t c) const {
    const Progression& steps = progressions_[j];
    if (!steps.Contains(0)) return std::nullopt;
    if (c == 0) return 0;
    if (goes_round_[j] || steps.stride() > 1 || (c > 0 ? steps.last() : steps.first()) == 0) {
      return std::nullopt;
    }
    return c > 0 ? (c + steps.last() - 1) / steps.last()
                 : (-c - steps.first() - 1) / -steps.first();
  }

  // A map that is being made.
  struct Parts {
    AffineExpr AddRange(const Interval& bounds) {
      ranges.push_back({bounds, {}});
      return mlir::getAffineSymbolExpr(ranges.size() - 1, context);
    }
    void Constrain(AffineExpr expr, const Interval& interval) {
      constraints.push_back({expr, interval});
    }

    mlir::MLIRContext* context;
    Variables ranges = {};
    Constraints constraints = {};
  };

  // m iterations, m in `numbers`, as a timed map; dimension `anywhere` may be anything.
  IndexingMap Power(mlir::MLIRContext* context, const Interval& numbers,
                    std::optional<size_t> anywhere) const {
    Parts parts = {context};
    const std::optional<int64_t> most = times_.Size();
    const Interval counts = most ? Interval::Closed(0, *most) : Interval::AtLeast(0);
    const AffineExpr number = parts.AddRange(numbers.Intersect(counts));
    const AffineExpr time = mlir::getAffineDimExpr(0, context);
    llvm::SmallVector<AffineExpr, 4> results = {Add(time, Scale(number, iterations_))};
    parts.Constrain(Add(time, Scale(Sub(number, Constant(1, context)), iterations_)), times_);
    Variables dims = {{times_, {}}};
    for (size_t j = 0; j < box_.size(); ++j) {
      dims.push_back({box_[j], {}});
      results.push_back(mlir::getAffineDimExpr(j + 1, context));
    }
    if (StepsAreOneEach()) {
      std::vector<AffineExpr> distances;
      for (const Product& product : products_) {
        const size_t j = product.dims.front();
        distances.push_back(MoveByDistance(j, &results[j + 1], &parts));
      }
      // The sum of all distances is the greatest of their sums with any signs.
      for (size_t signs = 0; signs < size_t{1} << distances.size(); ++signs) {
        AffineExpr sum = Scale(number, -1);
        for (size_t i = 0; i < distances.size(); ++i) {
          sum = Add(sum, Scale(distances[i], ((signs >> i) & 1) != 0 ? 1 : -1));
        }
        parts.Constrain(sum, Interval::AtMost(0));
      }
    } else {
      AffineExpr in_all = Constant(0, context);
      for (const Product& product : products_) {
        const AffineExpr in_product = products_.size() > 1 ? parts.AddRange(counts) : number;
        in_all = Add(in_all, in_product);
        for (const size_t j : product.dims) {
          AffineExpr& result = results[j + 1];
          result = j == anywhere ? parts.AddRange(box_[j]) : Moved(j, in_product, &parts);
        }
      }
      if (products_.size() > 1) parts.Constrain(Sub(in_all, number), Interval::AtMost(0));
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims.size(), parts.ranges.size(), results, context);
    return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(parts.ranges), {},
                       std::move(parts.constraints));
  }

  // An index of dimension j within the box, going round.
  AffineExpr Round(size_t j, AffineExpr index) const {
    if (!index) return index;
    const AffineExpr begin = Constant(box_[j].lower(), index.getContext());
    return Add(Mod(Sub(index, begin), Size(j)), begin);
  }

  // Sets the result of dimension j, of steps of at most one; returns how far it has moved.
  AffineExpr MoveByDistance(size_t j, AffineExpr* result, Parts* parts) const {
    const AffineExpr dim = mlir::getAffineDimExpr(j + 1, parts->context);
    const Progression& steps = progressions_[j];
    if (goes_round_[j]) {
      // The shorter way round where there are two.
      const int64_t longest = GapsIn(steps) == 2 ? Size(j) / 2 : Size(j) - 1;
      const AffineExpr distance =
          parts->AddRange(Interval::Closed(steps.first() * longest, steps.last() * longest));
      *result = Round(j, Add(dim, distance));
      return distance;
    }
    *result = parts->AddRange(box_[j]);
    const AffineExpr distance = Sub(*result, dim);
    if (steps.first() == 0) parts->Constrain(distance, Interval::AtLeast(0));
    if (steps.last() == 0) parts->Constrain(distance, Interval::AtMost(0));
    return distance;
  }

  // The result of dimension j after so many iterations.
  AffineExpr Moved(size_t j, AffineExpr iterations, Parts* parts) const {
    const AffineExpr dim = mlir::getAffineDimExpr(j + 1, parts->context);
    const Progression& steps = progressions_[j];
    const AffineExpr least = Scale(iterations, steps.first());
    if (goes_round_[j]) {
      if (steps.stride() == 0) return Round(j, Add(dim, least));
      const AffineExpr strides = parts->AddRange(Interval::OfSize(Period(j)));
      parts->Constrain(Sub(strides, Scale(iterations, GapsIn(steps))), Interval::AtMost(0));
      return Round(j, Add(Add(dim, least), Scale(strides, steps.stride())));
    }
    if (steps.stride() == 0) {
      parts->Constrain(Add(dim, least), box_[j]);
      return Add(dim, least);
    }
    const AffineExpr result = parts->AddRange(box_[j]);
    const AffineExpr moved = Sub(result, dim);
    parts->Constrain(Sub(moved, least), Interval::AtLeast(0));
    parts->Constrain(Sub(moved, Scale(iterations, steps.last())), Interval::AtMost(0));
    if (steps.stride() > 1)
      parts->Constrain(Mod(Sub(moved, least), steps.stride()), Interval::Point(0));
    return result;
  }

  // Whether there are a few products of one dimension each, in steps of at most one.
  bool StepsAreOneEach() const {
    constexpr size_t kFewProducts = 3;
    return products_.size() > 1 && products_.size() <= kFewProducts &&
           absl::c_all_of(products_, [&](const Product& product) {
             const size_t j = product.dims.front();
             return product.dims.size() == 1 && progressions_[j].first() >= -1 &&
                    progressions_[j].last() <= 1;
           });
  }

  int64_t iterations_ = 0;
  Interval times_;
  IntervalBox box_;
  std::set<BoxStep> steps_;
  std::vector<bool> goes_round_;
  std::vector<Progression> progressions_;
  std::vector<Product> products_;
};

// `piece` with its dimensions behind the time in a box.
OperandIndexing InBox(const OperandIndexing& piece, absl::Span<const Interval> box) {
  const IndexingMap& map = piece.map();
  Variables dims(map.dims());
  for (size_t j = 0; j < box.size(); ++j) dims[j + 1].bounds = box[j];
  OperandIndexing part(kPartsFit,
                       IndexingMap(kPartsFit, map.affine_map(), std::move(dims), {}, {}, {}), {},
                       piece.label());
  part.Simplify();
  return part;
}

// The part of `piece` outside of a box, in disjoint maps.
void AddOutside(const BoxTranslation& translation, const IntervalBox& box,
                std::vector<OperandIndexing>* others) {
  if (IsEmptyBox(box)) {
    others->push_back(translation.piece);
    return;
  }
  IntervalBox rest = translation.domain;
  for (size_t j = 0; j < box.size(); ++j) {
    const Interval whole = rest[j];
    for (const Interval& side :
         {Interval::AtMost(box[j].lower()).Sub(1), Interval::AtLeast(box[j].upper()).Add(1)}) {
      rest[j] = whole.Intersect(side);
      if (!IsEmptyBox(rest)) others->push_back(InBox(translation.piece, rest));
    }
    rest[j] = box[j];
  }
}

}  // namespace

std::optional<Spread> SpreadWithinBox(const std::vector<OperandIndexing>& pieces) {
  if (IsOff(Engine::kSpreading)) return std::nullopt;
  std::vector<BoxTranslation> translations;
  std::optional<StepWindow> window;
  ExactnessLabel label = ExactnessLabel::Exact();
  for (const OperandIndexing& piece : pieces) {
    const std::optional<std::vector<OperandIndexing>> parts = WithoutRanges(piece);
    if (!parts) {
      // It has more steps than are taken one by one.
      if (window) return std::nullopt;
      window = AsWindow(piece);
      if (!window) return std::nullopt;
      label = piece.label();
      continue;
    }
    for (const OperandIndexing& part : *parts) {
      std::optional<BoxTranslation> translation = AsTranslation(part);
      if (!translation) return std::nullopt;
      translations.push_back(*std::move(translation));
    }
  }
  if (!window && translations.size() < 2) return std::nullopt;
  const std::optional<Spreading> spreading =
      window ? Spreading::Find(*window, translations) : Spreading::Find(translations);
  if (!spreading) return std::nullopt;
  Spread spread;
  for (const BoxTranslation& translation : translations) {
    const IntervalBox inside = spreading->Inside(translation);
    AddOutside(translation, inside, &spread.others);
    if (!IsEmptyBox(inside) && label.IsExact()) label = translation.piece.label();
  }
  for (IndexingMap& power : spreading->Powers(pieces[0].map().context())) {
    const bool is_whole =
        llvm::all_of(power.results(), [](AffineExpr expr) { return static_cast<bool>(expr); }) &&
        llvm::all_of(power.constraints(), [](const Constraint& constraint) {
          return static_cast<bool>(constraint.expr);
        });
    if (!is_whole) return std::nullopt;
    OperandIndexing map(kPartsFit, std::move(power), {}, label);
    map.Simplify();
    if (!map.IsKnownEmpty()) spread.powers.Add(std::move(map));
  }
  return spread;
}

}  // namespace xla_indexing::internal
