#include "xla_indexing/ops/rules/custom_calls/lapack_calls.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/ops/rules/arithmetic/triangular.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {
namespace {

using Entries = absl::StatusOr<std::optional<InstructionIndexing>>;

// A call whose operands and results have the dimensions of a batch in front.
struct BatchCall {
  const HloInstruction& call;
  int64_t batch_rank;

  const Shape& Operand(int64_t i) const { return call.operand(i)->shape(); }
  const Shape& Result(int64_t leaf) const { return call.shape().Leaf(leaf); }
  // Own dimension i of an array.
  int64_t Size(const Shape& array, int64_t i) const { return array.dimension(batch_rank + i); }
  int64_t Rank(const Shape& array) const { return array.rank() - batch_rank; }
};

// What an element of one leaf of a result reads of one operand: loops over members of the batch, and
// own ones.
class MemberNest {
 public:
  explicit MemberNest(const BatchCall& call) {
    for (int64_t k = 0; k < call.batch_rank; ++k) {
      nest_.result.push_back(NestAxis::Along(nest_.AddLoop(call.Operand(0).dimension(k))));
    }
    nest_.operand = nest_.result;
  }

  Loop ResultLoop(const Interval& indices) {
    return AddAxis(nest_.AddLoop(indices), &nest_.result);
  }
  Loop OperandLoop(const Interval& indices) {
    return AddAxis(nest_.AddLoop(indices), &nest_.operand);
  }
  // The operand's next index is this loop of the result.
  void SameIndex(Loop loop) { AddAxis(loop, &nest_.operand); }
  // first + distance <= second
  void Order(Loop first, Loop second, int64_t distance = 0) {
    nest_.orders.push_back({first, second, distance});
  }
  LoopNest Take() { return std::move(nest_); }

 private:
  static Loop AddAxis(Loop loop, llvm::SmallVectorImpl<NestAxis>* axes) {
    axes->push_back(NestAxis::Along(loop));
    return loop;
  }

  LoopNest nest_;
};

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

// Nothing where attributes or shapes are not those of the routine.
using NestsOfLeaf = std::optional<LoopNests>;

NestsOfLeaf WholeMember(const BatchCall& call, int64_t leaf, int64_t operand) {
  MemberNest nest(call);
  for (int64_t k = 0; k < call.Rank(call.Result(leaf)); ++k) {
    nest.ResultLoop(IndicesOfAxis(call.Size(call.Result(leaf), k)));
  }
  for (int64_t k = 0; k < call.Rank(call.Operand(operand)); ++k) {
    nest.OperandLoop(IndicesOfAxis(call.Size(call.Operand(operand), k)));
  }
  return LoopNests{nest.Take()};
}

bool IsSquare(const BatchCall& call, const Shape& array) {
  return call.Rank(array) == 2 && call.Size(array, 0) == call.Size(array, 1);
}

// Every element of a leaf reads the triangle.
NestsOfLeaf TriangleOfMember(const BatchCall& call, int64_t leaf, int64_t operand) {
  const char uplo = TriangleOf(call.call);
  if (!IsOneOf(uplo, "LU") || !IsSquare(call, call.Operand(operand))) return std::nullopt;
  MemberNest nest(call);
  for (int64_t k = 0; k < call.Rank(call.Result(leaf)); ++k) {
    nest.ResultLoop(IndicesOfAxis(call.Size(call.Result(leaf), k)));
  }
  const Interval indices = IndicesOfAxis(call.Size(call.Operand(operand), 0));
  const Loop p = nest.OperandLoop(indices);
  const Loop q = nest.OperandLoop(indices);
  nest.Order(uplo == 'L' ? q : p, uplo == 'L' ? p : q);
  return LoopNests{nest.Take()};
}

NestsOfLeaf Potrf(const BatchCall& call, int64_t leaf, int64_t operand) {
  if (leaf > 0) return TriangleOfMember(call, leaf, operand);
  const char uplo = TriangleOf(call.call);
  const Shape& matrix = call.Operand(operand);
  const Shape& result = call.Result(leaf);
  if (!IsOneOf(uplo, "LU") || !IsSquare(call, matrix) ||
      result.dimensions() != matrix.dimensions()) {
    return std::nullopt;
  }
  LoopNests nests = CholeskyTriangle(result, matrix, uplo == 'L');
  MemberNest other(call);
  const Interval indices = IndicesOfAxis(call.Size(matrix, 0));
  const Loop i = other.ResultLoop(indices);
  const Loop j = other.ResultLoop(indices);
  other.SameIndex(i);
  other.SameIndex(j);
  other.Order(uplo == 'L' ? i : j, uplo == 'L' ? j : i, 1);
  nests.push_back(other.Take());
  return nests;
}

NestsOfLeaf Trsm(const BatchCall& call, int64_t leaf, int64_t operand) {
  const char side = LetterOf(call.call, "side");
  const char uplo = LetterOf(call.call, "uplo");
  const char trans = LetterOf(call.call, "trans_x");
  const char diag = LetterOf(call.call, "diag");
  const Shape& matrix = call.Operand(0);
  const Shape& result = call.Result(leaf);
  if (leaf > 0 || !IsOneOf(side, "LR") || !IsOneOf(uplo, "LU") || !IsOneOf(trans, "NTC") ||
      !IsOneOf(diag, "NU") || result.dimensions() != call.Operand(1).dimensions() ||
      !IsSquare(call, matrix) || call.Size(result, side == 'L' ? 0 : 1) != call.Size(matrix, 0)) {
    return std::nullopt;
  }
  const TriangularSystem system = {.matrix_is_on_the_left = side == 'L',
                                   .is_lower = uplo == 'L',
                                   .transposes = trans != 'N',
                                   .has_unit_diagonal = diag == 'U'};
  return LoopNests{
      SolutionOf(system, result, matrix, call.Operand(operand), /*is_matrix=*/operand == 0)};
}

// The first of these columns, up to the one that each of some loops of the result says.
void AddColumnsBefore(int64_t count, std::initializer_list<Loop> last, MemberNest* nest) {
  const Loop q = nest->OperandLoop(Interval::OfSize(count));
  for (const Loop loop : last) nest->Order(q, loop);
}

// Leaf 0, the factors in the place of the matrix, and leaf 1, something for each step, of a
// factorization column by column. `mixes_rows_on_the_left`: step k changes columns before k too.
NestsOfLeaf FactorsByColumns(const BatchCall& call, int64_t leaf, int64_t operand, int64_t steps,
                             bool mixes_rows_on_the_left) {
  const Shape& matrix = call.Operand(operand);
  const Interval rows = IndicesOfAxis(call.Size(matrix, 0));
  const Interval columns = IndicesOfAxis(call.Size(matrix, 1));
  if (leaf == 1) {
    if (call.Rank(call.Result(1)) != 1) return std::nullopt;
    MemberNest nest(call);
    const Loop k = nest.ResultLoop(
        IndicesOfAxis(call.Size(call.Result(1), 0)).Intersect(Interval::OfSize(steps)));
    nest.OperandLoop(rows);
    AddColumnsBefore(steps, {k}, &nest);
    return LoopNests{nest.Take()};
  }
  if (call.Result(0).dimensions() != matrix.dimensions()) return std::nullopt;
  MemberNest own_column(call);
  own_column.ResultLoop(rows);
  const Loop column = own_column.ResultLoop(columns);
  own_column.OperandLoop(rows);
  own_column.SameIndex(column);
  MemberNest before(call);
  const Loop i = before.ResultLoop(rows);
  const Loop j = before.ResultLoop(columns);
  before.OperandLoop(rows);
  if (mixes_rows_on_the_left) {
    AddColumnsBefore(steps, {i}, &before);
  } else {
    AddColumnsBefore(steps, {i, j}, &before);
  }
  LoopNests nests(own_column.Take());
  nests.push_back(before.Take());
  return nests;
}

NestsOfLeaf Getrf(const BatchCall& call, int64_t leaf, int64_t operand) {
  const Shape& matrix = call.Operand(operand);
  const int64_t m = call.Size(matrix, 0);
  const int64_t n = call.Size(matrix, 1);
  if (leaf < 2) {
    return FactorsByColumns(call, leaf, operand, std::min(m - 1, n),
                            /*mixes_rows_on_the_left=*/true);
  }
  if (leaf > 2 || call.Rank(call.Result(leaf)) != 0) return std::nullopt;
  MemberNest nest(call);
  nest.OperandLoop(IndicesOfAxis(m));
  nest.OperandLoop(Interval::OfSize(std::min(m, n)));
  return LoopNests{nest.Take()};
}

// Whether a single real row is left as it is, as by LAPACK's own routines; others do not say so.
bool LeavesRowsAlone(const BatchCall& call) {
  return absl::StartsWith(call.call.custom_call_target(), "lapack_");
}

// How many reflections turn `rows` rows, one after the other, into one: the last is of a single row,
// which only makes a complex number real.
int64_t ReflectionsOf(const Shape& matrix, int64_t rows) {
  return std::max<int64_t>(0, rows - (IsComplex(matrix.element_type()) ? 0 : 1));
}

NestsOfLeaf Geqrf(const BatchCall& call, int64_t leaf, int64_t operand) {
  const Shape& matrix = call.Operand(operand);
  const int64_t rows = ReflectionsOf(matrix, call.Size(matrix, 0));
  // A status says whether the arguments are right.
  if (leaf > 1) return LoopNests();
  if (rows < call.Size(matrix, 1) && !LeavesRowsAlone(call)) return std::nullopt;
  return FactorsByColumns(call, leaf, operand, std::min(rows, call.Size(matrix, 1)),
                          /*mixes_rows_on_the_left=*/false);
}

// Elements `of` of a diagonal that the solver returns read elements p <= k + ahead of one that it
// is given; those of an empty interval read none.
LoopNest UpTo(const BatchCall& call, const Interval& of, const Interval& given, int64_t ahead) {
  MemberNest nest(call);
  const Loop k = nest.ResultLoop(of);
  const Loop p = nest.OperandLoop(given);
  nest.Order(p, k, -ahead);
  return nest.Take();
}

LoopNest SameElements(const BatchCall& call, const Interval& of) {
  MemberNest nest(call);
  nest.SameIndex(nest.ResultLoop(of));
  return nest.Take();
}

NestsOfLeaf Gtsv(const BatchCall& call, int64_t leaf, int64_t operand) {
  enum { kLower, kDiagonal, kUpper, kSolution, kStatus };
  const int64_t n = call.Size(call.Operand(kDiagonal), 0);
  for (int64_t i = kLower; i <= kUpper; ++i) {
    if (call.Size(call.Operand(i), 0) != n || i >= call.call.shape().LeafCount() ||
        call.Result(i).dimensions() != call.Operand(i).dimensions()) {
      return std::nullopt;
    }
  }
  if (leaf > kStatus || call.Size(call.Operand(kSolution), 0) != n) return std::nullopt;
  // What is looked at of the diagonals.
  const Interval looked_at[] = {Interval::Closed(1, n - 1), Interval::OfSize(n),
                                Interval::OfSize(n - 1)};
  if (leaf == kSolution || leaf == kStatus) {
    const Shape& right = call.Operand(kSolution);
    const Shape& result = call.Result(leaf);
    if (call.Rank(result) != (leaf == kSolution ? 2 : 0)) return std::nullopt;
    if (leaf == kSolution && result.dimensions() != right.dimensions()) return std::nullopt;
    // The status says where the triangle has a zero.
    if (leaf == kStatus && operand == kSolution) return LoopNests();
    MemberNest nest(call);
    Loop column = -1;
    if (leaf == kSolution) {
      nest.ResultLoop(Interval::OfSize(n));
      column = nest.ResultLoop(IndicesOfAxis(call.Size(result, 1)));
    }
    if (operand == kSolution) {
      nest.OperandLoop(Interval::OfSize(n));
      nest.SameIndex(column);
    } else {
      nest.OperandLoop(looked_at[operand]);
    }
    return LoopNests{nest.Take()};
  }
  if (operand == kSolution) return LoopNests();
  const Interval& given = looked_at[operand];
  if (leaf == kDiagonal) {
    constexpr int64_t kAhead[] = {1, 0, -1};
    return LoopNests{UpTo(call, Interval::OfSize(n), given, kAhead[operand])};
  }
  if (leaf == kUpper) {
    constexpr int64_t kAhead[] = {1, 1, 0};
    LoopNests nests = {UpTo(call, Interval::OfSize(n - 1), given, kAhead[operand])};
    if (operand == kUpper) nests.push_back(SameElements(call, Interval::Closed(n - 1, n - 1)));
    return nests;
  }
  // The second diagonal above, from element 1 on, which is there where rows were exchanged.
  constexpr int64_t kAhead[] = {0, -1, -2};
  const Interval second = Interval::Closed(1, n - 2);
  LoopNests nests = {UpTo(call, second, given, kAhead[operand])};
  if (operand == kUpper) nests.push_back(SameElements(call, second));
  if (operand == kLower) {
    nests.push_back(SameElements(call, Interval::Closed(0, 0)));
    if (n > 1) nests.push_back(SameElements(call, Interval::Closed(n - 1, n - 1)));
  }
  return nests;
}

LoopNests UnionOfNests(std::initializer_list<LoopNest> nests) {
  LoopNests all;
  all.append(nests.begin(), nests.end());
  return all;
}

// Every element of a box of the result reads every element of a box of the operand.
MemberNest BoxReadsBox(const BatchCall& call, std::initializer_list<Interval> result,
                       std::initializer_list<Interval> operand) {
  MemberNest nest(call);
  for (const Interval& indices : result) nest.ResultLoop(indices);
  for (const Interval& indices : operand) nest.OperandLoop(indices);
  return nest;
}

// Every element of a square matrix is as it was.
LoopNest SameMatrix(const BatchCall& call, const Interval& indices) {
  MemberNest nest(call);
  const Loop i = nest.ResultLoop(indices);
  const Loop j = nest.ResultLoop(indices);
  nest.SameIndex(i);
  nest.SameIndex(j);
  return nest.Take();
}

NestsOfLeaf Orgqr(const BatchCall& call, int64_t leaf, int64_t operand) {
  const Shape& matrix = call.Operand(0);
  const int64_t m = call.Size(matrix, 0);
  const int64_t n = call.Size(matrix, 1);
  const int64_t reflections = call.Size(call.Operand(1), 0);
  if (reflections > n || n > m) return std::nullopt;
  if (leaf > 0) return LoopNests();
  if (call.Result(0).dimensions() != matrix.dimensions()) return std::nullopt;
  const Interval rows = IndicesOfAxis(m);
  const Interval columns = IndicesOfAxis(n);
  if (reflections == 0) return LoopNests();
  if (operand == 1) {
    MemberNest factors(call);
    factors.ResultLoop(rows);
    const Loop j = factors.ResultLoop(columns);
    factors.Order(factors.OperandLoop(Interval::OfSize(reflections)), j);
    return LoopNests{factors.Take()};
  }
  LoopNests nests;
  // The columns that one reflection alone changes.
  const Interval of_one = reflections == 1 ? columns : columns.Intersect(Interval::Point(0));
  MemberNest own_row(call);
  const Loop i = own_row.ResultLoop(rows.Intersect(Interval::AtLeast(1)));
  own_row.ResultLoop(of_one);
  own_row.SameIndex(i);
  own_row.OperandLoop(Interval::Point(0));
  nests.push_back(own_row.Take());
  MemberNest row_of_column(call);
  row_of_column.ResultLoop(rows);
  const Loop column = row_of_column.ResultLoop(of_one.Intersect(Interval::AtLeast(1)));
  row_of_column.SameIndex(column);
  row_of_column.OperandLoop(Interval::Point(0));
  nests.push_back(row_of_column.Take());
  if (reflections == 1) return nests;
  MemberNest of_several(call);
  of_several.ResultLoop(rows);
  const Loop j = of_several.ResultLoop(columns.Intersect(Interval::AtLeast(1)));
  const Loop p = of_several.OperandLoop(rows);
  const Loop q = of_several.OperandLoop(Interval::OfSize(reflections));
  of_several.Order(q, p, 1);
  of_several.Order(q, j);
  nests.push_back(of_several.Take());
  return nests;
}

NestsOfLeaf Gehrd(const BatchCall& call, int64_t leaf, int64_t operand) {
  const Shape& matrix = call.Operand(operand);
  const int64_t n = call.Size(matrix, 0);
  if (!IsSquare(call, matrix) || NumberOf(call.call, "low") != 1 ||
      NumberOf(call.call, "high") != n) {
    return std::nullopt;
  }
  if (leaf > 1) return LoopNests();
  const int64_t reflections = ReflectionsOf(matrix, n - 1);
  const Interval all = Interval::OfSize(n);
  const Interval first = Interval::Point(0);
  const Interval later = Interval::Closed(1, n - 1);
  if (leaf == 1) {
    if (call.Rank(call.Result(1)) != 1 || call.Size(call.Result(1), 0) < reflections) {
      return std::nullopt;
    }
    const Interval factors = Interval::OfSize(reflections);
    return UnionOfNests({BoxReadsBox(call, {factors.Intersect(first)}, {later, first}).Take(),
                         BoxReadsBox(call, {factors.Intersect(later)}, {later, all}).Take()});
  }
  if (call.Result(0).dimensions() != matrix.dimensions()) return std::nullopt;
  if (reflections == 0) return LoopNests{SameMatrix(call, all)};
  // The columns of row 0 that reflection 0 alone changes, and those that others change too.
  const Interval of_one = reflections == 1 ? later : Interval::Point(1);
  const Interval of_several = Interval::Closed(of_one.upper() + 1, n - 1);
  return UnionOfNests({BoxReadsBox(call, {first, first}, {first, first}).Take(),
                       BoxReadsBox(call, {first, later}, {first, later}).Take(),
                       BoxReadsBox(call, {first, of_one}, {later, first}).Take(),
                       BoxReadsBox(call, {first, of_several}, {later, all}).Take(),
                       BoxReadsBox(call, {later, first}, {later, first}).Take(),
                       BoxReadsBox(call, {later, later}, {later, all}).Take()});
}

NestsOfLeaf Sytrd(const BatchCall& call, int64_t leaf, int64_t operand) {
  enum { kMatrix, kDiagonal, kBeside, kFactors };
  const char uplo = TriangleOf(call.call);
  const Shape& matrix = call.Operand(operand);
  if (!IsOneOf(uplo, "LU") || !IsSquare(call, matrix)) return std::nullopt;
  const bool is_lower = uplo == 'L';
  const int64_t n = call.Size(matrix, 0);
  const int64_t reflections = ReflectionsOf(matrix, n - 1);
  if (leaf > kFactors) return LoopNests();
  const Shape& result = call.Result(leaf);
  if (call.Rank(result) != (leaf == kMatrix ? 2 : 1)) return std::nullopt;
  for (int64_t k = 0; k < call.Rank(result); ++k) {
    const int64_t size = leaf <= kDiagonal ? n : std::max<int64_t>(0, n - 1);
    if (call.Size(result, k) != size) return std::nullopt;
  }
  if (!LeavesRowsAlone(call) && (n < 3 || leaf == kFactors)) return std::nullopt;
  // The upper triangle is reduced from its end: these are the indices of the lower one, of so many.
  const auto at = [&](int64_t from, int64_t to, int64_t size) {
    return is_lower ? Interval::Closed(from, to) : Interval::Closed(size - 1 - to, size - 1 - from);
  };
  const Interval all = Interval::OfSize(n);
  const Interval first = at(0, 0, n);
  const Interval later = at(1, n - 1, n);
  const auto reads_triangle = [&](MemberNest nest) {
    const Loop p = nest.OperandLoop(later);
    const Loop q = nest.OperandLoop(all);
    nest.Order(is_lower ? q : p, is_lower ? p : q);
    return nest.Take();
  };
  if (leaf == kBeside || leaf == kFactors) {
    const int64_t last = (leaf == kBeside ? n - 1 : reflections) - 1;
    return UnionOfNests(
        {BoxReadsBox(call, {at(0, std::min<int64_t>(0, last), n - 1)}, {later, first}).Take(),
         reads_triangle(BoxReadsBox(call, {at(1, last, n - 1)}, {}))});
  }
  if (leaf == kDiagonal) {
    // Without reflections there is at most one more element.
    return UnionOfNests({BoxReadsBox(call, {first}, {first, first}).Take(),
                         reflections == 0 ? BoxReadsBox(call, {later}, {later, later}).Take()
                                          : reads_triangle(BoxReadsBox(call, {later}, {}))});
  }
  if (reflections == 0) return LoopNests{SameMatrix(call, all)};
  MemberNest other(call);
  const Loop i = other.ResultLoop(all);
  const Loop j = other.ResultLoop(all);
  other.SameIndex(i);
  other.SameIndex(j);
  other.Order(is_lower ? i : j, is_lower ? j : i, 1);
  MemberNest rest(call);
  const Loop row = rest.ResultLoop(later);
  const Loop column = rest.ResultLoop(later);
  rest.Order(is_lower ? column : row, is_lower ? row : column);
  return UnionOfNests({other.Take(), BoxReadsBox(call, {first, first}, {first, first}).Take(),
                       BoxReadsBox(call, {later, first}, {later, first}).Take(),
                       reads_triangle(std::move(rest))});
}

struct MatrixRoutine {
  absl::string_view name;
  // The own dimensions of each operand.
  std::vector<int64_t> ranks;
  // What a leaf reads of an operand; null where that is not known.
  NestsOfLeaf (*nests)(const BatchCall& call, int64_t leaf, int64_t operand) = nullptr;
};

// The call, where its operands and results are of one batch.
std::optional<BatchCall> CallOfRoutine(const HloInstruction& call, const MatrixRoutine& routine) {
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
  return BatchCall{call, batch_rank};
}

// The maps between a leaf of the result and an operand.
OperandIndexingSet MapsBetween(const BatchCall& call, const MatrixRoutine& routine, int64_t leaf,
                               int64_t operand, bool is_forward, mlir::MLIRContext* context) {
  ExactnessLabel label = ExactnessLabel::Exact();
  NestsOfLeaf nests = routine.nests != nullptr ? routine.nests(call, leaf, operand) : std::nullopt;
  if (!nests) {
    nests = WholeMember(call, leaf, operand);
    label = ExactnessLabel::OverApproximate(absl::StrCat("whole matrices: which of their elements ",
                                                         routine.name, " reads is not looked at"));
  }
  OperandIndexingSet maps;
  for (LoopNest& nest : *nests) {
    if (nest.IsEmpty()) continue;
    nest.label = label;
    const Shape& result = call.Result(leaf);
    const Shape& read = call.Operand(operand);
    AddUnlessEmpty(is_forward ? InputToOutputOfNest(nest, result, read, context)
                              : OutputToInputOfNest(nest, result, read, context),
                   &maps);
  }
  return maps;
}

Entries EntriesOfRoutine(const CustomCallLeaf& leaf, const MatrixRoutine& routine) {
  const std::optional<BatchCall> call = CallOfRoutine(leaf.instruction, routine);
  if (!call) return std::nullopt;
  const bool is_forward = leaf.operand >= 0;
  InstructionIndexing entries;
  for (int64_t i = 0; i < leaf.instruction.shape().LeafCount(); ++i) {
    if (!is_forward && i != leaf.leaf) continue;
    for (int64_t operand = 0; operand < leaf.instruction.operand_count(); ++operand) {
      if (is_forward && operand != leaf.operand) continue;
      IndexingEntry entry{i, operand, 0,
                          MapsBetween(*call, routine, i, operand, is_forward, leaf.context)};
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
  const std::vector<MatrixRoutine> routines = {{"potrf", {2}, Potrf},
                                               {"getrf", {2}, Getrf},
                                               {"geqrf", {2}, Geqrf},
                                               {"orgqr", {2, 1}, Orgqr},
                                               {"ungqr", {2, 1}, Orgqr},
                                               {"syevd", {2}, TriangleOfMember},
                                               {"heevd", {2}, TriangleOfMember},
                                               {"gehrd", {2}, Gehrd},
                                               {"sytrd", {2}, Sytrd},
                                               {"hetrd", {2}, Sytrd},
                                               {"trsm", {2, 2}, Trsm},
                                               {"gtsv", {1, 1, 1, 2}, Gtsv},
                                               {"geqp3", {2, 1}},
                                               {"ormqr", {2, 1, 2}},
                                               {"unmqr", {2, 1, 2}},
                                               {"gesdd", {2}, WholeMember},
                                               {"gesvd", {2}, WholeMember},
                                               {"geev", {2}, WholeMember},
                                               {"gees", {2}, WholeMember}};
  for (const MatrixRoutine& routine : routines) {
    for (const char type : {'s', 'd', 'c', 'z'}) {
      add(absl::StrCat("lapack_", std::string(1, type), routine.name, "_ffi"), routine);
    }
  }
  const std::vector<MatrixRoutine> of_gpus = {
      {"potrf", {2}, Potrf},       {"getrf", {2}, Getrf},        {"geqrf", {2}, Geqrf},
      {"orgqr", {2, 1}, Orgqr},    {"ormqr", {2, 1, 2}},         {"syevd", {2}, TriangleOfMember},
      {"sytrd", {2}, Sytrd},       {"geev", {2}, WholeMember},   {"gesdd", {2}, WholeMember},
      {"gesvd", {2}, WholeMember}, {"gesvdj", {2}, WholeMember}, {"gesvdp", {2}, WholeMember}};
  for (const absl::string_view library : {"cu", "hip"}) {
    for (const MatrixRoutine& routine : of_gpus) {
      add(absl::StrCat(library, "solver_", routine.name, "_ffi"), routine);
    }
    add(absl::StrCat(library, "sparse_gtsv2_ffi"), {"gtsv2", {1, 1, 1, 2}});
    add(absl::StrCat(library, "_lu_pivots_to_permutation"), {"lu_pivots_to_permutation", {1}});
  }
}

}  // namespace xla_indexing::internal
