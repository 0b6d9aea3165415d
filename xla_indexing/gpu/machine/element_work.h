// What it takes to compute one element of an operation's result: multiply-adds of products,
// transcendental functions, and other operations.
//
//   dot, convolution            a multiply-add for each product, those with padding like the others
//   reduce, reduce-window, scan the operations of the combiner, for each element that is combined
//   map                         the operations of its function
//   elementwise                 one operation; exponential, tanh, power, .. a transcendental one
//   all others                  no work: they move elements, or call computations or libraries
//
// Example: an element of f32[64,32] dot of f32[64,128] and f32[128,32] is 128 multiply-adds of 32 bits.
#ifndef XLA_INDEXING_GPU_MACHINE_ELEMENT_WORK_H_
#define XLA_INDEXING_GPU_MACHINE_ELEMENT_WORK_H_

#include <cstdint>

#include "xla_indexing/base/cpp20.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {

// Whether it is a function such as exp, which takes many operations or a unit of its own.
bool IsTranscendental(HloOpcode opcode);

// A sum of fewer elements costs so little that computing it again, wherever it is read, is no
// waste.
inline constexpr int64_t kSmallSum = 16;

struct ElementWork {
  double multiply_adds = 0;
  double transcendentals = 0;
  double other_operations = 0;
  int64_t bits = 32;  // of an element of what is multiplied

  bool IsNone() const {
    return multiply_adds == 0 && transcendentals == 0 && other_operations == 0;
  }
};

// The work for an element of this leaf of the result. A combiner of several results has all of its work at
// leaf 0.
ElementWork WorkPerElement(const HloInstruction& instruction, int64_t leaf = 0);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_MACHINE_ELEMENT_WORK_H_
