// What each operation of StableHLO is in HLO: one table of names, opcodes and attributes, and a function for
// each of those that are more than that.

#ifndef XLA_INDEXING_STABLEHLO_OP_RULES_H_
#define XLA_INDEXING_STABLEHLO_OP_RULES_H_

#include "xla_indexing/stablehlo/module_importer.h"

namespace xla_indexing::internal {

// The rules of the table.
OpRules StableHloRules();

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_OP_RULES_H_
