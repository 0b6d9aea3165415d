#include "xla_indexing/hlo/devices/device_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/text/parts/parse_attributes.h"

namespace xla_indexing::internal {
namespace {

struct MeshAxis {
  absl::string_view name;
  int64_t size = 0;
};

// The devices of a mesh stand in row-major order of its axes: all of them in the order of their
// ids, or in the order that `order` or `listed` says.
struct Mesh {
  std::vector<MeshAxis> axes;
  absl::flat_hash_map<absl::string_view, size_t> axis_by_name;
  int64_t device_count = 1;
  std::optional<IotaOrder> order;
  std::vector<int64_t> listed;
};

// The digit of an axis' coordinate that has `size` values and stands behind digits of `before`
// values in all. The whole axis: 1 before it.
struct AxisPart {
  size_t axis = 0;
  int64_t before = 1;
  int64_t size = 1;
  const char* position = nullptr;
};

// The id of a device, which was read at `start`: one of those that 64 bits count.
bool CheckDevice(Lexer& lexer, const char* start, int64_t device) {
  if (device < 0) return lexer.FailAt(start, "device ", device, " is negative");
  if (device < kInt64Max) return true;
  return lexer.FailAt(start, "device ", device, " would be one of more devices than 64 bits count");
}

// A device that is not among those seen before.
bool CheckNewDevice(Lexer& lexer, const char* start, int64_t device,
                    absl::flat_hash_set<int64_t>* seen) {
  if (!CheckDevice(lexer, start, device)) return false;
  if (seen->insert(device).second) return true;
  return lexer.FailAt(start, "device ", device, " is in two places");
}

// `[2,4]`, positive integers; their product.
bool ReadSizes(Lexer& lexer, IntegerList* sizes, int64_t* product) {
  *product = 1;
  return lexer.ReadList('[', ']', [&] {
    const char* const start = lexer.NextPosition();
    int64_t size = 0;
    if (!lexer.ReadInteger("a size", &size)) return false;
    if (size <= 0) return lexer.FailAt(start, "a size cannot be ", size);
    const std::optional<int64_t> next = CheckedMul(*product, size);
    if (!next) return lexer.FailAt(start, "the product of these sizes does not fit 64 bits");
    *product = *next;
    sizes->push_back(size);
    return true;
  });
}

// `[2,4]T(1,0)`, an order of so many devices.
bool ReadOrder(Lexer& lexer, int64_t device_count, IotaOrder* order) {
  const char* const start = lexer.NextPosition();
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, &sizes, &count)) return false;
  if (count != device_count) {
    return lexer.FailAt(start + 1, "this list has ", count, " devices, not ", device_count);
  }
  order->sizes.assign(sizes.begin(), sizes.end());
  if (!lexer.ConsumeRaw('T')) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      order->permutation.push_back(static_cast<int64_t>(i));
    }
    return true;
  }
  if (!lexer.Expect('(')) return false;
  const char* const permutation_start = lexer.position();
  std::vector<bool> seen(sizes.size(), false);
  do {
    int64_t dimension = 0;
    if (!lexer.ReadInteger("a dimension", &dimension)) return false;
    if (dimension < 0 || dimension >= static_cast<int64_t>(seen.size()) || seen[dimension]) break;
    seen[dimension] = true;
    order->permutation.push_back(dimension);
  } while (lexer.Consume(','));
  if (order->permutation.size() != seen.size()) {
    return lexer.FailAt(permutation_start, "this is no permutation of ", seen.size(),
                        " dimensions");
  }
  return lexer.Expect(')');
}

// `{{0,1},{2,3}}`.
bool ReadGroups(Lexer& lexer, ReplicaGroups* groups) {
  absl::flat_hash_set<int64_t> seen;
  const char* empty_group = nullptr;
  const auto read_group = [&] {
    const char* const start = lexer.NextPosition();
    IntegerList group;
    if (!ReadIntegers(lexer, &group)) return false;
    for (const int64_t device : group) {
      if (!CheckNewDevice(lexer, start, device, &seen)) return false;
    }
    if (group.empty()) empty_group = start;
    groups->lists.emplace_back(group.begin(), group.end());
    return true;
  };
  if (!lexer.ReadList('{', '}', read_group)) return false;
  if (groups->lists.empty()) return true;
  if (empty_group == nullptr) {
    groups->form = ReplicaGroups::Form::kLists;
    return true;
  }
  if (groups->lists.size() > 1) return lexer.FailAt(empty_group, "a group without devices");
  groups->lists.clear();
  return true;
}

// The name of an axis, in quotes or without.
bool ReadAxisName(Lexer& lexer, absl::string_view* name) {
  if (lexer.Peek() == '\'' || lexer.Peek() == '"') return lexer.ReadString(name);
  *name = lexer.ReadWord();
  return !name->empty() || lexer.FailExpected("the name of an axis");
}

// `([4,2]T(1,0))` or `(1,0,3,2)` after `device_ids=`.
bool ReadMeshDevices(Lexer& lexer, Mesh* mesh) {
  if (!lexer.Expect('(')) return false;
  if (lexer.Peek() == '[') {
    return ReadOrder(lexer, mesh->device_count, &mesh->order.emplace()) && lexer.Expect(')');
  }
  const char* const list_start = lexer.position();
  absl::flat_hash_set<int64_t> seen;
  const auto read_device = [&] {
    const char* const start = lexer.NextPosition();
    int64_t& device = mesh->listed.emplace_back();
    return lexer.ReadInteger("a device", &device) && CheckNewDevice(lexer, start, device, &seen);
  };
  if (!lexer.ReadSeparated(read_device)) return false;
  if (static_cast<int64_t>(mesh->listed.size()) != mesh->device_count) {
    return lexer.FailAt(list_start, "this list has ", mesh->listed.size(), " devices, not ",
                        mesh->device_count);
  }
  return lexer.Expect(')');
}

// `['x'=2,'y'=4]` after `mesh`, and `, device_ids=(..)` if that follows.
bool ReadMesh(Lexer& lexer, Mesh* mesh) {
  const auto read_axis = [&] {
    const char* const start = lexer.NextPosition();
    MeshAxis axis;
    if (!ReadAxisName(lexer, &axis.name) || !lexer.Expect('=') ||
        !lexer.ReadInteger("the size of an axis", &axis.size)) {
      return false;
    }
    if (axis.size <= 0) {
      return lexer.FailAt(start, "the size of an axis cannot be ", axis.size);
    }
    const std::optional<int64_t> count = CheckedMul(mesh->device_count, axis.size);
    if (!count) {
      return lexer.FailAt(start, "the number of devices of this mesh does not fit 64 bits");
    }
    mesh->device_count = *count;
    if (!mesh->axis_by_name.emplace(axis.name, mesh->axes.size()).second) {
      return lexer.FailAt(start, "axis '", axis.name, "' is there twice");
    }
    mesh->axes.push_back(axis);
    return true;
  };
  if (!lexer.ReadList('[', ']', read_axis)) return false;
  const char* const end = lexer.position();
  if (lexer.Consume(',') && lexer.ReadWord() == "device_ids" && lexer.Consume('=')) {
    return ReadMeshDevices(lexer, mesh);
  }
  lexer.SetPosition(end);
  return true;
}

// `{'x', 'y':(2)2}` after a mesh: its axes, or parts of them.
bool ReadAxes(Lexer& lexer, const Mesh& mesh, std::vector<AxisPart>* parts) {
  return lexer.ReadList('{', '}', [&] {
    const char* const start = lexer.NextPosition();
    absl::string_view name;
    if (!ReadAxisName(lexer, &name)) return false;
    const auto found = mesh.axis_by_name.find(name);
    if (found == mesh.axis_by_name.end()) {
      return lexer.FailAt(start, "the mesh has no axis '", name, "'");
    }
    const int64_t whole = mesh.axes[found->second].size;
    AxisPart part = {found->second, 1, whole, start};
    if (lexer.Consume(':')) {
      if (!lexer.Expect('(') || !lexer.ReadInteger("the size before the part", &part.before) ||
          !lexer.Expect(')') || !lexer.ReadInteger("the size of the part", &part.size)) {
        return false;
      }
      const std::optional<int64_t> product = CheckedMul(part.before, part.size);
      if (part.before <= 0 || part.size <= 0 || !product || whole % *product != 0) {
        return lexer.FailAt(start, "axis '", name, "' of size ", whole, " has no part (",
                            part.before, ")", part.size);
      }
    }
    parts->push_back(part);
    return true;
  });
}

// The order in which the devices of a mesh stand group after group, in groups along `parts` of its
// axes: every axis is cut where a part of it begins and ends, the parts come last.
bool OrderAlongAxes(Lexer& lexer, const Mesh& mesh, const std::vector<AxisPart>& parts,
                    IotaGroups* groups, IotaOrder* order) {
  std::vector<size_t> cuts;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size > 1) cuts.push_back(i);
  }
  std::sort(cuts.begin(), cuts.end(), [&](size_t a, size_t b) {
    return std::tie(parts[a].axis, parts[a].before) < std::tie(parts[b].axis, parts[b].before);
  });
  std::vector<int64_t> positions(parts.size(), -1);
  size_t next = 0;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int64_t axis_size = mesh.axes[axis].size;
    int64_t done = 1;  // the product of the digits of this axis so far
    const auto add_rest = [&](int64_t size) {
      if (size == 1) return;
      order->permutation.push_back(static_cast<int64_t>(order->sizes.size()));
      order->sizes.push_back(size);
    };
    for (; next < cuts.size() && parts[cuts[next]].axis == axis; ++next) {
      const AxisPart& part = parts[cuts[next]];
      if (part.before % done != 0) {
        return lexer.FailAt(part.position, "axis '", mesh.axes[axis].name,
                            "' is taken twice or cut in two ways");
      }
      add_rest(part.before / done);
      positions[cuts[next]] = static_cast<int64_t>(order->sizes.size());
      order->sizes.push_back(part.size);
      groups->group_size *= part.size;
      done = part.before * part.size;
    }
    add_rest(axis_size / done);
  }
  for (const int64_t position : positions) {
    if (position >= 0) order->permutation.push_back(position);
  }
  groups->group_count = mesh.device_count / groups->group_size;
  return true;
}

// The elements of `values`, as many as `order` has, in that order.
std::vector<int64_t> Ordered(const std::vector<int64_t>& values, const IotaOrder& order) {
  const size_t rank = order.sizes.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * order.sizes[d];
  std::vector<int64_t> ordered;
  ordered.reserve(values.size());
  std::vector<int64_t> index(rank, 0);  // by the dimensions of the result
  for (int64_t position = 0; ordered.size() < values.size();) {
    ordered.push_back(values[position]);
    for (size_t i = rank; i-- > 0;) {
      const int64_t d = order.permutation[i];
      position += strides[d];
      if (++index[i] < order.sizes[d]) break;
      position -= strides[d] * order.sizes[d];
      index[i] = 0;
    }
  }
  return ordered;
}

// The groups along axes of a mesh, after `mesh`.
bool ReadMeshGroups(Lexer& lexer, ReplicaGroups* groups) {
  Mesh mesh;
  std::vector<AxisPart> parts;
  IotaOrder along_axes;
  IotaGroups& iota = groups->iota;
  if (!ReadMesh(lexer, &mesh) || !ReadAxes(lexer, mesh, &parts) ||
      !OrderAlongAxes(lexer, mesh, parts, &iota, &along_axes)) {
    return false;
  }
  if (mesh.listed.empty()) {
    groups->form = ReplicaGroups::Form::kIota;
    if (mesh.order) iota.orders.push_back(*std::move(mesh.order));
    iota.orders.push_back(std::move(along_axes));
    return true;
  }
  groups->form = ReplicaGroups::Form::kLists;
  const std::vector<int64_t> devices = Ordered(mesh.listed, along_axes);
  for (auto group = devices.begin(); group != devices.end(); group += iota.group_size) {
    groups->lists.emplace_back(group, group + iota.group_size);
  }
  return true;
}

// `[4,2]<=[2,4]T(1,0)`.
bool ReadIotaGroups(Lexer& lexer, ReplicaGroups* groups) {
  const char* const start = lexer.NextPosition();
  if (lexer.Peek() != '[') return lexer.FailExpected("'{', '[' or 'mesh'");
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, &sizes, &count)) return false;
  if (sizes.size() != 2) {
    return lexer.FailAt(start,
                        "expected two sizes: the number of groups and that of their devices");
  }
  groups->form = ReplicaGroups::Form::kIota;
  groups->iota.group_count = sizes[0];
  groups->iota.group_size = sizes[1];
  return lexer.Expect("<=") && ReadOrder(lexer, count, &groups->iota.orders.emplace_back());
}

// `[2,2]0,1,2,3` or `[2,4]<=[8]` after `devices=`.
bool ReadTiles(Lexer& lexer) {
  const char* const start = lexer.position();
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, &sizes, &count)) return false;
  IotaOrder order;
  if (lexer.Consume("<=")) return ReadOrder(lexer, count, &order);
  int64_t listed = 0;
  const auto read_device = [&] {
    int64_t device = 0;
    ++listed;
    return lexer.ReadInteger("a device", &device);
  };
  if (!lexer.ReadSeparated(read_device)) return false;
  if (listed == count) return true;
  return lexer.FailAt(start, "there are ", count, " tiles and ", listed, " devices");
}

// What `read` gives for all of the text; errors call it `what`.
template <typename T>
absl::StatusOr<T> ParseAll(absl::string_view text, bool (*read)(Lexer&, T*), absl::string_view what,
                           absl::string_view end) {
  Lexer lexer(text);
  T value;
  if (read(lexer, &value) && !lexer.AtEnd()) lexer.FailExpected(end);
  if (!lexer.failed()) return value;
  return absl::InvalidArgumentError(absl::StrCat(what, " '", text, "': ", lexer.error_message()));
}

}  // namespace

bool ReadReplicaGroups(Lexer& lexer, ReplicaGroups* groups) {
  if (lexer.Peek() == '{') return ReadGroups(lexer, groups);
  return lexer.Consume("mesh") ? ReadMeshGroups(lexer, groups) : ReadIotaGroups(lexer, groups);
}

bool ReadSourceTargetPairs(Lexer& lexer, std::vector<SourceTargetPair>* pairs) {
  return lexer.ReadList('{', '}', [&] {
    const char* const start = lexer.NextPosition();
    IntegerList pair;
    if (!ReadIntegers(lexer, &pair)) return false;
    if (pair.size() != 2) {
      return lexer.FailAt(start, "expected a source and a target, found ", pair.size(), " devices");
    }
    for (const int64_t device : pair) {
      if (!CheckDevice(lexer, start, device)) return false;
    }
    pairs->push_back({pair[0], pair[1]});
    return true;
  });
}

bool CheckSharding(Lexer& lexer, absl::string_view text) {
  const char* const cursor = lexer.position();
  const char* const end = text.data() + text.size();
  lexer.SetPosition(text.data());
  while (lexer.position() < end) {
    const char c = lexer.PeekRaw();
    absl::string_view skipped;
    if (c == '"') {
      if (!lexer.ReadString(&skipped)) return false;
    } else if (!Lexer::IsNameStart(c)) {
      lexer.SetPosition(lexer.position() + 1);
    } else {
      const absl::string_view word = lexer.ReadWord();
      Mesh mesh;
      if (word == "devices" && lexer.ConsumeRaw('=') && !ReadTiles(lexer)) return false;
      if (word == "mesh" && !ReadMesh(lexer, &mesh)) return false;
    }
  }
  lexer.SetPosition(cursor);
  return true;
}

absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text) {
  return ParseAll(text, ReadReplicaGroups, "replica groups", "the end of the replica groups");
}

absl::StatusOr<std::vector<SourceTargetPair>> ParseSourceTargetPairs(absl::string_view text) {
  return ParseAll(text, ReadSourceTargetPairs, "source-target pairs", "the end of the pairs");
}

}  // namespace xla_indexing::internal
