// One operation that is being imported, and the row of the table (op_rules.h) that says how.
//
// Errors go to the importer, which keeps the first; the functions that make instructions may be called after
// one, and then make something of no use.
//
//   void ImportSquare(ImportedOp& call) {   // a function of a row
//     call.operands.push_back(call.operands[0]);
//     ImportPlain(call);
//   }

#ifndef XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_
#define XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/Operation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

// An attribute of an instruction, and where it stands in the operation.
struct OpAttributeRule {
  AttributeKey key;
  absl::string_view path;    // In the operation (op_attributes.h).
  bool is_optional = false;  // Left out where it is empty, 0 or false.
};

struct ImportedOp;

// One row of the table.
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

// One operation that is being imported, its operands made and counted.
struct ImportedOp {
  ModuleImporter& importer;
  mlir::Operation& op;
  const OpRule& rule;
  OpAttributes attributes;
  ImportedOperands operands;
  Shape shape;  // That of the results.
};

// The row of an operation of StableHLO that is in the table (op_rules.cc).
const OpRule& OpRuleNamed(absl::string_view name);

using Ints = std::vector<int64_t>;

inline absl::Span<const int64_t> SpanOf(const Ints& ints) { return ints; }

// The instruction that the operation is, with the attributes of its row.
HloInstruction* AddMainOf(ImportedOp& call, const ImportedOperands& operands, const Shape& shape);
// Makes it with the operation's operands and results, and binds it.
void ImportPlain(ImportedOp& call);
// Lets the operation's results be those of `made`.
void BindMain(ImportedOp& call, const HloInstruction* made);
// Puts what the operation's region captures behind the first `at` operands: as arrays of the dimensions of
// `like`, or as it is if that is null.
void AddCaptured(ImportedOp& call, size_t at, const Shape* like);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_
