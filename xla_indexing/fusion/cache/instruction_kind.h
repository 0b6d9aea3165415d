// What the maps of an instruction depend on.
//
// Most operations are indexed by opcode, attributes, and the shapes of result and operands alone:
// two instructions in which these are equal are of one *kind* and have equal maps. The maps of
// operations that read indices while the program runs (dynamic-slice, dynamic-update-slice, gather,
// scatter) depend besides on what the module says of these operands, and name them in bindings.
// Calls and fusions have a kind where what they call has no bindings (KindOfCall); other operations
// that look into computations have none.
//
// An operand of indices is one of three to a kind:
//
//   a number     a scalar whose value the module fixes: the number is part of the kind
//   a name       nothing is known of its elements, so that maps say no more of it than its name:
//                of the kind is only in which order named operands stand, and which are the same
//   itself       anything else: the instruction is part of the kind, and so are named operands then
//
// Maps of two instructions of one kind are equal but for the names, which are to be replaced one by
// one (NamesIn). Their order is that in which runtime variables are put (CompareSources).
//
// A kind is a list of words to be compared and hashed. Shapes stand in it by address: modules hold
// equal shapes once, so that a kind means something as long as the instruction's module lives, and
// kinds of two modules differ. Attributes that indexing does not read (metadata, sharding, and the
// computation that a reduction applies, ..) are left out; of an elementwise operation all are, and
// the opcode is.
//
// Example: in a module add(a, b) and multiply(a, c) of f32[8,4] are of one kind; slices of it at
// [0:4] and at [4:8] are of two. dynamic-slice(a, i, zero) and dynamic-slice(b, j, nil) are of one
// kind, with names i and j, where zero and nil are constants 0 and i and j are parameters.
#ifndef XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_
#define XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::internal {

using InstructionKind = llvm::SmallVector<uint64_t, 24>;

// Whether instructions of the opcode have kinds.
bool HasKind(HloOpcode opcode);

// Empty where the instruction has no kind or one with names or instructions.
InstructionKind KindOf(const HloInstruction& instruction);

// The operands that are names of a kind, each once, in the order of CompareSources.
using KindNames = llvm::SmallVector<const HloInstruction*, 4>;

struct NamedKind {
  InstructionKind kind;  // empty where the instruction has none
  KindNames names;
  bool has_instructions = false;  // in place of names
};

// The kind of a call or a fusion of a computation with this number, equal ones for computations that
// say the same, whose maps have no bindings.
NamedKind KindOfCall(const HloInstruction& instruction, uint64_t computation);

// Finds kinds, and remembers what that took: what is known of operands, and long texts. The modules
// that it is asked about have to outlive it or its next Clear().
class KindFinder {
 public:
  explicit KindFinder(mlir::MLIRContext* context) : context_(context) {}

  // The kind of an instruction whose runtime variables are folded (ops/values/fold_runtime.h), or
  // not. Kinds of one finder can be compared until Clear().
  NamedKind Find(const HloInstruction& instruction, bool fold_runtime_variables);

  // How many things are remembered.
  size_t size() const { return values_.size() + texts_.size(); }
  void Clear();

 private:
  // What is known of a scalar.
  struct ScalarValue {
    bool is_unknown = false;
    std::optional<int64_t> number;
  };
  const ScalarValue& ValueOf(const HloInstruction& scalar);
  void AppendIndexOperands(const HloInstruction& instruction, bool fold, NamedKind* found);
  void AppendAttribute(const Attribute& attribute, InstructionKind* kind);

  struct TextHash {
    size_t operator()(absl::string_view text) const;
  };

  mlir::MLIRContext* context_;
  absl::flat_hash_map<const HloInstruction*, ScalarValue> values_;
  absl::flat_hash_map<absl::string_view, uint64_t, TextHash> texts_;
};

// Gives shapes and computations numbers: equal ones where they are equal in what they say; operands
// their positions among what is compared.
struct ContentNumbers {
  llvm::function_ref<uint64_t(const HloInstruction&)> of_operand;
  llvm::function_ref<uint64_t(const Shape&)> of_shape;
  llvm::function_ref<uint64_t(const HloComputation&)> of_computation;
};

// Appends what the maps of an instruction and the values of its elements depend on, but for what its
// operands are: opcode, shape, attributes that are no descriptions, the positions of its operands,
// and the order in which the module has the computations that it calls. Names do
// not count. False where that is too long to be compared, as of large constants.
bool AppendContent(const HloInstruction& instruction, const ContentNumbers& numbers,
                   llvm::SmallVectorImpl<uint64_t>* content);

// Whether maps of instructions of the opcode may have bindings of their own, or come from
// computations.
bool MayBind(HloOpcode opcode);

// Whether the maps of an instruction are those of every instruction of its kind, but for these
// names. They are not where reasons name the instruction, and where a set is sorted by names.
bool AreOfKind(const HloInstruction& instruction, const InstructionIndexing& entries,
               const NamedKind& kind);

// The maps of an instruction of a kind with the names of another one of that kind.
InstructionIndexing WithNames(const InstructionIndexing& entries, const KindNames& from,
                              const KindNames& to);

// For tables of kinds that are looked up as they stand on the stack.
struct InstructionKindHash {
  using is_transparent = void;
  size_t operator()(absl::Span<const uint64_t> kind) const {
    return absl::Hash<absl::Span<const uint64_t>>()(kind);
  }
};
struct InstructionKindEqual {
  using is_transparent = void;
  bool operator()(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) const {
    return a == b;
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_
