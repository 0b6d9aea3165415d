// What the rules of the normal form did, step by step, for people who want to know why an
// expression became what it is.
//
// A step is one use of one rule: what stood before and what stands in its place. Steps within steps
// come first: where floor((g*H + L) / m) becomes floor((H + t) / (m/g)), the steps that divide H +
// t stand before it. docs/simplifier.md explains the rules.
//
// Example: in the normal form of (d0 * 16 + d1 * 2 + 1) floordiv 8 one step has the rule
// `floor((g*H + L) / m) = floor((H + t) / (m/g))`, this expression before and
// d0 * 2 + d1 floordiv 4 after.
#ifndef XLA_INDEXING_AFFINE_RULE_TRACE_H_
#define XLA_INDEXING_AFFINE_RULE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

struct RuleStep {
  // The rule in one line, as a string literal.
  const char* rule;
  // The expression before and after; null if the step is about the domain as a whole.
  mlir::AffineExpr before = {};
  mlir::AffineExpr after = {};
  // For a constraint, the intervals in which these expressions have to be.
  std::optional<Interval> interval_before = {};
  std::optional<Interval> interval_after = {};
};

// Steps beyond kMaxTracedSteps are left out but for a word about it. So are steps of expressions
// with more than kMaxTracedSummands summands, at all levels of nesting, and all steps after
// kMaxTracedSummandsInAll summands: nobody would read them.
inline constexpr size_t kMaxTracedSteps = 1000;
inline constexpr int kMaxTracedSummands = 256;
inline constexpr int64_t kMaxTracedSummandsInAll = int64_t{1} << 16;

using RuleTrace = std::vector<RuleStep>;

}  // namespace xla_indexing

#endif  // XLA_INDEXING_AFFINE_RULE_TRACE_H_
