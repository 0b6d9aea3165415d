#include "xla_indexing/report/analysis/analyse_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/analysis/draw_kernel.h"
#include "xla_indexing/report/analysis/lane_distance.h"
#include "xla_indexing/report/analysis/loop_figures.h"
#include "xla_indexing/report/analysis/recomputation.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing::internal {
namespace {

// More pairs of leaves are not looked at.
constexpr int64_t kMaxPairsOfKernel = 100'000;

void Note(std::string sentence, KernelAnalysis* analysis) {
  if (!absl::c_linear_search(analysis->open_questions, sentence)) {
    analysis->open_questions.push_back(std::move(sentence));
  }
}

std::string WhyNot(const absl::Status& status) {
  return QuestionBudget::IsSpent() ? QuestionBudget::Reason() : std::string(status.message());
}

int64_t LeastWaste(const KernelAccess& access, int64_t sector_bytes) {
  return LeastOf(access.WastedBytes(sector_bytes));
}

void FindWorst(int64_t sector_bytes, KernelAnalysis* analysis) {
  int64_t most = 0;
  for (size_t i = 0; i < analysis->accesses.size(); ++i) {
    const int64_t waste = LeastWaste(analysis->accesses[i], sector_bytes);
    if (waste <= most) continue;
    most = waste;
    analysis->worst = i;
  }
}

// Why the sectors of an access are not exact; empty where they are.
std::string WhyNotExact(const OperandIndexing& map, const Coalescing& cost) {
  if (!cost.reason.empty()) return cost.reason;
  if (!map.IsExact()) return map.label().reason;
  if (cost.IsExact()) return "";
  return map.bindings().empty() ? "it was not decided within the steps that counting may take"
                                : "it depends on values at run time";
}

int64_t BytesOf(const Shape& array) {
  const int64_t bits = StorageBitWidth(array.element_type());
  return SaturatedProduct(array.ElementCount().value_or(0), bits) / 8;
}

double ElementsOf(const Shape& shape) {
  double elements = 1;
  for (const int64_t size : shape.dimensions()) elements *= static_cast<double>(size);
  return elements;
}

// Multiplications and additions of a custom call that is a product or convolution of a library: each
// element that one of the result reads of operand 0 is multiplied and added. Where its maps are not known,
// those of a product of [.., M, K] and [.., K, N], of which any may be transposed. 0 of all others.
double FlopsOfLibraryCall(const HloInstruction& call, const UtilizationReport& use) {
  const absl::string_view target = call.custom_call_target();
  const bool is_product = absl::StartsWith(target, "__cublas$") || target == "__onednn$matmul";
  if ((!is_product && !absl::StartsWith(target, "__cudnn$conv")) || call.operand_count() < 2)
    return 0;
  for (const OperandUtilization& operand : use.operands) {
    const Interval& reads = operand.utilization.reads;
    const bool is_lhs = operand.output_leaf == 0 && operand.operand == 0;
    if (is_lhs && operand.utilization.IsExact()) return 2 * static_cast<double>(reads.lower());
  }
  const Shape& lhs = call.operand(0)->shape();
  const Shape& result = call.shape().Leaf(0);
  if (!is_product || !lhs.IsArray() || !result.IsArray() || lhs.rank() < 2 || result.rank() < 2) {
    return 0;
  }
  return 2 * ElementsOf(lhs) * static_cast<double>(result.dimension(result.rank() - 1));
}

// What a kernel reads and writes of the arrays that it updates in place.
struct UpdatedBytes {
  Interval read = Interval::Point(0);
  Interval written_less = Interval::Point(0);         // than the whole arrays
  std::vector<std::pair<int64_t, int64_t>> operands;  // by output leaf
};

// An in-place update changes the elements of the update, and has read them if it reads the array at all. Of
// a scatter, updates may be left out, or go to one element.
UpdatedBytes BytesOfUpdates(const HloInstruction& kernel, const FusionView& view,
                            const FusionMapping& mapping) {
  UpdatedBytes bytes;
  for (const RootMapping& root : mapping.roots) {
    if (root.updated == nullptr) continue;
    const bool is_scatter = mapping.kind == EmitterKind::kScatter;
    const int64_t whole = BytesOf(kernel.shape().Leaf(root.output_leaf));
    const int64_t updates = BytesOf(root.reads.front().shape());
    const Interval changed =
        is_scatter ? Interval::Closed(0, std::min(whole, updates)) : Interval::Point(updates);
    bytes.written_less = bytes.written_less.Add(Interval::Point(whole).Sub(changed));
    if (is_scatter || root.updated->uses().size() > 1) bytes.read = bytes.read.Add(changed);
    for (int64_t i = 0; i < kernel.operand_count(); ++i) {
      if (view.ParameterOf(*kernel.operand(i)) == root.updated->parameter_number()) {
        bytes.operands.emplace_back(root.output_leaf, i);
      }
    }
  }
  return bytes;
}

// Without what is only left as it is.
SharedIndexing WithoutOperands(const SharedIndexing& entries,
                               const std::vector<std::pair<int64_t, int64_t>>& operands) {
  if (operands.empty()) return entries;
  auto others = std::make_shared<InstructionIndexing>();
  absl::c_copy_if(*entries, std::back_inserter(*others), [&](const IndexingEntry& entry) {
    return !absl::c_linear_search(operands, std::pair(entry.output_leaf, entry.operand));
  });
  return std::shared_ptr<const InstructionIndexing>(std::move(others));
}

// Whether a body may be made as a fusion of XLA's own would be: every element of it of few others.
bool IsSimple(const HloInstruction& inside) {
  switch (inside.opcode()) {
    case HloOpcode::kFusion:
    case HloOpcode::kCall:
    case HloOpcode::kWhile:
    case HloOpcode::kConditional:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kScatter:
    case HloOpcode::kRng:
      return false;
    default: {
      std::string why;
      return KindWithoutEmitter(inside, &why).empty();
    }
  }
}

}  // namespace

std::string KindWithoutEmitter(const HloInstruction& kernel, std::string* why) {
  const auto is = [&](absl::string_view kind, absl::string_view sentence) {
    *why = std::string(sentence);
    return std::string(kind);
  };
  constexpr absl::string_view kLibrary =
      "a library makes its kernel, whose accesses are not modelled";
  switch (kernel.opcode()) {
    case HloOpcode::kFusion:
      // Made by a compiler or library of its own: Triton, cuDNN, CUTLASS, oneDNN, YNNPACK.
      if (kernel.fusion_kind() == "kCustom" && kernel.calls() != nullptr &&
          !absl::c_all_of(kernel.calls()->instructions(),
                          [](const HloInstruction* inside) { return IsSimple(*inside); })) {
        return is(
            "library",
            "a library makes its kernel: of its body it is known which elements it reads, and not "
            "in what order");
      }
      return "";
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot:
    case HloOpcode::kRaggedDot:
    case HloOpcode::kConvolution:
    case HloOpcode::kCustomCall:
    case HloOpcode::kFft:
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
    case HloOpcode::kTopk:
      return is("library", kLibrary);
    case HloOpcode::kUnknown:
      return is("library", "its opcode is not known, and so are its accesses");
    case HloOpcode::kSort:
    case HloOpcode::kScan:
      return is("sort", "it passes over its operands several times, which is not modelled");
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kAllToAll:
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectivePermuteStart:
    case HloOpcode::kCollectiveReduce:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kReduceScatter:
    case HloOpcode::kRecv:
    case HloOpcode::kSend:
      return is("communication", "it moves data between devices, which is not modelled");
    case HloOpcode::kAsyncStart:
    case HloOpcode::kCopyStart:
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
      return is("transfer", "a copy engine moves its data, which is not modelled");
    default:
      return "";
  }
}

KernelAnalyser::KernelAnalyser(const ReportOptions& options, mlir::MLIRContext* context)
    : options_(options), context_(context), indexers_(context) {}

void KernelAnalyser::CountUse(const HloInstruction& kernel, const FusionView& view,
                              const FusionMapping* mapping, KernelAnalysis* analysis) {
  if (MostEntries(kernel) > kMaxPairsOfKernel) {
    Note(absl::StrCat("it has more than ", kMaxPairsOfKernel,
                      " pairs of leaves; what it reads is not counted"),
         analysis);
    analysis->bytes_read = analysis->bytes_of_reads = Interval::AtLeast(0);
    return;
  }
  const UpdatedBytes updated =
      mapping == nullptr ? UpdatedBytes() : BytesOfUpdates(kernel, view, *mapping);
  const auto index = [&](HloIndexer& indexer) -> absl::StatusOr<SharedIndexing> {
    const auto all = indexer.Index(kernel, Direction::kOutputToInput);
    if (!all.ok()) return all.status();
    return WithoutOperands(*all, updated.operands);
  };
  const absl::StatusOr<SharedIndexing> entries = index(indexers_.usual());
  const absl::StatusOr<UtilizationReport> use =
      entries.ok()
          ? ReportUtilization(
                **entries, [&] { return index(indexers_.exact()); }, kernel, kernel.operands())
          : entries.status();
  if (!use.ok()) {
    Note(absl::StrCat("what it reads is not known: ", WhyNot(use.status())), analysis);
    analysis->bytes_read = analysis->bytes_of_reads = Interval::AtLeast(0);
    return;
  }
  analysis->bytes_read = use->total.bytes_read.Add(updated.read);
  analysis->bytes_written = use->total.bytes_written.Sub(updated.written_less);
  analysis->bytes_of_reads = use->total.bytes_of_reads.Add(updated.read);
  if (!use->total.IsExact()) {
    Note(QuestionBudget::IsSpent() ? QuestionBudget::Reason()
                                   : "how much it reads depends on values at run time or was not "
                                     "decided",
         analysis);
  }
  if (kernel.opcode() == HloOpcode::kCustomCall) {
    analysis->flops = FlopsOfLibraryCall(kernel, *use);
  }
  for (const OperandUtilization& operand : use->operands) {
    const std::optional<double> reads = operand.utilization.ReadsPerElement();
    // A scalar is read by all, from a register.
    if (!reads || operand.utilization.elements == Interval::Point(1)) continue;
    if (*reads > analysis->reads_per_element.value_or(0)) {
      analysis->reads_per_element = reads;
      analysis->most_read_operand = operand.operand;
    }
  }
}

void KernelAnalyser::CountSectors(const HloInstruction& kernel, const FusionView& view,
                                  const FusionMapping& mapping, KernelDrawing* drawing,
                                  KernelAnalysis* analysis) {
  const auto name_of = [&](const HloInstruction& copy) {
    const HloInstruction* original = view.OriginalOf(copy);
    return std::string(original == nullptr ? copy.name() : original->name());
  };
  analysis->kind = std::string(EmitterKindName(mapping.kind));
  // A scatter goes over its updates: that every element of the result depends on all indices does not
  // mean that it reads them.
  if (mapping.kind == EmitterKind::kScatter) {
    analysis->reads_per_element = std::nullopt;
    analysis->most_read_operand = -1;
  }
  analysis->hero = name_of(mapping.hero());
  if (drawing != nullptr) drawing->hero = mapping.hero().index_in_computation();
  analysis->blocks = mapping.array().mapping.NumBlocks();
  analysis->threads_per_block = mapping.array().mapping.ThreadsPerBlock();
  analysis->recomputed = FindRecomputation(mapping, view, indexers_);
  const absl::StatusOr<FusionAccesses> accesses = AccessesOf(mapping, indexers_);
  if (!accesses.ok()) {
    Note(absl::StrCat("its accesses are not known: ", WhyNot(accesses.status())), analysis);
    return;
  }
  analysis->has_sectors = true;
  for (const ThreadAccess& access : accesses->accesses) {
    int64_t operand = 0;
    for (int64_t i = kernel.operand_count() - 1; i >= 0; --i) {
      if (view.ParameterOf(*kernel.operand(i)) == access.number) operand = i;
    }
    const bool is_write = access.kind == ThreadAccess::Kind::kWrite;
    if (const absl::Status status =
            AddAccess(kernel, view, access, is_write ? 0 : operand, drawing, analysis);
        !status.ok()) {
      analysis->has_sectors = false;
      Note(absl::StrCat("its sectors are not known: ", WhyNot(status)), analysis);
      return;
    }
  }
  analysis->bytes_moved = analysis->sectors.Mul(options_.memory.sector_bytes);
  FindWorst(options_.memory.sector_bytes, analysis);
}

void KernelAnalyser::CountWork(const HloInstruction& kernel, const FusionView& view,
                               KernelAnalysis* analysis) const {
  KernelWork work;
  const auto add_flops = [&](const HloInstruction& inside) {
    if (!inside.shape().IsArray()) return;
    const ElementWork of_element = WorkPerElement(inside);
    const double flops = 2 * of_element.multiply_adds * ElementsOf(inside.shape());
    if (flops == 0) return;
    // Several types inside: as fast as the fastest.
    work.bits = std::min(work.flops == 0 ? 64 : work.bits, of_element.bits);
    work.flops += flops;
  };
  for (const HloInstruction* inside : view.computation().instructions()) add_flops(*inside);
  if (analysis->flops > 0) {  // of a library
    work.flops = analysis->flops;
    work.bits = BitWidth(kernel.operand(0)->shape().element_type());
  }
  analysis->flops = work.flops;
  if (analysis->has_sectors) {
    analysis->traffic = LeastOf(analysis->bytes_moved);
    work.cache_bytes = static_cast<double>(analysis->traffic);
    absl::flat_hash_map<std::tuple<bool, int64_t, int64_t>, std::pair<int64_t, int64_t>> of_leaf;
    for (const KernelAccess& access : analysis->accesses) {
      auto& [moved, bytes] = of_leaf[{access.is_write, access.operand, access.leaf}];
      moved = SaturatedSum(moved,
                           SaturatedProduct(LeastOf(access.sectors), options_.memory.sector_bytes));
      bytes = access.bytes;
    }
    for (const auto& [leaf, figures] : of_leaf) {
      const auto& [moved, bytes] = figures;
      work.memory_bytes +=
          options_.machine->FromMemory(static_cast<double>(moved), static_cast<double>(bytes));
    }
  } else {
    analysis->traffic =
        SaturatedSum(LeastOf(analysis->bytes_read), LeastOf(analysis->bytes_written));
    work.memory_bytes = static_cast<double>(analysis->traffic);
  }
  const Machine& machine = *options_.machine;
  analysis->microseconds = machine.launch_microseconds + machine.TimeOf(work).microseconds;
}

void KernelAnalyser::CountIteration(const HloInstruction& loop, KernelAnalysis* analysis) {
  analysis->kind = "while";
  // Elements are not read by threads of the loop, but by those of the kernels inside.
  analysis->reads_per_element = std::nullopt;
  analysis->most_read_operand = -1;
  analysis->loop.emplace();
  if (MostEntries(loop) > kMaxPairsOfKernel) return;
  analysis->loop->reads = ReadsOfIteration(loop, indexers_);
}

absl::Status KernelAnalyser::AddAccess(const HloInstruction& kernel, const FusionView& view,
                                       const ThreadAccess& access, int64_t operand,
                                       KernelDrawing* drawing, KernelAnalysis* analysis) {
  const absl::StatusOr<CoalescingAnalysis> launch =
      CoalescingAnalysis::Create(access.array.mapping, access.array.shape(), options_.memory);
  if (!launch.ok()) return launch.status();
  for (const OperandIndexing& map : access.indexing) {
    const Coalescing cost = launch->OfReads(map, *access.accessed);
    KernelAccess& of_map = analysis->accesses.emplace_back();
    of_map.is_write = access.kind == ThreadAccess::Kind::kWrite;
    of_map.operand = operand;
    of_map.leaf = access.leaf;
    of_map.shape = access.accessed->ToString();
    of_map.bytes = BytesOf(*access.accessed);
    of_map.map = map.IsUnknown() ? "" : map.map().ToString();
    of_map.requests = cost.requests;
    of_map.sectors = cost.sectors;
    of_map.least_sectors = cost.least_sectors;
    of_map.coalesced = cost.coalesced;
    of_map.depends_on_runtime_values = !map.bindings().empty();
    of_map.reason = WhyNotExact(map, cost);
    if (cost.worst) {
      const auto lanes = launch->AddressesOf(*cost.worst, &map, *access.accessed);
      if (lanes.ok()) of_map.distance = FindLaneDistance(*lanes, *access.accessed);
      if (LaneDistance* distance = of_map.distance ? &*of_map.distance : nullptr;
          distance != nullptr && distance->dimension >= 0) {
        distance->others_lie_between =
            LeadBetween(access.indexing, distance->dimension, distance->step);
      }
    }
    if (drawing != nullptr) DrawAccess(kernel, view, access, operand, map, cost, drawing);
    analysis->sectors = analysis->sectors.Add(of_map.sectors);
    analysis->least_sectors = analysis->least_sectors.Add(of_map.least_sectors);
    analysis->bytes_wasted =
        analysis->bytes_wasted.Add(of_map.WastedBytes(options_.memory.sector_bytes));
  }
  return absl::OkStatus();
}

KernelAnalysis KernelAnalyser::Analyse(const HloInstruction& kernel, const FusionView& view) {
  KernelAnalysis analysis;
  std::string why;
  analysis.kind = KindWithoutEmitter(kernel, &why);
  const bool is_loop = kernel.opcode() == HloOpcode::kWhile;
  absl::StatusOr<FusionMapping> mapping = absl::UnimplementedError("");
  if (analysis.kind.empty() && !is_loop) {
    mapping = MappingForFusion(view.computation(), context_, options_.emitter);
  }
  CountUse(kernel, view, mapping.ok() ? &*mapping : nullptr, &analysis);
  std::shared_ptr<KernelDrawing> drawing;
  if (options_.with_drawings) {
    drawing = std::make_shared<KernelDrawing>(DrawArrays(kernel));
  }
  if (is_loop) {
    CountIteration(kernel, &analysis);
  } else if (mapping.ok()) {
    CountSectors(kernel, view, *mapping, drawing.get(), &analysis);
  } else if (analysis.kind.empty()) {
    analysis.kind = "unknown";
    Note(absl::StrCat("its threads are not known: ", WhyNot(mapping.status())), &analysis);
  } else {
    Note(std::move(why), &analysis);
  }
  if (!is_loop) CountWork(kernel, view, &analysis);
  // Last, so that the figures are those of a report without drawings.
  if (drawing != nullptr) DrawMaps(kernel, view, &indexers_.usual(), drawing.get());
  analysis.drawing = std::move(drawing);
  return analysis;
}

}  // namespace xla_indexing::internal
