#include "xla_indexing/map/count/count_image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/count/block_classes.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/count/image_parts.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing {
namespace {

using internal::AllOf;
using internal::BoundsOf;
using internal::ClassesOfElements;
using internal::ClassesOfProgressions;
using internal::ClassSizes;
using internal::Component;
using internal::ComponentsOf;
using internal::CountBetween;
using internal::CountOf;
using internal::CountPart;
using internal::CountPoints;
using internal::CountUpTo;
using internal::ImageMask;
using internal::ImagePart;
using internal::ImageParts;
using internal::LinearSum;
using internal::MapOfComponent;
using internal::PartsOf;
using internal::Progression;
using internal::ProgressionPartsOf;
using internal::Term;
using internal::VariablesOf;
using ::mlir::AffineExpr;

Interval CountOneImage(const ImageParts& image, StepBudget* budget) {
  if (image.has_point == Answer::kNo) return Interval::Point(0);
  Interval count = Interval::Point(1);
  for (const ImagePart& part : image.parts) count = count.Mul(CountPart(part, budget));
  return image.has_point == Answer::kYes ? count : CountUpTo(count);
}

// The blocks of several images: results that share a part of any, and of each image its parts.
std::vector<std::vector<std::vector<const ImagePart*>>> BlocksOf(llvm::ArrayRef<ImageParts> images,
                                                                 int num_results) {
  llvm::IntEqClasses classes(num_results);
  for (const ImageParts& image : images) {
    for (const ImagePart& part : image.parts) {
      for (const int result : part.results) classes.join(part.results[0], result);
    }
  }
  classes.compress();
  std::vector<std::vector<std::vector<const ImagePart*>>> blocks(
      classes.getNumClasses(), std::vector<std::vector<const ImagePart*>>(images.size()));
  for (const auto& [i, image] : llvm::enumerate(images)) {
    for (const ImagePart& part : image.parts) {
      blocks[classes[part.results[0]]][i].push_back(&part);
    }
  }
  return blocks;
}

std::optional<ClassSizes> ClassesOf(llvm::ArrayRef<std::vector<const ImagePart*>> block,
                                    StepBudget* budget) {
  const auto is_progression = [](const std::vector<const ImagePart*>& parts) {
    return parts.size() == 1 && parts[0]->progression;
  };
  if (llvm::all_of(block, is_progression)) {
    std::vector<Progression> values;
    for (const std::vector<const ImagePart*>& parts : block) {
      values.push_back(*parts[0]->progression);
    }
    if (auto classes = ClassesOfProgressions(values, budget)) return classes;
  }
  return ClassesOfElements(block, budget);
}

// The size of the union of images that have points; nullopt if a block has too many places, or
// the sets of images become too many.
std::optional<Interval> CountUnion(llvm::ArrayRef<ImageParts> images, int num_results,
                                   StepBudget* budget) {
  if (images.empty()) return Interval::Point(0);
  // How many elements of the blocks so far are in exactly these images.
  struct Weight {
    ImageMask mask;
    Interval count;
  };
  ImageMask all((images.size() + 63) / 64, ~uint64_t{0});
  std::vector<Weight> weights = {{std::move(all), Interval::Point(1)}};
  for (const auto& block : BlocksOf(images, num_results)) {
    const std::optional<ClassSizes> classes = ClassesOf(block, budget);
    if (!classes) return std::nullopt;
    std::map<ImageMask, Interval> next;
    for (const Weight& weight : weights) {
      for (const auto& [mask, size] : *classes) {
        if (!budget->Take(1)) return std::nullopt;
        ImageMask both = mask;
        for (size_t i = 0; i < both.size(); ++i) both[i] &= weight.mask[i];
        if (llvm::all_of(both, [](uint64_t word) { return word == 0; })) continue;
        const Interval count = weight.count.Mul(CountOf(size));
        const auto [it, is_new] = next.try_emplace(std::move(both), count);
        if (!is_new) it->second = it->second.Add(count);
      }
    }
    weights.clear();
    for (auto& [mask, count] : next) weights.push_back({mask, count});
  }
  Interval sum = Interval::Point(0);
  for (const Weight& weight : weights) sum = sum.Add(weight.count);
  return sum;
}

// Whether the image is everything from 0 to the sizes.
bool IsWhole(const ImageParts& image, llvm::ArrayRef<int64_t> sizes) {
  return image.has_point == Answer::kYes && llvm::all_of(image.parts, [&](const ImagePart& part) {
           return part.progression && *part.progression->Count() == sizes[part.results[0]];
         });
}

// The image of a map that has the dimensions as results too.
IndexingMap WithDimsAsResults(const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 8> results;
  for (int i = 0; i < map.num_dims(); ++i) {
    results.push_back(mlir::getAffineDimExpr(i, map.context()));
  }
  results.append(map.results().begin(), map.results().end());
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), Variables(map.ranges()),
                     Variables(map.runtimes()), Constraints(map.constraints()));
}

// Results as g(d) + h(s), and constraints on d or on s alone: the pairs are those d with, for each,
// the values of h. Nullopt if they are not so.
std::optional<IndexingMap> WithoutDims(const IndexingMap& map, const Component& component) {
  const auto has = [&](AffineExpr expr, bool dims) {
    return llvm::any_of(VariablesOf(expr, map.num_dims()),
                        [&](int v) { return (v < map.num_dims()) == dims; });
  };
  llvm::SmallVector<AffineExpr, 4> results;
  for (const int i : component.results) {
    const LinearSum sum = LinearSum::FromExpr(map.results()[i]);
    LinearSum of_symbols;
    for (const Term& term : sum.terms()) {
      if (!has(term.atom, /*dims=*/false)) continue;
      if (has(term.atom, /*dims=*/true)) return std::nullopt;
      of_symbols.AddTerm(term.atom, term.coefficient);
    }
    results.push_back(of_symbols.ToExpr(map.context()));
    if (!sum.valid() || !results.back()) return std::nullopt;
  }
  Constraints constraints;
  for (const int i : component.constraints) {
    const Constraint& constraint = map.constraints()[i];
    if (!has(constraint.expr, /*dims=*/false)) continue;
    if (has(constraint.expr, /*dims=*/true)) return std::nullopt;
    constraints.push_back(constraint);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), Variables(map.ranges()),
                     Variables(map.runtimes()), std::move(constraints));
}

// The points of the dimensions alone, under the constraints that are on them alone.
IndexingMap DimsAlone(const IndexingMap& map) {
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    const auto variables = VariablesOf(constraint.expr, map.num_dims());
    if (llvm::all_of(variables, [&](int v) { return v < map.num_dims(); })) {
      constraints.push_back(constraint);
    }
  }
  const mlir::AffineMap affine_map = mlir::AffineMap::get(map.num_dims(), 0, map.context());
  return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), {}, {}, std::move(constraints));
}

// The pairs of one component by itself; the dimensions of `map` are the component's dimensions.
Interval CountPairsOfComponent(const IndexingMap& map, StepBudget* budget) {
  const Component all = AllOf(map);
  if (const std::optional<IndexingMap> fiber = WithoutDims(map, all)) {
    const Interval dims = CountPoints(DimsAlone(map), budget);
    return dims.Mul(CountImage(*fiber, budget));
  }
  return CountImage(WithDimsAsResults(map), budget);
}

}  // namespace

Interval CountImage(const IndexingMap& map, StepBudget* budget) {
  const QuestionBudget question;
  std::optional<ImageParts> parts = PartsOf(map, budget);
  if (!parts) return CountUpTo(CountPoints(map, budget));
  return CountOneImage(*parts, budget);
}

Interval CountUnionOfImages(llvm::ArrayRef<IndexingMap> maps, llvm::ArrayRef<int64_t> sizes,
                            StepBudget* budget) {
  Check(llvm::all_of(maps,
                     [&](const IndexingMap& map) {
                       return map.results().size() == sizes.size() &&
                              map.context() == maps.front().context();
                     }),
        "CountUnionOfImages() of maps with other numbers of results, or of two contexts");
  const QuestionBudget question;
  Interval points = Interval::Point(1);
  for (const int64_t size : sizes) points = points.Mul(CountOf(Interval::OfSize(size)));
  std::vector<std::optional<ImageParts>> by_form;
  for (const IndexingMap& map : maps) {
    by_form.push_back(ProgressionPartsOf(map));
    if (by_form.back() && IsWhole(*by_form.back(), sizes)) return points;
  }
  // Images that are there for sure, and those that may be.
  std::vector<ImageParts> images;
  Interval largest = Interval::Point(0);
  Interval rest = Interval::Point(0);
  for (const auto& [map, known] : llvm::zip_equal(maps, by_form)) {
    std::optional<ImageParts> parts = known ? known : PartsOf(map, budget);
    if (parts && parts->has_point == Answer::kNo) continue;
    if (parts && parts->has_point == Answer::kYes) {
      if (IsWhole(*parts, sizes)) return points;
      images.push_back(*std::move(parts));
      continue;
    }
    const Interval count = parts ? CountOneImage(*parts, budget) : CountImage(map, budget);
    rest = rest.Add(count);
    largest = CountBetween(Interval::Point(std::max(largest.lower(), count.lower())), points);
  }
  if (images.size() == 1 && rest == Interval::Point(0)) return CountOneImage(images[0], budget);
  if (const auto sum = CountUnion(images, static_cast<int>(sizes.size()), budget)) {
    const Interval least = Interval::Point(std::max(sum->lower(), largest.lower()));
    return CountBetween(least, sum->Add(rest)).Intersect(CountUpTo(points));
  }
  int64_t least = largest.lower();
  for (const ImageParts& image : images) {
    const Interval count = CountOneImage(image, budget);
    least = std::max(least, count.lower());
    rest = rest.Add(count);
  }
  return CountBetween(Interval::Point(least), rest).Intersect(CountUpTo(points));
}

Interval CountPairs(const IndexingMap& map, StepBudget* budget) {
  const QuestionBudget question;
  if (map.IsKnownEmpty()) return Interval::Point(0);
  Interval count = Interval::Point(1);
  for (const Component& component : ComponentsOf(map)) {
    const bool has_dim = !component.variables.empty() && component.variables[0] < map.num_dims();
    if (has_dim && component.variables.size() == 1 && component.constraints.empty()) {
      count = count.Mul(CountOf(BoundsOf(map, component.variables[0])));
      continue;
    }
    const std::optional<IndexingMap> alone = MapOfComponent(map, component);
    if (!alone) return CountUpTo(CountPoints(map, budget));
    count = count.Mul(CountPairsOfComponent(*alone, budget));
  }
  return count;
}

}  // namespace xla_indexing
