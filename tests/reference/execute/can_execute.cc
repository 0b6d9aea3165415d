#include "tests/reference/execute/can_execute.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/reference/execute/operations.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

using internal::CollectiveGroups;
using internal::CollectiveGroupsOf;
using internal::CollectiveIds;
using internal::CollectivePairs;
using internal::CollectivePairsOf;
using internal::IsCollective;

constexpr double kMaxElements = 256;  // of an array
constexpr int64_t kMaxDevices = 8;
// The bound on the entry: elements that are visited, times the words of a set of sources (value.h).
constexpr double kMaxSteps = 1 << 22;

// Doubles do not overflow, and how large a number is does not matter once it is too large.
double ElementsOfArray(const Shape& array) {
  double count = 1;
  for (const int64_t size : array.dimensions()) count *= static_cast<double>(size);
  return count;
}

double ElementsOfShape(const Shape& shape) {
  double count = 1;
  for (const Shape* leaf : shape.Leaves()) count += ElementsOfArray(*leaf);
  return count;
}

double OperandElementsOf(const HloInstruction& instruction) {
  double count = 1;
  for (const HloInstruction* operand : instruction.operands()) {
    count += ElementsOfShape(operand->shape());
  }
  return count;
}

// Bits of memory of an array, tiles and all, or more.
double BitsOf(const Shape& array) {
  const Layout layout = array.LayoutOrRowMajor();
  double bits = 64 + static_cast<double>(layout.element_size_in_bits);
  for (const int64_t size : array.dimensions()) bits *= static_cast<double>(size);
  for (const Tile& tile : layout.tiles) {
    for (const int64_t size : tile.dimensions) bits *= std::max(1.0, static_cast<double>(size) * 2);
  }
  return bits;
}

// The elements of an operand with padding and holes, and the window for each of the result.
double WindowSteps(const HloInstruction& instruction) {
  if (instruction.window() == nullptr) return 1;
  double padded = 1;
  double window_size = 1;
  for (const WindowDimension& dim : instruction.window()->dimensions) {
    padded *= 1 + kMaxElements * std::abs(static_cast<double>(dim.base_dilation)) +
              std::abs(static_cast<double>(dim.padding_low)) +
              std::abs(static_cast<double>(dim.padding_high));
    window_size *= static_cast<double>(dim.size);
  }
  const double outputs = instruction.opcode() == HloOpcode::kSelectAndScatter
                             ? ElementsOfShape(instruction.operand(1)->shape())
                             : ElementsOfShape(instruction.shape());
  const double features = instruction.opcode() == HloOpcode::kConvolution ? kMaxElements : 1;
  return padded + outputs * window_size * features;
}

// Every value of an index vector is tried, for every element that it could address.
double ScatterSteps(const HloInstruction& instruction) {
  const Shape& operand = instruction.operand(0)->shape();
  double vectors = 1;
  for (const int64_t d : instruction.scatter_dimension_numbers().scatter_dims_to_operand_dims) {
    vectors *= 2 * static_cast<double>(operand.dimension(d)) + 3;
  }
  const double updates = OperandElementsOf(instruction);
  return updates * updates + vectors * updates * updates;
}

class Steps {
 public:
  explicit Steps(const HloModule& module) : module_(module) {}

  absl::Status OfComputation(const HloComputation& computation, bool on_all_devices,
                             double* steps) {
    const auto known = known_.find({&computation, on_all_devices});
    if (known != known_.end()) {
      *steps = known->second;
      return absl::OkStatus();
    }
    *steps = 1;
    for (const HloInstruction* instruction : computation.instructions()) {
      double more = 0;
      absl::Status status = OfInstruction(*instruction, on_all_devices, &more);
      if (!status.ok()) return status;
      *steps += more;
      if (*steps > kMaxSteps) return CannotTake(*instruction, "takes many steps");
    }
    known_[{&computation, on_all_devices}] = *steps;
    return absl::OkStatus();
  }

  absl::Status OfDevices() {
    const int64_t replicas = module_.replica_count();
    const int64_t partitions = module_.num_partitions();
    if (replicas < 1 || partitions < 1 || replicas > kMaxDevices || partitions > kMaxDevices ||
        replicas * partitions > kMaxDevices) {
      return absl::UnimplementedError("the module has many devices");
    }
    device_count_ = replicas * partitions;
    return absl::OkStatus();
  }

  double device_count() const { return static_cast<double>(device_count_); }

 private:
  static absl::Status CannotTake(const HloInstruction& instruction, absl::string_view why) {
    return absl::UnimplementedError(absl::StrCat(instruction.name(), ": ", why));
  }

  absl::Status OfInstruction(const HloInstruction& instruction, bool on_all_devices,
                             double* steps) {
    for (const Shape* leaf : instruction.shape().Leaves()) {
      if (!leaf->IsStatic()) return CannotTake(instruction, "the size is known at run time");
      if (ElementsOfArray(*leaf) > kMaxElements) return CannotTake(instruction, "it is large");
    }
    const double results = ElementsOfShape(instruction.shape());
    const double operands = OperandElementsOf(instruction);
    *steps = results * operands;
    if (results * operands > kMaxSteps) return CannotTake(instruction, "takes many steps");
    switch (instruction.opcode()) {
      case HloOpcode::kBitcast:
        *steps = BitsOf(instruction.shape()) + BitsOf(instruction.operand(0)->shape());
        break;
      case HloOpcode::kConvolution:
        if (!IsExecuted(instruction)) return CannotTake(instruction, "an operand is sparse");
        [[fallthrough]];
      case HloOpcode::kReduceWindow:
      case HloOpcode::kSelectAndScatter:
        *steps = WindowSteps(instruction);
        break;
      case HloOpcode::kCustomCall:
        return OfCustomCall(instruction);
      case HloOpcode::kPad:
        for (const PaddingDimension& dim : instruction.padding()) {
          *steps += std::abs(static_cast<double>(dim.low)) +
                    std::abs(static_cast<double>(dim.interior)) * kMaxElements;
        }
        break;
      case HloOpcode::kScatter:
        *steps = ScatterSteps(instruction);
        break;
      default:
        if (IsCollective(instruction.opcode())) return OfCollective(instruction, on_all_devices);
        if (IsElementwise(instruction.opcode())) *steps = results + operands;
    }
    return AddCalls(instruction, on_all_devices, steps);
  }

  // A convolution that is sparse in the way that window.cc knows, if at all.
  static bool IsExecuted(const HloInstruction& convolution) {
    if (!convolution.is_sparse()) return true;
    const std::optional<KernelSparsity> sparsity = convolution.kernel_sparsity();
    const ConvolutionDimensionNumbers& dims = *convolution.convolution_dimension_numbers();
    const Shape& kernel = convolution.operand(1)->shape();
    if (!sparsity || convolution.operand_count() != 3 ||
        sparsity->dimension != dims.kernel_input_feature ||
        !IsIntegral(convolution.operand(2)->shape().element_type()) ||
        !SameDimensions(kernel, convolution.operand(2)->shape())) {
      return false;
    }
    const int64_t features = convolution.operand(0)->shape().dimension(dims.input_feature) /
                             convolution.feature_group_count();
    const int64_t blocks = kernel.dimension(sparsity->dimension) / sparsity->kept;
    return blocks * sparsity->kept == kernel.dimension(sparsity->dimension) &&
           features % sparsity->of == 0 && features / sparsity->of == blocks;
  }

  // Whether the values that say who the roots are, if any, are one for all arrays, or one for each.
  static bool HasRoots(const HloInstruction& collective) {
    if (!internal::HasDynamicRoot(collective)) return true;
    const int64_t count = collective.operands().back()->shape().ElementCount().value_or(0);
    return count == 1 || count == collective.shape().LeafCount();
  }

  absl::Status AddCalls(const HloInstruction& instruction, bool on_all_devices, double* steps) {
    double times = 1;
    switch (instruction.opcode()) {
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
        break;
      case HloOpcode::kAsyncUpdate: {
        if (instruction.operand_count() == 1) return absl::OkStatus();
        const HloInstruction* start = AsyncStartOf(instruction);
        if (start == nullptr) return CannotTake(instruction, "its async-start is not to be seen");
        return AddCalls(*start, on_all_devices, steps);
      }
      case HloOpcode::kAsyncStart:
      case HloOpcode::kConditional:
        on_all_devices = false;
        break;
      case HloOpcode::kWhile:
        on_all_devices = false;
        times = kMaxIterations;
        break;
      case HloOpcode::kScan:
        on_all_devices = false;
        times = kMaxElements;
        break;
      case HloOpcode::kScatter:
        break;
      default:
        return absl::OkStatus();  // What it calls is not executed.
    }
    for (const HloComputation* called : instruction.called_computations()) {
      double more = 0;
      absl::Status status = OfComputation(*called, on_all_devices, &more);
      if (!status.ok()) return status;
      *steps += times * more;
    }
    return absl::OkStatus();
  }

  // The targets that custom_call.cc knows.
  static absl::Status OfCustomCall(const HloInstruction& instruction) {
    const absl::string_view target = instruction.custom_call_target();
    if (absl::StartsWith(target, "lapack_") || target == "xla.sdy.GlobalToLocalShape" ||
        target == "xla.sdy.LocalToGlobalShape") {
      return CannotTake(instruction, "it is not defined here");
    }
    const bool hands_on = HandsOnItsOperand(target);
    if (hands_on && (instruction.operand_count() != 1 ||
                     !EqualIgnoringLayout(instruction.shape(), instruction.operand(0)->shape()))) {
      return CannotTake(instruction, "the result is not the operand");
    }
    if (target == "TopK") {
      for (const HloInstruction* operand : instruction.operands()) {
        for (const Shape* leaf : operand->shape().Leaves()) {
          for (const Shape* result : instruction.shape().Leaves()) {
            if (leaf->rank() != result->rank()) return CannotTake(instruction, "other ranks");
          }
        }
      }
    }
    return absl::OkStatus();
  }

  // The ids are those of the devices that the module has, each in a group; all devices come to it.
  absl::Status OfCollective(const HloInstruction& instruction, bool on_all_devices) const {
    const auto has_devices = [&](const CollectiveIds& ids) {
      return ids.replica_count == module_.replica_count() &&
             ids.partition_count == module_.num_partitions();
    };
    const bool has_pairs = instruction.HasAttribute(AttributeKey::kSourceTargetPairs);
    switch (instruction.opcode()) {
      case HloOpcode::kAllGatherDone:
      case HloOpcode::kAllReduceDone:
      case HloOpcode::kCollectivePermuteDone:
        return absl::OkStatus();
      case HloOpcode::kCollectivePermute:
      case HloOpcode::kCollectivePermuteStart: {
        if (!has_pairs) return CannotTake(instruction, "no pairs");
        if (instruction.HasAttribute(AttributeKey::kSliceSizes)) {
          return CannotTake(instruction, "permutes in place");
        }
        const absl::StatusOr<CollectivePairs> pairs = CollectivePairsOf(instruction);
        if (!pairs.ok() || !has_devices(*pairs)) return CannotTake(instruction, "other devices");
        break;
      }
      default: {
        if (has_pairs) return CannotTake(instruction, "pairs and groups");
        if (!HasRoots(instruction)) return CannotTake(instruction, "other roots");
        const absl::StatusOr<CollectiveGroups> groups = CollectiveGroupsOf(instruction);
        if (!groups.ok() || !has_devices(*groups)) return CannotTake(instruction, "other devices");
      }
    }
    if (device_count_ > 1 && !on_all_devices) return CannotTake(instruction, "some devices");
    return absl::OkStatus();
  }

  const HloModule& module_;
  int64_t device_count_ = 1;
  // The steps of computations, with whether all devices come to them together.
  absl::flat_hash_map<std::pair<const HloComputation*, bool>, double> known_;
};

}  // namespace

absl::Status CanExecute(const HloModule& module) {
  Steps steps(module);
  absl::Status status = steps.OfDevices();
  if (!status.ok()) return status;
  double taken = 0;
  const HloComputation& entry = *module.entry_computation();
  status = steps.OfComputation(entry, /*on_all_devices=*/true, &taken);
  if (!status.ok()) return status;
  double sources = 0;
  for (const HloInstruction* parameter : entry.parameters()) {
    sources += ElementsOfShape(parameter->shape());
  }
  const double devices = steps.device_count();
  if (taken * devices * devices * (1 + sources * devices / 64) > kMaxSteps) {
    return absl::UnimplementedError("the entry takes many steps");
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::reference
