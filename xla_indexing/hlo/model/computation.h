// A computation of an HLO module: a list of instructions in an order in which operands come before
// their users (so the list is a post-order and walking it needs no recursion), one of which is the
// root.
//
// Example, `ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }`:
//
//   computation->instructions();         // p, n
//   computation->parameter(0);           // p
//   computation->root_instruction();     // n
//   computation->FindInstruction("n");   // n

#ifndef XLA_INDEXING_HLO_MODEL_COMPUTATION_H_
#define XLA_INDEXING_HLO_MODEL_COMPUTATION_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

namespace internal {
class Arena;
class InstructionNames;
class InstructionParser;
class ModuleParser;
class ProtoModuleReader;
}  // namespace internal

class HloModule;

class HloComputation {
 public:
  // Numbers of parameters are less than this.
  static constexpr int64_t kMaxParameters = int64_t{1} << 20;

  HloComputation(const HloComputation&) = delete;
  HloComputation& operator=(const HloComputation&) = delete;

  absl::string_view name() const { return name_; }
  const HloModule* parent() const { return parent_; }
  bool is_entry() const;
  // The position in the module's computations; computations come before those that call them.
  int64_t index_in_module() const { return index_; }

  absl::Span<HloInstruction* const> instructions() { return instructions_; }
  absl::Span<const HloInstruction* const> instructions() const { return instructions_; }
  int64_t instruction_count() const { return static_cast<int64_t>(instructions_.size()); }

  // The instruction marked ROOT, else the last one; null only if there are no instructions.
  const HloInstruction* root_instruction() const;
  void SetRoot(const HloInstruction* root);

  // The parameters by their numbers. A number that no parameter has leaves a null (the parser and
  // the verifier refuse that).
  absl::Span<const HloInstruction* const> parameters() const { return parameters_; }
  const HloInstruction* parameter(int64_t number) const { return parameters_[number]; }

  // The instruction of that name (without `%`), null if there is none; the first where several have
  // it, which the verifier refuses. Constant time.
  const HloInstruction* FindInstruction(absl::string_view name) const;

  // Whether no two instructions have the same name; a computation that was parsed is so.
  bool HasUniqueNames() const;

  // The name of the thread that the computation runs on, `}, execution_thread="t"`; empty if it is
  // not given.
  absl::string_view execution_thread() const { return execution_thread_; }
  void SetExecutionThread(absl::string_view thread);

  // Building: adds an instruction at the end. The operands must be instructions of this
  // computation; the name must be new in it (the verifier reports one that is not).
  HloInstruction* AddInstruction(HloOpcode opcode, absl::string_view name, const Shape& shape,
                                 absl::Span<const HloInstruction* const> operands = {});
  HloInstruction* AddInstruction(HloOpcode opcode, absl::string_view name, const Shape& shape,
                                 std::initializer_list<const HloInstruction*> operands) {
    return AddInstruction(opcode, name, shape,
                          absl::MakeConstSpan(operands.begin(), operands.size()));
  }
  HloInstruction* AddParameter(int64_t number, absl::string_view name, const Shape& shape);
  // A constant of the literal's shape.
  HloInstruction* AddConstant(absl::string_view name, const Literal& literal);

  // The computation as HLO text, after `ENTRY` if it is the entry.
  std::string ToString() const;

 private:
  friend class internal::Arena;
  friend class HloBuilder;
  friend class HloInstruction;
  friend class HloModule;
  friend class internal::InstructionParser;
  friend class internal::ModuleParser;
  friend class internal::ProtoModuleReader;

  HloComputation(HloModule* parent, absl::string_view name);

  // Makes an instruction that has no shape and is not yet in the list; AppendOwned puts it at the
  // end.
  HloInstruction* MakeInstruction(HloOpcode opcode, absl::string_view name,
                                  absl::Span<const HloInstruction* const> operands);
  // Puts an instruction whose name and operands lie in the module's memory at the end. One without
  // a name is given one later. False if the name is taken.
  bool AppendOwned(HloInstruction* instruction);
  // Takes note of the number of a parameter; false if it is taken.
  bool RegisterParameter(HloInstruction* instruction, int64_t number);

  absl::string_view name_;
  HloModule* parent_;
  std::vector<HloInstruction*> instructions_;
  std::vector<const HloInstruction*> parameters_;
  // In the arena of the module.
  internal::InstructionNames* names_;
  const HloInstruction* root_ = nullptr;
  absl::string_view execution_thread_;
  int64_t index_ = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODEL_COMPUTATION_H_
