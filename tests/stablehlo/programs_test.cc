// Programs as JAX, TensorFlow and PyTorch/XLA print them: the maps of StableHLO are those of the HLO that JAX's
// own conversion makes of it.
//
// Both are asked what each leaf of the results reads of each argument (query/equivalence). Where that is
// not decided, mostly because indices come from values that have other names in the two programs, each map is
// compared with one of the other program as a relation from the result to the argument's elements and to the
// elements that its runtime variables are read from, in some order of these, with equal functions of their
// values and equal labels. What the conversion changes is in a table, with the sign by which that is known. Arrays
// whose maps are too long to compose (of one program, of 43) are counted, and nothing is said of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

constexpr char kStableHloEnding[] = ".stablehlo.mlir";
// Larger programs are compared where the effort is full.
constexpr size_t kMostBytesOfQuick = 300'000;

// What XLA's conversion replaces, and what is to be seen of it in both programs.
struct ConvertedOperation {
  const char* program;
  const char* in_stablehlo;
  const char* not_in_hlo;
};
const ConvertedOperation kConverted[] = {
    // The call is a fallback: the conversion writes a sort in its place.
    {"approx_topk", "is_fallback = true", "ApproxTopK"},
};

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> ProgramNames() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(XLA_INDEXING_CORPUS_JAX, ignored)) {
    const std::string name = entry.path().filename().string();
    if (absl::EndsWith(name, kStableHloEnding)) {
      names.push_back(name.substr(0, name.size() - sizeof(kStableHloEnding) + 1));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A map with the elements of its runtime variables as further results; the runtime variable i is put at `order[i]`.
IndexingMap WithElements(const OperandIndexing& indexing, const std::vector<int>& order) {
  const IndexingMap& map = indexing.map();
  mlir::MLIRContext* context = map.context();
  llvm::SmallVector<mlir::AffineExpr> symbols;
  for (int i = 0; i < map.num_ranges(); ++i)
    symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  for (const int place : order) {
    symbols.push_back(mlir::getAffineSymbolExpr(map.num_ranges() + place, context));
  }
  const auto moved = [&](mlir::AffineExpr expr) { return expr.replaceSymbols(symbols); };
  llvm::SmallVector<mlir::AffineExpr> results;
  for (const mlir::AffineExpr expr : map.results()) results.push_back(moved(expr));
  std::vector<int> at(order.size());
  for (size_t i = 0; i < order.size(); ++i) at[static_cast<size_t>(order[i])] = static_cast<int>(i);
  Variables dims(map.dims().begin(), map.dims().end());
  Variables ranges(map.ranges().begin(), map.ranges().end());
  Variables runtimes;
  for (const int i : at) {
    runtimes.push_back(map.runtimes()[static_cast<size_t>(i)]);
    for (const mlir::AffineExpr expr : indexing.bindings()[static_cast<size_t>(i)].element) {
      results.push_back(moved(expr));
    }
  }
  Constraints constraints;
  for (const auto& constraint : map.constraints()) {
    constraints.push_back({moved(constraint.expr), constraint.interval});
  }
  auto made =
      IndexingMap::Create(mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, context),
                          dims, ranges, runtimes, constraints);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// Whether they are read in the same way from arrays of the same kind.
bool BindAlike(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  return a.value == b.value && EqualIgnoringLayout(a.shape(), b.shape()) &&
         a.element.size() == b.element.size();
}

bool SameMaps(const OperandIndexing& a, const OperandIndexing& b) {
  if (a.label().exactness != b.label().exactness || a.IsUnknown() != b.IsUnknown() ||
      (a.replica_map() == nullptr) != (b.replica_map() == nullptr)) {
    return false;
  }
  if (a.IsUnknown()) return true;
  if (a.map().num_dims() != b.map().num_dims() ||
      a.map().num_runtimes() != b.map().num_runtimes()) {
    return false;
  }
  std::vector<int> order(a.bindings().size());
  std::iota(order.begin(), order.end(), 0);
  const IndexingMap of_a = WithElements(a, order);
  do {
    bool alike = true;
    for (size_t i = 0; i < order.size(); ++i) {
      alike = alike && BindAlike(a.bindings()[static_cast<size_t>(order[i])], b.bindings()[i]);
    }
    if (!alike) continue;
    const auto decision = SameRelation(of_a, WithElements(b, order));
    if (decision.ok() && decision->answer == Answer::kYes) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

// Whether each map of one set is one of the other.
bool SameSets(const OperandIndexingSet& a, const OperandIndexingSet& b) {
  const auto has = [](const OperandIndexingSet& set, const OperandIndexing& map) {
    return std::any_of(set.begin(), set.end(),
                       [&](const auto& other) { return SameMaps(map, other); });
  };
  return std::all_of(a.begin(), a.end(), [&](const auto& map) { return has(b, map); }) &&
         std::all_of(b.begin(), b.end(), [&](const auto& map) { return has(a, map); });
}

// Whether it is the whole array because the question was too long: then it says less than the program does.
bool IsCutShort(const OperandIndexingSet* set) {
  return set != nullptr && std::any_of(set->begin(), set->end(), [](const OperandIndexing& map) {
           return !map.IsExact() && absl::StrContains(map.label().reason, "steps");
         });
}

const OperandIndexingSet* FindSet(const InstructionIndexing& entries, const LeafComparison& leaf) {
  for (const IndexingEntry& entry : entries) {
    if (entry.output_leaf == leaf.output_leaf && entry.operand == leaf.parameter &&
        entry.operand_leaf == leaf.parameter_leaf) {
      return &entry.indexing;
    }
  }
  return nullptr;
}

class StableHloPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(StableHloPrograms, ReadTheSameAsTheirHlo) {
  const std::string stem = absl::StrCat(XLA_INDEXING_CORPUS_JAX, "/", GetParam());
  const std::string text = ContentsOf(absl::StrCat(stem, kStableHloEnding));
  const auto module = ReadAndVerifyStableHlo(text, GetParam());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto printed = ParseAndVerifyModule((*module)->ToString());
  ASSERT_TRUE(printed.ok()) << printed.status();
  std::string difference;
  EXPECT_TRUE(ModulesEqual(**module, **printed, &difference)) << difference;

  const std::string hlo_text = ContentsOf(absl::StrCat(stem, ".unopt.hlo"));
  if (hlo_text.empty()) {
    std::cout << GetParam() << ": there is no HLO of it\n";
    return;
  }
  if (text.size() > kMostBytesOfQuick && AskedEffort() == "quick") GTEST_SKIP() << "takes long";
  const auto hlo = ParseAndVerifyModule(hlo_text, GetParam());
  ASSERT_TRUE(hlo.ok()) << hlo.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloComputation& a = *(*module)->entry_computation();
  const HloComputation& b = *(*hlo)->entry_computation();
  const auto report = CompareReads(a, b, &context);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->difference, "");
  const bool is_converted = std::any_of(
      std::begin(kConverted), std::end(kConverted), [&](const ConvertedOperation& known) {
        return GetParam() == known.program && absl::StrContains(text, known.in_stablehlo) &&
               !absl::StrContains(hlo_text, known.not_in_hlo);
      });
  HloIndexer indexer(&context);
  std::optional<SharedIndexing> of_a, of_b;
  int decided = 0, alike = 0, converted = 0, cut_short = 0;
  for (const LeafComparison& leaf : report->leaves) {
    const std::string place =
        absl::StrCat("output leaf ", leaf.output_leaf, ", parameter ", leaf.parameter);
    EXPECT_NE(leaf.same, Answer::kNo) << place;
    if (leaf.same == Answer::kYes) {
      ++decided;
      continue;
    }
    if (!of_a.has_value()) {
      auto first = indexer.IndexSimplified(a, Direction::kOutputToInput);
      auto second = indexer.IndexSimplified(b, Direction::kOutputToInput);
      ASSERT_TRUE(first.ok() && second.ok());
      of_a = *std::move(first);
      of_b = *std::move(second);
    }
    const OperandIndexingSet* set_a = FindSet(**of_a, leaf);
    const OperandIndexingSet* set_b = FindSet(**of_b, leaf);
    if (set_a != nullptr && set_b != nullptr && SameSets(*set_a, *set_b)) {
      ++alike;
    } else if (is_converted) {
      ++converted;
    } else if (absl::StrContains(leaf.reason, "steps") || IsCutShort(set_a) || IsCutShort(set_b)) {
      ++cut_short;
    } else {
      ADD_FAILURE() << place << ": " << leaf.reason;
    }
  }
  std::cout << GetParam() << ": the same by decision " << decided << ", map by map " << alike
            << ", changed by the conversion " << converted << ", too long to tell " << cut_short
            << "\n";
}

INSTANTIATE_TEST_SUITE_P(
    Jax, StableHloPrograms, ::testing::ValuesIn(ProgramNames()), [](const auto& info) {
      std::string name = info.param;
      std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StableHloPrograms);

TEST(StableHloCorpus, IsThere) {
  if (ProgramNames().empty())
    GTEST_SKIP() << "NOT TESTED: no directory " << XLA_INDEXING_CORPUS_JAX;
}

}  // namespace
}  // namespace xla_indexing
