// The numbers of the fields of XLA's messages about modules and computations,
// of those fields that are read: `Module::kComputations` is field computations of the
// message HloModuleProto.
//
// Source: xla/service/hlo.proto and xla/xla_data.proto of jaxlib 0.10.2, as its library describes
// them to itself. Numbers of fields never change.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_MODULE_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_MODULE_H_

#include <cstdint>

namespace xla_indexing::internal::proto {

struct Hlo {
  enum Field : uint32_t {
    kHloModule = 1,
  };
};

struct Module {
  enum Field : uint32_t {
    kName = 1,
    kEntryComputationName = 2,
    kComputations = 3,
    kHostProgramShape = 4,
    kEntryComputationId = 6,
    kSchedule = 7,
    kInputOutputAlias = 8,
    kDeviceAssignment = 15,
    kStackFrameIndex = 17,
    kBufferDonor = 18,
    kFrontendAttributes = 19,
    kPayloads = 22,
  };
};

struct Computation {
  enum Field : uint32_t {
    kName = 1,
    kInstructions = 2,
    kId = 5,
    kRootId = 6,
    kExecutionThread = 8,
  };
};

struct ProgramShape {
  enum Field : uint32_t {
    kParameters = 1,
    kResult = 2,
  };
};

struct Schedule {
  enum Field : uint32_t {
    kSequences = 1,
  };
};

struct InstructionSequence {
  enum Field : uint32_t {
    kInstructionIds = 1,
  };
};

struct ScheduleSequences {
  enum Field : uint32_t {
    kKey = 1,
    kValue = 2,
  };
};

struct InputOutputAlias {
  enum Field : uint32_t {
    kEntries = 1,
  };
};

struct AliasEntry {
  enum Field : uint32_t {
    kOutputShapeIndex = 1,
    kParameterNumber = 2,
    kParameterShapeIndex = 3,
    kKind = 4,
  };
};

struct BufferDonor {
  enum Field : uint32_t {
    kEntries = 1,
  };
};

struct BufferDonorEntry {
  enum Field : uint32_t {
    kParameterNumber = 1,
    kParameterShapeIndex = 2,
  };
};

struct StackFrameIndex {
  enum Field : uint32_t {
    kFileNames = 1,
    kFunctionNames = 2,
    kFileLocations = 3,
    kStackFrames = 4,
  };
};

struct FileLocation {
  enum Field : uint32_t {
    kFileNameId = 1,
    kFunctionNameId = 2,
    kLine = 3,
    kColumn = 4,
    kEndLine = 5,
    kEndColumn = 6,
  };
};

struct StackFrame {
  enum Field : uint32_t {
    kFileLocationId = 1,
    kParentFrameId = 2,
  };
};

struct DeviceAssignment {
  enum Field : uint32_t {
    kReplicaCount = 1,
    kComputationCount = 2,
  };
};

}  // namespace xla_indexing::internal::proto

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_MODULE_H_
