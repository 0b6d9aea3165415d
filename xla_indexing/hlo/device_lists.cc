#include "xla_indexing/hlo/device_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/parse_attributes.h"

namespace xla_indexing {
namespace {

struct MeshAxis {
  absl::string_view name;
  int64_t size = 0;
};

struct Mesh {
  std::vector<MeshAxis> axes;
  absl::flat_hash_map<absl::string_view, size_t> places;  // by name
  // It says more than its axes.
  bool says_more = false;
};

// The digit of an axis' coordinate that has `size` values and stands behind digits of `before`
// values in all. The whole axis: 1 before it.
struct AxisPart {
  size_t axis = 0;
  int64_t before = 1;
  int64_t size = 1;
  const char* position = nullptr;
};

// Positive integers with commas between them, up to `close`; their product.
bool ReadSizes(Lexer& lexer, char close, IntegerList* sizes, int64_t* product) {
  *product = 1;
  if (lexer.Consume(close)) return true;
  do {
    lexer.SkipSpace();
    const char* const start = lexer.position();
    int64_t size = 0;
    if (!lexer.ReadInteger("a size", &size)) return false;
    if (size <= 0) return lexer.FailAt(start, absl::StrCat("a size cannot be ", size));
    if (__builtin_mul_overflow(*product, size, product)) {
      return lexer.FailAt(start, "the product of these sizes does not fit 64 bits");
    }
    sizes->push_back(size);
  } while (lexer.Consume(','));
  return lexer.Expect(close);
}

// `[2,4]T(1,0)` after `<=`: as many devices as there are tiles.
bool ReadIota(Lexer& lexer, int64_t tile_count, IotaGroups* iota) {
  if (!lexer.Expect('[')) return false;
  const char* const start = lexer.position();
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, ']', &sizes, &count)) return false;
  if (count != tile_count) {
    return lexer.FailAt(start, absl::StrCat("this list has ", count, " devices, not ", tile_count));
  }
  iota->sizes.assign(sizes.begin(), sizes.end());
  iota->permutation.clear();
  if (!lexer.ConsumeRaw('T')) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      iota->permutation.push_back(static_cast<int64_t>(i));
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
    iota->permutation.push_back(dimension);
  } while (lexer.Consume(','));
  if (iota->permutation.size() != seen.size()) {
    return lexer.FailAt(permutation_start,
                        absl::StrCat("this is no permutation of ", seen.size(), " dimensions"));
  }
  return lexer.Expect(')');
}

// `{{0,1},{2,3}}`.
bool ReadGroups(Lexer& lexer, ReplicaGroups* groups) {
  absl::flat_hash_set<int64_t> seen;
  if (!lexer.Expect('{')) return false;
  if (lexer.Consume('}')) return true;
  const char* empty_group = nullptr;
  do {
    lexer.SkipSpace();
    const char* const start = lexer.position();
    IntegerList group;
    if (!ReadIntegers(lexer, &group)) return false;
    for (const int64_t device : group) {
      if (device < 0 || !seen.insert(device).second) {
        return lexer.FailAt(start, absl::StrCat("device ", device,
                                                device < 0 ? " is negative" : " is in two places"));
      }
    }
    if (group.empty()) empty_group = start;
    groups->lists.emplace_back(group.begin(), group.end());
  } while (lexer.Consume(','));
  if (!lexer.Expect('}')) return false;
  if (empty_group == nullptr) {
    groups->form = ReplicaGroups::Form::kLists;
    return true;
  }
  if (groups->lists.size() > 1) return lexer.FailAt(empty_group, "a group without devices");
  groups->lists.clear();
  return true;
}

// `['x'=2,'y'=4]` after `mesh`. What else a mesh may say stands after the axes and is not looked
// at.
bool ReadMesh(Lexer& lexer, Mesh* mesh) {
  if (!lexer.Expect('[')) return false;
  if (lexer.Consume(']')) return true;
  do {
    if (lexer.Peek() != '\'' && lexer.Peek() != '"') {
      absl::string_view rest;
      if (!lexer.ReadUntilComma(&rest)) return false;
      mesh->says_more = true;
      continue;
    }
    const char* const start = lexer.position();
    MeshAxis axis;
    if (!lexer.ReadString(&axis.name) || !lexer.Expect('=') ||
        !lexer.ReadInteger("the size of an axis", &axis.size)) {
      return false;
    }
    if (axis.size <= 0) {
      return lexer.FailAt(start, absl::StrCat("the size of an axis cannot be ", axis.size));
    }
    if (!mesh->places.emplace(axis.name, mesh->axes.size()).second) {
      return lexer.FailAt(start, absl::StrCat("axis '", axis.name, "' is there twice"));
    }
    mesh->axes.push_back(axis);
  } while (lexer.Consume(','));
  return lexer.Expect(']');
}

// `{'x', 'y':(2)2}` after a mesh: its axes, or parts of them.
bool ReadAxes(Lexer& lexer, const Mesh& mesh, std::vector<AxisPart>* parts) {
  if (!lexer.Expect('{')) return false;
  if (lexer.Consume('}')) return true;
  do {
    lexer.SkipSpace();
    const char* const start = lexer.position();
    absl::string_view name;
    if (!lexer.ReadString(&name)) return false;
    const auto found = mesh.places.find(name);
    if (found == mesh.places.end()) {
      return lexer.FailAt(start, absl::StrCat("the mesh has no axis '", name, "'"));
    }
    const int64_t whole = mesh.axes[found->second].size;
    AxisPart part = {found->second, 1, whole, start};
    if (lexer.Consume(':')) {
      if (!lexer.Expect('(') || !lexer.ReadInteger("the size before the part", &part.before) ||
          !lexer.Expect(')') || !lexer.ReadInteger("the size of the part", &part.size)) {
        return false;
      }
      int64_t product = 0;
      if (part.before <= 0 || part.size <= 0 ||
          __builtin_mul_overflow(part.before, part.size, &product) || whole % product != 0) {
        return lexer.FailAt(start, absl::StrCat("axis '", name, "' of size ", whole,
                                                " has no part (", part.before, ")", part.size));
      }
    }
    parts->push_back(part);
  } while (lexer.Consume(','));
  return lexer.Expect('}');
}

// The groups along `parts` of the axes of a mesh whose devices are numbered in row-major order:
// every axis is cut where a part of it begins and ends, the parts come last.
bool GroupsAlongAxes(Lexer& lexer, const Mesh& mesh, const std::vector<AxisPart>& parts,
                     IotaGroups* groups) {
  std::vector<size_t> order;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size > 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(parts[a].axis, parts[a].before) < std::tie(parts[b].axis, parts[b].before);
  });
  std::vector<int64_t> places(parts.size(), -1);
  size_t next = 0;
  int64_t count = 1;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int64_t axis_size = mesh.axes[axis].size;
    int64_t done = 1;  // the product of the digits of this axis so far
    const auto add_rest = [&](int64_t size) {
      if (size == 1) return;
      groups->permutation.push_back(static_cast<int64_t>(groups->sizes.size()));
      groups->sizes.push_back(size);
    };
    for (; next < order.size() && parts[order[next]].axis == axis; ++next) {
      const AxisPart& part = parts[order[next]];
      if (part.before % done != 0) {
        return lexer.FailAt(part.position, absl::StrCat("axis '", mesh.axes[axis].name,
                                                        "' is taken twice or cut in two ways"));
      }
      add_rest(part.before / done);
      places[order[next]] = static_cast<int64_t>(groups->sizes.size());
      groups->sizes.push_back(part.size);
      groups->group_size *= part.size;
      done = part.before * part.size;
    }
    add_rest(axis_size / done);
    if (__builtin_mul_overflow(count, axis_size, &count)) {
      return lexer.Fail("the number of devices of this mesh does not fit 64 bits");
    }
  }
  for (const int64_t place : places) {
    if (place >= 0) groups->permutation.push_back(place);
  }
  groups->group_count = count / groups->group_size;
  return true;
}

bool ReadAnyGroups(Lexer& lexer, ReplicaGroups* groups) {
  if (lexer.Peek() == '{') return ReadGroups(lexer, groups);
  if (lexer.Consume("mesh")) {
    Mesh mesh;
    std::vector<AxisPart> parts;
    if (!ReadMesh(lexer, &mesh) || !ReadAxes(lexer, mesh, &parts)) return false;
    groups->form = mesh.says_more ? ReplicaGroups::Form::kOpaque : ReplicaGroups::Form::kIota;
    return GroupsAlongAxes(lexer, mesh, parts, &groups->iota);
  }
  const char* const start = lexer.position();
  if (!lexer.Consume('[')) return lexer.FailExpected("'{', '[' or 'mesh'");
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, ']', &sizes, &count)) return false;
  if (sizes.size() != 2) {
    return lexer.FailAt(start,
                        "expected two sizes: the number of groups and that of their devices");
  }
  groups->form = ReplicaGroups::Form::kIota;
  groups->iota.group_count = sizes[0];
  groups->iota.group_size = sizes[1];
  return lexer.Expect("<=") && ReadIota(lexer, count, &groups->iota);
}

// `{{0,1},{1,2}}`.
bool ReadPairs(Lexer& lexer, std::vector<SourceTargetPair>* pairs) {
  absl::flat_hash_set<int64_t> sources;
  absl::flat_hash_set<int64_t> targets;
  if (!lexer.Expect('{')) return false;
  if (lexer.Consume('}')) return true;
  do {
    lexer.SkipSpace();
    const char* const start = lexer.position();
    IntegerList pair;
    if (!ReadIntegers(lexer, &pair)) return false;
    if (pair.size() != 2) {
      return lexer.FailAt(
          start, absl::StrCat("expected a source and a target, found ", pair.size(), " devices"));
    }
    for (const int64_t device : pair) {
      if (device >= 0) continue;
      return lexer.FailAt(start, absl::StrCat("device ", device, " is negative"));
    }
    if (!sources.insert(pair[0]).second) {
      return lexer.FailAt(start, absl::StrCat("device ", pair[0], " sends twice"));
    }
    if (!targets.insert(pair[1]).second) {
      return lexer.FailAt(start, absl::StrCat("device ", pair[1], " receives twice"));
    }
    pairs->push_back({pair[0], pair[1]});
  } while (lexer.Consume(','));
  return lexer.Expect('}');
}

// `[2,2]0,1,2,3` or `[2,4]<=[8]` after `devices=`.
bool ReadTiles(Lexer& lexer) {
  const char* const start = lexer.position();
  IntegerList sizes;
  int64_t count = 0;
  if (!lexer.Expect('[') || !ReadSizes(lexer, ']', &sizes, &count)) return false;
  IotaGroups iota;
  if (lexer.Consume("<=")) return ReadIota(lexer, count, &iota);
  int64_t listed = 0;
  do {
    int64_t device = 0;
    if (!lexer.ReadInteger("a device", &device)) return false;
    ++listed;
  } while (lexer.Consume(','));
  if (listed == count) return true;
  return lexer.FailAt(start, absl::StrCat("there are ", count, " tiles and ", listed, " devices"));
}

// Reads what `text` holds, all of it.
template <typename Read>
bool ReadAll(Lexer& lexer, absl::string_view text, absl::string_view what, Read read) {
  const char* const cursor = lexer.position();
  lexer.SetPosition(text.data());
  if (!read()) return false;
  if (lexer.position() != text.data() + text.size()) {
    return lexer.FailExpected(absl::StrCat("the end of the ", what));
  }
  lexer.SetPosition(cursor);
  return true;
}

}  // namespace

bool ReadReplicaGroups(Lexer& lexer, absl::string_view text, ReplicaGroups* groups) {
  return ReadAll(lexer, text, "replica groups", [&] { return ReadAnyGroups(lexer, groups); });
}

bool ReadSourceTargetPairs(Lexer& lexer, absl::string_view text,
                           std::vector<SourceTargetPair>* pairs) {
  return ReadAll(lexer, text, "pairs", [&] { return ReadPairs(lexer, pairs); });
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

}  // namespace xla_indexing
