#include "xla_indexing/query/utilization/utilization.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/ops/answers/fits_shapes.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/query/utilization/count_reads.h"

namespace xla_indexing {
namespace {

using internal::BitsOfElement;
using internal::CountElements;
using internal::CountElementsRead;
using internal::CountOf;
using internal::CountReads;
using internal::CountUpTo;
using internal::Int128;
using internal::PhysicalLayout;
using internal::PhysicalLayoutOf;
using internal::VerifyFits;

const Shape& ShapeOfLeaf(absl::Span<const HloInstruction* const> operands, int64_t operand,
                         int64_t leaf) {
  return operands[operand]->shape().Leaf(leaf);
}

absl::Status CheckLeaves(const IndexingEntry& entry, const HloInstruction& result,
                         absl::Span<const HloInstruction* const> operands) {
  const auto is_one_of = [](int64_t i, int64_t count) { return i >= 0 && i < count; };
  // A result may have no leaf where nothing reads.
  if ((entry.indexing.empty() || is_one_of(entry.output_leaf, result.shape().LeafCount())) &&
      is_one_of(entry.operand, static_cast<int64_t>(operands.size())) &&
      is_one_of(entry.operand_leaf, operands[entry.operand]->shape().LeafCount())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("an entry of output leaf ", entry.output_leaf, " and leaf ", entry.operand_leaf,
                   " of operand ", entry.operand, ", and ", result.name(), " has ",
                   result.shape().LeafCount(), " leaves and ", operands.size(), " operands"));
}

// The entries that are counted.
InstructionIndexing EntriesToCount(
    const InstructionIndexing& entries,
    absl::FunctionRef<absl::StatusOr<SharedIndexing>()> exact_entries) {
  InstructionIndexing counted = entries;
  if (absl::c_all_of(entries,
                     [](const IndexingEntry& e) { return e.indexing.label().IsExact(); })) {
    return counted;
  }
  const absl::StatusOr<SharedIndexing> shared = exact_entries();
  if (!shared.ok()) return counted;
  const InstructionIndexing& exact = **shared;
  const auto leaves = [](const IndexingEntry& entry) {
    return std::tuple(entry.output_leaf, entry.operand, entry.operand_leaf);
  };
  for (IndexingEntry& entry : counted) {
    if (entry.indexing.label().IsExact()) continue;
    // Entries are sorted.
    const auto it = absl::c_lower_bound(
        exact, entry,
        [&](const IndexingEntry& a, const IndexingEntry& b) { return leaves(a) < leaves(b); });
    // An entry that is missing among the exact ones reads nothing.
    const bool is_there = it != exact.end() && leaves(*it) == leaves(entry);
    entry.indexing = is_there ? it->indexing : OperandIndexingSet();
  }
  return counted;
}

// The most maps that are kept in order to know what they read together.
constexpr size_t kMaxKeptMaps = 20'000;

// The leaves of a result that are not written, nor what they are made of read.
std::vector<bool> LeavesWithoutTraffic(const HloInstruction& result, bool is_computation) {
  if (is_computation && result.opcode() != HloOpcode::kParameter &&
      result.opcode() != HloOpcode::kConstant) {
    return std::vector<bool>(static_cast<size_t>(result.shape().LeafCount()), false);
  }
  return AliasedLeaves(result);
}

std::optional<double> Ratio(const Interval& a, const Interval& b) {
  if (!a.IsPoint() || !b.IsPoint() || b.lower() == 0) return std::nullopt;
  return static_cast<double>(a.lower()) / static_cast<double>(b.lower());
}

}  // namespace

std::optional<double> Utilization::UsedFraction() const { return Ratio(elements_read, elements); }

std::optional<double> Utilization::PaddingFactor() const {
  return buffer_bytes ? Ratio(*buffer_bytes, bytes) : std::nullopt;
}

std::optional<double> Utilization::ReadsPerElement() const { return Ratio(reads, elements_read); }

void Traffic::Add(const Traffic& other) {
  bytes_of_reads = bytes_of_reads.Add(other.bytes_of_reads);
  bytes_read = bytes_read.Add(other.bytes_read);
  bytes_written = bytes_written.Add(other.bytes_written);
}

Interval BytesOf(const Interval& elements, const Shape& array) {
  const int64_t bits = BitsOfElement(array);
  const auto bytes = [&](int64_t count) { return CountOf((Int128{count} * bits + 7) / 8); };
  if (!elements.has_lower()) return elements;
  if (!elements.has_upper()) return Interval::AtLeast(bytes(elements.lower()).lower());
  return bytes(elements.lower()).Union(bytes(elements.upper()));
}

std::optional<Interval> BufferBytesOf(const Shape& array) {
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  if (!layout.ok()) return std::nullopt;
  return CountOf(layout->BufferBytes());
}

absl::StatusOr<Utilization> ComputeUtilization(const OperandIndexingSet& maps, const Shape& output,
                                               const Shape& operand, int64_t max_steps) {
  if (absl::Status status = VerifyFits(maps, output, operand); !status.ok()) return status;
  const QuestionBudget question;
  StepBudget budget(max_steps);
  Utilization result;
  std::vector<const OperandIndexing*> pointers;
  for (const OperandIndexing& map : maps) {
    pointers.push_back(&map);
    result.has_runtime_values |= !map.bindings().empty();
  }
  result.reads = CountReads(pointers, output, operand, &budget);
  result.elements = CountElements(operand);
  result.elements_read = CountElementsRead(pointers, operand, &budget);
  result.bytes_read = BytesOf(result.elements_read, operand);
  result.bytes = BytesOf(result.elements, operand);
  result.bytes_of_reads = BytesOf(result.reads, operand);
  result.buffer_bytes = BufferBytesOf(operand);
  return result;
}

UtilizationCounter::UtilizationCounter(const HloInstruction& result,
                                       absl::Span<const HloInstruction* const> operands)
    : result_(result),
      operands_(operands),
      aliases_(LeavesWithoutTraffic(result, operands.data() != result.operands().data())) {}

absl::StatusOr<std::vector<OperandUtilization>> UtilizationCounter::Count(
    const InstructionIndexing& entries,
    absl::FunctionRef<absl::StatusOr<SharedIndexing>()> exact_entries) {
  const InstructionIndexing counted = EntriesToCount(entries, exact_entries);
  std::vector<OperandUtilization> utilizations;
  utilizations.reserve(counted.size());
  const IndexingEntry* last = nullptr;
  for (const IndexingEntry& entry : counted) {
    absl::Status status = CheckLeaves(entry, result_, operands_);
    status.Update(QuestionBudget::CheckGoesOn());
    if (!status.ok()) return status;
    const Shape& operand = ShapeOfLeaf(operands_, entry.operand, entry.operand_leaf);
    const Shape& output =
        entry.indexing.empty() ? operand : result_.shape().Leaf(entry.output_leaf);
    // Many entries are like the one before.
    const bool is_like_last =
        last != nullptr && last->output_leaf == entry.output_leaf &&
        ShapeOfLeaf(operands_, last->operand, last->operand_leaf) == operand &&
        last->indexing == entry.indexing;
    last = &entry;
    absl::StatusOr<Utilization> of_entry =
        is_like_last ? utilizations.back().utilization
                     : ComputeUtilization(entry.indexing, output, operand);
    if (!of_entry.ok()) return of_entry.status();
    utilizations.push_back(
        {entry.output_leaf, entry.operand, entry.operand_leaf, *std::move(of_entry)});
    const Utilization& utilization = utilizations.back().utilization;
    if (entry.indexing.empty() || aliases_[entry.output_leaf]) continue;
    bytes_of_reads_ = bytes_of_reads_.Add(utilization.bytes_of_reads);
    const auto [it, is_new] = index_of_readers_.try_emplace(
        {operands_[entry.operand], entry.operand_leaf}, readers_.size());
    if (is_new) readers_.emplace_back(operand);
    Readers& readers = readers_[it->second];
    if (readers.bytes_of_all) continue;
    ++readers.count;
    readers.bytes_of_only = utilization.bytes_read;
    if (utilization.elements.IsPoint() && utilization.elements_read == utilization.elements) {
      readers.bytes_of_all = utilization.bytes_read;
      kept_maps_ -= readers.maps.size();
      readers.maps = {};
      readers.known_maps = {};
      continue;
    }
    for (const OperandIndexing& map : entry.indexing) {
      if (kept_maps_ >= kMaxKeptMaps) {
        readers.has_all_maps = false;
      } else if (readers.known_maps.insert(map).second) {
        readers.maps.push_back(map);
        ++kept_maps_;
      }
    }
  }
  return utilizations;
}

size_t UtilizationCounter::HashOfMap::operator()(const OperandIndexing& map) const {
  return absl::Hash<OperandIndexing>()(map);
}

Interval UtilizationCounter::BytesReadOnce(const Readers& readers) {
  // One reader of all of it, or the only one, says it without a look at the others.
  if (readers.bytes_of_all) return *readers.bytes_of_all;
  if (readers.count == 1) return readers.bytes_of_only;
  if (!readers.has_all_maps) return BytesOf(CountUpTo(CountElements(readers.leaf)), readers.leaf);
  std::vector<const OperandIndexing*> maps;
  maps.reserve(readers.maps.size());
  for (const OperandIndexing& map : readers.maps) maps.push_back(&map);
  StepBudget budget(kMaxCountingSteps);
  return BytesOf(CountElementsRead(maps, readers.leaf, &budget), readers.leaf);
}

Traffic UtilizationCounter::Total() const {
  const QuestionBudget question;
  Traffic total;
  total.bytes_of_reads = bytes_of_reads_;
  for (const Readers& readers : readers_) {
    total.bytes_read = total.bytes_read.Add(BytesReadOnce(readers));
  }
  const std::vector<const Shape*> leaves = result_.shape().Leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (aliases_[i]) continue;
    total.bytes_written = total.bytes_written.Add(BytesOf(CountElements(*leaves[i]), *leaves[i]));
  }
  return total;
}

absl::StatusOr<UtilizationReport> ReportUtilization(
    const InstructionIndexing& entries,
    absl::FunctionRef<absl::StatusOr<SharedIndexing>()> exact_entries, const HloInstruction& result,
    absl::Span<const HloInstruction* const> operands) {
  UtilizationCounter counter(result, operands);
  UtilizationReport report;
  absl::StatusOr<std::vector<OperandUtilization>> counted = counter.Count(entries, exact_entries);
  if (!counted.ok()) return counted.status();
  report.operands = *std::move(counted);
  report.total = counter.Total();
  for (const OperandLeaf& leaf : UnreadOperandLeaves(operands, entries)) {
    const Shape& operand = ShapeOfLeaf(operands, leaf.operand, leaf.operand_leaf);
    const absl::StatusOr<Utilization> unread =
        ComputeUtilization(OperandIndexingSet(), operand, operand);
    if (!unread.ok()) return unread.status();
    report.operands.push_back({0, leaf.operand, leaf.operand_leaf, *unread});
  }
  absl::c_stable_sort(report.operands,
                      [](const OperandUtilization& a, const OperandUtilization& b) {
                        return std::tie(a.output_leaf, a.operand, a.operand_leaf) <
                               std::tie(b.output_leaf, b.operand, b.operand_leaf);
                      });
  return report;
}

absl::StatusOr<UtilizationReport> ComputeUtilization(IndexingTarget target, HloIndexers& indexers) {
  const QuestionBudget question;
  const HloComputation* computation = target.computation();
  const absl::StatusOr<SharedIndexing> entries =
      indexers.usual().Index(target, Direction::kOutputToInput);
  if (!entries.ok()) return entries.status();
  return ReportUtilization(
      **entries, [&] { return indexers.exact().Index(target, Direction::kOutputToInput); },
      computation != nullptr ? *computation->root_instruction() : *target.instruction(),
      computation != nullptr ? computation->parameters() : target.instruction()->operands());
}

absl::StatusOr<UtilizationReport> ComputeUtilization(IndexingTarget target,
                                                     mlir::MLIRContext* context,
                                                     const FusionOptions& options) {
  HloIndexers indexers(context, options);
  return ComputeUtilization(target, indexers);
}

}  // namespace xla_indexing
