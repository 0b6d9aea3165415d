#include "xla_indexing/hlo/verify/verifier.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing {
namespace {

using internal::CheckIsValid;
using internal::CheckShape;
using internal::EntryLayout;
using internal::Lexer;
using internal::ReadEntryLayout;

class Verifier {
 public:
  Verifier(const HloModule& module, int64_t max_errors)
      : module_(module), max_errors_(max_errors) {}

  std::vector<VerificationError> Run() && {
    if (module_.computations().empty()) {
      Add(nullptr, nullptr, absl::StrCat("module '", module_.name(), "' has no computation"));
    }
    for (const HloComputation* computation : module_.computations()) {
      if (IsFull()) break;
      CheckComputation(*computation);
    }
    if (!IsFull()) CheckEntryLayout();
    return std::move(errors_);
  }

 private:
  bool IsFull() const { return static_cast<int64_t>(errors_.size()) >= max_errors_; }

  void Add(const HloComputation* computation, const HloInstruction* instruction,
           std::string message, bool is_of_instruction_alone = false) {
    if (IsFull()) return;
    errors_.push_back(
        {&module_, computation, instruction, std::move(message), is_of_instruction_alone});
  }

  void CheckComputation(const HloComputation& computation) {
    const std::string name = absl::StrCat("computation '", computation.name(), "'");
    if (module_.FindComputation(computation.name()) != &computation) {
      Add(&computation, nullptr, absl::StrCat(name, " is defined twice"));
    }
    const HloInstruction* root = computation.root_instruction();
    if (root == nullptr) {
      Add(&computation, nullptr, absl::StrCat(name, " has no instructions"));
    } else if (root->parent() != &computation) {
      Add(&computation, nullptr, absl::StrCat("the root of ", name, " is in another computation"));
    }
    for (size_t p = 0; p < computation.parameters().size(); ++p) {
      if (computation.parameters()[p] == nullptr) {
        Add(&computation, nullptr, absl::StrCat(name, " has no parameter ", p));
      }
    }
    for (const HloInstruction* instruction : computation.instructions()) {
      if (IsFull()) return;
      CheckInstruction(*instruction);
    }
  }

  // The header may say what the entry takes and yields: its parameters and its root, but for
  // layouts and the precision of floating point types.
  void CheckEntryLayout() {
    const auto text = module_.FindAttribute("entry_computation_layout");
    const HloComputation* entry = module_.entry_computation();
    if (!text.has_value() || entry == nullptr || entry->root_instruction() == nullptr) return;
    Lexer lexer(*text);
    EntryLayout layout;
    if (!ReadEntryLayout(lexer, &layout) || !lexer.AtEnd()) {
      Add(entry, nullptr, absl::StrCat("entry_computation_layout=", *text, " is malformed"));
      return;
    }
    const auto parameters = entry->parameters();
    if (parameters.size() != layout.parameters.size()) {
      Add(entry, nullptr,
          absl::StrCat("computation '", entry->name(), "' takes ", parameters.size(),
                       " parameters, and entry_computation_layout has ", layout.parameters.size()));
      return;
    }
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (parameters[p] != nullptr) CheckAgainstEntryLayout(*parameters[p], layout.parameters[p]);
    }
    CheckAgainstEntryLayout(*entry->root_instruction(), layout.result);
  }

  void CheckAgainstEntryLayout(const HloInstruction& i, const Shape& declared) {
    using internal::shape_rules::Brief;
    constexpr auto kAgreement = internal::shape_rules::Agreement::kFloatPrecision;
    if (internal::shape_rules::ShapesAgree(i.shape(), declared, kAgreement)) return;
    const absl::Status status = Error(i, "has shape ", Brief(i.shape()),
                                      " and entry_computation_layout says ", Brief(declared));
    Add(i.parent(), &i, std::string(status.message()));
  }

  // Reports the first error of an instruction. Where its operands or computations are not what they
  // should be, its shape is not looked at.
  void CheckInstruction(const HloInstruction& i) {
    if (const absl::Status status = PlaceStatus(i); !status.ok()) {
      Add(i.parent(), &i, std::string(status.message()));
    } else if (const absl::Status of_shape = ShapeStatus(i); !of_shape.ok()) {
      Add(i.parent(), &i, std::string(of_shape.message()), /*is_of_instruction_alone=*/true);
    }
  }

  // How the instruction stands among the others of its module.
  absl::Status PlaceStatus(const HloInstruction& i) const {
    if (i.name().empty()) return Error(i, "has no name");
    if (!i.parent()->HasUniqueNames() && i.parent()->FindInstruction(i.name()) != &i) {
      return Error(i, "is defined twice in computation '", i.parent()->name(), "'");
    }
    for (const HloInstruction* operand : i.operands()) {
      if (operand->parent() != i.parent() ||
          operand->index_in_computation() >= i.index_in_computation()) {
        return Error(i, "has the operand '", operand->name(),
                     "', which does not come before it in its computation");
      }
    }
    for (const HloInstruction* predecessor : i.control_predecessors()) {
      if (predecessor->parent() != i.parent() || predecessor == &i) {
        return Error(i, "has the control predecessor '", predecessor->name(),
                     "', which is not another instruction of its computation");
      }
    }
    for (const HloComputation* called : i.called_computations()) {
      if (called->parent() != &module_ ||
          called->index_in_module() >= i.parent()->index_in_module()) {
        return Error(i, "calls computation '", called->name(),
                     "', which does not come before its own");
      }
    }
    if (i.opcode() == HloOpcode::kParameter && !IsParameterOfItsNumber(i)) {
      return Error(i, "is parameter ", i.parameter_number(),
                   ", a number that is taken or out of range");
    }
    return absl::OkStatus();
  }

  absl::Status ShapeStatus(const HloInstruction& i) {
    // Shapes are interned: each is looked at once.
    if (valid_shapes_.insert(&i.shape()).second) {
      if (const absl::Status status = CheckIsValid(i.shape()); !status.ok()) {
        valid_shapes_.erase(&i.shape());
        return Error(i, "has no valid shape: ", status.message());
      }
    }
    return CheckShape(i);
  }

  static bool IsParameterOfItsNumber(const HloInstruction& i) {
    const int64_t number = i.parameter_number();
    const auto parameters = i.parent()->parameters();
    return number >= 0 && number < static_cast<int64_t>(parameters.size()) &&
           parameters[number] == &i;
  }

  template <typename... Parts>
  static absl::Status Error(const HloInstruction& i, const Parts&... parts) {
    return absl::InvalidArgumentError(
        absl::StrCat("instruction '", i.name(), "' (", i.opcode_name(), ") ", parts...));
  }

  const HloModule& module_;
  const int64_t max_errors_;
  std::vector<VerificationError> errors_;
  absl::flat_hash_set<const Shape*> valid_shapes_;
};

}  // namespace

std::string VerificationError::ToString(absl::string_view severity, absl::string_view text) const {
  const SourceText* source = module == nullptr ? nullptr : module->source();
  if (source == nullptr || instruction == nullptr ||
      instruction->source_offset() == HloInstruction::kNoSourceOffset) {
    return std::string(text);
  }
  return FormatDiagnostic(source->filename, source->text,
                          static_cast<size_t>(instruction->source_offset()), text, severity);
}

std::vector<VerificationError> FindErrors(const HloModule& module, int64_t max_errors) {
  if (module.is_verified()) return {};
  std::vector<VerificationError> errors = Verifier(module, max_errors).Run();
  if (max_errors > 0) {
    module.SetVerdict(errors.empty() ? absl::OkStatus()
                                     : absl::InvalidArgumentError(errors.front().ToString()));
  }
  return errors;
}

std::vector<VerificationError> FindWarnings(const HloModule& module, int64_t max_warnings) {
  std::vector<VerificationError> warnings;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* i : computation->instructions()) {
      if (i->opcode() != HloOpcode::kUnknown) continue;
      if (static_cast<int64_t>(warnings.size()) >= max_warnings) return warnings;
      warnings.push_back(
          {&module, computation, i,
           absl::StrCat("instruction '", i->name(), "' has the opcode '", i->opcode_name(),
                        "', which is not known; everything that it yields may be made of "
                        "all of its operands"),
           /*is_of_instruction_alone=*/true});
    }
  }
  return warnings;
}

absl::Status VerifyModule(const HloModule& module) {
  if (module.verdict() == nullptr) FindErrors(module, 1);
  return *module.verdict();
}

}  // namespace xla_indexing
