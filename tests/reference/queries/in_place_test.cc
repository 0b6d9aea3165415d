// Whether outputs may overwrite operands, against simulations of every order on a buffer whose bits
// remember whether they still hold the operand.
#include "xla_indexing/query/in_place/in_place.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/in_place_simulation.h"
#include "tests/reference/judge/tiled_layout.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/moving_module.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

struct InPlaceTally {
  int asked = 0;
  int any_order = 0;
  int in_order = 0;
  int is_unsafe = 0;
  int undecided = 0;
  int conflicts_with_values = 0;
  int conditions = 0;
  int conditions_that_hold = 0;
  int simulated = 0;  // orders
  int under_threads = 0;
  int unsafe_under_threads = 0;
  std::map<std::string, int> reasons;  // of undecided ones, without the digits of names

  void AddUndecided(std::string reason) {
    ++undecided;
    std::erase_if(reason, [](unsigned char c) { return absl::ascii_isdigit(c); });
    ++reasons[reason];
  }

  std::string ToString() const {
    std::string text = absl::StrCat(
        asked, " pairs: any order ", any_order, ", in an order ", in_order, ", unsafe ", is_unsafe,
        ", undecided ", undecided, "; conflicts with values ", conflicts_with_values,
        ", conditions ", conditions, ", that hold ", conditions_that_hold, ", orders simulated ",
        simulated, ", under threads ", under_threads, ", unsafe ", unsafe_under_threads);
    for (const auto& [reason, count] : reasons) absl::StrAppend(&text, "\n  ", count, " ", reason);
    return text;
  }
};

class InPlaceChecker {
 public:
  InPlaceChecker(const HloModule& module, uint64_t seed, bool is_moving_module,
                 mlir::MLIRContext* context, InPlaceTally* tally)
      : is_moving_module_(is_moving_module),
        entry_(*module.entry_computation()),
        seed_(seed),
        random_(seed + 1),
        context_(context),
        tally_(*tally) {
    FusionOptions options;
    options.indexing.exact = true;
    const auto entries = Entries(entry_, Direction::kOutputToInput, context, options);
    for (const IndexingEntry& entry : entries.value_or(InstructionIndexing())) {
      for (const OperandIndexing& map : entry.indexing) {
        has_runtime_values_ |= map.map().num_runtimes() > 0;
      }
    }
    for (const HloInstruction* i : entry_.instructions()) {
      has_select_ |= i->opcode() == HloOpcode::kSelect;
      has_calls_ |= i->inlined_computation() != nullptr;
    }
  }

  void Check() {
    auto analysis = InPlaceAnalysis::OfComputation(entry_, context_);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    const std::vector<SharedBuffer> candidates = analysis->Candidates();
    if (candidates.empty() || has_calls_) return;
    arguments_ = RandomArguments(entry_, seed_);
    const auto execution = Execute(entry_, Pointers(arguments_), seed_);
    const auto dependence = DependenceOfComputation(entry_, Pointers(arguments_), seed_);
    if (!execution.ok() || !dependence.ok()) return;
    for (const SharedBuffer& buffer : candidates) {
      const auto truth = InPlaceTruthOf(entry_, *execution, *dependence, buffer);
      if (!truth.ok()) return;
      CheckPair(*truth, buffer, &*analysis);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "output " << buffer.output_leaf << " operand " << buffer.operand.operand;
        return;
      }
    }
  }

 private:
  void CheckPair(const InPlaceTruth& truth, const SharedBuffer& buffer, InPlaceAnalysis* analysis) {
    const auto safety = analysis->Safety(buffer);
    ASSERT_TRUE(safety.ok()) << safety.status();
    SCOPED_TRACE(safety->ToString());
    ++tally_.asked;
    const auto count = static_cast<int64_t>(truth.written.size());
    switch (safety->answer) {
      case InPlaceAnswer::kAnyOrder:
        ++tally_.any_order;
        EXPECT_FALSE(truth.HasOutsideConflict());
        // In parallel any element may be written before any other has read.
        for (int64_t e = 0; e < count; ++e) {
          for (int64_t f = 0; f < count; ++f) EXPECT_FALSE(truth.AreInConflict(e, f)) << e << f;
        }
        CheckAllPermutations(truth);
        CheckOrders(truth, {});
        break;
      case InPlaceAnswer::kInOrder:
        ++tally_.in_order;
        EXPECT_FALSE(truth.HasOutsideConflict());
        CheckOrders(truth, safety->order);
        CheckConflict(truth, buffer, *safety);
        break;
      case InPlaceAnswer::kUnsafe:
        ++tally_.is_unsafe;
        ASSERT_TRUE(safety->conflict);
        CheckConflict(truth, buffer, *safety);
        // What runtime values lead to conflicts may differ from order to order.
        if (HasNoContents(*safety) && !has_runtime_values_ && !truth.HasOutsideConflict()) {
          for (const std::vector<int64_t>& order : OrdersOf(truth)) {
            ++tally_.simulated;
            EXPECT_TRUE(truth.IsCorrupted(order));
          }
        }
        break;
      case InPlaceAnswer::kUndecided:
        tally_.AddUndecided(safety->reason);
        EXPECT_NE(safety->reason, "");
        break;
    }
    for (const RuntimeCondition& condition : safety->conditions) CheckCondition(truth, condition);
    CheckWritten(truth, buffer, analysis);
    CheckThreads(truth, buffer, analysis);
  }

  // Whether what was executed is what the conflict is about: it depends on no values.
  bool HasNoContents(const InPlaceSafety& safety) const {
    return !has_select_ && safety.conflict && safety.conflict->runtime_values.empty();
  }

  // The orders that `unsafe` is about: all nests of loops.
  std::vector<std::vector<int64_t>> OrdersOf(const InPlaceTruth& truth) {
    std::vector<std::vector<int64_t>> orders;
    for (const LoopOrder& order : OrdersThatBeginWith({}, truth.output.rank(), &random_)) {
      orders.push_back(ElementsIn(order, truth.output));
    }
    return orders;
  }

  void CheckAllPermutations(const InPlaceTruth& truth) {
    if (truth.written.size() > 4) return;
    std::vector<int64_t> order(truth.written.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      ++tally_.simulated;
      EXPECT_FALSE(truth.IsCorrupted(order));
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void CheckOrders(const InPlaceTruth& truth, const LoopOrder& begin) {
    for (const LoopOrder& order : OrdersThatBeginWith(begin, truth.output.rank(), &random_)) {
      ++tally_.simulated;
      EXPECT_FALSE(truth.IsCorrupted(ElementsIn(order, truth.output)));
    }
  }

  // The program runs with the values that the conflict names, and with some mask the elements meet as it
  // says.
  void CheckConflict(const InPlaceTruth& truth, const SharedBuffer& buffer,
                     const InPlaceSafety& safety) {
    if (!safety.conflict) return;
    if (HasNoContents(safety)) return CheckConflictIn(truth, *safety.conflict);
    if (!is_moving_module_) return;
    std::vector<Value> arguments = arguments_;
    for (const auto& [name, value] : safety.conflict->runtime_values) {
      Integer* const place = PlaceOfValue(name, &arguments);
      if (place == nullptr) return;
      *place = value;
    }
    constexpr int64_t kMaskParameter = 3;
    const size_t mask_size = arguments[kMaskParameter][0].elements().size();
    const int64_t num_masks = has_select_ ? int64_t{1} << mask_size : 1;
    for (int64_t bits = 0; bits < num_masks; ++bits) {
      for (size_t i = 0; has_select_ && i < mask_size; ++i) {
        arguments[kMaskParameter][0].elements()[i].value = bits >> i & 1;
      }
      const auto execution = Execute(entry_, Pointers(arguments), seed_);
      const auto dependence = DependenceOfComputation(entry_, Pointers(arguments), seed_);
      if (!execution.ok() || !dependence.ok()) return;
      const auto with_values = InPlaceTruthOf(entry_, *execution, *dependence, buffer);
      if (!with_values.ok()) return;
      const int64_t writer =
          PositionOf(truth.output.dimensions(),
                     Index(safety.conflict->writer.begin(), safety.conflict->writer.end()));
      if (bits + 1 < num_masks && !with_values->changes[writer]) continue;
      ++tally_.conflicts_with_values;
      return CheckConflictIn(*with_values, *safety.conflict);
    }
  }

  void CheckConflictIn(const InPlaceTruth& truth, const InPlaceConflict& conflict) {
    const auto at = [](const Shape& array, const std::vector<int64_t>& element) {
      return PositionOf(array.dimensions(), Index(element.begin(), element.end()));
    };
    const int64_t r = at(truth.operand_shape, conflict.operand);
    const int64_t e = at(truth.output, conflict.writer);
    EXPECT_TRUE(truth.operand[r].Meets(truth.written[e]));
    const Bits byte{conflict.byte * 8, conflict.byte * 8 + 8};
    EXPECT_TRUE(byte.Meets(truth.operand[r]) && byte.Meets(truth.written[e]));
    EXPECT_TRUE(truth.changes[e]);
    if (conflict.reader_leaf && truth.read_from_outside.contains(r)) return;
    const int64_t f = at(truth.output, conflict.reader);
    EXPECT_TRUE(std::count(truth.reads[f].begin(), truth.reads[f].end(), r));
    EXPECT_NE(truth.iteration[e], truth.iteration[f]);
    // The order in which the writer comes first.
    std::vector<int64_t> order = {e, f};
    for (size_t i = 0; i < truth.written.size(); ++i) {
      if (static_cast<int64_t>(i) != e && static_cast<int64_t>(i) != f) {
        order.push_back(static_cast<int64_t>(i));
      }
    }
    ++tally_.simulated;
    EXPECT_TRUE(truth.IsCorrupted(order));
  }

  // Where the value of `start` or of `at{1,0}` is.
  Integer* PlaceOfValue(const std::string& name, std::vector<Value>* arguments) const {
    const std::vector<std::string> parts = absl::StrSplit(name, absl::ByAnyChar("{,}"));
    for (const HloInstruction* parameter : entry_.parameters()) {
      if (parameter->name() != parts[0] || !parameter->shape().IsArray()) continue;
      Index index;
      for (int64_t i = 0; i < parameter->shape().rank(); ++i) {
        index.push_back(std::stoll(parts[i + 1]));
      }
      Array& array = (*arguments)[parameter->parameter_number()][0];
      return &*array.elements()[PositionOf(parameter->shape().dimensions(), index)].value;
    }
    return nullptr;
  }

  // The value of what a condition is about, `start` or `start - other`, as operations use it; none
  // where that is not a scalar parameter.
  std::optional<int64_t> ValueOf(const std::string& name, int64_t least, int64_t most) const {
    for (const HloInstruction* parameter : entry_.parameters()) {
      if (parameter->name() != name || !parameter->shape().IsArray() ||
          parameter->shape().rank() != 0) {
        continue;
      }
      const auto& value = arguments_[parameter->parameter_number()][0].elements()[0].value;
      return static_cast<int64_t>(std::clamp<Integer>(*value, least, most));
    }
    return std::nullopt;
  }

  void CheckCondition(const InPlaceTruth& truth, const RuntimeCondition& condition) {
    ++tally_.conditions;
    // A start of u64 has no end.
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const Interval& values = condition.values;
    const std::optional<int64_t> value =
        ValueOf(condition.runtime, values.lower(), values.has_upper() ? values.upper() : kMost);
    if (!value || condition.unsafe.Contains(*value)) return;
    SCOPED_TRACE(absl::StrCat(condition.ToString(), ": ", *value));
    ++tally_.conditions_that_hold;
    EXPECT_FALSE(truth.HasOutsideConflict());
    CheckOrders(truth, condition.order);
    if (!condition.order.empty()) return;
    const auto count = static_cast<int64_t>(truth.written.size());
    for (int64_t e = 0; e < count; ++e) {
      for (int64_t f = 0; f < count; ++f) EXPECT_FALSE(truth.AreInConflict(e, f));
    }
  }

  void CheckWritten(const InPlaceTruth& truth, const SharedBuffer& buffer,
                    InPlaceAnalysis* analysis) {
    const auto written = analysis->Written(buffer);
    ASSERT_TRUE(written.ok()) << written.status();
    const auto changed = std::count(truth.changes.begin(), truth.changes.end(), true);
    EXPECT_TRUE(!written->count.has_upper() || changed <= written->count.upper())
        << changed << " " << written->count.ToString();
    if (has_select_ || !written->count.IsPoint()) return;
    for (const OperandIndexing& map : written->elements) {
      if (map.map().num_runtimes() > 0) return;
    }
    if (is_moving_module_) {
      EXPECT_EQ(changed, written->count.lower());
    }
  }

  // Each dimension is a thread's, a loop's, or is accessed at once.
  void CheckThreads(const InPlaceTruth& truth, const SharedBuffer& buffer,
                    InPlaceAnalysis* analysis) {
    const auto rank = static_cast<int>(truth.output.rank());
    if (rank == 0 || WidthOf(truth.output) < 8) return;
    std::vector<int> threads;
    std::vector<int> loops;
    llvm::SmallVector<int, 1> together;
    std::vector<bool> is_together(rank, false);
    std::vector<int> shuffled(rank);
    std::iota(shuffled.begin(), shuffled.end(), 0);
    random_.Shuffle(&shuffled);
    for (const int dim : shuffled) {
      if (random_.OneIn(2)) {
        threads.push_back(dim);
      } else {
        if (random_.OneIn(3)) {
          together.push_back(static_cast<int>(loops.size()));
          is_together[dim] = true;
        }
        loops.push_back(dim);
      }
    }
    Variables dims;
    Variables ranges;
    llvm::SmallVector<mlir::AffineExpr, 4> results(rank);
    for (size_t i = 0; i < threads.size(); ++i) {
      dims.push_back({Interval::OfSize(truth.output.dimension(threads[i])), {}});
      results[threads[i]] = mlir::getAffineDimExpr(i, context_);
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      ranges.push_back({Interval::OfSize(truth.output.dimension(loops[i])), {}});
      results[loops[i]] = mlir::getAffineSymbolExpr(i, context_);
    }
    const mlir::AffineMap map =
        mlir::AffineMap::get(threads.size(), loops.size(), results, context_);
    const auto safety = analysis->SafetyUnder(
        buffer, {IndexingMap(kPartsFit, map, std::move(dims), std::move(ranges), {}), together});
    ASSERT_TRUE(safety.ok()) << safety.status();
    if (safety->answer == InPlaceAnswer::kUndecided) return;
    ++tally_.under_threads;
    std::vector<Index> indices;
    ForEachIndex(truth.output.dimensions(), [&](const Index& index) { indices.push_back(index); });
    bool is_wrong = truth.HasOutsideConflict();
    for (size_t e = 0; e < indices.size(); ++e) {
      for (size_t f = 0; f < indices.size(); ++f) {
        if (!truth.AreInConflict(static_cast<int64_t>(e), static_cast<int64_t>(f))) continue;
        const bool is_other_thread = std::any_of(threads.begin(), threads.end(), [&](int dim) {
          return indices[e][dim] != indices[f][dim];
        });
        bool is_before = is_other_thread;
        for (const int dim : loops) {
          if (is_other_thread) break;
          if (is_together[dim] || indices[e][dim] == indices[f][dim]) continue;
          is_before = indices[e][dim] < indices[f][dim];
          break;
        }
        is_wrong |= is_before;
      }
    }
    SCOPED_TRACE(map.getNumResults());
    if (safety->answer == InPlaceAnswer::kAnyOrder) {
      EXPECT_FALSE(is_wrong);
    } else {
      ++tally_.unsafe_under_threads;
      if (HasNoContents(*safety)) {
        EXPECT_TRUE(is_wrong);
      }
    }
  }

  const bool is_moving_module_;
  const HloComputation& entry_;
  const uint64_t seed_;
  Random random_;
  mlir::MLIRContext* context_;
  InPlaceTally& tally_;
  std::vector<Value> arguments_;
  bool has_runtime_values_ = false;
  bool has_select_ = false;
  bool has_calls_ = false;
};

void CheckModulesInPlace(int count, bool are_moving, InPlaceTally* tally) {
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < count; ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const std::string text = are_moving ? MovingModuleText(i) : RandomFusionModule(i);
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    if (DeviceCount(**module) > 1) continue;
    InPlaceChecker(**module, i, are_moving, context.get(), tally).Check();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i << "\n" << text;
  }
}

TEST(RandomInPlaceTest, AgreesWithSimulationsOfModulesThatMoveElements) {
  InPlaceTally tally;
  CheckModulesInPlace(LongCases(8000), /*are_moving=*/true, &tally);
  std::cout << tally.ToString() << "\n";
  EXPECT_GT(tally.any_order, tally.asked / 4);
  EXPECT_GT(tally.in_order, tally.asked / 20);
  EXPECT_GT(tally.is_unsafe, tally.asked / 20);
  const int narrow = tally.reasons["elements are narrower than a byte, and rows no whole bytes"];
  EXPECT_LE(tally.undecided - narrow, tally.asked / 150 + 5);
  EXPECT_GT(tally.conditions, tally.asked / 100);
  EXPECT_GT(tally.conditions_that_hold, tally.asked / 200);
  // Programs that ran with the values that a conflict names.
  EXPECT_GT(tally.conflicts_with_values, tally.asked / 20);
}

TEST(RandomInPlaceTest, AgreesWithSimulationsOfAnyFusions) {
  InPlaceTally tally;
  CheckModulesInPlace(Cases(8000), /*are_moving=*/false, &tally);
  std::cout << tally.ToString() << "\n";
  int elsewhere = 0;
  for (const auto& [reason, count] : tally.reasons) {
    if (reason == "an element of another device is read" || absl::StrContains(reason, "(async-")) {
      elsewhere += count;
    }
  }
  EXPECT_LT(tally.undecided - elsewhere, tally.asked / 30);
}

}  // namespace
}  // namespace xla_indexing::reference
