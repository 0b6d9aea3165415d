// The byte addresses that a launch accesses through an indexing map, in the form in which requests
// are counted (gpu/requests/count_requests.h).
//
// Mathematics. For a thread mapping T from threads to elements of an array, and a map f from these
// to elements of a tensor, element i of which lies at bit  B(i)  from its beginning
// (hlo/memory/physical_layout.h), the address is
//
//   A(thread, block, loops; s, rt) = B(f(T(thread, block, loops), s, rt))
//
// where T and f have the point in their domains. The variables are:
//
//   lane                  inner
//   warp of the launch    outer (gpu/requests/launch_threads.h)
//   loops of T, s         vector ranges are inner, other loops outer
//   rt                    launch or free (gpu/requests/count_requests.h), as its binding says: one
//                         value for all points, or another one wherever the element that it is read
//                         from is another
//   base                  where the tensor may begin at more than one place of the period
//
// The address is composed as an expression, and compiled (gpu/requests/access_program.h). A variable
// that is divided by m, and by m*n, is written as its digits there, so that addresses are sums where
// they can be: where k*v + R is divided by k*m,
// with R in [0, k - 1], v mod m and v floordiv m are digits, which change one after the other.
//
// Two elements of 4 bits share a byte. Quotients and remainders by the sizes of tiles are part of
// the address.
//
// Errors. Unimplemented or OutOfRange, with the reason, for what cannot be expressed: sparse or
// split layouts, sizes without a bound, other devices, addresses past 2^62 bits.
#ifndef XLA_INDEXING_GPU_REQUESTS_LAUNCH_ACCESS_H_
#define XLA_INDEXING_GPU_REQUESTS_LAUNCH_ACCESS_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/gpu/requests/count_requests.h"
#include "xla_indexing/gpu/requests/launch_threads.h"
#include "xla_indexing/gpu/requests/warp_request.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Where the elements of an array lie.
struct ByteLayout {
  PhysicalLayout physical;
  int64_t size = 0;                       // of all positions, in bits
  llvm::SmallVector<int64_t, 4> strides;  // of each axis in memory, in bits
};
absl::StatusOr<ByteLayout> ByteLayoutOf(const Shape& array);

// What a launch accesses.
struct AccessedTensor {
  const ByteLayout& layout;
  // The map of an operand; null for the elements that are computed themselves.
  const OperandIndexing* indexing = nullptr;
  // The tensor may begin at `base_count` places, `base_step` bits apart, from 0 on.
  int64_t base_step = 0;
  int64_t base_count = 1;
};

// Makes the accesses of one launch.
class LaunchAccessBuilder {
 public:
  // The mapping verifies for an array of these sizes, and the threads are its. All outlive this
  // object.
  LaunchAccessBuilder(const ThreadMapping& mapping, const LaunchThreads& threads,
                      llvm::ArrayRef<int64_t> sizes);

  absl::StatusOr<LaunchAccess> Build(const AccessedTensor& tensor);
  // A request of the access that was built last.
  WarpRequest RequestAt(const RequestPoint& point) const;

 private:
  // A variable and the digits whose sum it is.
  struct Root {
    ValueRange values;
    int position = 0;                                      // of its dimension in expressions
    llvm::SmallVector<int64_t, 4> boundaries;              // each divides the next
    llvm::SmallVector<std::pair<int, int64_t>, 4> digits;  // variable, multiple
  };

  // Whether the tensor may begin at several places.
  bool HasBase() const { return !base_.values.IsPoint(); }
  llvm::SmallVector<Root*, 8> Roots();
  mlir::AffineExpr VariableOf(const Root& root) const;
  void MakeReads(const OperandIndexing& indexing);
  void MakeExprs(const AccessedTensor& tensor);
  LaunchAccess MakeAccess(const AccessedTensor& tensor);
  static bool FindBoundaries(const AccessProgram& program, Root* root);
  bool FindBoundaries(const LaunchAccess& access);
  int64_t ValueOf(const Root& root, const RequestPoint& point) const;

  const ThreadMapping& mapping_;
  const LaunchThreads& threads_;
  const llvm::ArrayRef<int64_t> sizes_;

  Root warp_;
  llvm::SmallVector<Root, 4> loops_;    // range variables of the mapping
  llvm::SmallVector<Root, 4> symbols_;  // range and runtime variables of the operand's map
  int num_ranges_ = 0;                  // of these, the others are runtime variables
  Root base_;

  // Expressions over the lane, dimension 0, and the variables (gpu/requests/launch_threads.h).
  llvm::SmallVector<mlir::AffineExpr, 4> elements_;  // what a thread computes, or accesses
  mlir::AffineExpr address_;
  llvm::SmallVector<LaunchThreads::ExprConstraint, 4> constraints_;
  llvm::SmallVector<mlir::AffineExpr, 2> keys_;
  llvm::SmallVector<bool, 4> is_one_value_;  // of runtime variables: for all points
  bool may_be_fewer_ = false;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_LAUNCH_ACCESS_H_
