#include "xla_indexing/map/count/block_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/count/count_points.h"

namespace xla_indexing::internal {
namespace {

// The most residues that are looked at one by one.
constexpr Int128 kMaxResidues = 1 << 20;

ImageMask MaskOf(llvm::ArrayRef<size_t> images, size_t num_images) {
  ImageMask mask((num_images + 63) / 64);
  for (const size_t i : images) mask[i / 64] |= uint64_t{1} << (i % 64);
  return mask;
}

// Adds the classes of the elements in [first, end - 1], where the progressions `active` have elements
// and no other has.
bool AddSegment(llvm::ArrayRef<Progression> progressions, llvm::ArrayRef<size_t> active,
                Int128 first, Int128 end, StepBudget* budget, ClassSizes* classes) {
  const Progression& one = progressions[active[0]];
  if (llvm::all_of(active, [&](size_t i) { return progressions[i].residues == one.residues; })) {
    const Progression here = Progression::Of(
        Interval::Closed(static_cast<int64_t>(first), static_cast<int64_t>(end - 1)), one.residues);
    if (!here.IsEmpty()) (*classes)[MaskOf(active, progressions.size())] += *here.Count();
    return true;
  }
  Int128 period = 1;
  for (const size_t i : active) {
    const int64_t stride = progressions[i].step();
    if (stride > kMaxResidues) return false;
    period = std::lcm(static_cast<int64_t>(period), stride);
    if (period > kMaxResidues) return false;
  }
  const Int128 residues = std::min(period, end - first);
  if (!budget->Take(static_cast<int64_t>(residues))) return false;
  for (Int128 x = first; x < first + residues; ++x) {
    llvm::SmallVector<size_t, 8> here;
    for (const size_t i : active) {
      if ((x - progressions[i].first()) % progressions[i].step() == 0) here.push_back(i);
    }
    if (!here.empty()) (*classes)[MaskOf(here, progressions.size())] += (end - 1 - x) / period + 1;
  }
  return true;
}

// The points of a block, numbered row by row.
class BlockPoints {
 public:
  // Holds the hulls of all parts; nullopt if that is more than a number of steps.
  static std::optional<BlockPoints> Of(llvm::ArrayRef<std::vector<const ImagePart*>> parts,
                                       StepBudget* budget) {
    std::map<int, Interval> hulls;  // by result
    for (const std::vector<const ImagePart*>& image : parts) {
      for (const ImagePart* part : image) {
        for (const auto& [result, hull] : llvm::zip_equal(part->results, HullOf(*part))) {
          const auto [it, is_new] = hulls.try_emplace(result, hull);
          if (!is_new) it->second = it->second.Union(hull);
        }
      }
    }
    BlockPoints points;
    for (const auto& [result, hull] : llvm::reverse(hulls)) {
      const std::optional<int64_t> size = hull.Size();
      if (!size) return std::nullopt;
      points.axes_[result] = {hull.IsEmpty() ? 0 : hull.lower(), points.count_};
      const std::optional<int64_t> count = CheckedMul(points.count_, *size);
      if (!count) return std::nullopt;
      points.count_ = *count;
    }
    if (!budget->Take(points.count_)) return std::nullopt;
    return points;
  }

  int64_t count() const { return count_; }

  // What an element of a part adds to the number of its point.
  int64_t NumberOf(const ImagePart& part, llvm::ArrayRef<int64_t> element) const {
    int64_t number = 0;
    for (const auto& [result, value] : llvm::zip_equal(part.results, element)) {
      const Axis& axis = axes_.at(result);
      number += (value - axis.first) * axis.stride;
    }
    return number;
  }

 private:
  struct Axis {
    int64_t first;
    int64_t stride;
  };
  std::map<int, Axis> axes_;
  int64_t count_ = 1;
};

// Which images have each point. Sets of images are numbered as they come up, so that a point is
// one small number.
class Marks {
 public:
  Marks(size_t num_places, size_t num_images) : marks_(num_places) {
    sets_.push_back(MaskOf({}, num_images));
  }

  void BeginImage(size_t image) {
    image_ = image;
    num_older_ = sets_.size();
    with_image_.assign(num_older_, 0);
  }

  void Mark(size_t point) {
    uint16_t& set = marks_[point];
    if (set >= num_older_) return;  // marked by this image before
    uint16_t& next = with_image_[set];
    if (next == 0) {
      if (sets_.size() > kMaxSets) {
        has_too_many_sets_ = true;
        return;
      }
      next = static_cast<uint16_t>(sets_.size());
      sets_.push_back(sets_[set]);
      sets_.back()[image_ / 64] |= uint64_t{1} << (image_ % 64);
    }
    set = next;
  }

  // Nullopt if there are too many different sets.
  std::optional<ClassSizes> Sizes() const {
    if (has_too_many_sets_) return std::nullopt;
    std::vector<int64_t> counts(sets_.size());
    for (const uint16_t set : marks_) ++counts[set];
    ClassSizes sizes;
    for (size_t i = 1; i < counts.size(); ++i) {
      if (counts[i] > 0) sizes[sets_[i]] += counts[i];
    }
    return sizes;
  }

 private:
  static constexpr size_t kMaxSets = std::numeric_limits<uint16_t>::max();

  std::vector<uint16_t> marks_;
  std::vector<ImageMask> sets_;
  bool has_too_many_sets_ = false;
  size_t image_ = 0;
  size_t num_older_ = 0;
  std::vector<uint16_t> with_image_;  // of older sets; 0: not there yet
};

// Calls mark(point) for the product of parts.
template <typename Mark>
bool ForEachPointOfParts(llvm::ArrayRef<const ImagePart*> parts, const BlockPoints& points,
                         int64_t base, StepBudget* budget, Mark mark) {
  if (parts.empty()) {
    mark(static_cast<size_t>(base));
    return true;
  }
  bool done = true;
  const bool visited = ForEachElement(*parts[0], budget, [&](llvm::ArrayRef<int64_t> element) {
    if (!done) return;
    done = ForEachPointOfParts(parts.drop_front(), points,
                               base + points.NumberOf(*parts[0], element), budget, mark);
  });
  return visited && done;
}

}  // namespace

std::optional<ClassSizes> ClassesOfProgressions(llvm::ArrayRef<Progression> progressions,
                                                StepBudget* budget) {
  // Where progressions begin, and the points after their ends.
  std::vector<Int128> ends;
  for (const Progression& values : progressions) {
    if (values.IsEmpty()) continue;
    ends.push_back(values.first());
    ends.push_back(Int128{values.last()} + 1);
  }
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  ClassSizes classes;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    llvm::SmallVector<size_t, 8> active;
    for (const auto& [j, values] : llvm::enumerate(progressions)) {
      if (!values.IsEmpty() && values.first() <= ends[i] && values.last() >= ends[i]) {
        active.push_back(j);
      }
    }
    if (active.empty()) continue;
    if (!AddSegment(progressions, active, ends[i], ends[i + 1], budget, &classes)) {
      return std::nullopt;
    }
  }
  return classes;
}

std::optional<ClassSizes> ClassesOfElements(llvm::ArrayRef<std::vector<const ImagePart*>> parts,
                                            StepBudget* budget) {
  const std::optional<BlockPoints> points = BlockPoints::Of(parts, budget);
  if (!points) return std::nullopt;
  Marks marks(static_cast<size_t>(points->count()), parts.size());
  for (const auto& [i, image] : llvm::enumerate(parts)) {
    marks.BeginImage(i);
    if (!ForEachPointOfParts(image, *points, 0, budget, [&](size_t point) { marks.Mark(point); })) {
      return std::nullopt;
    }
  }
  return marks.Sizes();
}

Interval CountPart(const ImagePart& part, StepBudget* budget) {
  if (part.progression) return CountOf(*part.progression->Count());
  if (part.domain) return CountPoints(*part.domain, budget);
  if (part.is_injective) return CountPoints(*part.map, budget);
  if (const auto classes = ClassesOfElements({{&part}}, budget)) {
    // There is one image, and so one class at most.
    return CountOf(classes->empty() ? 0 : classes->begin()->second);
  }
  const Interval points = CountPoints(*part.map, budget);
  Interval box = Interval::Point(1);
  for (const Interval& values : HullOf(part)) box = box.Mul(CountOf(values));
  return CountBetween(Interval::Point(std::min<int64_t>(points.lower(), 1)), points)
      .Intersect(CountUpTo(box));
}

}  // namespace xla_indexing::internal
