#include "xla_indexing/ops/answers/parts/value_function.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

int64_t ValueFunction::Apply(int64_t value) const {
  switch (kind_) {
    case Kind::kAsIs:
    case Kind::kIterations:
      return value;
    case Kind::kClamp:
      return std::clamp(value, lower_, upper_);
    case Kind::kInRangeElseLast:
      return lower_ <= value && value <= upper_ ? value : upper_;
    case Kind::kIsNotZero:
      return value != 0 ? 1 : 0;
  }
  return value;
}

Interval ValueFunction::Apply(const Interval& values) const {
  if (values.IsEmpty() || kind_ == Kind::kAsIs || kind_ == Kind::kIterations) return values;
  if (kind_ == Kind::kIsNotZero) {
    return Interval::Closed(values.Contains(0) ? 0 : 1, values == Interval::Point(0) ? 0 : 1);
  }
  const Interval inside = values.Intersect(Interval::Closed(lower_, upper_));
  if (kind_ == Kind::kInRangeElseLast) {
    const bool some_outside = !values.IsSubsetOf(Interval::Closed(lower_, upper_));
    return some_outside ? inside.Union(Interval::Point(upper_)) : inside;
  }
  const int64_t least = values.has_lower() ? Apply(values.lower()) : lower_;
  const int64_t greatest = values.has_upper() ? Apply(values.upper()) : upper_;
  return Interval::Closed(least, greatest);
}

std::string ValueFunction::ToString() const {
  switch (kind_) {
    case Kind::kAsIs:
      return "as is";
    case Kind::kClamp:
      return absl::StrCat("clamp [", lower_, ", ", upper_, "]");
    case Kind::kInRangeElseLast:
      return absl::StrCat("in [0, ", upper_, "], else ", upper_);
    case Kind::kIterations:
      return "iterations";
    case Kind::kIsNotZero:
      return "is not 0";
  }
  return "";
}

}  // namespace xla_indexing
