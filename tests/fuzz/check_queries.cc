#include "tests/fuzz/check_queries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/dims/corresponding_dims.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing::fuzz {
void CheckUtilization(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                      Random& random) {
  if (maps.label().exactness == Exactness::kUnknown) return;
  const absl::StatusOr<Utilization> counted = ComputeUtilization(maps, ends.from, ends.to, kSteps);
  if (!counted.ok()) {
    Fail(asked, "maps fit their arrays", TextOf(maps), counted.status().message());
  }
  const Utilization& utilization = *counted;
  const Interval& read = utilization.elements_read;
  const auto fail = [&](absl::string_view law) {
    Fail(asked, law, TextOf(maps),
         absl::StrCat(read.ToString(), " of ", utilization.elements.ToString(), ", reads ",
                      utilization.reads.ToString()));
  };
  if (read.IsEmpty() || utilization.reads.IsEmpty()) fail("counts are not empty");
  if (utilization.elements.has_upper() && read.has_upper() &&
      read.upper() > utilization.elements.upper()) {
    fail("no more elements are read than there are");
  }
  if (!utilization.reads.IsPoint() || !read.IsPoint()) return;
  if (utilization.reads.lower() < read.lower()) fail("every element that is read is a read");
  std::set<Point> named;
  for (const Point& element : SomeElements(ends.from, random)) {
    if (const auto reads = ReadsOf(maps, element)) named.insert(reads->begin(), reads->end());
  }
  if (read.upper() < static_cast<int64_t>(named.size())) {
    fail(absl::StrCat("at least ", named.size(), " elements are read"));
  }
}

namespace {

bool AreBounds(const Interval& least, const Interval& most) {
  return !least.has_lower() || !most.has_upper() || least.lower() <= most.upper();
}

void CheckCounts(const Asked& asked, const Coalescing& coalescing, absl::string_view what) {
  if (coalescing.IsUnknown()) return;
  const std::string counts = absl::StrCat(
      coalescing.requests.ToString(), " requests, ", coalescing.sectors.ToString(), " sectors of ",
      coalescing.least_sectors.ToString(), ", ", coalescing.lines.ToString(), " lines");
  for (const Interval& count :
       {coalescing.requests, coalescing.sectors, coalescing.least_sectors, coalescing.lines}) {
    if (count.IsEmpty() || !count.has_lower() || count.lower() < 0) {
      Fail(asked, "counts are numbers", what, counts);
    }
  }
  if (!AreBounds(coalescing.least_sectors, coalescing.sectors) ||
      !AreBounds(coalescing.lines, coalescing.sectors)) {
    Fail(asked, "sectors are no fewer than their least number and lines", what, counts);
  }
}

}  // namespace

void CheckCoalescing(const Asked& asked, const InstructionIndexing& entries) {
  CoalescingOptions options;
  options.max_steps = kSteps;
  BankOptions bank_options;
  bank_options.max_steps = kSteps;
  for (int64_t leaf = 0; leaf < std::min<int64_t>(asked.result->shape().LeafCount(), 4); ++leaf) {
    const Shape& output = asked.result->shape().Leaf(leaf);
    if (!output.IsArray()) continue;
    for (const int64_t width : {1, 4}) {
      const absl::StatusOr<CoalescingAnalysis> analysis =
          CoalescingAnalysis::OfLoop(output, {128, width, width}, asked.context, options);
      if (!analysis.ok()) continue;
      CheckCounts(asked, analysis->OfWrites(), "writes");
      const absl::StatusOr<BankConflicts> banks =
          ComputeBankConflicts(analysis->mapping(), output, bank_options);
      if (banks.ok() && !AreBounds(banks->least_wavefronts, banks->wavefronts)) {
        Fail(asked, "wavefronts are no fewer than their least number", banks->wavefronts.ToString(),
             banks->least_wavefronts.ToString());
      }
      for (const IndexingEntry& entry : entries) {
        if (entry.output_leaf != leaf) continue;
        const Shape& operand = EndsOf(asked, entry, false).to;
        for (const OperandIndexing& map : entry.indexing) {
          const Coalescing reads = analysis->OfReads(map, operand);
          CheckCounts(asked, reads, map.ToString());
          if (reads.worst) {
            const auto addresses = analysis->AddressesOf(*reads.worst, &map, operand);
            if (addresses.ok() && addresses->empty()) {
              Fail(asked, "the worst request has addresses", map.ToString());
            }
          }
        }
      }
    }
  }
}

namespace {

void CheckSizes(const Asked& asked, const CorrespondingDims& group) {
  for (const LeafDim& dim : group.dims) {
    const Shape& shape = dim.operand == LeafDim::kResult ? asked.result->shape()
                                                         : asked.operands()[dim.operand]->shape();
    if (dim.leaf >= shape.LeafCount() || dim.dim >= shape.Leaf(dim.leaf).rank() ||
        shape.Leaf(dim.leaf).dimension(dim.dim) != group.size) {
      Fail(asked, "dimensions that correspond have one size", group.ToString());
    }
  }
}

// Whether the group's dimensions of an output leaf and an operand's leaf run together, where it has
// both.
void CheckBatch(const Asked& asked, const CorrespondingDims& group, const IndexingEntry& entry,
                Random& random) {
  const LeafDim* from = nullptr;
  const LeafDim* to = nullptr;
  for (const LeafDim& dim : group.dims) {
    if (dim.operand == LeafDim::kResult && dim.leaf == entry.output_leaf) from = &dim;
    if (dim.operand == entry.operand && dim.leaf == entry.operand_leaf) to = &dim;
  }
  if (from == nullptr || to == nullptr || !entry.indexing.label().IsExact()) return;
  for (const Point& element : SomeElements(EndsOf(asked, entry, false).from, random)) {
    const auto reads = ReadsOf(entry.indexing, element);
    if (!reads) continue;
    for (const Point& read : *reads) {
      if (read[to->dim] == element[from->dim]) continue;
      Fail(asked,
           absl::StrCat("dimensions of a batch run together: ", PointText(element), " -> ",
                        PointText(read)),
           group.ToString(), TextOf(entry.indexing));
    }
  }
}

}  // namespace

void CheckCorrespondingDims(const Asked& asked, const InstructionIndexing& entries,
                            Random& random) {
  const absl::StatusOr<std::vector<CorrespondingDims>> groups =
      FindCorrespondingDims(*asked.result, asked.context);
  if (!groups.ok()) return;
  for (const CorrespondingDims& group : *groups) {
    CheckSizes(asked, group);
    if (!group.is_batch) continue;
    for (const IndexingEntry& entry : entries) CheckBatch(asked, group, entry, random);
  }
}

namespace {

bool IsElementOf(const std::vector<int64_t>& element, const Shape& array) {
  if (static_cast<int64_t>(element.size()) != array.rank()) return false;
  for (int64_t i = 0; i < array.rank(); ++i) {
    if (element[i] < 0 || element[i] >= array.dimension(i)) return false;
  }
  return true;
}

void CheckPair(const Asked& asked, const SharedBuffer& buffer, InPlaceAnalysis& analysis) {
  const absl::StatusOr<InPlaceSafety> safety = analysis.Safety(buffer);
  if (!safety.ok()) Fail(asked, "candidates are decided", safety.status().message());
  const std::string text = safety->ToString();
  const Shape& output = asked.result->shape().Leaf(buffer.output_leaf);
  const Shape& operand =
      asked.operands()[buffer.operand.operand]->shape().Leaf(buffer.operand.operand_leaf);
  if (safety->conflict && (!IsElementOf(safety->conflict->writer, output) ||
                           !IsElementOf(safety->conflict->operand, operand))) {
    Fail(asked, "a conflict is of elements", text);
  }
  if (safety->answer == InPlaceAnswer::kUnsafe && !safety->conflict && safety->reason.empty()) {
    Fail(asked, "what is unsafe has a reason", text);
  }
  std::vector<LoopOrder> orders = {safety->order};
  for (const bool is_descending : {false, true}) {
    LoopOrder& order = orders.emplace_back();
    for (int i = 0; i < static_cast<int>(output.rank()); ++i) order.push_back({i, is_descending});
  }
  for (const LoopOrder& order : orders) {
    const absl::StatusOr<InPlaceSafety> in_order = analysis.SafetyIn(buffer, order);
    if (!in_order.ok()) Fail(asked, "an order is one", text, in_order.status().message());
    const bool is_own = order == safety->order;
    if (in_order->answer == InPlaceAnswer::kUnsafe && safety->IsSafe() &&
        (is_own || safety->answer == InPlaceAnswer::kAnyOrder)) {
      Fail(asked, "what is safe is not unsafe", text, in_order->ToString());
    }
    if (in_order->IsSafe() && safety->answer == InPlaceAnswer::kUnsafe) {
      Fail(asked, "what is unsafe is not safe in an order", text, in_order->ToString());
    }
  }
  const absl::StatusOr<WrittenElements> written = analysis.Written(buffer);
  if (!written.ok()) Fail(asked, "what is written is counted", written.status().message());
  if (written->count.has_upper() && written->count.upper() > written->of) {
    Fail(asked, "no more elements are written than there are", written->count.ToString());
  }
}

}  // namespace

void CheckInPlace(const Asked& asked) {
  absl::StatusOr<InPlaceAnalysis> analysis =
      asked.is_fusion ? InPlaceAnalysis::OfComputation(*asked.result->parent(), asked.context)
                      : InPlaceAnalysis::OfInstruction(*asked.result, asked.context);
  if (!analysis.ok()) return;
  for (const SharedBuffer& buffer : analysis->Candidates({.max_pairs = 8})) {
    CheckPair(asked, buffer, *analysis);
  }
  const absl::StatusOr<BufferSharing> sharing = analysis->Share();
  if (!sharing.ok()) return;
  std::set<std::pair<int64_t, int64_t>> operands;
  for (const SharedBuffer& shared : sharing->shared) {
    if (!operands.insert({shared.operand.operand, shared.operand.operand_leaf}).second) {
      Fail(asked, "each buffer is shared once", "");
    }
  }
}

void CheckIndices(const Asked& asked) {
  if (asked.is_fusion || !HasIndexStructure(*asked.result)) return;
  const absl::StatusOr<IndexStructure> structure = IndexStructureOf(*asked.result, asked.context);
  if (structure.ok() && structure->name.empty()) Fail(asked, "what indices say has a name", "");
}

void CheckModule(const HloModule& module, mlir::MLIRContext* context) {
  for (const CheckedAlias& alias : CheckAliases(module, context, /*max_aliases=*/32)) {
    if (alias.ToString().empty()) Contradiction("an alias has a text", module.ToString());
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> rewritten = RewriteIndices(module, context);
  if (!rewritten.ok()) return;
  if (const absl::Status status = VerifyModule(**rewritten); !status.ok()) {
    Contradiction("a module with its indices rewritten verifies", module.ToString(),
                  status.message());
  }
}

void CheckComputation(const HloComputation& computation, mlir::MLIRContext* context) {
  const absl::StatusOr<EquivalenceReport> report =
      CompareReads(computation, computation, context, {}, kSteps);
  if (report.ok() && report->same == Answer::kNo) {
    Contradiction("a computation reads what it reads", computation.name(), report->difference);
  }
  const absl::StatusOr<TiledComputation> tiled = TiledComputation::Create(computation, context);
  if (!tiled.ok()) return;
  tiled->Conditions();
  TilingSearchOptions options;
  options.max_resident_bytes = 1 << 14;
  options.max_tried = 16;
  for (const CostedTiling& found : tiled->FindTilings(options).tilings) {
    const absl::StatusOr<TileGraph> graph = tiled->Instantiate(found.tiling);
    if (!graph.ok() || found.cost.resident_bytes > options.max_resident_bytes ||
        graph->Cost().moved_bytes != found.cost.moved_bytes || graph->ToString().empty()) {
      Contradiction("tilings that are found cost what they are said to", computation.name(),
                    absl::StrCat(found.cost.moved_bytes));
    }
  }
}

void CheckKernel(const HloComputation& computation, mlir::MLIRContext* context) {
  const absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) {
    Contradiction("a computation is a view", computation.name(), view.status().message());
    return;
  }
  const Asked asked{view->computation().root_instruction(), /*is_fusion=*/true, context};
  // Small GPUs have vectors where arrays are small.
  for (const int64_t cores : {1, 132}) {
    CoalescingOptions options;
    options.max_steps = kSteps;
    const absl::StatusOr<FusionCoalescing> kernel =
        CoalescingOfFusion(view->computation(), context, {32, cores, 8}, options);
    if (!kernel.ok()) continue;
    for (const AccessCoalescing& access : kernel->accesses) {
      const ThreadedArray& array = access.access.array;
      const absl::StatusOr<ThreadCoverage> coverage =
          CoverageOf(array.mapping, array.shape(), kSteps);
      if (coverage.ok() && coverage->computed.IsPoint() && coverage->computations.IsPoint() &&
          coverage->elements.IsPoint() && !coverage->IsOnce()) {
        Fail(asked, "threads compute each element once", array.mapping.map.ToString());
      }
      for (const Coalescing& coalescing : access.coalescing) {
        CheckCounts(asked, coalescing, array.mapping.map.ToString());
      }
    }
  }
}

}  // namespace xla_indexing::fuzz
