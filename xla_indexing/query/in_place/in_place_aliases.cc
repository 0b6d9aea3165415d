#include "xla_indexing/query/in_place/in_place_aliases.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/buffers/alias_text.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::BufferWriters;
using internal::LeafAt;
using internal::Overwrite;
using internal::ParseAliases;
using internal::ShapeAt;
using internal::StatedAlias;
using internal::WriterSafety;

// Why leaves are not there, are of other numbers of bytes, or in other memories; empty where they are alike.
std::string WhyNotAlike(const Shape& output, const StatedAlias& alias, const Shape* operand) {
  if (operand == nullptr) return absl::StrCat("there is no operand ", alias.operand);
  const std::optional<int64_t> output_leaf = LeafAt(output, alias.output_path);
  if (!output_leaf) return absl::StrCat("there is no ", alias.output, " of the output");
  const std::optional<int64_t> operand_leaf = LeafAt(*operand, alias.operand_path);
  if (!operand_leaf) {
    return absl::StrCat("there is no ", alias.operand_index, " of the operand");
  }
  if (!ShapeAt(output, alias.output_path).IsArray() ||
      !ShapeAt(*operand, alias.operand_path).IsArray())
    return "";
  const Shape& output_array = output.Leaf(*output_leaf);
  const Shape& operand_array = operand->Leaf(*operand_leaf);
  std::string other_memory = internal::WhyOtherMemory(output_array, operand_array);
  if (!other_memory.empty()) return other_memory;
  const std::optional<Interval> output_bytes = BufferBytesOf(output_array);
  const std::optional<Interval> operand_bytes = BufferBytesOf(operand_array);
  if (output_bytes && operand_bytes && output_bytes != operand_bytes) {
    return absl::StrCat("the output has ", output_bytes->lower(), " bytes and the operand ",
                        operand_bytes->lower());
  }
  return "";
}

// `update`, or `body/update` where it is not in the entry.
std::string NameWithComputation(const HloInstruction& instruction) {
  const HloComputation& computation = *instruction.parent();
  if (computation.parent()->entry_computation() == &computation) {
    return std::string(instruction.name());
  }
  return absl::StrCat(computation.name(), "/", instruction.name());
}

// The aliases of a module: first what all of them demand, then the answers.
class AliasCheck {
 public:
  // `verdict` is the verifier's: in a module that is not valid nothing is decided.
  AliasCheck(const HloModule& module, absl::Status verdict, mlir::MLIRContext* context,
             int64_t max_aliases)
      : module_(module),
        verdict_(std::move(verdict)),
        max_aliases_(max_aliases),
        indexers_(context) {
    if (!verdict_.ok()) return;
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() == HloOpcode::kWhile) bodies_.insert(instruction->while_body());
      }
    }
  }

  std::vector<CheckedAlias> Run() {
    const HloComputation& entry = *module_.entry_computation();
    const auto text = module_.FindAttribute("input_output_alias");
    if (text && entry.root_instruction() != nullptr) {
      Read(nullptr, *text, entry.root_instruction()->shape(), entry.parameters());
    }
    for (const HloComputation* computation : module_.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (!instruction->HasAttribute(AttributeKey::kOutputToOperandAliasing)) continue;
        Read(instruction, instruction->GetText(AttributeKey::kOutputToOperandAliasing),
             instruction->shape(), instruction->operands());
      }
    }
    for (const Open& open : open_) {
      CheckedAlias& alias = checked_[open.alias];
      const QuestionBudget question;
      WriterSafety answer = WritersOf(open.computation).Check(open.overwrites);
      alias.safety = std::move(answer.safety);
      if (answer.writer != alias.instruction) alias.writer = answer.writer;
    }
    return std::move(checked_);
  }

 private:
  // An alias that is to be decided.
  struct Open {
    size_t alias;
    const HloComputation* computation;
    std::vector<Overwrite> overwrites;
  };

  BufferWriters& WritersOf(const HloComputation* computation) {
    std::unique_ptr<BufferWriters>& writers = writers_[computation];
    if (writers != nullptr) return *writers;
    if (computation != module_.entry_computation() && bodies_.contains(computation)) {
      writers = BufferWriters::OfBody(*computation, &indexers_);
      return *writers;
    }
    writers = std::make_unique<BufferWriters>(*computation, &indexers_);
    if (computation == module_.entry_computation()) {
      for (const DonatedLeaf& leaf : DonatedLeaves(module_)) writers->Donate(leaf.parameter);
    }
    return *writers;
  }

  // What one text states of the leaves of a result and of operands.
  void Read(const HloInstruction* owner, absl::string_view text, const Shape& output,
            absl::Span<const HloInstruction* const> operands) {
    const auto aliases = ParseAliases(text);
    if (!aliases) {
      checked_.push_back(
          {owner, "{}", 0, "{}",
           InPlaceSafety::Unsafe(absl::StrCat("the aliases cannot be read: ", text))});
      return;
    }
    const HloComputation* computation =
        owner == nullptr ? module_.entry_computation() : owner->parent();
    BufferWriters* writers = verdict_.ok() ? &WritersOf(computation) : nullptr;
    // The first alias for each value.
    absl::flat_hash_map<std::pair<const HloInstruction*, int64_t>, const StatedAlias*> first;
    for (const StatedAlias& alias : *aliases) {
      if (static_cast<int64_t>(checked_.size()) >= max_aliases_) return;
      CheckedAlias& result = checked_.emplace_back();
      result.instruction = owner;
      result.output = alias.output;
      result.operand = alias.operand;
      result.operand_index = alias.operand_index;
      const bool is_there = alias.operand < static_cast<int64_t>(operands.size());
      const HloInstruction* operand = is_there ? operands[alias.operand] : nullptr;
      std::string why_not = WhyNotAlike(output, alias, is_there ? &operand->shape() : nullptr);
      if (!why_not.empty()) {
        result.safety = InPlaceSafety::Unsafe(std::move(why_not));
        continue;
      }
      if (writers == nullptr) {
        result.safety = InPlaceSafety::Undecided(std::string(verdict_.message()));
        continue;
      }
      const int64_t output_leaf = *LeafAt(output, alias.output_path);
      const BufferValue before =
          writers->values().OriginOf({operand, *LeafAt(operand->shape(), alias.operand_path)});
      const auto [other, is_first] = first.try_emplace({before.instruction, before.leaf}, &alias);
      if (!is_first) {
        result.safety =
            InPlaceSafety::Unsafe(absl::StrCat("output ", other->second->output, " is in it, too"));
        continue;
      }
      if (!ShapeAt(output, alias.output_path).IsArray() ||
          !ShapeAt(operand->shape(), alias.operand_path).IsArray()) {
        result.safety = InPlaceSafety::Undecided("what is shared is no array");
        continue;
      }
      std::vector<Overwrite> overwrites;
      if (owner == nullptr) {
        overwrites = writers->OfOutput(output_leaf, before);
        writers->Demand(overwrites);
      } else if (const BufferValue written = writers->values().OriginOf({owner, output_leaf});
                 written != before) {
        overwrites = {{written, before}};
      }
      open_.push_back({checked_.size() - 1, computation, std::move(overwrites)});
    }
  }

  const HloModule& module_;
  const absl::Status verdict_;
  const int64_t max_aliases_;
  HloIndexers indexers_;
  absl::flat_hash_set<const HloComputation*> bodies_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<BufferWriters>> writers_;
  std::vector<CheckedAlias> checked_;
  std::vector<Open> open_;
};

// `w`, or `w#2` of a leaf of several.
std::string NameOfLeaf(const BufferValue& value) {
  std::string name = NameWithComputation(*value.instruction);
  if (!value.instruction->shape().IsArray()) absl::StrAppend(&name, "#", value.leaf);
  return name;
}

}  // namespace

std::vector<DonatedLeaf> DonatedLeaves(const HloModule& module) {
  std::vector<DonatedLeaf> leaves;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr || entry->root_instruction() == nullptr) return leaves;
  const Shape& result = entry->root_instruction()->shape();
  const auto add = [&](const std::optional<std::vector<StatedAlias>>& items, bool has_output) {
    if (!items) return;
    for (const StatedAlias& item : *items) {
      if (item.operand >= static_cast<int64_t>(entry->parameters().size())) continue;
      const HloInstruction* parameter = entry->parameter(item.operand);
      const std::optional<int64_t> first = internal::LeafAt(parameter->shape(), item.operand_path);
      if (!first) continue;
      const std::optional<int64_t> output =
          has_output ? internal::LeafAt(result, item.output_path) : std::nullopt;
      const int64_t count = internal::ShapeAt(parameter->shape(), item.operand_path).LeafCount();
      for (int64_t i = 0; i < count; ++i) {
        leaves.push_back(
            {{parameter, *first + i}, output ? std::optional(*output + i) : std::nullopt});
      }
    }
  };
  add(internal::ParseAliases(module.FindAttribute("input_output_alias").value_or("{}")), true);
  add(internal::ParseDonors(module.FindAttribute("buffer_donor").value_or("{}")), false);
  return leaves;
}

std::string CheckedAlias::WriterName() const {
  return writer == nullptr ? "" : NameWithComputation(*writer);
}

std::string CheckedAlias::ToString() const {
  return absl::StrCat(
      "alias of ", instruction == nullptr ? "the module" : instruction->name(), ": output ", output,
      " in ", instruction == nullptr ? "parameter " : "operand ", operand, " ", operand_index,
      writer == nullptr ? "" : absl::StrCat(", written by ", WriterName()), ": ",
      safety.ToString());
}

std::string CheckedValue::WriterName() const {
  return writer == nullptr ? "" : NameWithComputation(*writer);
}

std::string CheckedValue::ToString() const {
  return absl::StrCat(NameOfLeaf(value), " over ", NameOfLeaf(before),
                      writer == nullptr || writer == value.instruction
                          ? ""
                          : absl::StrCat(", written by ", WriterName()),
                      ": ", safety.ToString());
}

std::vector<CheckedAlias> CheckAliases(const HloModule& module, mlir::MLIRContext* context,
                                       int64_t max_aliases) {
  if (module.entry_computation() == nullptr) return {};
  return AliasCheck(module, VerifyModule(module), context, max_aliases).Run();
}

absl::StatusOr<std::vector<CheckedValue>> CheckOneBuffer(absl::Span<const BufferValue> values,
                                                         mlir::MLIRContext* context) {
  if (values.size() < 2) {
    return absl::InvalidArgumentError("in place: at least two values lie in one buffer");
  }
  const HloComputation& computation = *values.front().instruction->parent();
  for (const BufferValue& value : values) {
    const Shape& shape = value.instruction->shape();
    if (value.leaf < 0 || value.leaf >= shape.LeafCount() || !shape.Leaf(value.leaf).IsArray()) {
      return absl::InvalidArgumentError(absl::StrCat("in place: there is no array that is leaf ",
                                                     value.leaf, " of ",
                                                     value.instruction->name()));
    }
    if (value.instruction->parent() != &computation) {
      return absl::InvalidArgumentError(
          absl::StrCat("in place: ", value.instruction->name(), " is not in the computation ",
                       computation.name(), ", as ", values.front().instruction->name(), " is"));
    }
  }
  if (absl::Status status = VerifyModule(*computation.parent()); !status.ok()) return status;
  HloIndexers indexers(context);
  BufferWriters writers(computation, &indexers);
  const BufferValue first = writers.values().OriginOf(values.front());
  writers.Donate(first);
  std::vector<std::vector<Overwrite>> overwrites;
  for (size_t i = 1; i < values.size(); ++i) {
    overwrites.push_back(writers.OfValues({values[i - 1], values[i]}));
    writers.Demand(overwrites.back());
  }
  const Shape& buffer = values.front().instruction->shape().Leaf(values.front().leaf);
  std::vector<CheckedValue> checked;
  for (size_t i = 1; i < values.size(); ++i) {
    CheckedValue& answer = checked.emplace_back(CheckedValue{values[i], values[i - 1], {}});
    std::string why_not =
        internal::WhyNotOneBuffer(values[i].instruction->shape().Leaf(values[i].leaf), buffer);
    if (!why_not.empty()) {
      answer.safety = InPlaceSafety::Unsafe(std::move(why_not));
      continue;
    }
    const QuestionBudget question;
    WriterSafety safety = writers.Check(overwrites[i - 1]);
    answer.safety = std::move(safety.safety);
    answer.writer = safety.writer;
  }
  return checked;
}

}  // namespace xla_indexing
