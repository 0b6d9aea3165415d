// What is said of indices that programs compute of values that are not known, against all values of a
// scalar and many of an array: random arithmetic in types of eight bits, in which it wraps.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::reference {
namespace {

// A gather or scatter with windows along all dimensions of the operand, at vectors of indices that
// random arithmetic makes of an iota, a scalar `k` and an array `i`.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    type_ = random_.OneIn(2) ? "s8" : "u8";
    is_scatter_ = !random_.OneIn(3);
    has_batch_dim_ = random_.OneIn(4);
    const int64_t components = has_batch_dim_ ? 1 : random_.Between(1, 2);
    if (has_batch_dim_) {
      batch_sizes_ = {random_.Between(1, 3), random_.OneIn(2) ? 1 : 2};
      sizes_.push_back(batch_sizes_[0]);
      windows_.push_back(1);
    } else {
      batch_sizes_ = {random_.Between(1, 5)};
    }
    for (int64_t c = 0; c < components; ++c) {
      sizes_.push_back(random_.Between(1, 12));
      windows_.push_back(
          random_.OneIn(2) ? 1 : random_.Between(1, std::min<int64_t>(3, sizes_.back())));
    }
    const std::string batch = absl::StrJoin(batch_sizes_, ",");
    absl::StrAppend(&text_, "  x = f32[", absl::StrJoin(sizes_, ","),
                    "] parameter(0)\n  k = ", type_, "[] parameter(1)\n  i = ", type_, "[", batch,
                    "] parameter(2)\n");
    std::vector<std::string> columns;
    for (int64_t c = 0; c < components; ++c) {
      columns.push_back(Add(batch + ",1", absl::StrCat("reshape(", Index(c), ")")));
    }
    const std::string vectors =
        components == 1
            ? columns[0]
            : Add(batch + ",2", absl::StrCat("concatenate(", absl::StrJoin(columns, ", "),
                                             "), dimensions={", batch_sizes_.size(), "}"));
    AddRoot(vectors);
  }

  std::string Text() const {
    return absl::StrCat(
        "HloModule m\nput { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n"
        "ENTRY e {\n",
        text_, "}\n");
  }
  bool is_scatter() const { return is_scatter_; }

  struct Facts {
    bool is_sorted = true;
    bool is_unique = true;
    bool is_inside = true;
  };
  // What holds of the vectors of an execution, which are the second operand of the root.
  Facts FactsOf(const Array& vectors) const {
    Facts facts;
    std::set<std::vector<int64_t>> written;
    std::optional<std::vector<Integer>> last;
    ForEachIndex(batch_sizes_, [&](const reference::Index& batch) {
      std::vector<Integer> vector;
      if (has_batch_dim_) vector.push_back(batch[0]);
      while (vector.size() < sizes_.size()) {
        reference::Index at = batch;
        at.push_back(static_cast<int64_t>(vector.size()) - (has_batch_dim_ ? 1 : 0));
        vector.push_back(*vectors.at(at).value);
      }
      facts.is_sorted = facts.is_sorted && (!last || *last <= vector);
      last = vector;
      for (size_t k = 0; k < sizes_.size(); ++k) {
        if (vector[k] >= 0 && vector[k] <= sizes_[k] - windows_[k]) continue;
        facts.is_inside = false;
        return;  // The window is dropped.
      }
      ForEachIndex(windows_, [&](const reference::Index& offset) {
        std::vector<int64_t> element;
        for (size_t k = 0; k < sizes_.size(); ++k) {
          element.push_back(static_cast<int64_t>(vector[k]) + offset[k]);
        }
        if (!written.insert(std::move(element)).second) facts.is_unique = false;
      });
    });
    return facts;
  }

 private:
  std::string Add(const std::string& sizes, const std::string& call) {
    const std::string name = absl::StrCat("x", count_++);
    absl::StrAppend(&text_, "  ", name, " = ", type_, "[", sizes, "] ", call, "\n");
    return name;
  }
  std::string Apply(absl::string_view opcode, const std::vector<std::string>& operands) {
    return Add(absl::StrJoin(batch_sizes_, ","),
               absl::StrCat(opcode, "(", absl::StrJoin(operands, ", "), ")"));
  }
  std::string Constant(int64_t value) {
    return Apply("broadcast", {Add("", absl::StrCat("constant(", value, ")"))});
  }
  std::string Small() { return Constant(random_.Between(0, 13)); }

  // The last step often bounds the values, as programs do.
  std::string Index(int64_t component) {
    const int64_t last = sizes_[sizes_.size() - 1 - (has_batch_dim_ ? 0 : component)];
    const std::string value = Value(static_cast<int>(random_.Between(0, 3)));
    switch (random_.Between(0, 7)) {
      case 0:
        return Apply("clamp", {Constant(0), value, Constant(last - 1)});
      case 1:
        return Apply("minimum", {Apply("maximum", {Constant(0), value}), Small()});
      case 2:
        return Apply("and", {value, Constant(random_.Between(0, 1) == 0 ? 7 : 3)});
      case 3:
        return Apply("remainder", {value, Constant(last)});
      case 4: {
        const std::string rest = Apply("remainder", {value, Constant(last)});
        return Apply("select",
                     {Compare(rest, Constant(0)), Apply("add", {rest, Constant(last)}), rest});
      }
      default:
        return value;
    }
  }
  std::string Compare(const std::string& a, const std::string& b) {
    const std::string name = absl::StrCat("x", count_++);
    absl::StrAppend(&text_, "  ", name, " = pred[", absl::StrJoin(batch_sizes_, ","), "] compare(",
                    a, ", ", b, "), direction=LT\n");
    return name;
  }
  std::string Value(int depth) {
    if (depth == 0) {
      switch (random_.Between(0, 4)) {
        case 0:
          return "i";
        case 1:
          return Small();
        case 2:
          return Apply("broadcast", {"k"});
        default:
          return Add(
              absl::StrJoin(batch_sizes_, ","),
              absl::StrCat("iota(), iota_dimension=",
                           random_.Between(0, static_cast<int64_t>(batch_sizes_.size()) - 1)));
      }
    }
    static constexpr absl::string_view kUnary[] = {"abs", "negate", "not", "sign"};
    static constexpr absl::string_view kBinary[] = {
        "add", "add", "add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"};
    static constexpr absl::string_view kByConstant[] = {"multiply",
                                                        "divide",
                                                        "remainder",
                                                        "shift-left",
                                                        "shift-right-arithmetic",
                                                        "shift-right-logical",
                                                        "and"};
    const std::string x = Value(depth - 1);
    const int64_t way = random_.Between(0, 9);
    if (way == 0 && type_ == "s8") return Apply(random_.Pick(kUnary), {x});
    if (way <= 2) return Apply(random_.Pick(kByConstant), {x, Small()});
    const std::string y = Value(static_cast<int>(random_.Between(0, depth - 1)));
    if (way == 3) return Apply("select", {Compare(x, y), y, x});
    return Apply(random_.Pick(kBinary), {x, y});
  }

  void AddRoot(const std::string& vectors) {
    std::vector<int64_t> window_dims;
    std::vector<int64_t> indexed;
    std::vector<int64_t> moved = batch_sizes_;
    for (size_t k = has_batch_dim_ ? 1 : 0; k < sizes_.size(); ++k) {
      window_dims.push_back(static_cast<int64_t>(moved.size()));
      moved.push_back(windows_[k]);
      indexed.push_back(static_cast<int64_t>(k));
    }
    const std::string shape = absl::StrCat("f32[", absl::StrJoin(moved, ","), "]");
    const std::string dims = absl::StrJoin(window_dims, ",");
    const std::string map = absl::StrJoin(indexed, ",");
    const auto vector_dim = static_cast<int64_t>(batch_sizes_.size());
    if (is_scatter_) {
      absl::StrAppend(
          &text_, "  u = ", shape, " parameter(3)\n  ROOT r = f32[", absl::StrJoin(sizes_, ","),
          "] scatter(x, ", vectors, ", u), update_window_dims={", dims,
          "}, inserted_window_dims={}, scatter_dims_to_operand_dims={", map,
          has_batch_dim_ ? "}, input_batching_dims={0}, scatter_indices_batching_dims={0" : "",
          "}, index_vector_dim=", vector_dim, ", to_apply=put\n");
    } else {
      absl::StrAppend(
          &text_, "  ROOT r = ", shape, " gather(x, ", vectors, "), offset_dims={", dims,
          "}, collapsed_slice_dims={}, start_index_map={", map,
          has_batch_dim_ ? "}, operand_batching_dims={0}, start_indices_batching_dims={0" : "",
          "}, index_vector_dim=", vector_dim, ", slice_sizes={", absl::StrJoin(windows_, ","),
          "}\n");
    }
  }

  Random random_;
  std::string type_;
  bool is_scatter_ = false;
  bool has_batch_dim_ = false;
  std::vector<int64_t> batch_sizes_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> windows_;  // by dimension of the operand
  std::string text_;
  int count_ = 0;
};

// Whether what is written as `k in [0, 6], i[.., 1] in [2, 3]` is so in an execution.
bool Holds(const std::string& condition, const HloComputation& entry, const Execution& execution) {
  const std::string clauses = absl::StrCat(condition, ", ");
  for (const absl::string_view clause : absl::StrSplit(clauses, "], ")) {
    if (clause.empty()) continue;
    const std::pair<std::string, std::string> parts = absl::StrSplit(clause, " in [");
    const std::pair<std::string, std::string> ends = absl::StrSplit(parts.second, ", ");
    int64_t least = 0;
    int64_t greatest = 0;
    EXPECT_TRUE(absl::SimpleAtoi(ends.first, &least) && absl::SimpleAtoi(ends.second, &greatest))
        << condition;
    const std::pair<std::string, std::string> name = absl::StrSplit(parts.first, '[');
    std::vector<std::string> indices;
    if (!name.second.empty()) {
      indices = absl::StrSplit(absl::StripSuffix(name.second, "]"), ", ");
    }
    bool is_found = false;
    for (const HloInstruction* instruction : entry.instructions()) {
      if (instruction->name() != name.first) continue;
      is_found = true;
      const Array& array = execution.ValueOf(instruction)[0];
      for (int64_t p = 0; p < static_cast<int64_t>(array.elements().size()); ++p) {
        const reference::Index at = IndexAt(array.sizes(), p);
        bool is_meant = true;
        for (size_t d = 0; d < indices.size(); ++d) {
          is_meant = is_meant && (indices[d] == ".." || indices[d] == absl::StrCat(at[d]));
        }
        const Integer value = *array.elements()[p].value;
        if (is_meant && (value < least || value > greatest)) return false;
      }
    }
    EXPECT_TRUE(is_found) << condition;
  }
  return true;
}

struct ClaimTally {
  int claims = 0;
  int conditions = 0;
  int conditions_met = 0;
  int executions = 0;
};

void CheckClaim(const IndexProperty& property, bool is_so, const HloComputation& entry,
                const Execution& execution, ClaimTally* tally) {
  if (property.holds == Answer::kYes) {
    EXPECT_TRUE(is_so) << property.reason;
  } else if (property.holds == Answer::kNo) {
    EXPECT_FALSE(is_so) << property.reason;
  } else if (!property.where.empty() && Holds(property.where, entry, execution)) {
    ++tally->conditions_met;
    EXPECT_TRUE(is_so) << property.reason;
  }
}

TEST(IndexClaimsTest, WhatIsSaidHoldsForAllValues) {
  ClaimTally tally;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int seed = 0; seed < Cases(400); ++seed) {
    if (seed % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const RandomProgram program(seed);
    const auto module = ParseAndVerifyModule(program.Text());
    ASSERT_TRUE(module.ok()) << module.status() << program.Text();
    const HloComputation& entry = *(*module)->entry_computation();
    const HloInstruction& root = *entry.root_instruction();
    const auto structure = IndexStructureOf(root, context.get());
    ASSERT_TRUE(structure.ok()) << structure.status();
    const auto report = ComputeUtilization(root, context.get());
    ASSERT_TRUE(report.ok()) << report.status();
    std::vector<const IndexProperty*> properties = {&structure->sorted, &structure->in_bounds};
    if (program.is_scatter()) properties.push_back(&structure->unique);
    for (const IndexProperty* property : properties) {
      tally.claims += property->holds != Answer::kUndecided ? 1 : 0;
      tally.conditions += property->where.empty() ? 0 : 1;
    }
    Random random(seed);
    const bool is_signed = entry.parameters()[1]->shape().element_type() == ElementType::kS8;
    const int64_t least = is_signed ? -128 : 0;
    for (int64_t k = least; k < least + 256; ++k) {
      std::vector<reference::Value> arguments = RandomArguments(entry, seed);
      arguments[1][0].elements()[0].value = k;
      const int64_t around = random.OneIn(4) ? 255 : random.Between(1, 14);
      for (Element& element : arguments[2][0].elements()) {
        element.value = random.Between(std::max(least, -around * (is_signed ? 1 : 0) / 4),
                                       std::min(least + 255, around));
      }
      const auto execution = Execute(entry, Pointers(arguments), seed);
      ASSERT_TRUE(execution.ok()) << execution.status();
      ++tally.executions;
      const RandomProgram::Facts facts = program.FactsOf(execution->ValueOf(root.operand(1))[0]);
      CheckClaim(structure->in_bounds, facts.is_inside, entry, *execution, &tally);
      CheckClaim(structure->sorted, facts.is_sorted, entry, *execution, &tally);
      if (program.is_scatter()) {
        CheckClaim(structure->unique, facts.is_unique, entry, *execution, &tally);
      }
      // What is read of the updates, or of what is gathered.
      const int64_t read = program.is_scatter() ? 2 : 0;
      const auto truth = DependenceOfInstruction(root, *execution);
      ASSERT_TRUE(truth.ok()) << truth.status();
      const Relation& pairs = truth->at({0, read, 0});
      std::set<int64_t> elements;
      for (const auto& [to, from] : pairs) elements.insert(from);
      for (const OperandUtilization& of : report->operands) {
        if (of.operand != read) continue;
        EXPECT_TRUE(of.utilization.reads.Contains(static_cast<int64_t>(pairs.size())))
            << of.utilization.reads.ToString() << " and not " << pairs.size();
        EXPECT_TRUE(of.utilization.elements_read.Contains(static_cast<int64_t>(elements.size())))
            << of.utilization.elements_read.ToString() << " and not " << elements.size();
      }
      if (::testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << ", k = " << k << "\n" << program.Text();
      }
    }
  }
  std::cout << tally.claims << " claims, " << tally.conditions << " conditions, which were met "
            << tally.conditions_met << " times, in " << tally.executions << " executions\n";
  EXPECT_GT(tally.claims, Cases(250));
  EXPECT_GT(tally.conditions_met, Cases(2000));
}

}  // namespace
}  // namespace xla_indexing::reference
