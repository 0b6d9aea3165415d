#include "xla_indexing/query/in_place/buffer_writers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/in_place/alias_text.h"
#include "xla_indexing/query/in_place/buffers/changed_parts.h"
#include "xla_indexing/query/in_place/in_place_question.h"

namespace xla_indexing::internal {
namespace {

// Whether all leaves of an instruction are leaves of its operands.
bool HandsOn(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kBitcast:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kTuple:
    case HloOpcode::kOptBarrier:
      return true;
    default:
      return false;
  }
}

// How bad an answer is, the worst first.
int RankOf(InPlaceAnswer answer) {
  switch (answer) {
    case InPlaceAnswer::kUnsafe:
      return 0;
    case InPlaceAnswer::kUndecided:
      return 1;
    case InPlaceAnswer::kInOrder:
      return 2;
    case InPlaceAnswer::kAnyOrder:
      break;
  }
  return 3;
}

}  // namespace

BufferWriters::BufferWriters(const HloComputation& computation, bool is_scheduled,
                             HloIndexers* indexers)
    : computation_(computation), is_scheduled_(is_scheduled), indexers_(*indexers) {}

BufferWriters::~BufferWriters() = default;

BufferWriters& BufferWriters::InBodyOf(const HloInstruction& loop) {
  std::unique_ptr<BufferWriters>& body = in_body_[&loop];
  if (body == nullptr) {
    body = std::make_unique<BufferWriters>(*loop.while_body(), is_scheduled_, &indexers_);
  }
  return *body;
}

std::optional<BufferWriters::ValueLeaf> BufferWriters::HandedOn(const ValueLeaf& value) {
  const HloInstruction& instruction = *value.instruction;
  if (instruction.opcode() == HloOpcode::kWhile) {
    BufferWriters& body = InBodyOf(instruction);
    const ValueLeaf root = {body.computation_.root_instruction(), value.leaf};
    const ValueLeaf carried = {body.computation_.parameters()[0], value.leaf};
    if (body.OriginOf(root) != carried) return std::nullopt;
    return ValueLeaf{instruction.operand(0), value.leaf};
  }
  if (!HandsOn(instruction)) return std::nullopt;
  if (instruction.opcode() == HloOpcode::kTuple) {
    int64_t leaf = value.leaf;
    for (const HloInstruction* operand : instruction.operands()) {
      if (leaf < operand->shape().LeafCount()) return ValueLeaf{operand, leaf};
      leaf -= operand->shape().LeafCount();
    }
  }
  const HloInstruction* operand = instruction.operand(0);
  const int64_t first = instruction.opcode() == HloOpcode::kGetTupleElement
                            ? operand->shape().FirstLeafOfElement(instruction.tuple_index())
                            : 0;
  return ValueLeaf{operand, first + value.leaf};
}

BufferWriters::ValueLeaf BufferWriters::OriginOf(ValueLeaf value) {
  while (const std::optional<ValueLeaf> operand = HandedOn(value)) value = *operand;
  return value;
}

std::optional<BufferWriters::ValueLeaf> BufferWriters::ValueBefore(const ValueLeaf& value) {
  const HloInstruction& instruction = *value.instruction;
  if (instruction.opcode() == HloOpcode::kWhile) {
    return OriginOf({instruction.operand(0), value.leaf});
  }
  if (!instruction.HasAttribute(AttributeKey::kOutputToOperandAliasing)) return std::nullopt;
  const auto aliases = ParseAliases(instruction.GetText(AttributeKey::kOutputToOperandAliasing));
  for (const StatedAlias& alias : aliases.value_or(std::vector<StatedAlias>())) {
    if (alias.operand >= instruction.operand_count() ||
        LeafAt(instruction.shape(), alias.output_path) != value.leaf) {
      continue;
    }
    const HloInstruction* operand = instruction.operand(alias.operand);
    const std::optional<int64_t> leaf = LeafAt(operand->shape(), alias.operand_path);
    if (leaf) return OriginOf({operand, *leaf});
  }
  return std::nullopt;
}

const std::vector<const HloInstruction*>& BufferWriters::ReadersOf(const ValueLeaf& value) {
  if (!readers_) {
    readers_.emplace();
    for (const HloInstruction* reader : computation_.instructions()) {
      if (HandsOn(*reader)) continue;
      for (const HloInstruction* operand : reader->operands()) {
        for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
          std::vector<const HloInstruction*>& readers = (*readers_)[OriginOf({operand, leaf})];
          if (readers.empty() || readers.back() != reader) readers.push_back(reader);
        }
      }
    }
  }
  return (*readers_)[value];
}

bool BufferWriters::IsComputedFrom(const HloInstruction& reader, const HloInstruction& writer) {
  auto [it, is_new] = computed_from_.try_emplace(&writer);
  absl::flat_hash_set<const HloInstruction*>& all = it->second;
  if (is_new) {
    for (const HloInstruction* i : computation_.instructions()) {
      for (const HloInstruction* operand : i->operands()) {
        if (operand == &writer || all.contains(operand)) all.insert(i);
      }
    }
  }
  return all.contains(&reader);
}

bool BufferWriters::IsCarriedRead(const HloInstruction& loop, int64_t leaf) {
  BufferWriters& body = InBodyOf(loop);
  if (!body.ReadersOf({body.computation_.parameters()[0], leaf}).empty()) return true;
  const HloComputation& condition = *loop.while_condition();
  BufferWriters in_condition(condition, is_scheduled_, &indexers_);
  if (!in_condition.ReadersOf({condition.parameters()[0], leaf}).empty()) return true;
  // The body may hand it on to another leaf.
  const Shape& carried = loop.shape();
  for (int64_t i = 0; i < carried.LeafCount(); ++i) {
    const ValueLeaf origin = body.OriginOf({body.computation_.root_instruction(), i});
    if (i != leaf && origin == ValueLeaf{body.computation_.parameters()[0], leaf}) return true;
  }
  // Behind the loop, where it is a value of its own.
  const ValueLeaf result = {&loop, leaf};
  if (!ReadersOf(result).empty()) return true;
  const HloInstruction* root = computation_.root_instruction();
  for (int64_t i = 0; i < root->shape().LeafCount(); ++i) {
    if (OriginOf({root, i}) == result) return true;
  }
  return false;
}

WriterSafety SafetyOfCarried(const HloInstruction& loop, int64_t leaf, bool is_scheduled,
                             mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return BufferWriters(*loop.while_body(), is_scheduled, &indexers).Check(leaf, 0, leaf);
}

WriterSafety BufferWriters::Check(int64_t output_leaf, int64_t parameter, int64_t parameter_leaf) {
  const HloInstruction* root = computation_.root_instruction();
  const ValueLeaf shared = {computation_.parameters()[parameter], parameter_leaf};
  const ValueLeaf output = OriginOf({root, output_leaf});
  if (output == shared) return {InPlaceSafety::AnyOrder(), nullptr};
  // What is in the buffer, the last first.
  std::vector<ValueLeaf> values;
  std::optional<ValueLeaf> value = output;
  while (value && *value != shared && value->instruction->opcode() != HloOpcode::kParameter) {
    values.push_back(*value);
    value = ValueBefore(*value);
  }
  // Another parameter has a buffer of its own, from which the output is copied at the end.
  const bool is_copied = value && *value != shared;
  if (is_copied) values.clear();
  values.push_back(shared);
  for (size_t i = values.size(); i-- > (is_copied ? 0 : 1);) {
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      if (OriginOf({root, leaf}) != values[i]) continue;
      const HloInstruction* writer = is_copied ? root : values[i - 1].instruction;
      return {InPlaceSafety::Unsafe(i + 1 == values.size()
                                        ? absl::StrCat(writer->name(), " writes it, and output ",
                                                       leaf, " is the operand itself")
                                        : absl::StrCat(writer->name(), " overwrites ",
                                                       values[i].instruction->name(),
                                                       ", which is output ", leaf)),
              writer};
    }
  }
  WriterSafety worst{InPlaceSafety::AnyOrder(), nullptr};
  for (size_t i = values.size() - 1; i-- > 0;) {
    WriterSafety link = CheckWriter(values[i], values[i + 1]);
    if (worst.writer == nullptr || RankOf(link.safety.answer) <= RankOf(worst.safety.answer)) {
      worst = std::move(link);
    }
  }
  return worst;
}

WriterSafety BufferWriters::CheckWriter(const ValueLeaf& written, const ValueLeaf& before) {
  const HloInstruction& writer = *written.instruction;
  bool reads_itself = false;
  for (const HloInstruction* reader : ReadersOf(before)) {
    if (reader == &writer) {
      reads_itself = true;
    } else if (is_scheduled_ ? reader->index_in_computation() > writer.index_in_computation()
                             : IsComputedFrom(*reader, writer)) {
      return {
          InPlaceSafety::Unsafe(absl::StrCat(reader->name(), " reads ", before.instruction->name(),
                                             " after ", writer.name(), " has written it")),
          &writer};
    }
  }
  if (!reads_itself) return {InPlaceSafety::AnyOrder(), &writer};
  if (writer.opcode() == HloOpcode::kWhile) return CheckWhile(written, before);
  if (writer.opcode() == HloOpcode::kCustomCall) {
    return {InPlaceSafety::Undecided("the custom call answers for it"), &writer};
  }
  return {CheckAlone(written, before), &writer};
}

WriterSafety BufferWriters::CheckWhile(const ValueLeaf& written, const ValueLeaf& before) {
  const HloInstruction& loop = *written.instruction;
  for (int64_t leaf = 0; leaf < loop.shape().LeafCount(); ++leaf) {
    if (leaf == written.leaf || OriginOf({loop.operand(0), leaf}) != before) continue;
    if (!IsCarriedRead(loop, leaf)) continue;
    return {InPlaceSafety::Unsafe(
                absl::StrCat(loop.name(), " changes ", before.instruction->name(), " as element ",
                             written.leaf, " of what it carries, and reads it as element ", leaf)),
            &loop};
  }
  WriterSafety in_body = InBodyOf(loop).Check(written.leaf, 0, written.leaf);
  if (in_body.writer == nullptr) in_body.writer = &loop;
  return in_body;
}

InPlaceSafety BufferWriters::CheckAlone(const ValueLeaf& written, const ValueLeaf& before) {
  const HloInstruction* writer = written.instruction;
  // What it reads through bitcasts too is one parameter.
  absl::StatusOr<FusionView> view =
      FusionView::Create({writer}, [&](const HloInstruction& instruction) {
        return &instruction == writer || HandsOn(instruction);
      });
  if (!view.ok()) return InPlaceSafety::Undecided(std::string(view.status().message()));
  std::vector<OperandLeaf> parameters;
  for (size_t i = 0; i < view->operands().size(); ++i) {
    const HloInstruction* operand = view->operand(static_cast<int64_t>(i));
    for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
      if (OriginOf({operand, leaf}) == before) {
        parameters.push_back({static_cast<int64_t>(i), leaf});
      }
    }
  }
  if (parameters.size() != 1) {
    return InPlaceSafety::Undecided(
        absl::StrCat(writer->name(), " reads it as ", parameters.size(), " operands"));
  }
  const SharedLeaves leaves{view->computation(), written.leaf, parameters.front().operand,
                            parameters.front().operand_leaf};
  std::string too_large = WhyTooLarge(leaves.output(), leaves.operand());
  if (!too_large.empty()) return InPlaceSafety::Unsafe(std::move(too_large));
  InPlaceQuestion question(leaves, &indexers_.exact(), indexers_.context());
  const absl::Status status = question.Prepare();
  absl::StatusOr<InPlaceSafety> safety = status.ok() ? question.Decide() : status;
  if (!safety.ok()) return InPlaceSafety::Undecided(std::string(safety.status().message()));
  return *std::move(safety);
}

}  // namespace xla_indexing::internal
