// Everything that the library offers: includes all of its public headers. Each can also be included
// alone, which compiles faster. What is in namespace `internal` is not installed, or is there only
// because a public header needs it, and may change at any time.
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
#include "xla_indexing/base/cpp20.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/base/memory/copy_on_write.h"
#include "xla_indexing/base/memory/positions_by_hash.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusing/copy_like_xla.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/gpu/requests/warp_request.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/build/broadcast_dimensions.h"
#include "xla_indexing/hlo/build/broadcast_sizes.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/proto/proto_reader.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/text/printer.h"
#include "xla_indexing/hlo/transforms/batching_dims.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/metadata.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/replica_groups.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/expr/axis_info.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/cover.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/map/text/isl_text.h"
#include "xla_indexing/map/text/rule_step_text.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"
#include "xla_indexing/ops/decisions/argument_values.h"
#include "xla_indexing/ops/implicit_broadcast.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/query/dims/corresponding_dims.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/equivalence/leaf_comparison.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/query/in_place/buffer_value.h"
#include "xla_indexing/query/in_place/donations.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/in_place/in_place_answer.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/advice/report_module.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/write/picture.h"
#include "xla_indexing/report/write/report_changes.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_page.h"
#include "xla_indexing/report/write/report_text.h"
#include "xla_indexing/stablehlo/importer.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"
#include "xla_indexing/tiling/kernel/program_ids.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_expr.h"
#include "xla_indexing/version.h"
// IWYU pragma: end_exports

#endif  // XLA_INDEXING_XLA_INDEXING_H_
