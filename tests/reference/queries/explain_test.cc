// Chains of reads against breadth-first searches over executed instructions.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/query/explain/explain_dependence.h"

namespace xla_indexing::reference {
namespace {

using Node = std::tuple<const HloInstruction*, int64_t, int64_t>;  // leaf, position

std::vector<int64_t> ElementAt(const Shape& array, int64_t position) {
  std::vector<int64_t> element(array.rank());
  for (int64_t i = array.rank() - 1; i >= 0; --i) {
    element[i] = position % array.dimensions()[i];
    position /= array.dimensions()[i];
  }
  return element;
}

int64_t PlaceInShape(const Shape& array, const std::vector<int64_t>& element) {
  int64_t position = 0;
  for (int64_t i = 0; i < array.rank(); ++i) {
    position = position * array.dimensions()[i] + element[i];
  }
  return position;
}

struct ChainTally {
  int yes = 0;
  int no = 0;
  int with_values = 0;
  int undecided = 0;
  int long_chains = 0;
  int shortest = 0;
};

// The elements that each element reads, for the values of one execution.
class ElementReads {
 public:
  explicit ElementReads(const Execution& execution) : execution_(execution) {}

  bool CanRead(const HloInstruction& instruction) { return Of(instruction) != nullptr; }
  std::vector<Node> ReadBy(const Node& node) {
    const auto& [instruction, leaf, position] = node;
    std::vector<Node> read;
    if (instruction->opcode() == HloOpcode::kParameter) return read;
    for (const auto& [pair, relation] : *Of(*instruction)) {
      if (pair.output_leaf != leaf) continue;
      const auto first = std::lower_bound(relation.begin(), relation.end(),
                                          std::pair<int64_t, int64_t>(position, -1));
      for (auto it = first; it != relation.end() && it->first == position; ++it) {
        read.emplace_back(instruction->operand(pair.operand), pair.operand_leaf, it->second);
      }
    }
    return read;
  }

 private:
  const Dependence* Of(const HloInstruction& instruction) {
    auto [it, is_new] = known_.try_emplace(&instruction);
    if (is_new) {
      auto truth = DependenceOfInstruction(instruction, execution_);
      if (truth.ok()) it->second = std::make_unique<Dependence>(*std::move(truth));
    }
    return it->second.get();
  }

  const Execution& execution_;
  std::map<const HloInstruction*, std::unique_ptr<Dependence>> known_;
};

void CheckChains(uint64_t seed, mlir::MLIRContext* context, ChainTally* tally) {
  std::vector<HloOpcode> opcodes;
  for (const HloOpcode opcode : RandomOpcodes()) {
    if (opcode != HloOpcode::kFusion && opcode != HloOpcode::kCall && opcode != HloOpcode::kTuple &&
        opcode != HloOpcode::kGetTupleElement) {
      opcodes.push_back(opcode);
    }
  }
  const auto module = ParseAndVerifyModule(RandomFusionModule(opcodes, seed));
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const auto arguments = RandomArguments(entry, seed);
  const auto execution = Execute(entry, Pointers(arguments), seed);
  if (!execution.ok()) return;
  ElementReads reads(*execution);
  std::map<std::string, const HloInstruction*> by_name;
  for (const HloInstruction* instruction : entry.instructions()) {
    // What is routed is no step of a view, and chains go through loops and branches.
    if (instruction->opcode() == HloOpcode::kGetTupleElement ||
        !instruction->called_computations().empty()) {
      if (instruction->opcode() != HloOpcode::kReduce) return;
    }
    if (instruction->opcode() != HloOpcode::kParameter && !reads.CanRead(*instruction)) return;
    by_name[std::string(instruction->name())] = instruction;
  }
  const HloInstruction& root = *entry.root_instruction();
  HloIndexers indexers(context);
  // A chain of exact maps is preferred to a shorter one of maps that are not.
  bool is_exact = true;
  for (const HloInstruction* instruction : entry.instructions()) {
    const auto entries = indexers.usual().Index(*instruction, Direction::kOutputToInput);
    ASSERT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& of : **entries) is_exact = is_exact && of.indexing.label().IsExact();
  }
  Random random(seed);
  for (int i = 0; i < 4; ++i) {
    if (root.shape().LeafCount() == 0 || entry.parameters().empty()) return;
    const int64_t leaf = random.Between(0, root.shape().LeafCount() - 1);
    const Shape& output = root.shape().Leaf(leaf);
    const int64_t number = random.Between(0, entry.parameters().size() - 1);
    const HloInstruction& parameter = *entry.parameters()[number];
    if (!output.IsArray() || !parameter.shape().IsArray() || *output.ElementCount() == 0 ||
        *parameter.shape().ElementCount() == 0) {
      continue;
    }
    const Node start(&root, leaf, random.Between(0, *output.ElementCount() - 1));
    std::map<Node, int64_t> length = {{start, 1}};
    std::deque<Node> queue = {start};
    std::vector<int64_t> found;
    while (!queue.empty()) {
      const Node node = queue.front();
      queue.pop_front();
      if (std::get<0>(node) == &parameter) found.push_back(std::get<2>(node));
      for (const Node& next : reads.ReadBy(node)) {
        if (length.emplace(next, length.at(node) + 1).second) queue.push_back(next);
      }
    }
    const int64_t target = found.empty() || random.OneIn(3)
                               ? random.Between(0, *parameter.shape().ElementCount() - 1)
                               : random.Pick(found);
    const auto known = length.find(Node(&parameter, 0, target));
    const auto report = ExplainDependence(entry,
                                          {leaf, ElementAt(output, std::get<2>(start)), number, 0,
                                           ElementAt(parameter.shape(), target)},
                                          indexers);
    ASSERT_TRUE(report.ok()) << report.status();
    const std::string said = DependenceText(*report) + "\n" + (*module)->ToString();
    if (report->answer == Answer::kNo) {
      ASSERT_TRUE(known == length.end()) << said;
      ++tally->no;
      continue;
    }
    if (report->answer == Answer::kUndecided) {
      ++tally->undecided;
      continue;
    }
    const auto steps = static_cast<int64_t>(report->steps.size());
    if (is_exact && known != length.end()) {
      ASSERT_LE(steps, known->second) << said;
    }
    if (report->depends_on_values) {
      ++tally->with_values;
      continue;
    }
    ASSERT_TRUE(known != length.end()) << said;
    if (is_exact) {
      ASSERT_EQ(steps, known->second) << said;
      ++tally->shortest;
    }
    ++tally->yes;
    tally->long_chains += steps > 3 ? 1 : 0;
    Node at = start;
    for (int64_t k = 1; k < steps; ++k) {
      const DependenceStep& step = report->steps[k];
      const HloInstruction* instruction = by_name.at(step.instruction);
      const Node next(instruction, step.leaf,
                      PlaceInShape(instruction->shape().Leaf(step.leaf), step.element));
      const std::vector<Node> read = reads.ReadBy(at);
      ASSERT_TRUE(std::find(read.begin(), read.end(), next) != read.end()) << k << " of\n" << said;
      at = next;
    }
    ASSERT_EQ(at, Node(&parameter, 0, target)) << said;
  }
}

// A loop of up to four iterations over two arrays, whose elements move and are added.
std::string CountedLoop(uint64_t seed) {
  Random random(seed);
  const int64_t size = random.Between(1, 5);
  std::string body;
  int count = 0;
  std::vector<std::string> arrays = {"a", "b"};
  const auto line = [&](const std::string& what) {
    const std::string name = absl::StrCat("v", ++count);
    absl::SubstituteAndAppend(&body, "  $0 = f32[$1] $2\n", name, size, what);
    arrays.push_back(name);
  };
  const auto any = [&] { return random.Pick(arrays); };
  for (int64_t i = random.Between(1, 5); i > 0; --i) {
    switch (random.Between(0, 3)) {
      case 0:
        line(absl::Substitute("reverse($0), dimensions={0}", any()));
        break;
      case 1:
        line(absl::Substitute("pad($0, zero), padding=1_-1", any()));
        break;
      case 2:
        line(absl::Substitute("dynamic-update-slice($0, one_of_b, i)", any()));
        break;
      default:
        line(absl::Substitute("add($0, $1)", any(), any()));
    }
  }
  return absl::Substitute(R"(HloModule counted
body { s = (s32[], f32[$0], f32[$0]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[$0] get-tuple-element(s), index=1
  b = f32[$0] get-tuple-element(s), index=2
  step = s32[] constant($1)
  next = s32[] add(i, step)
  zero = f32[] constant(0)
  one_of_b = f32[1] dynamic-slice(b, i), dynamic_slice_sizes={1}
$2  ROOT t = (s32[], f32[$0], f32[$0]) tuple(next, $3, $4) }
until { s = (s32[], f32[$0], f32[$0]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant($5)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[$0] parameter(0)  q = f32[$0] parameter(1)
  begin = s32[] constant(0)
  state = (s32[], f32[$0], f32[$0]) tuple(begin, p, q)
  w = (s32[], f32[$0], f32[$0]) while(state), condition=until, body=body
  x = f32[$0] get-tuple-element(w), index=1
  ROOT r = f32[$0] negate(x) }
)",
                          size, random.Between(1, 2), body, any(), any(), random.Between(0, 4));
}

// Chains through loops and branches: whether there is one, and how it begins and ends.
void CheckAnswers(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                  ChainTally* tally) {
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const auto arguments = RandomArguments(entry, seed);
  const auto truth = DependenceOfComputation(entry, Pointers(arguments), seed);
  if (!truth.ok()) return;
  HloIndexers indexers(context);
  Random random(seed);
  const Shape& result = entry.root_instruction()->shape();
  for (int i = 0; i < 6 && result.LeafCount() > 0 && !entry.parameters().empty(); ++i) {
    const int64_t leaf = random.Between(0, result.LeafCount() - 1);
    const int64_t number = random.Between(0, entry.parameters().size() - 1);
    const Shape& operand = entry.parameters()[number]->shape();
    const Shape& output = result.Leaf(leaf);
    if (!output.IsArray() || !operand.IsArray() || *output.ElementCount() == 0 ||
        *operand.ElementCount() == 0) {
      continue;
    }
    const int64_t from = random.Between(0, *output.ElementCount() - 1);
    const int64_t to = random.Between(0, *operand.ElementCount() - 1);
    const auto relation = truth->find({leaf, number, 0});
    const bool depends =
        relation != truth->end() &&
        std::binary_search(relation->second.begin(), relation->second.end(), std::pair(from, to));
    const auto report = ExplainDependence(
        entry, {leaf, ElementAt(output, from), number, 0, ElementAt(operand, to)}, indexers);
    ASSERT_TRUE(report.ok()) << report.status();
    const std::string said = DependenceText(*report) + "\n" + (*module)->ToString();
    if (report->answer == Answer::kUndecided) {
      ++tally->undecided;
      continue;
    }
    // Other values may lead elsewhere.
    if (report->answer == Answer::kNo) {
      ASSERT_FALSE(depends) << said;
      ++tally->no;
      continue;
    }
    if (report->depends_on_values) {
      ++tally->with_values;
      continue;
    }
    ASSERT_TRUE(depends) << said;
    ++tally->yes;
    ASSERT_EQ(report->steps.back().element, ElementAt(operand, to)) << said;
    for (const DependenceStep& step : report->steps) {
      ASSERT_TRUE(step.iterations.empty() || step.repeats <= step.iterations.back() + 1) << said;
      if (!step.iterations.empty()) ++tally->long_chains;
    }
  }
}

TEST(RandomChainTest, AreThereWhereElementsDependThroughLoops) {
  ChainTally tally;
  std::unique_ptr<mlir::MLIRContext> context;
  const int count = Cases(2000);
  for (int i = 0; i < count; ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    CheckAnswers(CountedLoop(i), i, context.get(), &tally);
    const std::vector<HloOpcode> opcodes = {
        HloOpcode::kWhile, HloOpcode::kConditional, HloOpcode::kAdd,  HloOpcode::kReverse,
        HloOpcode::kSlice, HloOpcode::kPad,         HloOpcode::kCall, HloOpcode::kConcatenate};
    CheckAnswers(RandomFusionModule(opcodes, i), i, context.get(), &tally);
    if (HasFailure()) FAIL() << "seed " << i;
  }
  EXPECT_GT(tally.yes, 0);
  EXPECT_GT(tally.no, 0);
  EXPECT_GT(tally.long_chains, 0) << "steps in iterations";
  std::cout << tally.yes << " depend, " << tally.no << " do not, " << tally.with_values
            << " for some values, " << tally.undecided << " undecided; " << tally.long_chains
            << " steps in iterations\n";
}

TEST(RandomChainTest, AreShortestChainsOfReads) {
  ChainTally tally;
  std::unique_ptr<mlir::MLIRContext> context;
  const int count = Cases(2000);
  for (int i = 0; i < count; ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    CheckChains(i, context.get(), &tally);
    if (HasFailure()) FAIL() << "seed " << i;
  }
  RecordProperty("yes", tally.yes);
  RecordProperty("no", tally.no);
  RecordProperty("with_values", tally.with_values);
  RecordProperty("undecided", tally.undecided);
  EXPECT_GT(tally.yes, count / 4) << tally.no << " " << tally.with_values << " " << tally.undecided;
  EXPECT_GT(tally.shortest, tally.yes / 2);
  EXPECT_GT(tally.no, count / 20);
  if (count < 1000) return;  // Few programs need not have all kinds of chains.
  EXPECT_GT(tally.with_values, 0);
  EXPECT_GT(tally.long_chains, 0);
  EXPECT_LT(tally.undecided, count / 4);
}

}  // namespace
}  // namespace xla_indexing::reference
