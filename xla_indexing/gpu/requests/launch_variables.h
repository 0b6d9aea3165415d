// What requests of a launch are counted from: an address as an expression over variables that have roles.
//
// Inner variables run over the lanes of a warp and the elements of a vector: their values together
// are one request. Launch variables have one unknown value for all of the launch, free ones may
// have another for every request, or for every lane; where all keys of two lanes are equal, so are
// the values of the free variables. All others, the outer ones, make requests.
#ifndef XLA_INDEXING_GPU_REQUESTS_LAUNCH_VARIABLES_H_
#define XLA_INDEXING_GPU_REQUESTS_LAUNCH_VARIABLES_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/requests/request_meter.h"

namespace xla_indexing::internal {

// An expression of the program, by its step, and what it has to be in.
struct StepConstraint {
  int step = 0;
  ValueRange interval;
};

struct LaunchAccess {
  AccessProgram program;  // its expressions are the address, then constraints and keys
  int address = 0;        // in bits; a step, as keys are
  int64_t width = 0;
  BitRun extent;  // that all addresses are in
  llvm::SmallVector<StepConstraint, 4> constraints;
  VariableSet inner = 0;
  VariableSet launch = 0;
  VariableSet free = 0;
  llvm::SmallVector<int, 2> keys;
  // The domain has no point.
  bool is_empty = false;
  // Whether there may be fewer points than the constraints say, without its being known which.
  bool may_be_fewer = false;
  // Addresses are not known at all.
  bool may_be_anywhere = false;

  // The steps that count where only these constraints may not hold: the address, they, and keys.
  llvm::SmallVector<int, 8> StepsOf(llvm::ArrayRef<int> open) const {
    llvm::SmallVector<int, 8> steps = {address};
    for (const int i : open) steps.push_back(constraints[i].step);
    steps.append(keys.begin(), keys.end());
    return steps;
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_LAUNCH_VARIABLES_H_
