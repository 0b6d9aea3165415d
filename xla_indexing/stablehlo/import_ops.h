// The functions of rows of the table (op_rules.h): what an operation is in HLO where that is more than an opcode,
// its operands and attributes. Each is at its definition; a file for each group.

#ifndef XLA_INDEXING_STABLEHLO_IMPORT_OPS_H_
#define XLA_INDEXING_STABLEHLO_IMPORT_OPS_H_

#include "xla_indexing/stablehlo/imported_op.h"

namespace xla_indexing::internal {

// import_elements.cc: what moves elements, and functions of each element.
void ImportConstant(ImportedOp& call);
void ImportBroadcast(ImportedOp& call);
void ImportSlice(ImportedOp& call);
void ImportPad(ImportedOp& call);
void ImportDynamic(ImportedOp& call);
void ImportGather(ImportedOp& call);
void ImportSquare(ImportedOp& call);
void ImportCompare(ImportedOp& call);
void ImportFunctionOfElements(ImportedOp& call);
void ImportBroadcasting(ImportedOp& call);
void ImportRng(ImportedOp& call);
void ImportBatchNorm(ImportedOp& call);
void ImportTopK(ImportedOp& call);

// import_reductions.cc: sums of products, windows, and what has a region for elements.
void ImportDot(ImportedOp& call);
void ImportDotGeneral(ImportedOp& call);
void ImportConvolution(ImportedOp& call);
void ImportReduce(ImportedOp& call);
void ImportScatter(ImportedOp& call);
void ImportSort(ImportedOp& call);
void ImportMap(ImportedOp& call);
void ImportSelectAndScatter(ImportedOp& call);

// import_calls.cc: loops, branches, calls of functions and of what is outside of the program.
void ImportWhile(ImportedOp& call);
void ImportConditional(ImportedOp& call);
void ImportCall(ImportedOp& call);
void ImportBarrier(ImportedOp& call);
void ImportInfeed(ImportedOp& call);
void ImportOutfeed(ImportedOp& call);
void ImportSend(ImportedOp& call);
void ImportRecv(ImportedOp& call);
void ImportCustomCall(ImportedOp& call);

// import_devices.cc: what other devices have a part in.
void ImportCollective(ImportedOp& call);
void ImportAllToAll(ImportedOp& call);
void ImportShardingConstraint(ImportedOp& call);
void ImportManualComputation(ImportedOp& call);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_IMPORT_OPS_H_
