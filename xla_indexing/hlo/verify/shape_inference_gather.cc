// Shape rules of gather and scatter, after the StableHLO specification with batching dimensions;
// the numbers (C1), (C2), ... in comments are those of its lists of constraints.

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

using DimensionList = absl::Span<const int64_t>;

struct NamedDimensions {
  absl::string_view name;
  DimensionList dimensions;
};

// What gather and scatter have in common: an operand whose dimensions are addressed by vectors in
// an array of indices. Gather names the parts one way, scatter another.
struct Addressing {
  NamedDimensions window;            // Offset or window dimensions, in the result or update.
  NamedDimensions dropped;           // Collapsed or inserted dimensions, in the operand.
  NamedDimensions operand_batching;  // Dimensions of the operand.
  NamedDimensions indices_batching;  // Dimensions of the indices, in pairs with the operand's.
  NamedDimensions index_map;         // A dimension of the operand for each component of a vector.
  int64_t index_vector_dim;
};

// `b` is in ascending order.
absl::Status CheckDisjoint(const HloInstruction& i, const NamedDimensions& a,
                           const NamedDimensions& b) {
  for (int64_t dimension : a.dimensions) {
    if (absl::c_binary_search(b.dimensions, dimension)) {
      return Error(i, "dimension ", dimension, " is in both ", a.name, "=", Braced(a.dimensions),
                   " and ", b.name, "=", Braced(b.dimensions));
    }
  }
  return absl::OkStatus();
}

// Checks everything but the constraints on slice sizes and updates.
absl::Status CheckAddressing(const HloInstruction& i, const Addressing& a, const Shape& operand,
                             const Shape& indices) {
  if (!IsIntegral(indices.element_type())) return Error(i, "the indices are not integers");
  // (C2), scatter (C22)
  if (a.index_vector_dim < 0 || a.index_vector_dim > indices.rank()) {
    return Error(i, "index_vector_dim=", a.index_vector_dim, " is not from 0 to ", indices.rank());
  }
  // (C1), scatter (C2)
  const size_t covered = a.window.dimensions.size() + a.dropped.dimensions.size() +
                         a.operand_batching.dimensions.size();
  if (static_cast<int64_t>(covered) != operand.rank()) {
    return Error(i, a.window.name, ", ", a.dropped.name, " and ", a.operand_batching.name, " name ",
                 covered, " dimensions together; the operand has ", operand.rank());
  }
  // (C3), scatter (C19)
  const int64_t vector_size =
      a.index_vector_dim < indices.rank() ? indices.dimension(a.index_vector_dim) : 1;
  if (!SizesAgree(static_cast<int64_t>(a.index_map.dimensions.size()), vector_size)) {
    return Error(i, a.index_map.name, "=", Braced(a.index_map.dimensions), " names ",
                 a.index_map.dimensions.size(), " dimensions for index vectors of size ",
                 vector_size);
  }
  // (C6-C8), (C10), (C11), (C19) and the uniqueness in (C18); scatter (C9-C13), (C20), (C21)
  for (const NamedDimensions* list : {&a.dropped, &a.operand_batching, &a.index_map}) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, list->name, list->dimensions, operand.rank()));
  }
  for (const NamedDimensions* list : {&a.window, &a.dropped, &a.operand_batching}) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckAscending(i, list->name, list->dimensions));
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckDisjoint(i, a.dropped, a.operand_batching));
  // (C13), (C14); scatter (C14), (C15)
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckDimensions(i, a.indices_batching.name, a.indices_batching.dimensions, indices.rank()));
  // (C15), scatter (C16)
  if (absl::c_linear_search(a.indices_batching.dimensions, a.index_vector_dim)) {
    return Error(i, a.indices_batching.name, "=", Braced(a.indices_batching.dimensions),
                 " holds the index_vector_dim ", a.index_vector_dim);
  }
  // (C16), scatter (C17)
  if (a.operand_batching.dimensions.size() != a.indices_batching.dimensions.size()) {
    return Error(i, a.operand_batching.name, "=", Braced(a.operand_batching.dimensions), " and ",
                 a.indices_batching.name, "=", Braced(a.indices_batching.dimensions),
                 " are not pairs");
  }
  // (C17), scatter (C18)
  for (size_t k = 0; k < a.operand_batching.dimensions.size(); ++k) {
    const int64_t in_operand = a.operand_batching.dimensions[k];
    const int64_t in_indices = a.indices_batching.dimensions[k];
    if (!SizesAgree(operand.dimension(in_operand), indices.dimension(in_indices))) {
      return Error(i, "batching dimensions ", in_operand, " of the operand and ", in_indices,
                   " of the indices differ in size: ", operand.dimension(in_operand), " and ",
                   indices.dimension(in_indices));
    }
  }
  return absl::OkStatus();
}

// The dimensions of the operand that a window has: neither dropped nor batching.
absl::InlinedVector<int64_t, 6> WindowDimensionsOfOperand(const Addressing& a,
                                                          const Shape& operand) {
  absl::InlinedVector<int64_t, 6> result;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!absl::c_binary_search(a.dropped.dimensions, d) &&
        !absl::c_binary_search(a.operand_batching.dimensions, d)) {
      result.push_back(d);
    }
  }
  return result;
}

// The rank of a gather's result and a scatter's update.
int64_t WindowedRank(const Addressing& a, const Shape& indices) {
  const int64_t batch_rank = indices.rank() - (a.index_vector_dim < indices.rank() ? 1 : 0);
  return batch_rank + static_cast<int64_t>(a.window.dimensions.size());
}

// The dimensions of the indices but the one of the index vectors, in order.
class BatchDimensions {
 public:
  BatchDimensions(const Shape& indices, int64_t index_vector_dim)
      : indices_(indices), index_vector_dim_(index_vector_dim) {}

  int64_t Next() {
    if (next_ == index_vector_dim_) ++next_;
    return next_++;
  }
  void AppendNext(Shape* shape) { AppendDimension(indices_, Next(), shape); }

 private:
  const Shape& indices_;
  int64_t index_vector_dim_;
  int64_t next_ = 0;
};

absl::Status RequireIndexVectorDim(const HloInstruction& i) {
  return RequireInteger(i, AttributeKey::kIndexVectorDim).status();
}

Result InferGather(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(RequireIndexVectorDim(i));
  const Shape& operand = i.operand(0)->shape();
  const Shape& indices = i.operand(1)->shape();
  const GatherDimensionNumbers numbers = i.gather_dimension_numbers();
  const Addressing addressing = {
      .window = {"offset_dims", numbers.offset_dims},
      .dropped = {"collapsed_slice_dims", numbers.collapsed_slice_dims},
      .operand_batching = {"operand_batching_dims", numbers.operand_batching_dims},
      .indices_batching = {"start_indices_batching_dims", numbers.start_indices_batching_dims},
      .index_map = {"start_index_map", numbers.start_index_map},
      .index_vector_dim = numbers.index_vector_dim};
  XLA_INDEXING_RETURN_IF_ERROR(CheckAddressing(i, addressing, operand, indices));
  const int64_t rank = WindowedRank(addressing, indices);
  // (C4), (C5)
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "offset_dims", numbers.offset_dims, rank));
  // (C9), (C12), (C20), (C21)
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto sizes, RequireIntegers(i, AttributeKey::kSliceSizes));
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {
    return Error(i, "slice_sizes=", Braced(sizes), " are ", sizes.size(),
                 " sizes for an operand of rank ", operand.rank());
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckSliceSizes(i, "slice_sizes", sizes));
  for (const NamedDimensions* list : {&addressing.dropped, &addressing.operand_batching}) {
    for (int64_t d : list->dimensions) {
      if (sizes[d] > 1) {
        return Error(i, "slice_sizes=", Braced(sizes), ": the size of dimension ", d, ", in ",
                     list->name, ", is more than 1");
      }
    }
  }
  // (C22)
  Shape result = Shape::Scalar(operand.element_type());
  const auto window = WindowDimensionsOfOperand(addressing, operand);
  BatchDimensions batch(indices, numbers.index_vector_dim);
  size_t offsets = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (offsets < numbers.offset_dims.size() && numbers.offset_dims[offsets] == d) {
      result.AddDimension(sizes[window[offsets++]]);
    } else {
      batch.AppendNext(&result);
    }
  }
  return result;
}

// Whether an update has a dimension for each one of the windows, no larger than the operand's, and of
// the indices, equally large.
absl::Status CheckUpdateSizes(const HloInstruction& i, const Addressing& addressing,
                              const Shape& operand, const Shape& indices, const Shape& update) {
  // (C4), (C7), (C8)
  const int64_t rank = WindowedRank(addressing, indices);
  if (update.rank() != rank) {
    return Error(i, "the updates have rank ", update.rank(),
                 " and should have one dimension for each of the ", rank,
                 " of the windows and the indices");
  }
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckDimensions(i, addressing.window.name, addressing.window.dimensions, rank));
  const auto window = WindowDimensionsOfOperand(addressing, operand);
  BatchDimensions batch(indices, addressing.index_vector_dim);
  size_t windows = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (windows < addressing.window.dimensions.size() &&
        addressing.window.dimensions[windows] == d) {
      const int64_t in_operand = window[windows++];
      if (!operand.IsUnboundedDimension(in_operand) &&
          update.dimension(d) > operand.dimension(in_operand)) {
        return Error(i, "dimension ", d, " of the updates is larger than dimension ", in_operand,
                     " of the operand: ", update.dimension(d), " and ",
                     operand.dimension(in_operand));
      }
      continue;
    }
    const int64_t in_indices = batch.Next();
    if (!SizesAgree(update.dimension(d), indices.dimension(in_indices))) {
      return Error(i, "dimension ", d, " of the updates and dimension ", in_indices,
                   " of the indices differ in size: ", update.dimension(d), " and ",
                   indices.dimension(in_indices));
    }
  }
  return absl::OkStatus();
}

Result InferScatter(const HloInstruction& i) {
  // (C5)
  if (i.operand_count() < 3 || i.operand_count() % 2 == 0) {
    return Error(i, "takes some operands, the indices and as many updates, not ", i.operand_count(),
                 " operands");
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(RequireIndexVectorDim(i));
  const int64_t count = i.operand_count() / 2;
  const Shape& operand = i.operand(0)->shape();
  const Shape& indices = i.operand(count)->shape();
  const Shape& update = i.operand(count + 1)->shape();
  std::vector<ElementType> operand_types;
  std::vector<ElementType> update_types;
  for (int64_t k = 0; k < count; ++k) {
    const Shape& operand_k = i.operand(k)->shape();
    const Shape& update_k = i.operand(count + 1 + k)->shape();
    // (C1), (C3), (C6)
    if (!DimensionsAgree(operand, operand_k)) {
      return Error(i, "operands 0 and ", k, " differ in size");
    }
    if (!DimensionsAgree(update, update_k)) {
      return Error(i, "updates 0 and ", k, " differ in size");
    }
    if (!SameTypeIgnoringPrecision(operand_k.element_type(), update_k.element_type())) {
      return Error(i, "operand ", k,
                   " and its update differ in element type: ", operand_k.ToStringWithoutLayout(),
                   " and ", update_k.ToStringWithoutLayout());
    }
    operand_types.push_back(operand_k.element_type());
    update_types.push_back(update_k.element_type());
  }
  const ScatterDimensionNumbers numbers = i.scatter_dimension_numbers();
  const Addressing addressing = {
      .window = {"update_window_dims", numbers.update_window_dims},
      .dropped = {"inserted_window_dims", numbers.inserted_window_dims},
      .operand_batching = {"input_batching_dims", numbers.input_batching_dims},
      .indices_batching = {"scatter_indices_batching_dims", numbers.scatter_indices_batching_dims},
      .index_map = {"scatter_dims_to_operand_dims", numbers.scatter_dims_to_operand_dims},
      .index_vector_dim = numbers.index_vector_dim};
  XLA_INDEXING_RETURN_IF_ERROR(CheckAddressing(i, addressing, operand, indices));
  // Gather may have such dimensions (GatherDimensionNumbers::IsBatchingAndIndexed).
  XLA_INDEXING_RETURN_IF_ERROR(CheckDisjoint(i, addressing.index_map, addressing.operand_batching));
  XLA_INDEXING_RETURN_IF_ERROR(CheckUpdateSizes(i, addressing, operand, indices, update));
  // (C23-C25)
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* combiner,
                                RequireComputation(i, AttributeKey::kToApply));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto results,
                                CheckReducer(i, *combiner, operand_types, update_types));
  if (count == 1 && results[0] == operand.element_type()) return &operand;
  std::vector<Shape> shapes;
  shapes.reserve(count);
  for (int64_t k = 0; k < count; ++k) {
    shapes.push_back(WithElementType(i.operand(k)->shape(), results[k]));
  }
  return OneOrTuple(std::move(shapes));
}

constexpr OpcodeRule kGatherRules[] = {
    {HloOpcode::kGather, {.infer = InferGather}},
    {HloOpcode::kScatter, {.infer = InferScatter}},
};

}  // namespace

OpcodeRules GatherRules() { return kGatherRules; }

}  // namespace xla_indexing::internal::shape_rules
