#include "xla_indexing/query/in_place/buffer_writers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/loops/body/strong_parts.h"
#include "xla_indexing/query/in_place/buffers/alias_text.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/in_place/in_place_question.h"

namespace xla_indexing::internal {
namespace {

// How good an answer is: of any order, in an order, unsafe, undecided.
int RankOf(InPlaceAnswer answer) {
  constexpr int kRanks[] = {3, 2, 0, 1};
  return kRanks[static_cast<size_t>(answer)];
}

const Shape& ShapeOfValue(const BufferValue& value) {
  return value.instruction->shape().Leaf(value.leaf);
}

}  // namespace

BufferWriters::BufferWriters(const HloComputation& computation, HloIndexers* indexers)
    : computation_(computation), indexers_(*indexers), values_(computation) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!instruction->HasAttribute(AttributeKey::kOutputToOperandAliasing)) continue;
    const auto aliases = ParseAliases(instruction->GetText(AttributeKey::kOutputToOperandAliasing),
                                      &instruction->shape(), instruction->operands());
    for (const StatedAlias& alias : aliases.value_or(std::vector<StatedAlias>())) {
      if (alias.output.shape == nullptr || alias.operand_index.shape == nullptr) continue;
      const BufferValue written = values_.OriginOf({instruction, alias.output.leaf});
      const BufferValue before =
          values_.OriginOf({instruction->operand(alias.operand), alias.operand_index.leaf});
      if (written == before || !stated_before_.try_emplace(written, before).second) continue;
      stated_after_.emplace(before, written);
      demanded_.push_back({written, before});
    }
  }
}

std::unique_ptr<BufferWriters> BufferWriters::OfBody(const HloComputation& body,
                                                     HloIndexers* indexers) {
  auto writers = std::make_unique<BufferWriters>(body, indexers);
  const HloInstruction* carried = body.parameters()[0];
  const int64_t leaves =
      std::min(carried->shape().LeafCount(), body.root_instruction()->shape().LeafCount());
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    writers->Donate({carried, leaf});
    writers->Demand(writers->OfOutput(leaf, {carried, leaf}));
  }
  return writers;
}

std::optional<BufferValue> BufferWriters::ValueBefore(const BufferValue& value) {
  if (const auto it = stated_before_.find(value); it != stated_before_.end()) return it->second;
  if (value.instruction->opcode() != HloOpcode::kWhile) return std::nullopt;
  return values_.OriginOf({value.instruction->operand(0), value.leaf});
}

void BufferWriters::AppendOver(const BufferValue& value, const BufferValue& next,
                               std::vector<Overwrite>* overwrites) const {
  std::vector<BufferValue> rest = {value};
  while (!rest.empty()) {
    const BufferValue before = rest.back();
    rest.pop_back();
    overwrites->push_back({next, before});
    const auto [begin, end] = stated_after_.equal_range(before);
    for (auto it = begin; it != end; ++it) {
      if (it->second != next) rest.push_back(it->second);
    }
  }
}

std::vector<Overwrite> BufferWriters::OfOutput(int64_t output_leaf, const BufferValue& parameter) {
  const BufferValue output = values_.OriginOfOutput(output_leaf);
  if (output == parameter) return {};
  // What is in the buffer, the last first.
  std::vector<BufferValue> values;
  std::optional<BufferValue> value = output;
  const auto is_there_before = [](const BufferValue& of) {
    return of.instruction->opcode() == HloOpcode::kParameter ||
           of.instruction->opcode() == HloOpcode::kConstant;
  };
  while (value && *value != parameter && !is_there_before(*value)) {
    values.push_back(*value);
    value = ValueBefore(*value);
  }
  // Another parameter, or a constant, has a buffer of its own, from which the output is copied.
  if (value && *value != parameter) values = {BufferValue{}};
  values.push_back(parameter);
  std::vector<Overwrite> overwrites;
  for (size_t i = values.size() - 1; i-- > 0;) AppendOver(values[i + 1], values[i], &overwrites);
  return overwrites;
}

std::vector<Overwrite> BufferWriters::OfValue(const BufferValue& value, const BufferValue& before) {
  std::vector<Overwrite> overwrites;
  const BufferValue last = values_.OriginOf(before);
  const BufferValue next = values_.OriginOf(value);
  if (next != last) AppendOver(last, next, &overwrites);
  return overwrites;
}

void BufferWriters::Demand(const std::vector<Overwrite>& overwrites) {
  demanded_.insert(demanded_.end(), overwrites.begin(), overwrites.end());
  circles_.reset();
}

const std::vector<int>& BufferWriters::Circles() {
  if (circles_) return *circles_;
  std::vector<std::vector<int>> edges(static_cast<size_t>(computation_.instruction_count()));
  const auto add = [&](const HloInstruction* from, const HloInstruction* to) {
    edges[from->index_in_computation()].push_back(static_cast<int>(to->index_in_computation()));
  };
  for (const HloInstruction* i : computation_.instructions()) {
    for (const HloInstruction* operand : i->operands()) add(operand, i);
    for (const HloInstruction* before : i->control_predecessors()) add(before, i);
  }
  for (const auto& [written, before] : demanded_) {
    const HloInstruction* writer = written.instruction;
    if (writer == nullptr) continue;
    add(before.instruction, writer);
    for (const HloInstruction* reader : values_.ReadersOf(before)) {
      if (&StartOf(*reader) != writer) add(reader, writer);
    }
  }
  const auto parts = StrongParts(static_cast<int>(edges.size()),
                                 [&](int node) -> const std::vector<int>& { return edges[node]; });
  circles_.emplace(edges.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const int node : parts[i]) (*circles_)[node] = static_cast<int>(i);
  }
  return *circles_;
}

bool BufferWriters::IsComputedFrom(const HloInstruction& reader,
                                   const HloInstruction& writer) const {
  absl::flat_hash_set<const HloInstruction*> all = {&writer};
  const auto is_from = [&](const HloInstruction* i) { return all.contains(i); };
  for (const HloInstruction* i : computation_.instructions()) {
    if (absl::c_any_of(i->operands(), is_from) ||
        absl::c_any_of(i->control_predecessors(), is_from)) {
      all.insert(i);
    }
  }
  return &reader != &writer && all.contains(&reader);
}

WriterSafety BufferWriters::CheckCarried(const HloInstruction& loop, int64_t leaf) {
  const BufferValue carried = {computation_.parameters()[0], leaf};
  std::string why_not = WhyNotOneBuffer(loop.shape().Leaf(leaf), ShapeOfValue(carried));
  if (!why_not.empty()) return {InPlaceSafety::Unsafe(std::move(why_not)), &loop};
  WriterSafety safety = Check(OfOutput(leaf, carried));
  if (safety.writer == nullptr) safety.writer = &loop;
  return safety;
}

WriterSafety BufferWriters::Check(const std::vector<Overwrite>& overwrites) {
  WriterSafety worst{InPlaceSafety::AnyOrder(), nullptr};
  for (const Overwrite& overwrite : overwrites) {
    WriterSafety one = CheckOne(overwrite);
    if (worst.writer == nullptr || RankOf(one.safety.answer) <= RankOf(worst.safety.answer)) {
      worst = std::move(one);
    }
  }
  return worst;
}

WriterSafety BufferWriters::CheckBeside(const std::vector<Overwrite>& overwrites) {
  const auto demanded = static_cast<std::ptrdiff_t>(demanded_.size());
  Demand(overwrites);
  WriterSafety safety = Check(overwrites);
  demanded_.erase(demanded_.begin() + demanded, demanded_.end());
  circles_.reset();
  return safety;
}

std::optional<InPlaceSafety> BufferWriters::WhyNotOverwritten(const BufferValue& before,
                                                              const HloInstruction& writer) {
  const HloInstruction& old = *before.instruction;
  const bool is_parameter = old.opcode() == HloOpcode::kParameter;
  if (const std::optional<int64_t> output = values_.OutputOf(before)) {
    return InPlaceSafety::Unsafe(is_parameter
                                     ? absl::StrCat(writer.name(), " writes it, and output ",
                                                    *output, " is the operand itself")
                                     : absl::StrCat(writer.name(), " overwrites ", old.name(),
                                                    ", which is output ", *output));
  }
  if (old.opcode() == HloOpcode::kConstant) {
    return InPlaceSafety::Unsafe(absl::StrCat(old.name(), " is a constant"));
  }
  if (!is_parameter || donated_.contains(before)) return std::nullopt;
  if (computation_.parent()->entry_computation() == &computation_) {
    return InPlaceSafety::Unsafe(absl::StrCat(old.name(), " is a parameter that is not donated"));
  }
  return InPlaceSafety::Undecided(absl::StrCat(
      old.name(), " is a parameter of ", computation_.name(), ", in a buffer of what calls it"));
}

std::optional<InPlaceSafety> BufferWriters::WhyNoOrder(const HloInstruction& first,
                                                       const BufferValue& before,
                                                       const HloInstruction& writer) {
  const auto has_place = [&](const HloInstruction& i) {
    return IsScheduled() ? i.index_in_computation() : Circles()[i.index_in_computation()];
  };
  if (IsScheduled() ? has_place(first) <= has_place(writer)
                    : has_place(first) != has_place(writer)) {
    return std::nullopt;
  }
  const absl::string_view old = before.instruction->name();
  const bool is_reader = &first != before.instruction;
  if (IsScheduled() || IsComputedFrom(first, writer)) {
    return InPlaceSafety::Unsafe(is_reader ? absl::StrCat(first.name(), " reads ", old, " after ",
                                                          writer.name(), " has written it")
                                           : absl::StrCat(old, " is written after ", writer.name(),
                                                          ", which is to overwrite it"));
  }
  return InPlaceSafety::Unsafe(absl::StrCat(
      "no order puts ", first.name(), is_reader ? absl::StrCat(", which reads ", old, ",") : "",
      " before ", writer.name(), is_reader ? ", which writes it," : ", which is to overwrite it,",
      " and keeps the other aliases"));
}

WriterSafety BufferWriters::CheckOne(const Overwrite& overwrite) {
  const auto& [written, before] = overwrite;
  const bool is_copied = written.instruction == nullptr;
  const HloInstruction& writer =
      is_copied ? *computation_.root_instruction() : *written.instruction;
  if (auto why_not = WhyNotOverwritten(before, writer)) return {*std::move(why_not), &writer};
  if (is_copied) return {InPlaceSafety::AnyOrder(), nullptr};
  std::string other_memory = WhyOtherMemory(ShapeOfValue(written), ShapeOfValue(before));
  if (!other_memory.empty()) return {InPlaceSafety::Unsafe(std::move(other_memory)), &writer};
  bool reads_itself = false;
  for (const HloInstruction* reader : values_.ReadersOf(before)) {
    if (&StartOf(*reader) == &writer) {
      reads_itself = true;
    } else if (auto why_not = WhyNoOrder(*reader, before, writer)) {
      return {*std::move(why_not), &writer};
    }
  }
  if (!reads_itself) {
    // Parameters are there before anything runs, wherever a schedule has them.
    if (before.instruction->opcode() != HloOpcode::kParameter) {
      if (auto why_not = WhyNoOrder(*before.instruction, before, writer)) {
        return {*std::move(why_not), &writer};
      }
    }
    return {InPlaceSafety::AnyOrder(), &writer};
  }
  if (writer.opcode() == HloOpcode::kWhile) return CheckWhile(written, before);
  if (IsOpaque(writer.opcode())) {
    return {InPlaceSafety::Undecided(writer.opcode() == HloOpcode::kCustomCall
                                         ? "the custom call answers for it"
                                         : "its opcode is not known"),
            &writer};
  }
  return {CheckAlone(written, before), &writer};
}

WriterSafety BufferWriters::CheckWhile(const BufferValue& written, const BufferValue& before) {
  const HloInstruction& loop = *written.instruction;
  for (int64_t leaf = 0; leaf < loop.shape().LeafCount(); ++leaf) {
    if (leaf == written.leaf || values_.OriginOf({loop.operand(0), leaf}) != before) continue;
    // Read in the body and in the condition, or behind the loop, where it is a value of its own.
    if (!values_.In(*loop.while_body()).IsRead(leaf) &&
        !values_.In(*loop.while_condition()).IsRead(leaf) &&
        values_.ReadersOf({&loop, leaf}).empty() && !values_.OutputOf({&loop, leaf})) {
      continue;
    }
    return {InPlaceSafety::Unsafe(
                absl::StrCat(loop.name(), " changes ", before.instruction->name(), " as element ",
                             written.leaf, " of what it carries, and reads it as element ", leaf)),
            &loop};
  }
  if (values_.OriginOf({loop.operand(0), written.leaf}) != before) {
    return {InPlaceSafety::Unsafe(absl::StrCat(loop.name(), " carries it in the buffer of leaf ",
                                               written.leaf, " of its operand")),
            &loop};
  }
  std::unique_ptr<BufferWriters>& body = in_body_[&loop];
  if (body == nullptr) body = OfBody(*loop.while_body(), &indexers_);
  return body->CheckCarried(loop, written.leaf);
}

InPlaceSafety BufferWriters::CheckAlone(const BufferValue& written, const BufferValue& before) {
  const HloInstruction* writer = written.instruction;
  // What it reads through bitcasts too is one parameter. Constants may say where an update goes.
  const auto [known, is_new] = views_.try_emplace(writer, absl::UnknownError(""));
  absl::StatusOr<FusionView>& view = known->second;
  if (is_new) {
    view = FusionView::Create({writer}, [&](const HloInstruction& instruction) {
      return &instruction == writer || IsOnlyAName(instruction) ||
             instruction.opcode() == HloOpcode::kConstant;
    });
  }
  if (!view.ok()) return InPlaceSafety::Undecided(std::string(view.status().message()));
  std::vector<OperandLeaf> parameters;
  for (size_t i = 0; i < view->operands().size(); ++i) {
    const HloInstruction* operand = view->operand(static_cast<int64_t>(i));
    for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
      if (values_.OriginOf({operand, leaf}) == before) {
        parameters.push_back({static_cast<int64_t>(i), leaf});
      }
    }
  }
  if (parameters.size() != 1) {
    return InPlaceSafety::Undecided(
        absl::StrCat(writer->name(), " reads it as ", parameters.size(), " operands"));
  }
  const auto entries = indexers_.exact().Index(view->computation(), Direction::kOutputToInput);
  if (!entries.ok()) return InPlaceSafety::Undecided(std::string(entries.status().message()));
  std::vector<const IndexingEntry*> reads;
  for (const IndexingEntry& entry : **entries) {
    if (OperandLeaf{entry.operand, entry.operand_leaf} == parameters.front()) {
      reads.push_back(&entry);
    }
  }
  const OperandLeaf& parameter = parameters.front();
  const absl::StatusOr<InPlaceQuestion> question =
      AskInPlace({view->computation(), written.leaf, parameter.operand, parameter.operand_leaf},
                 reads, &indexers_);
  if (!question.ok()) return InPlaceSafety::Undecided(std::string(question.status().message()));
  return Decide(*question, std::nullopt);
}

}  // namespace xla_indexing::internal
