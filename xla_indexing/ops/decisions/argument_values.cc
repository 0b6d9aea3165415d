#include "xla_indexing/ops/decisions/argument_values.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/decisions/value_origins.h"

namespace xla_indexing {

ArgumentValues::ArgumentValues()
    : origins_(std::make_unique<internal::ValueOrigins>(Dependence::kValues)) {}
ArgumentValues::~ArgumentValues() = default;
ArgumentValues::ArgumentValues(ArgumentValues&& other) noexcept = default;
ArgumentValues& ArgumentValues::operator=(ArgumentValues&& other) noexcept = default;

absl::StatusOr<ArgumentValues> ArgumentValues::Create(
    const HloComputation& computation, std::vector<std::shared_ptr<const Literal>> arguments) {
  arguments.resize(computation.parameters().size());
  for (const auto [number, argument] : llvm::enumerate(arguments)) {
    if (argument == nullptr) continue;
    const HloInstruction& parameter = *computation.parameter(static_cast<int64_t>(number));
    const Shape& wanted = parameter.shape();
    const Shape& given = argument->shape();
    const bool is_of_shape = wanted.IsArray() && given.IsArray() &&
                             given.element_type() == wanted.element_type() &&
                             given.dimensions() == wanted.dimensions();
    if (!is_of_shape) {
      return absl::InvalidArgumentError(absl::StrCat("the argument for parameter ",
                                                     parameter.name(), " is ", given.ToString(),
                                                     " and not ", wanted.ToString()));
    }
  }
  ArgumentValues values;
  values.origins_->SetArguments(computation, std::move(arguments));
  return values;
}

const Literal* ArgumentValues::ArrayOf(const RuntimeVarIndexing& variable,
                                       mlir::MLIRContext* context) {
  const bool is_element = variable.value.kind() != ValueFunction::Kind::kIterations &&
                          variable.NumLoops() == 0 && !variable.device;
  if (!is_element) return nullptr;
  return origins_->KnownArray(*variable.instruction, variable.leaf, variable.call_path, context);
}

}  // namespace xla_indexing
