// The builders of the operations' indexing maps; inside ops/ only. Each operation has its file, in
// which has output to input next to input to output; instruction_indexing.cc calls
// them by opcode.
//
// A builder adds to the entries of one instruction what one leaf of its result reads, or where one
// leaf of one operand goes. It is a pure function of shapes and attributes.

#ifndef XLA_INDEXING_OPS_RULES_FRAME_BUILDERS_H_
#define XLA_INDEXING_OPS_RULES_FRAME_BUILDERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {

struct BuildContext {
  const HloInstruction& instruction;
  mlir::MLIRContext* mlir_context;
  const IndexingOptions& options;
  InstructionIndexing entries = {};
  absl::Status status = absl::OkStatus();
  OneValued one_valued = OneValued::kVariables;

  // Whether so many exact pieces are the answer, and not one map that is larger.
  bool TakesPieces(size_t count) const {
    return options.exact || static_cast<int64_t>(count) <= options.few_pieces;
  }

  // The arrays of an operation whose result is one array and whose operands are arrays.
  const Shape& Output(int64_t leaf = 0) const { return instruction.shape().Leaf(leaf); }
  const Shape& Operand(int64_t i) const { return instruction.operand(i)->shape().Leaf(0); }

  // A builder of the map from the result (leaf `output_leaf`) to an array operand, and back.
  MapBuilder FromOutput(int64_t operand, int64_t output_leaf = 0) const;
  MapBuilder ToOutput(int64_t operand, int64_t output_leaf = 0) const;

  // Adds an entry with these maps unless they are empty.
  void Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf, OperandIndexingSet maps);
  void Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf, OperandIndexing map);
  // Adds an entry with the maps that `add` adds to its set, unless these are none.
  void AddEntry(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                llvm::function_ref<void(OperandIndexingSet* maps)> add);
  // Adds a map of arrays whose domain has a point, as the operation's definition says. Whether that
  // is so is not looked at, which for a map with constraints takes as long as to build it.
  void AddWithPoints(int64_t operand, OperandIndexing map);
  // The map that names every element itself. Leaves of the same sizes that are asked for one after
  // another share it.
  OperandIndexing Identity(const Shape& shape);
  // Overloads for operations on arrays.
  void Add(int64_t operand, OperandIndexing map) { Add(0, operand, 0, std::move(map)); }

  // The entries of a leaf of a called computation's root, or of a leaf of one of its parameters.
  // Where they cannot be found there are none, and the error is kept. Requires
  // options.computations.
  InstructionIndexing ReadOf(const CalledComputation& called, int64_t output_leaf);
  InstructionIndexing ReachOf(const CalledComputation& called, OperandLeaf parameter_leaf);
  // The leaves of parameters that all elements of leaves of its root read wholly (ComputationIndexer).
  std::vector<OperandLeaf> LeavesReadWholly(const HloComputation& computation,
                                            absl::Span<const int64_t> output_leaves,
                                            llvm::function_ref<bool(OperandLeaf)> is_wanted);

  // Every element of the result reads every element of the operand; every element of the operand
  // reaches every element of the result. For a scalar: (d0, ..) -> () and ()[s0, ..] -> (s0, ..).
  // Leaves of the same sizes that are asked for one after another share the map.
  void AddWholeRead(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                    ExactnessLabel label);
  void AddWholeReach(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                     ExactnessLabel label);
  // Overloads for array operands that are read as a whole by definition.
  void AddWholeRead(int64_t operand, int64_t output_leaf = 0) {
    AddWholeRead(output_leaf, operand, 0, ExactnessLabel::Exact());
  }
  void AddWholeReach(int64_t operand, int64_t output_leaf = 0) {
    AddWholeReach(output_leaf, operand, 0, ExactnessLabel::Exact());
  }
  void AddWhole(int64_t output_leaf, int64_t operand, int64_t operand_leaf, const Shape& from,
                const Shape& to, ExactnessLabel label);

  // The last maps that leaves share, with the shapes that they lead between.
  struct SharedIdentity {
    const Shape* shape;
    OperandIndexing map;
  };
  struct SharedWhole {
    const Shape* from;
    const Shape* to;
    OperandIndexing map;
  };
  std::optional<SharedIdentity> identity = std::nullopt;
  std::optional<SharedWhole> whole = std::nullopt;
};

// Whether a dimension of an array has the size 0.
bool HasNoElements(const Shape& array);

// Adds `map` to `set` unless the domain of the map is empty, which may follow from its constraints.
void AddUnlessEmpty(OperandIndexing map, OperandIndexingSet* set);

// Leaves that an operation passes on as they are: leaf `operand_leaf` of operand `operand` is leaf
// `output_leaf` of the result.
struct LeafRoute {
  int64_t output_leaf = 0;
  int64_t operand = 0;
  int64_t operand_leaf = 0;
};
using LeafRoutes = std::vector<LeafRoute>;

using OutputToInputBuilder = void (*)(BuildContext& build, int64_t output_leaf);
using InputToOutputBuilder = void (*)(BuildContext& build, int64_t operand, int64_t operand_leaf);
using LeafRouter = LeafRoutes (*)(const HloInstruction& instruction);

// What leaf `output_leaf` of the result reads of the array operand `operand`, as loops; nothing
// where it reads nothing of it.
using LoopNester = LoopNests (*)(const BuildContext& build, int64_t output_leaf, int64_t operand);

// How an opcode is indexed: by builders for both directions, by loops, or by a router.
struct OpcodeIndexing {
  OutputToInputBuilder output_to_input = nullptr;
  InputToOutputBuilder input_to_output = nullptr;
  LeafRouter routes = nullptr;
  LoopNester nests = nullptr;
};

#define XLA_INDEXING_DECLARE_BUILDERS(Operation)                           \
  void Operation##OutputToInput(BuildContext& build, int64_t output_leaf); \
  void Operation##InputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf);

XLA_INDEXING_DECLARE_BUILDERS(AsyncStep)           // async_step.cc
XLA_INDEXING_DECLARE_BUILDERS(Bitcast)             // bitcast.cc
XLA_INDEXING_DECLARE_BUILDERS(BitcastConvert)      // bitcast.cc
XLA_INDEXING_DECLARE_BUILDERS(Call)                // call.cc: call and fusion
XLA_INDEXING_DECLARE_BUILDERS(Collective)          // across_replicas.cc
XLA_INDEXING_DECLARE_BUILDERS(Concatenate)         // concatenate.cc
XLA_INDEXING_DECLARE_BUILDERS(Conditional)         // conditional.cc
XLA_INDEXING_DECLARE_BUILDERS(CustomCall)          // custom_call.cc
XLA_INDEXING_DECLARE_BUILDERS(DynamicReshape)      // dynamic_size.cc
XLA_INDEXING_DECLARE_BUILDERS(DynamicSlice)        // dynamic_slice.cc
XLA_INDEXING_DECLARE_BUILDERS(DynamicUpdateSlice)  // dynamic_update_slice.cc
XLA_INDEXING_DECLARE_BUILDERS(Elementwise)         // elementwise.cc
XLA_INDEXING_DECLARE_BUILDERS(Gather)              // gather.cc
XLA_INDEXING_DECLARE_BUILDERS(Pad)                 // pad.cc
XLA_INDEXING_DECLARE_BUILDERS(RaggedAllToAll)      // ragged_all_to_all.cc
XLA_INDEXING_DECLARE_BUILDERS(Reshape)             // reshape.cc
XLA_INDEXING_DECLARE_BUILDERS(Reverse)             // reverse.cc
XLA_INDEXING_DECLARE_BUILDERS(Scan)                // scan.cc
XLA_INDEXING_DECLARE_BUILDERS(Scatter)             // scatter.cc
XLA_INDEXING_DECLARE_BUILDERS(SetDimensionSize)    // dynamic_size.cc
XLA_INDEXING_DECLARE_BUILDERS(Slice)               // slice.cc
XLA_INDEXING_DECLARE_BUILDERS(Transpose)           // transpose.cc
XLA_INDEXING_DECLARE_BUILDERS(Unanalysed)          // unanalysed.cc: everything else
XLA_INDEXING_DECLARE_BUILDERS(While)               // while.cc

#undef XLA_INDEXING_DECLARE_BUILDERS

// unanalysed.cc: the whole operand is read because the operation is not analysed.
ExactnessLabel UnanalysedLabel(const BuildContext& build);
// One entry of that kind, or an unknown one where elements of other devices may be read.
void AddUnanalysed(BuildContext& build, Direction direction, int64_t output_leaf, int64_t operand,
                   int64_t operand_leaf);

// across_replicas.cc: the -done of an operation across replicas.
LeafRoutes CollectiveDoneRoutes(const HloInstruction& instruction);

// tuple.cc
LeafRoutes TupleRoutes(const HloInstruction& instruction);
LeafRoutes GetTupleElementRoutes(const HloInstruction& instruction);
// Leaf l of operand 0 is leaf l of the result.
LeafRoutes PassThroughRoutes(const HloInstruction& instruction);

// transfer.cc: copies, sends and receives, asynchronous operations, tokens.
LeafRoutes NoRoutes(const HloInstruction& instruction);
LeafRoutes CopyStartRoutes(const HloInstruction& instruction);
// Leaves of the result are those of element 0 of the operand.
LeafRoutes FirstElementRoutes(const HloInstruction& instruction);
LeafRoutes SendRoutes(const HloInstruction& instruction);
LeafRoutes AsyncDoneRoutes(const HloInstruction& instruction);

// batch_norm.cc
LoopNests BatchNormTrainingNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests BatchNormInferenceNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests BatchNormGradNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// broadcast.cc
LoopNests BroadcastNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// convolution.cc
LoopNests ConvolutionNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// dot.cc
LoopNests DotNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests ScaledDotNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// ragged_dot.cc
LoopNests RaggedDotNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// random.cc: rng and rng-bit-generator
LoopNests RandomNumberNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// reduce.cc
LoopNests ReduceNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// reduce_window.cc
LoopNests ReduceWindowNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// select_and_scatter.cc
LoopNests SelectAndScatterNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// triangular.cc
LoopNests CholeskyNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests TriangularSolveNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
// whole_axes.cc
LoopNests FftNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests SortNests(const BuildContext& build, int64_t output_leaf, int64_t operand);
LoopNests TopkNests(const BuildContext& build, int64_t output_leaf, int64_t operand);

// The table: how instructions of an opcode are indexed (opcode_table.cc).
OpcodeIndexing IndexingOfOpcode(HloOpcode opcode);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_BUILDERS_H_
