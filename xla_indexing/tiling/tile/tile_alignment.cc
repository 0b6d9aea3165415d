#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/tiling/tile/tile_digits.h"

namespace xla_indexing::internal {
namespace {

// Tiles that are looked at one by one.
constexpr int64_t kMaxTilesSeen = 64;
// Sizes that are looked at: multiples of a place where tiles begin with digits, and any elsewhere.
constexpr int64_t kMaxMultiplesSeen = 4096;
constexpr int64_t kMaxSizesSeen = 512;

// Answers for one size whether one of the alternatives of TileDigits::SayAligned holds.
class AlignedSize {
 public:
  explicit AlignedSize(int64_t size) : size_(size) {}

  void Begin() {
    any_ = any_ || all_;
    all_ = true;
  }
  void IsMultipleOf(int64_t n) { all_ = all_ && size_ % n == 0; }
  void Divides(int64_t n) { all_ = all_ && n % size_ == 0; }
  void RestDivides(int64_t n, int64_t low) {
    const int64_t rest = size_ % low;
    all_ = all_ && rest != 0 && n % rest == 0;
  }
  void IsAtLeast(int64_t n) { all_ = all_ && size_ >= n; }
  void IsFalse() { all_ = false; }
  bool IsAligned() const { return any_ || all_; }

 private:
  const int64_t size_;
  bool any_ = false;
  bool all_ = false;
};

}  // namespace

bool BeginsInside(const TileVariable& variable, int64_t low) {
  return variable.modulus == 1 && FloorMod(variable.shift, low) != 0;
}

std::optional<int64_t> TileDigits::NumTiles(int dim, int64_t size, int64_t* first) const {
  const Interval& bounds = variables_[dim].bounds;
  *first = 0;
  if (bounds.IsEmpty()) return 0;
  if (bounds.has_lower()) *first = std::max<int64_t>(CeilDiv(bounds.lower(), size), 0);
  if (!bounds.has_upper()) return std::nullopt;
  // Only tiles that end within the interval are full.
  const int64_t end = static_cast<int64_t>((Int128{bounds.upper()} + 1) / size);
  return std::max<int64_t>(end - *first, 0);
}

bool TileDigits::IsAlignedByRule(int index, int64_t size, UnitCounts* all) const {
  const TileVariable& variable = variables_[index];
  AlignedSize logic(size);
  SayAligned(variable, &logic);
  if (!logic.IsAligned()) return false;
  for (int i = variable.first_unit; i < variable.first_unit + variable.num_units; ++i) {
    all->counts[i] = NumValues(variable, units_[i].low, units_[i].count, size);
  }
  return true;
}

bool TileDigits::AreUsual(int index, int64_t size, const UnitCounts& all) const {
  const TileVariable& variable = variables_[index];
  for (int i = variable.first_unit; i < variable.first_unit + variable.num_units; ++i) {
    if (all.counts[i] != NumValues(variable, units_[i].low, units_[i].count, size)) return false;
  }
  return true;
}

// Whether the one tile that begins at `start` is aligned.
bool TileDigits::IsAlignedWindow(const TileVariable& variable, int64_t start, int64_t size,
                                 llvm::MutableArrayRef<int64_t> counts) const {
  const llvm::ArrayRef<TileUnit> units = UnitsOf(variable);
  const Int128 begin = Int128{start} + variable.shift;
  const std::optional<int64_t> first = NarrowToInt64(begin);
  const std::optional<int64_t> last = NarrowToInt64(begin + size - 1);
  if (!first || !last) return false;
  int64_t low = FloorDiv(*first, units[0].low);
  const std::optional<int64_t> window =
      NarrowToInt64(Int128{FloorDiv(*last, units[0].low)} - low + 1);
  if (!window) return false;
  int64_t left = *window;
  const int64_t end = units.back().low * units.back().count;
  for (size_t i = 0; i < units.size(); ++i) {
    const int64_t count = units[i].count;
    if (count == 0) {
      counts[i] = left;
      return true;
    }
    // All there is; units below have all values, or there would be one value left.
    if (end != 0 && left >= end / units[i].low) {
      for (size_t j = i; j < units.size(); ++j) counts[j] = units[j].count;
      return true;
    }
    const int64_t digit = FloorMod(low, count);
    if (left <= count - digit) {
      counts[i] = left;
      left = 1;
    } else if (digit == 0 && left % count == 0) {
      counts[i] = count;
      left /= count;
    } else {
      return false;
    }
    low = FloorDiv(low, count);
  }
  return true;
}

bool TileDigits::IsAligned(int index, int64_t size, UnitCounts* all) const {
  if (variables_[index].num_units == 0 || IsAlignedByRule(index, size, all)) return true;
  return LookAtTiles(index, size, all).value_or(false);
}

std::optional<bool> TileDigits::LookAtTiles(int index, int64_t size, UnitCounts* all) const {
  const TileVariable& variable = variables_[index];
  if (variable.modulus != 1) return false;
  int64_t first = 0;
  const std::optional<int64_t> num_tiles = NumTiles(index, size, &first);
  // Tiles whose begins differ by a multiple of the last place look alike.
  const TileUnit& last = UnitsOf(variable).back();
  const int64_t period = last.count == 0 ? last.low : last.low * last.count;
  const int64_t num_different = std::min(num_tiles.value_or(kInt64Max), period / Gcd(size, period));
  if (num_different == 0) return false;
  const llvm::MutableArrayRef<int64_t> counts = CountsOf(variable, all);
  llvm::SmallVector<int64_t, 8> of_tile(counts.size());
  for (int64_t i = 0; i < num_different; ++i) {
    if (i == kMaxTilesSeen) return std::nullopt;
    const std::optional<int64_t> start = CheckedMul(first + i, size);
    if (!start || !IsAlignedWindow(variable, *start, size, of_tile)) return false;
    if (i == 0) {
      llvm::copy(of_tile, counts.begin());
    } else if (!std::equal(counts.begin(), counts.end(), of_tile.begin())) {
      return false;
    }
  }
  return true;
}

std::optional<std::vector<int64_t>> TileDigits::AlignedByLooking(int dim, int64_t most) const {
  const TileVariable& variable = variables_[dim];
  const llvm::ArrayRef<TileUnit> units = UnitsOf(variable);
  std::vector<int64_t> sizes;
  if (units.empty() || variable.modulus != 1) return sizes;
  const Interval& bounds = variable.bounds;
  if (units[0].low == 1 && variable.shift == 0 && bounds.has_lower() && bounds.lower() <= 0) {
    // Tile 0 begins with a digit: the size is q of them, and q, which is less than all, does not
    // divide all.
    for (const TileUnit& unit : units) {
      if (unit.count > kMaxMultiplesSeen) return std::nullopt;
      for (int64_t q = 2; q < unit.count; ++q) {
        const std::optional<int64_t> size = CheckedMul(unit.low, q);
        if (unit.count % q != 0 && size && *size <= most) sizes.push_back(*size);
      }
    }
  } else {
    if (most > kMaxSizesSeen) return std::nullopt;
    for (int64_t size = 1; size <= most; ++size) sizes.push_back(size);
  }
  UnitCounts counts;
  counts.counts.assign(units_.size(), 1);
  std::vector<int64_t> aligned;
  for (const int64_t size : sizes) {
    if (IsAlignedByRule(dim, size, &counts)) continue;
    const std::optional<bool> is_aligned = LookAtTiles(dim, size, &counts);
    if (!is_aligned) return std::nullopt;
    if (*is_aligned) aligned.push_back(size);
  }
  return aligned;
}

bool TileDigits::CountRanges(UnitCounts* all) const {
  bool all_are = true;
  for (size_t i = num_dims_; i < variables_.size(); ++i) {
    const TileVariable& range = variables_[i];
    if (range.num_units == 0) continue;
    const std::optional<int64_t> size = range.bounds.Size();
    all->is_aligned[i] = size && *size > 0 &&
                         IsAlignedWindow(range, range.bounds.lower(), *size, CountsOf(range, all));
    all_are = all_are && all->is_aligned[i];
  }
  return all_are;
}

UnitCounts TileDigits::RangeCounts() const {
  UnitCounts all;
  all.counts.assign(units_.size(), 1);
  all.is_aligned.assign(variables_.size(), true);
  CountRanges(&all);
  return all;
}

bool TileDigits::Count(llvm::ArrayRef<int64_t> sizes, UnitCounts* all) const {
  all->counts.assign(units_.size(), 1);
  all->is_aligned.assign(variables_.size(), true);
  bool all_are = true;
  for (int i = 0; i < num_dims_; ++i) {
    all->is_aligned[i] = IsAligned(i, sizes[i], all);
    all_are = all_are && all->is_aligned[i];
  }
  return CountRanges(all) && all_are;
}

bool TileDigits::CountOne(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> lengths,
                          UnitCounts* all) const {
  all->counts.assign(units_.size(), 1);
  all->is_aligned.assign(variables_.size(), true);
  bool all_are = true;
  for (int i = 0; i < num_dims_; ++i) {
    const TileVariable& dim = variables_[i];
    if (dim.num_units == 0) continue;
    const llvm::MutableArrayRef<int64_t> counts = CountsOf(dim, all);
    if (dim.modulus == 1) {
      all->is_aligned[i] = IsAlignedWindow(dim, starts[i], lengths[i], counts);
    } else {
      // The multiples of the modulus in a window.
      const std::optional<int64_t> first = CheckedAdd(starts[i], dim.shift);
      const std::optional<int64_t> last = first ? CheckedAdd(*first, lengths[i] - 1) : std::nullopt;
      counts[0] = last ? FloorDiv(*last, dim.modulus) - CeilDiv(*first, dim.modulus) + 1 : 0;
      all->is_aligned[i] = counts[0] > 0;
    }
    all_are = all_are && all->is_aligned[i];
  }
  return CountRanges(all) && all_are;
}

bool TileDigits::AreIndependent(const UnitCounts& all) const {
  for (size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].result == TileUnit::kSeveral && all.counts[i] != 1) return false;
  }
  return true;
}

bool TileDigits::HasOneValue(const TileResult& result, const UnitCounts& all) const {
  return llvm::all_of(UnitTermsOf(result),
                      [&](const TileUnitTerm& term) { return all.counts[term.unit] == 1; });
}

std::optional<SizeAndStride> TileDigits::ProgressionOf(const TileResult& result,
                                                       const UnitCounts& all) const {
  std::vector<EquallySpaced> windows;
  for (const TileUnitTerm& term : UnitTermsOf(result)) {
    windows.push_back({all.counts[term.unit], Magnitude(term.coefficient)});
  }
  const std::optional<EquallySpaced> values = SumOf(std::move(windows));
  const std::optional<int64_t> size = values ? NarrowToInt64(values->count) : std::nullopt;
  if (!size) return std::nullopt;
  return SizeAndStride{*size, *size > 1 && Falls(result) ? -values->stride : values->stride};
}

bool TileDigits::Falls(const TileResult& result) const {
  return result.num_unit_terms > 0 &&
         llvm::all_of(UnitTermsOf(result),
                      [](const TileUnitTerm& term) { return term.coefficient < 0; });
}

std::optional<int64_t> TileDigits::FirstOf(int index, int64_t start, const UnitCounts& all) const {
  const TileUnit& unit = units_[index];
  const TileVariable& variable = variables_[unit.variable];
  const std::optional<int64_t> shifted = CheckedAdd(start, variable.shift);
  if (!shifted) return std::nullopt;
  if (variable.modulus != 1) return CeilDiv(*shifted, variable.modulus);
  // All values, wherever the tile begins: as expressions say where nothing above is used.
  const bool has_end = UnitsOf(variable).back().count != 0;
  if (has_end && all.counts[index] == unit.count) return 0;
  const int64_t quotient = FloorDiv(*shifted, unit.low);
  return unit.count == 0 ? quotient : FloorMod(quotient, unit.count);
}

std::optional<int64_t> TileDigits::OffsetOf(const TileResult& result,
                                            llvm::ArrayRef<int64_t> starts,
                                            const UnitCounts& all) const {
  std::optional<int64_t> offset = result.constant;
  const bool falls = Falls(result);
  for (const TileUnitTerm& term : UnitTermsOf(result)) {
    const int variable = units_[term.unit].variable;
    const bool is_dim = variable < num_dims_;
    if (!is_dim && !variables_[variable].bounds.has_lower()) return std::nullopt;
    const int64_t start = is_dim ? starts[variable] : variables_[variable].bounds.lower();
    const std::optional<int64_t> first = FirstOf(term.unit, start, all);
    const std::optional<int64_t> value =
        first ? CheckedAdd(*first, term.coefficient < 0 && !falls ? all.counts[term.unit] - 1 : 0)
              : std::nullopt;
    if (!value) return std::nullopt;
    offset = NarrowToInt64(Int128{*value} * term.coefficient + *offset);
    if (!offset) return std::nullopt;
  }
  return offset;
}

}  // namespace xla_indexing::internal
