#include "xla_indexing/gpu/machine/element_work.h"

#include <cstddef>
#include <cstdint>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// Sizes without a bound count as one.
double SizeOf(const Shape& shape, int64_t dimension) {
  return shape.IsUnboundedDimension(dimension) ? 1
                                               : static_cast<double>(shape.dimension(dimension));
}

double NumElementsIn(const Shape& shape) {
  double elements = 1;
  for (int64_t i = 0; i < shape.rank(); ++i) elements *= SizeOf(shape, i);
  return elements;
}

ElementWork OfElementwise(HloOpcode opcode) {
  if (opcode == HloOpcode::kCopy || !IsElementwise(opcode)) return {};
  return IsTranscendental(opcode) ? ElementWork{.transcendentals = 1}
                                  : ElementWork{.other_operations = 1};
}

// The products that one element of a dot or convolution is the sum of; 0 of all others.
double ProductsOf(const HloInstruction& instruction) {
  if (instruction.operand_count() < 2) return 0;
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  if (instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kScaledDot ||
      instruction.opcode() == HloOpcode::kRaggedDot) {
    double products = 1;
    for (const int64_t dimension : instruction.dot_dimension_numbers().lhs_contracting_dims) {
      products *= SizeOf(lhs, dimension);
    }
    return products;
  }
  const ConvolutionDimensionNumbers* numbers = instruction.convolution_dimension_numbers();
  if (instruction.opcode() != HloOpcode::kConvolution || numbers == nullptr) return 0;
  const double features = SizeOf(rhs, numbers->kernel_output_feature);
  return features == 0 ? 0 : NumElementsIn(rhs) / features;
}

// How many elements one of the result combines, less those that it begins with; 0 of all others.
double NumCombined(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kMap:
    case HloOpcode::kScan:
      return 1;
    case HloOpcode::kReduce: {
      double combined = 1;
      const Shape& operand = instruction.operand(0)->shape();
      for (const int64_t dimension : instruction.dimensions()) {
        combined *= SizeOf(operand, dimension);
      }
      return combined;
    }
    case HloOpcode::kReduceWindow: {
      double combined = 1;
      if (instruction.window() == nullptr) return 0;
      for (const WindowDimension& dimension : instruction.window()->dimensions) {
        combined *= static_cast<double>(dimension.size);
      }
      return combined;
    }
    default:
      return 0;
  }
}

}  // namespace

bool IsTranscendental(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAcos:
    case HloOpcode::kAcosh:
    case HloOpcode::kAsin:
    case HloOpcode::kAsinh:
    case HloOpcode::kAtan2:
    case HloOpcode::kAtanh:
    case HloOpcode::kCbrt:
    case HloOpcode::kCosine:
    case HloOpcode::kCosh:
    case HloOpcode::kErf:
    case HloOpcode::kExponential:
    case HloOpcode::kExponentialMinusOne:
    case HloOpcode::kLog:
    case HloOpcode::kLogPlusOne:
    case HloOpcode::kLogistic:
    case HloOpcode::kPower:
    case HloOpcode::kRsqrt:
    case HloOpcode::kSine:
    case HloOpcode::kSinh:
    case HloOpcode::kSqrt:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
      return true;
    default:
      return false;
  }
}

ElementWork WorkPerElement(const HloInstruction& instruction, int64_t leaf) {
  if (const double products = ProductsOf(instruction); products > 0) {
    return {.multiply_adds = products,
            .bits = BitWidth(instruction.operand(0)->shape().element_type())};
  }
  const double combined = NumCombined(instruction);
  const HloComputation* combiner = instruction.to_apply();
  if (combined == 0 || combiner == nullptr) return OfElementwise(instruction.opcode());
  ElementWork work;
  if (leaf > 0) return work;
  for (const HloInstruction* const inside : combiner->instructions()) {
    const ElementWork one = OfElementwise(inside->opcode());
    work.transcendentals += one.transcendentals * combined;
    work.other_operations += one.other_operations * combined;
  }
  return work;
}

}  // namespace xla_indexing
