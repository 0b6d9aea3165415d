// Maps with runtime variables, as sets of pairs for each content of the arrays that these read.
#ifndef XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_VALUED_MAPS_H_
#define XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_VALUED_MAPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing {

inline bool Includes(const MapPairs& whole, const MapPairs& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// Maps that may read two arrays of two numbers, which are clamped to [0, 2].
class ValuedMaps {
 public:
  // What a runtime variable reads: an element, an expression of the map's dimensions and ranges.
  struct Read {
    size_t array = 0;
    std::string element = {};
  };

  ValuedMaps() : module_("m") {
    HloComputation* entry = module_.AddComputation("e");
    for (size_t k = 0; k < arrays_.size(); ++k) {
      arrays_[k] = entry->AddParameter(static_cast<int64_t>(k), absl::StrCat("p", k),
                                       Shape::Array(ElementType::kS32, {2}));
    }
  }

  // A simplified map from its text.
  OperandIndexing Map(const std::string& text, const std::vector<Read>& reads = {}) {
    const auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status() << text;
    RuntimeVarIndexings bindings;
    for (const Read& read : reads) {
      // The element is parsed as the result of a map with the same dimensions and ranges.
      const std::string variables = text.substr(0, text.find('{'));
      const std::string domain = text.substr(text.find("domain: "));
      const auto element = ParseIndexingMap(absl::StrCat(variables, " -> (", read.element, "), ",
                                                         domain.substr(0, domain.find(", rt"))),
                                            &context_);
      EXPECT_TRUE(element.ok()) << element.status() << text;
      RuntimeVarIndexing binding;
      binding.instruction = arrays_[read.array];
      binding.value = ValueFunction::Clamp(0, 2);
      binding.element.push_back(element->results()[0]);
      bindings.push_back(std::move(binding));
    }
    OperandIndexing indexing(kPartsFit, *map, std::move(bindings));
    indexing.Simplify();
    return indexing;
  }

  // Visits all contents of the arrays.
  void ForAllContents(llvm::function_ref<void()> visit) {
    for (int64_t code = 0; code < 81; ++code) {
      int64_t rest = code;
      for (auto& contents : contents_) {
        for (int64_t& number : contents) {
          number = rest % 3;
          rest /= 3;
        }
      }
      visit();
    }
  }

  // The pairs for the contents that are visited.
  MapPairs PairsOf(const OperandIndexing& indexing) const {
    MapPairs pairs;
    const IndexingMap& map = indexing.map();
    const absl::Status status = map.ForEachPoint(
        1'000'000, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                       llvm::ArrayRef<int64_t> results) {
          for (int i = 0; i < map.num_runtimes(); ++i) {
            const RuntimeVarIndexing& binding = indexing.bindings()[i];
            const int64_t element = ValueOf(binding.element[0], dims, symbols);
            const auto& contents = contents_[binding.instruction == arrays_[0] ? 0 : 1];
            if (element < 0 || element > 1 ||
                contents[static_cast<size_t>(element)] != symbols[map.num_ranges() + i]) {
              return;
            }
          }
          pairs.emplace(PointOfMap(dims.begin(), dims.end()),
                        PointOfMap(results.begin(), results.end()));
        });
    EXPECT_TRUE(status.ok()) << status;
    return pairs;
  }
  MapPairs PairsOf(const OperandIndexingSet& set) const {
    MapPairs pairs;
    for (const OperandIndexing& indexing : set) pairs.merge(PairsOf(indexing));
    return pairs;
  }

 private:
  static int64_t ValueOf(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> symbols) {
    mlir::MLIRContext* context = expr.getContext();
    llvm::SmallVector<mlir::AffineExpr, 4> for_dims;
    llvm::SmallVector<mlir::AffineExpr, 4> for_symbols;
    for (const int64_t dim : dims) for_dims.push_back(mlir::getAffineConstantExpr(dim, context));
    for (const int64_t symbol : symbols) {
      for_symbols.push_back(mlir::getAffineConstantExpr(symbol, context));
    }
    return llvm::cast<mlir::AffineConstantExpr>(expr.replaceDimsAndSymbols(for_dims, for_symbols))
        .getValue();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloModule module_;
  std::array<const HloInstruction*, 2> arrays_ = {};
  std::array<std::array<int64_t, 2>, 2> contents_ = {};
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_VALUED_MAPS_H_
