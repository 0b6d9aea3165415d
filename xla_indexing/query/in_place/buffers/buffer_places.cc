#include "xla_indexing/query/in_place/buffers/buffer_places.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::internal {

absl::StatusOr<OperandIndexing> PlacesIn(const Shape& from, const Shape& to,
                                         mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> count = from.ElementCount();
  if (count.ok() && *count > 0 && from.IsStatic() && to.IsStatic() && HaveSamePlaces(from, to)) {
    return IdentityIndexing(from, context);
  }
  HloModule module("places");
  HloComputation* computation = module.AddComputation("places");
  HloInstruction* operand = computation->AddParameter(0, "from", from);
  HloInstruction* bitcast = computation->AddInstruction(HloOpcode::kBitcast, "to", to, {operand});
  // The bitcast need not be one that the verifier takes: a buffer may have room for more.
  const auto entries = ComputeIndexing(*bitcast, Direction::kInputToOutput, context, {});
  if (!entries.ok()) return entries.status();
  if (entries->empty()) {
    return OperandIndexing(kPartsFit, IndexingMap::MakeEmpty(context, static_cast<int>(from.rank()),
                                                             0, 0, static_cast<int>(to.rank())));
  }
  return entries->front().indexing.maps().front();
}

bool FillEqualPlaces(const Shape& a, const Shape& b) {
  if (HaveSamePlaces(a, b)) return true;
  const absl::StatusOr<PhysicalLayout> of_a = PhysicalLayoutOf(a);
  const absl::StatusOr<PhysicalLayout> of_b = PhysicalLayoutOf(b);
  // Without padding in either.
  return of_a.ok() && of_b.ok() && of_a->width == of_b->width &&
         a.ElementCount().value_or(-1) == of_a->positions &&
         b.ElementCount().value_or(-1) == of_b->positions && of_a->positions == of_b->positions;
}

std::string WhyOtherMemory(const Shape& output, const Shape& operand) {
  const int64_t space_of_output = output.LayoutOrRowMajor().memory_space;
  const int64_t space_of_operand = operand.LayoutOrRowMajor().memory_space;
  if (space_of_output == space_of_operand) return "";
  return absl::StrCat("the output is in memory space ", space_of_output, " and the operand in ",
                      space_of_operand);
}

std::string WhyNotOneBuffer(const Shape& output, const Shape& operand) {
  std::string other_memory = WhyOtherMemory(output, operand);
  if (!other_memory.empty()) return other_memory;
  const std::optional<Interval> output_bytes = BufferBytesOf(output);
  const std::optional<Interval> operand_bytes = BufferBytesOf(operand);
  if (!output_bytes || !operand_bytes || output_bytes->lower() <= operand_bytes->lower()) return "";
  return absl::StrCat("the output has ", output_bytes->lower(), " bytes and the operand ",
                      operand_bytes->lower());
}

std::optional<int64_t> FirstSharedByte(const Shape& a, absl::Span<const int64_t> element_of_a,
                                       const Shape& b, absl::Span<const int64_t> element_of_b) {
  const absl::StatusOr<PhysicalLayout> layout_of_a = PhysicalLayoutOf(a);
  const absl::StatusOr<PhysicalLayout> layout_of_b = PhysicalLayoutOf(b);
  if (!layout_of_a.ok() || !layout_of_b.ok()) return std::nullopt;
  const Int128 bit = std::max(Int128{PositionOf(*layout_of_a, element_of_a)} * layout_of_a->width,
                              Int128{PositionOf(*layout_of_b, element_of_b)} * layout_of_b->width);
  return static_cast<int64_t>(bit / 8);
}

}  // namespace xla_indexing::internal
