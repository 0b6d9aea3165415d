// Reading of one module out of its protocol buffer, the message HloModuleProto.
//
// What HLO text says in the place where it is used, a message says by numbers: instructions and
// computations have ids, which operands, called computations, the schedule and the root refer to.
// Instructions come after their operands and computations after those that they call, as in text;
// an instruction that does not is an error. Where the module is scheduled its instructions stand
// in the order of the schedule.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_MODULE_READER_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_MODULE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/proto/proto_attribute_reader.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

class ProtoModuleReader {
 public:
  // `message` is an HloModuleProto.
  explicit ProtoModuleReader(const WireMessage& message)
      : message_(message), source_(message.source()), module_(std::make_unique<HloModule>("")) {}

  // The module; null where the source failed. It refers to nothing outside it.
  std::unique_ptr<HloModule> Read();

 private:
  // Instructions of a computation in the order of the schedule, by the computation's id.
  using Schedule = absl::flat_hash_map<int64_t, std::vector<int64_t>>;

  void ReadHeader();
  void AddHeaderAttribute(absl::string_view name, const std::string& text);
  // A count that is 1 where text does not give it.
  void AddHeaderCount(absl::string_view name, int64_t count);
  void ReadSchedule();
  void ReadComputation(const WireMessage& message);
  void ReadInstructions(const WireMessage& message, HloComputation* computation);
  void ReadInstruction(const WireMessage& message, HloComputation* computation);
  void CheckParameters(const HloComputation& computation);
  const Shape* ReadInternedShape(const WireMessage& instruction);
  void SetEntry();
  // A copy of a name of the module, a computation or an instruction, which must be one that HLO
  // text can spell; `what` says whose it is.
  absl::string_view ReadName(absl::string_view name, absl::string_view what);

  const WireMessage& message_;
  ProtoSource& source_;
  std::unique_ptr<HloModule> module_;
  ProtoReferences references_;
  Schedule schedule_;
  // Shapes by their bytes.
  absl::flat_hash_map<absl::string_view, const Shape*> shapes_by_bytes_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_MODULE_READER_H_
