#include "xla_indexing/query/in_place/in_place_aliases.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
using internal::Overwrite;
using internal::ParseAliases;
using internal::StatedAlias;
using internal::WriterSafety;

// Why the leaves of an alias cannot share a buffer: they are not there, are of other numbers of bytes, or in
// other memories; empty where they can.
std::string WhyNotAlike(const StatedAlias& alias, int64_t num_operands) {
  const auto& [output, operand, index] = alias;
  if (operand >= num_operands) return absl::StrCat("there is no operand ", operand);
  if (output.shape == nullptr) return absl::StrCat("there is no ", output.text, " of the output");
  if (index.shape == nullptr) return absl::StrCat("there is no ", index.text, " of the operand");
  if (!output.shape->IsArray() || !index.shape->IsArray()) return "";
  std::string other_memory = internal::WhyOtherMemory(*output.shape, *index.shape);
  if (!other_memory.empty()) return other_memory;
  const std::optional<Interval> output_bytes = BufferBytesOf(*output.shape);
  const std::optional<Interval> operand_bytes = BufferBytesOf(*index.shape);
  if (!output_bytes || !operand_bytes || output_bytes == operand_bytes) return "";
  return absl::StrCat("the output has ", output_bytes->lower(), " bytes and the operand ",
                      operand_bytes->lower());
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
    const auto aliases = ParseAliases(text, &output, operands);
    if (!aliases) {
      checked_.push_back(
          {owner, "{}", 0, "{}",
           InPlaceSafety::Unsafe(absl::StrCat("the aliases cannot be read: ", text))});
      return;
    }
    const HloComputation* computation =
        owner == nullptr ? module_.entry_computation() : owner->parent();
    // The first alias for each value.
    std::map<BufferValue, const StatedAlias*> first;
    for (const StatedAlias& alias : *aliases) {
      if (static_cast<int64_t>(checked_.size()) >= max_aliases_) return;
      CheckedAlias& result = checked_.emplace_back(
          CheckedAlias{owner, alias.output.text, alias.operand, alias.operand_index.text, {}});
      std::string why_not = WhyNotAlike(alias, static_cast<int64_t>(operands.size()));
      if (!why_not.empty()) {
        result.safety = InPlaceSafety::Unsafe(std::move(why_not));
        continue;
      }
      if (!verdict_.ok()) {
        result.safety = InPlaceSafety::Undecided(std::string(verdict_.message()));
        continue;
      }
      BufferWriters& writers = WritersOf(computation);
      const BufferValue before =
          writers.values().OriginOf({operands[alias.operand], alias.operand_index.leaf});
      const auto [other, is_first] = first.try_emplace(before, &alias);
      if (!is_first) {
        result.safety = InPlaceSafety::Unsafe(
            absl::StrCat("output ", other->second->output.text, " is in it, too"));
        continue;
      }
      if (!alias.output.shape->IsArray() || !alias.operand_index.shape->IsArray()) {
        result.safety = InPlaceSafety::Undecided("what is shared is no array");
        continue;
      }
      std::vector<Overwrite> overwrites;
      if (owner == nullptr) {
        overwrites = writers.OfOutput(alias.output.leaf, before);
        writers.Demand(overwrites);
      } else if (const BufferValue written = writers.values().OriginOf({owner, alias.output.leaf});
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
  const auto add = [&](absl::string_view attribute, const Shape* output) {
    const auto items =
        ParseAliases(module.FindAttribute(attribute).value_or("{}"), output, entry->parameters());
    for (const StatedAlias& item : items.value_or(std::vector<StatedAlias>())) {
      const auto& [shape_index, number, in_parameter] = item;
      if (in_parameter.shape == nullptr) continue;
      for (int64_t i = 0; i < in_parameter.shape->LeafCount(); ++i) {
        DonatedLeaf& leaf = leaves.emplace_back();
        leaf.parameter = {entry->parameter(number), in_parameter.leaf + i};
        if (shape_index.shape != nullptr) leaf.output_leaf = shape_index.leaf + i;
      }
    }
  };
  add("input_output_alias", &result);
  add("buffer_donor", nullptr);
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
    overwrites.push_back(writers.OfValue(values[i], values[i - 1]));
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
