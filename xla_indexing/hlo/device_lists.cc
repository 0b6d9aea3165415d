#include "xla_indexing/hlo/device_lists.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/parse_attributes.h"

namespace xla_indexing {
namespace {

using MeshAxes = absl::flat_hash_map<absl::string_view, int64_t>;

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
bool ReadIota(Lexer& lexer, int64_t tile_count) {
  if (!lexer.Expect('[')) return false;
  const char* const start = lexer.position();
  IntegerList sizes;
  int64_t count = 0;
  if (!ReadSizes(lexer, ']', &sizes, &count)) return false;
  if (count != tile_count) {
    return lexer.FailAt(start, absl::StrCat("this list has ", count, " devices, not ", tile_count));
  }
  if (!lexer.ConsumeRaw('T')) return true;
  if (!lexer.Expect('(')) return false;
  const char* const permutation_start = lexer.position();
  std::vector<bool> seen(sizes.size(), false);
  size_t read = 0;
  do {
    int64_t dimension = 0;
    if (!lexer.ReadInteger("a dimension", &dimension)) return false;
    if (dimension < 0 || dimension >= static_cast<int64_t>(seen.size()) || seen[dimension]) break;
    seen[dimension] = true;
    ++read;
  } while (lexer.Consume(','));
  if (read != seen.size()) {
    return lexer.FailAt(permutation_start,
                        absl::StrCat("this is no permutation of ", seen.size(), " dimensions"));
  }
  return lexer.Expect(')');
}

// `{{0,1},{2,3}}`.
bool ReadGroups(Lexer& lexer) {
  absl::flat_hash_set<int64_t> seen;
  if (!lexer.Expect('{')) return false;
  if (lexer.Consume('}')) return true;
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
  } while (lexer.Consume(','));
  return lexer.Expect('}');
}

// `['x'=2,'y'=4]` after `mesh`. What else a mesh may say stands after the axes and is not looked
// at.
bool ReadMesh(Lexer& lexer, MeshAxes* axes) {
  if (!lexer.Expect('[')) return false;
  if (lexer.Consume(']')) return true;
  do {
    if (lexer.Peek() != '\'' && lexer.Peek() != '"') {
      absl::string_view rest;
      if (!lexer.ReadUntilComma(&rest)) return false;
      continue;
    }
    const char* const start = lexer.position();
    absl::string_view axis;
    int64_t size = 0;
    if (!lexer.ReadString(&axis) || !lexer.Expect('=') ||
        !lexer.ReadInteger("the size of an axis", &size)) {
      return false;
    }
    if (size <= 0) return lexer.FailAt(start, absl::StrCat("the size of an axis cannot be ", size));
    if (!axes->emplace(axis, size).second) {
      return lexer.FailAt(start, absl::StrCat("axis '", axis, "' is there twice"));
    }
  } while (lexer.Consume(','));
  return lexer.Expect(']');
}

// `{'x', 'y':(2)2}` after a mesh: its axes, or parts of them.
bool ReadAxes(Lexer& lexer, const MeshAxes& axes) {
  if (!lexer.Expect('{')) return false;
  if (lexer.Consume('}')) return true;
  do {
    lexer.SkipSpace();
    const char* const start = lexer.position();
    absl::string_view axis;
    if (!lexer.ReadString(&axis)) return false;
    const auto found = axes.find(axis);
    if (found == axes.end()) {
      return lexer.FailAt(start, absl::StrCat("the mesh has no axis '", axis, "'"));
    }
    if (!lexer.Consume(':')) continue;
    int64_t before = 0;
    int64_t size = 0;
    if (!lexer.Expect('(') || !lexer.ReadInteger("the size before the part", &before) ||
        !lexer.Expect(')') || !lexer.ReadInteger("the size of the part", &size)) {
      return false;
    }
    int64_t product = 0;
    if (before <= 0 || size <= 0 || __builtin_mul_overflow(before, size, &product) ||
        found->second % product != 0) {
      return lexer.FailAt(start, absl::StrCat("axis '", axis, "' of size ", found->second,
                                              " has no part (", before, ")", size));
    }
  } while (lexer.Consume(','));
  return lexer.Expect('}');
}

bool ReadReplicaGroups(Lexer& lexer) {
  if (lexer.Peek() == '{') return ReadGroups(lexer);
  if (lexer.Consume("mesh")) {
    MeshAxes axes;
    return ReadMesh(lexer, &axes) && ReadAxes(lexer, axes);
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
  return lexer.Expect("<=") && ReadIota(lexer, count);
}

// `[2,2]0,1,2,3` or `[2,4]<=[8]` after `devices=`.
bool ReadTiles(Lexer& lexer) {
  const char* const start = lexer.position();
  IntegerList sizes;
  int64_t count = 0;
  if (!lexer.Expect('[') || !ReadSizes(lexer, ']', &sizes, &count)) return false;
  if (lexer.Consume("<=")) return ReadIota(lexer, count);
  int64_t listed = 0;
  do {
    int64_t device = 0;
    if (!lexer.ReadInteger("a device", &device)) return false;
    ++listed;
  } while (lexer.Consume(','));
  if (listed == count) return true;
  return lexer.FailAt(start, absl::StrCat("there are ", count, " tiles and ", listed, " devices"));
}

}  // namespace

bool CheckReplicaGroups(Lexer& lexer, absl::string_view text) {
  const char* const cursor = lexer.position();
  lexer.SetPosition(text.data());
  if (!ReadReplicaGroups(lexer)) return false;
  if (lexer.position() != text.data() + text.size()) {
    return lexer.FailExpected("the end of the replica groups");
  }
  lexer.SetPosition(cursor);
  return true;
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
      MeshAxes axes;
      if (word == "devices" && lexer.ConsumeRaw('=') && !ReadTiles(lexer)) return false;
      if (word == "mesh" && !ReadMesh(lexer, &axes)) return false;
    }
  }
  lexer.SetPosition(cursor);
  return true;
}

}  // namespace xla_indexing
