// Which elements meet, against arrays whose elements carry what has met in them.
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/query/equivalence/equivalence.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;

// The elements of parameters that an element is computed from, and those that have met in it.
struct Element {
  std::set<int> reads;
  std::set<std::pair<int, int>> pairs;

  friend bool operator==(const Element& a, const Element& b) = default;

  void Add(const Element& other) {
    reads.insert(other.reads.begin(), other.reads.end());
    pairs.insert(other.pairs.begin(), other.pairs.end());
  }
};

Element Combine(const Element& a, const Element& b) {
  Element both = a;
  both.Add(b);
  for (const int u : a.reads) {
    for (const int v : b.reads) {
      both.pairs.insert({u, v});
      both.pairs.insert({v, u});
    }
  }
  return both;
}

// An instruction of 4 elements, as f32[4] or f32[2,2].
struct Node {
  std::string name;
  bool is_matrix;
  std::vector<Element> elements;
};

// A random program, as text and as what it computes.
class RandomProgram {
 public:
  RandomProgram(uint64_t seed, int num_steps) : random_(seed) {
    constexpr int kElements = 4;
    for (int p = 0; p < 2; ++p) {
      Node& node = Append(p == 1, absl::StrCat("parameter(", p, ")"));
      for (int i = 0; i < kElements; ++i) {
        const int id = p * kElements + i;
        node.elements.push_back({{id}, {{id, id}}});
      }
    }
    for (int step = 0; step < num_steps; ++step) AddStep();
    // The result is a matrix that depends on the last step.
    while (!nodes_.back().is_matrix) AddReshape(nodes_.back());
  }

  std::string Text() const {
    return absl::StrCat("add { a = f32[] parameter(0) b = f32[] parameter(1) ",
                        "ROOT r = f32[] add(a, b) }\nENTRY e {\n  zero = f32[] constant(0)\n  ",
                        absl::StrJoin(lines_, "\n  "), "\n  ROOT root = f32[2,2] negate(",
                        nodes_.back().name, ")\n}\n");
  }
  const std::vector<Element>& result() const { return nodes_.back().elements; }

 private:
  int Below(int n) { return static_cast<int>(random_() % n); }
  // Mostly what was computed last.
  const Node Any() {
    return Below(2) == 0 ? nodes_.back() : nodes_[Below(static_cast<int>(nodes_.size()))];
  }

  static std::string Type(bool is_matrix) { return is_matrix ? "f32[2,2]" : "f32[4]"; }

  Node& Append(bool is_matrix, absl::string_view operation) {
    const std::string name = absl::StrCat("n", nodes_.size());
    lines_.push_back(absl::StrCat(name, " = ", Type(is_matrix), " ", operation));
    return nodes_.emplace_back(Node{name, is_matrix, {}});
  }
  // The elements of `node` in this order.
  void AppendMoved(const Node& node, bool is_matrix, absl::string_view operation,
                   const std::vector<int>& order) {
    Node& moved = Append(is_matrix, operation);
    for (const int i : order) moved.elements.push_back(node.elements[i]);
  }
  void AddReshape(const Node& node) {
    AppendMoved(node, !node.is_matrix, absl::StrCat("reshape(", node.name, ")"), {0, 1, 2, 3});
  }

  void AddStep() {
    const Node a = Any();
    switch (Below(7)) {
      case 0:
        return AddReshape(a);
      case 1:
        if (!a.is_matrix) {
          return AppendMoved(a, false, absl::StrCat("reverse(", a.name, "), dimensions={0}"),
                             {3, 2, 1, 0});
        }
        return AppendMoved(a, true, absl::StrCat("reverse(", a.name, "), dimensions={0}"),
                           {2, 3, 0, 1});
      case 2:
        if (!a.is_matrix) return AddReshape(a);
        return AppendMoved(a, true, absl::StrCat("transpose(", a.name, "), dimensions={1,0}"),
                           {0, 2, 1, 3});
      case 3:
      case 4:
        return AddElementwise(a, Any());
      case 5:
        return AddRowSums(a);
      default:
        return AddDot(a, Any());
    }
  }

  void AddElementwise(const Node& a, const Node& b) {
    if (a.is_matrix != b.is_matrix) return AddReshape(b);
    Node& node = Append(
        a.is_matrix, absl::StrCat(Below(2) == 0 ? "multiply(" : "add(", a.name, ", ", b.name, ")"));
    for (int i = 0; i < 4; ++i) node.elements.push_back(Combine(a.elements[i], b.elements[i]));
  }

  void AddDot(const Node& a, const Node& b) {
    if (!a.is_matrix || !b.is_matrix) return AddReshape(a.is_matrix ? b : a);
    // Sum over k of a[i, k] * b[k, j], or of a[i, k] * b[j, k].
    const bool is_transposed = Below(2) == 0;
    Node& node = Append(true, absl::StrCat("dot(", a.name, ", ", b.name,
                                           "), lhs_contracting_dims={1}, rhs_contracting_dims={",
                                           is_transposed ? 1 : 0, "}"));
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        Element& sum = node.elements.emplace_back();
        for (int k = 0; k < 2; ++k) {
          sum.Add(
              Combine(a.elements[2 * i + k], b.elements[is_transposed ? 2 * j + k : 2 * k + j]));
        }
      }
    }
  }

  void AddRowSums(const Node& a) {
    if (!a.is_matrix) return AddReshape(a);
    const std::string name = absl::StrCat("s", nodes_.size());
    lines_.push_back(
        absl::StrCat(name, " = f32[2] reduce(", a.name, ", zero), dimensions={1}, to_apply=add"));
    Node& node = Append(true, absl::StrCat("broadcast(", name, "), dimensions={0}"));
    for (int i = 0; i < 4; ++i) {
      Element sum = a.elements[2 * (i / 2)];
      sum.Add(a.elements[2 * (i / 2) + 1]);
      node.elements.push_back(sum);
    }
  }

  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::vector<std::string> lines_;
};

bool SameReads(const RandomProgram& a, const RandomProgram& b) {
  for (int i = 0; i < 4; ++i) {
    if (a.result()[i].reads != b.result()[i].reads) return false;
  }
  return true;
}

TEST(MeetingElementsTest, AgreeWithElementsThatCarryWhatTheyHaveMet) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int same = 0;
  int others_meet = 0;
  for (int i = 0; i < Cases(6000); ++i) {
    const int num_steps = 1 + i % 6;
    const RandomProgram a(2 * i, num_steps);
    const RandomProgram b(2 * i + 1, num_steps);
    const auto first = ParseAndVerifyModule(a.Text());
    const auto second = ParseAndVerifyModule(b.Text());
    ASSERT_TRUE(first.ok() && second.ok()) << a.Text() << first.status() << second.status();
    const auto report =
        CompareReads(*(*first)->entry_computation(), *(*second)->entry_computation(), &context);
    ASSERT_TRUE(report.ok()) << report.status();
    SCOPED_TRACE(absl::StrCat(a.Text(), "beside\n", b.Text()));
    EXPECT_EQ(report->reads, SameReads(a, b) ? Answer::kYes : Answer::kNo);
    const bool is_same = a.result() == b.result();
    if (SameReads(a, b)) {
      EXPECT_EQ(report->meets, is_same ? Answer::kYes : Answer::kNo) << report->meets_reason;
      ++(is_same ? same : others_meet);
    } else {
      EXPECT_EQ(report->meets, Answer::kUndecided);
    }
    EXPECT_EQ(report->same, is_same ? Answer::kYes : Answer::kNo);
    for (const LeafComparison& pair : report->pairs) {
      if (!pair.difference) continue;
      const auto id = [](int64_t parameter, const std::vector<int64_t>& element) {
        return static_cast<int>(parameter == 0 ? element[0] : 4 + 2 * element[0] + element[1]);
      };
      const std::vector<int64_t>& output = pair.difference->output_element;
      const std::pair<int, int> met = {id(pair.parameter, pair.difference->operand_element),
                                       id(pair.other->operand, *pair.difference->other_element)};
      const int64_t at = 2 * output[0] + output[1];
      EXPECT_EQ(a.result()[at].pairs.contains(met), pair.difference->is_of_first);
      EXPECT_EQ(b.result()[at].pairs.contains(met), !pair.difference->is_of_first);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(same, Cases(100));
  EXPECT_GT(others_meet, Cases(20));
}

TEST(MeetingElementsTest, AnotherOrderOfTheContractedDimensionIsSeen) {
  // a[k] meets w[k]; after the reversal of one side it meets w[5 - k].
  constexpr absl::string_view kDots = R"(
      plain {
        a = f32[5,6] parameter(0)
        w = f32[6,7] parameter(1)
        ROOT d = f32[5,7] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      }
      one_reversed {
        a = f32[5,6] parameter(0)
        w = f32[6,7] parameter(1)
        r = f32[5,6] reverse(a), dimensions={1}
        ROOT d = f32[5,7] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      }
      both_reversed {
        a = f32[5,6] parameter(0)
        w = f32[6,7] parameter(1)
        r = f32[5,6] reverse(a), dimensions={1}
        s = f32[6,7] reverse(w), dimensions={0}
        ROOT d = f32[5,7] dot(r, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      }
      ENTRY e {
        a = f32[5,6] parameter(0)
        w = f32[6,7] parameter(1)
        ROOT c = f32[5,7] call(a, w), to_apply=plain
      })";
  const auto module = ParseAndVerifyModule(kDots);
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto compare = [&](absl::string_view name) {
    return *CompareReads(*(*module)->entry_computation(), *(*module)->FindComputation(name),
                         &context);
  };
  const EquivalenceReport one = compare("one_reversed");
  EXPECT_EQ(one.reads, Answer::kYes);
  EXPECT_EQ(one.meets, Answer::kNo);
  EXPECT_EQ(one.same, Answer::kNo);
  ASSERT_EQ(one.pairs.size(), 1);
  ASSERT_TRUE(one.pairs[0].difference.has_value());
  EXPECT_THAT(one.pairs[0].difference->operand_element, ElementsAre(0, 0));
  EXPECT_EQ(compare("both_reversed").same, Answer::kYes);
}

// What a scan carries meets what later steps read, in ways that its maps do not say: all of both arrays
// is read, in whatever order one of them is.
TEST(MeetingElementsTest, WhatAScanCarriesIsNotDecided) {
  const auto scan = [](absl::string_view second) {
    return absl::StrCat(R"(
        combine {
          x = f32[2] parameter(0)
          y = f32[2] parameter(1)
          carry = f32[2] parameter(2)
          p = f32[2] multiply(x, y)
          s = f32[2] add(p, carry)
          ROOT t = (f32[2], f32[2]) tuple(s, s)
        }
        ENTRY e {
          a = f32[5,2] parameter(0)
          b = f32[5,2] parameter(1)
          z = f32[] constant(0)
          init = f32[2] broadcast(z), dimensions={}
          )",
                        second, R"(
          r = (f32[5,2], f32[2]) scan(a, c, init), dimensions={0}, num_carries=1, to_apply=combine
          ROOT last = f32[2] get-tuple-element(r), index=1
        })");
  };
  const auto first = ParseAndVerifyModule(scan("c = f32[5,2] copy(b)"));
  const auto second = ParseAndVerifyModule(scan("c = f32[5,2] reverse(b), dimensions={0}"));
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto report =
      CompareReads(*(*first)->entry_computation(), *(*second)->entry_computation(), &context);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->reads, Answer::kYes);
  EXPECT_EQ(report->meets, Answer::kUndecided);
}

}  // namespace
}  // namespace xla_indexing
