#include "tests/reference/judge/check_module.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::reference {
namespace {

using internal::ComputeIndexing;

absl::Status WithSeed(const absl::Status& status, absl::string_view context) {
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

absl::string_view DirectionName(Direction direction) {
  return direction == Direction::kOutputToInput ? "output to input" : "input to output";
}

struct Variant {
  absl::string_view name;
  FusionOptions options;
  bool simplify = false;
  // Whether no map may be over-approximate.
  bool all_exact = false;
};

std::vector<Variant> InstructionVariants(const CheckOptions& options) {
  std::vector<Variant> variants = {{"as built", {}},
                                   {"simplified", {}, true},
                                   {"not folded", {}},
                                   {"exact", {}},
                                   {"without calls", {}}};
  variants[2].options.indexing.fold_runtime_variables = false;
  variants[3].options.indexing.exact = true;
  variants[3].all_exact = true;
  variants[4].options.max_call_depth = 0;
  for (Variant& variant : variants) {
    variant.options.indexing.scatter_bounds = options.scatter_bounds;
  }
  return variants;
}

// Two maps are few enough that sets are widened, and a few steps that walks are stopped.
std::vector<Variant> ComputationVariants(const CheckOptions& options) {
  std::vector<Variant> variants = {{"as it is", {}},       {"not folded", {}},
                                   {"exact", {}},          {"at most two maps", {}},
                                   {"in a few steps", {}}, {"without calls", {}}};
  variants[1].options.indexing.fold_runtime_variables = false;
  variants[2].options.indexing.exact = true;
  variants[3].options.max_maps = 2;
  variants[4].options.max_steps = 6;
  variants[5].options.max_call_depth = 0;
  for (Variant& variant : variants) {
    variant.options.indexing.scatter_bounds = options.scatter_bounds;
  }
  return variants;
}

constexpr Direction kDirections[] = {Direction::kOutputToInput, Direction::kInputToOutput};

absl::StatusOr<InstructionIndexing> IndexingOf(const HloInstruction& instruction,
                                               Direction direction, const FusionOptions& options,
                                               int64_t steps, mlir::MLIRContext* context) {
  const QuestionBudget budget(steps);
  if (instruction.called_computations().empty()) {
    return ComputeIndexing(instruction, direction, context, options.indexing);
  }
  return Entries(instruction, direction, context, options);
}

// What no union of affine maps says exactly: where none of many windows is; and what differs with
// how many windows are in one place. And what is undefined, or may be of any device of a group.
constexpr absl::string_view kAllowedReasons[] = {
    "elements that the updates overwrite are not read",
    "what the combiner reads differs with the number of updates",
    "rows that a device sends are not read",
    "elsewhere than on the root the result is undefined",
    "which device is the root is a value",
    "which features a sparse kernel holds is a value"};

// The beginnings of reasons: loops of numbers of iterations or maps that are too many or not known, as
// those of one iteration may be, and custom calls without a rule.
constexpr absl::string_view kAllowedBeginnings[] = {
    "the number of iterations of",
    "values that differ from iteration to iteration of",
    "values that differ from step to step of",
    "whole slices: the maps of",
    "whole leaf: the maps of",
    "whole tensor: more than 16 maps at",  // a loop's body; anything else has more
    "whole operand: custom-call is not analysed"};

bool IsAllowed(absl::string_view reason) {
  return absl::StrContains(reason, "the question takes more than") ||  // than a test gives it
         absl::c_linear_search(kAllowedReasons, reason) ||
         absl::c_any_of(kAllowedBeginnings, [&](absl::string_view beginning) {
           return absl::StartsWith(reason, beginning);
         });
}

absl::Status CheckAllExact(const InstructionIndexing& entries) {
  for (const IndexingEntry& entry : entries) {
    if (entry.indexing.label().IsExact() || IsAllowed(entry.indexing.label().reason)) {
      continue;
    }
    return absl::InternalError(absl::StrCat(
        "operand ", entry.operand, " is not answered exactly: ", entry.indexing.label().reason));
  }
  return absl::OkStatus();
}

// Whether the exact maps of an operation are the pieces of what one map cannot say. (Of several
// operands of a scatter one may be read for several updates in one place.)
bool GivesDisjointPieces(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDynamicUpdateSlice ||
         instruction.opcode() == HloOpcode::kPad ||
         (instruction.opcode() == HloOpcode::kScatter && instruction.shape().IsArray());
}

// Entries of more points than these are passed over.
std::optional<int64_t> MaxPoints(const CheckOptions& options) {
  if (!options.is_any_module) return std::nullopt;
  return 4096;
}

// All variants, or one: of modules that nobody chose, and under sanitizers.
std::vector<Variant> VariantsToCheck(std::vector<Variant> variants, const HloInstruction& result,
                                     uint64_t seed, const CheckOptions& options) {
  if (!options.is_any_module && !kIsSanitized) return variants;
  Variant one = variants[MixBits(seed + result.index_in_computation()) % variants.size()];
  if (options.is_any_module) one.all_exact = false;
  return {one};
}

absl::Status CheckInstruction(const Executed& executed, uint64_t seed, mlir::MLIRContext* context,
                              const CheckOptions& options) {
  const HloInstruction& instruction = executed.result;
  for (const Variant& variant :
       VariantsToCheck(InstructionVariants(options), instruction, seed, options)) {
    for (Direction direction : kDirections) {
      absl::StatusOr<InstructionIndexing> entries =
          IndexingOf(instruction, direction, variant.options, options.steps, context);
      absl::Status status = entries.status();
      if (!status.ok() && options.is_any_module) continue;
      if (status.ok()) {
        for (IndexingEntry& entry : *entries) {
          if (variant.simplify) entry.indexing.Simplify();
        }
        const Overlap overlap = variant.all_exact && GivesDisjointPieces(instruction)
                                    ? Overlap::kNone
                                    : Overlap::kAllowed;
        status =
            CheckEntries(*entries, direction, executed.truth, instruction.shape(),
                         instruction.operands(), executed.devices, overlap, MaxPoints(options));
      }
      if (status.ok() && variant.all_exact) status = CheckAllExact(*entries);
      if (!status.ok()) {
        return WithSeed(status, absl::StrCat(instruction.ToString(), "\n", DirectionName(direction),
                                             ", ", variant.name));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComputation(const Executed& executed, uint64_t seed, mlir::MLIRContext* context,
                              const CheckOptions& options) {
  const HloComputation& computation = *executed.result.parent();
  for (const Variant& variant :
       VariantsToCheck(ComputationVariants(options), executed.result, seed, options)) {
    for (Direction direction : kDirections) {
      std::optional<QuestionBudget> budget(options.steps);
      const absl::StatusOr<InstructionIndexing> entries =
          Entries(computation, direction, context, variant.options);
      budget.reset();
      if (!entries.ok() && options.is_any_module) continue;
      const absl::Status status =
          entries.ok() ? CheckEntries(*entries, direction, executed.truth, executed.result.shape(),
                                      computation.parameters(), executed.devices, Overlap::kAllowed,
                                      MaxPoints(options))
                       : entries.status();
      if (!status.ok()) {
        return WithSeed(status, absl::StrCat("computation ", computation.name(), "\n",
                                             DirectionName(direction), ", ", variant.name));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExecuted(const Executed& executed, uint64_t seed, mlir::MLIRContext* context,
                           const CheckOptions& options) {
  return executed.is_computation ? CheckComputation(executed, seed, context, options)
                                 : CheckInstruction(executed, seed, context, options);
}

using Visitor = absl::FunctionRef<absl::Status(const Executed&)>;

// The instructions of an executed computation and of those that it calls.
absl::Status VisitInstructions(const HloComputation& computation, const Devices& devices,
                               Visitor visit) {
  for (const HloInstruction* instruction : computation.instructions()) {
    const absl::StatusOr<Dependence> truth = DependenceOfInstruction(*instruction, devices);
    if (!truth.ok()) return truth.status();
    absl::Status status = visit({*instruction, /*is_computation=*/false, *truth, devices});
    for (const HloComputation* called : instruction->called_computations()) {
      if (!status.ok()) break;
      for (const Devices& together : devices.Called(instruction, called)) {
        if (!status.ok()) break;
        status = VisitInstructions(*called, together, visit);
      }
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status VisitOnDevices(const HloComputation& entry, int64_t device_count, uint64_t seed,
                            const ExecutionOptions& execution_options, Visitor visit) {
  std::vector<std::vector<Value>> arguments;
  std::vector<uint64_t> seeds;
  for (int64_t p = 0; p < device_count; ++p) {
    seeds.push_back(seed + static_cast<uint64_t>(p) * 0x100000);
    arguments.push_back(RandomArguments(entry, seeds.back()));
  }
  DeviceOperands operands;
  for (const std::vector<Value>& values : arguments) operands.push_back(Pointers(values));
  const absl::StatusOr<std::vector<Execution>> executions =
      ExecuteOnDevices(entry, operands, seeds, execution_options);
  if (!executions.ok()) return executions.status();
  const Devices devices(*executions);
  absl::Status status = VisitInstructions(entry, devices, visit);
  if (!status.ok()) return status;
  const absl::StatusOr<Dependence> truth =
      DependenceOfComputation(entry, operands, seeds, execution_options);
  if (!truth.ok()) return truth.status();
  return visit({*entry.root_instruction(), /*is_computation=*/true, *truth, devices});
}

}  // namespace

absl::Status ForEachExecuted(const HloModule& module, uint64_t seed, const CheckOptions& options,
                             absl::FunctionRef<absl::Status(const Executed&)> visit) {
  ExecutionOptions execution_options;
  execution_options.drops_whole_windows = options.scatter_bounds == ScatterBounds::kWindow;
  const HloComputation& entry = *module.entry_computation();
  if (DeviceCount(module) > 1) {
    return VisitOnDevices(entry, DeviceCount(module), seed, execution_options, visit);
  }
  const std::vector<Value> arguments = RandomArguments(entry, seed);
  const absl::StatusOr<Execution> execution =
      Execute(entry, Pointers(arguments), seed, execution_options);
  if (!execution.ok()) return execution.status();
  absl::Status status = VisitInstructions(entry, *execution, visit);
  if (!status.ok()) return status;
  const absl::StatusOr<Dependence> truth =
      DependenceOfComputation(entry, Pointers(arguments), seed, execution_options);
  if (!truth.ok()) return truth.status();
  return visit({*entry.root_instruction(), /*is_computation=*/true, *truth, *execution});
}

absl::Status ForEachExecuted(const std::string& text, uint64_t seed, const CheckOptions& options,
                             absl::FunctionRef<absl::Status(const Executed&)> visit) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
  absl::Status status = module.status();
  if (status.ok()) status = VerifyModule(**module);
  if (status.ok()) status = ForEachExecuted(**module, seed, options, visit);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\nseed ", seed, ", module:\n", text));
}

absl::Status CheckModule(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                         const CheckOptions& options) {
  return ForEachExecuted(text, seed, options, [&](const Executed& executed) {
    return CheckExecuted(executed, seed, context, options);
  });
}

absl::Status CheckModule(const HloModule& module, uint64_t seed, mlir::MLIRContext* context,
                         const CheckOptions& options) {
  return ForEachExecuted(module, seed, options, [&](const Executed& executed) {
    return CheckExecuted(executed, seed, context, options);
  });
}

}  // namespace xla_indexing::reference
