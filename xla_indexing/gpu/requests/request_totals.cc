#include "xla_indexing/gpu/requests/request_totals.h"

#include <algorithm>

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/count/count_points.h"

namespace xla_indexing::internal {

void RequestBounds::Add(Int128 a, Int128 b) {
  least = PlusCount(least, a);
  most = PlusCount(most, b);
}

void RequestBounds::Hull(const RequestBounds& other) {
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

Interval RequestBounds::ToInterval() const { return CountBetween(CountOf(least), CountOf(most)); }

void RequestTotals::Add(Int128 count, const RequestCost& low, const RequestCost& high) {
  requests.Add(count, count);
  units.Add(TimesCount(count, low.units), TimesCount(count, high.units));
  least.Add(TimesCount(count, low.least), TimesCount(count, high.least));
  other.Add(TimesCount(count, low.other), TimesCount(count, high.other));
}

void RequestTotals::AddAtMost(Int128 count, const RequestCost& high) {
  requests.Add(0, count);
  units.Add(0, TimesCount(count, high.units));
  least.Add(0, TimesCount(count, high.least));
  other.Add(0, TimesCount(count, high.other));
}

void RequestTotals::Hull(const RequestTotals& others) {
  requests.Hull(others.requests);
  units.Hull(others.units);
  least.Hull(others.least);
  other.Hull(others.other);
}

bool IsWorse(const RequestCost& a, const RequestCost& b) {
  const Int128 of_a = Int128{a.units} * b.least;
  const Int128 of_b = Int128{b.units} * a.least;
  return of_a > of_b || (of_a == of_b && a.units > b.units);
}

}  // namespace xla_indexing::internal
