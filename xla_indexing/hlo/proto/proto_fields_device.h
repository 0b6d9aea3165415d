// The numbers of the fields of XLA's messages about groups of devices and shardings,
// of those fields that are read: `OpSharding::kTupleShardings` is field tuple_shardings of the
// message OpSharding.
//
// Source: xla/service/hlo.proto and xla/xla_data.proto of jaxlib 0.10.2, as its library describes
// them to itself. Numbers of fields never change.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_DEVICE_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_DEVICE_H_

#include <cstdint>

namespace xla_indexing::internal::proto {

struct ReplicaGroup {
  enum Field : uint32_t {
    kReplicaIds = 1,
  };
};

struct MeshAxesReplicaGroupList {
  enum Field : uint32_t {
    kMesh = 1,
    kAxes = 2,
  };
};

struct IotaReplicaGroupList {
  enum Field : uint32_t {
    kNumReplicaGroups = 1,
    kNumDevicesPerGroup = 2,
    kIotaReshapeDims = 3,
    kIotaTransposePerm = 4,
  };
};

struct CollectiveDeviceList {
  enum Field : uint32_t {
    kReplicaGroups = 1,
  };
};

struct SourceTarget {
  enum Field : uint32_t {
    kSource = 1,
    kTarget = 2,
  };
};

struct ParameterReplication {
  enum Field : uint32_t {
    kReplicatedAtLeafBuffers = 1,
  };
};

struct Mesh {
  enum Field : uint32_t {
    kAxes = 1,
    kDeviceIds = 2,
    kIotaTransform = 3,
  };
};

struct MeshAxis {
  enum Field : uint32_t {
    kName = 1,
    kSize = 2,
  };
};

struct IotaTransform {
  enum Field : uint32_t {
    kReshapeDims = 1,
    kTransposePerm = 2,
  };
};

struct AxisRef {
  enum Field : uint32_t {
    kMeshAxisIndex = 1,
    kSubAxisInfo = 2,
  };
};

struct SubAxis {
  enum Field : uint32_t {
    kPreSize = 1,
    kSize = 2,
  };
};

struct NamedSharding {
  enum Field : uint32_t {
    kMesh = 2,
    kDimShardings = 3,
    kReplicatedAxes = 4,
    kUnreducedAxes = 5,
    kMetadata = 6,
    kManualAxes = 7,
  };
};

struct DimensionSharding {
  enum Field : uint32_t {
    kAxes = 1,
    kIsClosed = 2,
  };
};

struct OpSharding {
  enum Field : uint32_t {
    kType = 1,
    kTileAssignmentDimensions = 3,
    kTileAssignmentDevices = 4,
    kTupleShardings = 5,
    kReplicateOnLastTileDim = 6,
    kMetadata = 7,
    kLastTileDims = 8,
    kIotaReshapeDims = 9,
    kIotaTransposePerm = 10,
    kIsShardGroup = 11,
    kShardGroupId = 12,
    kShardGroupType = 13,
    kNamedSharding = 14,
  };
};

}  // namespace xla_indexing::internal::proto

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_DEVICE_H_
