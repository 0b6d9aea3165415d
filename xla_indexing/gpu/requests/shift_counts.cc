#include "xla_indexing/gpu/requests/shift_counts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using Counts = llvm::SmallVector<Int128, 0>;

// The counts, a power of two of them, after one more term: at each r, the sum of those at r - i * k
// for i in [0, n - 1].
Counts Moved(const Counts& counts, const MovingTerm& term, int64_t granularity) {
  const auto size = static_cast<int64_t>(counts.size());
  const int64_t step = FloorMod(term.coefficient / granularity, size);
  const int64_t n = term.values.Size();
  const int64_t num_cycles = Gcd(size, step);
  const int64_t order = size / num_cycles;
  Counts moved(size);
  Counts sums(2 * order + 1);  // of the first counts of a cycle that is gone around twice
  for (int64_t first = 0; first < num_cycles; ++first) {
    for (int64_t i = 0, r = first; i < 2 * order; ++i, r = (r + step) & (size - 1)) {
      sums[i + 1] = sums[i] + counts[r];
    }
    const Int128 turns = TimesCount(std::min(sums[order], kMaxCount), n / order);
    for (int64_t i = order, r = first; i < 2 * order; ++i, r = (r + step) & (size - 1)) {
      moved[r] = PlusCount(turns, std::min(sums[i + 1] - sums[i + 1 - n % order], kMaxCount));
    }
  }
  return moved;
}

}  // namespace

ShiftCounts::ShiftCounts(llvm::ArrayRef<MovingTerm> terms, int64_t modulus, Int128 factor)
    : granularity_(modulus), total_(factor), factor_(factor) {
  for (const MovingTerm& term : terms) {
    total_ = TimesCount(total_, term.values.Size());
    if (term.coefficient % modulus == 0) {
      factor_ = TimesCount(factor_, term.values.Size());
      continue;
    }
    granularity_ = Gcd(granularity_, term.coefficient);
    terms_.push_back(term);
  }
  if (terms_.empty()) return;
  counts_.assign(modulus / granularity_, 0);
  counts_[0] = factor_;
  for (const MovingTerm& term : terms_) counts_ = Moved(counts_, term, granularity_);
}

void ShiftCounts::FindValues(int64_t i, llvm::SmallVectorImpl<int64_t>* values) const {
  // The counts without each term and those after it.
  llvm::SmallVector<Counts, 4> before = {Counts(size())};
  before[0][0] = factor_;
  for (const MovingTerm& term : terms_) before.push_back(Moved(before.back(), term, granularity_));
  for (size_t t = terms_.size(); t-- > 0;) {
    int64_t x = 0;
    while (before[t][i] == 0) {
      ++x;
      i = FloorMod(i - terms_[t].coefficient / granularity_, size());
    }
    (*values)[terms_[t].variable] = terms_[t].values.lower + x;
  }
}

}  // namespace xla_indexing::internal
