// Prints random maps and points with what the library says of them, for the test of the page: an object
// a line, with the map's text and points (values of all variables, whether the domain has the point,
// the results, null where they do not fit). Numbers are strings, since JavaScript's end at 2^53.
//
//   page_points COUNT

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

std::string Numbers(llvm::ArrayRef<int64_t> values) {
  return absl::StrCat("[", absl::StrJoin(values, ", ", [](std::string* out, int64_t value) {
                        absl::StrAppend(out, "\"", value, "\"");
                      }),
                      "]");
}

void PrintMapAndPoints(RandomMaps* random, mlir::MLIRContext* context) {
  const IndexingMap map = random->Map();
  if (!map.Verify().ok() || map.IsKnownEmpty()) return PrintMapAndPoints(random, context);
  std::cout << "{\"map\": \"" << map.ToString() << "\", \"points\": [";
  for (int i = 0; i < 4; ++i) {
    // Mostly in the intervals, sometimes anywhere, sometimes at the ends of int64.
    const auto value = [&](const Variable& variable) {
      if (random->Chance(10)) return random->Number();
      if (random->Chance(15) || !variable.bounds.IsFinite() || variable.bounds.IsEmpty()) {
        return random->Int(-30, 30);
      }
      return random->Int(variable.bounds.lower(), variable.bounds.upper());
    };
    llvm::SmallVector<int64_t, 4> dims;
    llvm::SmallVector<int64_t, 4> symbols;
    for (const Variable& variable : map.dims()) dims.push_back(value(variable));
    for (const Variable& variable : map.symbols()) symbols.push_back(value(variable));
    const auto results = map.Evaluate(dims, symbols);
    const auto contains = map.Contains(dims, symbols);
    llvm::SmallVector<int64_t, 8> all(dims.begin(), dims.end());
    all.append(symbols.begin(), symbols.end());
    std::cout << (i > 0 ? ", " : "") << "{\"values\": " << Numbers(all) << ", \"results\": "
              << (results.ok() ? Numbers(*results) : "null") << ", \"contains\": "
              << (!contains.ok() ? "null" : *contains ? "true" : "false") << "}";
  }
  std::cout << "]}\n";
}

}  // namespace
}  // namespace xla_indexing

int main(int argc, char** argv) {
  int64_t count = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &count)) {
    std::cerr << "usage: page_points COUNT\n";
    return EXIT_FAILURE;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  xla_indexing::RandomMaps random(20261123, &context);
  for (int64_t i = 0; i < count; ++i) xla_indexing::PrintMapAndPoints(&random, &context);
}
