// One operation that is being imported, the row of the table (op_rules.cc) that says how, and the
// functions of rows that are more than an opcode, its operands and attributes.
//
// Errors go to the importer, which keeps the first; the functions that make instructions may be
// called after one, and then make something of no use.
//
//   void ImportSquare(ImportedOp& call) {   // a function of a row
//     call.operands.push_back(call.operands[0]);
//     ImportPlain(call);
//   }

#ifndef XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_
#define XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/module_importer.h"

namespace xla_indexing::internal {

using Ints = std::vector<int64_t>;

// An attribute of an instruction, and where it stands in the operation.
struct OpAttributeRule {
  AttributeKey key;  // kOther for one that HLO keeps as text, by its name.
  std::string name;
  std::string path;
  bool is_optional;  // Left out where it is empty, 0 or false.
  unsigned region;   // Of one that is a computation.
};

struct ImportedOp;

// One row of the table.
struct OpRule {
  OpRule(std::string name, HloOpcode opcode, int least_operands = 0,
         absl::string_view attributes = "", void (*import)(ImportedOp&) = nullptr,
         RegionForm form = RegionForm::kNone);

  std::string name;  // Without the dialect's, if that is StableHLO's, CHLO's or MHLO's.
  HloOpcode opcode;
  int least_operands;
  // `dimensions=permutation is_stable? k`: HLO's names, optional ones with a `?`, and after `=`
  // where they stand if not under the same name.
  std::vector<OpAttributeRule> attributes;
  void (*import)(ImportedOp&);
  RegionForm form;
  unsigned regions = 0;  // At least.
};

// One operation that is being imported, its operands made and counted.
struct ImportedOp {
  ModuleImporter& importer;
  mlir::Operation& op;
  const OpRule& rule;
  ImportedOperands operands = {};
  Shape shape = {};  // That of the results.
  // Lists of numbers that count as attributes.
  std::vector<std::pair<absl::string_view, Ints>> given = {};

  bool failed() const { return importer.failed(); }
  template <typename... Parts>
  void Fail(const Parts&... parts) {
    importer.Fail(op, parts...);
  }
  bool Is(llvm::StringRef name) const { return op.getName().stripDialect() == name; }

  // The operation's attributes. A path names one, or a part of it, `channel_handle.handle`; parts
  // of dimension numbers go by their own names. What is absent is empty; an error where an
  // attribute is not what is asked for.
  mlir::Attribute Find(absl::string_view name) const;
  // The whole text.
  std::string TextAt(absl::string_view path) const;
  // The last word: HIGH of `#stablehlo<precision HIGH>`.
  std::string WordAt(absl::string_view path);
  Ints IntsAt(absl::string_view path);
  std::optional<int64_t> IntAt(absl::string_view path);
  bool BoolAt(absl::string_view path) { return IntAt(path).value_or(0) != 0; }

  const HloComputation* Region(size_t i) { return importer.RegionsOf(op).computations[i]; }
  // What a region captures; nothing after an error.
  ImportedOperands Captured(size_t region);

  // The instruction that the operation is, with the attributes of its row; one of another opcode,
  // with these attributes; and one that is a step to it.
  HloInstruction* AddMain(const ImportedOperands& from, const Shape& to);
  HloInstruction* AddMain(HloOpcode opcode, const ImportedOperands& from, const Shape& to,
                          ImportedAttributes given = {});
  HloInstruction* AddStep(HloOpcode opcode, const ImportedOperands& from, const Shape& to,
                          ImportedAttributes given = {});
  const HloInstruction* AddElement(const HloInstruction* tuple, int64_t index);
  const HloInstruction* AddTuple(const ImportedOperands& elements);
  // Gives an instruction the attributes of the row.
  void SetAttributes(HloInstruction* made);
  // Puts what the operation's region captures behind the first `at` operands, as arrays of the
  // dimensions of `like`.
  void AddCaptured(size_t at, const Shape& like);
  // Lets the result of the operation be `made`, or the results the first elements of that tuple.
  void Bind(const HloInstruction* made);
};

// The row of an operation of StableHLO that is in the table.
const OpRule& OpRuleNamed(absl::string_view name);

// Makes the operation with its operands and results, and binds it.
void ImportPlain(ImportedOp& call);

// import_elements.cc: what moves elements, functions of each element, sums of products, and
// operations whose sizes are operands.
void ImportConstant(ImportedOp& call);
void ImportBroadcast(ImportedOp& call);
void ImportGather(ImportedOp& call);
void ImportSquare(ImportedOp& call);
void ImportFunctionOfElements(ImportedOp& call);
void ImportBroadcasting(ImportedOp& call);
void ImportRng(ImportedOp& call);
void ImportDot(ImportedOp& call);
void ImportEinsum(ImportedOp& call);
void ImportDynamic(ImportedOp& call);

// import_regions.cc: what has a region, calls, what other devices have a part in, and what is
// outside of the program.
void ImportOfElements(ImportedOp& call);
void ImportScan(ImportedOp& call);
void ImportWhile(ImportedOp& call);
void ImportConditional(ImportedOp& call);
void ImportCall(ImportedOp& call);
void ImportAllToAll(ImportedOp& call);
void ImportAsyncDone(ImportedOp& call);
void ImportShardingConstraint(ImportedOp& call);
void ImportManualComputation(ImportedOp& call);
void ImportBarrier(ImportedOp& call);
void ImportInfeed(ImportedOp& call);
void ImportOutfeed(ImportedOp& call);
void ImportSend(ImportedOp& call);
void ImportRecv(ImportedOp& call);
void ImportCustomCall(ImportedOp& call);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_IMPORTED_OP_H_
