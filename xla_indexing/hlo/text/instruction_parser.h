// Reading of the instructions of one computation.

#ifndef XLA_INDEXING_HLO_TEXT_INSTRUCTION_PARSER_H_
#define XLA_INDEXING_HLO_TEXT_INSTRUCTION_PARSER_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/text/module_reader.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

class InstructionParser {
 public:
  // Reads into `computation`, which is empty. `depth` is the nesting of computations around it.
  InstructionParser(ModuleReader& module_reader, HloComputation* computation, int depth)
      : module_reader_(module_reader),
        lexer_(module_reader.lexer()),
        computation_(computation),
        depth_(depth) {}

  // Reads instructions up to the closing character, and that character.
  bool ReadUntil(char close);
  // Reads instructions to the end of the text. Operands may be shapes alone.
  bool ReadUntilEnd();
  // Reads one instruction without `name =` before it, to the end of the text. Operands may be
  // shapes alone.
  bool ReadOneWithoutName();

 private:
  using Operands = absl::InlinedVector<const HloInstruction*, 4>;
  using Attributes = absl::InlinedVector<Attribute, 8>;

  // What an opcode's spelling says: an opcode, known or not, or one of the steps of an asynchronous one.
  struct OpcodeSpelling {
    HloOpcode opcode = HloOpcode::kAdd;
    absl::string_view text;
    // The operation that `x-start` runs asynchronously, where it is none of its own.
    bool is_wrapped_start = false;
    HloOpcode wrapped = HloOpcode::kAdd;
  };

  bool ReadInstruction();
  // Reads `shape opcode(operands), attributes`. An instruction that stands as an operand has no
  // attributes and no name.
  bool ReadDefinition(absl::string_view name, const char* start, int depth, bool nested,
                      const HloInstruction** result);
  bool ReadOpcode(bool has_shape, OpcodeSpelling* spelling);
  bool ReadConstantValue(const Shape* shape, int depth, Attributes* attributes);
  bool ReadOperands(int depth, Operands* operands);
  bool ReadOperand(int depth, Operands* operands);
  bool ReadNamedOperand(const Shape* declared_shape, const HloInstruction** operand);
  // The instruction of that name, which stands at `start`.
  bool ResolveOperand(const char* start, absl::string_view name, const HloInstruction** operand);
  const HloInstruction* AddShapeOnlyParameter(const char* start, const Shape* shape);

  // `attributes` of the instruction itself; those that belong to the operation that an asynchronous
  // start wraps go to `wrapped` if that is not null.
  bool ReadAttributes(Attributes* attributes, Attributes* wrapped);
  bool ReadAttributeValue(AttributeKey key, AttributeValue* value);
  bool ReadTextValue(AttributeKey key, absl::string_view name, absl::string_view* text);
  bool ReadComputationValue(AttributeValue* value);
  bool ReadComputation(const HloComputation** computation);
  bool ReadComputationList(AttributeValue* value);
  bool ReadInstructionList(AttributeValue* value);

  HloInstruction* Make(HloComputation* computation, HloOpcode opcode, absl::string_view name,
                       const char* start, const Shape* shape, const Operands& operands,
                       const Attributes& attributes);
  // Puts an instruction at the end; takes note of a parameter's number.
  bool Append(HloInstruction* instruction, const char* start);
  // What `x-start` runs: a computation of parameters and the one operation, which is made when all steps
  // that bind operands to it have been read.
  struct WrappedOperation {
    HloComputation* computation = nullptr;
    HloOpcode opcode = HloOpcode::kAdd;
    const char* start = nullptr;
    Attributes attributes;
    std::vector<const Shape*> parameters;
    const Shape* result = nullptr;
  };
  bool WrapAsync(HloOpcode opcode, const char* start, const Shape* shape, const Operands& operands,
                 const Attributes& wrapped, Attributes* attributes);
  // Takes note of the operands that an asynchronous update binds.
  void BindToWrapped(const HloInstruction& update);
  void FillWrapped();
  bool Finish(const char* end);
  void NameGenerated();

  ModuleReader& module_reader_;
  Lexer& lexer_;
  HloComputation* computation_;
  int depth_;
  std::vector<WrappedOperation> wrapped_;
  bool shapes_as_operands_ = false;
  bool has_generated_ = false;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_INSTRUCTION_PARSER_H_
