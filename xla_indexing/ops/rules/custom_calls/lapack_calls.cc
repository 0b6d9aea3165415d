#include "xla_indexing/ops/rules/custom_calls/lapack_calls.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/ops/rules/arithmetic/triangular.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {
namespace {

using Entries = absl::StatusOr<std::optional<InstructionIndexing>>;

// One leaf of the results of a call and one of its operands, whose first dimensions are those of a batch.
struct LeafPair {
  const HloInstruction& call;
  int64_t batch_rank;
  int64_t leaf = 0;
  int64_t operand = 0;

  const Shape& OperandShape(int64_t i) const { return call.operand(i)->shape(); }
  const Shape& Operand() const { return OperandShape(operand); }
  const Shape& Result() const { return call.shape().Leaf(leaf); }
  // Own dimension i of an array.
  int64_t Size(const Shape& array, int64_t i) const { return array.dimension(batch_rank + i); }
  int64_t Rank(const Shape& array) const { return array.rank() - batch_rank; }
  bool IsSquare(const Shape& array) const {
    return Rank(array) == 2 && Size(array, 0) == Size(array, 1);
  }
};

// first + distance <= second
struct IndexOrder {
  char first;
  char second;
  int64_t distance = 0;
};

// Element [`result`] reads element [`operand`], whose indices are letters: {"ij", "pq", {{'q', 'i'}}} is
// out[i, j] reads A[p, q], q <= i. An index is of all its axis, or of the part that `within` says; a letter
// on both sides is one index, and each * one of its own.
struct ReadRow {
  std::string result;
  std::string operand;
  std::vector<IndexOrder> orders = {};
  std::vector<std::pair<char, Interval>> within = {};
};

class RowNest {
 public:
  RowNest(const LeafPair& pair, const ReadRow& row) : pair_(pair), row_(row) {
    for (int64_t k = 0; k < pair.batch_rank; ++k) {
      nest_.result.push_back(NestAxis::Along(nest_.AddLoop(pair.OperandShape(0).dimension(k))));
    }
    nest_.operand = nest_.result;
    AddAxes(row.result, pair.Result(), &nest_.result);
    AddAxes(row.operand, pair.Operand(), &nest_.operand);
    for (const auto& [first, second, distance] : row.orders) {
      nest_.orders.push_back({loops_.at(first), loops_.at(second), distance});
    }
  }
  LoopNest Take() { return std::move(nest_); }

 private:
  void AddAxes(absl::string_view letters, const Shape& array,
               llvm::SmallVectorImpl<NestAxis>* axes) {
    for (size_t k = 0; k < letters.size(); ++k) {
      auto loop = loops_.find(letters[k]);
      if (loop == loops_.end() || letters[k] == '*') {
        Interval indices = IndicesOfAxis(pair_.Size(array, static_cast<int64_t>(k)));
        for (const auto& [letter, part] : row_.within) {
          if (letter == letters[k]) indices = indices.Intersect(part);
        }
        loop = loops_.insert_or_assign(letters[k], nest_.AddLoop(indices)).first;
      }
      axes->push_back(NestAxis::Along(loop->second));
    }
  }

  const LeafPair& pair_;
  const ReadRow& row_;
  std::map<char, Loop> loops_;
  LoopNest nest_;
};

LoopNests NestsOfRows(const LeafPair& pair, const std::vector<ReadRow>& rows) {
  LoopNests nests;
  for (const ReadRow& row : rows) nests.push_back(RowNest(pair, row).Take());
  return nests;
}

// What the backend_config, {side = 76 : ui8, lower = true}, gives this name; empty where nothing.
absl::string_view ValueOf(const HloInstruction& call, absl::string_view name) {
  absl::string_view text = call.GetText(AttributeKey::kBackendConfig);
  for (size_t place = text.find(name); place != absl::string_view::npos;
       place = text.find(name, place + 1)) {
    const bool is_word =
        place == 0 || !(absl::ascii_isalnum(text[place - 1]) || text[place - 1] == '_');
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(text.substr(place + name.size()));
    if (!is_word || rest.empty() || rest[0] != '=') continue;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(1));
    return rest.substr(0, std::min(rest.find_first_of(" ,:}"), rest.size()));
  }
  return "";
}

std::optional<int64_t> NumberOf(const HloInstruction& call, absl::string_view name) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(ValueOf(call, name), &number)) return std::nullopt;
  return number;
}

// The letter that a number of the backend_config stands for; 0 where there is none.
char LetterOf(const HloInstruction& call, absl::string_view name) {
  const int64_t letter = NumberOf(call, name).value_or(0);
  return letter == 'L' || letter == 'U' || letter == 'R' || letter == 'N' || letter == 'T' ||
                 letter == 'C'
             ? static_cast<char>(letter)
             : '\0';
}

// The triangle that is read, L or U: a letter for CPUs, a flag for GPUs; 0 where nothing says it.
char TriangleOf(const HloInstruction& call) {
  const absl::string_view is_lower = ValueOf(call, "lower");
  if (is_lower == "true") return 'L';
  if (is_lower == "false") return 'U';
  return LetterOf(call, "uplo");
}

bool IsOneOf(char letter, absl::string_view letters) {
  return letter != 0 && absl::StrContains(letters, letter);
}

// Nullopt if attributes or shapes are not those of the routine.
using NestsOfLeaf = std::optional<LoopNests>;

std::string AllAxes(const LeafPair& pair, const Shape& array) {
  return std::string(static_cast<size_t>(pair.Rank(array)), '*');
}

NestsOfLeaf WholeMember(const LeafPair& pair) {
  return NestsOfRows(pair, {{AllAxes(pair, pair.Result()), AllAxes(pair, pair.Operand())}});
}

// Row p and column q are those of the triangle; of the other one, without the diagonal.
IndexOrder InTriangle(char uplo, char p, char q) {
  return uplo == 'L' ? IndexOrder{q, p} : IndexOrder{p, q};
}
IndexOrder InOtherTriangle(char uplo, char p, char q) {
  return uplo == 'L' ? IndexOrder{p, q, 1} : IndexOrder{q, p, 1};
}

NestsOfLeaf TriangleOfMember(const LeafPair& pair) {
  const char uplo = TriangleOf(pair.call);
  if (!IsOneOf(uplo, "LU") || !pair.IsSquare(pair.Operand())) return std::nullopt;
  return NestsOfRows(pair, {{AllAxes(pair, pair.Result()), "pq", {InTriangle(uplo, 'p', 'q')}}});
}

NestsOfLeaf Potrf(const LeafPair& pair) {
  if (pair.leaf > 0) return TriangleOfMember(pair);
  const char uplo = TriangleOf(pair.call);
  const Shape& matrix = pair.Operand();
  if (!IsOneOf(uplo, "LU") || !pair.IsSquare(matrix) ||
      pair.Result().dimensions() != matrix.dimensions()) {
    return std::nullopt;
  }
  LoopNests nests = CholeskyTriangle(pair.Result(), matrix, uplo == 'L');
  nests.append(NestsOfRows(pair, {{"ij", "ij", {InOtherTriangle(uplo, 'i', 'j')}}}));
  return nests;
}

NestsOfLeaf Trsm(const LeafPair& pair) {
  const char side = LetterOf(pair.call, "side");
  const char uplo = LetterOf(pair.call, "uplo");
  const char trans = LetterOf(pair.call, "trans_x");
  const char diag = LetterOf(pair.call, "diag");
  const Shape& matrix = pair.OperandShape(0);
  const Shape& result = pair.Result();
  if (pair.leaf > 0 || !IsOneOf(side, "LR") || !IsOneOf(uplo, "LU") || !IsOneOf(trans, "NTC") ||
      !IsOneOf(diag, "NU") || result.dimensions() != pair.OperandShape(1).dimensions() ||
      !pair.IsSquare(matrix) || pair.Size(result, side == 'L' ? 0 : 1) != pair.Size(matrix, 0)) {
    return std::nullopt;
  }
  const TriangularSystem system = {.matrix_is_on_the_left = side == 'L',
                                   .is_lower = uplo == 'L',
                                   .transposes = trans != 'N',
                                   .has_unit_diagonal = diag == 'U'};
  return LoopNests{
      SolutionOf(system, result, matrix, pair.Operand(), /*is_matrix=*/pair.operand == 0)};
}

// Leaf 0, the factors, stored where the matrix was, and leaf 1, something for each step, of a
// factorization column by column. `up_to`: out[i, j] reads columns q up to these indices.
NestsOfLeaf FactorsByColumns(const LeafPair& pair, int64_t steps, std::vector<IndexOrder> up_to) {
  const Interval in_steps = Interval::OfSize(steps);
  if (pair.leaf == 1) {
    if (pair.Rank(pair.Result()) != 1) return std::nullopt;
    return NestsOfRows(pair, {{"k", "pq", {{'q', 'k'}}, {{'k', in_steps}, {'q', in_steps}}}});
  }
  if (pair.Result().dimensions() != pair.Operand().dimensions()) return std::nullopt;
  return NestsOfRows(pair, {{"ij", "pj"}, {"ij", "pq", std::move(up_to), {{'q', in_steps}}}});
}

NestsOfLeaf Getrf(const LeafPair& pair) {
  const int64_t m = pair.Size(pair.Operand(), 0);
  const int64_t n = pair.Size(pair.Operand(), 1);
  if (pair.leaf < 2) return FactorsByColumns(pair, std::min(m - 1, n), {{'q', 'i'}});
  if (pair.leaf > 2 || pair.Rank(pair.Result()) != 0) return std::nullopt;
  return NestsOfRows(pair, {{"", "pq", {}, {{'q', Interval::OfSize(std::min(m, n))}}}});
}

// Whether a single real row is left as it is, as by LAPACK's own routines; others do not say so.
bool LeavesRowsAlone(const LeafPair& pair) {
  return absl::StartsWith(pair.call.custom_call_target(), "lapack_");
}

// How many reflections turn `rows` rows, one after the other, into one: the last is of a single row,
// which only makes a complex number real.
int64_t ReflectionsOf(const Shape& matrix, int64_t rows) {
  return std::max<int64_t>(0, rows - (IsComplex(matrix.element_type()) ? 0 : 1));
}

NestsOfLeaf Geqrf(const LeafPair& pair) {
  const int64_t rows = ReflectionsOf(pair.Operand(), pair.Size(pair.Operand(), 0));
  const int64_t columns = pair.Size(pair.Operand(), 1);
  // A status says whether the arguments are right.
  if (pair.leaf > 1) return LoopNests();
  if (rows < columns && !LeavesRowsAlone(pair)) return std::nullopt;
  return FactorsByColumns(pair, std::min(rows, columns), {{'q', 'i'}, {'q', 'j'}});
}

NestsOfLeaf Gtsv(const LeafPair& pair) {
  enum { kLower, kDiagonal, kUpper, kSolution, kStatus };
  const int64_t n = pair.Size(pair.OperandShape(kDiagonal), 0);
  for (int64_t i = kLower; i <= kUpper; ++i) {
    if (pair.Size(pair.OperandShape(i), 0) != n) return std::nullopt;
  }
  const Shape& right = pair.OperandShape(kSolution);
  const bool is_solution = pair.leaf == kSolution && pair.Size(right, 0) == n &&
                           pair.Result().dimensions() == right.dimensions();
  const bool is_status = pair.leaf == kStatus && pair.Rank(pair.Result()) == 0;
  if (!is_solution && !is_status) return std::nullopt;
  if (pair.operand == kSolution) {
    return is_solution ? NestsOfRows(pair, {{"ic", "pc"}}) : LoopNests();
  }
  const Interval given[] = {Interval::Closed(1, n - 1), Interval::OfSize(n),
                            Interval::OfSize(n - 1)};
  return NestsOfRows(pair, {{is_solution ? "ic" : "", "p", {}, {{'p', given[pair.operand]}}}});
}

NestsOfLeaf Orgqr(const LeafPair& pair) {
  const Shape& matrix = pair.OperandShape(0);
  const int64_t n = pair.Size(matrix, 1);
  const int64_t reflections = pair.Size(pair.OperandShape(1), 0);
  if (reflections > n || n > pair.Size(matrix, 0)) return std::nullopt;
  if (pair.leaf > 0) return LoopNests();
  if (pair.Result().dimensions() != matrix.dimensions()) return std::nullopt;
  if (reflections == 0) return LoopNests();
  if (pair.operand == 1) return NestsOfRows(pair, {{"ij", "q", {{'q', 'j'}}}});
  const Interval first = Interval::Point(0);
  const Interval later = Interval::AtLeast(1);
  // The columns that one reflection alone changes.
  const Interval of_one = Interval::OfSize(reflections == 1 ? n : 1);
  std::vector<ReadRow> rows = {{"ij", "iq", {}, {{'i', later}, {'j', of_one}, {'q', first}}},
                               {"ij", "jq", {}, {{'j', of_one.Intersect(later)}, {'q', first}}}};
  if (reflections > 1) {
    rows.push_back({"ij",
                    "pq",
                    {{'q', 'p', 1}, {'q', 'j'}},
                    {{'j', later}, {'q', Interval::OfSize(reflections)}}});
  }
  return NestsOfRows(pair, rows);
}

struct MatrixRoutine {
  absl::string_view name;
  // The own dimensions of each operand.
  std::vector<int64_t> ranks;
  // What a leaf reads of an operand; null if that is not known.
  NestsOfLeaf (*nests)(const LeafPair& pair) = nullptr;
};

// The first leaf and operand of the call, where its operands and results are of one batch.
std::optional<LeafPair> PairOfRoutine(const HloInstruction& call, const MatrixRoutine& routine) {
  const auto count = static_cast<int64_t>(routine.ranks.size());
  if (call.operand_count() != count || !call.operand(0)->shape().IsArray()) return std::nullopt;
  const int64_t batch_rank = call.operand(0)->shape().rank() - routine.ranks[0];
  if (batch_rank < 0) return std::nullopt;
  const auto batch = call.operand(0)->shape().dimensions().first(batch_rank);
  const auto is_of_batch = [&](const Shape& array) {
    return array.IsArray() && array.rank() >= batch_rank && !array.HasUnboundedDimension() &&
           array.dimensions().first(batch_rank) == batch;
  };
  for (int64_t i = 0; i < count; ++i) {
    const Shape& operand = call.operand(i)->shape();
    if (!is_of_batch(operand) || operand.rank() != batch_rank + routine.ranks[i]) {
      return std::nullopt;
    }
  }
  for (int64_t i = 0; i < call.shape().LeafCount(); ++i) {
    if (!is_of_batch(call.shape().Leaf(i))) return std::nullopt;
  }
  return LeafPair{call, batch_rank};
}

OperandIndexingSet MapsBetween(const LeafPair& pair, const MatrixRoutine& routine, bool is_forward,
                               mlir::MLIRContext* context) {
  ExactnessLabel label = ExactnessLabel::Exact();
  NestsOfLeaf nests = routine.nests != nullptr ? routine.nests(pair) : std::nullopt;
  if (!nests) {
    nests = WholeMember(pair);
    label = ExactnessLabel::OverApproximate(absl::StrCat("whole matrices: which of their elements ",
                                                         routine.name, " reads is not looked at"));
  }
  OperandIndexingSet maps;
  for (LoopNest& nest : *nests) {
    if (nest.IsEmpty()) continue;
    nest.label = label;
    AddUnlessEmpty(is_forward ? InputToOutputOfNest(nest, pair.Result(), pair.Operand(), context)
                              : OutputToInputOfNest(nest, pair.Result(), pair.Operand(), context),
                   &maps);
  }
  return maps;
}

Entries EntriesOfRoutine(const CustomCallLeaf& leaf, const MatrixRoutine& routine) {
  std::optional<LeafPair> pair = PairOfRoutine(leaf.instruction, routine);
  if (!pair) return std::nullopt;
  const bool is_forward = leaf.operand >= 0;
  InstructionIndexing entries;
  for (int64_t i = 0; i < leaf.instruction.shape().LeafCount(); ++i) {
    if (!is_forward && i != leaf.leaf) continue;
    for (int64_t operand = 0; operand < leaf.instruction.operand_count(); ++operand) {
      if (is_forward && operand != leaf.operand) continue;
      pair->leaf = i;
      pair->operand = operand;
      IndexingEntry entry{i, operand, 0, MapsBetween(*pair, routine, is_forward, leaf.context)};
      if (!entry.indexing.empty()) entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

void AddLapackRules(CustomCallRegistry* registry) {
  if (IsOff(Engine::kLapackCalls)) return;
  const auto add = [&](absl::string_view target, const MatrixRoutine& routine) {
    const auto rule = [routine](const CustomCallLeaf& leaf) {
      return EntriesOfRoutine(leaf, routine);
    };
    registry->Add(std::string(target), {rule, rule});
  };
  const std::vector<MatrixRoutine> of_both = {{"potrf", {2}, Potrf},
                                              {"getrf", {2}, Getrf},
                                              {"geqrf", {2}, Geqrf},
                                              {"orgqr", {2, 1}, Orgqr},
                                              {"ormqr", {2, 1, 2}},
                                              {"syevd", {2}, TriangleOfMember},
                                              {"sytrd", {2}},
                                              {"geev", {2}, WholeMember},
                                              {"gesdd", {2}, WholeMember},
                                              {"gesvd", {2}, WholeMember}};
  const std::vector<MatrixRoutine> of_cpus = {{"ungqr", {2, 1}, Orgqr},
                                              {"heevd", {2}, TriangleOfMember},
                                              {"gehrd", {2}},
                                              {"hetrd", {2}},
                                              {"trsm", {2, 2}, Trsm},
                                              {"gtsv", {1, 1, 1, 2}, Gtsv},
                                              {"geqp3", {2, 1}},
                                              {"unmqr", {2, 1, 2}},
                                              {"gees", {2}, WholeMember}};
  const std::vector<MatrixRoutine> of_gpus = {{"gesvdj", {2}, WholeMember},
                                              {"gesvdp", {2}, WholeMember}};
  for (const auto* routines : {&of_both, &of_cpus}) {
    for (const MatrixRoutine& routine : *routines) {
      for (const char* type : {"s", "d", "c", "z"}) {
        add(absl::StrCat("lapack_", type, routine.name, "_ffi"), routine);
      }
    }
  }
  for (const absl::string_view library : {"cu", "hip"}) {
    for (const auto* routines : {&of_both, &of_gpus}) {
      for (const MatrixRoutine& routine : *routines) {
        add(absl::StrCat(library, "solver_", routine.name, "_ffi"), routine);
      }
    }
    add(absl::StrCat(library, "sparse_gtsv2_ffi"), {"gtsv2", {1, 1, 1, 2}});
    add(absl::StrCat(library, "_lu_pivots_to_permutation"), {"lu_pivots_to_permutation", {1}});
  }
}

}  // namespace xla_indexing::internal
