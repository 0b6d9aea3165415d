// What each operation of StableHLO is in HLO: one table of names, opcodes and attributes, and a function for
// each of those that are more than that.

#ifndef XLA_INDEXING_STABLEHLO_OP_RULES_H_
#define XLA_INDEXING_STABLEHLO_OP_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "mlir/IR/Operation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

// What the parameters of the computations are that the regions of an operation become.
enum class RegionForm : uint8_t {
  kNone,
  kPlain,     // the region's own; nothing but constants is captured
  kReducer,   // accumulators and elements: reduce, reduce_window, scatter
  kSort,      // pairs of elements
  kMap,       // elements
  kWhile,     // the state with all that is captured, as a tuple
  kBranches,  // what the branch captures, as a tuple
};

struct OpAttributeRule {
  AttributeKey key;
  absl::string_view path;     // In the operation (op_attributes.h).
  bool is_optional = false;   // Left out where it is empty, 0 or false.
};

// One operation that is being imported, its operands made and counted.
struct ImportedOp {
  ModuleImporter& importer;
  mlir::Operation& op;
  const struct OpRule& rule;
  OpAttributes attributes;
  ImportedOperands operands;
  Shape shape;  // That of the results.
};

struct OpRule {
  absl::string_view name;  // Without the dialect's.
  HloOpcode opcode;
  int least_operands = 0;
  int least_results = 1;
  std::vector<OpAttributeRule> attributes = {};
  void (*import)(ImportedOp&) = nullptr;  // Null: the opcode, the operands and the attributes.
  RegionForm form = RegionForm::kNone;
  int regions = 0;
};

// The rule for an operation, null where it is not known.
const OpRule* FindOpRule(mlir::Operation& op);

// Whether it is a function of each element that HLO has no opcode for.
bool IsFunctionOfElements(mlir::Operation& op);

// Makes the instructions of one operation, which is no terminator.
void ImportOp(ModuleImporter& importer, mlir::Operation& op);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_OP_RULES_H_
