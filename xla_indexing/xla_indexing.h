// Everything that the library offers: includes all of its public headers. A header at the top of a
// layer's directory is public and can also be included alone, which compiles faster; what is in
// `internal/` is not installed and may change at any time.
//
//   base      intervals, positions in text, the budget of a question
//   affine    the steps of the simplifier, for those who watch them
//   map       indexing maps: read and print, compose, simplify, compare, invert, count
//   hlo       HLO modules: read text and protocol buffers, verify, build, rewrite and print
//   ops       the indexing maps of one instruction
//   fusion    the indexing maps of instructions and whole computations: the object to ask
//   query     how much of an operand is used, which dimensions correspond, what reads the same,
//             whether an output may overwrite an operand
//   gpu       threads, memory transactions and bank conflicts
//   tiling    the tile of an operand that a tile of the result needs
//   report    what every kernel of a module moves, what of it is wasted, and why
//
// Example: a program that prints what the result of a module reads of its parameters, and returns 1
// where the text is no valid module.
//
//   #include <iostream>
//
//   #include "absl/status/statusor.h"
//   #include "mlir/IR/MLIRContext.h"
//   #include "xla_indexing/xla_indexing.h"
//
//   int main() {
//     auto module = xla_indexing::ParseAndVerifyModule(R"(
//         ENTRY sum {
//           p = f32[20,20] parameter(0)
//           t = f32[20,20] transpose(p), dimensions={1,0}
//           ROOT s = f32[20,20] add(p, t)
//         })");
//     if (!module.ok()) {
//       std::cerr << module.status() << "\n";
//       return 1;
//     }
//     mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
//     xla_indexing::HloIndexer indexer(&context);
//     auto reads = indexer.Index(*(*module)->entry_computation(),
//                                xla_indexing::Direction::kOutputToInput);
//     if (!reads.ok()) {
//       std::cerr << reads.status() << "\n";
//       return 1;
//     }
//     for (const xla_indexing::IndexingEntry& entry : **reads) {
//       for (const xla_indexing::OperandIndexing& map : entry.indexing) {
//         std::cout << "operand " << entry.operand << ": " << map.ToString() << "\n";
//       }
//     }
//   }
//
// It prints
//
//   operand 0: (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
//   operand 0: (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
#ifndef XLA_INDEXING_XLA_INDEXING_H_
#define XLA_INDEXING_XLA_INDEXING_H_

// IWYU pragma: begin_exports
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/base/copy_on_write.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/base/remembered.h"
#include "xla_indexing/fusion/fusion_options.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/emitter.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/gpu/thread_mapping.h"
#include "xla_indexing/gpu/warp_request.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/attribute_values.h"
#include "xla_indexing/hlo/broadcast.h"
#include "xla_indexing/hlo/broadcast_dimensions.h"
#include "xla_indexing/hlo/broadcast_sizes.h"
#include "xla_indexing/hlo/builder.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/equality.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/layout.h"
#include "xla_indexing/hlo/literal.h"
#include "xla_indexing/hlo/metadata.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/printer.h"
#include "xla_indexing/hlo/proto_reader.h"
#include "xla_indexing/hlo/replica_groups.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/hlo/transforms/batching_dims.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/map/bijection.h"
#include "xla_indexing/map/count_image.h"
#include "xla_indexing/map/cover.h"
#include "xla_indexing/map/decide.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/map/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/inverse.h"
#include "xla_indexing/map/isl_text.h"
#include "xla_indexing/map/rule_step_text.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/ops/binding_words.h"
#include "xla_indexing/ops/custom_call_registry.h"
#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/exactness.h"
#include "xla_indexing/ops/implicit_broadcast.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/indexing_options.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"
#include "xla_indexing/ops/replica_map.h"
#include "xla_indexing/ops/runtime_var_indexing.h"
#include "xla_indexing/ops/value_function.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/query/corresponding_dims.h"
#include "xla_indexing/query/equivalence.h"
#include "xla_indexing/query/in_place.h"
#include "xla_indexing/query/in_place_aliases.h"
#include "xla_indexing/query/in_place_answer.h"
#include "xla_indexing/query/index_structure.h"
#include "xla_indexing/query/index_structure_answer.h"
#include "xla_indexing/query/loop_order.h"
#include "xla_indexing/query/utilization.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/picture.h"
#include "xla_indexing/report/report_json.h"
#include "xla_indexing/report/report_kernels.h"
#include "xla_indexing/report/report_page.h"
#include "xla_indexing/report/report_text.h"
#include "xla_indexing/tiling/program_ids.h"
#include "xla_indexing/tiling/symbolic_tile.h"
#include "xla_indexing/tiling/tile_condition.h"
#include "xla_indexing/tiling/tile_expr.h"
#include "xla_indexing/tiling/tile_graph.h"
#include "xla_indexing/tiling/tiled_computation.h"
#include "xla_indexing/tiling/tiling_space.h"
#include "xla_indexing/version.h"
// IWYU pragma: end_exports

#endif  // XLA_INDEXING_XLA_INDEXING_H_
