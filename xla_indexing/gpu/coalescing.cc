#include "xla_indexing/gpu/coalescing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/requests/count_requests.h"
#include "xla_indexing/gpu/requests/launch_access.h"
#include "xla_indexing/gpu/requests/launch_threads.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/fits_shapes.h"

namespace xla_indexing {
namespace {

using internal::AccessedTensor;
using internal::ByteLayout;
using internal::ByteLayoutOf;
using internal::CountRequests;
using internal::CountUpTo;
using internal::LaunchAccess;
using internal::LaunchAccessBuilder;
using internal::RequestTotals;
using internal::SectorMeter;
using internal::VerifyFits;

constexpr int64_t kMostBytes = int64_t{1} << 16;

absl::Status CheckPowerOfTwo(absl::string_view what, int64_t bytes) {
  if (bytes >= 1 && bytes <= kMostBytes && std::has_single_bit(static_cast<uint64_t>(bytes))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      what, " is ", bytes, " bytes, and should be a power of two from 1 to ", kMostBytes));
}

}  // namespace

absl::Status CoalescingOptions::Verify() const {
  if (warp_size != 32 && warp_size != 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("the warp size is ", warp_size, ", and should be 32 or 64"));
  }
  absl::Status status = CheckPowerOfTwo("a sector", sector_bytes);
  status.Update(CheckPowerOfTwo("a line", line_bytes));
  status.Update(CheckPowerOfTwo("the alignment", alignment_bytes));
  if (!status.ok()) return status;
  if (line_bytes < sector_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a line of ", line_bytes, " bytes is less than a sector of ", sector_bytes));
  }
  if (!(factor >= 1) || !std::isfinite(factor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the factor is ", factor, ", and should be a finite number of at least 1"));
  }
  return absl::OkStatus();
}

Coalescing Coalescing::Unknown(std::string reason) {
  Coalescing result;
  result.requests = result.sectors = result.least_sectors = result.lines = Interval::AtLeast(0);
  result.coalesced = std::nullopt;
  result.reason = std::move(reason);
  return result;
}

std::optional<double> Coalescing::Efficiency() const {
  if (!sectors.IsPoint() || !least_sectors.IsPoint()) return std::nullopt;
  if (sectors.lower() == 0) return 1;
  return static_cast<double>(least_sectors.lower()) / static_cast<double>(sectors.lower());
}

CoalescingAnalysis::CoalescingAnalysis(ThreadMapping mapping, const Shape& output,
                                       const CoalescingOptions& options)
    : mapping_(std::move(mapping)),
      threads_(std::make_shared<internal::LaunchThreads>(mapping_, options.warp_size)),
      output_(output),
      options_(options) {
  for (const int64_t size : output.dimensions()) {
    sizes_.push_back(size == Shape::kUnboundedSize ? int64_t{1} << 62 : size);
  }
}

absl::StatusOr<CoalescingAnalysis> CoalescingAnalysis::Create(ThreadMapping mapping,
                                                              const Shape& output,
                                                              const CoalescingOptions& options) {
  if (absl::Status status = options.Verify(); !status.ok()) return status;
  if (absl::Status status = mapping.VerifyFor(output); !status.ok()) return status;
  return CoalescingAnalysis(std::move(mapping), output, options);
}

absl::StatusOr<CoalescingAnalysis> CoalescingAnalysis::OfLoop(const Shape& output,
                                                              const LoopOptions& loop,
                                                              mlir::MLIRContext* context,
                                                              const CoalescingOptions& options) {
  if (absl::Status status = options.Verify(); !status.ok()) return status;
  absl::StatusOr<ThreadMapping> mapping = RowMajorLoop(output, loop, context);
  if (!mapping.ok()) return mapping.status();
  return CoalescingAnalysis(*std::move(mapping), output, options);
}

Coalescing CoalescingAnalysis::Of(const OperandIndexing* indexing, const Shape& accessed) const {
  const QuestionBudget question;
  const absl::StatusOr<ByteLayout> layout = ByteLayoutOf(accessed);
  if (!layout.ok()) return Coalescing::Unknown(std::string(layout.status().message()));
  AccessedTensor tensor{*layout, indexing};
  if (options_.alignment_bytes < options_.line_bytes) {
    tensor.base_step = 8 * options_.alignment_bytes;
    tensor.base_count = options_.line_bytes / options_.alignment_bytes;
  }
  LaunchAccessBuilder builder(mapping_, *threads_, sizes_);
  absl::StatusOr<LaunchAccess> access = builder.Build(tensor);
  if (!access.ok()) return Coalescing::Unknown(std::string(access.status().message()));
  const SectorMeter meter(options_.sector_bytes, options_.line_bytes);
  const RequestTotals totals = CountRequests(*std::move(access), meter, options_.max_steps);
  Coalescing result;
  result.requests = totals.requests.ToInterval();
  result.sectors = totals.units.ToInterval();
  result.least_sectors = totals.least.ToInterval();
  result.lines = totals.other.ToInterval();
  if (totals.worst) {
    result.worst = builder.RequestAt(*totals.worst);
    result.worst_cost = totals.worst->cost;
  }
  const bool is_certain = indexing == nullptr || indexing->IsExact();
  if (!is_certain) {
    for (Interval* count :
         {&result.requests, &result.sectors, &result.least_sectors, &result.lines}) {
      *count = CountUpTo(*count);
    }
  }
  // Where nothing is requested, the requests are coalesced.
  const bool has_none = totals.requests.most == 0;
  const auto is_within = [&](const RequestCost& cost) {
    return static_cast<double>(cost.units) <= options_.factor * static_cast<double>(cost.least);
  };
  if (has_none) {
    result.coalesced = true;
  } else if (totals.worst && is_certain && result.IsExact()) {
    result.coalesced = is_within(result.worst_cost);
  } else if (totals.worst && is_certain && is_within(result.worst_cost)) {
    // The worst is so for all values.
    result.coalesced = true;
  } else {
    result.coalesced = std::nullopt;
  }
  return result;
}

Coalescing CoalescingAnalysis::OfReads(const OperandIndexing& indexing,
                                       const Shape& operand) const {
  if (indexing.IsUnknown()) return Coalescing::Unknown(indexing.label().reason);
  if (absl::Status status = VerifyFits(indexing, output_, operand); !status.ok()) {
    return Coalescing::Unknown(std::string(status.message()));
  }
  return Of(&indexing, operand);
}

Coalescing CoalescingAnalysis::OfWrites() const { return Of(nullptr, output_); }

absl::Status CoalescingAnalysis::CheckRequest(const WarpRequest& request,
                                              const OperandIndexing* indexing) const {
  const size_t num_symbols = indexing == nullptr ? 0 : indexing->map().num_symbols();
  if (request.block.size() != mapping_.block_dims.size() ||
      request.loops.size() != mapping_.map.ranges().size() ||
      request.symbols.size() != num_symbols) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a request of ", request.block.size(), " block coordinates, ", request.loops.size(),
        " loops and ", request.symbols.size(), " symbols, and there are ",
        mapping_.block_dims.size(), ", ", mapping_.map.num_ranges(), " and ", num_symbols));
  }
  const int64_t bases = std::max<int64_t>(options_.line_bytes / options_.alignment_bytes, 1);
  if (request.base < 0 || request.base >= bases) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor that begins at place ", request.base, " of ", bases));
  }
  if (request.first_thread < 0 || request.first_thread >= mapping_.ThreadsPerBlock() ||
      request.first_thread % options_.warp_size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a warp that begins at thread ", request.first_thread, " of ",
                     mapping_.ThreadsPerBlock(), ", of ", options_.warp_size, " threads"));
  }
  return absl::OkStatus();
}

namespace {

// An element that a thread accesses.
struct LaneElement {
  size_t row = 0;  // of the thread
  llvm::SmallVector<int64_t, 4> indices;
};

// What rows of values of the variables lead to, where they are in the domain; a row has all values of
// the variables that are free.
absl::StatusOr<std::vector<LaneElement>> ElementsOf(const IndexingMap& map, size_t num_rows,
                                                    llvm::ArrayRef<int64_t> rows,
                                                    llvm::function_ref<bool(int)> is_free) {
  const int width = map.num_dims() + map.num_symbols();
  std::vector<MapProgram::Source> sources(width);
  for (int v = 0; v < width; ++v) {
    if (!is_free(v)) sources[v] = {rows.data() + v, static_cast<size_t>(width)};
  }
  std::vector<LaneElement> elements;
  absl::Status status = MapProgram(map).Run(num_rows, sources, internal::kInt64Max,
                                            [&](const MapProgram::Block& block) {
                                              for (size_t i = 0; i < block.count; ++i) {
                                                if (block.is_inside[i] == 0) continue;
                                                LaneElement& element = elements.emplace_back();
                                                element.row = block.rows[i];
                                                for (const int64_t* const result : block.results)
                                                  element.indices.push_back(result[i]);
                                              }
                                            });
  if (!status.ok()) return status;
  return elements;
}

// What the elements read through a map, for these values of the symbols.
absl::StatusOr<std::vector<LaneElement>> ReadBy(llvm::ArrayRef<LaneElement> elements,
                                                const IndexingMap& map,
                                                llvm::ArrayRef<int64_t> symbols) {
  std::vector<int64_t> rows;
  for (const LaneElement& element : elements) {
    rows.insert(rows.end(), element.indices.begin(), element.indices.end());
    rows.insert(rows.end(), symbols.begin(), symbols.end());
  }
  auto read = ElementsOf(map, elements.size(), rows, [](int) { return false; });
  if (!read.ok()) return read;
  for (LaneElement& element : *read) element.row = elements[element.row].row;
  return read;
}

}  // namespace

absl::StatusOr<std::vector<LaneAddress>> CoalescingAnalysis::AddressesOf(
    const WarpRequest& request, const OperandIndexing* indexing, const Shape& accessed) const {
  const absl::StatusOr<ByteLayout> layout = ByteLayoutOf(accessed);
  if (!layout.ok()) return layout.status();
  if (indexing != nullptr) {
    absl::Status status = indexing->IsUnknown()
                              ? absl::InvalidArgumentError("an unknown map has no addresses")
                              : VerifyFits(*indexing, output_, accessed);
    if (!status.ok()) return status;
  }
  if (absl::Status status = CheckRequest(request, indexing); !status.ok()) return status;
  std::vector<LaneAddress> addresses;
  // A vector of no elements is accessed by nobody.
  if (mapping_.map.IsKnownEmpty()) return addresses;
  const int64_t base = request.base * 8 * options_.alignment_bytes;
  const int64_t num_threads =
      std::min(options_.warp_size, mapping_.ThreadsPerBlock() - request.first_thread);
  const int num_dims = mapping_.map.num_dims();
  std::vector<int64_t> rows;
  for (int64_t thread = 0; thread < num_threads; ++thread) {
    llvm::SmallVector<int64_t, 8> row(num_dims);
    for (const auto& [dim, value] : llvm::zip(mapping_.block_dims, request.block)) row[dim] = value;
    int64_t rest = request.first_thread + thread;
    for (const auto& [dim, size] : llvm::zip(mapping_.thread_dims, mapping_.thread_sizes)) {
      row[dim] = rest % size;
      rest /= size;
    }
    row.append(request.loops);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  auto elements = ElementsOf(mapping_.map, num_threads, rows, [&](int variable) {
    return variable >= num_dims && mapping_.IsVectorRange(variable - num_dims);
  });
  if (elements.ok() && indexing != nullptr) {
    elements = ReadBy(*elements, indexing->map(), request.symbols);
  }
  if (!elements.ok()) return elements.status();
  for (const auto& [row, indices] : *elements) {
    const int64_t position =
        PositionOf(layout->physical, absl::MakeConstSpan(indices.data(), indices.size()));
    addresses.push_back({request.first_thread + static_cast<int64_t>(row),
                         base + layout->physical.width * position});
  }
  return addresses;
}

}  // namespace xla_indexing
