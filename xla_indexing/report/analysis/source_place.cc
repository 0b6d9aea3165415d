#include "xla_indexing/report/analysis/source_place.h"

#include <utility>
#include <vector>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/metadata.h"

namespace xla_indexing::internal {

SourcePlace SourceOf(const HloInstruction& instruction) {
  const HloInstruction* described = &instruction;
  const HloComputation* inside = instruction.inlined_computation();
  if (!instruction.HasAttribute(AttributeKey::kMetadata) && inside != nullptr) {
    described = inside->root_instruction();
  }
  SourcePlace place;
  if (!described->HasAttribute(AttributeKey::kMetadata)) return place;
  place.op_name = described->metadata().op_name;
  std::vector<SourceFrame> frames = described->SourceFrames();
  if (frames.empty()) return place;
  place.file = std::move(frames.front().file);
  place.function = std::move(frames.front().function);
  place.line = frames.front().line;
  return place;
}

}  // namespace xla_indexing::internal
