// The maps whose simplification is compared with MLIR's (benchmarks/maps_to_simplify.h) are no longer
// afterwards than what MLIR makes of them, and no longer than they were.
#include "benchmarks/maps_to_simplify.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

using internal::ExprSize;
using internal::SizeOf;

ExprSize SizeOfAll(llvm::ArrayRef<mlir::AffineExpr> results) {
  ExprSize all;
  for (const mlir::AffineExpr result : results) {
    const ExprSize size = SizeOf(result);
    all.divisions += size.divisions;
    all.nodes += size.nodes;
  }
  return all;
}

TEST(MapsToSimplifyTest, AreNoLongerThanMlirMakesThem) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t divisions = 0;
  int64_t nodes = 0;
  for (const NamedMap& named : MapsToSimplify()) {
    const absl::StatusOr<IndexingMap> given = ParseIndexingMap(named.text, &context);
    ASSERT_TRUE(given.ok()) << named.name;
    IndexingMap map = *given;
    map.Simplify({.keep_variables = true});
    const ExprSize ours = SizeOfAll(map.results());
    EXPECT_LE(ours, SizeOfAll(given->results())) << named.name;
    EXPECT_LE(ours, SizeOfAll(mlir::simplifyAffineMap(given->affine_map()).getResults()))
        << named.name << ": " << map.ToString();
    divisions += ours.divisions;
    nodes += ours.nodes;
  }
  RecordProperty("divisions", std::to_string(divisions));
  RecordProperty("nodes", std::to_string(nodes));
}

// The sizes of some of them, by hand. (d0 * 5 + d1 * 3) floordiv 7 depends on both variables in more
// than one way, so that it has a division, and each variable with a factor.
TEST(MapsToSimplifyTest, HaveTheseSizes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const auto& [name, divisions, nodes] :
       {std::tuple("crossing", 2, 18), std::tuple("digits_that_join", 0, 2),
        std::tuple("mod_of_mod", 2, 6), std::tuple("offset", 2, 10), std::tuple("halves", 2, 8),
        std::tuple("swizzle", 2, 8)}) {
    for (const NamedMap& named : MapsToSimplify()) {
      if (named.name != name) continue;
      absl::StatusOr<IndexingMap> map = ParseIndexingMap(named.text, &context);
      ASSERT_TRUE(map.ok()) << name;
      map->Simplify();
      EXPECT_EQ(SizeOfAll(map->results()), (ExprSize{divisions, nodes, 0})) << map->ToString();
    }
  }
}

}  // namespace
}  // namespace xla_indexing
