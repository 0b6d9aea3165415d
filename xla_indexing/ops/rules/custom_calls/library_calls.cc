#include "xla_indexing/ops/rules/custom_calls/library_calls.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/shape_inference.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/rules/arithmetic/convolution.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"

namespace xla_indexing::internal {
namespace {

using Entries = absl::StatusOr<std::optional<InstructionIndexing>>;
using ::llvm::json::Object;

// An operation of two arrays that does what a call does.
class Equivalent {
 public:
  Equivalent(HloOpcode opcode, const Shape& lhs, const Shape& rhs, const Shape& result,
             absl::Span<const Attribute> attributes)
      : module_("equivalent") {
    HloComputation* computation = module_.AddComputation("equivalent");
    const HloInstruction* operands[] = {AddParameter("lhs", 0, lhs, computation),
                                        AddParameter("rhs", 1, rhs, computation)};
    HloInstruction* operation = computation->AddInstruction(opcode, "result", result, operands);
    for (const Attribute& attribute : attributes) {
      operation->SetAttribute(attribute.key, attribute.value);
    }
    if (CheckShape(*operation).ok()) operation_ = operation;
  }

  // Null if it is none, by its shapes and attributes.
  const HloInstruction* operation() const { return operation_; }

 private:
  static const HloInstruction* AddParameter(absl::string_view name, int64_t number,
                                            const Shape& shape, HloComputation* computation) {
    HloInstruction* parameter = computation->AddInstruction(HloOpcode::kParameter, name, shape);
    parameter->SetAttribute(AttributeKey::kParameterNumber, number);
    return parameter;
  }

  HloModule module_;
  const HloInstruction* operation_ = nullptr;
};

bool OperandsAreArrays(const HloInstruction& call, int64_t least) {
  if (call.operand_count() < least || call.shape().LeafCount() == 0 ||
      !call.shape().Leaf(0).IsArray()) {
    return false;
  }
  for (const HloInstruction* operand : call.operands()) {
    if (!operand->shape().IsArray()) return false;
  }
  return true;
}

// LLVM's parser recurses, a level for each bracket; configurations have a few.
constexpr int kMaxNesting = 64;

bool IsNestedTooDeep(llvm::StringRef text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (text[i] == '[' || text[i] == '{')) {
      if (++depth > kMaxNesting) return true;
    } else if (!in_string && (text[i] == ']' || text[i] == '}')) {
      --depth;
    }
  }
  return false;
}

std::optional<llvm::json::Value> ParseJson(llvm::StringRef text) {
  if (IsNestedTooDeep(text)) return std::nullopt;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value) return *std::move(value);
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

// The configuration is JSON, or a string with JSON in it.
std::optional<Object> ParseConfiguration(absl::string_view text) {
  std::optional<llvm::json::Value> value = ParseJson({text.data(), text.size()});
  if (value && value->kind() == llvm::json::Value::String) value = ParseJson(*value->getAsString());
  if (!value || value->kind() != llvm::json::Value::Object) return std::nullopt;
  return std::move(*value->getAsObject());
}

// A list of numbers, which may be strings; empty where there is none.
std::optional<std::vector<int64_t>> Numbers(const Object& object, llvm::StringRef name) {
  std::vector<int64_t> numbers;
  const llvm::json::Array* array = object.getArray(name);
  if (array == nullptr) return numbers;
  for (const llvm::json::Value& value : *array) {
    int64_t number = 0;
    if (const std::optional<int64_t> integer = value.getAsInteger()) {
      number = *integer;
    } else if (const std::optional<llvm::StringRef> text = value.getAsString();
               !text || !absl::SimpleAtoi(absl::string_view(text->data(), text->size()), &number)) {
      return std::nullopt;
    }
    numbers.push_back(number);
  }
  return numbers;
}

struct Gemm {
  std::vector<int64_t> lhs_contracting;
  std::vector<int64_t> rhs_contracting;
  std::vector<int64_t> lhs_batch;
  std::vector<int64_t> rhs_batch;
  bool has_addend = false;
  bool has_bias = false;
};

std::optional<Gemm> GemmOf(const HloInstruction& call) {
  const std::optional<Object> configuration =
      ParseConfiguration(call.GetText(AttributeKey::kBackendConfig));
  if (!configuration) return std::nullopt;
  const Object* config = configuration->getObject("gemm_backend_config");
  if (config == nullptr) config = &*configuration;
  const Object* dims = config->getObject("dot_dimension_numbers");
  if (dims == nullptr) return std::nullopt;
  Gemm gemm;
  for (const auto& [name, numbers] :
       std::initializer_list<std::pair<llvm::StringRef, std::vector<int64_t>*>>{
           {"lhs_contracting_dimensions", &gemm.lhs_contracting},
           {"rhs_contracting_dimensions", &gemm.rhs_contracting},
           {"lhs_batch_dimensions", &gemm.lhs_batch},
           {"rhs_batch_dimensions", &gemm.rhs_batch}}) {
    std::optional<std::vector<int64_t>> given = Numbers(*dims, name);
    if (!given) return std::nullopt;
    *numbers = *std::move(given);
  }
  gemm.has_addend = config->getNumber("beta").value_or(0) != 0;
  const llvm::StringRef epilogue = config->getString("epilogue").value_or("DEFAULT");
  for (const llvm::StringRef name : {"BIAS", "BIAS_RELU", "BIAS_GELU"}) {
    gemm.has_bias = gemm.has_bias || epilogue == name;
  }
  if (!gemm.has_bias && epilogue != "DEFAULT" && epilogue != "RELU" && epilogue != "GELU") {
    return std::nullopt;
  }
  return gemm;
}

// Operand `operand` as it is in the last dimensions of the result.
void AddInPlace(const CustomCallLeaf& leaf, int64_t operand, InstructionIndexing* entries) {
  const bool forward = leaf.operand >= 0;
  if (forward ? leaf.operand != operand : leaf.leaf > 0) return;
  const Shape& output = leaf.instruction.shape().Leaf(0);
  const Shape& array = leaf.instruction.operand(operand)->shape();
  const int64_t first = output.rank() - array.rank();
  MapBuilder builder(forward ? array : output, forward ? output : array, leaf.context);
  llvm::SmallVector<mlir::AffineExpr, 4> indices;
  for (int64_t d = forward ? 0 : first; d < output.rank(); ++d) {
    indices.push_back(!forward     ? builder.Dim(d)
                      : d >= first ? builder.Dim(d - first)
                                   : builder.AddRangeOverAxis(output.dimension(d)));
  }
  OperandIndexingSet set(builder.Build(indices));
  if (!set.empty()) entries->push_back({0, operand, 0, std::move(set)});
}

Entries GemmRule(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  const std::optional<Gemm> gemm = GemmOf(call);
  if (!gemm) return std::nullopt;
  const int64_t operand_count = 2 + (gemm->has_addend ? 1 : 0) + (gemm->has_bias ? 1 : 0);
  if (call.operand_count() != operand_count || !OperandsAreArrays(call, operand_count)) {
    return std::nullopt;
  }
  const auto sizes = call.shape().Leaf(0).dimensions();
  if (gemm->has_addend && call.operand(2)->shape().dimensions() != sizes) return std::nullopt;
  if (gemm->has_bias &&
      (sizes.empty() || call.operand(operand_count - 1)->shape().dimensions() != sizes.last(1))) {
    return std::nullopt;
  }
  const Attribute attributes[] = {
      {AttributeKey::kLhsContractingDims, "", absl::MakeConstSpan(gemm->lhs_contracting)},
      {AttributeKey::kRhsContractingDims, "", absl::MakeConstSpan(gemm->rhs_contracting)},
      {AttributeKey::kLhsBatchDims, "", absl::MakeConstSpan(gemm->lhs_batch)},
      {AttributeKey::kRhsBatchDims, "", absl::MakeConstSpan(gemm->rhs_batch)}};
  const Equivalent dot(HloOpcode::kDot, call.operand(0)->shape(), call.operand(1)->shape(),
                       call.shape().Leaf(0), attributes);
  if (dot.operation() == nullptr) return std::nullopt;
  InstructionIndexing entries;
  const bool forward = leaf.operand >= 0;
  if (forward ? leaf.operand < 2 : leaf.leaf == 0) {
    absl::StatusOr<InstructionIndexing> of_dot = OperationMaps(
        *dot.operation(), forward ? Direction::kInputToOutput : Direction::kOutputToInput,
        leaf.context, {}, OperandLeaf{forward ? leaf.operand : 0, 0});
    if (!of_dot.ok()) return of_dot.status();
    entries = *std::move(of_dot);
  }
  if (gemm->has_addend) AddInPlace(leaf, 2, &entries);
  if (gemm->has_bias) AddInPlace(leaf, operand_count - 1, &entries);
  return entries;
}

// Which tensors of a convolution the result and the two operands of a call are.
struct ConvolutionRoles {
  ConvolutionTensor result;
  ConvolutionTensor operands[2];
};

Entries EntriesOfConvolution(const CustomCallLeaf& leaf, const ConvolutionRoles& roles) {
  const HloInstruction& call = leaf.instruction;
  if (call.operand_count() != 2 || !OperandsAreArrays(call, 2)) return std::nullopt;
  std::vector<Attribute> attributes;
  for (const AttributeKey key :
       {AttributeKey::kWindow, AttributeKey::kDimLabels, AttributeKey::kFeatureGroupCount,
        AttributeKey::kBatchGroupCount}) {
    if (const Attribute* given = call.FindAttribute(key)) attributes.push_back(*given);
  }
  const Shape& result = call.shape().Leaf(0);
  const Shape* shapes[3];
  shapes[static_cast<size_t>(roles.result)] = &result;
  for (int64_t i = 0; i < 2; ++i) {
    shapes[static_cast<size_t>(roles.operands[i])] = &call.operand(i)->shape();
  }
  const Equivalent convolution(HloOpcode::kConvolution, *shapes[0], *shapes[1], *shapes[2],
                               attributes);
  if (convolution.operation() == nullptr) return std::nullopt;
  InstructionIndexing entries;
  const bool forward = leaf.operand >= 0;
  for (int64_t i = 0; i < 2; ++i) {
    if (forward ? leaf.operand != i : leaf.leaf > 0) continue;
    const LoopNest nest =
        ConvolutionNest(*convolution.operation(), roles.result, roles.operands[i]);
    if (nest.IsEmpty()) continue;
    const Shape& operand = call.operand(i)->shape();
    OperandIndexingSet set;
    AddUnlessEmpty(forward ? InputToOutputOfNest(nest, result, operand, leaf.context)
                           : OutputToInputOfNest(nest, result, operand, leaf.context),
                   &set);
    if (!set.empty()) entries.push_back({0, i, 0, std::move(set)});
  }
  return entries;
}

CustomCallRule ConvolutionRule(const ConvolutionRoles& roles) {
  const auto rule = [roles](const CustomCallLeaf& leaf) {
    return EntriesOfConvolution(leaf, roles);
  };
  return {rule, rule};
}

}  // namespace

void AddLibraryCallRules(CustomCallRegistry* registry) {
  if (IsOff(Engine::kLibraryCalls)) return;
  registry->Add("__cublas$gemm", {GemmRule, GemmRule});
  registry->Add("__cublas$lt$matmul", {GemmRule, GemmRule});
  using enum ConvolutionTensor;
  registry->Add("__cudnn$convForward", ConvolutionRule({kOutput, {kInput, kKernel}}));
  registry->Add("__cudnn$convBackwardInput", ConvolutionRule({kInput, {kOutput, kKernel}}));
  registry->Add("__cudnn$convBackwardFilter", ConvolutionRule({kKernel, {kInput, kOutput}}));
}

}  // namespace xla_indexing::internal
