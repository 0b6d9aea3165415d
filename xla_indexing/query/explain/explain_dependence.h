// Why one element of the output depends on one element of an operand: a shortest chain of
// instructions through which it is read.
//
// Mathematics. A chain is a sequence of (instruction, leaf, element), from the element of the output to the
// element of the parameter, in which each element reads the next one by the maps of its instruction
// alone. Fusions and calls are replaced by what they compute, and loops by their iterations where their
// number is known and they are few (FusionView::OfIterations), so that a chain goes through them, and through
// the branch of a conditional; other loops and reductions are single steps. Of the chains of exact maps the shortest is given;
// where there is none, the shortest of all.
//
// A chain of exact maps is a proof, `kYes`. Where every set of maps is such that none leads to the
// element, the answer is `kNo`. Otherwise it is `kUndecided`, with the reason: then there may be a chain
// through maps that name more than is read. Where offsets are values of the program, a chain says for
// which values its elements are read.
//
// Example, `r = reverse(p)` then `s = slice(r)` [1:3] of f32[4]:
//
//   ExplainDependence(*entry, {.output_element = {0}, .operand_element = {2}}, indexers)
//     s {0}, r {1}, p {2}
//
// Errors. InvalidArgument, with the names and numbers, for a leaf or parameter that is not there, or
// an element outside its array. Otherwise those of fusion/fusion_view.h and fusion/hlo_indexer.h.
#ifndef XLA_INDEXING_QUERY_EXPLAIN_EXPLAIN_DEPENDENCE_H_
#define XLA_INDEXING_QUERY_EXPLAIN_EXPLAIN_DEPENDENCE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

struct DependenceQuestion {
  int64_t output_leaf = 0;
  std::vector<int64_t> output_element = {};
  int64_t operand = 0;  // The parameter's number.
  int64_t operand_leaf = 0;
  std::vector<int64_t> operand_element = {};
};

struct DependenceStep {
  std::string instruction;
  std::string opcode;
  std::string computation;
  std::string op_name;  // Empty where it is not known, as is the file.
  std::string source_file;
  int64_t source_line = 0;
  int64_t leaf = 0;
  std::vector<int64_t> element;
  // The iterations that it is in, of the loops that are followed, the outermost first.
  std::vector<int64_t> iterations = {};
  // In how many iterations of the innermost one, this and those before it, the chain takes the same steps.
  int64_t repeats = 1;
  // Why the next element may not be read after all; empty if the map is exact.
  std::string reason;
  // The values of the program that decide on that read, and those for which the element is read.
  std::vector<std::pair<std::string, int64_t>> runtime_values = {};
};

struct DependenceReport {
  Answer answer = Answer::kUndecided;
  std::string reason;                 // Why it is undecided.
  std::vector<DependenceStep> steps;  // Empty where no chain was found.
  bool depends_on_values = false;     // Some step of the chain has runtime values.
};

absl::StatusOr<DependenceReport> ExplainDependence(const HloComputation& computation,
                                                   const DependenceQuestion& question,
                                                   HloIndexers& indexers);

// The report as text for a person: a line that says what is answered, and one for each step; without
// a line feed at the end.
std::string DependenceText(const DependenceReport& report);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_EXPLAIN_EXPLAIN_DEPENDENCE_H_
