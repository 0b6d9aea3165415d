// One operation that is being imported, the row of the table (op_rules.cc) that says how, and the functions of rows
// that are more than an opcode, its operands and attributes.
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

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

using Ints = std::vector<int64_t>;

inline absl::Span<const int64_t> SpanOf(const Ints& ints) { return ints; }

// An attribute of an instruction, and where it stands in the operation (op_attributes.h).
struct OpAttributeRule {
  AttributeKey key;
  std::string path;
  bool is_optional;  // Left out where it is empty, 0 or false.
};

struct ImportedOp;

// One row of the table.
struct OpRule {
  OpRule(std::string name, HloOpcode opcode, int least_operands = 0, int least_results = 1,
         absl::string_view attributes = "", void (*import)(ImportedOp&) = nullptr,
         RegionForm form = RegionForm::kNone, int regions = 0);

  std::string name;  // Without the dialect's.
  HloOpcode opcode;
  int least_operands;
  int least_results;
  // `dimensions=permutation is_stable? k`: HLO's names, optional ones with a `?`, and after `=` where they stand
  // if not under the same name.
  std::vector<OpAttributeRule> attributes;
  void (*import)(ImportedOp&);
  RegionForm form;
  int regions;
};

// One operation that is being imported, its operands made and counted.
struct ImportedOp {
  ModuleImporter& importer;
  mlir::Operation& op;
  const OpRule& rule;
  OpAttributes attributes;
  ImportedOperands operands;
  Shape shape;  // That of the results.

  bool failed() const { return importer.failed(); }
  template <typename... Parts>
  void Fail(const Parts&... parts) {
    importer.Fail(op, parts...);
  }
  bool Is(llvm::StringRef name) const { return op.getName().stripDialect() == name; }
  bool IsReduction() const { return rule.form == RegionForm::kReducer; }
  const HloComputation* Region(size_t i) { return importer.RegionsOf(op).computations[i]; }
  absl::Span<const mlir::Value> Captures(size_t region) {
    return importer.RegionsOf(op).captures[region];
  }

  // The instruction that the operation is, with the attributes of its row; one of another opcode, without
  // these; and one that is a step to it.
  HloInstruction* AddMain(const ImportedOperands& from, const Shape& to);
  HloInstruction* AddMain(HloOpcode opcode, const ImportedOperands& from, const Shape& to) {
    return importer.AddMain(op, opcode, from, to);
  }
  HloInstruction* AddStep(HloOpcode opcode, const ImportedOperands& from, const Shape& to) {
    return importer.AddStep(op, opcode, from, to);
  }
  HloInstruction* AddStep(HloOpcode opcode, const ImportedOperands& from, const Shape& to,
                          const Ints& dimensions) {
    HloInstruction* made = AddStep(opcode, from, to);
    made->SetAttribute(AttributeKey::kDimensions, SpanOf(dimensions));
    return made;
  }
  const HloInstruction* AddElement(const HloInstruction* tuple, int64_t index) {
    return importer.AddElement(op, tuple, index);
  }
  const HloInstruction* AddTuple(const ImportedOperands& elements) {
    return importer.AddTuple(op, elements);
  }
  // Gives an instruction the attributes of the row.
  void SetAttributes(HloInstruction* made);
  // Puts what the operation's region captures behind the first `at` operands, as arrays of the dimensions of `like`.
  void AddCaptured(size_t at, const Shape& like);
  // Lets the operation's results be those of `made`.
  void Bind(const HloInstruction* made) { importer.Bind(op, made); }
};

// The row of an operation of StableHLO that is in the table.
const OpRule& OpRuleNamed(absl::string_view name);

// Makes the operation with its operands and results, and binds it.
void ImportPlain(ImportedOp& call);

// import_elements.cc: what moves elements, functions of each element, and sums of products.
void ImportConstant(ImportedOp& call);
void ImportBroadcast(ImportedOp& call);
void ImportGather(ImportedOp& call);
void ImportSquare(ImportedOp& call);
void ImportFunctionOfElements(ImportedOp& call);
void ImportBroadcasting(ImportedOp& call);
void ImportRng(ImportedOp& call);
void ImportDot(ImportedOp& call);

// import_sizes.cc: operations whose sizes are operands.
void ImportDynamic(ImportedOp& call);

// import_einsum.cc: sums of products by an equation.
void ImportEinsum(ImportedOp& call);

// import_regions.cc: what has a region, and calls.
void ImportOfElements(ImportedOp& call);
void ImportWhile(ImportedOp& call);
void ImportConditional(ImportedOp& call);
void ImportCall(ImportedOp& call);

// import_devices.cc: what other devices have a part in.
void ImportAllToAll(ImportedOp& call);
void ImportShardingConstraint(ImportedOp& call);
void ImportManualComputation(ImportedOp& call);

// import_calls.cc: what is outside of the program.
void ImportBarrier(ImportedOp& call);
void ImportInfeed(ImportedOp& call);
void ImportOutfeed(ImportedOp& call);
void ImportSend(ImportedOp& call);
void ImportRecv(ImportedOp& call);
void ImportCustomCall(ImportedOp& call);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_
