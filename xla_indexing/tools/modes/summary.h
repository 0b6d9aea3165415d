// How much of what was asked for is exact: `print-indexing --summary`.
//
// Entries are counted as they are printed, one for each (instruction, direction, output leaf,
// operand, operand leaf), also those of which nothing is read. Those that are not exact are listed
// by opcode and reason, the most frequent first:
//
//   output-to-input: 7 entries, 6 exact (85.71%)
//     1 pad: over-approximate: elements that come from the operand do not read the padding value

#ifndef XLA_INDEXING_TOOLS_MODES_SUMMARY_H_
#define XLA_INDEXING_TOOLS_MODES_SUMMARY_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/tools/answers/report.h"

namespace xla_indexing {

class Summary {
 public:
  void Add(HloOpcode opcode, Direction direction, const std::vector<ReportedEntry>& entries);
  // Counts this many entries that are not listed, as unknown for that reason.
  void AddNotListed(HloOpcode opcode, Direction direction, int64_t entries,
                    const std::string& reason);
  void Add(const Summary& other);

  // Directions without entries are left out.
  std::string ToText() const;

 private:
  struct Counts {
    int64_t entries = 0;
    int64_t exact = 0;
    std::map<std::tuple<HloOpcode, Exactness, std::string>, int64_t> others;  // with the reason
  };

  std::array<Counts, 2> counts_;  // by direction
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_SUMMARY_H_
