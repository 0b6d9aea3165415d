#include "xla_indexing/hlo/build/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"
#include "xla_indexing/hlo/verify/shape_inference.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using internal::CheckIsValid;
using internal::CheckShape;
using internal::InferShape;
using internal::Lexer;

// Whether a value that is a pointer points somewhere.
struct PointsSomewhere {
  template <typename T>
  bool operator()(const T& value) const {
    if constexpr (std::is_pointer_v<T>) return value != nullptr;
    return true;
  }
};

// Whether a value is of the alternative that a kind of attribute has, and points somewhere.
bool IsOfKind(const AttributeValue& value, AttributeKind kind) {
  // Several computations may stand where one usually does.
  if (kind == AttributeKind::kComputation &&
      std::holds_alternative<absl::Span<const HloComputation* const>>(value)) {
    return true;
  }
  static_assert(std::variant_size_v<AttributeValue> == static_cast<size_t>(AttributeKind::kString));
  if (kind == AttributeKind::kString) kind = AttributeKind::kText;
  return value.index() == static_cast<size_t>(kind) && std::visit(PointsSomewhere(), value);
}

Shape WithRowMajorLayouts(const Shape& shape) {
  if (shape.IsArray()) {
    Shape result = shape;
    // The layout of a scalar is not printed.
    if (!shape.has_layout() && shape.rank() > 0) result.SetLayout(RowMajorLayout(shape.rank()));
    return result;
  }
  if (!shape.IsTuple() && !shape.IsBuffer()) return shape;
  std::vector<Shape> elements;
  for (const Shape& element : shape.tuple_elements()) {
    elements.push_back(WithRowMajorLayouts(element));
  }
  return shape.IsTuple() ? Shape::Tuple(std::move(elements)) : Shape::Buffer(elements[0]);
}

}  // namespace

Attribute MakeAttribute(AttributeKey key, const AttributeValue& value) {
  return {key, AttributeName(key), value};
}

Attribute MakeTextAttribute(absl::string_view name, absl::string_view text) {
  return {AttributeKey::kOther, name, text};
}

absl::StatusOr<std::string> HloBuilder::CheckLeaf(HloOpcode opcode, const Shape& shape,
                                                  absl::string_view name,
                                                  absl::Span<const Attribute> attributes) {
  XLA_INDEXING_ASSIGN_OR_RETURN(std::string given, NameFor(opcode, name));
  HloInstruction* discarded = computation_->MakeInstruction(opcode, given, {});
  XLA_INDEXING_RETURN_IF_ERROR(SetAttributes(attributes, discarded));
  const absl::Status status = CheckIsValid(shape);
  if (!status.ok()) return internal::shape_rules::Error(*discarded, status.message());
  return given;
}

absl::StatusOr<const HloInstruction*> HloBuilder::AddParameter(
    int64_t number, const Shape& shape, absl::string_view name,
    absl::Span<const Attribute> attributes) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const std::string given,
                                CheckLeaf(HloOpcode::kParameter, shape, name, attributes));
  const auto parameters = computation_->parameters();
  if (number < 0 || number >= HloComputation::kMaxParameters) {
    return absl::InvalidArgumentError(
        absl::StrCat(given, ": no parameter can have the number ", number));
  }
  if (number < static_cast<int64_t>(parameters.size()) && parameters[number] != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(given, ": parameter ", number, " is '",
                                                   parameters[number]->name(), "' already"));
  }
  HloInstruction* parameter = computation_->AddParameter(
      number, given, options_.row_major_layouts ? WithRowMajorLayouts(shape) : shape);
  XLA_INDEXING_RETURN_IF_ERROR(SetAttributes(attributes, parameter));
  return parameter;
}

absl::StatusOr<const HloInstruction*> HloBuilder::AddConstant(
    const Literal& literal, absl::string_view name, absl::Span<const Attribute> attributes) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const std::string given,
                                CheckLeaf(HloOpcode::kConstant, literal.shape(), name, attributes));
  HloInstruction* constant = computation_->AddConstant(given, literal);
  XLA_INDEXING_RETURN_IF_ERROR(SetAttributes(attributes, constant));
  return constant;
}

absl::StatusOr<const HloInstruction*> HloBuilder::Add(
    HloOpcode opcode, absl::Span<const HloInstruction* const> operands,
    const InstructionDetails& details) {
  pending_.clear();
  const std::string what =
      absl::StrCat(details.name, details.name.empty() ? "" : ": ", OpcodeName(opcode));
  if (opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": is added with ",
                     opcode == HloOpcode::kParameter ? "AddParameter" : "AddConstant"));
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckOperands(what, operands));
  absl::StatusOr<Instructions> explicit_operands = Instructions(operands.begin(), operands.end());
  if (BroadcastsImplicitly(opcode) && options_.rule != BroadcastRule::kNone) {
    reserved_name_ = details.name;
    explicit_operands = MakeAllExplicit(operands, details.broadcast_dimensions);
    reserved_name_ = {};
    if (!explicit_operands.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": ", explicit_operands.status().message()));
    }
  } else if (!details.broadcast_dimensions.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": broadcast_dimensions are given, and no operand is broadcast"));
  }
  const absl::StatusOr<const HloInstruction*> made = Make(opcode, *explicit_operands, details);
  if (made.ok()) AddPending();
  return made;
}

absl::Status HloBuilder::SetRoot(const HloInstruction* root) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckOperands("ROOT", {root}));
  computation_->SetRoot(root);
  return absl::OkStatus();
}

absl::Status HloBuilder::CheckOperands(absl::string_view what,
                                       absl::Span<const HloInstruction* const> operands) const {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": operand ", i, " is null"));
    }
    if (operands[i]->parent() != computation_) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, ": operand ", i, ", '", operands[i]->name(), "', is in another computation"));
    }
  }
  return absl::OkStatus();
}

bool HloBuilder::IsTaken(absl::string_view name) const {
  return computation_->FindInstruction(name) != nullptr || name == reserved_name_ ||
         absl::c_any_of(pending_, [&](const HloInstruction* i) { return i->name() == name; });
}

absl::StatusOr<std::string> HloBuilder::NameFor(HloOpcode opcode, absl::string_view name) {
  if (!name.empty()) {
    if (!Lexer::IsName(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is not a name: those are letters, digits, '_', '.' and '-', ",
                       "and begin with a letter or '_'"));
    }
    if (IsTaken(name)) {
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' is there already"));
    }
    return std::string(name);
  }
  std::string made(OpcodeName(opcode));
  int64_t& count = name_counts_[opcode];
  while (IsTaken(made)) made = absl::StrCat(OpcodeName(opcode), ".", ++count);
  return made;
}

absl::Status HloBuilder::CheckReferences(const Attribute& attribute,
                                         const HloInstruction& user) const {
  const auto check_computation = [&](const HloComputation* computation) {
    return computation != nullptr && computation->parent() == computation_->parent() &&
           computation->index_in_module() < computation_->index_in_module();
  };
  bool is_good = true;
  if (const auto* one = std::get_if<const HloComputation*>(&attribute.value)) {
    is_good = check_computation(*one);
  } else if (const auto* computations =
                 std::get_if<absl::Span<const HloComputation* const>>(&attribute.value)) {
    is_good = absl::c_all_of(*computations, check_computation);
  } else if (const auto* instructions =
                 std::get_if<absl::Span<const HloInstruction* const>>(&attribute.value)) {
    is_good = absl::c_all_of(*instructions, [this](const HloInstruction* instruction) {
      return instruction != nullptr && instruction->parent() == computation_;
    });
  }
  if (is_good) return absl::OkStatus();
  return internal::shape_rules::Error(user, attribute.name,
                                      " names what is not there before this instruction");
}

absl::Status HloBuilder::SetAttributes(absl::Span<const Attribute> attributes,
                                       HloInstruction* instruction) {
  for (const Attribute& given : attributes) {
    // A text stands for a value of any kind.
    const bool is_text = std::holds_alternative<absl::string_view>(given.value);
    const Attribute attribute =
        given.key == AttributeKey::kOther ? given : MakeAttribute(given.key, given.value);
    // The attribute of a constant or a parameter stands between its parentheses and has no name.
    if (attribute.name.empty()) {
      return internal::shape_rules::Error(*instruction, "an attribute has no name");
    }
    if (!is_text && !IsOfKind(attribute.value, KindOf(attribute.key))) {
      return internal::shape_rules::Error(*instruction, "the value of ", attribute.name,
                                          " is not of its kind");
    }
    XLA_INDEXING_RETURN_IF_ERROR(CheckReferences(attribute, *instruction));
    const size_t count = instruction->attributes().size();
    if (attribute.key == AttributeKey::kOther) {
      instruction->SetTextAttribute(attribute.name, std::get<absl::string_view>(attribute.value));
    } else {
      instruction->SetAttribute(attribute.key, attribute.value);
    }
    if (instruction->attributes().size() == count) {
      return internal::shape_rules::Error(*instruction, attribute.name, " is given twice");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const HloInstruction*> HloBuilder::Make(
    HloOpcode opcode, absl::Span<const HloInstruction* const> operands,
    const InstructionDetails& details) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const std::string name, NameFor(opcode, details.name));
  HloInstruction* instruction = computation_->MakeInstruction(opcode, name, operands);
  XLA_INDEXING_RETURN_IF_ERROR(SetAttributes(details.attributes, instruction));
  const absl::StatusOr<Shape> shape =
      details.shape.has_value() ? *details.shape : InferShape(*instruction);
  if (!shape.ok()) return shape.status();
  if (const absl::Status status = CheckIsValid(*shape); !status.ok()) {
    return internal::shape_rules::Error(*instruction, status.message());
  }
  instruction->SetShape(options_.row_major_layouts ? WithRowMajorLayouts(*shape) : *shape);
  XLA_INDEXING_RETURN_IF_ERROR(CheckShape(*instruction));
  pending_.push_back(instruction);
  return instruction;
}

void HloBuilder::AddPending() {
  for (HloInstruction* instruction : pending_) computation_->AppendOwned(instruction);
  pending_.clear();
}

absl::Status CheckBuiltModule(const HloModule& module) {
  XLA_INDEXING_RETURN_IF_ERROR(VerifyModule(module));
  const absl::StatusOr<std::unique_ptr<HloModule>> read = ParseModule(module.ToString());
  if (!read.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("module '", module.name(), "' does not read back: ", read.status().message()));
  }
  std::string difference;
  if (ModulesEqual(module, **read, &difference)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("module '", module.name(), "' reads back as another: ", difference));
}

}  // namespace xla_indexing
