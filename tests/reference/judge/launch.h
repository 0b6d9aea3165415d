// A launch of threads that access memory, thread by thread: the judge of the coalescing query.
//
// Every thread of every block is visited at every value of its loops and of the range variables of
// the operand's map. Its points are evaluated by plain arithmetic; the bytes of a warp are a set of
// numbers, and its sectors, lines and banks are counted one by one. Nothing here knows forms,
// periods or residues.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_LAUNCH_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::reference {

struct Launch {
  const ThreadMapping& mapping;
  const IndexingMap* indexing = nullptr;  // null: what is computed is accessed
  const Shape& accessed;
  int64_t warp_size = 32;
  int64_t base_bytes = 0;
  // The value of runtime variable `i` at a point of the operand's map (dimensions, then range
  // variables).
  std::function<int64_t(int i, const std::vector<int64_t>& point)> runtime_value;
};

// Calls `visit` with the bytes of every request that has any, sorted.
void ForEachRequest(const Launch& launch,
                    const std::function<void(const std::set<int64_t>& bytes)>& visit);

// The value of an expression.
int64_t ValueAt(mlir::AffineExpr expr, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& symbols);

// The bit at which an element of an array begins.
int64_t BitOf(const Shape& array, const std::vector<int64_t>& index);

struct SectorCounts {
  int64_t requests = 0;
  int64_t sectors = 0;
  int64_t least = 0;
  int64_t lines = 0;
  // The counts of the request with the most sectors relative to its least number.
  int64_t worst_sectors = 0;
  int64_t worst_least = 0;

  friend bool operator==(const SectorCounts& a, const SectorCounts& b) = default;
};
SectorCounts CountSectors(const Launch& launch, int64_t sector_bytes = 32,
                          int64_t line_bytes = 128);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_LAUNCH_H_
