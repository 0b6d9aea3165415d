#include "xla_indexing/map/sets/decision.h"

#include <ostream>

namespace xla_indexing {

void PrintTo(const Decision& decision, std::ostream* os) {
  switch (decision.answer) {
    case Answer::kNo:
      *os << "no";
      break;
    case Answer::kYes:
      *os << "yes";
      break;
    case Answer::kUndecided:
      *os << "undecided";
      break;
  }
  *os << " after " << decision.steps << " steps";
}

}  // namespace xla_indexing
