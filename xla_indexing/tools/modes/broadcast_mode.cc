#include "xla_indexing/tools/modes/broadcast_mode.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/build/broadcast_dimensions.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/implicit_broadcast.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/input/files.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

// `f32[2,3]`, or `f32[*]` for something of unknown rank.
absl::StatusOr<MaybeRanked> ParseOperand(absl::string_view text) {
  absl::string_view type = text;
  if (absl::ConsumeSuffix(&type, "[*]") && ElementTypeFromName(type).has_value()) {
    return MaybeRanked();
  }
  absl::StatusOr<Shape> shape = ParseShape(text);
  if (!shape.ok()) return shape.status();
  return *std::move(shape);
}

// The maps of one operand.
class OperandText {
 public:
  OperandText(int64_t number, const Shape& shape, const Shape& result, mlir::MLIRContext* context)
      : number_(number), shape_(shape), result_(result), context_(context) {}

  void AppendTo(absl::Span<const BroadcastCase> cases, std::string* out) const {
    for (const BroadcastCase& one : cases) {
      if (cases.size() > 1) absl::StrAppend(out, "where ", one.Label(), ":\n");
      absl::StrAppend(out, "Output 0 operand ", number_, ":\n");
      AppendSet(one.result_to_operand, out);
      absl::StrAppend(out, "Input ", number_, " output 0:\n");
      AppendSet(one.operand_to_result, out);
    }
  }

  // The fields `map` and `inverse`, or `cases` where there are several.
  void WriteFields(absl::Span<const BroadcastCase> cases, JsonWriter* json) const {
    if (cases.size() == 1) {
      WriteMaps(cases[0], json);
      return;
    }
    json->Objects("cases", cases, [&](const BroadcastCase& one) {
      json->Field("where", one.Label());
      WriteMaps(one, json);
    });
  }

 private:
  static void AppendSet(const OperandIndexingSet& set, std::string* out) {
    if (set.empty()) absl::StrAppend(out, "(nothing read)\n");
    for (const OperandIndexing& indexing : set) {
      absl::StrAppend(out, indexing.MapToString(), "\n");
    }
  }

  void WriteMaps(const BroadcastCase& one, JsonWriter* json) const {
    json->Field("map", MapOf(one.result_to_operand, result_, shape_));
    json->Field("inverse", MapOf(one.operand_to_result, shape_, result_));
    const ExactnessLabel label = one.result_to_operand.label();
    if (label.IsExact()) return;
    json->Field("exactness", ExactnessName(label.exactness));
    json->Field("reason", label.reason);
  }

  std::string MapOf(const OperandIndexingSet& set, const Shape& from, const Shape& to) const {
    if (!set.empty()) return set.maps()[0].map().ToString();
    return IndexingMap::MakeEmpty(context_, static_cast<int>(from.rank()), 0, 0,
                                  static_cast<int>(to.rank()))
        .ToString();
  }

  int64_t number_;
  const Shape& shape_;
  const Shape& result_;
  mlir::MLIRContext* context_;
};

std::string BroadcastText(absl::Span<const Shape> operands, const ImplicitBroadcast& broadcast) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const BroadcastIndexing indexing = ComputeBroadcastIndexing(operands, broadcast, &context);
  std::string text = absl::StrCat("result ", broadcast.result.ToString(), "\n");
  for (const BroadcastGuard& guard : broadcast.guards) {
    absl::StrAppend(&text, "at run time ", guard.ToString(), "\n");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&text, "operand ", i, " ", operands[i].ToStringWithoutLayout(),
                    " broadcast_dimensions={", absl::StrJoin(broadcast.dimensions[i], ","), "}\n");
    OperandText(static_cast<int64_t>(i), operands[i], broadcast.result, &context)
        .AppendTo(indexing.operands[i], &text);
  }
  return text;
}

std::string BroadcastJson(absl::Span<const Shape> operands, const ImplicitBroadcast& broadcast) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const BroadcastIndexing indexing = ComputeBroadcastIndexing(operands, broadcast, &context);
  std::string out;
  JsonWriter json(&out);
  json.Object([&] {
    json.Field("result", broadcast.result.ToString());
    if (!broadcast.guards.empty()) {
      json.Values("guards", broadcast.guards,
                  [](const BroadcastGuard& guard) { return guard.ToString(); });
    }
    json.Array("operands", [&] {
      for (size_t i = 0; i < operands.size(); ++i) {
        json.Object([&] {
          json.Field("shape", operands[i].ToStringWithoutLayout());
          json.Field("broadcast_dimensions", broadcast.dimensions[i]);
          OperandText(static_cast<int64_t>(i), operands[i], broadcast.result, &context)
              .WriteFields(indexing.operands[i], &json);
        });
      }
    });
  });
  out.push_back('\n');
  return out;
}

// The operands as parameters, brought to one shape and multiplied; where they differ in type, in a
// tuple.
absl::StatusOr<std::string> BroadcastModule(absl::Span<const Shape> operands,
                                            BroadcastStyle style) {
  HloModule module("broadcast");
  HloBuilder builder(module.AddComputation("main"),
                     {.rule = BroadcastRule::kNumpy, .style = style});
  std::vector<const HloInstruction*> parameters;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto parameter =
        builder.AddParameter(static_cast<int64_t>(i), operands[i], absl::StrCat("p", i));
    if (!parameter.ok()) return parameter.status();
    parameters.push_back(*parameter);
  }
  const auto alike = builder.Broadcast(parameters);
  if (!alike.ok()) return alike.status();
  absl::StatusOr<const HloInstruction*> root = alike->front();
  const bool is_one_type = absl::c_all_of(operands, [&](const Shape& operand) {
    return operand.element_type() == operands[0].element_type();
  });
  if (!is_one_type) {
    root = builder.Add(HloOpcode::kTuple, *alike);
  } else {
    for (size_t i = 1; i < alike->size() && root.ok(); ++i) {
      root = builder.Add(HloOpcode::kMultiply, {*root, (*alike)[i]});
    }
  }
  if (!root.ok()) return root.status();
  for (const absl::Status& status : {builder.SetRoot(*root), CheckBuiltModule(module)}) {
    if (!status.ok()) return status;
  }
  return module.ToString();
}

}  // namespace

int PrintBroadcast(const CommandLine& line) {
  std::vector<MaybeRanked> given;
  for (const std::string& text : line.shapes) {
    absl::StatusOr<MaybeRanked> operand = ParseOperand(text);
    if (!operand.ok()) {
      constexpr size_t kLongestShown = 60;
      const bool is_cut = text.size() > kLongestShown;
      return FailWith(
          absl::StrCat("operand ", given.size(), ", '", text.substr(0, kLongestShown),
                       is_cut ? "..." : "", "', is no shape: ", operand.status().message()),
          2);
    }
    given.push_back(*std::move(operand));
  }
  const absl::StatusOr<std::vector<Shape>> operands = RequireRanks(given);
  if (!operands.ok()) return FailWith(operands.status().message(), 1);
  const absl::StatusOr<ImplicitBroadcast> broadcast = BroadcastLikeNumpy(*operands);
  if (!broadcast.ok()) return FailWith(broadcast.status().message(), 1);
  if (line.emit != EmitMode::kNothing) {
    const absl::StatusOr<std::string> module =
        BroadcastModule(*operands, line.emit == EmitMode::kHlo ? BroadcastStyle::kDirect
                                                               : BroadcastStyle::kPromoted);
    if (!module.ok()) return FailWith(module.status().message(), 1);
    WriteOutput(*module);
    return 0;
  }
  const bool is_text = line.format == OutputFormat::kText;
  WriteOutput((is_text ? BroadcastText : BroadcastJson)(*operands, *broadcast));
  return 0;
}

}  // namespace xla_indexing
