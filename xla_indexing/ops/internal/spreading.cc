#include "xla_indexing/ops/internal/spreading.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
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
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/box.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/exactness.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

using IntervalBox = llvm::SmallVector<Interval, 4>;
using Step = std::vector<int64_t>;

constexpr size_t kMaxSteps = 64;
constexpr int64_t kMaxStep = int64_t{1} << 31;

// A piece that adds constants to the points of a box.
struct Translation {
  const OperandIndexing* piece = nullptr;
  int64_t iterations = 0;  // negative where the time runs backwards
  Step step;
  IntervalBox domain;
  Interval times;

  bool IsStill() const {
    return absl::c_all_of(step, [](int64_t c) { return c == 0; });
  }
};

IntervalBox Moved(const IntervalBox& box, const Step& step, int64_t sign) {
  IntervalBox moved;
  for (size_t i = 0; i < box.size(); ++i) moved.push_back(box[i].Add(sign * step[i]));
  return moved;
}

IntervalBox Common(const IntervalBox& a, const IntervalBox& b) {
  IntervalBox common;
  for (size_t i = 0; i < a.size(); ++i) common.push_back(a[i].Intersect(b[i]));
  return common;
}

bool IsEmptyBox(const IntervalBox& box) {
  return absl::c_any_of(box, [](const Interval& interval) { return interval.IsEmpty(); });
}

std::optional<Translation> AsTranslation(const OperandIndexing& piece) {
  if (piece.IsUnknown() || piece.replica_map() != nullptr) return std::nullopt;
  const IndexingMap& map = piece.map();
  if (map.num_symbols() > 0 || !map.constraints().empty() || map.num_dims() != map.num_results()) {
    return std::nullopt;
  }
  Translation translation;
  translation.piece = &piece;
  for (int i = 0; i < map.num_dims(); ++i) {
    const Interval& bounds = map.dims()[i].bounds;
    std::optional<int64_t> step =
        ConstantIn(Sub(map.results()[i], mlir::getAffineDimExpr(i, map.context())));
    // A dimension of one value may be written as that value.
    const std::optional<int64_t> result = ConstantIn(map.results()[i]);
    if (!step && result && bounds.IsPoint()) step = CheckedSub(*result, bounds.lower());
    if (!step || *step < -kMaxStep || *step > kMaxStep) return std::nullopt;
    if (i == 0) {
      translation.iterations = *step;
      translation.times = bounds;
      continue;
    }
    if (!bounds.IsFinite() || bounds.IsEmpty() || bounds.lower() < -kMaxStep ||
        bounds.upper() > kMaxStep) {
      return std::nullopt;
    }
    translation.step.push_back(*step);
    translation.domain.push_back(bounds);
  }
  if (translation.iterations == 0) return std::nullopt;
  return translation;
}

// Whether boxes within `whole` have all of its points.
bool CoverBox(std::vector<IntervalBox> boxes, const IntervalBox& whole) {
  Int128 count = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (IsEmptyBox(Common(boxes[i], boxes[j]))) continue;
      // One that is in another adds nothing; others would have to be cut.
      if (Common(boxes[i], boxes[j]) == boxes[i]) {
        boxes[i].front() = Interval::Empty();
      } else if (Common(boxes[i], boxes[j]) == boxes[j]) {
        boxes[j].front() = Interval::Empty();
      } else {
        return false;
      }
    }
  }
  for (const IntervalBox& box : boxes) {
    const std::optional<int64_t> points = NumPoints(box);
    if (!points) return false;
    count += *points;
  }
  const std::optional<int64_t> all = NumPoints(whole);
  return all && count == *all;
}

// The steps of one dimension, v, v + g, .., w; g is 0 where v is w.
struct Progression {
  int64_t first = 0;
  int64_t last = 0;
  int64_t stride = 0;

  static std::optional<Progression> Of(const std::set<int64_t>& values) {
    Progression progression = {*values.begin(), *values.rbegin(), 0};
    if (values.size() == 1) return progression;
    progression.stride = *std::next(values.begin()) - progression.first;
    const auto gaps = static_cast<int64_t>(values.size()) - 1;
    for (auto it = values.begin(); std::next(it) != values.end(); ++it) {
      if (*std::next(it) - *it != progression.stride) return std::nullopt;
    }
    if (progression.last - progression.first != gaps * progression.stride) return std::nullopt;
    return progression;
  }

  int64_t Gaps() const { return stride == 0 ? 0 : (last - first) / stride; }
  bool Contains(int64_t c) const {
    return first <= c && c <= last && (stride == 0 || (c - first) % stride == 0);
  }
};

// The dimensions that the steps of one product change.
struct Product {
  std::vector<size_t> dims;
};

// A box, and the steps in it.
class Spreading {
 public:
  static std::optional<Spreading> Find(const std::vector<Translation>& translations) {
    Spreading found;
    if (!found.FindBox(translations) || !found.FindSteps(translations)) return std::nullopt;
    found.FindRounds();
    if (!found.FindProducts() || !found.LeavesOutOnlySums(translations)) return std::nullopt;
    return found;
  }

  // The part of a translation's domain that leads from the box into the box.
  IntervalBox Inside(const Translation& translation) const {
    return Common(translation.domain, Common(box_, Moved(box_, translation.step, -1)));
  }

  std::vector<IndexingMap> Powers(mlir::MLIRContext* context) const {
    // Where one dimension goes round, and has gone all the way round after some iterations, which
    // of its elements the iterations began with makes no difference.
    std::optional<size_t> round;
    for (size_t j = 0; j < box_.size(); ++j) {
      if (!goes_round_[j] || progressions_[j].stride == 0) continue;
      if (round) return {Power(context, Interval::AtLeast(1), std::nullopt)};
      round = j;
    }
    if (!round || products_.size() > 1 || Period(*round) != Size(*round)) {
      return {Power(context, Interval::AtLeast(1), std::nullopt)};
    }
    const int64_t gaps = progressions_[*round].Gaps();
    const int64_t all_round = (Period(*round) - 1 + gaps - 1) / gaps;
    std::vector<IndexingMap> powers;
    if (all_round > 1) {
      powers.push_back(Power(context, Interval::Closed(1, all_round - 1), std::nullopt));
    }
    powers.push_back(Power(context, Interval::AtLeast(std::max<int64_t>(all_round, 1)), round));
    return powers;
  }

 private:
  int64_t Size(size_t j) const { return *box_[j].Size(); }
  // After how many strides dimension j is where it was.
  int64_t Period(size_t j) const {
    return Size(j) / std::gcd(Size(j), std::max<int64_t>(progressions_[j].stride, 1));
  }

  bool FindBox(const std::vector<Translation>& translations) {
    IntervalBox from;
    IntervalBox to;
    for (const Translation& translation : translations) {
      if (iterations_ == 0 || std::abs(translation.iterations) < std::abs(iterations_)) {
        iterations_ = translation.iterations;
        times_ = translation.times;
      }
      if (translation.IsStill()) continue;
      const IntervalBox image = Moved(translation.domain, translation.step, 1);
      if (from.empty()) {
        from = translation.domain;
        to = image;
      }
      for (size_t j = 0; j < from.size(); ++j) {
        from[j] = from[j].Union(translation.domain[j]);
        to[j] = to[j].Union(image[j]);
      }
    }
    box_ = Common(from, to);
    return !from.empty() && !IsEmptyBox(box_);
  }

  // All steps of the least number of iterations, which have to lead from everywhere in the box.
  bool FindSteps(const std::vector<Translation>& translations) {
    std::map<Step, std::vector<IntervalBox>> domains;
    for (const Translation& translation : translations) {
      if (translation.iterations != iterations_) continue;
      if (translation.times != times_) return false;
      const IntervalBox inside = Inside(translation);
      if (!IsEmptyBox(inside)) domains[translation.step].push_back(inside);
    }
    for (auto& [step, boxes] : domains) {
      if (!CoverBox(std::move(boxes), Common(box_, Moved(box_, step, -1)))) return false;
      steps_.insert(step);
    }
    return !steps_.empty() && steps_.size() <= kMaxSteps;
  }

  // Finds the dimensions that go round, and writes steps in them as the smaller of the two.
  void FindRounds() {
    goes_round_.assign(box_.size(), false);
    for (size_t j = 0; j < box_.size(); ++j) {
      const int64_t size = Size(j);
      const auto on_the_other_side = [&](const Step& step) {
        Step other = step;
        other[j] += step[j] > 0 ? -size : size;
        return other;
      };
      bool moves = false;
      bool goes_round = true;
      for (const Step& step : steps_) {
        if (step[j] == 0) continue;
        moves = true;
        goes_round = goes_round && steps_.contains(on_the_other_side(step));
      }
      goes_round_[j] = moves && goes_round;
      if (!goes_round_[j]) continue;
      std::set<Step> shorter;
      for (const Step& step : steps_) {
        const Step other = on_the_other_side(step);
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
    for (const Step& step : steps_) {
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
      const std::optional<Progression> progression = Progression::Of(values[j]);
      if (!progression) return false;
      progressions_.push_back(*progression);
    }
    std::map<size_t, Product> products;
    for (size_t j = 0; j < box_.size(); ++j) {
      if (values[j].size() > 1 || *values[j].begin() != 0) {
        products[product_of[j]].dims.push_back(j);
      }
    }
    for (auto& [dim, product] : products) products_.push_back(std::move(product));
    if (products_.empty() || (products_.size() > 1 && !has_still)) return false;
    // Every step is in one product, and each product has all of its steps.
    for (const Product& product : products_) {
      int64_t in_product = 1;
      for (const size_t j : product.dims) {
        in_product *= progressions_[j].Gaps() + 1;
        if (in_product > static_cast<int64_t>(kMaxSteps)) return false;
        if (!ReachesSums(j)) return false;
      }
      const int64_t found = absl::c_count_if(steps_, [&](const Step& step) {
        for (size_t j = 0; j < step.size(); ++j) {
          if (step[j] != 0 && !absl::c_linear_search(product.dims, j)) return false;
        }
        return true;
      });
      if (found != in_product) return false;
    }
    return true;
  }

  // Whether sums of the steps of a dimension can be reached within the box.
  bool ReachesSums(size_t j) const {
    const Progression& steps = progressions_[j];
    if (goes_round_[j] || steps.first >= 0 || steps.last <= 0 || steps.Contains(0)) return true;
    return steps.Gaps() == 1 && steps.first == -steps.last && Size(j) >= 2 * steps.last;
  }

  // Whether pieces that take several iterations add what as many steps add.
  bool LeavesOutOnlySums(const std::vector<Translation>& translations) const {
    return absl::c_all_of(translations, [&](const Translation& translation) {
      if (translation.iterations == iterations_ || IsEmptyBox(Inside(translation))) return true;
      if (translation.iterations % iterations_ != 0) return false;
      const int64_t number = translation.iterations / iterations_;
      // Its steps begin when the others do.
      const Interval last_begins = translation.times.Add((number - 1) * iterations_);
      if (number < 0 || number > kMaxStep || !translation.times.IsSubsetOf(times_) ||
          !last_begins.IsSubsetOf(times_)) {
        return false;
      }
      Int128 needed = 0;
      for (const Product& product : products_) {
        Int128 of_product = products_.size() == 1 ? number : 0;
        for (const size_t j : product.dims) {
          const Progression& steps = progressions_[j];
          const int64_t c = translation.step[j];
          if (!steps.Contains(0) || (c != 0 && (goes_round_[j] || steps.stride > 1))) return false;
          if (c > 0 && steps.last == 0) return false;
          if (c < 0 && steps.first == 0) return false;
          const int64_t least = c > 0   ? (c + steps.last - 1) / steps.last
                                : c < 0 ? (-c - steps.first - 1) / -steps.first
                                        : 0;
          if (products_.size() == 1 && least > number) return false;
          of_product = std::max<Int128>(of_product, least);
        }
        needed += of_product;
      }
      for (size_t j = 0; j < box_.size(); ++j) {
        if (progressions_[j].first == 0 && progressions_[j].last == 0 && translation.step[j] != 0) {
          return false;
        }
      }
      return needed <= number;
    });
  }

  // m iterations, m in `numbers`, as a timed map; dimension `anywhere` may be anything.
  IndexingMap Power(mlir::MLIRContext* context, const Interval& numbers,
                    std::optional<size_t> anywhere) const {
    Variables dims = {{times_, {}}};
    for (const Interval& interval : box_) dims.push_back({interval, {}});
    Variables ranges;
    Constraints constraints;
    const auto add_range = [&](const Interval& bounds) {
      ranges.push_back({bounds, {}});
      return mlir::getAffineSymbolExpr(ranges.size() - 1, context);
    };
    const std::optional<int64_t> most = times_.Size();
    const Interval counts = most ? Interval::Closed(0, *most) : Interval::AtLeast(0);
    const AffineExpr number = add_range(numbers.Intersect(counts));
    const AffineExpr time = mlir::getAffineDimExpr(0, context);
    llvm::SmallVector<AffineExpr, 4> results = {Add(time, Scale(number, iterations_))};
    constraints.push_back(
        {Add(time, Scale(Sub(number, Constant(1, context)), iterations_)), times_});
    for (size_t j = 0; j < box_.size(); ++j) {
      results.push_back(mlir::getAffineDimExpr(j + 1, context));
    }
    const bool at_most_one_each = StepsAreOneEach();
    AffineExpr in_all = Constant(0, context);
    std::vector<AffineExpr> distances(box_.size());
    for (const Product& product : products_) {
      AffineExpr in_product = number;
      if (products_.size() > 1 && !at_most_one_each) {
        in_product = add_range(counts);
        in_all = Add(in_all, in_product);
      }
      for (const size_t j : product.dims) {
        const AffineExpr dim = mlir::getAffineDimExpr(j + 1, context);
        const Progression& steps = progressions_[j];
        const AffineExpr least = Scale(in_product, steps.first);
        AffineExpr& result = results[j + 1];
        const AffineExpr begin = Constant(box_[j].lower(), context);
        if (j == anywhere) {
          result = add_range(box_[j]);
        } else if (at_most_one_each) {
          if (goes_round_[j]) {
            // The shorter way round where there are two.
            const int64_t longest = steps.Gaps() == 2 ? Size(j) / 2 : Size(j) - 1;
            distances[j] = add_range(Interval::Closed(steps.first * longest, steps.last * longest));
            result = Add(Mod(Sub(Add(dim, distances[j]), begin), Size(j)), begin);
          } else {
            result = add_range(box_[j]);
            distances[j] = Sub(result, dim);
            if (steps.first == 0) constraints.push_back({distances[j], Interval::AtLeast(0)});
            if (steps.last == 0) constraints.push_back({distances[j], Interval::AtMost(0)});
          }
        } else if (goes_round_[j]) {
          AffineExpr moved = Add(dim, least);
          if (steps.stride > 0) {
            const AffineExpr strides = add_range(Interval::OfSize(Period(j)));
            moved = Add(moved, Scale(strides, steps.stride));
            constraints.push_back(
                {Sub(strides, Scale(in_product, steps.Gaps())), Interval::AtMost(0)});
          }
          result = Add(Mod(Sub(moved, begin), Size(j)), begin);
        } else if (steps.stride == 0) {
          result = Add(dim, least);
          constraints.push_back({result, box_[j]});
        } else {
          result = add_range(box_[j]);
          const AffineExpr moved = Sub(result, dim);
          const AffineExpr above = Sub(moved, least);
          constraints.push_back({above, Interval::AtLeast(0)});
          constraints.push_back({Sub(moved, Scale(in_product, steps.last)), Interval::AtMost(0)});
          if (steps.stride > 1) {
            constraints.push_back({Mod(above, steps.stride), Interval::Point(0)});
          }
        }
      }
    }
    if (at_most_one_each) {
      // The sum of all distances is the greatest of their sums with any signs.
      for (size_t signs = 0; signs < size_t{1} << products_.size(); ++signs) {
        AffineExpr sum = Scale(number, -1);
        for (size_t i = 0; i < products_.size(); ++i) {
          const AffineExpr& distance = distances[products_[i].dims.front()];
          sum = Add(sum, Scale(distance, ((signs >> i) & 1) != 0 ? 1 : -1));
        }
        constraints.push_back({sum, Interval::AtMost(0)});
      }
    } else if (products_.size() > 1) {
      constraints.push_back({Sub(in_all, number), Interval::AtMost(0)});
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims.size(), ranges.size(), results, context);
    return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges), {},
                       std::move(constraints));
  }

  // Whether there are a few products of one dimension each, in steps of at most one.
  bool StepsAreOneEach() const {
    constexpr size_t kFewProducts = 3;
    return products_.size() > 1 && products_.size() <= kFewProducts &&
           absl::c_all_of(products_, [&](const Product& product) {
             const size_t j = product.dims.front();
             return product.dims.size() == 1 && progressions_[j].first >= -1 &&
                    progressions_[j].last <= 1;
           });
  }

  int64_t iterations_ = 0;
  Interval times_;
  IntervalBox box_;
  std::set<Step> steps_;
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
void AddOutside(const Translation& translation, const IntervalBox& box,
                std::vector<OperandIndexing>* others) {
  if (IsEmptyBox(box)) {
    others->push_back(*translation.piece);
    return;
  }
  IntervalBox rest = translation.domain;
  for (size_t j = 0; j < box.size(); ++j) {
    const Interval whole = rest[j];
    for (const Interval& side :
         {Interval::AtMost(box[j].lower()).Sub(1), Interval::AtLeast(box[j].upper()).Add(1)}) {
      rest[j] = whole.Intersect(side);
      if (!IsEmptyBox(rest)) others->push_back(InBox(*translation.piece, rest));
    }
    rest[j] = box[j];
  }
}

}  // namespace

std::optional<Spread> SpreadWithinBox(const std::vector<OperandIndexing>& pieces) {
  std::vector<Translation> translations;
  for (const OperandIndexing& piece : pieces) {
    std::optional<Translation> translation = AsTranslation(piece);
    if (!translation) return std::nullopt;
    translations.push_back(*std::move(translation));
  }
  if (translations.size() < 2) return std::nullopt;
  const std::optional<Spreading> spreading = Spreading::Find(translations);
  if (!spreading) return std::nullopt;
  Spread spread;
  ExactnessLabel label = ExactnessLabel::Exact();
  for (const Translation& translation : translations) {
    const IntervalBox inside = spreading->Inside(translation);
    AddOutside(translation, inside, &spread.others);
    if (!IsEmptyBox(inside) && label.IsExact()) label = translation.piece->label();
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
