#include "xla_indexing/hlo/proto/proto_spelling.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/parts/parse_metadata.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using IntegerVector = std::vector<int64_t>;

std::string Quoted(absl::string_view value) {
  return absl::StrCat("\"", absl::CEscape(value), "\"");
}

// A name in single quotes, as axes have it.
std::string AxisName(absl::string_view name) { return absl::StrCat("'", absl::CEscape(name), "'"); }

// The integers of a repeated field, with commas between them.
std::string Joined(const WireMessage& message, ProtoField field) {
  IntegerVector values;
  message.Integers(field, &values);
  return absl::StrJoin(values, ",");
}

std::string Braced(const WireMessage& message, ProtoField field) {
  return absl::StrCat("{", Joined(message, field), "}");
}

// `<=[2,4]T(1,0)`.
std::string IotaOrderText(const WireMessage& message, ProtoField sizes, ProtoField permutation) {
  IntegerVector dimensions;
  message.Integers(permutation, &dimensions);
  // A list of one dimension has one order.
  return absl::StrCat(
      "<=[", Joined(message, sizes), "]",
      dimensions.size() > 1 ? absl::StrCat("T(", absl::StrJoin(dimensions, ","), ")") : "");
}

// The axes of a mesh: `['x'=2,'y'=4]`, and the order of its devices where it has one.
struct SpelledMesh {
  std::vector<std::string> axes;
  std::string text;
};

// The mesh in a field.
SpelledMesh SpellMesh(const WireMessage& message, ProtoField field) {
  SpelledMesh spelled;
  message.Message(field, [&](const WireMessage& mesh) {
    const std::string axes = SpellEach(mesh, {1, "axes"}, ",", [&](const WireMessage& axis) {
      spelled.axes.push_back(AxisName(axis.Bytes({1, "name"})));
      return absl::StrCat(spelled.axes.back(), "=", axis.Integer({2, "size"}));
    });
    spelled.text = absl::StrCat("[", axes, "]");
    std::string devices = Joined(mesh, {2, "device_ids"});
    mesh.Message({3, "iota_transform"}, [&](const WireMessage& order) {
      devices = IotaOrderText(order, {1, "reshape_dims"}, {2, "transpose_perm"}).substr(2);
    });
    if (!devices.empty()) absl::StrAppend(&spelled.text, ", device_ids=(", devices, ")");
  });
  return spelled;
}

// `{'x', 'y':(2)2}`, the axes in a repeated field.
std::string SpellAxes(const WireMessage& message, ProtoField field, const SpelledMesh& mesh) {
  const std::string axes = SpellEach(message, field, ", ", [&](const WireMessage& axis) {
    const int64_t index = axis.Integer({1, "mesh_axis_index"});
    if (index < 0 || index >= static_cast<int64_t>(mesh.axes.size())) {
      return axis.Fail<std::string>("the mesh has no axis ", index);
    }
    std::string text = mesh.axes[index];
    axis.Message({2, "sub_axis_info"}, [&](const WireMessage& part) {
      absl::StrAppend(&text, ":(", part.Integer({1, "pre_size"}), ")", part.Integer({2, "size"}));
    });
    return text;
  });
  return absl::StrCat("{", axes, "}");
}

// ` metadata={..}` of one, ` metadata={{..}, {..}}` of several.
std::string ShardingMetadata(const WireMessage& message, ProtoField field) {
  int64_t count = 0;
  const std::string all = SpellEach(message, field, ", ", [&](const WireMessage& metadata) {
    ++count;
    const std::string text = SpellMetadata(metadata);
    return text.empty() ? "{}" : text;
  });
  if (count == 0) return "";
  return count == 1 ? absl::StrCat(" metadata=", all) : absl::StrCat(" metadata={", all, "}");
}

std::string SpellNamedSharding(const WireMessage& message) {
  const SpelledMesh mesh = SpellMesh(message, {2, "mesh"});
  const std::string dimensions =
      SpellEach(message, {3, "dim_shardings"}, ", ", [&](const WireMessage& dimension) {
        std::string text = SpellAxes(dimension, {1, "axes"}, mesh);
        if (dimension.Bool({2, "is_closed"})) return text;
        // `{'x', ?}`: more axes may be added.
        text.pop_back();
        return absl::StrCat(text, text.size() > 1 ? ", ?}" : "?}");
      });
  std::string text = absl::StrCat("{mesh", mesh.text, ", [", dimensions, "]");
  const auto add_axes = [&](absl::string_view role, ProtoField field) {
    if (!message.Has(field)) return;
    absl::StrAppend(&text, ", ", role, "=", SpellAxes(message, field, mesh));
  };
  add_axes("replicated", {4, "replicated_axes"});
  add_axes("unreduced", {5, "unreduced_axes"});
  add_axes("manual", {7, "manual_axes"});
  return absl::StrCat(text, ShardingMetadata(message, {6, "metadata"}), "}");
}

// OpSharding::Type.
enum ShardingType : int64_t { kReplicated = 0, kMaximal = 1, kTuple = 2, kTiled = 3 };

// What an element is called that is not tiled.
absl::string_view ShardingTypeName(int64_t type) {
  constexpr absl::string_view kNames[] = {"replicated", "maximal", "",         "",
                                          "manual",     "unknown", "unreduced"};
  return type >= 0 && type < static_cast<int64_t>(std::size(kNames)) ? kNames[type] : "";
}

std::string SpellTiles(const WireMessage& message) {
  std::string text = absl::StrCat(
      "devices=[", Joined(message, {3, "tile_assignment_dimensions"}), "]",
      message.Has({9, "iota_reshape_dims"})
          ? IotaOrderText(message, {9, "iota_reshape_dims"}, {10, "iota_transpose_perm"})
          : Joined(message, {4, "tile_assignment_devices"}));
  IntegerVector last;
  message.Integers({8, "last_tile_dims"}, &last);
  if (message.Bool({6, "replicate_on_last_tile_dim"}) ||
      (last.size() == 1 && last[0] == kReplicated)) {
    return absl::StrCat(text, " last_tile_dim_replicate");
  }
  if (last.empty()) return text;
  const auto append_name = [&](std::string* out, int64_t type) {
    const absl::string_view name = ShardingTypeName(type);
    if (name.empty()) message.Fail("no type of sharding");
    absl::StrAppend(out, name);
  };
  return absl::StrCat(text, " last_tile_dims={", absl::StrJoin(last, ", ", append_name), "}");
}

std::string SpellShardingElement(const WireMessage& message) {
  std::string named;
  message.Message({14, "named_sharding"},
                  [&](const WireMessage& m) { named = SpellNamedSharding(m); });
  if (!named.empty()) return named;
  const int64_t type = message.Integer({1, "type"});
  if (type == kTuple) {
    return absl::StrCat("{", SpellEach(message, {5, "tuple_shardings"}, ", ", SpellShardingElement),
                        "}");
  }
  std::string text = type == kTiled ? SpellTiles(message) : std::string(ShardingTypeName(type));
  if (text.empty()) message.Fail("no sharding has the type ", type);
  if (type == kMaximal) {
    absl::StrAppend(&text, " device=", Joined(message, {4, "tile_assignment_devices"}));
  }
  if (message.Bool({11, "is_shard_group"})) {
    absl::StrAppend(&text,
                    message.Integer({13, "shard_group_type"}) == 0 ? " shard_as " : " shard_like ",
                    message.Integer({12, "shard_group_id"}));
  }
  return absl::StrCat("{", text, ShardingMetadata(message, {7, "metadata"}), "}");
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

void CheckReadsBack(absl::string_view text, ProtoSource& source) {
  Lexer lexer(text);
  absl::string_view unused;
  if (text.empty() || text.front() != '{' || (lexer.ReadBraces(&unused) && lexer.AtEnd())) return;
  source.Fail("'", Shown(text), "' cannot be written as HLO text: ",
              lexer.failed() ? lexer.error_message() : "its braces close early");
}

std::string SpellMetadata(const WireMessage& op_metadata) {
  std::string text;
  const auto add = [&](const char* name, const auto&... value) {
    absl::StrAppend(&text, text.empty() ? "{" : " ", name, "=", value...);
  };
  for (const auto& [name, number, kept_text, kept_integer] : kMetadataFields) {
    const ProtoField field = {number, name};
    if (!op_metadata.Has(field)) continue;
    if (kept_text != nullptr) {
      const absl::string_view value = op_metadata.Bytes(field);
      if (!value.empty()) add(name, Quoted(value));
    } else if (kept_integer != nullptr) {
      if (const int64_t value = op_metadata.Integer(field); value != 0) add(name, value);
    } else if (const std::string list = Joined(op_metadata, field); !list.empty()) {
      add(name, "{", list, "}");
    }
  }
  if (!text.empty()) text += '}';
  return text;
}

std::string SpellSharding(const WireMessage& op_sharding) {
  std::string text = SpellShardingElement(op_sharding);
  if (op_sharding.source().failed()) return text;
  Lexer lexer(text);
  if (!CheckSharding(lexer, text)) {
    op_sharding.Fail("sharding ", text, ": ", lexer.error_message());
  }
  return text;
}

std::string SpellReplicaGroups(const WireMessage& instruction) {
  const auto spell_list = [](const WireMessage& group) {
    return Braced(group, {1, "replica_ids"});
  };
  const auto spell_lists = [&](const WireMessage& message, ProtoField field) {
    return absl::StrCat("{", SpellEach(message, field, ",", spell_list), "}");
  };
  // Messages of older versions have the list itself.
  std::string text = spell_lists(instruction, {49, "replica_groups"});
  instruction.Message({87, "collective_device_list"}, [&](const WireMessage& list) {
    text = spell_lists(list, {1, "replica_groups"});
  });
  instruction.Message({92, "iota_collective_device_list"}, [&](const WireMessage& list) {
    text = absl::StrCat("[", list.Integer({1, "num_replica_groups"}), ",",
                        list.Integer({2, "num_devices_per_group"}), "]",
                        IotaOrderText(list, {3, "iota_reshape_dims"}, {4, "iota_transpose_perm"}));
  });
  instruction.Message({93, "mesh_axes_replica_group_list"}, [&](const WireMessage& list) {
    const SpelledMesh mesh = SpellMesh(list, {1, "mesh"});
    text = absl::StrCat("mesh", mesh.text, " ", SpellAxes(list, {2, "axes"}, mesh));
  });
  if (instruction.source().failed()) return text;
  if (const auto groups = ParseReplicaGroups(text); !groups.ok()) {
    instruction.Fail(groups.status().message());
  }
  return text;
}

std::string SpellSourceTargetPairs(const WireMessage& instruction) {
  std::string text =
      absl::StrCat("{",
                   SpellEach(instruction, {52, "source_target_pairs"}, ",",
                             [](const WireMessage& pair) {
                               return absl::StrCat("{", pair.Integer({1, "source"}), ",",
                                                   pair.Integer({2, "target"}), "}");
                             }),
                   "}");
  if (instruction.source().failed()) return text;
  if (const auto parsed = ParseSourceTargetPairs(text); !parsed.ok()) {
    instruction.Fail(parsed.status().message());
  }
  return text;
}

std::string SpellOutputToOperandAliasing(const WireMessage& instruction) {
  const std::string pairs =
      SpellEach(instruction, {74, "output_operand_aliasing"}, ", ", [](const WireMessage& pair) {
        return absl::StrCat(Braced(pair, {1, "output_shape_index"}), ": (",
                            pair.Integer({2, "operand_index"}), ", ",
                            Braced(pair, {3, "operand_shape_index"}), ")");
      });
  return absl::StrCat("{", pairs, "}");
}

std::string SpellConfig(absl::string_view config) {
  Lexer lexer(config);
  absl::string_view dictionary;
  const bool is_dictionary = !config.empty() && config.front() == '{' &&
                             lexer.ReadBraces(&dictionary) && dictionary.size() == config.size();
  return is_dictionary ? std::string(config) : Quoted(config);
}

std::string SpellFrontendAttributes(const WireMessage& frontend_attributes) {
  if (!frontend_attributes.Has({1, "map"})) return "";
  // The last of several values for one name counts.
  std::map<absl::string_view, absl::string_view> sorted;
  frontend_attributes.Messages({1, "map"}, [&](const WireMessage& entry, int64_t) {
    sorted[entry.Bytes({1, "key"})] = entry.Bytes({2, "value"});
  });
  const auto append = [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, "=", SpellConfig(entry.second));
  };
  return absl::StrCat("{", absl::StrJoin(sorted, ",", append), "}");
}

std::string SpellOriginalValue(const WireMessage& original_value, const Shape& shape) {
  if (original_value.Bool({2, "is_synthetic_call"})) return "{[synthetic_call]}";
  OriginalArrays arrays;
  original_value.Messages({1, "elements"}, [&](const WireMessage& element, int64_t) {
    IntegerVector index;
    element.Integers({1, "shape_index"}, &index);
    element.Message({2, "original_array"}, [&](const WireMessage& array) {
      const std::string within = Joined(array, {2, "shape_index"});
      arrays[index] = absl::StrCat("{", Quoted(array.Bytes({1, "instruction_name"})),
                                   within.empty() ? "" : absl::StrCat(" {", within, "}"), "}");
    });
  });
  IntegerVector index;
  std::string text = "{";
  AppendOriginalArrays(arrays, shape, &index, &text);
  return absl::StrCat(text, "}");
}

std::string SpellInputOutputAlias(const WireMessage& input_output_alias) {
  const std::string entries =
      SpellEach(input_output_alias, {1, "entries"}, ", ", [](const WireMessage& entry) {
        constexpr int64_t kMustAlias = 2;
        return absl::StrCat(
            Braced(entry, {1, "output_shape_index"}), ": (", entry.Integer({2, "parameter_number"}),
            ", ", Braced(entry, {3, "parameter_shape_index"}),
            entry.Integer({4, "kind"}) == kMustAlias ? ", must-alias" : ", may-alias", ")");
      });
  return entries.empty() ? "" : absl::StrCat("{ ", entries, " }");
}

std::string SpellBufferDonor(const WireMessage& buffer_donor) {
  const std::string entries =
      SpellEach(buffer_donor, {1, "entries"}, ", ", [](const WireMessage& entry) {
        return absl::StrCat("(", entry.Integer({1, "parameter_number"}), ", ",
                            Braced(entry, {2, "parameter_shape_index"}), ")");
      });
  return entries.empty() ? "" : absl::StrCat("{ ", entries, " }");
}

std::string SpellShape(const WireMessage& shape) { return ReadShapeProto(shape).ToString(); }

std::string SpellProgramShape(const WireMessage& program_shape) {
  std::string text =
      absl::StrCat("{(", SpellEach(program_shape, {1, "parameters"}, ", ", SpellShape), ")->");
  Shape result;
  program_shape.Message({2, "result"},
                        [&](const WireMessage& shape) { result = ReadShapeProto(shape); });
  result.AppendTo(&text);
  return absl::StrCat(text, "}");
}

std::string SpellStackFrameTables(const WireMessage& stack_frame_index) {
  if (!stack_frame_index.Has({4, "stack_frames"})) return "";
  std::string text;
  const auto add_names = [&](absl::string_view table, ProtoField field) {
    absl::StrAppend(&text, table, "\n");
    int64_t id = 0;
    stack_frame_index.Texts(field, [&](absl::string_view name) {
      absl::StrAppend(&text, ++id, " ", Quoted(name), "\n");
    });
    text += "\n";
  };
  add_names("FileNames", {1, "file_names"});
  add_names("FunctionNames", {2, "function_names"});
  text += "FileLocations\n";
  stack_frame_index.Messages({3, "file_locations"}, [&](const WireMessage& location, int64_t i) {
    absl::StrAppend(&text, i + 1);
    for (const LocationField& field : kLocationFields) {
      absl::StrAppend(&text, &field == kLocationFields ? " {" : " ", field.name, "=",
                      location.Integer({field.number, field.name}));
    }
    text += "}\n";
  });
  text += "\nStackFrames";
  stack_frame_index.Messages({4, "stack_frames"}, [&](const WireMessage& frame, int64_t i) {
    const int64_t parent = frame.Integer({2, "parent_frame_id"});
    // Text counts parents from 1 where there is none.
    absl::StrAppend(&text, "\n", i + 1,
                    " {file_location_id=", frame.Integer({1, "file_location_id"}),
                    " parent_frame_id=", parent < INT32_MAX ? parent + 1 : 0, "}");
  });
  return text;
}

}  // namespace xla_indexing::internal
