// Comparisons of random computations against their executions with the same arguments.
#include "xla_indexing/query/equivalence/equivalence.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

// The shapes of parameters and result.
std::string SignatureOf(const HloComputation& computation) {
  std::string text;
  for (const HloInstruction* parameter : computation.parameters()) {
    absl::StrAppend(&text, parameter->shape().ToStringWithoutLayout(), " ");
  }
  return absl::StrCat(text, "-> ", computation.root_instruction()->shape().ToStringWithoutLayout());
}

struct EquivalenceTally {
  int same = 0;
  int different = 0;
  int not_decided = 0;
};

bool Has(const Relation& relation, const PairOfOne& pair, const Shape& output,
         const Shape& operand) {
  const std::pair<int64_t, int64_t> positions = {
      PositionOf(output.dimensions(),
                 Index(pair.output_element.begin(), pair.output_element.end())),
      PositionOf(operand.dimensions(),
                 Index(pair.operand_element.begin(), pair.operand_element.end()))};
  return std::binary_search(relation.begin(), relation.end(), positions);
}

void Check(const HloComputation& a, const HloComputation& b, mlir::MLIRContext* context,
           EquivalenceTally* tally) {
  const std::vector<Value> arguments = RandomArguments(a, 1);
  const auto of_a = DependenceOfComputation(a, Pointers(arguments), 1);
  const auto of_b = DependenceOfComputation(b, Pointers(arguments), 1);
  ASSERT_TRUE(of_a.ok() && of_b.ok()) << of_a.status() << of_b.status();
  const auto report = CompareReads(a, b, context);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->difference, "");
  for (const LeafComparison& leaf : report->leaves) {
    const LeafPair place{leaf.output_leaf, leaf.parameter, leaf.parameter_leaf};
    const Relation& reads_of_a = of_a->at(place);
    const Relation& reads_of_b = of_b->at(place);
    if (leaf.same == Answer::kUndecided) {
      ++tally->not_decided;
    } else if (leaf.same == Answer::kYes) {
      ++tally->same;
      EXPECT_EQ(reads_of_a, reads_of_b);
    } else {
      ++tally->different;
      // With runtime values there may be a difference only for other arguments.
      if (!leaf.difference || !leaf.difference->runtime_values.empty()) continue;
      const Shape& output = a.root_instruction()->shape().Leaf(leaf.output_leaf);
      const Shape& operand = a.parameters()[leaf.parameter]->shape().Leaf(leaf.parameter_leaf);
      EXPECT_EQ(Has(reads_of_a, *leaf.difference, output, operand), leaf.difference->is_of_first);
      EXPECT_EQ(Has(reads_of_b, *leaf.difference, output, operand), !leaf.difference->is_of_first);
    }
  }
}

TEST(RandomEquivalenceTest, AgreesWithExecutions) {
  std::vector<std::unique_ptr<HloModule>> modules;
  std::map<std::string, std::vector<const HloComputation*>> alike;
  const std::vector<HloOpcode> opcodes = RandomOpcodes();
  for (int i = 0; i < Cases(12000); ++i) {
    const bool is_fusion = i % 4 == 0;
    auto module = ParseModule(is_fusion ? RandomFusionModule(i)
                                        : RandomOperationModule(opcodes[i % opcodes.size()], i));
    ASSERT_TRUE(module.ok()) << module.status();
    if (DeviceCount(**module) > 1) continue;
    const HloComputation* entry = (*module)->entry_computation();
    alike[SignatureOf(*entry)].push_back(entry);
    modules.push_back(*std::move(module));
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  EquivalenceTally tally;
  for (const auto& [signature, entries] : alike) {
    // The first with itself, each with two others.
    for (size_t i = 0; i < std::min<size_t>(entries.size(), 60); ++i) {
      for (const size_t j : {i - std::min<size_t>(i, 1), i / 2}) {
        const HloComputation& a = *entries[i];
        const HloComputation& b = *entries[j];
        Check(a, b, &context, &tally);
        if (HasFailure()) {
          FAIL() << a.parent()->ToString() << "\nbeside\n" << b.parent()->ToString();
        }
      }
    }
  }
  EXPECT_GT(tally.same, Cases(4000));
  // When only a part of the modules is run, too few pairs have one signature.
  if (IsFullEffort()) {
    EXPECT_GT(tally.different, 300);
  }
  EXPECT_LT(tally.not_decided, tally.same / 4);
}

}  // namespace
}  // namespace xla_indexing::reference
