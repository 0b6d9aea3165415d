#include "xla_indexing/ops/answers/parts/exactness.h"

#include "absl/strings/string_view.h"

namespace xla_indexing {

absl::string_view ExactnessName(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "exact";
    case Exactness::kOverApproximate:
      return "over-approximate";
    case Exactness::kUnknown:
      return "unknown";
  }
  return "";
}

ExactnessLabel ExactnessLabel::Weaker(const ExactnessLabel& a, const ExactnessLabel& b) {
  return b.exactness > a.exactness ? b : a;
}

}  // namespace xla_indexing
