#include "xla_indexing/tools/answers/count_output.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace xla_indexing {

std::string CountText(const Interval& count) {
  return count.IsPoint() ? absl::StrCat(count.lower()) : count.ToString();
}

}  // namespace xla_indexing
