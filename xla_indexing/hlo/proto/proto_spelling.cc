#include "xla_indexing/hlo/proto/proto_spelling.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/proto/proto_fields_device.h"
#include "xla_indexing/hlo/proto/proto_fields_instruction.h"
#include "xla_indexing/hlo/proto/proto_fields_module.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using IntegerVector = std::vector<int64_t>;

std::string Quoted(absl::string_view value) {
  return absl::StrCat("\"", absl::CEscape(value), "\"");
}

// A name in single quotes, as axes have it.
std::string AxisName(absl::string_view name) { return absl::StrCat("'", absl::CEscape(name), "'"); }

std::string Joined(const WireMessage& message, uint32_t number) {
  IntegerVector values;
  message.Integers(number, &values);
  return absl::StrJoin(values, ",");
}

std::string Braced(const WireMessage& message, uint32_t number) {
  return absl::StrCat("{", Joined(message, number), "}");
}

// `<=[2,4]T(1,0)`.
std::string IotaOrderText(const WireMessage& message, uint32_t sizes, uint32_t permutation) {
  IntegerVector dimensions;
  message.Integers(permutation, &dimensions);
  // A list of one dimension has one order.
  return absl::StrCat(
      "<=[", Joined(message, sizes), "]",
      dimensions.size() > 1 ? absl::StrCat("T(", absl::StrJoin(dimensions, ","), ")") : "");
}

// Adds `name=value` after a space.
void AddWord(absl::string_view name, absl::string_view value, std::string* text) {
  absl::StrAppend(text, text->empty() ? "" : " ", name, "=", value);
}

struct MetadataField {
  absl::string_view name;
  uint32_t number;
  bool is_text;
};

constexpr MetadataField kMetadataFields[] = {
    {"op_type", proto::OpMetadata::kOpType, true},
    {"op_name", proto::OpMetadata::kOpName, true},
    {"source_file", proto::OpMetadata::kSourceFile, true},
    {"source_line", proto::OpMetadata::kSourceLine, false},
    {"source_end_line", proto::OpMetadata::kSourceEndLine, false},
    {"source_column", proto::OpMetadata::kSourceColumn, false},
    {"source_end_column", proto::OpMetadata::kSourceEndColumn, false},
    {"profile_type", proto::OpMetadata::kProfileType, false},
    {"deduplicated_name", proto::OpMetadata::kDeduplicatedName, true},
    {"scheduling_name", proto::OpMetadata::kSchedulingName, true},
    {"stack_frame_id", proto::OpMetadata::kStackFrameId, false},
};

// The axes of a mesh: `['x'=2,'y'=4]`, and the order of its devices where it has one.
struct SpelledMesh {
  std::vector<std::string> axes;
  std::string text;
};

SpelledMesh SpellMesh(const WireMessage& mesh) {
  SpelledMesh spelled;
  std::vector<std::string> sizes;
  mesh.Messages(proto::Mesh::kAxes, "axes", [&](const WireMessage& axis, int64_t) {
    spelled.axes.push_back(AxisName(axis.Bytes(proto::MeshAxis::kName)));
    sizes.push_back(absl::StrCat(spelled.axes.back(), "=", axis.Integer(proto::MeshAxis::kSize)));
  });
  spelled.text = absl::StrCat("[", absl::StrJoin(sizes, ","), "]");
  IntegerVector devices;
  mesh.Integers(proto::Mesh::kDeviceIds, &devices);
  if (mesh.Has(proto::Mesh::kIotaTransform)) {
    mesh.Message(proto::Mesh::kIotaTransform, "iota_transform", [&](const WireMessage& order) {
      std::string text = IotaOrderText(order, proto::IotaTransform::kReshapeDims,
                                       proto::IotaTransform::kTransposePerm);
      absl::StrAppend(&spelled.text, ", device_ids=(", text.substr(2), ")");
    });
  } else if (!devices.empty()) {
    absl::StrAppend(&spelled.text, ", device_ids=(", absl::StrJoin(devices, ","), ")");
  }
  return spelled;
}

// `{'x', 'y':(2)2}`, the axes in a repeated field.
std::string SpellAxes(const WireMessage& message, uint32_t number, const SpelledMesh& mesh) {
  std::vector<std::string> axes;
  message.Messages(number, "axes", [&](const WireMessage& axis, int64_t) {
    const int64_t index = axis.Integer(proto::AxisRef::kMeshAxisIndex);
    if (index < 0 || index >= static_cast<int64_t>(mesh.axes.size())) {
      axis.source().Fail(absl::StrCat("the mesh has no axis ", index));
      return;
    }
    std::string& text = axes.emplace_back(mesh.axes[index]);
    axis.Message(proto::AxisRef::kSubAxisInfo, "sub_axis_info", [&](const WireMessage& part) {
      absl::StrAppend(&text, ":(", part.Integer(proto::SubAxis::kPreSize), ")",
                      part.Integer(proto::SubAxis::kSize));
    });
  });
  return absl::StrCat("{", absl::StrJoin(axes, ", "), "}");
}

// ` metadata={..}` of one, ` metadata={{..}, {..}}` of several.
std::string ShardingMetadata(const WireMessage& message, uint32_t number) {
  std::vector<std::string> all;
  message.Messages(number, "metadata", [&](const WireMessage& metadata, int64_t) {
    const std::string text = SpellMetadata(metadata);
    all.push_back(text.empty() ? "{}" : text);
  });
  if (all.empty()) return "";
  if (all.size() == 1) return absl::StrCat(" metadata=", all[0]);
  return absl::StrCat(" metadata={", absl::StrJoin(all, ", "), "}");
}

std::string SpellNamedSharding(const WireMessage& message) {
  using Named = proto::NamedSharding;
  SpelledMesh mesh;
  message.Message(Named::kMesh, "mesh", [&](const WireMessage& m) { mesh = SpellMesh(m); });
  std::vector<std::string> dimensions;
  message.Messages(Named::kDimShardings, "dim_shardings",
                   [&](const WireMessage& dimension, int64_t) {
                     std::string text = SpellAxes(dimension, proto::DimensionSharding::kAxes, mesh);
                     if (!dimension.Bool(proto::DimensionSharding::kIsClosed)) {
                       // `{'x', ?}`: more axes may be added.
                       text.pop_back();
                       absl::StrAppend(&text, text.size() > 1 ? ", ?}" : "?}");
                     }
                     dimensions.push_back(std::move(text));
                   });
  std::string text = absl::StrCat("{mesh", mesh.text, ", [", absl::StrJoin(dimensions, ", "), "]");
  struct Role {
    uint32_t number;
    absl::string_view name;
  };
  for (const Role& role :
       {Role{Named::kReplicatedAxes, "replicated"}, Role{Named::kUnreducedAxes, "unreduced"},
        Role{Named::kManualAxes, "manual"}}) {
    if (!message.Has(role.number)) continue;
    absl::StrAppend(&text, ", ", role.name, "=", SpellAxes(message, role.number, mesh));
  }
  return absl::StrCat(text, ShardingMetadata(message, Named::kMetadata), "}");
}

// OpSharding::Type.
enum ShardingType : int64_t {
  kReplicated = 0,
  kMaximal = 1,
  kTupleOfShardings = 2,
  kTiled = 3,
  kManual = 4,
  kUnknown = 5,
  kUnreduced = 6,
};

// What an element is called that is not tiled.
absl::string_view ShardingTypeName(int64_t type) {
  switch (type) {
    case kReplicated:
      return "replicated";
    case kMaximal:
      return "maximal";
    case kManual:
      return "manual";
    case kUnknown:
      return "unknown";
    case kUnreduced:
      return "unreduced";
    default:
      return "";
  }
}

std::string SpellTiles(const WireMessage& message) {
  using Sharding = proto::OpSharding;
  std::string text =
      absl::StrCat("devices=[", Joined(message, Sharding::kTileAssignmentDimensions), "]");
  if (message.Has(Sharding::kIotaReshapeDims)) {
    absl::StrAppend(
        &text, IotaOrderText(message, Sharding::kIotaReshapeDims, Sharding::kIotaTransposePerm));
  } else {
    absl::StrAppend(&text, Joined(message, Sharding::kTileAssignmentDevices));
  }
  IntegerVector last;
  message.Integers(Sharding::kLastTileDims, &last);
  const bool replicates = message.Bool(Sharding::kReplicateOnLastTileDim) ||
                          (last.size() == 1 && last[0] == kReplicated);
  if (replicates) {
    absl::StrAppend(&text, " last_tile_dim_replicate");
  } else if (!last.empty()) {
    absl::StrAppend(&text, " last_tile_dims={",
                    absl::StrJoin(last, ", ",
                                  [&](std::string* out, int64_t type) {
                                    const absl::string_view name = ShardingTypeName(type);
                                    if (name.empty()) message.source().Fail("no type of sharding");
                                    absl::StrAppend(out, name);
                                  }),
                    "}");
  }
  return text;
}

std::string SpellShardingElement(const WireMessage& message) {
  using Sharding = proto::OpSharding;
  std::string named;
  message.Message(Sharding::kNamedSharding, "named_sharding",
                  [&](const WireMessage& m) { named = SpellNamedSharding(m); });
  if (!named.empty()) return named;
  const int64_t type = message.Integer(Sharding::kType);
  if (type == kTupleOfShardings) {
    std::vector<std::string> elements;
    message.Messages(Sharding::kTupleShardings, "tuple_shardings",
                     [&](const WireMessage& element, int64_t) {
                       elements.push_back(SpellShardingElement(element));
                     });
    return absl::StrCat("{", absl::StrJoin(elements, ", "), "}");
  }
  std::string text = type == kTiled ? SpellTiles(message) : std::string(ShardingTypeName(type));
  if (text.empty()) message.source().Fail(absl::StrCat("no sharding has the type ", type));
  if (type == kMaximal) {
    absl::StrAppend(&text, " device=", Joined(message, Sharding::kTileAssignmentDevices));
  }
  if (message.Bool(Sharding::kIsShardGroup)) {
    absl::StrAppend(&text,
                    message.Integer(Sharding::kShardGroupType) == 0 ? " shard_as " : " shard_like ",
                    message.Integer(Sharding::kShardGroupId));
  }
  return absl::StrCat("{", text, ShardingMetadata(message, Sharding::kMetadata), "}");
}

std::string SpellGroups(const WireMessage& message, uint32_t number) {
  std::vector<std::string> groups;
  message.Messages(number, "replica_groups", [&](const WireMessage& group, int64_t) {
    groups.push_back(Braced(group, proto::ReplicaGroup::kReplicaIds));
  });
  return absl::StrCat("{", absl::StrJoin(groups, ","), "}");
}

// The spelling of where each array of a result comes from, by its index.
using OriginalArrays = std::map<IntegerVector, std::string>;

// `({"a" {0}}, {"b"})`; `index` is that of `shape` in the result.
void AppendOriginalArrays(const OriginalArrays& arrays, const Shape& shape, IntegerVector* index,
                          std::string* text) {
  if (!shape.IsTuple()) {
    const auto found = arrays.find(*index);
    absl::StrAppend(text, found == arrays.end() ? "{}" : found->second);
    return;
  }
  text->push_back('(');
  const auto size = static_cast<int64_t>(shape.tuple_elements().size());
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) text->append(", ");
    index->push_back(i);
    AppendOriginalArrays(arrays, shape.tuple_element(i), index, text);
    index->pop_back();
  }
  text->push_back(')');
}

}  // namespace

std::string SpellMetadata(const WireMessage& op_metadata) {
  std::string text;
  for (const MetadataField& field : kMetadataFields) {
    if (field.number == proto::OpMetadata::kProfileType) {
      const std::string types = Joined(op_metadata, field.number);
      if (!types.empty()) AddWord(field.name, absl::StrCat("{", types, "}"), &text);
    } else if (field.is_text) {
      const absl::string_view value = op_metadata.Bytes(field.number);
      if (!value.empty()) AddWord(field.name, Quoted(value), &text);
    } else if (const int64_t value = op_metadata.Integer(field.number); value != 0) {
      AddWord(field.name, absl::StrCat(value), &text);
    }
  }
  return text.empty() ? "" : absl::StrCat("{", text, "}");
}

std::string SpellSharding(const WireMessage& op_sharding) {
  std::string text = SpellShardingElement(op_sharding);
  if (op_sharding.source().failed()) return text;
  Lexer lexer(text);
  if (!CheckSharding(lexer, text)) {
    op_sharding.source().Fail(absl::StrCat("sharding ", text, ": ", lexer.error_message()));
  }
  return text;
}

std::string SpellReplicaGroups(const WireMessage& instruction) {
  using Instruction = proto::Instruction;
  // Messages of older versions have the list itself.
  std::string text = SpellGroups(instruction, Instruction::kReplicaGroups);
  instruction.Message(Instruction::kCollectiveDeviceList, "collective_device_list",
                      [&](const WireMessage& list) {
                        text = SpellGroups(list, proto::CollectiveDeviceList::kReplicaGroups);
                      });
  instruction.Message(Instruction::kIotaCollectiveDeviceList, "iota_collective_device_list",
                      [&](const WireMessage& list) {
                        using Iota = proto::IotaReplicaGroupList;
                        text = absl::StrCat(
                            "[", list.Integer(Iota::kNumReplicaGroups), ",",
                            list.Integer(Iota::kNumDevicesPerGroup), "]",
                            IotaOrderText(list, Iota::kIotaReshapeDims, Iota::kIotaTransposePerm));
                      });
  instruction.Message(Instruction::kMeshAxesReplicaGroupList, "mesh_axes_replica_group_list",
                      [&](const WireMessage& list) {
                        SpelledMesh mesh;
                        list.Message(proto::MeshAxesReplicaGroupList::kMesh, "mesh",
                                     [&](const WireMessage& m) { mesh = SpellMesh(m); });
                        text = absl::StrCat(
                            "mesh", mesh.text, " ",
                            SpellAxes(list, proto::MeshAxesReplicaGroupList::kAxes, mesh));
                      });
  if (instruction.source().failed()) return text;
  if (const auto groups = ParseReplicaGroups(text); !groups.ok()) {
    instruction.source().Fail(groups.status().message());
  }
  return text;
}

std::string SpellSourceTargetPairs(const WireMessage& instruction) {
  std::vector<std::string> pairs;
  instruction.Messages(
      proto::Instruction::kSourceTargetPairs, "source_target_pairs",
      [&](const WireMessage& pair, int64_t) {
        pairs.push_back(absl::StrCat("{", pair.Integer(proto::SourceTarget::kSource), ",",
                                     pair.Integer(proto::SourceTarget::kTarget), "}"));
      });
  std::string text = absl::StrCat("{", absl::StrJoin(pairs, ","), "}");
  if (instruction.source().failed()) return text;
  if (const auto parsed = ParseSourceTargetPairs(text); !parsed.ok()) {
    instruction.source().Fail(parsed.status().message());
  }
  return text;
}

std::string SpellOutputToOperandAliasing(const WireMessage& instruction) {
  std::vector<std::string> pairs;
  instruction.Messages(
      proto::Instruction::kOutputOperandAliasing, "output_operand_aliasing",
      [&](const WireMessage& pair, int64_t) {
        using Aliasing = proto::OutputOperandAliasing;
        pairs.push_back(absl::StrCat(Braced(pair, Aliasing::kOutputShapeIndex), ": (",
                                     pair.Integer(Aliasing::kOperandIndex), ", ",
                                     Braced(pair, Aliasing::kOperandShapeIndex), ")"));
      });
  return absl::StrCat("{", absl::StrJoin(pairs, ", "), "}");
}

std::string SpellConfig(absl::string_view config) {
  Lexer lexer(config);
  absl::string_view dictionary;
  const bool is_dictionary = !config.empty() && config.front() == '{' &&
                             lexer.ReadBraces(&dictionary) && dictionary.size() == config.size();
  return is_dictionary ? std::string(config) : Quoted(config);
}

std::string SpellFrontendAttributes(const WireMessage& frontend_attributes) {
  // The last of several values for one name counts.
  std::map<absl::string_view, absl::string_view> sorted;
  frontend_attributes.Messages(
      proto::FrontendAttributes::kMap, "map", [&](const WireMessage& entry, int64_t) {
        sorted[entry.Bytes(proto::MapEntry::kKey)] = entry.Bytes(proto::MapEntry::kValue);
      });
  return absl::StrCat("{",
                      absl::StrJoin(sorted, ",",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(out, entry.first, "=",
                                                      SpellConfig(entry.second));
                                    }),
                      "}");
}

std::string SpellOriginalValue(const WireMessage& original_value, const Shape& shape) {
  using Value = proto::OriginalValue;
  if (original_value.Bool(Value::kIsSyntheticCall)) return "{[synthetic_call]}";
  OriginalArrays arrays;
  original_value.Messages(Value::kElements, "elements", [&](const WireMessage& element, int64_t) {
    using Element = proto::OriginalValueElement;
    IntegerVector index;
    element.Integers(Element::kShapeIndex, &index);
    element.Message(Element::kOriginalArray, "original_array", [&](const WireMessage& array) {
      using Array = proto::OriginalArray;
      const std::string within = Joined(array, Array::kShapeIndex);
      arrays[index] = absl::StrCat("{", Quoted(array.Bytes(Array::kInstructionName)),
                                   within.empty() ? "" : absl::StrCat(" {", within, "}"), "}");
    });
  });
  IntegerVector index;
  std::string text = "{";
  AppendOriginalArrays(arrays, shape, &index, &text);
  return absl::StrCat(text, "}");
}

std::string SpellInputOutputAlias(const WireMessage& input_output_alias) {
  std::vector<std::string> entries;
  input_output_alias.Messages(
      proto::InputOutputAlias::kEntries, "entries", [&](const WireMessage& entry, int64_t) {
        using Entry = proto::AliasEntry;
        constexpr int64_t kMustAlias = 2;
        entries.push_back(absl::StrCat(
            Braced(entry, Entry::kOutputShapeIndex), ": (", entry.Integer(Entry::kParameterNumber),
            ", ", Braced(entry, Entry::kParameterShapeIndex),
            entry.Integer(Entry::kKind) == kMustAlias ? ", must-alias" : ", may-alias", ")"));
      });
  return entries.empty() ? "" : absl::StrCat("{ ", absl::StrJoin(entries, ", "), " }");
}

std::string SpellBufferDonor(const WireMessage& buffer_donor) {
  std::vector<std::string> entries;
  buffer_donor.Messages(
      proto::BufferDonor::kEntries, "entries", [&](const WireMessage& entry, int64_t) {
        using Entry = proto::BufferDonorEntry;
        entries.push_back(absl::StrCat("(", entry.Integer(Entry::kParameterNumber), ", ",
                                       Braced(entry, Entry::kParameterShapeIndex), ")"));
      });
  return entries.empty() ? "" : absl::StrCat("{ ", absl::StrJoin(entries, ", "), " }");
}

std::string SpellProgramShape(const WireMessage& program_shape) {
  std::string text = "{(";
  program_shape.Messages(proto::ProgramShape::kParameters, "parameters",
                         [&](const WireMessage& parameter, int64_t i) {
                           if (i > 0) text += ", ";
                           ReadShapeProto(parameter).AppendTo(&text);
                         });
  text += ")->";
  Shape result;
  program_shape.Message(proto::ProgramShape::kResult, "result",
                        [&](const WireMessage& shape) { result = ReadShapeProto(shape); });
  result.AppendTo(&text);
  return absl::StrCat(text, "}");
}

std::string SpellStackFrameTables(const WireMessage& stack_frame_index) {
  using Index = proto::StackFrameIndex;
  if (!stack_frame_index.Has(Index::kStackFrames)) return "";
  std::string text;
  const auto names = [&](absl::string_view table, uint32_t number) {
    absl::StrAppend(&text, table, "\n");
    int64_t id = 0;
    stack_frame_index.Texts(number, [&](absl::string_view name) {
      absl::StrAppend(&text, ++id, " ", Quoted(name), "\n");
    });
    text += "\n";
  };
  names("FileNames", Index::kFileNames);
  names("FunctionNames", Index::kFunctionNames);
  text += "FileLocations\n";
  stack_frame_index.Messages(
      Index::kFileLocations, "file_locations", [&](const WireMessage& location, int64_t i) {
        using Location = proto::FileLocation;
        absl::StrAppend(&text, i + 1, " {file_name_id=", location.Integer(Location::kFileNameId),
                        " function_name_id=", location.Integer(Location::kFunctionNameId));
        absl::StrAppend(&text, " line=", location.Integer(Location::kLine),
                        " end_line=", location.Integer(Location::kEndLine),
                        " column=", location.Integer(Location::kColumn),
                        " end_column=", location.Integer(Location::kEndColumn), "}\n");
      });
  text += "\nStackFrames";
  stack_frame_index.Messages(
      Index::kStackFrames, "stack_frames", [&](const WireMessage& frame, int64_t i) {
        using Frame = proto::StackFrame;
        const int64_t parent = frame.Integer(Frame::kParentFrameId);
        // Text counts parents from 1 where there is none.
        absl::StrAppend(&text, "\n", i + 1,
                        " {file_location_id=", frame.Integer(Frame::kFileLocationId),
                        " parent_frame_id=", parent < INT32_MAX ? parent + 1 : 0, "}");
      });
  return text;
}

}  // namespace xla_indexing::internal
