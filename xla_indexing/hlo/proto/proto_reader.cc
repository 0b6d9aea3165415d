#include "xla_indexing/hlo/proto/proto_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/proto/proto_attribute_reader.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/proto/proto_spelling.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing::internal {

// Reading of one module out of its protocol buffer, the message HloModuleProto.
//
// What HLO text says in the place where it is used, a message says by numbers: instructions and
// computations have ids, which operands, called computations, the schedule and the root refer to.
// Instructions come after their operands and computations after those that they call, as in text;
// an instruction that does not is an error. Where the module is scheduled its instructions stand
// in the order of the schedule.
class ProtoModuleReader {
 public:
  // `message` is an HloModuleProto.
  explicit ProtoModuleReader(const WireMessage& message)
      : message_(message), source_(message.source()), module_(std::make_unique<HloModule>("")) {}

  // The module; null if the source failed. It refers to nothing outside it.
  std::unique_ptr<HloModule> Read();

 private:
  // Instructions of a computation in the order of the schedule, by the computation's id.
  using Schedule = absl::flat_hash_map<int64_t, std::vector<int64_t>>;

  void ReadHeader();
  void AddHeaderAttribute(absl::string_view name, const std::string& text);
  // A count that is 1 where text does not give it.
  void AddHeaderCount(absl::string_view name, int64_t count);
  void ReadSchedule();
  // These return false where they failed.
  bool ReadComputation(const WireMessage& message);
  bool ReadInstructions(const WireMessage& message, HloComputation* computation);
  bool ReadInstruction(const WireMessage& message, HloComputation* computation);
  bool CheckParameters(const HloComputation& computation);
  const Shape* ReadInternedShape(const WireMessage& instruction);
  bool SetEntry();
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

std::unique_ptr<HloModule> ProtoModuleReader::Read() {
  module_->SetName(ReadName(message_.Bytes({1, "name"}), "the module"));
  ReadSchedule();
  ReadHeader();
  message_.Texts({22, "payloads"},
                 [&](absl::string_view payload) { references_.payloads.push_back(payload); });
  if (source_.failed()) return nullptr;
  message_.Messages({3, "computations"},
                    [&](const WireMessage& computation, int64_t) { ReadComputation(computation); });
  return !source_.failed() && SetEntry() ? std::move(module_) : nullptr;
}

absl::string_view ProtoModuleReader::ReadName(absl::string_view name, absl::string_view what) {
  if (!Lexer::IsName(name)) {
    source_.Fail(name.empty() ? absl::StrCat(what, " has no name")
                              : absl::StrCat("the name of ", what, ", '", Shown(name),
                                             "', is none of HLO text"));
  }
  return name;
}

void ProtoModuleReader::AddHeaderAttribute(absl::string_view name, const std::string& text) {
  CheckReadsBack(text, source_);
  if (!text.empty() && !source_.failed()) module_->SetAttribute(name, text);
}

void ProtoModuleReader::AddHeaderCount(absl::string_view name, int64_t count) {
  if (count > 1) AddHeaderAttribute(name, absl::StrCat(count));
}

// In the order of XLA's text.
void ProtoModuleReader::ReadHeader() {
  if (message_.Has({7, "schedule"})) AddHeaderAttribute("is_scheduled", "true");
  message_.Message({8, "input_output_alias"}, [&](const WireMessage& alias) {
    AddHeaderAttribute("input_output_alias", SpellInputOutputAlias(alias));
  });
  message_.Message({18, "buffer_donor"}, [&](const WireMessage& donor) {
    AddHeaderAttribute("buffer_donor", SpellBufferDonor(donor));
  });
  message_.Message({4, "host_program_shape"}, [&](const WireMessage& shape) {
    AddHeaderAttribute("entry_computation_layout", SpellProgramShape(shape));
  });
  // A compiled module says which devices it runs on.
  message_.Message({15, "device_assignment"}, [&](const WireMessage& assignment) {
    AddHeaderCount("replica_count", assignment.Integer({1, "replica_count"}));
    AddHeaderCount("num_partitions", assignment.Integer({2, "computation_count"}));
  });
  message_.Message({19, "frontend_attributes"}, [&](const WireMessage& attributes) {
    AddHeaderAttribute("frontend_attributes", SpellFrontendAttributes(attributes));
  });
  message_.Message({17, "stack_frame_index"}, [&](const WireMessage& index) {
    module_->SetStackFrameTables(SpellStackFrameTables(index));
  });
}

void ProtoModuleReader::ReadSchedule() {
  message_.Message({7, "schedule"}, [&](const WireMessage& schedule) {
    schedule.Messages({1, "sequences"}, [&](const WireMessage& sequence, int64_t) {
      std::vector<int64_t>& ids = schedule_[sequence.Integer({1, "key"})];
      ids.clear();
      sequence.Message({2, "value"}, [&](const WireMessage& value) {
        value.Integers({1, "instruction_ids"}, &ids);
      });
    });
  });
}

bool ProtoModuleReader::ReadComputation(const WireMessage& message) {
  const absl::string_view name = ReadName(message.Bytes({1, "name"}), "a computation");
  const ProtoSource::Named named(source_, "computation", name);
  if (source_.failed()) return false;
  if (module_->FindComputation(name) != nullptr) {
    return source_.Fail("there is another computation of this name");
  }
  HloComputation* computation = module_->AddComputation(name);
  if (const absl::string_view thread = message.Bytes({8, "execution_thread"});
      !thread.empty() && thread != "main") {
    computation->SetExecutionThread(thread);
  }
  references_.instructions.clear();
  if (!ReadInstructions(message, computation)) return false;
  const int64_t root_id = message.Integer({6, "root_id"});
  const auto root = references_.instructions.find(root_id);
  if (root == references_.instructions.end()) {
    return source_.Fail("there is no instruction ", root_id, ", which should be the root");
  }
  computation->SetRoot(root->second);
  const int64_t id = message.Integer({5, "id"});
  return CheckParameters(*computation) &&
         (references_.computations.emplace(id, computation).second ||
          source_.Fail("there is another computation of the id ", id));
}

bool ProtoModuleReader::ReadInstructions(const WireMessage& message, HloComputation* computation) {
  const auto schedule = schedule_.find(message.Integer({5, "id"}));
  if (schedule == schedule_.end()) {
    message.Messages({2, "instructions"}, [&](const WireMessage& instruction, int64_t) {
      ReadInstruction(instruction, computation);
    });
    return !source_.failed();
  }
  // Where the instruction of each id stands, and its position in the message.
  struct Place {
    absl::string_view bytes;
    int64_t position = 0;
  };
  absl::flat_hash_map<int64_t, Place> places;
  message.Messages({2, "instructions"}, [&](const WireMessage& instruction, int64_t i) {
    const int64_t id = instruction.Integer({35, "id"});
    if (!places.emplace(id, Place{instruction.bytes(), i}).second) {
      source_.Fail("there is another instruction of the id ", id);
    }
  });
  if (source_.failed()) return false;
  const std::vector<int64_t>& ids = schedule->second;
  if (ids.size() != places.size()) {
    return source_.Fail("the schedule has ", ids.size(), " instructions, not ", places.size());
  }
  for (const int64_t id : ids) {
    const auto place = places.find(id);
    if (place == places.end()) {
      return source_.Fail("the schedule has an instruction ", id, ", which is not there");
    }
    const ProtoSource::Scope scope(source_, "instructions", place->second.bytes.data(),
                                   place->second.position);
    if (!scope.ok()) return false;
    if (!ReadInstruction(WireMessage(place->second.bytes, source_), computation)) return false;
  }
  return true;
}

bool ProtoModuleReader::ReadInstruction(const WireMessage& message, HloComputation* computation) {
  const absl::string_view name = ReadName(message.Bytes({1, "name"}), "an instruction");
  const ProtoSource::Named named(source_, "instruction", name);
  const absl::string_view spelling = message.Bytes({2, "opcode"});
  const HloOpcode opcode = OpcodeFromName(spelling).value_or(HloOpcode::kUnknown);
  if (opcode == HloOpcode::kUnknown && (!Lexer::IsName(spelling) || AsyncStepFromName(spelling))) {
    source_.Fail("expected an opcode, found '", Shown(spelling), "'");
  }
  const Shape* shape = ReadInternedShape(message);
  absl::InlinedVector<const HloInstruction*, 4> operands;
  message.ForEachVarint({36, "operand_ids"}, [&](uint64_t id) {
    const auto operand = references_.instructions.find(static_cast<int64_t>(id));
    if (operand == references_.instructions.end()) {
      source_.Fail("operand ", operands.size(), " is instruction ", id,
                   ", which does not come before this one");
      return;
    }
    operands.push_back(operand->second);
  });
  if (source_.failed()) return false;
  // Their text has a number or a literal where that of others has operands.
  if (!operands.empty() && (opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant)) {
    return source_.Fail("a ", spelling, " has no operands, but ", operands.size(), " are given");
  }
  if (computation->FindInstruction(name) != nullptr) {
    return source_.Fail("there is another instruction of this name in its computation");
  }
  std::vector<const HloComputation*> called;
  message.ForEachVarint({38, "called_computation_ids"}, [&](uint64_t id) {
    const auto found = references_.computations.find(static_cast<int64_t>(id));
    if (found == references_.computations.end()) {
      source_.Fail("computation ", id, ", which this calls, does not come before it");
      return;
    }
    called.push_back(found->second);
  });
  const AttributeList attributes = ReadAttributesProto(
      {message, opcode, *shape, operands, called, references_}, module_->arena());
  if (source_.failed()) return false;
  HloInstruction* instruction = computation->AddInstruction(opcode, name, *shape, operands);
  instruction->SetOwnedAttributes(attributes);
  const int64_t id = message.Integer({35, "id"});
  if (!references_.instructions.emplace(id, instruction).second) {
    return source_.Fail("there is another instruction of the id ", id);
  }
  const int64_t number = instruction->parameter_number();
  return opcode != HloOpcode::kParameter || computation->RegisterParameter(instruction, number) ||
         source_.Fail("parameter number ", number, " is taken or out of range");
}

// A module has the same few shapes again and again.
const Shape* ProtoModuleReader::ReadInternedShape(const WireMessage& instruction) {
  const Shape* shape = nullptr;
  instruction.Message({3, "shape"}, [&](const WireMessage& message) {
    const auto [found, is_new] = shapes_by_bytes_.try_emplace(message.bytes(), nullptr);
    if (is_new) found->second = module_->InternShape(ReadShapeProto(message));
    shape = found->second;
  });
  if (shape == nullptr) source_.Fail("there is no shape");
  return shape;
}

bool ProtoModuleReader::CheckParameters(const HloComputation& computation) {
  const auto parameters = computation.parameters();
  const auto gap = std::find(parameters.begin(), parameters.end(), nullptr);
  return gap == parameters.end() || source_.Fail("there is a parameter ", parameters.size() - 1,
                                                 " but no parameter ", gap - parameters.begin());
}

bool ProtoModuleReader::SetEntry() {
  const int64_t id = message_.Integer({6, "entry_computation_id"});
  const auto by_id = references_.computations.find(id);
  const HloComputation* entry =
      by_id != references_.computations.end()
          ? by_id->second
          : module_->FindComputation(message_.Bytes({2, "entry_computation_name"}));
  if (entry == nullptr) {
    return source_.Fail("there is no computation ", id, ", which should be the entry");
  }
  module_->SetEntry(entry);
  return true;
}

}  // namespace xla_indexing::internal

namespace xla_indexing {
namespace {

using internal::ProtoSource;
using internal::WireMessage;

constexpr size_t kMaxMessageBytes = size_t{1} << 31;
// The key of field 1 where its value has a length.
constexpr char kFirstKey = '\n';

// No text but that of a name with such a character in it has one.
bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\t' && (c < '\n' || c > '\r');
}

}  // namespace

bool LooksLikeHloModuleProto(absl::string_view bytes) {
  constexpr size_t kBeginning = 4096;
  const absl::string_view beginning = bytes.substr(0, kBeginning);
  return !bytes.empty() && bytes.front() == kFirstKey &&
         std::any_of(beginning.begin(), beginning.end(), IsControl);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadHloModuleProto(absl::string_view bytes,
                                                              absl::string_view filename) {
  if (bytes.size() > kMaxMessageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(filename, ": error: the message is larger than 2^31 bytes"));
  }
  ProtoSource source(bytes, "HloModuleProto");
  std::unique_ptr<HloModule> module;
  const WireMessage message(bytes, source);
  // The first field of an HloModuleProto is its name, in which there is no line feed.
  const absl::string_view first = message.Bytes({1, "hlo_module"});
  if (!first.empty() && first.front() == kFirstKey) {
    message.Message({1, "hlo_module"}, [&](const WireMessage& of_module) {
      module = internal::ProtoModuleReader(of_module).Read();
    });
  } else if (!source.failed()) {
    module = internal::ProtoModuleReader(message).Read();
  }
  if (!source.failed()) return module;
  return absl::InvalidArgumentError(absl::StrCat(filename, ": error: ", source.error()));
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadAndVerifyHloModuleProto(absl::string_view bytes,
                                                                       absl::string_view filename) {
  auto module = ReadHloModuleProto(bytes, filename);
  if (!module.ok()) return module;
  if (const absl::Status status = VerifyModule(**module); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(filename, ": error: ", status.message()));
  }
  return module;
}

}  // namespace xla_indexing
