// Views of random sets of instructions against the execution of the module that they are of.
//
// The original is executed once. What a root of a view depends on is found by executing the
// instructions of the set again, one after the other in the original, on operands whose elements
// carry their sources. The maps are those of the view's computation; its runtime variables have the
// values that the original's execution gave to what was copied. From the root of a view to each of
// its instructions, what the root depends on is found in the same way.
#include "xla_indexing/fusion/fusion_view.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

using IsInside = std::function<bool(const HloInstruction&)>;

// What the roots of a view depend on in the original, whose computation was executed.
absl::StatusOr<Dependence> DependenceOfView(const FusionView& view, const Execution& execution,
                                            const IsInside& is_inside) {
  std::vector<const Value*> operands;
  for (const HloInstruction* operand : view.operands()) {
    operands.push_back(&execution.ValueOf(operand));
  }
  return DependenceOf(operands, [&](Operands numbered) -> absl::StatusOr<Value> {
    absl::flat_hash_map<const HloInstruction*, Value> values;
    for (const HloInstruction* i : view.roots().front()->parent()->instructions()) {
      if (const auto parameter = view.ParameterOf(*i)) {
        values[i] = *numbered[*parameter];
        continue;
      }
      if (i->opcode() == HloOpcode::kParameter || !is_inside(*i)) {
        Value value = execution.ValueOf(i);
        for (Array& array : value) {
          for (Element& element : array.elements()) element.sources.Clear();
        }
        values[i] = std::move(value);
        continue;
      }
      std::vector<const Value*> of_operands;
      for (const HloInstruction* operand : i->operands()) {
        of_operands.push_back(&values.at(operand));
      }
      absl::StatusOr<Value> value = ExecuteInstruction(*i, of_operands, execution);
      if (!value.ok()) return value;
      if (absl::Status status = SetShape(*i, &*value); !status.ok()) return status;
      values[i] = *std::move(value);
    }
    Value result;
    for (const HloInstruction* root : view.roots()) {
      const Value& value = values.at(root);
      result.insert(result.end(), value.begin(), value.end());
    }
    return result;
  });
}

// All executions of a computation, in those of the computations that call it.
void FindExecutions(const Execution& execution, const HloComputation* computation,
                    std::vector<const Execution*>* found) {
  for (const auto& [call, called] : execution.calls) {
    if (call.second == computation) found->push_back(called.get());
    FindExecutions(*called, computation, found);
  }
}

// The executions of the computations that `original` calls, as those of its copy.
void CopyCalls(const Execution& from, const HloInstruction* original, const HloInstruction* copy,
               Execution* to) {
  for (size_t i = 0; i < copy->called_computations().size(); ++i) {
    const HloComputation* called = original->called_computations()[i];
    const HloComputation* called_copy = copy->called_computations()[i];
    const auto known = from.calls.find({original, called});
    if (known == from.calls.end()) continue;
    auto execution = std::make_unique<Execution>();
    execution->seed = known->second->seed;
    execution->options = known->second->options;
    execution->runs = known->second->runs;
    for (int64_t k = 0; k < called->instruction_count(); ++k) {
      const HloInstruction* inner = called->instructions()[k];
      const HloInstruction* inner_copy = called_copy->instructions()[k];
      execution->values[inner_copy] = known->second->ValueOf(inner);
      CopyCalls(*known->second, inner, inner_copy, execution.get());
    }
    to->calls[{copy, called_copy}] = std::move(execution);
  }
}

// The execution of the view, with the values of the original; Unimplemented where the same
// instruction was executed several times.
absl::StatusOr<Execution> ExecutionOfView(const FusionView& view, const Execution& execution) {
  Execution of_view;
  of_view.seed = execution.seed;
  of_view.options = execution.options;
  for (const HloInstruction* copy : view.computation().instructions()) {
    const HloInstruction* original = view.OriginalOf(*copy);
    if (original == nullptr) {
      of_view.values[copy] = Value();
      continue;
    }
    const Execution* where = &execution;
    if (original->parent() != view.roots().front()->parent()) {
      std::vector<const Execution*> found;
      FindExecutions(execution, original->parent(), &found);
      if (found.size() != 1) return absl::UnimplementedError("executed several times");
      where = found[0];
    }
    of_view.values[copy] = where->ValueOf(original);
    CopyCalls(*where, original, copy, &of_view);
  }
  return of_view;
}

std::string TextOf(const InstructionIndexing& entries) {
  std::string text;
  for (const IndexingEntry& entry : entries) {
    for (const OperandIndexing& map : entry.indexing) {
      absl::StrAppend(&text, entry.output_leaf, " ", entry.operand, " ", entry.operand_leaf, ": ",
                      map.ToString(), " ", static_cast<int>(map.IsExact()), "\n");
    }
  }
  return text;
}

// What the root of a computation depends on in one of its instructions, of which this is an
// execution.
absl::StatusOr<Dependence> DependenceOn(const HloInstruction& read,
                                        const HloComputation& computation,
                                        const Execution& execution) {
  return DependenceOf({&execution.ValueOf(&read)}, [&](Operands numbered) -> absl::StatusOr<Value> {
    absl::flat_hash_map<const HloInstruction*, Value> values;
    for (const HloInstruction* i : computation.instructions()) {
      Value& value = values[i];
      if (i == &read) {
        value = *numbered[0];
      } else if (i->operand_count() == 0) {
        value = execution.ValueOf(i);
        for (Array& array : value) {
          for (Element& element : array.elements()) element.sources.Clear();
        }
      } else {
        std::vector<const Value*> operands;
        for (const HloInstruction* operand : i->operands()) operands.push_back(&values.at(operand));
        absl::StatusOr<Value> computed = ExecuteInstruction(*i, operands, execution);
        if (!computed.ok()) return computed;
        if (absl::Status status = SetShape(*i, &*computed); !status.ok()) return status;
        values[i] = *std::move(computed);
      }
    }
    return values.at(computation.root_instruction());
  });
}

// The maps from the root to every instruction, in a walk that may take so many steps.
absl::Status CheckEachInstruction(const HloComputation& computation, const Execution& execution,
                                  int64_t max_steps, mlir::MLIRContext* context) {
  FusionOptions options;
  options.max_steps = max_steps;
  const auto reads = HloIndexer(context, options).IndexEachInstruction(computation);
  if (!reads.ok()) return reads.status();
  absl::flat_hash_map<const HloInstruction*, InstructionIndexing> entries;
  for (const InstructionReads& read : *reads) {
    entries[read.instruction].push_back({0, 0, read.leaf, read.indexing});
  }
  for (const HloInstruction* i : computation.instructions()) {
    const absl::StatusOr<Dependence> truth = DependenceOn(*i, computation, execution);
    if (!truth.ok()) return truth.status();
    SortEntries(&entries[i]);
    const absl::Status status =
        CheckEntries(entries[i], Direction::kOutputToInput, *truth,
                     computation.root_instruction()->shape(), {i}, execution);
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat("from the root to ", i->name(), " in ", max_steps,
                                              " steps: ", status.message()));
    }
  }
  return absl::OkStatus();
}

struct ViewTally {
  int checked = 0;
  int to_each = 0;
  int with_runtime_values = 0;
  int several_roots = 0;
  int larger = 0;  // more than two instructions that are no parameters
  int refused = 0;
};

absl::Status CheckView(const FusionView& view, const Execution& execution,
                       const IsInside& is_inside, mlir::MLIRContext* context, ViewTally* tally) {
  const HloComputation& computation = view.computation();
  // The printed text reads back as the same computation, with the same maps.
  const auto parsed = ParseAndVerifyModule(view.module().ToString());
  if (!parsed.ok()) return parsed.status();
  const absl::StatusOr<Dependence> truth = DependenceOfView(view, execution, is_inside);
  if (!truth.ok()) return truth.status();
  const absl::StatusOr<Execution> of_view = ExecutionOfView(view, execution);
  if (!of_view.ok()) return of_view.status();
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    for (const bool exact : {false, true}) {
      FusionOptions options;
      options.indexing.exact = exact;
      const auto entries = Entries(computation, direction, context, options);
      if (!entries.ok()) return entries.status();
      const auto of_parsed = Entries(*(*parsed)->entry_computation(), direction, context, options);
      if (!of_parsed.ok()) return of_parsed.status();
      if (TextOf(*entries) != TextOf(*of_parsed)) {
        return absl::InternalError(absl::StrCat(
            "the maps\n", TextOf(*entries), "are, when the view is parsed,\n", TextOf(*of_parsed)));
      }
      const absl::Status status =
          CheckEntries(*entries, direction, *truth, computation.root_instruction()->shape(),
                       computation.parameters(), *of_view);
      if (!status.ok()) return status;
      tally->with_runtime_values += absl::StrContains(TextOf(*entries), "rt0") ? 1 : 0;
    }
  }
  if (computation.root_instruction()->shape().IsArray()) {
    for (const int64_t max_steps : {FusionOptions().max_steps, int64_t{3}}) {
      const absl::Status status = CheckEachInstruction(computation, *of_view, max_steps, context);
      if (!status.ok()) return status;
    }
    ++tally->to_each;
  }
  ++tally->checked;
  tally->several_roots += view.roots().size() > 1 ? 1 : 0;
  tally->larger += computation.instruction_count() - computation.parameters().size() > 2 ? 1 : 0;
  return absl::OkStatus();
}

class ViewChecker {
 public:
  ViewChecker(const HloModule& module, uint64_t seed, mlir::MLIRContext* context, ViewTally* tally)
      : entry_(*module.entry_computation()),
        arguments_(RandomArguments(entry_, seed)),
        execution_(Execute(entry_, Pointers(arguments_), seed)),
        context_(context),
        tally_(tally) {}

  absl::Status status() const { return execution_.status(); }

  void Check(const absl::StatusOr<FusionView>& view, const std::string& what,
             const IsInside& is_inside) {
    if (!view.ok()) {
      // Random sets may be such that no fusion of them is possible, or part what belongs together.
      EXPECT_TRUE(absl::StrContains(view.status().message(), "a fusion of both would wait") ||
                  absl::StrContains(view.status().message(), "(all-reduce-done) has shape"))
          << view.status();
      ++tally_->refused;
      return;
    }
    const absl::Status status = CheckView(*view, *execution_, is_inside, context_, tally_);
    if (status.code() == absl::StatusCode::kUnimplemented) return;
    EXPECT_TRUE(status.ok()) << what << "\n"
                             << status.message() << "\n"
                             << view->module().ToString() << "\nof\n"
                             << entry_.parent()->ToString();
  }

 private:
  const HloComputation& entry_;
  const std::vector<Value> arguments_;
  const absl::StatusOr<Execution> execution_;
  mlir::MLIRContext* context_;
  ViewTally* tally_;
};

// An element of something outside that stands between two instructions of a set is in the set.
bool IsElementOf(const HloInstruction* instruction, const std::set<const HloInstruction*>& set) {
  while (instruction->opcode() == HloOpcode::kGetTupleElement && !set.contains(instruction)) {
    instruction = instruction->operand(0);
  }
  return set.contains(instruction);
}

void CheckViewsOf(uint64_t seed, mlir::MLIRContext* context, ViewTally* tally) {
  const auto module = ParseAndVerifyModule(RandomFusionModule(seed));
  ASSERT_TRUE(module.ok()) << module.status();
  if (DeviceCount(**module) > 1) return;
  const std::string text = (*module)->ToString();
  ViewChecker checker(**module, seed, context, tally);
  ASSERT_TRUE(checker.status().ok()) << checker.status();
  const HloComputation& entry = *(*module)->entry_computation();
  Random random(seed);
  std::vector<const HloInstruction*> computed;
  for (const HloInstruction* i : entry.instructions()) {
    if (i->opcode() != HloOpcode::kParameter) computed.push_back(i);
  }
  const auto in_set = [](const std::set<const HloInstruction*>& set) {
    return [&set](const HloInstruction& i) { return IsElementOf(&i, set); };
  };

  checker.Check(FusionView::OfComputation(entry), "all",
                [](const HloInstruction&) { return true; });
  for (int i = 0; i < 2; ++i) {
    // Neighbours in the list, which are often connected, and any.
    std::set<const HloInstruction*> set;
    const auto first = static_cast<size_t>(random.Between(0, computed.size() - 1));
    for (size_t k = first; k < computed.size() && k < first + 4; ++k) {
      if (k == first || !random.OneIn(4)) set.insert(computed[k]);
    }
    if (i == 1) set.insert(random.Pick(computed));
    checker.Check(
        FusionView::OfInstructions(std::vector<const HloInstruction*>(set.begin(), set.end())),
        "a set", in_set(set));
  }
  for (int i = 0; i < 2; ++i) {
    // The view goes from one or two roots to some instructions.
    std::set<const HloInstruction*> from;
    for (int k = random.Between(0, 2); k > 0; --k) from.insert(random.Pick(computed));
    std::vector<const HloInstruction*> roots = {random.Pick(computed)};
    if (random.OneIn(3)) roots.push_back(random.Pick(computed));
    checker.Check(
        FusionView::Between(std::vector<const HloInstruction*>(from.begin(), from.end()), roots),
        "between", [&](const HloInstruction& i) { return !from.contains(&i); });
  }
  const HloInstruction* consumer = random.Pick(computed);
  for (const HloInstruction* operand : consumer->operands()) {
    const HloInstruction* producer = operand;
    while (producer->opcode() == HloOpcode::kGetTupleElement) producer = producer->operand(0);
    if (producer->opcode() == HloOpcode::kParameter) continue;
    const std::set<const HloInstruction*> set = {producer, consumer};
    for (const auto is : {FusionView::ProducerIs::kInternal, FusionView::ProducerIs::kOutput}) {
      checker.Check(FusionView::OfProducerConsumer(*producer, *consumer, is), "two", in_set(set));
    }
  }
  EXPECT_EQ((*module)->ToString(), text);
}

TEST(RandomFusionViewTest, AgreesWithTheExecutionOfTheOriginal) {
  ViewTally tally;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < Cases(2000); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    CheckViewsOf(i, context.get(), &tally);
    if (HasFailure()) FAIL() << "seed " << i;
  }
  EXPECT_GT(tally.checked, Cases(8000));
  EXPECT_GT(tally.to_each, tally.checked / 6);
  EXPECT_GT(tally.larger, tally.checked / 2);
  EXPECT_GT(tally.several_roots, tally.checked / 10);
  EXPECT_GT(tally.with_runtime_values, tally.checked / 10);
  EXPECT_GT(tally.refused, 0);
}

}  // namespace
}  // namespace xla_indexing::reference
