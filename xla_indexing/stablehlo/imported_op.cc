#include "xla_indexing/stablehlo/imported_op.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

// Takes the attributes of the rule.
void SetRuleAttributes(ImportedOp& call, HloInstruction* made) {
  for (const OpAttributeRule& of : call.rule.attributes) {
    switch (KindOf(of.key)) {
      case AttributeKind::kIntegers: {
        const Ints ints = call.attributes.Ints(of.path);
        if (!of.is_optional || !ints.empty()) made->SetAttribute(of.key, SpanOf(ints));
        break;
      }
      case AttributeKind::kInteger: {
        const int64_t value = call.attributes.Int(of.path).value_or(0);
        if (!of.is_optional || value != 0) made->SetAttribute(of.key, value);
        break;
      }
      case AttributeKind::kBool: {
        const bool value = call.attributes.Bool(of.path);
        if (!of.is_optional || value) made->SetAttribute(of.key, value);
        break;
      }
      default: {
        const std::string word = call.attributes.Word(of.path);
        if (!of.is_optional || !word.empty()) made->SetAttribute(of.key, absl::string_view(word));
        break;
      }
    }
  }
  const std::string precision = call.attributes.Text("precision_config");
  for (const absl::string_view level : {"HIGHEST", "HIGH"}) {
    // The same for both operands, since no map depends on it.
    if (!absl::StrContains(precision, level)) continue;
    const std::string word = absl::AsciiStrToLower(level);
    made->SetTextAttribute("operand_precision", absl::StrCat("{", word, ",", word, "}"));
    break;
  }
}

}  // namespace

// The instruction that the operation is, with the attributes of its rule and perhaps others.
HloInstruction* AddMainOf(ImportedOp& call, const ImportedOperands& operands, const Shape& shape) {
  HloInstruction* made = call.importer.AddMain(call.op, call.rule.opcode, operands, shape);
  SetRuleAttributes(call, made);
  return made;
}

void BindMain(ImportedOp& call, const HloInstruction* made) {
  call.importer.Bind(call.op, made, call.op.getNumResults() != 1);
}

void ImportPlain(ImportedOp& call) { BindMain(call, AddMainOf(call, call.operands, call.shape)); }

// Puts what the region captures, as arrays like `like`, behind the first `count` operands at `at`.
void AddCaptured(ImportedOp& call, size_t at, const Shape* like) {
  ImportedOperands captured;
  call.importer.ImportMoved(call.op);
  for (const mlir::Value value : call.importer.RegionsOf(call.op).captures[0]) {
    const HloInstruction* scalar = call.importer.ValueOf(call.op, value);
    if (scalar == nullptr) return;
    if (like != nullptr) {
      Shape shape = *like;
      shape.SetElementType(scalar->shape().element_type());
      scalar = call.importer.AddSplat(call.op, scalar, shape);
    }
    captured.push_back(scalar);
  }
  call.operands.insert(call.operands.begin() + static_cast<std::ptrdiff_t>(at), captured.begin(),
                       captured.end());
}

}  // namespace xla_indexing::internal
