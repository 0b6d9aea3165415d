#include "xla_indexing/gpu/internal/residue_counts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

namespace {

using Counts = llvm::SmallVector<Int128, 0>;

// The counts of r + i * step for i in [0, n - 1].
Counts Moved(const Counts& counts, int64_t step, int64_t n) {
  const auto size = static_cast<int64_t>(counts.size());
  const int64_t num_cycles = Gcd(size, step);
  const int64_t order = size / num_cycles;
  const int64_t around = n / order;
  const int64_t on = n % order;
  Counts moved(size);
  for (int64_t first = 0; first < num_cycles; ++first) {
    Int128 cycle = 0;   // of the cycle
    Int128 window = 0;  // of the last `on` places
    int64_t behind = FloorMod(first - step * on, size);
    for (int64_t i = 0, r = first; i < order; ++i, r = (r + step) % size) cycle += counts[r];
    for (int64_t i = 1, r = behind; i < on; ++i) {
      r = (r + step) % size;
      window += counts[r];
    }
    // What leaves the window is `on` places behind.
    const Int128 of_cycles = TimesCount(std::min(cycle, kMaxCount), around);
    for (int64_t i = 0, r = first; i < order; ++i, r = (r + step) % size) {
      if (on > 0) window += counts[r];
      moved[r] = PlusCount(of_cycles, std::min(window, kMaxCount));
      if (on > 0) {
        behind = (behind + step) % size;
        window -= counts[behind];
      }
    }
  }
  return moved;
}

}  // namespace

ResidueCounts::ResidueCounts(llvm::ArrayRef<MovingTerm> terms, int64_t modulus, Int128 factor)
    : ResidueCounts({Int128{1}}, terms, modulus, factor) {}

ResidueCounts::ResidueCounts(llvm::ArrayRef<Int128> start, llvm::ArrayRef<MovingTerm> terms,
                             int64_t modulus, Int128 factor) {
  const int64_t of_start = modulus / static_cast<int64_t>(start.size());
  granularity_ = of_start;
  total_ = 0;
  for (const Int128 count : start) total_ = PlusCount(total_, count);
  total_ = TimesCount(total_, factor);
  for (const MovingTerm& term : terms) {
    total_ = TimesCount(total_, term.values.Size());
    if (term.coefficient % modulus == 0) {
      factor = TimesCount(factor, term.values.Size());
      continue;
    }
    granularity_ = Gcd(granularity_, term.coefficient);
    terms_.push_back(term);
  }
  const int64_t size = modulus / granularity_;
  if (size == 1) return;
  counts_.assign(size, 0);
  for (size_t i = 0; i < start.size(); ++i) {
    counts_[i * (of_start / granularity_)] = TimesCount(start[i], factor);
  }
  for (const MovingTerm& term : terms_) {
    before_.push_back(counts_);
    counts_ = Moved(counts_, FloorMod(term.coefficient / granularity_, size), term.values.Size());
  }
}

int64_t ResidueCounts::NumResidues() const {
  if (counts_.empty()) return 1;
  return std::count_if(counts_.begin(), counts_.end(), [](Int128 count) { return count != 0; });
}

void ResidueCounts::FindValues(int64_t i, llvm::SmallVectorImpl<int64_t>* values) const {
  const auto size = static_cast<int64_t>(counts_.size());
  for (size_t t = terms_.size(); t-- > 0;) {
    const int64_t step = FloorMod(terms_[t].coefficient / granularity_, size);
    int64_t x = 0;
    while (before_[t][i] == 0) {
      ++x;
      i = FloorMod(i - step, size);
    }
    (*values)[terms_[t].variable] = terms_[t].values.lower + x;
  }
}

}  // namespace xla_indexing::internal
