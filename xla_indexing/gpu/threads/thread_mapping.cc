#include "xla_indexing/gpu/threads/thread_mapping.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/query/utilization/count_reads.h"

namespace xla_indexing {
namespace {

using internal::CheckedAdd;
using internal::CheckedMul;
using internal::CountElements;
using internal::CountPoints;
using internal::Int128;
using internal::NamesOf;
using internal::VariableNames;

std::optional<int64_t> Product(llvm::ArrayRef<int64_t> sizes) {
  std::optional<int64_t> product = 1;
  if (llvm::is_contained(sizes, 0)) return 0;
  for (const int64_t size : sizes) {
    if (product) product = CheckedMul(*product, size);
  }
  return product;
}

absl::Status CheckRoles(const ThreadMapping& mapping, llvm::ArrayRef<int> dims,
                        llvm::ArrayRef<int64_t> sizes, llvm::SmallVectorImpl<int>* roles) {
  if (dims.size() != sizes.size()) {
    return ThreadMappingError(
        absl::StrCat(dims.size(), " coordinates have ", sizes.size(), " sizes"));
  }
  for (const auto& [dim, size] : llvm::zip(dims, sizes)) {
    if (dim < 0 || dim >= mapping.map.num_dims()) {
      return ThreadMappingError(absl::StrCat("dimension ", dim, " of ", mapping.map.num_dims()));
    }
    ++(*roles)[dim];
    const Interval& bounds = mapping.map.dims()[dim].bounds;
    if (size < 0) return ThreadMappingError(absl::StrCat("dimension ", dim, " has size ", size));
    if (!bounds.IsSubsetOf(Interval::OfSize(size))) {
      return ThreadMappingError(absl::StrCat("dimension ", dim, " is in ", bounds.ToString(),
                                             ", and should be in [0, ", size - 1, "]"));
    }
  }
  if (!Product(sizes))
    return ThreadMappingError("the threads or blocks are more than int64 counts");
  return absl::OkStatus();
}

}  // namespace

absl::Status ThreadMappingError(absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("thread mapping: ", message));
}

absl::Status ThreadMapping::Verify() const {
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  llvm::SmallVector<int, 4> roles(map.num_dims());
  if (absl::Status status = CheckRoles(*this, thread_dims, thread_sizes, &roles); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckRoles(*this, block_dims, block_sizes, &roles); !status.ok()) {
    return status;
  }
  for (const auto& [dim, count] : llvm::enumerate(roles)) {
    if (count != 1)
      return ThreadMappingError(absl::StrCat("dimension ", dim, " has ", count, " roles"));
  }
  if (map.num_runtimes() > 0) return ThreadMappingError("it has a runtime variable");
  Int128 width = 1;
  for (const auto& [i, range] : llvm::enumerate(map.ranges())) {
    if (!range.bounds.IsFinite()) {
      return ThreadMappingError(absl::StrCat("range variable ", i, " is in ",
                                             range.bounds.ToString(), ", which is not finite"));
    }
    if (!IsVectorRange(static_cast<int>(i)) || range.bounds.IsEmpty()) continue;
    width *= Int128{range.bounds.upper()} - range.bounds.lower() + 1;
    if (width > kMaxVectorWidth) {
      return ThreadMappingError(
          absl::StrCat("a vector access has more than ", kMaxVectorWidth, " elements"));
    }
  }
  const int ranges = map.num_ranges();
  if (llvm::any_of(vector_ranges, [&](int range) { return range < 0 || range >= ranges; })) {
    return ThreadMappingError(absl::StrCat("a vector range that is none of ", ranges));
  }
  return absl::OkStatus();
}

absl::Status ThreadMapping::VerifyFor(const Shape& shape) const {
  if (absl::Status status = Verify(); !status.ok()) return status;
  if (!shape.IsArray() || shape.rank() != map.num_results()) {
    return ThreadMappingError(absl::StrCat("it has ", map.num_results(), " results, and ",
                                           shape.ToStringWithoutLayout(), " has rank ",
                                           shape.rank()));
  }
  StepBudget budget(kDefaultSteps);
  for (const auto& [i, result] : llvm::enumerate(map.results())) {
    const Interval indices = shape.IsUnboundedDimension(static_cast<int64_t>(i))
                                 ? Interval::AtLeast(0)
                                 : Interval::OfSize(shape.dimension(static_cast<int64_t>(i)));
    const Answer holds = HoldsEverywhere(map, result, indices, &budget);
    if (holds == Answer::kYes) continue;
    return ThreadMappingError(absl::StrCat(
        "result ", i, holds == Answer::kNo ? " leaves" : " is not known to stay in", " dimension ",
        i, " of ", shape.ToStringWithoutLayout(), ", whose indices are ", indices.ToString()));
  }
  return absl::OkStatus();
}

int64_t ThreadMapping::ThreadsPerBlock() const { return Product(thread_sizes).value_or(0); }

int64_t ThreadMapping::NumBlocks() const { return Product(block_sizes).value_or(0); }

bool ThreadMapping::IsVectorRange(int range) const {
  return llvm::is_contained(vector_ranges, range);
}

absl::StatusOr<ThreadMapping> ParseThreadMapping(absl::string_view text,
                                                 mlir::MLIRContext* context) {
  absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, context);
  if (!map.ok()) return map.status();
  ThreadMapping mapping{*std::move(map), {}, {}, {}, {}, {}};
  const VariableNames names = NamesOf(mapping.map);
  const bool has_names = llvm::any_of(
      mapping.map.dims(), [](const Variable& dim) { return static_cast<bool>(dim.name); });
  absl::Status status = absl::OkStatus();
  // The name of each coordinate, in order, and which dimension has it.
  const auto take = [&](llvm::ArrayRef<absl::string_view> coordinates,
                        llvm::SmallVectorImpl<int>* dims, llvm::SmallVectorImpl<int64_t>* sizes) {
    for (const absl::string_view coordinate : coordinates) {
      const auto it = std::find(names.dims.begin(), names.dims.end(), coordinate);
      if (it == names.dims.end()) continue;
      const Interval& bounds = mapping.map.dims()[it - names.dims.begin()].bounds;
      dims->push_back(static_cast<int>(it - names.dims.begin()));
      const std::optional<int64_t> size =
          bounds.has_upper() ? CheckedAdd(bounds.upper(), 1) : std::nullopt;
      if (!size && !bounds.IsEmpty()) {
        status.Update(ThreadMappingError(absl::StrCat(coordinate, " is in ", bounds.ToString(),
                                                      ", which is more than int64 counts")));
      }
      sizes->push_back(size.value_or(0));
    }
  };
  if (has_names) {
    take({"th_x", "th_y", "th_z"}, &mapping.thread_dims, &mapping.thread_sizes);
    take({"bl_x", "bl_y", "bl_z"}, &mapping.block_dims, &mapping.block_sizes);
  } else {
    take({"d0"}, &mapping.thread_dims, &mapping.thread_sizes);
    take({"d1"}, &mapping.block_dims, &mapping.block_sizes);
  }
  if (static_cast<int>(mapping.thread_dims.size() + mapping.block_dims.size()) !=
      mapping.map.num_dims()) {
    return ThreadMappingError(
        "its dimensions are named th_x, th_y, th_z (of a thread) and bl_x, bl_y, bl_z (of a "
        "block), or they are d0 (the thread) and d1 (the block)");
  }
  for (int i = 0; i < mapping.map.num_ranges(); ++i) {
    const std::string& name = names.symbols[i];
    if (name == "vec" || absl::StartsWith(name, "vec_")) mapping.vector_ranges.push_back(i);
  }
  status.Update(mapping.Verify());
  if (!status.ok()) return status;
  return mapping;
}

absl::StatusOr<ThreadCoverage> CoverageOf(const ThreadMapping& mapping, const Shape& shape,
                                          int64_t max_steps) {
  if (absl::Status status = mapping.VerifyFor(shape); !status.ok()) return status;
  ThreadCoverage coverage;
  StepBudget budget(max_steps);
  const llvm::SmallVector<int64_t, 4> sizes(shape.dimensions().begin(), shape.dimensions().end());
  coverage.elements = CountElements(shape);
  coverage.computed = CountUnionOfImages({mapping.map}, sizes, &budget);
  coverage.computations = CountPoints(mapping.map, &budget);
  return coverage;
}

}  // namespace xla_indexing
