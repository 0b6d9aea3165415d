// Random expressions and maps, for the tests of properties.

#ifndef XLA_INDEXING_TESTS_MAP_RANDOM_MAP_H_
#define XLA_INDEXING_TESTS_MAP_RANDOM_MAP_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "tests/testing/seed.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

class RandomMaps {
 public:
  RandomMaps(uint32_t seed, mlir::MLIRContext* context)
      : random_(Seeded(seed)), context_(context) {}

  int64_t Int(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  bool Chance(int percent) { return Int(1, 100) <= percent; }

  // A coefficient or constant; now and then one near the ends of int64.
  int64_t Number() {
    if (!Chance(5)) return Int(-9, 9);
    const int64_t near = Int(0, 2);
    return Chance(50) ? INT64_MIN + near : INT64_MAX - near;
  }

  // An expression that affine/expr/build.h makes; 0 where its numbers would not fit.
  mlir::AffineExpr Expr(int num_dims, int num_symbols, int depth) {
    mlir::AffineExpr sum = internal::Constant(Chance(40) ? Number() : 0, context_);
    const int64_t num_terms = Int(1, 3);
    for (int64_t i = 0; i < num_terms; ++i) {
      mlir::AffineExpr atom = Leaf(num_dims, num_symbols);
      if (depth > 0 && Chance(50)) {
        mlir::AffineExpr dividend = Expr(num_dims, num_symbols, depth - 1);
        const int64_t divisor = Chance(5) ? INT64_MAX - Int(0, 2) : Int(1, 9);
        atom =
            Chance(50) ? internal::FloorDiv(dividend, divisor) : internal::Mod(dividend, divisor);
      }
      sum = internal::Add(sum, internal::Scale(atom, Chance(50) ? Number() : 1));
    }
    return sum ? sum : internal::Constant(0, context_);
  }

  Interval Bounds() {
    const int64_t lower = Number();
    switch (Int(0, 9)) {
      case 0:
        return Interval::All();
      case 1:
        return Interval::AtLeast(lower);
      case 2:
        return Interval::AtMost(lower);
      case 3:
        return Interval::Closed(INT64_MIN, INT64_MAX);
      default: {
        const int64_t least = Int(-9, 3);
        return Interval::Closed(least, Int(3, 20));
      }
    }
  }

  // A map of up to three variables of each kind, some with names, and up to two constraints.
  IndexingMap Map() {
    Variables dims = SomeVariables("x");
    Variables ranges = SomeVariables("range_");
    Variables runtimes = SomeVariables("x");
    const int num_dims = static_cast<int>(dims.size());
    const int num_symbols = static_cast<int>(ranges.size() + runtimes.size());
    llvm::SmallVector<mlir::AffineExpr, 4> results;
    for (int64_t i = Int(0, 3); i > 0; --i) results.push_back(Expr(num_dims, num_symbols, 2));
    Constraints constraints;
    for (int64_t i = Int(0, 2); i > 0; --i) {
      constraints.push_back({Expr(num_dims, num_symbols, 2), Bounds()});
    }
    return IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, num_symbols, results, context_),
                       std::move(dims), std::move(ranges), std::move(runtimes),
                       std::move(constraints));
  }

 private:
  mlir::AffineExpr Leaf(int num_dims, int num_symbols) {
    const int64_t choice = Int(0, num_dims + num_symbols);
    if (choice < num_dims) return mlir::getAffineDimExpr(choice, context_);
    if (choice < num_dims + num_symbols) {
      return mlir::getAffineSymbolExpr(choice - num_dims, context_);
    }
    return internal::Constant(Number(), context_);
  }

  Variables SomeVariables(const std::string& prefix) {
    Variables variables;
    for (int64_t i = Int(0, 3); i > 0; --i) {
      Variable variable;
      variable.bounds = Bounds();
      // Few names, so that they clash, and some that are the default names of others.
      if (Chance(20)) {
        const std::string name =
            Chance(50) ? absl::StrCat(prefix, Int(0, 1)) : absl::StrCat("s", Int(0, 3));
        variable.name = mlir::StringAttr::get(context_, name);
      }
      variables.push_back(variable);
    }
    return variables;
  }

  std::mt19937 random_;
  mlir::MLIRContext* context_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_MAP_RANDOM_MAP_H_
