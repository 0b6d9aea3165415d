#include "xla_indexing/hlo/transforms/batching_dims.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// Where a gather, or a scatter, keeps what the other keeps under another name.
struct Names {
  HloOpcode opcode;
  AttributeKey dropped;
  AttributeKey operand_batching;
  AttributeKey indices_batching;
  AttributeKey index_map;

  int64_t IndicesOperand(const HloInstruction& instruction) const {
    return instruction.operand_count() / 2;
  }
};

constexpr Names kGatherNames = {
    HloOpcode::kGather, AttributeKey::kCollapsedSliceDims, AttributeKey::kOperandBatchingDims,
    AttributeKey::kStartIndicesBatchingDims, AttributeKey::kStartIndexMap};
constexpr Names kScatterNames = {
    HloOpcode::kScatter, AttributeKey::kInsertedWindowDims, AttributeKey::kInputBatchingDims,
    AttributeKey::kScatterIndicesBatchingDims, AttributeKey::kScatterDimsToOperandDims};

using DimList = std::vector<int64_t>;

struct BatchingDim {
  int64_t of_operand;
  int64_t of_indices;
};

// What the transformations change of an instruction.
struct ChangedParts {
  const HloInstruction* indices;
  int64_t index_vector_dim;
  DimList dropped;
  DimList index_map;
  std::vector<BatchingDim> batching;
  bool is_sorted;
};

ChangedParts FormOf(const InstructionRewriter& rewriter, const Names& names) {
  const HloInstruction& original = rewriter.original();
  ChangedParts form;
  form.indices = rewriter.operand(names.IndicesOperand(original));
  form.index_vector_dim = *original.GetInteger(AttributeKey::kIndexVectorDim);
  const auto dropped = original.GetIntegers(names.dropped);
  form.dropped.assign(dropped.begin(), dropped.end());
  const auto index_map = original.GetIntegers(names.index_map);
  form.index_map.assign(index_map.begin(), index_map.end());
  const auto of_operand = original.GetIntegers(names.operand_batching);
  const auto of_indices = original.GetIntegers(names.indices_batching);
  for (size_t i = 0; i < of_operand.size(); ++i) {
    form.batching.push_back({of_operand[i], of_indices[i]});
  }
  form.is_sorted = original.GetBool(AttributeKey::kIndicesAreSorted);
  return form;
}

// The original with another form; the attributes stand in their order.
void ReplaceWithForm(const ChangedParts& form, const Names& names, InstructionRewriter* rewriter) {
  const HloInstruction& original = rewriter->original();
  std::vector<const HloInstruction*> operands(rewriter->operands().begin(),
                                              rewriter->operands().end());
  operands[names.IndicesOperand(original)] = form.indices;
  DimList of_operand;
  DimList of_indices;
  for (const BatchingDim& batching : form.batching) {
    of_operand.push_back(batching.of_operand);
    of_indices.push_back(batching.of_indices);
  }
  const std::pair<AttributeKey, const DimList*> lists[] = {{names.dropped, &form.dropped},
                                                           {names.index_map, &form.index_map},
                                                           {names.operand_batching, &of_operand},
                                                           {names.indices_batching, &of_indices}};
  HloInstruction* replacement = rewriter->Replace(original.opcode(), original.shape(), operands);
  const auto set = [&](AttributeKey key) {
    if (key == AttributeKey::kIndexVectorDim) {
      replacement->SetAttribute(key, form.index_vector_dim);
      return true;
    }
    if (key == AttributeKey::kIndicesAreSorted) {
      if (form.is_sorted) replacement->SetAttribute(key, true);
      return true;
    }
    for (const auto& [list_key, list] : lists) {
      if (list_key != key) continue;
      const bool is_batching = key == names.operand_batching || key == names.indices_batching;
      if (!is_batching || !list->empty()) {
        replacement->SetAttribute(key, absl::Span<const int64_t>(*list));
      }
      return true;
    }
    return false;
  };
  for (const Attribute& attribute : original.attributes()) {
    if (set(attribute.key)) continue;
    if (attribute.key == AttributeKey::kOther) {
      replacement->SetTextAttribute(attribute.name, std::get<absl::string_view>(attribute.value));
    } else {
      replacement->SetAttribute(attribute.key, attribute.value);
    }
  }
  // Adds the attributes that the original does not have.
  for (const auto& [key, list] : lists) set(key);
  set(AttributeKey::kIndicesAreSorted);
}

// `shape` with another size in dimension `dim`, and no layout.
Shape WithSize(const Shape& shape, int64_t dim, int64_t size) {
  Shape result = shape;
  result.ClearLayout();
  result.SetDimension(dim, size);
  return result;
}

// Whether 0, .., size - 1 are values of an integer type.
bool HoldsIota(ElementType type, int64_t size) {
  const int bits = BitWidth(type) - (IsSignedIntegral(type) ? 1 : 0);
  return bits >= 63 || size <= int64_t{1} << bits;
}

// The narrowest type of the signedness of `type` that holds an iota of this size.
ElementType TypeForIota(ElementType type, int64_t size) {
  static constexpr ElementType kSigned[] = {ElementType::kS8, ElementType::kS16, ElementType::kS32,
                                            ElementType::kS64};
  static constexpr ElementType kUnsigned[] = {ElementType::kU8, ElementType::kU16,
                                              ElementType::kU32, ElementType::kU64};
  if (HoldsIota(type, size)) return type;
  for (const ElementType wider : IsSignedIntegral(type) ? kSigned : kUnsigned) {
    if (HoldsIota(wider, size)) return wider;
  }
  return type;
}

// Gives the indices a dimension for their vectors.
void AddVectorDim(ChangedParts* form, InstructionRewriter* rewriter) {
  Shape shape = form->indices->shape();
  shape.ClearLayout();
  shape.AddDimension(1);
  form->indices = rewriter->AddHelper(HloOpcode::kReshape, "index_vectors", shape, {form->indices});
}

HloInstruction* Concatenate(const std::vector<const HloInstruction*>& parts, int64_t dim,
                            InstructionRewriter* rewriter) {
  int64_t size = 0;
  for (const HloInstruction* part : parts) size += part->shape().dimension(dim);
  HloInstruction* all = rewriter->AddHelper(HloOpcode::kConcatenate, "indices",
                                            WithSize(parts[0]->shape(), dim, size), parts);
  all->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>({dim}));
  return all;
}

// Decomposition.

// Whether the index vectors with the batching dimensions in them are sorted: their components in
// the order of the operand's dimensions, lexicographically, over the batch indices in order.
bool IsSortedWithBatching(const ChangedParts& form, const Shape& operand) {
  std::vector<BatchingDim> batching = form.batching;
  std::erase_if(batching,
                [&](const BatchingDim& dim) { return operand.dimension(dim.of_operand) == 1; });
  if (!form.index_map.empty()) {
    const int64_t first_indexed = *absl::c_min_element(form.index_map);
    if (!form.is_sorted || absl::c_any_of(batching, [&](const BatchingDim& dim) {
          return dim.of_operand > first_indexed;
        })) {
      return false;
    }
  }
  size_t next = 0;
  for (int64_t dim = 0; dim < form.indices->shape().rank() && next < batching.size(); ++dim) {
    if (dim == form.index_vector_dim || form.indices->shape().dimension(dim) == 1) continue;
    if (batching[next++].of_indices != dim) return false;
  }
  return true;
}

absl::Status Decompose(const Names& names, InstructionRewriter& rewriter) {
  const HloInstruction& original = rewriter.original();
  if (original.opcode() != names.opcode) return absl::OkStatus();
  if (original.gather_dimension_numbers().HasBatchingAndIndexed()) return absl::OkStatus();
  ChangedParts form = FormOf(rewriter, names);
  if (form.batching.empty()) return absl::OkStatus();
  const Shape& operand = original.operand(0)->shape();
  int64_t largest = 0;
  for (const BatchingDim& dim : form.batching) {
    const int64_t size = form.indices->shape().dimension(dim.of_indices);
    if (size == Shape::kUnboundedSize) {
      return absl::InvalidArgumentError(absl::StrCat(
          "instruction '", original.name(), "' (", original.opcode_name(), "): batching dimension ",
          dim.of_indices, " of the indices has no bound, so there is no iota of its size"));
    }
    largest = std::max(largest, size);
  }
  form.is_sorted = IsSortedWithBatching(form, operand);
  if (form.index_vector_dim == form.indices->shape().rank()) AddVectorDim(&form, &rewriter);
  const ElementType type = form.indices->shape().element_type();
  if (const ElementType wide = TypeForIota(type, largest); wide != type) {
    Shape shape = form.indices->shape();
    shape.ClearLayout();
    shape.SetElementType(wide);
    form.indices = rewriter.AddHelper(HloOpcode::kConvert, "wide_indices", shape, {form.indices});
  }
  std::vector<const HloInstruction*> parts;
  DimList index_map;
  for (const BatchingDim& dim : form.batching) {
    HloInstruction* iota = rewriter.AddHelper(
        HloOpcode::kIota, "iota", WithSize(form.indices->shape(), form.index_vector_dim, 1), {});
    iota->SetAttribute(AttributeKey::kIotaDimension, dim.of_indices);
    parts.push_back(iota);
    index_map.push_back(dim.of_operand);
    form.dropped.push_back(dim.of_operand);
  }
  parts.push_back(form.indices);
  form.indices = Concatenate(parts, form.index_vector_dim, &rewriter);
  index_map.insert(index_map.end(), form.index_map.begin(), form.index_map.end());
  form.index_map = std::move(index_map);
  absl::c_sort(form.dropped);
  form.batching.clear();
  ReplaceWithForm(form, names, &rewriter);
  return absl::OkStatus();
}

// Recognition.

// The dimension that a part of the indices runs along, if that can be a batching dimension for
// dimension `of_operand` of the operand.
std::optional<int64_t> BatchingDimOf(const ChangedParts& form, const HloInstruction& part,
                                     int64_t of_operand, const Shape& operand) {
  if (part.opcode() != HloOpcode::kIota) return std::nullopt;
  const int64_t dim = part.iota_dimension();
  const int64_t size = part.shape().dimension(dim);
  const bool is_taken = absl::c_any_of(
      form.batching, [&](const BatchingDim& other) { return other.of_indices == dim; });
  if (is_taken || dim == form.index_vector_dim || size == Shape::kUnboundedSize ||
      size != operand.dimension(of_operand) || !HoldsIota(part.shape().element_type(), size) ||
      !absl::c_linear_search(form.dropped, of_operand)) {
    return std::nullopt;
  }
  return dim;
}

absl::Status Recognize(const Names& names, InstructionRewriter& rewriter) {
  const HloInstruction& original = rewriter.original();
  if (original.opcode() != names.opcode) return absl::OkStatus();
  ChangedParts form = FormOf(rewriter, names);
  const bool has_vector_dim = form.index_vector_dim < form.indices->shape().rank();
  const bool is_concatenate = has_vector_dim && form.indices->opcode() == HloOpcode::kConcatenate &&
                              form.indices->dimensions()[0] == form.index_vector_dim;
  std::vector<const HloInstruction*> parts = {form.indices};
  if (is_concatenate)
    parts.assign(form.indices->operands().begin(), form.indices->operands().end());
  const size_t found_before = form.batching.size();
  std::vector<const HloInstruction*> left;
  DimList index_map_left;
  size_t component = 0;
  for (const HloInstruction* part : parts) {
    const int64_t count = has_vector_dim ? part->shape().dimension(form.index_vector_dim) : 1;
    if (count == 1) {
      const int64_t of_operand = form.index_map[component];
      const std::optional<int64_t> dim =
          BatchingDimOf(form, *part, of_operand, original.operand(0)->shape());
      if (dim) {
        form.batching.push_back({of_operand, *dim});
        std::erase(form.dropped, of_operand);
        ++component;
        continue;
      }
    }
    left.push_back(part);
    for (int64_t i = 0; i < count; ++i) index_map_left.push_back(form.index_map[component++]);
  }
  if (form.batching.size() == found_before) return absl::OkStatus();
  absl::c_sort(form.batching, [](const BatchingDim& a, const BatchingDim& b) {
    return a.of_operand < b.of_operand;
  });
  form.index_map = std::move(index_map_left);
  form.is_sorted = form.is_sorted && form.index_map.empty();
  if (left.empty()) {
    // Index vectors of no components.
    Shape shape = form.indices->shape();
    if (!has_vector_dim) shape.AddDimension(1);
    HloInstruction* none = rewriter.AddHelper(HloOpcode::kIota, "no_indices",
                                              WithSize(shape, form.index_vector_dim, 0), {});
    none->SetAttribute(AttributeKey::kIotaDimension, form.index_vector_dim);
    form.indices = none;
  } else {
    form.indices = left.size() == 1 ? left[0] : Concatenate(left, form.index_vector_dim, &rewriter);
  }
  ReplaceWithForm(form, names, &rewriter);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> DecomposeGatherBatchingDims(const HloModule& module) {
  return RewriteModule(
      module, [](InstructionRewriter& rewriter) { return Decompose(kGatherNames, rewriter); });
}

absl::StatusOr<std::unique_ptr<HloModule>> DecomposeScatterBatchingDims(const HloModule& module) {
  return RewriteModule(
      module, [](InstructionRewriter& rewriter) { return Decompose(kScatterNames, rewriter); });
}

absl::StatusOr<std::unique_ptr<HloModule>> RecognizeGatherBatchingDims(const HloModule& module) {
  return RewriteModule(
      module, [](InstructionRewriter& rewriter) { return Recognize(kGatherNames, rewriter); });
}

absl::StatusOr<std::unique_ptr<HloModule>> RecognizeScatterBatchingDims(const HloModule& module) {
  return RewriteModule(
      module, [](InstructionRewriter& rewriter) { return Recognize(kScatterNames, rewriter); });
}

}  // namespace xla_indexing
