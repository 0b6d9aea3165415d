#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

// Where pieces are cut along one dimension and put together along another, HLO exchanges them along the
// first, and the piece's number is then moved to the second, as XLA's builder does.
void ImportAllToAll(ImportedOp& call) {
  const int64_t split = call.attributes.Int("split_dimension").value_or(0);
  const int64_t concat = call.attributes.Int("concat_dimension").value_or(0);
  const int64_t count = call.attributes.Int("split_count").value_or(1);
  const Shape& from = call.operands[0]->shape();
  if (split == concat || call.operands.size() != 1) return ImportPlain(call);
  if (!from.IsArray() || !from.IsStatic() || std::min(split, concat) < 0 ||
      std::max(split, concat) >= from.rank() || count < 1 || from.dimension(split) % count != 0) {
    return call.Fail("dimension ", split, " of ", from.ToString(), " cannot be cut into ", count,
                     " pieces that are put together along ", concat);
  }
  HloInstruction* exchanged = call.AddStep(HloOpcode::kAllToAll, call.operands, from);
  call.SetAttributes(exchanged);
  Ints cut, permutation, moved;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i == split) cut.push_back(count);
    cut.push_back(i == split ? from.dimension(i) / count : from.dimension(i));
    if (i == concat) permutation.push_back(split);
    permutation.push_back(i >= split ? i + 1 : i);
  }
  for (const int64_t dim : permutation) moved.push_back(cut[static_cast<size_t>(dim)]);
  const auto array = [&](const Ints& sizes) { return Shape::Array(from.element_type(), sizes); };
  const HloInstruction* pieces = call.AddStep(HloOpcode::kReshape, {exchanged}, array(cut));
  const HloInstruction* transposed =
      call.AddStep(HloOpcode::kTranspose, {pieces}, array(moved), permutation);
  call.Bind(call.AddMain(HloOpcode::kReshape, {transposed}, call.shape));
}

namespace {

// Shardy's attribute of this kind, of which the pretty form may leave out the kind and the brackets.
std::string ShardyText(ImportedOp& call, absl::string_view kind, absl::string_view path) {
  const std::string text = call.attributes.Text(path);
  if (absl::StartsWith(text, kind)) return absl::StrCat("#sdy.", text);
  if (absl::StartsWith(text, "<")) return absl::StrCat("#sdy.", kind, text);
  return absl::StrCat("#sdy.", kind, "<", text, ">");
}

// A custom call with the operation's attribute `path`, of this kind of Shardy's.
HloInstruction* AddSharded(ImportedOp& call, absl::string_view target,
                           const ImportedOperands& operands, const Shape& shape,
                           absl::string_view kind, absl::string_view path) {
  HloInstruction* made = call.AddMain(HloOpcode::kCustomCall, operands, shape);
  made->SetAttribute(AttributeKey::kCustomCallTarget, target);
  made->SetTextAttribute(
      "frontend_attributes",
      absl::StrCat("{xla.sdy.", path, "=\"", absl::CEscape(ShardyText(call, kind, path)), "\"}"));
  return made;
}

}  // namespace

void ImportShardingConstraint(ImportedOp& call) {
  call.Bind(AddSharded(call, "Sharding", call.operands, call.shape, "sharding", "sharding"));
}

void ImportManualComputation(ImportedOp& call) {
  const auto add = [&](absl::string_view target, const ImportedOperands& operands,
                       const Shape& shape, absl::string_view path) {
    return AddSharded(call, target, operands, shape, "sharding_per_value", path);
  };
  const HloComputation* body = call.Region(0);
  ImportedOperands local;
  std::vector<Shape> shapes;
  for (const HloInstruction* parameter : body->parameters()) shapes.push_back(parameter->shape());
  if (shapes.size() == 1 && call.operands.size() == 1) {
    local.push_back(add("xla.sdy.GlobalToLocalShape", call.operands, shapes[0], "in_shardings"));
  } else if (!shapes.empty()) {
    const HloInstruction* cut =
        add("xla.sdy.GlobalToLocalShape", call.operands, Shape::Tuple(shapes), "in_shardings");
    for (size_t i = 0; i < shapes.size(); ++i) {
      local.push_back(call.AddElement(cut, static_cast<int64_t>(i)));
    }
  }
  const Shape& result = body->root_instruction()->shape();
  HloInstruction* inner = call.AddStep(HloOpcode::kCall, local, result);
  inner->SetAttribute(AttributeKey::kToApply, body);
  ImportedOperands results = {inner};
  if (call.op.getNumResults() != 1) {
    results.clear();
    const size_t count = result.IsTuple() ? result.tuple_elements().size() : 0;
    for (size_t i = 0; i < count; ++i) {
      results.push_back(call.AddElement(inner, static_cast<int64_t>(i)));
    }
  }
  call.Bind(add("xla.sdy.LocalToGlobalShape", results, call.shape, "out_shardings"));
}

}  // namespace xla_indexing::internal
