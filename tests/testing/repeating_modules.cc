#include "tests/testing/repeating_modules.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {
namespace {

// Values from which offsets are read: parameters, numbers that the module fixes in several ways, and
// what is made of parameters.
constexpr char kOffsets[] = R"(
  x = f32[12,8] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  pair = (s32[], s32[]) parameter(3)
  rows = s32[5,1] parameter(4)
  ints = s32[12,8] parameter(5)
  update = f32[3,2] parameter(6)
  y = f32[12,8] negate(x)
  first = s32[] get-tuple-element(pair), index=0
  second = s32[] get-tuple-element(pair), index=1
  zero = s32[] constant(0)
  nil = s32[] constant(0)
  two = s32[] constant(2)
  many = s32[] constant(100)
  three = s32[] add(two, two)
  next = s32[] add(i, two)
  below = pred[] compare(i, zero), direction=LT
  wrapped = s32[] select(below, next, i)
  same = s32[] copy(i)
  six = s32[] multiply(two, three)
  numbers = s32[5,1] iota(), iota_dimension=0
  list = s32[5,1] constant({{1}, {9}, {2}, {20}, {0}})
  more = s32[5,1] add(rows, numbers)
  sum = s32[] add(i, j)
  sorted = s32[5,1] sort(rows), dimensions={0}, to_apply=less
  flag = pred[] parameter(7)
  bit = s32[] convert(flag)
  after = s32[] add(bit, two)
  late = s32[] remainder(j, two)
)";

}  // namespace

std::string RandomCallsOfEqualComputations(uint64_t seed) {
  Random random(seed);
  std::string text;
  std::string entry = R"(
    ENTRY e {
      x = f32[12,8] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      two = s32[] constant(2)
      n = s32[] parameter(3)
      s = (s32[], s32[], f32[12,8]) tuple(two, i, x)
  )";
  const std::vector<std::string> scalars = {"i", "j", "two"};
  for (int c = 0; c < 12; ++c) {
    // Names differ from computation to computation, numbers in few ways.
    const std::string v = absl::StrCat("v", seed % 7, ".", c, ".");
    const int64_t number = random.Between(1, 2);
    const std::string op = random.OneIn(2) ? "add" : "multiply";
    // A loop, or one of three functions.
    const int64_t form = random.OneIn(6) ? 3 : random.Between(0, 2);
    if (form < 3) {
      absl::StrAppend(&text, "f", c, " {\n ", v, "p = f32[12,8] parameter(0)\n ", v,
                      "i = s32[] parameter(1)\n ", v, "c = s32[] constant(", number, ")\n ", v,
                      "s = s32[] ", op, "(", v, "i, ", v, "c)\n ", v, "z = s32[] constant(0)\n ",
                      form == 1 ? absl::StrCat("ROOT ") : "", v, "d = f32[3,8] dynamic-slice(", v,
                      "p, ", v, "s, ", v, "z), dynamic_slice_sizes={3,8}\n");
      if (form == 0) {
        absl::StrAppend(&text, " ROOT ", v, "r = f32[3,8] reverse(", v, "d), dimensions={0}\n");
      }
      if (form == 2) {
        absl::StrAppend(&text, " ", v, "q = f32[3,8] dynamic-slice(", v, "p, ", v, "i, ", v,
                        "z), dynamic_slice_sizes={3,8}\n ROOT ", v, "r = f32[3,8] add(", v, "d, ",
                        v, "q)\n");
      }
      absl::StrAppend(&text, "}\n");
      absl::StrAppend(&entry, "  n", c, " = f32[3,8] ", random.OneIn(2) ? "call(" : "fusion(",
                      "x, ", random.Pick(scalars), ")");
      const bool is_call = absl::StrContains(entry.substr(entry.rfind(" = ")), "call(");
      absl::StrAppend(&entry, is_call ? ", to_apply=f" : ", kind=kLoop, calls=f", c, "\n");
      continue;
    }
    const std::string state = "(s32[], s32[], f32[12,8])";
    absl::StrAppend(
        &text, "b", c, " {\n ", v, "s = ", state, " parameter(0)\n ", v,
        "k = s32[] get-tuple-element(", v, "s), index=0\n ", v, "i = s32[] get-tuple-element(", v,
        "s), index=1\n ", v, "x = f32[12,8] get-tuple-element(", v, "s), index=2\n ", v,
        "one = s32[] constant(", number, ")\n ", v, "z = s32[] constant(0)\n ", v, "n = s32[] add(",
        v, "k, ", v, "one)\n ", v, "d = f32[1,8] dynamic-slice(", v, "x, ", v,
        op == "add" ? "i, " : "k, ", v, "z), dynamic_slice_sizes={1,8}\n ", v,
        "u = f32[12,8] dynamic-update-slice(", v, "x, ", v, "d, ", v, "k, ", v, "z)\n ROOT ", v,
        "t = ", state, " tuple(", v, "n, ", v, "i, ", v, "u)\n}\nc", c, " {\n ", v, "s = ", state,
        " parameter(0)\n ", v, "k = s32[] get-tuple-element(", v, "s), index=0\n ", v,
        "i = s32[] get-tuple-element(", v, "s), index=1\n ", v, "n = s32[] constant(5)\n ROOT ", v,
        "l = pred[] compare(", v, "k, ", v, random.OneIn(3) ? "i" : "n", "), direction=LT\n}\n");
    absl::StrAppend(&entry, "  n", c, " = ", state, " while(s), condition=c", c, ", body=b", c,
                    "\n");
  }
  return absl::StrCat(text, entry, "  ROOT root = f32[12,8] negate(x)\n}\n");
}

std::string RandomReadsOfOffsets(uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> scalars = {"i",   "j",       "first", "second", "zero",
                                            "nil", "two",     "many",  "three",  "next",
                                            "six", "wrapped", "same",  "sum",    "late"};
  const std::vector<std::string> vectors = {"rows", "numbers", "list", "more", "sorted"};
  const std::vector<std::string> arrays = {"x", "y"};
  std::string text = absl::StrCat(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    take { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    less { a = s32[] parameter(0) b = s32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e {)",
                                  kOffsets);
  for (int n = 0; n < 60; ++n) {
    // Few offsets, so that the same ones meet again.
    const std::string& a = random.Pick(scalars);
    const std::string& b = random.OneIn(3) ? a : random.Pick(scalars);
    const std::string& vector = random.Pick(vectors);
    const std::string& array = random.Pick(arrays);
    absl::StrAppend(&text, "  n", n, " = ");
    switch (random.Between(0, 4)) {
      case 0:
        absl::StrAppend(&text, "f32[3,2] dynamic-slice(", array, ", ", a, ", ", b,
                        "), dynamic_slice_sizes={3,2}\n");
        break;
      case 1:
        absl::StrAppend(&text, "s32[12,2] dynamic-slice(ints, ", a, ", ", b,
                        "), dynamic_slice_sizes={12,2}\n");
        break;
      case 2:
        absl::StrAppend(&text, "f32[12,8] dynamic-update-slice(", array, ", update, ", a, ", ", b,
                        ")\n");
        break;
      case 3:
        absl::StrAppend(&text, "f32[5,8] gather(", array, ", ", vector,
                        "), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                        "index_vector_dim=1, slice_sizes={1,8}\n");
        break;
      default:
        absl::StrAppend(&text, "f32[12,8] scatter(", array, ", ", vector,
                        ", u), update_window_dims={1}, inserted_window_dims={0}, "
                        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
                        random.OneIn(2) ? "add" : "take", "\n");
        break;
    }
  }
  absl::StrAppend(&text, "  ROOT root = f32[12,8] add(x, y)\n}\n");
  const std::string declared = "  late = s32[] remainder(j, two)\n";
  text.insert(text.find(declared) + declared.size(),
              "  u = f32[5,8] slice(x), slice={[0:5], [0:8]}\n");
  return text;
}

std::string RandomCollectives(uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> groups = {"{{0,1},{2,3}}", "{{0,2},{1,3}}",   "{{1,0},{3,2}}",
                                           "{{0,1},{3,2}}", "[2,2]<=[4]",      "[2,2]<=[2,2]T(1,0)",
                                           "{{0,3},{1,2}}", "{ {0,1}, {2,3} }"};
  std::string text = R"(HloModule m, num_partitions=4
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(b, a) }
    ENTRY e {
      x = f32[4,4] parameter(0)
  )";
  for (int n = 0; n < 40; ++n) {
    const std::string common =
        absl::StrCat(", channel_id=", n + 1, ", replica_groups=", random.Pick(groups));
    const std::string global = absl::StrCat(common, ", use_global_device_ids=true");
    const int64_t dim = random.Between(0, 1);
    const char* const apply = random.OneIn(2) ? "add" : "sum";
    absl::StrAppend(&text, "  n", n, " = ");
    switch (random.Between(0, 4)) {
      case 0:
        absl::StrAppend(&text, "f32[4,4] all-reduce(x)", global, ", to_apply=", apply, "\n");
        break;
      case 1:
        absl::StrAppend(&text, dim == 0 ? "f32[8,4]" : "f32[4,8]", " all-gather(x)", global,
                        ", dimensions={", dim, "}\n");
        break;
      case 2:
        absl::StrAppend(&text, dim == 0 ? "f32[2,4]" : "f32[4,2]", " reduce-scatter(x)", global,
                        ", dimensions={", dim, "}, to_apply=", apply, "\n");
        break;
      case 3:
        absl::StrAppend(&text, "f32[4,4] all-to-all(x)", common, ", dimensions={", dim, "}\n");
        break;
      default:
        absl::StrAppend(&text, "f32[4,4] collective-permute(x), channel_id=", n + 1,
                        ", source_target_pairs=",
                        random.OneIn(2) ? "{{0,1},{1,2},{2,3},{3,0}}" : "{{0,1},{1,0}}", "\n");
        break;
    }
  }
  absl::StrAppend(&text, "  ROOT root = f32[4,4] negate(x)\n}\n");
  return text;
}

}  // namespace xla_indexing
