// The bits that the lanes of one request ask for.
//
// Where the address is linear in the inner variables (gpu/internal/count_requests.h), and all lanes
// are active, bits are runs that follow from the coefficients. Otherwise the inner variables are
// bisected until that is so, or their points are gone through one by one where there would be
// about as many pieces.
//
// Example: address 32*lane for lane in [0, 31], elements of 32 bits: the run [0, 1024). Address
// 64*lane: 32 runs.
#ifndef XLA_INDEXING_GPU_INTERNAL_REQUEST_LANES_H_
#define XLA_INDEXING_GPU_INTERNAL_REQUEST_LANES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/internal/access_forms.h"
#include "xla_indexing/gpu/internal/launch_variables.h"
#include "xla_indexing/gpu/internal/request_meter.h"

namespace xla_indexing::internal {

// Ascending, without overlap, and moved by a multiple of the modulus, so that the first begins in
// its first period.
void CanonicalizeRuns(int64_t modulus, llvm::SmallVectorImpl<BitRun>* runs);

class RequestLanes {
 public:
  using Runs = llvm::SmallVector<BitRun, 64>;
  // By the values of the keys.
  using Groups = std::map<std::vector<int64_t>, Runs>;

  // The access outlives this object. With `takes_copies`, copies that are multiples of `modulus`
  // away are counted and not made.
  RequestLanes(LaunchAccess* access, int64_t modulus, bool takes_copies)
      : access_(*access), forms_(access->algebra), modulus_(modulus), takes_copies_(takes_copies) {}

  // The lanes at which the constraints `open` hold, for the values that the outer variables are
  // narrowed to; `moving` ones, which are only added to the address, are at their lower ends.
  // Ranges of divisions are as FormAlgebra::UpdateDivisionRanges leaves them.
  void Collect(llvm::ArrayRef<int> open, VariableSet moving);
  // Collects lanes group by group, where equal keys make a group, or each lane by itself.
  void CollectGroups(llvm::ArrayRef<int> open, VariableSet moving, bool are_apart);

  // What was collected: ascending, without overlap, the first in the first period of the modulus;
  // and how many copies of it there are (gpu/internal/request_meter.h).
  const Runs& runs() const { return runs_; }
  int64_t copies() const { return copies_; }
  const Groups& groups() const { return groups_; }
  // Brings both into that form.
  void Canonicalize();

 private:
  // Calls `visit(address)` at every active point of the inner variables.
  template <typename Visit>
  void ForEachPoint(llvm::ArrayRef<int> open, VariableSet moving, Visit visit);
  bool HasManyPieces() const;
  void CollectPieces(llvm::ArrayRef<int> open, bool is_whole);
  void AddBox(const Form& address, bool is_whole);
  int64_t ValueOf(const Form& form) const;

  LaunchAccess& access_;
  FormAlgebra& forms_;
  const int64_t modulus_;
  const bool takes_copies_;
  Runs runs_;
  int64_t copies_ = 1;
  Groups groups_;
  llvm::SmallVector<int64_t, 0> values_;  // by the id of a term
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_REQUEST_LANES_H_
