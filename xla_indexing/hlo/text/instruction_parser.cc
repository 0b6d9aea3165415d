#include "xla_indexing/hlo/text/instruction_parser.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/instruction_names.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parts/parse_literal.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
bool InstructionParser::ReadUntil(char close) {
  while (lexer_.Peek() != close) {
    if (!ReadInstruction()) return false;
  }
  const char* const end = lexer_.position();
  return lexer_.Expect(close) && Finish(end);
}

bool InstructionParser::ReadUntilEnd() {
  shapes_as_operands_ = true;
  while (!lexer_.AtEnd()) {
    if (!ReadInstruction()) return false;
  }
  return Finish(lexer_.position());
}

bool InstructionParser::ReadOneWithoutName() {
  shapes_as_operands_ = true;
  const char* const start = lexer_.NextPosition();
  const HloInstruction* instruction = nullptr;
  if (!ReadDefinition("", start, depth_, /*nested=*/false, &instruction)) return false;
  if (!lexer_.AtEnd()) return lexer_.FailExpected("the end of the text after one instruction");
  return Finish(lexer_.position());
}

bool InstructionParser::ReadInstruction() {
  const char* start = lexer_.NextPosition();
  absl::string_view name;
  if (!lexer_.ReadName("an instruction", &name)) return false;
  bool is_root = false;
  if (name == "ROOT" && *start != '%' && lexer_.Peek() != '=') {
    is_root = true;
    if (computation_->root_ != nullptr) {
      return lexer_.FailAt(start, "this is the second instruction marked ROOT");
    }
    start = lexer_.NextPosition();
    if (!lexer_.ReadName("the name of the ROOT instruction", &name)) return false;
  }
  if (!lexer_.Expect('=')) return false;
  const HloInstruction* instruction = nullptr;
  if (!ReadDefinition(name, start, depth_, /*nested=*/false, &instruction)) return false;
  if (is_root) computation_->root_ = instruction;
  return true;
}

bool InstructionParser::ReadDefinition(absl::string_view name, const char* start, int depth,
                                       bool nested, const HloInstruction** result) {
  const Shape* shape = nullptr;
  if (ShapeFollows(lexer_) && !module_reader_.ReadInternedShape(0, &shape)) return false;
  OpcodeSpelling spelling;
  if (!ReadOpcode(shape != nullptr, &spelling) || !lexer_.Expect('(')) return false;
  Operands operands;
  Attributes attributes;
  if (spelling.opcode == HloOpcode::kUnknown) {
    attributes.push_back({AttributeKey::kUnknownOpcode, {}, spelling.text});
  }
  if (spelling.opcode == HloOpcode::kConstant) {
    if (!ReadConstantValue(shape, depth, &attributes)) return false;
  } else if (spelling.opcode == HloOpcode::kParameter) {
    int64_t number = 0;
    if (!lexer_.ReadInteger("the number of the parameter", &number)) return false;
    attributes.push_back({AttributeKey::kParameterNumber, {}, number});
  } else if (!ReadOperands(depth, &operands)) {
    return false;
  }
  if (!lexer_.Expect(')')) return false;
  Attributes wrapped;
  if (!nested && !ReadAttributes(&attributes, spelling.is_wrapped_start ? &wrapped : nullptr)) {
    return false;
  }
  if (spelling.is_wrapped_start &&
      !WrapAsync(spelling.wrapped, start, shape, operands, wrapped, &attributes)) {
    return false;
  }
  HloInstruction* instruction =
      Make(computation_, spelling.opcode, name, start, shape, operands, attributes);
  if (shape == nullptr) {
    const absl::StatusOr<Shape> inferred = InferShape(*instruction);
    if (!inferred.ok()) {
      return lexer_.FailAt(start, "this instruction gives no shape, and none follows: ",
                           inferred.status().message());
    }
    instruction->shape_ = module_reader_.InternInferredShape(start, *inferred);
    if (instruction->shape_ == nullptr) return false;
  }
  if (spelling.opcode == HloOpcode::kAsyncUpdate) BindToWrapped(*instruction);
  *result = instruction;
  return Append(instruction, start);
}

bool InstructionParser::ReadOpcode(bool has_shape, OpcodeSpelling* spelling) {
  const char* const start = lexer_.NextPosition();
  const absl::string_view word = lexer_.ReadWord();
  if (word.empty()) return lexer_.FailExpected("an opcode");
  spelling->text = word;
  if (const std::optional<HloOpcode> opcode = OpcodeFromName(word)) {
    spelling->opcode = *opcode;
    return true;
  }
  if (const std::optional<AsyncStep> async = AsyncStepFromName(word)) {
    spelling->opcode = async->step;
    spelling->is_wrapped_start = async->step == HloOpcode::kAsyncStart;
    spelling->wrapped = async->wrapped;
    return true;
  }
  const bool has_operands = lexer_.Peek() == '(';
  if (has_operands && has_shape) {
    spelling->opcode = HloOpcode::kUnknown;
    return true;
  }
  constexpr size_t kLongestShown = 60;
  return lexer_.FailAt(start, "expected an opcode, found '", word.substr(0, kLongestShown), "'",
                       has_operands ? "; the result of an opcode that is not known needs its "
                                      "shape before it"
                                    : "");
}

bool InstructionParser::ReadConstantValue(const Shape* shape, int depth, Attributes* attributes) {
  if (shape == nullptr) return lexer_.Fail("a constant needs its shape before 'constant'");
  Literal literal;
  if (!ReadLiteral(lexer_, *shape, depth, &literal)) return false;
  const Literal* owned = module_reader_.module().arena().New<Literal>(std::move(literal));
  attributes->push_back({AttributeKey::kConstantValue, {}, owned});
  return true;
}

bool InstructionParser::ReadOperands(int depth, Operands* operands) {
  return lexer_.Peek() == ')' || lexer_.ReadSeparated([&] { return ReadOperand(depth, operands); });
}

bool InstructionParser::ReadOperand(int depth, Operands* operands) {
  const char* const start = lexer_.NextPosition();
  const HloInstruction* operand = nullptr;
  const Shape* shape = nullptr;
  if (lexer_.PeekRaw() != '%') {
    // Most operands are names alone.
    const absl::string_view name = lexer_.ReadWord();
    const char after = lexer_.PeekRaw();
    if (!name.empty() && (after == ',' || after == ')')) {
      if (!ResolveOperand(start, name, &operand)) return false;
      operands->push_back(operand);
      return true;
    }
    lexer_.SetPosition(start);
    if (ShapeFollows(lexer_) && !module_reader_.ReadInternedShape(0, &shape)) return false;
    const char next = lexer_.Peek();
    if (shape != nullptr && shapes_as_operands_ && (next == ',' || next == ')')) {
      operands->push_back(AddShapeOnlyParameter(start, shape));
      return true;
    }
    const char* const word_start = lexer_.position();
    const absl::string_view word = lexer_.ReadWord();
    const bool nested = !word.empty() && lexer_.Peek() == '(';
    lexer_.SetPosition(word_start);
    if (nested) {
      if (depth >= kMaxParseDepth) {
        return lexer_.FailAt(start, "operands are nested more than ", kMaxParseDepth, " deep");
      }
      lexer_.SetPosition(start);
      if (!ReadDefinition("", start, depth + 1, /*nested=*/true, &operand)) return false;
      operands->push_back(operand);
      return true;
    }
  }
  if (!ReadNamedOperand(shape, &operand)) return false;
  operands->push_back(operand);
  return true;
}

// `%p`, or `%p#0#1`: element 1 of element 0 of `p`. A shape given before it is that of the operand.
bool InstructionParser::ReadNamedOperand(const Shape* declared_shape,
                                         const HloInstruction** operand) {
  const char* const start = lexer_.NextPosition();
  absl::string_view name;
  if (!lexer_.ReadName("an operand", &name)) return false;
  const HloInstruction* found = nullptr;
  if (!ResolveOperand(start, name, &found)) return false;
  while (lexer_.Peek() == '#') {
    const char* const index_start = lexer_.position();
    lexer_.ConsumeRaw('#');
    int64_t index = 0;
    if (!lexer_.ReadInteger("the number of a tuple's element", &index)) return false;
    const Shape& tuple = found->shape();
    if (!tuple.IsTuple() || index < 0 ||
        index >= static_cast<int64_t>(tuple.tuple_elements().size())) {
      return lexer_.FailAt(index_start, "'", name, "' of shape ", tuple.ToStringWithoutLayout(),
                           " has no element ", index);
    }
    const Shape* element = module_reader_.module().InternShape(tuple.tuple_element(index));
    HloInstruction* get =
        Make(computation_, HloOpcode::kGetTupleElement, "", start, element, {found},
             {{AttributeKey::kIndex, AttributeName(AttributeKey::kIndex), index}});
    if (!Append(get, start)) return false;
    found = get;
  }
  if (declared_shape != nullptr && declared_shape != &found->shape() &&
      !EqualIgnoringLayoutAndBounds(*declared_shape, found->shape())) {
    return lexer_.FailAt(start, "'", name, "' has the shape ",
                         found->shape().ToStringWithoutLayout(), ", not ",
                         declared_shape->ToStringWithoutLayout());
  }
  *operand = found;
  return true;
}

bool InstructionParser::ResolveOperand(const char* start, absl::string_view name,
                                       const HloInstruction** operand) {
  *operand = computation_->FindInstruction(name);
  if (*operand != nullptr) return true;
  return lexer_.FailAt(start, "'", name, "' is not defined before this place");
}

const HloInstruction* InstructionParser::AddShapeOnlyParameter(const char* start,
                                                               const Shape* shape) {
  const auto number = static_cast<int64_t>(computation_->parameters_.size());
  HloInstruction* parameter = Make(computation_, HloOpcode::kParameter, "", start, shape, {},
                                   {{AttributeKey::kParameterNumber, {}, number}});
  Append(parameter, start);
  return parameter;
}

HloInstruction* InstructionParser::Make(HloComputation* computation, HloOpcode opcode,
                                        absl::string_view name, const char* start,
                                        const Shape* shape, const Operands& operands,
                                        const Attributes& attributes) {
  Arena& arena = module_reader_.module().arena();
  auto* instruction = arena.New<HloInstruction>(computation, opcode, name);
  instruction->shape_ = shape;
  instruction->source_offset_ = static_cast<int64_t>(lexer_.OffsetOf(start));
  instruction->operands_ = arena.Copy(absl::MakeConstSpan(operands));
  instruction->SetOwnedAttributes(attributes);
  return instruction;
}

bool InstructionParser::Append(HloInstruction* instruction, const char* start) {
  if (instruction->name_.empty()) has_generated_ = true;
  if (!computation_->AppendOwned(instruction)) {
    return lexer_.FailAt(start, "'", instruction->name_, "' is defined twice");
  }
  if (instruction->opcode() != HloOpcode::kParameter) return true;
  const int64_t number = instruction->parameter_number();
  if (computation_->RegisterParameter(instruction, number)) return true;
  const bool is_taken = number >= 0 &&
                        number < static_cast<int64_t>(computation_->parameters_.size()) &&
                        computation_->parameters_[number] != nullptr;
  return lexer_.FailAt(start, is_taken ? absl::StrCat("parameter ", number, " is defined twice")
                                       : absl::StrCat("no parameter can have the number ", number));
}

bool InstructionParser::WrapAsync(HloOpcode opcode, const char* start, const Shape* shape,
                                  const Operands& operands, const Attributes& wrapped,
                                  Attributes* attributes) {
  // ((operands), results, context ...)
  if (shape == nullptr || !shape->IsTuple() || shape->tuple_elements().size() < 2) {
    return lexer_.FailAt(start, "the shape of '", OpcodeName(opcode),
                         "-start' must be given, as ((operands), result, ...)");
  }
  HloModule& module = module_reader_.module();
  HloComputation* computation = module_reader_.MakeGeneratedComputation("async_computation");
  WrappedOperation& operation = wrapped_.emplace_back();
  operation.computation = computation;
  operation.opcode = opcode;
  operation.start = start;
  operation.attributes = wrapped;
  operation.result = module.InternShape(shape->tuple_element(1));
  for (const HloInstruction* operand : operands) operation.parameters.push_back(&operand->shape());
  for (const Attribute& attribute : *attributes) {
    if (attribute.key != AttributeKey::kAsyncExecutionThread) continue;
    if (const auto* thread = std::get_if<absl::string_view>(&attribute.value)) {
      computation->execution_thread_ = *thread;
    }
  }
  module.Adopt(computation);
  attributes->push_back({AttributeKey::kCalls, AttributeName(AttributeKey::kCalls), computation});
  return true;
}

void InstructionParser::BindToWrapped(const HloInstruction& update) {
  if (wrapped_.empty() || update.operand_count() < 2) return;
  const HloInstruction* start = AsyncStartOf(update);
  if (start == nullptr) return;
  for (WrappedOperation& operation : wrapped_) {
    if (operation.computation != start->calls()) continue;
    for (const HloInstruction* operand : update.operands().subspan(1)) {
      operation.parameters.push_back(&operand->shape());
    }
    if (update.has_shape() && update.shape().IsTuple() &&
        update.shape().tuple_elements().size() >= 2) {
      operation.result = module_reader_.module().InternShape(update.shape().tuple_element(1));
    }
  }
}

void InstructionParser::FillWrapped() {
  for (const WrappedOperation& operation : wrapped_) {
    HloComputation* computation = operation.computation;
    Operands parameters;
    for (const Shape* shape : operation.parameters) {
      const auto number = static_cast<int64_t>(parameters.size());
      HloInstruction* parameter =
          Make(computation, HloOpcode::kParameter,
               module_reader_.module().arena().CopyString(absl::StrCat("param_", number)),
               operation.start, shape, {}, {{AttributeKey::kParameterNumber, {}, number}});
      computation->AppendOwned(parameter);
      computation->RegisterParameter(parameter, number);
      parameters.push_back(parameter);
    }
    computation->AppendOwned(Make(computation, operation.opcode, "async_operation", operation.start,
                                  operation.result, parameters, operation.attributes));
  }
}

bool InstructionParser::Finish(const char* end) {
  if (computation_->instructions_.empty()) {
    return lexer_.FailAt(end, "expected an instruction; a computation has at least one");
  }
  for (size_t number = 0; number < computation_->parameters_.size(); ++number) {
    if (computation_->parameters_[number] == nullptr) {
      return lexer_.FailAt(end, "this computation has a parameter ",
                           computation_->parameters_.size() - 1, " but no parameter ", number);
    }
  }
  FillWrapped();
  if (has_generated_) NameGenerated();
  return true;
}

// Names instructions that have none after their opcodes, now that it is known which names are
// taken.
void InstructionParser::NameGenerated() {
  absl::flat_hash_map<absl::string_view, int64_t> suffixes;
  for (size_t i = 0; i < computation_->instructions_.size(); ++i) {
    HloInstruction* instruction = computation_->instructions_[i];
    if (!instruction->name_.empty()) continue;
    const absl::string_view base = instruction->opcode_name();
    int64_t& suffix = suffixes[base];
    std::string name(base);
    while (computation_->FindInstruction(name) != nullptr) {
      name = absl::StrCat(base, ".", ++suffix);
    }
    instruction->name_ = module_reader_.module().arena().CopyString(name);
    computation_->names_->Add(computation_->instructions_, i);
  }
}

}  // namespace xla_indexing::internal
