#include "benchmarks/maps_to_simplify.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace xla_indexing {

const std::vector<NamedMap>& ExampleMaps() {
  static const auto* maps = new std::vector<NamedMap>{
      {"identity",
       "(d0, d1, d2, d3) -> (d0, d1, d2, d3), "
       "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d3 in [0, 9]"},
      {"document_1_small_index",
       "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]"},
      {"document_2_delinearize",
       "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) floordiv 100, "
       "((d0 * 100 + d1 * 10 + d2) mod 100) floordiv 10, d2 mod 10), "
       "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
      {"document_3_multiples",
       "(d0, d1, d2) -> ((d0 * 16 + d1 * 4 + d2) floordiv 8, (d0 * 16 + d1 * 4 + d2) mod 8), "
       "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
      {"document_4_negative",
       "(d0, d1) -> (-((-d0 * 11 - d1 + 109) floordiv 11) + 9), "
       "domain: d0 in [0, 9], d1 in [0, 10]"},
      {"document_constraints",
       "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20], "
       "d0 * 6 + s0 * 2 - 7 in [3, 25], (d0 + s0 + 4) floordiv 3 in [1, 3]"},
      {"reshape_reshape",
       "(d0, d1, d2) -> (((d0 * 5 + d1 floordiv 2) * 20 + (d1 mod 2) * 10 + d2) floordiv 100, "
       "(((d0 * 5 + d1 floordiv 2) * 20 + (d1 mod 2) * 10 + d2) floordiv 10) mod 10, "
       "((d1 mod 2) * 10 + d2) mod 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
      {"gpu_threads",
       "(d0, d1)[s0, s1] -> (((d1 * 128 + d0) * 4 + s1) floordiv 49152 + s0 * 8, "
       "(((d1 * 128 + d0) * 4 + s1) floordiv 64) mod 768, ((d1 * 128 + d0) * 4 + s1) mod 64), "
       "domain: d0 in [0, 127], d1 in [0, 1023], s0 in [0, 3], s1 in [0, 3], "
       "(d1 * 128 + d0) * 4 + s1 in [0, 524287]"},
  };
  return *maps;
}

namespace {

using Sizes = std::vector<int64_t>;

// `d0 in [0, 9], d1 in [0, 4]`.
std::string DomainOf(const Sizes& sizes) {
  std::vector<std::string> intervals;
  for (size_t i = 0; i < sizes.size(); ++i) {
    intervals.push_back(absl::StrCat("d", i, " in [0, ", sizes[i] - 1, "]"));
  }
  return absl::StrJoin(intervals, ", ");
}

std::string VariablesOf(const Sizes& sizes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < sizes.size(); ++i) names.push_back(absl::StrCat("d", i));
  return absl::StrJoin(names, ", ");
}

std::string Position(const Sizes& sizes, const std::vector<std::string>& indices) {
  std::vector<std::string> summands;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    summands.insert(summands.begin(), absl::StrCat("(", indices[i], ") * ", stride));
    stride *= sizes[i];
  }
  return absl::StrCat("(", absl::StrJoin(summands, " + "), ")");
}

std::vector<std::string> Delinearized(const std::string& position, const Sizes& sizes) {
  std::vector<std::string> indices(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = absl::StrCat("(", position, " floordiv ", stride, ")");
    if (i > 0) absl::StrAppend(&indices[i], " mod ", sizes[i]);
    stride *= sizes[i];
  }
  return indices;
}

// The indices of an array of the first sizes, seen as one of each of the others in turn.
NamedMap Reshapes(const std::vector<Sizes>& shapes) {
  std::vector<std::string> indices;
  for (size_t i = 0; i < shapes[0].size(); ++i) indices.push_back(absl::StrCat("d", i));
  std::vector<std::string> names = {absl::StrJoin(shapes[0], "x")};
  for (size_t i = 1; i < shapes.size(); ++i) {
    indices = Delinearized(Position(shapes[i - 1], indices), shapes[i]);
    names.push_back(absl::StrJoin(shapes[i], "x"));
  }
  return {absl::StrCat("reshape_", absl::StrJoin(names, "_")),
          absl::StrCat("(", VariablesOf(shapes[0]), ") -> (", absl::StrJoin(indices, ", "),
                       "), domain: ", DomainOf(shapes[0]))};
}

// The element of an array that a thread of a block works on, of `vector` in a row.
NamedMap Threads(const Sizes& sizes, int64_t threads, int64_t vector) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  const std::string position = absl::StrCat("((d1 * ", threads, " + d0) * ", vector, " + s0)");
  const int64_t blocks = (elements + threads * vector - 1) / (threads * vector);
  return {absl::StrCat("threads_", absl::StrJoin(sizes, "x"), "_by_", threads, "x", vector),
          absl::StrCat("(d0, d1)[s0] -> (", absl::StrJoin(Delinearized(position, sizes), ", "),
                       "), domain: d0 in [0, ", threads - 1, "], d1 in [0, ", blocks - 1,
                       "], s0 in [0, ", vector - 1, "]")};
}

std::vector<NamedMap> Make() {
  std::vector<NamedMap> maps = ExampleMaps();
  for (const std::vector<Sizes>& shapes : std::vector<std::vector<Sizes>>{
           {{10, 10, 10}, {1000}, {10, 10, 10}},
           {{8, 4, 4}, {32, 4}},
           {{8, 4, 4}, {8, 16}},
           {{128, 768}, {128, 12, 64}},
           {{128, 12, 64}, {128, 768}},
           {{4, 128, 768}, {512, 12, 64}},
           {{32, 48, 20}, {64, 480}},
           {{64, 480}, {16, 30, 64}},
           {{16, 30, 64}, {15, 2048}},
           {{15, 2048}, {20, 48, 32}},
           {{32, 48, 20}, {64, 480}, {32, 48, 20}},
           {{2, 4, 8, 16}, {8, 128}, {2, 4, 8, 16}},
           {{12, 8}, {16, 6}},
           {{12, 8}, {16, 6}, {12, 8}},
           {{7, 9, 11}, {693}},
           {{693}, {7, 9, 11}},
           {{50257, 768}, {50257, 12, 64}},
           {{6, 35}, {10, 21}, {14, 15}},
           {{1024, 1024}, {2048, 512}},
           {{3, 5, 7, 11}, {15, 77}, {3, 5, 7, 11}},
       }) {
    maps.push_back(Reshapes(shapes));
  }
  for (const Sizes& sizes : std::vector<Sizes>{
           {8, 768, 64}, {1024, 1024}, {64, 112, 112, 3}, {31, 256000}, {128, 100}, {50257, 768}}) {
    maps.push_back(Threads(sizes, 128, 4));
    maps.push_back(Threads(sizes, 256, 1));
  }
  const std::string box = ", domain: d0 in [0, 99], d1 in [0, 63]";
  const char* const results[][2] = {
      {"transpose", "(d1, d0)"},
      {"slice", "(d0 * 2 + 3, d1 + 8)"},
      {"reverse", "(-d0 + 99, -d1 + 63)"},
      {"constants", "(7, 0)"},
      {"row_major", "(d0 * 64 + d1)"},
      {"sum_of_all", "(d0 + d1 + d0 * 3 - d1 * 4 + 5)"},
      {"digit", "(d0 floordiv 8, d0 mod 8)"},
      {"digits_that_join", "((d0 floordiv 8) * 8 + d0 mod 8, d1)"},
      {"mod_of_mod", "((d0 mod 12) mod 4, (d1 mod 16) mod 8)"},
      {"div_of_div", "((d0 floordiv 3) floordiv 5, (d1 floordiv 2) floordiv 4)"},
      {"multiple_below", "((d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8)"},
      {"small_below", "((d0 * 64 + d1) floordiv 64, (d0 * 64 + d1) mod 64)"},
      {"common_factor", "((d0 * 6 + d1 * 4) floordiv 8, (d0 * 6 + d1 * 4) mod 8)"},
      {"negative", "((-d0 + 99) floordiv 8, (-d1) mod 4)"},
      {"offset", "((d0 + 11) floordiv 4, (d1 + 11) mod 4)"},
      {"crossing", "((d0 * 5 + d1 * 3) floordiv 7, (d0 * 5 + d1 * 3) mod 7)"},
      {"difference", "(d0 - (d0 floordiv 6) * 6, d1 - (d1 mod 4))"},
      {"interior_padding", "((d0 + d1 * 3 - 2) floordiv 3)"},
      {"window", "(d0 * 2 + d1 * 3 - 1)"},
      {"swizzle", "((d0 mod 8 + d1) mod 8, d1 floordiv 8)"},
      {"nested", "(((d0 floordiv 4) * 4 + d0 mod 4 + d1) floordiv 16)"},
      {"two_floors", "(d0 floordiv 2 + d1 floordiv 2, d0 floordiv 4)"},
      {"halves", "((d0 + 1) floordiv 2, d0 floordiv 2)"},
      {"zero", "(d0 mod 1, d1 floordiv 64)"},
  };
  for (const auto& [name, text] : results) {
    maps.push_back({name, absl::StrCat("(d0, d1) -> ", text, box)});
  }
  return maps;
}

}  // namespace

const std::vector<NamedMap>& MapsToSimplify() {
  static const auto* maps = new std::vector<NamedMap>(Make());
  return *maps;
}

}  // namespace xla_indexing
