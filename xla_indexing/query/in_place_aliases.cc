#include "xla_indexing/query/in_place_aliases.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/query/utilization.h"

namespace xla_indexing {
namespace {

struct StatedAlias {
  std::string output;
  std::string operand_index;
  std::vector<int64_t> output_path;
  int64_t operand = 0;
  std::vector<int64_t> operand_path;
};

// `{1, 0}` at the beginning of the text, which is taken away.
bool ConsumePath(absl::string_view* text, std::string* written, std::vector<int64_t>* path) {
  *text = absl::StripLeadingAsciiWhitespace(*text);
  const size_t end = text->find('}');
  if (!absl::ConsumePrefix(text, "{") || end == text->npos) return false;
  const absl::string_view inside = text->substr(0, end - 1);
  *written = absl::StrCat("{", inside, "}");
  text->remove_prefix(end);
  if (absl::StripAsciiWhitespace(inside).empty()) return true;
  for (const absl::string_view number : absl::StrSplit(inside, ',')) {
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(number), &path->emplace_back())) return false;
  }
  return true;
}

bool ConsumeSymbol(absl::string_view* text, absl::string_view symbol) {
  *text = absl::StripLeadingAsciiWhitespace(*text);
  return absl::ConsumePrefix(text, symbol);
}

// `{ {1}: (0, {}, may-alias), .. }`; none where that is not what the text is.
std::optional<std::vector<StatedAlias>> ParseAliases(absl::string_view text) {
  std::vector<StatedAlias> aliases;
  if (!ConsumeSymbol(&text, "{")) return std::nullopt;
  while (!ConsumeSymbol(&text, "}")) {
    StatedAlias alias;
    if (!aliases.empty() && !ConsumeSymbol(&text, ",")) return std::nullopt;
    if (!ConsumePath(&text, &alias.output, &alias.output_path) || !ConsumeSymbol(&text, ":") ||
        !ConsumeSymbol(&text, "(")) {
      return std::nullopt;
    }
    text = absl::StripLeadingAsciiWhitespace(text);
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == text.npos || !absl::SimpleAtoi(text.substr(0, digits), &alias.operand)) {
      return std::nullopt;
    }
    text.remove_prefix(digits);
    if (!ConsumeSymbol(&text, ",") ||
        !ConsumePath(&text, &alias.operand_index, &alias.operand_path)) {
      return std::nullopt;
    }
    const size_t end = text.find(')');
    if (end == text.npos) return std::nullopt;
    text.remove_prefix(end + 1);
    aliases.push_back(std::move(alias));
  }
  return aliases;
}

// The number of the first leaf of what a shape index leads to.
std::optional<int64_t> LeafAt(const Shape& shape, const std::vector<int64_t>& path) {
  const Shape* at = &shape;
  int64_t leaf = 0;
  for (const int64_t index : path) {
    if (!at->IsTuple() || index < 0 || index >= static_cast<int64_t>(at->tuple_elements().size())) {
      return std::nullopt;
    }
    leaf += at->FirstLeafOfElement(index);
    at = &at->tuple_element(index);
  }
  return leaf;
}

// Whether that is an array; it is there.
bool IsArrayAt(const Shape& shape, const std::vector<int64_t>& path) {
  const Shape* at = &shape;
  for (const int64_t index : path) at = &at->tuple_element(index);
  return at->IsArray();
}

InPlaceSafety UnsafeBecause(std::string why) {
  InPlaceSafety safety;
  safety.answer = InPlaceAnswer::kUnsafe;
  safety.reason = std::move(why);
  return safety;
}
InPlaceSafety UndecidedBecause(std::string why) {
  InPlaceSafety safety;
  safety.reason = std::move(why);
  return safety;
}

bool HandsOn(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kTuple:
    case HloOpcode::kOptBarrier:
      return true;
    default:
      return false;
  }
}

struct ValueLeaf {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;
};

// The operand's leaf that a leaf of an instruction that hands on is.
ValueLeaf HandedOn(const ValueLeaf& value) {
  const HloInstruction& instruction = *value.instruction;
  if (instruction.opcode() == HloOpcode::kTuple) {
    int64_t leaf = value.leaf;
    for (const HloInstruction* operand : instruction.operands()) {
      if (leaf < operand->shape().LeafCount()) return {operand, leaf};
      leaf -= operand->shape().LeafCount();
    }
  }
  const HloInstruction* operand = instruction.operand(0);
  if (instruction.opcode() == HloOpcode::kGetTupleElement) {
    return {operand, operand->shape().FirstLeafOfElement(instruction.tuple_index()) + value.leaf};
  }
  return {operand, value.leaf};
}

ValueLeaf OriginOf(ValueLeaf value) {
  while (HandsOn(*value.instruction)) value = HandedOn(value);
  return value;
}

class EntryAliases {
 public:
  EntryAliases(const HloModule& module, mlir::MLIRContext* context)
      : entry_(*module.entry_computation()),
        is_scheduled_(module.is_scheduled()),
        context_(context) {}

  InPlaceSafety Check(int64_t output_leaf, int64_t parameter, int64_t parameter_leaf) {
    const ValueLeaf shared = {entry_.parameters()[parameter], parameter_leaf};
    const ValueLeaf written = OriginOf({entry_.root_instruction(), output_leaf});
    const HloInstruction& writer = *written.instruction;
    if (writer.opcode() == HloOpcode::kParameter) {
      if (written.instruction == shared.instruction && written.leaf == shared.leaf) {
        InPlaceSafety safety;
        safety.answer = InPlaceAnswer::kAnyOrder;
        return safety;
      }
      return UndecidedBecause(absl::StrCat("the output is ", writer.name(), ", another parameter"));
    }
    bool reads_itself = false;
    for (const HloInstruction* reader : entry_.instructions()) {
      if (HandsOn(*reader) || !Reads(*reader, shared)) continue;
      if (reader == &writer) {
        reads_itself = true;
      } else if (is_scheduled_ ? reader->index_in_computation() > writer.index_in_computation()
                               : IsComputedFrom(*reader, writer)) {
        return UnsafeBecause(absl::StrCat(reader->name(), " reads the operand after ",
                                          writer.name(), " has written it"));
      }
    }
    // The parameter itself may be a part of the result, beside what overwrites it.
    const Shape& result = entry_.root_instruction()->shape();
    for (int64_t leaf = 0; leaf < result.LeafCount(); ++leaf) {
      const ValueLeaf origin = OriginOf({entry_.root_instruction(), leaf});
      if (origin.instruction == shared.instruction && origin.leaf == shared.leaf) {
        return UnsafeBecause(
            absl::StrCat(writer.name(), " writes it, and output ", leaf, " is the operand itself"));
      }
    }
    if (writer.opcode() == HloOpcode::kWhile) {
      return UndecidedBecause(
          absl::StrCat(writer.name(), " keeps its state in one buffer, which its body changes"));
    }
    if (!reads_itself) {
      InPlaceSafety safety;
      safety.answer = InPlaceAnswer::kAnyOrder;
      return safety;
    }
    return CheckWriter(written, shared);
  }

 private:
  bool Reads(const HloInstruction& reader, const ValueLeaf& shared) const {
    for (const HloInstruction* operand : reader.operands()) {
      for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
        const ValueLeaf origin = OriginOf({operand, leaf});
        if (origin.instruction == shared.instruction && origin.leaf == shared.leaf) return true;
      }
    }
    return false;
  }

  bool IsComputedFrom(const HloInstruction& reader, const HloInstruction& writer) {
    auto [it, is_new] = computed_from_.try_emplace(&writer);
    absl::flat_hash_set<const HloInstruction*>& all = it->second;
    if (is_new) {
      for (const HloInstruction* i : entry_.instructions()) {
        for (const HloInstruction* operand : i->operands()) {
          if (operand == &writer || all.contains(operand)) all.insert(i);
        }
      }
    }
    return all.contains(&reader);
  }

  // What the writer reads of the buffer, through bitcasts too, as one parameter.
  InPlaceSafety CheckWriter(const ValueLeaf& written, const ValueLeaf& shared) {
    const HloInstruction* writer = written.instruction;
    absl::StatusOr<FusionView> view =
        FusionView::Create({writer}, [&](const HloInstruction& instruction) {
          return &instruction == writer || HandsOn(instruction);
        });
    if (!view.ok()) return UndecidedBecause(std::string(view.status().message()));
    const std::optional<int64_t> parameter = view->ParameterOf(*shared.instruction);
    if (!parameter) {
      return UndecidedBecause(absl::StrCat("how ", writer->name(), " reads it is not known"));
    }
    const SharedBuffer buffer{written.leaf, {*parameter, shared.leaf}};
    absl::StatusOr<InPlaceAnalysis> analysis = InPlaceAnalysis::OfView(*std::move(view), context_);
    if (!analysis.ok()) return UndecidedBecause(std::string(analysis.status().message()));
    absl::StatusOr<InPlaceSafety> safety = analysis->Safety(buffer);
    if (!safety.ok()) return UndecidedBecause(std::string(safety.status().message()));
    return *std::move(safety);
  }

  const HloComputation& entry_;
  const bool is_scheduled_;
  mlir::MLIRContext* context_;
  absl::flat_hash_map<const HloInstruction*, absl::flat_hash_set<const HloInstruction*>>
      computed_from_;
};

// Why leaves are not there, or not of equally many bytes; empty where they are.
std::string WhyNotAlike(const Shape& output, const StatedAlias& alias, const Shape* operand) {
  if (operand == nullptr) return absl::StrCat("there is no operand ", alias.operand);
  const std::optional<int64_t> output_leaf = LeafAt(output, alias.output_path);
  if (!output_leaf) return absl::StrCat("there is no ", alias.output, " of the output");
  const std::optional<int64_t> operand_leaf = LeafAt(*operand, alias.operand_path);
  if (!operand_leaf) {
    return absl::StrCat("there is no ", alias.operand_index, " of the operand");
  }
  if (!IsArrayAt(output, alias.output_path) || !IsArrayAt(*operand, alias.operand_path)) return "";
  const std::optional<Interval> output_bytes = BufferBytesOf(output.Leaf(*output_leaf));
  const std::optional<Interval> operand_bytes = BufferBytesOf(operand->Leaf(*operand_leaf));
  if (output_bytes && operand_bytes && output_bytes != operand_bytes) {
    return absl::StrCat("the output has ", output_bytes->lower(), " bytes and the operand ",
                        operand_bytes->lower());
  }
  return "";
}

}  // namespace

std::string CheckedAlias::ToString() const {
  return absl::StrCat("alias of ", instruction == nullptr ? "the module" : instruction->name(),
                      ": output ", output, " in ",
                      instruction == nullptr ? "parameter " : "operand ", operand, " ",
                      operand_index, ": ", safety.ToString());
}

std::vector<CheckedAlias> CheckAliases(const HloModule& module, mlir::MLIRContext* context,
                                       int64_t max_aliases) {
  std::vector<CheckedAlias> checked;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr) return checked;
  // Checks what one text states of the leaves of a result and of operands.
  const auto check = [&](const HloInstruction* owner, absl::string_view text, const Shape& output,
                         absl::Span<const HloInstruction* const> operands, auto&& safety_of) {
    const auto aliases = ParseAliases(text);
    if (!aliases) {
      checked.push_back({owner, "{}", 0, "{}",
                         UnsafeBecause(absl::StrCat("the aliases cannot be read: ", text))});
      return;
    }
    for (const StatedAlias& alias : *aliases) {
      if (static_cast<int64_t>(checked.size()) >= max_aliases) return;
      CheckedAlias& result = checked.emplace_back();
      result.instruction = owner;
      result.output = alias.output;
      result.operand = alias.operand;
      result.operand_index = alias.operand_index;
      const bool is_there = alias.operand < static_cast<int64_t>(operands.size());
      std::string why_not =
          WhyNotAlike(output, alias, is_there ? &operands[alias.operand]->shape() : nullptr);
      if (!why_not.empty()) {
        result.safety = UnsafeBecause(std::move(why_not));
        continue;
      }
      const Shape& operand = operands[alias.operand]->shape();
      const SharedBuffer buffer{*LeafAt(output, alias.output_path),
                                {alias.operand, *LeafAt(operand, alias.operand_path)}};
      if (!IsArrayAt(output, alias.output_path) || !IsArrayAt(operand, alias.operand_path)) {
        result.safety = UndecidedBecause("what is shared is no array");
        continue;
      }
      const QuestionBudget question;
      result.safety = safety_of(buffer);
    }
  };
  if (const auto text = module.FindAttribute("input_output_alias")) {
    EntryAliases aliases(module, context);
    check(nullptr, *text, entry->root_instruction()->shape(), entry->parameters(),
          [&](const SharedBuffer& buffer) {
            return aliases.Check(buffer.output_leaf, buffer.operand.operand,
                                 buffer.operand.operand_leaf);
          });
  }
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->HasAttribute(AttributeKey::kOutputToOperandAliasing)) continue;
      check(instruction, instruction->GetText(AttributeKey::kOutputToOperandAliasing),
            instruction->shape(), instruction->operands(), [&](const SharedBuffer& buffer) {
              if (instruction->opcode() == HloOpcode::kCustomCall) {
                return UndecidedBecause("the custom call answers for it");
              }
              absl::StatusOr<InPlaceAnalysis> analysis =
                  InPlaceAnalysis::OfInstruction(*instruction, context);
              if (!analysis.ok()) return UndecidedBecause(std::string(analysis.status().message()));
              absl::StatusOr<InPlaceSafety> safety = analysis->Safety(buffer);
              if (!safety.ok()) return UndecidedBecause(std::string(safety.status().message()));
              return *std::move(safety);
            });
    }
  }
  return checked;
}

}  // namespace xla_indexing
