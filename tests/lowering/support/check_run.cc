#include "tests/lowering/support/check_run.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/lowering/support/complex_values.h"
#include "tests/lowering/support/element_values.h"
#include "tests/lowering/support/evaluate.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/value.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/lowering/run/run_mlir.h"

namespace xla_indexing {
namespace {

using reference::Array;
using reference::Integer;
using reference::Value;

// Elements of less than a byte take one each.
int BytesOf(ElementType type) { return std::max(BitWidth(type) / 8, 1); }

// Arrays in memory, with layouts as strides.
RunArray InMemory(const Array& array, bool is_filled) {
  RunArray run;
  run.sizes.assign(array.sizes().begin(), array.sizes().end());
  run.strides.resize(run.sizes.size());
  int64_t stride = 1;
  for (const int64_t dim : array.shape().LayoutOrRowMajor().minor_to_major) {
    run.strides[dim] = stride;
    stride *= std::max<int64_t>(run.sizes[dim], 1);
  }
  const int width = BytesOf(array.shape().element_type());
  run.bytes.assign(stride * width, '\x55');
  if (!is_filled) return run;
  reference::ForEachIndex(array.sizes(), [&](const reference::Index& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * run.strides[d];
    Integer bits = *array.at(index).value;
    if (BitWidth(array.shape().element_type()) < 8) {
      bits &= (Integer(1) << BitWidth(array.shape().element_type())) - 1;
    }
    std::memcpy(run.bytes.data() + at * width, &bits, width);
  });
  return run;
}

Integer BitsAt(const RunArray& run, const reference::Index& index, ElementType type) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * run.strides[d];
  Integer bits = 0;
  std::memcpy(&bits, run.bytes.data() + at * BytesOf(type), BytesOf(type));
  const bool is_number = IsPred(type) || IsIntegral(type);
  return is_number ? reference::WrapInteger(type, bits) : bits;
}

// As vectors: a part that is small beside the other one has the errors of that. What is not finite has
// no parts that all libraries agree on.
bool AreCloseComplex(ElementType type, Integer expected, Integer got, int64_t ulps) {
  const std::complex<double> a = ComplexOf(type, expected);
  const std::complex<double> b = ComplexOf(type, got);
  const auto is_finite = [](std::complex<double> x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  };
  if (!is_finite(a) || !is_finite(b)) return is_finite(a) == is_finite(b);
  const double unit = type == ElementType::kC64 ? FLT_EPSILON : DBL_EPSILON;
  const double least = type == ElementType::kC64 ? FLT_MIN : DBL_MIN;
  return std::abs(a - b) <= static_cast<double>(ulps) * unit * std::max(std::abs(a), least);
}

bool AreClose(ElementType type, Integer expected, Integer got, int64_t ulps) {
  if (IsComplex(type)) return AreCloseComplex(type, expected, got, ulps);
  if (!IsFloatingPoint(type)) return expected == got;
  const double a = NumberOf(type, expected);
  const double b = NumberOf(type, got);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  // Machines may take subnormal numbers for 0.
  const bool has_range_of_f32 = type == ElementType::kF32 || type == ElementType::kBF16;
  if (has_range_of_f32 && std::abs(a) < FLT_MIN && std::abs(b) < FLT_MIN) return true;
  // Those of 8 bits are rounded from f32.
  const int64_t most = BitWidth(type) == 8 ? std::min<int64_t>(ulps, 1) : ulps;
  // 0 and -0 are one number.
  const Integer away = RankOf(type, expected) - RankOf(type, got);
  return a == b || (away <= most && -away <= most);
}

// Quarters of small numbers, so that sums and products of a few are exact; seldom others.
Integer RandomFloat(ElementType type, RandomFloats floats, Random& random) {
  double number = static_cast<double>(random.Between(-16, 16)) / 4;
  if (floats == RandomFloats::kAll && random.OneIn(24)) {
    const double special[] = {INFINITY, -INFINITY, NAN, -0.0, 1e30, 0.1};
    number = special[random.Between(0, 5)];
  }
  return BitsOfFloat(type, number);
}

Value RandomArgument(const Shape& shape, uint64_t seed, RandomFloats floats) {
  Value value = reference::MakeValue(shape);
  reference::FillIntegers(seed, &value);
  Random random(seed);
  for (Array& array : value) {
    for (reference::Element& element : array.elements()) element.is_arbitrary = false;
    const ElementType type = array.shape().element_type();
    const ElementType part = ComplexComponentType(type);
    if (!IsFloatingPoint(part)) continue;
    for (reference::Element& element : array.elements()) {
      element.value = RandomFloat(part, floats, random);
      if (!IsComplex(type)) continue;
      element.value = ComplexBits(type, *element.value, RandomFloat(part, floats, random));
    }
  }
  return value;
}

std::string TextOf(ElementType type, Integer bits) {
  if (!IsComplex(type)) return absl::StrCat(NumberOf(type, bits));
  const std::complex<double> number = ComplexOf(type, bits);
  return absl::StrCat("(", number.real(), ", ", number.imag(), ")");
}

std::string TextOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

}  // namespace

absl::Status CheckRun(const std::string& text, uint64_t seed, EmitFunction emit,
                      RandomFloats floats, int64_t ulps) {
  const auto module = ParseAndVerifyModule(text);
  if (!module.ok()) return module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const bool has_complex = absl::StrContains(text, " c64[") || absl::StrContains(text, " c128[");
  // Libraries differ in what functions of numbers are that are not finite.
  if (has_complex) floats = RandomFloats::kQuarters;
  std::vector<Value> arguments;
  for (const HloInstruction* parameter : entry.parameters()) {
    arguments.push_back(RandomArgument(parameter->shape(), seed + arguments.size(), floats));
  }
  std::vector<const Value*> pointers;
  pointers.reserve(arguments.size());
  for (const Value& argument : arguments) pointers.push_back(&argument);
  const std::unique_ptr<mlir::MLIRContext> context = MakeLoweringContext();
  auto emitted = emit(entry, context.get());
  if (!emitted.ok()) return emitted.status();
  const absl::StatusOr<Value> expected = EvaluateByDefinition(entry, pointers);
  if (!expected.ok()) return expected.status();
  const std::string code = TextOf(**emitted);
  absl::StatusOr<CompiledModule> compiled = CompiledModule::Compile(**emitted);
  if (!compiled.ok()) return absl::InternalError(absl::StrCat(compiled.status().message(), code));
  std::vector<RunArray> arrays;
  for (const Value& argument : arguments) {
    for (const Array& leaf : argument) arrays.push_back(InMemory(leaf, true));
  }
  const size_t first = arrays.size();
  const Value results = reference::MakeValue(entry.root_instruction()->shape());
  for (const Array& leaf : results) arrays.push_back(InMemory(leaf, false));
  if (absl::Status status = compiled->Run(std::string(entry.name()), arrays); !status.ok()) {
    return status;
  }
  absl::Status status;
  for (size_t leaf = 0; leaf < expected->size(); ++leaf) {
    const ElementType type = results[leaf].shape().element_type();
    reference::ForEachIndex(results[leaf].sizes(), [&](const reference::Index& index) {
      const Integer wanted = *(*expected)[leaf].at(index).value;
      const Integer got = BitsAt(arrays[first + leaf], index, type);
      if (!status.ok() || AreClose(type, wanted, got, ulps)) return;
      status = absl::InternalError(absl::StrCat("seed ", seed, ", leaf ", leaf, ", element ",
                                                reference::PositionOf(results[leaf].sizes(), index),
                                                ": ", TextOf(type, got), " and not ",
                                                TextOf(type, wanted), "\n", text, "\n", code));
    });
  }
  return status;
}

std::vector<HloOpcode> LoweredOpcodes() {
  std::vector<HloOpcode> lowered;
  for (const HloOpcode opcode : RandomOpcodes()) {
    switch (opcode) {
      case HloOpcode::kBitcast:
      case HloOpcode::kBitcastConvert:
      case HloOpcode::kBroadcast:
      case HloOpcode::kCall:
      case HloOpcode::kConcatenate:
      case HloOpcode::kConditional:
      case HloOpcode::kConstant:
      case HloOpcode::kConvolution:
      case HloOpcode::kDot:
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kDynamicUpdateSlice:
      case HloOpcode::kFusion:
      case HloOpcode::kGather:
      case HloOpcode::kGetTupleElement:
      case HloOpcode::kIota:
      case HloOpcode::kMap:
      case HloOpcode::kPad:
      case HloOpcode::kReduce:
      case HloOpcode::kReduceWindow:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kScatter:
      case HloOpcode::kSelectAndScatter:
      case HloOpcode::kSlice:
      case HloOpcode::kSort:
      case HloOpcode::kTopk:
      case HloOpcode::kTranspose:
      case HloOpcode::kTuple:
      case HloOpcode::kWhile:
        lowered.push_back(opcode);
        break;
      default:
        if (IsElementwise(opcode)) lowered.push_back(opcode);
    }
  }
  return lowered;
}

}  // namespace xla_indexing
