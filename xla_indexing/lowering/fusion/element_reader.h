// Emits an element of an array, in the body of a loop: loads it where the array, or a tile of it, is in
// memory, and computes it from elements of operands where it is not.
#ifndef XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_
#define XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::internal {

// Which element of an array: the map, which has no symbols, at these values of its dimensions, which
// are in its domain.
struct ElementPlace {
  IndexingMap map;
  MlirValues values;
};

// Points of the step space of a contraction (ops/rules/arithmetic/contraction.h): an element of the
// result, then a value for each loop. The map's dimensions are those that `place.values` has values of,
// then `num_steps` that the contraction goes over, in order.
struct StepPlaces {
  ElementPlace place;
  int num_steps = 0;
};

// A tile of an array in a memory of its own: position i of it has the element offset + i * stride.
struct TileInMemory {
  mlir::Value memory;
  // From `arguments` to the offset in each dimension; all variables are dimensions.
  IndexingMap offsets;
  MlirValues arguments;
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 4> strides;
  // The elements within these bounds are filled.
  llvm::SmallVector<Interval, 4> bounds;
};

class ElementReader {
 public:
  explicit ElementReader(mlir::ImplicitLocOpBuilder& builder) : builder_(builder) {}

  // Where an array lies.
  void SetMemory(const ArrayValue& array, mlir::Value memory) { memory_[array] = memory; }
  mlir::Value MemoryOf(const ArrayValue& array) const {
    const auto found = memory_.find(array);
    return found == memory_.end() ? mlir::Value() : found->second;
  }

  // From now on arrays are read from these tiles; one that has no tile has to be in memory, or is an error.
  // The first of several tiles of an array that has the element is read. Where `may_miss`, places may be
  // outside of the tiles, and 0 is read there.
  using Tiles = absl::flat_hash_map<ArrayValue, std::vector<TileInMemory>>;
  void ReadFromTiles(Tiles tiles, bool may_miss) {
    tiles_ = std::move(tiles);
    may_miss_ = may_miss;
  }
  // Back to memory.
  void ReadFromMemory() { tiles_.reset(); }

  absl::StatusOr<mlir::Type> TypeOf(const ArrayValue& array) const;
  // The indices of the element at a place.
  absl::StatusOr<MlirValues> IndexOf(const ElementPlace& place);
  absl::StatusOr<mlir::Value> Read(ArrayValue array, const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadScalar(const HloInstruction& scalar);
  // An element of an instruction that is no sum of many, from those of its operands.
  absl::StatusOr<mlir::Value> Compute(const HloInstruction& instruction, const ElementPlace& place);
  // An element of a result that is a sum of many, one for each leaf; by loops.
  absl::StatusOr<MlirValues> ReadSum(const HloInstruction& instruction, const ElementPlace& place);
  // What such a sum begins with, and `sums` after further steps.
  absl::StatusOr<MlirValues> ReadInits(const HloInstruction& instruction);
  absl::StatusOr<MlirValues> AddSteps(const HloInstruction& instruction, const StepPlaces& steps,
                                      const MlirValues& sums);
  // Combines what is in memory, an array for each leaf of a scatter, with an element of the
  // updates, unless that is dropped. Gives nothing.
  absl::StatusOr<MlirValues> EmitUpdate(const HloInstruction& scatter, const ElementPlace& update,
                                        const MlirValues& memory);
  // Combines what is in memory at an index with elements of others. Gives nothing.
  absl::StatusOr<MlirValues> CombineWith(absl::Span<const HloInstruction* const> updates,
                                         const ElementPlace& place, const HloComputation& combiner,
                                         const MlirValues& memory, mlir::ValueRange at);
  // The value of an index: the element at a place, to which the function of index values is applied.
  absl::StatusOr<mlir::Value> ReadIndex(ArrayValue array, const ElementPlace& place,
                                        const ValueFunction& function);
  // What `then` emits where `holds`, and `otherwise` elsewhere.
  absl::StatusOr<mlir::Value> EmitElementIf(mlir::Value holds, mlir::Value otherwise,
                                            absl::FunctionRef<absl::StatusOr<mlir::Value>()> then);

 private:
  absl::StatusOr<mlir::Value> Load(mlir::Value memory, const ElementPlace& place);
  // A reducer of accumulators and what they are combined with, as values of the accumulators' types.
  absl::StatusOr<MlirValues> Combine(const HloComputation& computation,
                                     const MlirValues& arguments);
  absl::StatusOr<InstructionIndexing> MapsOf(const HloInstruction& instruction);
  absl::StatusOr<mlir::Value> ReadComputed(ArrayValue array, const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadBits(const HloInstruction& instruction,
                                       const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadMoved(const HloInstruction& instruction,
                                        const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadOneOf(const HloInstruction& instruction,
                                        const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadOperand(const HloInstruction& instruction, int64_t operand,
                                          const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadIota(const HloInstruction& iota, const ElementPlace& place);
  // The index of a place along a dimension.
  absl::StatusOr<mlir::Value> ReadIndexOf(const ElementPlace& place, int dimension);
  absl::StatusOr<mlir::Value> ReadConstant(const HloInstruction& constant);
  absl::StatusOr<mlir::Value> ReadBinding(const OperandIndexing& indexing, int runtime,
                                          const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadTiles(llvm::ArrayRef<TileInMemory> tiles,
                                        const ElementPlace& place);
  // The place in the operand that a place in the result leads to. `known` gets what is known of its
  // dimensions: the domain of `place`, and what values the indices that are read can have.
  absl::StatusOr<ElementPlace> Follow(const OperandIndexing& indexing, const ElementPlace& place,
                                      IndexingMap* known);

  template <typename Op, typename... Arguments>
  mlir::Value Make(Arguments&&... arguments) {
    return builder_.createOrFold<Op>(std::forward<Arguments>(arguments)...);
  }

  mlir::ImplicitLocOpBuilder& builder_;
  absl::flat_hash_map<ArrayValue, mlir::Value> memory_;
  std::optional<Tiles> tiles_;
  bool may_miss_ = false;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_
