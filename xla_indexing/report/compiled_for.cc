#include "xla_indexing/report/compiled_for.h"

#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

struct Sign {
  absl::string_view part;  // of a custom call's target or a backend config
  absl::string_view platform;
};

constexpr Sign kSignsOfTargets[] = {
    {"__onednn", "cpu"}, {"__ynn", "cpu"},    {"lapack_", "cpu"},   {"cpu_callback", "cpu"},
    {"__cublas", "gpu"}, {"__cudnn", "gpu"},  {"__triton", "gpu"},  {"__cusolver", "gpu"},
    {"cusolver", "gpu"}, {"cusparse", "gpu"}, {"hipsolver", "gpu"}, {"gpu_callback", "gpu"},
    {"__gpu$", "gpu"},   {"te_fused", "gpu"}, {"te_scaled", "gpu"}, {"tpu_custom_call", "tpu"},
};
constexpr Sign kSignsOfConfigs[] = {
    {"__onednn", "cpu"},
    {"__ynn", "cpu"},
    {"outer_dimension_partitions", "cpu"},
    {"fusion_backend_config", "gpu"},
    {"operation_queue_id", "gpu"},
    {"gemm_backend_config", "gpu"},
    {"cudnn_conv_backend_config", "gpu"},
    {"scoped_memory_configs", "tpu"},
};

// Whether the text has one of the signs, and which.
template <size_t n>
bool Decides(const Sign (&signs)[n], absl::string_view text, absl::string_view what,
             CompiledFor* answer) {
  if (text.empty()) return false;
  for (const Sign& sign : signs) {
    if (!absl::StrContains(text, sign.part)) continue;
    answer->platform = std::string(sign.platform);
    answer->evidence = absl::StrCat(what, " ", sign.part);
    return true;
  }
  return false;
}

void FindPlatform(const HloInstruction& instruction, CompiledFor* answer) {
  if (Decides(kSignsOfTargets, instruction.custom_call_target(), "a custom call", answer)) return;
  if (instruction.HasAttribute(AttributeKey::kBackendConfig) &&
      Decides(kSignsOfConfigs, instruction.GetText(AttributeKey::kBackendConfig),
              "a backend config", answer)) {
    return;
  }
  const Shape& shape = instruction.shape();
  if (shape.IsArray() && shape.has_layout() && !shape.layout()->tiles.empty()) {
    answer->platform = "tpu";
    answer->evidence = "a layout in tiles";
  }
}

}  // namespace

CompiledFor CompiledForOf(const HloModule& module) {
  CompiledFor answer;
  answer.is_scheduled = module.is_scheduled();
  absl::flat_hash_set<const HloComputation*> fused;
  bool has_products = false;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kFusion) fused.insert(instruction->calls());
    }
  }
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const Shape& shape = instruction->shape();
      if (shape.IsArray() && shape.rank() > 1) {
        ++answer.arrays;
        answer.without_layout += shape.has_layout() ? 0 : 1;
      }
      has_products |= (instruction->opcode() == HloOpcode::kDot ||
                       instruction->opcode() == HloOpcode::kConvolution) &&
                      !fused.contains(computation);
      if (answer.platform.empty()) FindPlatform(*instruction, &answer);
    }
  }
  // Compilers for GPUs make calls or fusions of all dots and convolutions.
  if (answer.platform.empty() && answer.is_scheduled && has_products) {
    answer.platform = "cpu";
    answer.evidence = "a dot or convolution outside of fusions";
  }
  return answer;
}

std::string CompiledFor::PlatformText() const {
  return absl::StrCat(platform.empty()
                          ? "compiled for: not known"
                          : absl::StrCat("compiled for ", platform, ", as ", evidence, " says"),
                      is_scheduled ? "" : "; not scheduled: kernels and layouts may still change");
}

std::string CompiledFor::LayoutText() const {
  if (without_layout == 0) return "";
  if (without_layout == arrays) return "no layouts are given: row-major ones are assumed";
  return absl::StrCat("the layouts of ", without_layout, " of ", arrays,
                      " arrays are not given: row-major ones are assumed");
}

}  // namespace xla_indexing::internal
