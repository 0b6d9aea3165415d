// Bounds of coordinates and of differences of two of them (a *zone*):
//
//   { x : x_i - x_j <= b_ij for all i, j }, x_0 = 0
//
// They are *closed* where b_ij <= b_ik + b_kj for all k, so that bounds are as small as can be.
//
// Source: Mine, A New Numerical Abstract Domain Based on Difference-Bound Matrices.
#ifndef XLA_INDEXING_MAP_UNION_DIFFERENCE_BOUNDS_H_
#define XLA_INDEXING_MAP_UNION_DIFFERENCE_BOUNDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// Numbers of maps are smaller than this, so that bounds, sums of as many as there are coordinates, and
// sums of two bounds fit.
inline constexpr int64_t kMaxNumberOfDifferences = int64_t{1} << 50;
// No bound.
inline constexpr int64_t kNoBound = int64_t{1} << 60;

// A coordinate, the first of which is 0, and a number to be added.
struct ShiftedCoordinate {
  int coordinate = 0;
  int64_t added = 0;
};

class DifferenceBounds {
 public:
  explicit DifferenceBounds(int coordinates)
      : size_(coordinates), bounds_(coordinates * coordinates, kNoBound) {
    for (int i = 0; i < size_; ++i) At(i, i) = 0;
  }

  int size() const { return size_; }
  // x_i - x_j <= Bound(i, j); no bound if that is kNoBound.
  int64_t Bound(int i, int j) const { return bounds_[i * size_ + j]; }

  // By how much two coordinates differ, x_i - x_j, where that is one number; of a closed zone.
  std::optional<int64_t> Difference(int i, int j) const {
    if (Bound(i, j) == kNoBound || Bound(i, j) != -Bound(j, i)) return std::nullopt;
    return Bound(i, j);
  }

  // x_i - x_j of a point.
  Interval Values(int i, int j) const {
    const Interval above =
        Bound(j, i) == kNoBound ? Interval::All() : Interval::AtLeast(-Bound(j, i));
    return Bound(i, j) == kNoBound ? above : above.Intersect(Interval::AtMost(Bound(i, j)));
  }

  // Restricts x_a - x_b to an interval; false where a number is too large.
  bool Restrict(ShiftedCoordinate a, ShiftedCoordinate b, const Interval& interval) {
    if (interval.IsEmpty()) {
      Tighten(0, 0, -1);
      return true;
    }
    const auto is_small = [](int64_t number) {
      return -kMaxNumberOfDifferences < number && number < kMaxNumberOfDifferences;
    };
    if (!is_small(a.added) || !is_small(b.added)) return false;
    if (interval.has_upper()) {
      if (!is_small(interval.upper())) return false;
      Tighten(a.coordinate, b.coordinate, interval.upper() - a.added + b.added);
    }
    if (interval.has_lower()) {
      if (!is_small(interval.lower())) return false;
      Tighten(b.coordinate, a.coordinate, -interval.lower() + a.added - b.added);
    }
    return true;
  }
  // x_i - x_j <= bound.
  void Tighten(int i, int j, int64_t bound) { At(i, j) = std::min(At(i, j), bound); }

  // Makes all bounds as small as can be; false where there is no point.
  bool Close() {
    for (int k = 0; k < size_; ++k) {
      for (int i = 0; i < size_; ++i) {
        for (int j = 0; j < size_; ++j) {
          if (Bound(i, k) == kNoBound || Bound(k, j) == kNoBound) continue;
          At(i, j) = std::min(At(i, j), Bound(i, k) + Bound(k, j));
        }
      }
    }
    for (int i = 0; i < size_; ++i) {
      if (Bound(i, i) < 0) return false;
    }
    return true;
  }

  // This without the coordinates from `first` to `last`; closed if this is.
  DifferenceBounds Without(int first, int last) const {
    DifferenceBounds without(size_ - (last - first));
    const auto old = [&](int i) { return i < first ? i : i + last - first; };
    for (int i = 0; i < without.size_; ++i) {
      for (int j = 0; j < without.size_; ++j) without.At(i, j) = Bound(old(i), old(j));
    }
    return without;
  }

  // The least zone with both; the two have to be closed.
  DifferenceBounds Hull(const DifferenceBounds& other) const {
    DifferenceBounds hull = *this;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      hull.bounds_[i] = std::max(bounds_[i], other.bounds_[i]);
    }
    return hull;
  }
  bool IsSubsetOf(const DifferenceBounds& other) const {
    for (size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i] > other.bounds_[i]) return false;
    }
    return true;
  }

  friend bool operator==(const DifferenceBounds& a, const DifferenceBounds& b) = default;

 private:
  int64_t& At(int i, int j) { return bounds_[i * size_ + j]; }

  int size_;
  llvm::SmallVector<int64_t, 64> bounds_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_DIFFERENCE_BOUNDS_H_
