// How much of its operands an instruction, fusion or computation uses, and how often it reads it.
//
// Mathematics. For a leaf of an operand and a leaf of the output,
//
//   elements        of the operand's leaf
//   elements read   those that some element of the output reads
//   reads           pairs (element of the output, element of the operand), summed over the
//                   different maps: what is read if nothing is kept between them
//   used fraction   elements read / elements
//   reads an element   reads / elements read
//
// and bytes of each: elements times the bits that the element type, or the layout, gives one,
// rounded up to whole bytes; and also the bytes of the buffer, which has the padding of
// tiles: f32[8,1]{1,0:T(8,128)} has 32 bytes in a buffer of 4096. All are exact integers where they
// do not depend on runtime values and are found within 2^26 counting steps; otherwise intervals
// [least, most]. Past int64 the least is 2^63 - 1 and there is no most.
//
// Totals cover all operands: the bytes of all reads; the bytes of all elements that are read, each
// counted once, as with a cache that keeps everything (a value that is passed twice, or read for
// several outputs, counts once); and the bytes of the output. Results of instructions that are
// memory which is there already (query/aliases.h), such as tuples, bitcasts and the leaves that a
// while passes through, are no traffic: neither they nor what they read counts in totals. A
// computation writes whatever its root is, but for parameters and constants.
//
// Where the usual answer is over-approximate, the exact maps (IndexingOptions::exact) are counted
// instead. Maps that are over-approximate even then may name elements that are not read: they count
// for the greatest number only.
//
// Example, row_max = f32[2,65] reduce(p: f32[2,65,125], init), dimensions={2}:
//   operand 0: 16250 of 16250 elements, 16250 reads;   operand 1: 1 of 1 elements, 130 reads
#ifndef XLA_INDEXING_QUERY_UTILIZATION_UTILIZATION_H_
#define XLA_INDEXING_QUERY_UTILIZATION_UTILIZATION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {

struct Utilization {
  Interval elements_read;
  Interval elements;
  Interval reads;
  Interval bytes_read;  // of elements_read
  Interval bytes;       // of elements
  Interval bytes_of_reads;
  // All that the operand's leaf takes in memory, with its padding; nullopt if that is not known.
  std::optional<Interval> buffer_bytes;
  // Some map has a runtime variable. Exact counts are those for every value of it.
  bool has_runtime_values = false;

  bool IsExact() const { return elements_read.IsPoint() && reads.IsPoint(); }
  // Elements read / elements, and reads / elements read; nullopt if one of the counts is not a
  // number, or the second is 0.
  std::optional<double> UsedFraction() const;
  std::optional<double> ReadsPerElement() const;
  // Bytes of the buffer / bytes of elements, in the same way.
  std::optional<double> PaddingFactor() const;

  friend bool operator==(const Utilization& a, const Utilization& b) = default;
};

struct OperandUtilization {
  int64_t output_leaf = 0;
  int64_t operand = 0;  // For a computation, the parameter's number.
  int64_t operand_leaf = 0;
  Utilization utilization;

  friend bool operator==(const OperandUtilization& a, const OperandUtilization& b) = default;
};

struct Traffic {
  Interval bytes_of_reads = Interval::Point(0);
  Interval bytes_read = Interval::Point(0);  // once
  Interval bytes_written = Interval::Point(0);

  void Add(const Traffic& other);
  bool IsExact() const { return bytes_of_reads.IsPoint() && bytes_read.IsPoint(); }

  friend bool operator==(const Traffic& a, const Traffic& b) = default;
};

struct UtilizationReport {
  // Sorted by output leaf, operand, operand leaf. A leaf that nothing reads stands with output 0.
  std::vector<OperandUtilization> operands;
  Traffic total;
};

// Counts the entries of one result and its operands (or parameters), which are given piece by
// piece.
class UtilizationCounter {
 public:
  // Keeps references. `operands` are `result.operands()` for an instruction; all others are taken
  // for the parameters of a computation whose root is `result`.
  UtilizationCounter(const HloInstruction& result,
                     absl::Span<const HloInstruction* const> operands);

  // The utilization of each entry, in the order of the entries. `exact_entries` gives the entries
  // with exact maps; it is called once, where some entry is not exact. Entries for which it fails
  // stay over-approximate. InvalidArgument for an entry of leaves that do not exist, or with maps
  // that do not fit them.
  absl::StatusOr<std::vector<OperandUtilization>> Count(
      const InstructionIndexing& entries,
      absl::FunctionRef<absl::StatusOr<SharedIndexing>()> exact_entries);
  // The traffic of all entries that were counted.
  Traffic Total() const;

 private:
  struct HashOfMap {
    size_t operator()(const OperandIndexing& map) const;
  };
  // What reads one leaf of one value: the bytes where all of it is read, the bytes of the only
  // entry so far, and the different maps of all entries, which are left out past a bound.
  struct Readers {
    explicit Readers(const Shape& of) : leaf(of) {}

    const Shape& leaf;
    int64_t count = 0;
    std::optional<Interval> bytes_of_all;
    Interval bytes_of_only;
    std::vector<OperandIndexing> maps;
    std::unordered_set<OperandIndexing, HashOfMap> known_maps;  // `maps`, as a set
    bool has_all_maps = true;
  };
  static Interval BytesReadOnce(const Readers& readers);

  const HloInstruction& result_;
  const absl::Span<const HloInstruction* const> operands_;
  const std::vector<bool> aliases_;  // the leaves of the result that are no traffic
  std::vector<Readers> readers_;
  // The readers of each leaf of each value; a value may be several operands.
  std::map<std::pair<const HloInstruction*, int64_t>, size_t> index_of_readers_;
  size_t kept_maps_ = 0;
  Interval bytes_of_reads_ = Interval::Point(0);
};

// Bytes of a number of elements of an array.
Interval BytesOf(const Interval& elements, const Shape& array);

// The bytes of the buffer of an array; nullopt if its layout or a size without a bound leaves that
// open.
std::optional<Interval> BufferBytesOf(const Shape& array);

// The utilization through the maps of one entry, from `output` to `operand`. InvalidArgument where
// one of them does not fit these arrays.
absl::StatusOr<Utilization> ComputeUtilization(const OperandIndexingSet& maps, const Shape& output,
                                               const Shape& operand,
                                               int64_t max_steps = kMaxCountingSteps);

// The report about entries between the leaves of a result and those of operands (or parameters).
// `exact_entries` gives these entries with exact maps; it is called once, where some entry is not
// exact. Entries for which it fails stay over-approximate. InvalidArgument for an entry of leaves
// that do not exist, or with maps that do not fit them.
absl::StatusOr<UtilizationReport> ReportUtilization(
    const InstructionIndexing& entries,
    absl::FunctionRef<absl::StatusOr<SharedIndexing>()> exact_entries, const HloInstruction& result,
    absl::Span<const HloInstruction* const> operands);

// The report about an instruction, which has to verify and whose called computations are looked
// into, or about a computation, from its root to its parameters. Errors as those of
// fusion/hlo_indexer.h.
absl::StatusOr<UtilizationReport> ComputeUtilization(IndexingTarget target,
                                                     mlir::MLIRContext* context,
                                                     const FusionOptions& options = {});
// The same through indexers that are kept, for one target after another.
absl::StatusOr<UtilizationReport> ComputeUtilization(IndexingTarget target, HloIndexers& indexers);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_UTILIZATION_UTILIZATION_H_
