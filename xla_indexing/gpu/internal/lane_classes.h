// The values of one outer variable, by what the lanes of a warp do at them.
//
// Mathematics. Let v be the only variable, beside the inner ones, that is in divisions (of the
// address, and of constraints that hold for some points), and let l0 be the point at which all
// inner variables are at their lower ends. At one v, each division of a dividend D by m has
//
//   r = D(v, l0) mod m,   D(v, l) = m * floor(D(v, l0) / m) + r + (D(v, l) - D(v, l0)),
//
// so that how the quotient and the remainder differ from those at l0 follows from r and from how D
// does. Where  0 <= r + D(v, l) - D(v, l0) < m  for all l, the division has no *carry*: the
// quotient is the same for all lanes, the remainder differs as D does, and r does not count. Hence,
// division after division, A(v, l) - A(v, l0) is a function of the r of those that carry, and
// whether a constraint holds at l one of these and of its value at l0. These numbers are the
// *pattern* of v; a constraint that holds for all lanes adds nothing to it, and v at which one
// holds for no lane has no request. Values with the same pattern and the same A(v, l0) modulo the
// meter's modulus, a *class*, cost the same.
//
// The values are not gone through one by one: as long as no division carries, none of its quotients
// changes and no constraint begins or ends to hold, A(v, l0) grows by the same number each time,
// and the pattern stays. Such a stretch is one *place*; it ends where the first of the divisions
// does.
//
// Example. A(v, lane) = 32 * ((32*v + lane) mod 700 + 1000 * floor((32*v + lane) / 700)), modulus
// 1024. v = 0 to 20 have no carry: one place and one class, since A grows by 1024. v = 21 begins at
// 672 and carries after 28 lanes: a place and a class by itself.
#ifndef XLA_INDEXING_GPU_INTERNAL_LANE_CLASSES_H_
#define XLA_INDEXING_GPU_INTERNAL_LANE_CLASSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/internal/access_forms.h"
#include "xla_indexing/gpu/internal/lane_bits.h"
#include "xla_indexing/gpu/internal/lane_forms.h"
#include "xla_indexing/gpu/internal/launch_variables.h"

namespace xla_indexing::internal {

struct LaneClass {
  int pattern = 0;
  int64_t residue = 0;  // A(v, l0) mod modulus
  // The numbers of values, by the part that they were added to.
  std::array<int64_t, 2> counts = {0, 0};
  int64_t first = 0;  // one of them, the one that was seen first
};

class LaneClasses {
 public:
  // The classes take a few megabytes at most.
  static constexpr size_t kMaxClasses = size_t{1} << 14;

  // The access outlives this object and its ranges do not change meanwhile; they are as
  // FormAlgebra::UpdateDivisionRanges leaves them. `constraints` are those that do not hold
  // everywhere; other variables than v and the inner ones are at their lower ends, and in no
  // division that has several values. The modulus is a power of two.
  LaneClasses(const LaunchAccess& access, llvm::ArrayRef<int> constraints, int variable,
              int64_t modulus, size_t max_classes = kMaxClasses);

  // Whether numbers are small enough (2^60); otherwise there are no classes.
  bool fits() const { return forms_.fits; }

  // Adds the values to a part, 0 or 1, as long as `places` is more than 0 and there are fewer than
  // `max_classes`: a place takes one, and more where it has many residues. Returns the first value
  // that was not added.
  int64_t Add(ValueRange values, int part, int64_t* places);

  // Forgets what was added, so that there is room for more.
  void Clear();

  // The classes in the order in which they were found.
  llvm::ArrayRef<LaneClass> classes() const { return classes_; }
  int num_patterns() const { return static_cast<int>(next_.size()); }
  // The bits of a pattern (gpu/internal/lane_bits.h); none: no lane is active.
  const LaneBits::Trains& BitsOf(int pattern) {
    // There is no key where there is nothing to tell patterns apart.
    return bits_.Of(
        llvm::ArrayRef<int64_t>(keys_).slice(pattern * pattern_.size(), pattern_.size()));
  }

 private:
  // The state of a sum or a digit at one v.
  struct State {
    int64_t value = 0;  // at l0
    int64_t slope = 0;  // how it goes on with v; 0 where it does not
    int64_t low = 0;    // less `value`, at all points
    int64_t high = 0;
  };

  // For how many values from one v on the states and the pattern continue as they are.
  struct Stretch {
    int64_t length = 0;
    bool is_active = true;  // Some lane may be.
  };

  State StateOf(const LaneSum& sum, int64_t v) const;
  // Leaves the states and the pattern at v.
  Stretch LookAt(int64_t v);
  int FindPattern();
  void AddToClass(int pattern, int64_t residue, int part, int64_t count, int64_t first);

  const LaneForms forms_;
  const int64_t modulus_;
  const size_t max_classes_;
  LaneBits bits_;

  llvm::SmallVector<State, 4> states_;  // of the digits
  State address_state_;
  llvm::SmallVector<int64_t, 8> pattern_;  // of digits and constraints
  bool is_plain_ = false;                  // Nothing in it counts.

  int plain_pattern_ = -1;
  std::vector<int> next_;      // of each pattern, one with the same hash, or -1
  std::vector<int64_t> keys_;  // of the patterns, one after the other
  llvm::DenseMap<uint64_t, int> pattern_of_hash_;
  std::vector<LaneClass> classes_;
  llvm::DenseMap<std::pair<int, int64_t>, int> class_of_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_LANE_CLASSES_H_
