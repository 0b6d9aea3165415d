#include "tests/lowering/support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/lowering/support/complex_values.h"
#include "tests/lowering/support/element_values.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using reference::Array;
using reference::Index;
using reference::Integer;
using reference::Value;

absl::Status NoDefinition(const HloInstruction& instruction) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": no numbers of ",
                                               instruction.opcode_name(), " of ",
                                               instruction.shape().ToString()));
}

class Evaluator {
 public:
  absl::StatusOr<Value> Run(const HloComputation& computation,
                            const std::vector<const Value*>& arguments) {
    absl::flat_hash_map<const HloInstruction*, Value> values;
    for (const HloInstruction* instruction : computation.instructions()) {
      std::vector<const Value*> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(&values.at(operand));
      }
      for (const Shape* leaf : instruction->shape().Leaves()) {
        if (!HasElementValues(leaf->element_type())) return NoDefinition(*instruction);
      }
      absl::StatusOr<Value> value = instruction->opcode() == HloOpcode::kParameter
                                        ? *arguments[instruction->parameter_number()]
                                        : Compute(*instruction, operands);
      if (!value.ok()) return value;
      if (absl::Status status = reference::SetShape(*instruction, &*value); !status.ok()) {
        return status;
      }
      values.emplace(instruction, *std::move(value));
    }
    return values.at(computation.root_instruction());
  }

 private:
  absl::StatusOr<Value> Compute(const HloInstruction& instruction,
                                const std::vector<const Value*>& operands) {
    if (const HloComputation* called = instruction.inlined_computation()) {
      return Run(*called, operands);
    }
    const auto run = [&](const HloComputation& called, reference::Operands arguments,
                         int64_t /*number*/) {
      return Run(called, std::vector<const Value*>(arguments.begin(), arguments.end()));
    };
    switch (instruction.opcode()) {
      case HloOpcode::kBitcast:
        // Elements of another width are those of a bitcast-convert, in the shapes that are lowered.
        if (StorageBitWidth(instruction.shape().element_type()) !=
            StorageBitWidth(operands[0]->front().shape().element_type())) {
          return BitcastConvert(instruction, operands);
        }
        return Move(instruction, operands);
      case HloOpcode::kBitcastConvert:
        return BitcastConvert(instruction, operands);
      case HloOpcode::kConditional:
        return reference::Conditional(instruction, operands, run);
      case HloOpcode::kConstant:
        return ComputeConstant(instruction);
      case HloOpcode::kConvolution:
        return Convolution(instruction, operands);
      case HloOpcode::kDot:
        return Dot(instruction, operands);
      case HloOpcode::kIota:
        return ComputeIota(instruction);
      case HloOpcode::kMap:
        return ComputeMap(instruction, operands);
      case HloOpcode::kReduce:
        return Reduce(instruction, operands);
      case HloOpcode::kReduceWindow:
        return ReduceWindow(instruction, operands);
      case HloOpcode::kScatter:
        return Scatter(instruction, operands);
      case HloOpcode::kSelectAndScatter:
        return SelectAndScatter(instruction, operands);
      case HloOpcode::kSort:
        return Sort(instruction, operands);
      case HloOpcode::kTopk:
        return Topk(instruction, operands);
      case HloOpcode::kWhile:
        return reference::While(instruction, operands, run);
      case HloOpcode::kAddDependency:
      case HloOpcode::kBroadcast:
      case HloOpcode::kConcatenate:
      case HloOpcode::kDomain:
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kDynamicUpdateSlice:
      case HloOpcode::kGather:
      case HloOpcode::kGetTupleElement:
      case HloOpcode::kOptBarrier:
      case HloOpcode::kPad:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
      case HloOpcode::kTuple:
        return Move(instruction, operands);
      default:
        if (!IsElementwise(instruction.opcode())) return NoDefinition(instruction);
        return Elementwise(instruction, operands);
    }
  }

  // As tests/reference moves elements, once they have the type of the result.
  absl::StatusOr<Value> Move(const HloInstruction& instruction,
                             std::vector<const Value*> operands) {
    std::vector<Value> converted(operands.size());
    if (instruction.shape().IsArray()) {
      const ElementType type = instruction.shape().element_type();
      for (size_t i = 0; i < operands.size(); ++i) {
        const bool is_index =
            instruction.opcode() == HloOpcode::kGather ||
                    instruction.opcode() == HloOpcode::kDynamicSlice
                ? i >= 1
                : instruction.opcode() == HloOpcode::kDynamicUpdateSlice && i >= 2;
        if (is_index || operands[i]->size() != 1) continue;
        const ElementType from = operands[i]->front().shape().element_type();
        if (from == type) continue;
        if (!IsFloatingPoint(from) || !IsFloatingPoint(type) ||
            instruction.opcode() == HloOpcode::kBitcast) {
          return NoDefinition(instruction);
        }
        converted[i] = *operands[i];
        for (reference::Element& element : converted[i][0].elements()) {
          element.value = ConvertElement(*element.value, from, type);
        }
        operands[i] = &converted[i];
      }
    }
    absl::StatusOr<Value> value =
        reference::ExecuteInstruction(instruction, operands, reference::Execution());
    if (!value.ok()) return value;
    for (const Array& leaf : *value) {
      for (const reference::Element& element : leaf.elements()) {
        if (!element.value.has_value() || element.is_arbitrary) return NoDefinition(instruction);
      }
    }
    return value;
  }

  absl::StatusOr<Value> Elementwise(const HloInstruction& instruction,
                                    const std::vector<const Value*>& operands) {
    Value value = reference::MakeValue(instruction.shape());
    bool is_defined = true;
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      std::vector<Integer> read;
      for (const Value* operand : operands) {
        const Array& array = operand->front();
        read.push_back(*array.at(array.rank() == 0 ? Index() : index).value);
      }
      value[0].at(index).value = ElementwiseValue(instruction, read);
      is_defined = is_defined && value[0].at(index).value.has_value();
    });
    if (!is_defined) return NoDefinition(instruction);
    return value;
  }

  absl::StatusOr<Value> ComputeMap(const HloInstruction& instruction,
                                   const std::vector<const Value*>& operands) {
    Value value = reference::MakeValue(instruction.shape());
    absl::Status status;
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      std::vector<Number> read;
      read.reserve(operands.size());
      for (const Value* operand : operands) read.push_back(NumberAt(operand->front(), index));
      const absl::StatusOr<std::vector<Number>> result = Apply(*instruction.to_apply(), read);
      status.Update(result.status());
      if (result.ok()) Put(result->front(), index, &value[0]);
    });
    if (!status.ok()) return status;
    return value;
  }

  // An element with its type, which may differ in precision from what takes it.
  struct Number {
    Integer bits;
    ElementType type;
  };
  static Number NumberAt(const Array& array, const Index& index) {
    return {*array.at(index).value, array.shape().element_type()};
  }
  static void Put(const Number& number, const Index& index, Array* array) {
    array->at(index).value =
        ConvertElement(number.bits, number.type, array->shape().element_type());
  }

  // A computation on scalars.
  absl::StatusOr<std::vector<Number>> Apply(const HloComputation& computation,
                                            const std::vector<Number>& arguments) {
    std::vector<Value> values;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const HloInstruction& parameter = *computation.parameter(static_cast<int64_t>(i));
      if (!parameter.shape().IsArray()) return NoDefinition(parameter);
      values.push_back(reference::MakeValue(parameter.shape()));
      Put(arguments[i], {}, &values.back()[0]);
    }
    std::vector<const Value*> pointers;
    pointers.reserve(values.size());
    for (const Value& value : values) pointers.push_back(&value);
    const absl::StatusOr<Value> result = Run(computation, pointers);
    if (!result.ok()) return result.status();
    std::vector<Number> leaves;
    leaves.reserve(result->size());
    for (const Array& leaf : *result) leaves.push_back(NumberAt(leaf, {}));
    return leaves;
  }

  // A wide element is a row of narrow ones, the lowest bits first.
  static absl::StatusOr<Value> BitcastConvert(const HloInstruction& instruction,
                                              const std::vector<const Value*>& operands) {
    const Array& from = operands[0]->front();
    Value value = reference::MakeValue(instruction.shape());
    Array& to = value[0];
    const ElementType type = instruction.shape().element_type();
    const bool narrows = to.rank() > from.rank();
    const Array& narrow = narrows ? to : from;
    const Array& wide = narrows ? from : to;
    if (narrow.sizes().first(std::min(wide.rank(), narrow.rank())) != wide.sizes()) {
      return NoDefinition(instruction);
    }
    const int width = StorageBitWidth((narrows ? to : from).shape().element_type());
    const auto low_bits = [](Integer bits, int count) {
      return count < 128 ? bits & ((Integer(1) << count) - 1) : bits;
    };
    for (reference::Element& element : to.elements()) element.value = 0;
    reference::ForEachIndex((narrows ? to : from).sizes(), [&](const Index& index) {
      Index of_wide = index;
      int shift = 0;
      if (to.rank() != from.rank()) {
        shift = width * static_cast<int>(index.back());
        of_wide.pop_back();
      }
      std::optional<Integer>& written = to.at(narrows ? index : of_wide).value;
      const Integer read = *from.at(narrows ? of_wide : index).value;
      if (narrows) {
        written = low_bits(read >> shift, width);
      } else {
        written = *written | low_bits(read, width) << shift;
      }
    });
    for (reference::Element& element : to.elements()) {
      if (IsPred(type)) element.value = *element.value != 0;
      if (IsIntegral(type)) element.value = reference::WrapInteger(type, *element.value);
    }
    return value;
  }

  absl::StatusOr<Value> SelectAndScatter(const HloInstruction& instruction,
                                         const std::vector<const Value*>& operands) {
    const Array& operand = operands[0]->front();
    const Array& source = operands[1]->front();
    const Window window = instruction.window() == nullptr ? Window() : *instruction.window();
    if (window.dimensions.size() != static_cast<size_t>(operand.rank())) {
      return NoDefinition(instruction);
    }
    Index sizes;
    for (const WindowDimension& dimension : window.dimensions) sizes.push_back(dimension.size);
    Value value = reference::MakeValue(instruction.shape());
    reference::ForEachIndex(operand.sizes(), [&](const Index& index) {
      Put(NumberAt(operands[2]->front(), {}), index, &value[0]);
    });
    absl::Status status;
    reference::ForEachIndex(source.sizes(), [&](const Index& place) {
      std::optional<Index> best;
      reference::ForEachIndex(sizes, [&](const Index& k) {
        Index met(operand.rank());
        for (size_t d = 0; d < k.size(); ++d) {
          const auto at = OnBase(window.dimensions[d], place[d], k[d], operand.sizes()[d]);
          if (!at) return;
          met[d] = *at;
        }
        if (!best) best = met;
        const auto keeps = Apply(*instruction.GetComputation(AttributeKey::kSelect),
                                 {NumberAt(operand, *best), NumberAt(operand, met)});
        status.Update(keeps.status());
        if (keeps.ok() && keeps->front().bits == 0) best = met;
      });
      if (!best) return;
      const auto combined = Apply(*instruction.GetComputation(AttributeKey::kScatter),
                                  {NumberAt(value[0], *best), NumberAt(source, place)});
      status.Update(combined.status());
      if (combined.ok()) Put(combined->front(), *best, &value[0]);
    });
    if (!status.ok()) return status;
    return value;
  }

  // Each row by insertion, so that equal elements stay in order.
  absl::StatusOr<Value> Sort(const HloInstruction& instruction,
                             const std::vector<const Value*>& operands) {
    Value value = reference::MakeValue(instruction.shape());
    for (size_t i = 0; i < operands.size(); ++i) {
      reference::ForEachIndex(value[i].sizes(), [&](const Index& index) {
        Put(NumberAt(operands[i]->front(), index), index, &value[i]);
      });
    }
    const int64_t dim = instruction.dimensions().front();
    absl::Status status;
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      for (Index at = index; status.ok() && at[dim] > 0; --at[dim]) {
        Index before = at;
        --before[dim];
        std::vector<Number> compared;
        for (const Array& array : value) {
          // What sorting by an order that NaN is not in gives is not defined.
          if (IsFloatingPoint(array.shape().element_type()) &&
              std::isnan(NumberOf(array.shape().element_type(), *array.at(at).value))) {
            status = NoDefinition(instruction);
          }
          compared.push_back(NumberAt(array, at));
          compared.push_back(NumberAt(array, before));
        }
        const auto is_less = Apply(*instruction.to_apply(), compared);
        status.Update(is_less.status());
        if (!is_less.ok() || is_less->front().bits == 0) return;
        for (Array& array : value) std::swap(array.at(at).value, array.at(before).value);
      }
    });
    if (!status.ok()) return status;
    return value;
  }

  // The positions of each row in order, of which the first ones are taken.
  static absl::StatusOr<Value> Topk(const HloInstruction& instruction,
                                    const std::vector<const Value*>& operands) {
    const Array& array = operands[0]->front();
    const ElementType type = array.shape().element_type();
    if (IsComplex(type)) return NoDefinition(instruction);
    const bool is_largest = instruction.GetBool(AttributeKey::kLargest, true);
    Value value = reference::MakeValue(instruction.shape());
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      Index from = index;
      const auto key_at = [&](int64_t position) {
        from.back() = position;
        const Integer key = RankOf(type, *array.at(from).value);
        return is_largest ? -key : key;
      };
      std::vector<int64_t> positions(array.sizes().back());
      std::iota(positions.begin(), positions.end(), 0);
      std::stable_sort(positions.begin(), positions.end(),
                       [&](int64_t a, int64_t b) { return key_at(a) < key_at(b); });
      from.back() = positions[index.back()];
      Put(NumberAt(array, from), index, &value[0]);
      value[1].at(index).value = from.back();
    });
    return value;
  }

  static absl::StatusOr<Value> ComputeConstant(const HloInstruction& instruction) {
    if (!instruction.shape().IsArray() || instruction.literal() == nullptr ||
        instruction.literal()->IsElided()) {
      return NoDefinition(instruction);
    }
    Value value = reference::MakeValue(instruction.shape());
    const ElementType type = instruction.shape().element_type();
    for (size_t i = 0; i < value[0].elements().size(); ++i) {
      const auto position = static_cast<int64_t>(i);
      const Literal& literal = *instruction.literal();
      const Integer bits = literal.BitsAt(position);
      std::optional<Integer>& element = value[0].elements()[i].value;
      if (IsComplex(type)) {
        element = ComplexBits(type, bits, literal.BitsAt(position, 1));
      } else {
        element = IsFloatingPoint(type) ? bits : reference::WrapInteger(type, bits);
      }
    }
    return value;
  }

  static Value ComputeIota(const HloInstruction& instruction) {
    Value value = reference::MakeValue(instruction.shape());
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      value[0].at(index).value =
          ConvertElement(index[instruction.iota_dimension()], ElementType::kS64,
                         instruction.shape().element_type());
    });
    return value;
  }

  absl::StatusOr<Value> Dot(const HloInstruction& instruction,
                            const std::vector<const Value*>& operands) {
    if (operands.size() != 2) return NoDefinition(instruction);
    const DotDimensionNumbers numbers = instruction.dot_dimension_numbers();
    const Array& lhs = operands[0]->front();
    const Array& rhs = operands[1]->front();
    Value value = reference::MakeValue(instruction.shape());
    Index sizes;
    for (const int64_t d : numbers.lhs_contracting_dims) sizes.push_back(lhs.size(d));
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      Index in_lhs(lhs.rank(), -1);
      Index in_rhs(rhs.rank(), -1);
      size_t next = 0;
      for (size_t b = 0; b < numbers.lhs_batch_dims.size(); ++b, ++next) {
        in_lhs[numbers.lhs_batch_dims[b]] = in_rhs[numbers.rhs_batch_dims[b]] = index[next];
      }
      for (const int64_t d : numbers.lhs_contracting_dims) in_lhs[d] = 0;
      for (const int64_t d : numbers.rhs_contracting_dims) in_rhs[d] = 0;
      for (int64_t& i : in_lhs) i = i == -1 ? index[next++] : i;
      for (int64_t& i : in_rhs) i = i == -1 ? index[next++] : i;
      Integer sum = 0;
      reference::ForEachIndex(sizes, [&](const Index& k) {
        for (size_t c = 0; c < k.size(); ++c) {
          in_lhs[numbers.lhs_contracting_dims[c]] = in_rhs[numbers.rhs_contracting_dims[c]] = k[c];
        }
        sum = Accumulate(instruction, lhs.at(in_lhs), rhs.at(in_rhs), sum);
      });
      value[0].at(index).value = sum;
    });
    return value;
  }

  static Integer Accumulate(const HloInstruction& instruction, const reference::Element& a,
                            const reference::Element& b, Integer sum) {
    const ElementType type = instruction.shape().element_type();
    return MultiplyAddValue(
        type, sum, ConvertElement(*a.value, instruction.operand(0)->shape().element_type(), type),
        ConvertElement(*b.value, instruction.operand(1)->shape().element_type(), type));
  }

  // The index along one dimension of the operand that element `k` of the window at `position` is on;
  // none on padding and in holes.
  static std::optional<int64_t> OnBase(const WindowDimension& window, int64_t position, int64_t k,
                                       int64_t size) {
    const int64_t at = position * window.stride + k * window.window_dilation - window.padding_low;
    if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= size) {
      return std::nullopt;
    }
    return at / window.base_dilation;
  }

  absl::StatusOr<Value> Convolution(const HloInstruction& instruction,
                                    const std::vector<const Value*>& operands) {
    if (operands.size() != 2 || instruction.is_sparse()) return NoDefinition(instruction);
    const ConvolutionDimensionNumbers& numbers = *instruction.convolution_dimension_numbers();
    const Array& input = operands[0]->front();
    const Array& kernel = operands[1]->front();
    const int64_t feature_groups = instruction.feature_group_count();
    const int64_t batch_groups = instruction.batch_group_count();
    Value value = reference::MakeValue(instruction.shape());
    const int64_t features_of_group = kernel.size(numbers.kernel_input_feature);
    const int64_t outputs = kernel.size(numbers.kernel_output_feature);
    const int64_t batches_of_group = input.size(numbers.input_batch) / batch_groups;
    Index sizes = {features_of_group};
    for (const int64_t d : numbers.kernel_spatial) sizes.push_back(kernel.size(d));
    reference::ForEachIndex(value[0].sizes(), [&](const Index& index) {
      const int64_t output = index[numbers.output_feature];
      const int64_t feature_group = output / std::max<int64_t>(outputs / feature_groups, 1);
      const int64_t batch_group = output / std::max<int64_t>(outputs / batch_groups, 1);
      Integer sum = 0;
      reference::ForEachIndex(sizes, [&](const Index& k) {
        Index in_input(input.rank());
        Index in_kernel(kernel.rank());
        in_input[numbers.input_batch] =
            index[numbers.output_batch] + batch_group * batches_of_group;
        in_input[numbers.input_feature] = feature_group * features_of_group + k[0];
        in_kernel[numbers.kernel_input_feature] = k[0];
        in_kernel[numbers.kernel_output_feature] = output;
        for (size_t s = 0; s + 1 < k.size(); ++s) {
          WindowDimension window;
          if (instruction.window() != nullptr) window = instruction.window()->dimensions[s];
          const int64_t dim = numbers.input_spatial[s];
          const auto at =
              OnBase(window, index[numbers.output_spatial[s]], k[s + 1], input.size(dim));
          if (!at) return;
          in_input[dim] = *at;
          in_kernel[numbers.kernel_spatial[s]] =
              window.window_reversal ? window.size - 1 - k[s + 1] : k[s + 1];
        }
        sum = Accumulate(instruction, input.at(in_input), kernel.at(in_kernel), sum);
      });
      value[0].at(index).value = sum;
    });
    return value;
  }

  absl::StatusOr<Value> Reduce(const HloInstruction& instruction,
                               const std::vector<const Value*>& operands) {
    const Array& first = operands[0]->front();
    std::vector<bool> is_reduced(first.rank());
    for (const int64_t d : instruction.dimensions()) is_reduced[d] = true;
    Value value = Initial(instruction, operands);
    absl::Status status;
    reference::ForEachIndex(first.sizes(), [&](const Index& index) {
      Index to;
      for (int64_t d = 0; d < first.rank(); ++d) {
        if (!is_reduced[d]) to.push_back(index[d]);
      }
      status.Update(Combine(instruction, operands, index, to, &value));
    });
    if (!status.ok()) return status;
    return value;
  }

  absl::StatusOr<Value> ReduceWindow(const HloInstruction& instruction,
                                     const std::vector<const Value*>& operands) {
    const Array& first = operands[0]->front();
    Value value = Initial(instruction, operands);
    const Window window = instruction.window() == nullptr ? Window() : *instruction.window();
    if (window.dimensions.size() != static_cast<size_t>(first.rank())) {
      return NoDefinition(instruction);
    }
    Index sizes;
    for (const WindowDimension& dimension : window.dimensions) sizes.push_back(dimension.size);
    absl::Status status;
    reference::ForEachIndex(value[0].sizes(), [&](const Index& to) {
      reference::ForEachIndex(sizes, [&](const Index& k) {
        Index from(first.rank());
        for (int64_t d = 0; d < first.rank(); ++d) {
          const auto at = OnBase(window.dimensions[d], to[d], k[d], first.size(d));
          if (!at) return;
          from[d] = *at;
        }
        status.Update(Combine(instruction, operands, from, to, &value));
      });
    });
    if (!status.ok()) return status;
    return value;
  }

  absl::StatusOr<Value> Scatter(const HloInstruction& instruction,
                                const std::vector<const Value*>& operands) {
    const size_t count = operands.size() / 2;
    Value value = reference::MakeValue(instruction.shape());
    for (size_t i = 0; i < count; ++i) {
      const Array& array = operands[i]->front();
      reference::ForEachIndex(array.sizes(), [&](const Index& index) {
        Put(NumberAt(array, index), index, &value[i]);
      });
    }
    const auto updates_of = reference::UpdatesOfPlaces(instruction, operands,
                                                       /*drops_whole_windows=*/true);
    for (const auto& [place, updates] : updates_of) {
      for (const int64_t update : updates) {
        std::vector<Number> arguments;
        for (const Array& array : value) {
          arguments.push_back({*array.elements()[place].value, array.shape().element_type()});
        }
        for (size_t i = 0; i < count; ++i) {
          const Array& array = operands[count + 1 + i]->front();
          arguments.push_back({*array.elements()[update].value, array.shape().element_type()});
        }
        const auto results = Apply(*instruction.to_apply(), arguments);
        if (!results.ok()) return results.status();
        for (size_t i = 0; i < count; ++i) {
          value[i].elements()[place].value = ConvertElement((*results)[i].bits, (*results)[i].type,
                                                            value[i].shape().element_type());
        }
      }
    }
    return value;
  }

  static Value Initial(const HloInstruction& instruction,
                       const std::vector<const Value*>& operands) {
    Value value = reference::MakeValue(instruction.shape());
    for (size_t leaf = 0; leaf < value.size(); ++leaf) {
      reference::ForEachIndex(value[leaf].sizes(), [&](const Index& index) {
        Put(NumberAt(operands[value.size() + leaf]->front(), {}), index, &value[leaf]);
      });
    }
    return value;
  }

  absl::Status Combine(const HloInstruction& instruction, const std::vector<const Value*>& operands,
                       const Index& from, const Index& to, Value* value) {
    std::vector<Number> arguments;
    for (const Array& array : *value) arguments.push_back(NumberAt(array, to));
    for (size_t i = 0; i < value->size(); ++i) {
      arguments.push_back(NumberAt(operands[i]->front(), from));
    }
    const auto results = Apply(*instruction.to_apply(), arguments);
    if (!results.ok()) return results.status();
    for (size_t i = 0; i < value->size(); ++i) Put((*results)[i], to, &(*value)[i]);
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Value> EvaluateByDefinition(const HloComputation& computation,
                                           const std::vector<const Value*>& arguments) {
  return Evaluator().Run(computation, arguments);
}

}  // namespace xla_indexing
