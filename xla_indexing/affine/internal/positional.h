// Positional numbers: the indices of an array as lists of digits, which reshapes, transposes,
// reverses, slices, pads and concatenations only move, cut and join.
//
// Mathematics (of digits, numbers and places: affine/internal/number.h). A *source* is an integer
// quantity x >= 0: a variable, a *run*, which is a number made of digits, or a *linear* source k*N
// + c of a number N.
//
//   linearize     the row-major position of indices is the list of their digits, one after another
//   delinearize   cuts that list at the products of the sizes
//   cut at r      r is a place: the digit there is cut in two. Otherwise, with q the greatest place
//                 that divides r and p the least that r divides, Y = the digits from q to p is a
//                 run, and its digits are (Y, 1, r/q) and (Y, r/q, p/r)
//   join          digit(x, a, b) + b*digit(x, a*b, b') = digit(x, a, b*b')
//   reverse       flips every digit
//   slice, pad, concatenate   (k*N + c) / m, where m divides it: a linear source
//
// Numbers are kept in a form that does not depend on how they came about: digits that can be joined
// are; a run holds no more digits than its digit depends on, and a digit of a run is cut wherever
// the run has a place; runs and linear sources are flipped so that their most significant digit is
// not. So a reshape and its inverse cancel, and chains that differ in the order of steps that
// commute or in how a reshape is split end in equal numbers.
//
//   PositionalAlgebra algebra;
//   Number d0 = algebra.AddVariable(12), d1 = algebra.AddVariable(8);
//   // {(X, 6, 16), (X, 1, 6)}, where the run X = d0*8 + d1 is cut to what it takes:
//   // d0*4 + d1 floordiv 2, cut at 3.
//   *algebra.Reshape({d0, d1}, {16, 6});
//
// Errors. Where a number does not fit int64, or runs nest too deep, there is no result.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_H_
#define XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/affine/internal/object_pool.h"
#include "xla_indexing/affine/internal/positional_memory.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

class PositionalAlgebra {
 public:
  PositionalAlgebra() = default;
  ~PositionalAlgebra() { InstancePool<PositionalMemory>::GiveBack(std::move(memory_)); }
  PositionalAlgebra(const PositionalAlgebra&) = delete;
  PositionalAlgebra& operator=(const PositionalAlgebra&) = delete;

  // A new variable in [0, size - 1], size >= 1. Its position is the number of variables before it.
  Number AddVariable(int64_t size);
  int num_variables() const { return static_cast<int>(variables_.size()); }
  Interval RangeOfVariable(int position) const { return Interval::OfSize(variables_[position]); }

  // The indices in an array of the sizes `to` of the element with these indices, in an array of as
  // many elements. indices[i] is of the size of its axis; the greatest axis stands first.
  std::optional<llvm::SmallVector<Number, 4>> Reshape(llvm::ArrayRef<Number> indices,
                                                      llvm::ArrayRef<int64_t> to);

  // (factor * number + offset) / divisor, of `size` values, where it is known that the division
  // leaves no rest and that the result is in [0, size - 1]; none where that cannot be.
  std::optional<Number> Affine(const Number& number, int64_t factor, int64_t offset,
                               int64_t divisor, int64_t size);

  // What is a number that a slice, a pad or a reverse has made of another:
  // (factor * number + offset) / divisor.
  struct AffineForm {
    Number number;
    int64_t factor = 1;
    int64_t offset = 0;
    int64_t divisor = 1;
  };
  std::optional<AffineForm> AsAffine(const Number& number);

  // What a number is the high digits of: number = floor(whole / divisor). Its least digit begins
  // within a variable, of which `whole` has the digits below, or is the top of a run, of which it
  // has all; otherwise it is the number itself, and the divisor 1.
  struct HighDigits {
    Number whole;
    int64_t divisor = 1;
  };
  HighDigits AsHighDigits(const Number& number);

  // The position of the variable that the number is; none where it is none.
  std::optional<int> AsVariable(const Number& number) const;

  // An interval that contains the values of the number.
  Interval RangeOf(const Number& number) const;

  // Takes room from the most significant digit that it never needs.
  void ShrinkToFit(Number& number) const;

  // number mod divisor where that is a constant.
  std::optional<int64_t> ConstantResidue(const Number& number, int64_t divisor);

  using Source = NumberSource;
  const Source& source(uint32_t id) const { return memory_->sources[id - 1]; }
  size_t num_sources() const { return memory_->sources.size(); }
  // Whether a linear source is part of the number: its values are known under restrictions alone.
  bool IsMoved(const Number& number) const;
  // Occurrences of digits in the number with all its sources, and how deep they nest.
  size_t NodesOf(const Number& number) const;
  int DepthOf(const Number& number) const;

 private:
  using Parts = NumberParts;

  // Null where there are none.
  const LinearizedIndices* FindByIndices(llvm::ArrayRef<Number> indices, size_t hash) const;
  const LinearizedIndices* FindByPosition(const Number& position, size_t hash,
                                          llvm::ArrayRef<int64_t> sizes) const;
  const LinearizedIndices* Remember(llvm::ArrayRef<Number> indices, size_t hash,
                                    const Number& position, size_t position_hash);
  const LinearizedIndices* Linearize(llvm::ArrayRef<Number> indices);

  std::optional<Number> Undo(const Number& number, int64_t factor, int64_t offset, int64_t divisor,
                             int64_t size) const;
  std::optional<Number> ComputeAffine(const Number& number, int64_t factor, int64_t offset,
                                      int64_t divisor, int64_t size);

  uint32_t Intern(Source source);

  // All of these give false or none past the bounds.
  bool AppendDigit(Number& number, const Digit& digit);
  bool Append(Number& number, const Number& more);
  std::optional<Number> JoinedRuns(const Digit& low, const Digit& high);
  std::optional<Number> JoinRuns(const Digit& low, const Digit& high, bool is_low_cut,
                                 int64_t shift);
  std::optional<Number> JoinBelowOffset(const Digit& low, const Digit& high);
  bool JoinLinear(Number& number, const Digit& digit);

  int64_t GreatestOf(const Digit& digit) const;
  bool AppendConstant(Number& number, const Digit& constant);
  std::optional<int64_t> MoveOffsetsOut(Number& number);
  bool Unwrap(Source& linear) const;
  bool Resize(Number& number, int64_t size) const;

  // The number cut in two; r divides its size.
  std::optional<Parts> Cut(const Number& number, int64_t r);
  std::optional<Parts> CutAtPlace(const Number& number, int64_t r);
  std::optional<Parts> CutDigit(const Digit& digit, int64_t radix);

  Number RunOf(const Digit& digit) const;
  std::optional<Number> Flatten(const Number& run, int64_t& place);
  std::optional<Number> RunDigit(const Number& run, int64_t place, int64_t size);
  std::optional<Number> LinearDigit(Source linear, int64_t place, int64_t size);

  // Joining and cutting call each other; no chain of reindexings comes near.
  static constexpr int kMaxRecursion = 64;
  llvm::SmallVector<int64_t, 4> variables_;  // their sizes
  // Digits of runs and linear sources that are cut, and pairs of digits of runs that are joined.
  static constexpr int kMaxWork = 100000;
  int work_ = 0;
  int depth_ = 0;
  // A digit of a linear source has been found to be constant.
  bool lost_source_ = false;
  std::unique_ptr<PositionalMemory> memory_ = InstancePool<PositionalMemory>::Take();
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_H_
