#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/stablehlo/import_ops.h"
#include "xla_indexing/stablehlo/imported_op.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_attributes.h"

namespace xla_indexing::internal {

namespace {

// `{{0,1},{2,3}}` of dense<[[0, 1], [2, 3]]>; -1 fills up short groups.
std::string GroupsText(ImportedOp& call, absl::string_view path) {
  const Ints ids = call.attributes.Ints(path);
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(call.attributes.Find(path));
  const int64_t columns =
      dense && dense.getType().getRank() == 2 ? dense.getType().getDimSize(1) : 0;
  std::vector<std::string> groups;
  std::vector<int64_t> group;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0) group.push_back(ids[i]);
    if (columns > 0 && (static_cast<int64_t>(i) + 1) % columns != 0) continue;
    groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    group.clear();
  }
  return absl::StrCat("{", absl::StrJoin(groups, ","), "}");
}

void SetDevices(ImportedOp& call, HloInstruction* made) {
  const int64_t channel = call.attributes.Int("channel_handle.handle").value_or(0);
  if (channel > 0) made->SetAttribute(AttributeKey::kChannelId, channel);
  const bool is_permute = call.rule.opcode == HloOpcode::kCollectivePermute;
  made->SetAttribute(
      is_permute ? AttributeKey::kSourceTargetPairs : AttributeKey::kReplicaGroups,
      absl::string_view(GroupsText(call, is_permute ? "source_target_pairs" : "replica_groups")));
  if (call.attributes.Bool("use_global_device_ids")) {
    made->SetAttribute(AttributeKey::kUseGlobalDeviceIds, true);
  }
}

}  // namespace

void ImportCollective(ImportedOp& call) {
  HloInstruction* made = AddMainOf(call, call.operands, call.shape);
  SetDevices(call, made);
  if (call.rule.form == RegionForm::kPlain) {
    made->SetAttribute(AttributeKey::kToApply, call.importer.RegionsOf(call.op).computations[0]);
  }
  BindMain(call, made);
}

// Where pieces are cut along one dimension and put together along another, HLO exchanges them along the
// first, and the piece's number is then moved to the second, as XLA's builder does.
void ImportAllToAll(ImportedOp& call) {
  const int64_t split = call.attributes.Int("split_dimension").value_or(0);
  const int64_t concat = call.attributes.Int("concat_dimension").value_or(0);
  const int64_t count = call.attributes.Int("split_count").value_or(1);
  const Shape& from = call.operands[0]->shape();
  if (split == concat || call.operands.size() != 1) {
    HloInstruction* made = AddMainOf(call, call.operands, call.shape);
    SetDevices(call, made);
    made->SetAttribute(AttributeKey::kDimensions, SpanOf(Ints{split}));
    return BindMain(call, made);
  }
  if (!from.IsArray() || !from.IsStatic() || std::min(split, concat) < 0 ||
      std::max(split, concat) >= from.rank() || count < 1 || from.dimension(split) % count != 0) {
    return call.importer.Fail(call.op, "dimension ", split, " of ", from.ToString(),
                              " cannot be cut into ", count, " pieces that are put together along ",
                              concat);
  }
  HloInstruction* exchanged =
      call.importer.AddStep(call.op, HloOpcode::kAllToAll, call.operands, from);
  SetDevices(call, exchanged);
  exchanged->SetAttribute(AttributeKey::kDimensions, SpanOf(Ints{split}));
  Ints cut, permutation, moved;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i == split) cut.push_back(count);
    cut.push_back(i == split ? from.dimension(i) / count : from.dimension(i));
    if (i == concat) permutation.push_back(split);
    permutation.push_back(i >= split ? i + 1 : i);
  }
  for (const int64_t dim : permutation) moved.push_back(cut[static_cast<size_t>(dim)]);
  const HloInstruction* pieces = call.importer.AddStep(call.op, HloOpcode::kReshape, {exchanged},
                                                       Shape::Array(from.element_type(), cut));
  HloInstruction* transposed = call.importer.AddStep(call.op, HloOpcode::kTranspose, {pieces},
                                                     Shape::Array(from.element_type(), moved));
  transposed->SetAttribute(AttributeKey::kDimensions, SpanOf(permutation));
  BindMain(call, call.importer.AddMain(call.op, HloOpcode::kReshape, {transposed}, call.shape));
}

namespace {

HloInstruction* AddSharded(ImportedOp& call, absl::string_view target,
                           const ImportedOperands& operands, const Shape& shape,
                           absl::string_view key, absl::string_view value) {
  HloInstruction* made = call.importer.AddMain(call.op, HloOpcode::kCustomCall, operands, shape);
  made->SetAttribute(AttributeKey::kCustomCallTarget, target);
  made->SetTextAttribute("frontend_attributes",
                         absl::StrCat("{", key, "=\"", absl::CEscape(value), "\"}"));
  return made;
}

// Shardy's attribute of this kind, of which the pretty form may leave out the kind and the brackets.
std::string ShardyText(ImportedOp& call, absl::string_view kind, absl::string_view path) {
  const std::string text = call.attributes.Text(path);
  if (absl::StartsWith(text, kind)) return absl::StrCat("#sdy.", text);
  if (absl::StartsWith(text, "<")) return absl::StrCat("#sdy.", kind, text);
  return absl::StrCat("#sdy.", kind, "<", text, ">");
}

}  // namespace

void ImportShardingConstraint(ImportedOp& call) {
  BindMain(call, AddSharded(call, "Sharding", call.operands, call.shape, "xla.sdy.sharding",
                            ShardyText(call, "sharding", "sharding")));
}

void ImportManualComputation(ImportedOp& call) {
  const HloComputation* body = call.importer.RegionsOf(call.op).computations[0];
  const auto per_value = [&](absl::string_view path) {
    return ShardyText(call, "sharding_per_value", path);
  };
  ImportedOperands local;
  std::vector<Shape> shapes;
  for (const HloInstruction* parameter : body->parameters()) shapes.push_back(parameter->shape());
  if (shapes.size() == 1 && call.operands.size() == 1) {
    local.push_back(AddSharded(call, "xla.sdy.GlobalToLocalShape", call.operands, shapes[0],
                               "xla.sdy.in_shardings", per_value("in_shardings")));
  } else if (!shapes.empty()) {
    const HloInstruction* cut =
        AddSharded(call, "xla.sdy.GlobalToLocalShape", call.operands, Shape::Tuple(shapes),
                   "xla.sdy.in_shardings", per_value("in_shardings"));
    for (size_t i = 0; i < shapes.size(); ++i) {
      local.push_back(call.importer.AddElement(call.op, cut, static_cast<int64_t>(i)));
    }
  }
  const Shape& result = body->root_instruction()->shape();
  HloInstruction* inner = call.importer.AddStep(call.op, HloOpcode::kCall, local, result);
  inner->SetAttribute(AttributeKey::kToApply, body);
  ImportedOperands results = {inner};
  if (call.op.getNumResults() != 1) {
    results.clear();
    for (int64_t i = 0;
         result.IsTuple() && i < static_cast<int64_t>(result.tuple_elements().size()); ++i) {
      results.push_back(call.importer.AddElement(call.op, inner, i));
    }
  }
  BindMain(call, AddSharded(call, "xla.sdy.LocalToGlobalShape", results, call.shape,
                            "xla.sdy.out_shardings", per_value("out_shardings")));
}

}  // namespace xla_indexing::internal
