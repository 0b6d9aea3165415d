// Random dots and convolutions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// The shapes of a dot with random dimension numbers.
struct RandomDot {
  std::vector<int64_t> batch;  // These lists are of dimensions of the left operand.
  std::vector<int64_t> contracted;
  DimensionVector rhs_sizes;
  std::vector<int64_t> rhs_batch;
  std::vector<int64_t> rhs_contracted;
  DimensionVector result_sizes;

  std::string Attributes() const {
    std::string attributes;
    if (!batch.empty()) {
      absl::StrAppend(&attributes, ListAttribute("lhs_batch_dims", batch),
                      ListAttribute("rhs_batch_dims", rhs_batch));
    }
    if (!contracted.empty()) {
      absl::StrAppend(&attributes, ListAttribute("lhs_contracting_dims", contracted),
                      ListAttribute("rhs_contracting_dims", rhs_contracted));
    }
    return attributes;
  }
};

RandomDot MakeRandomDot(const Shape& lhs, RandomComputation* c) {
  RandomDot dot;
  DimensionVector free_sizes;
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    switch (c->random().Between(0, 2)) {
      case 0:
        dot.batch.push_back(d);
        break;
      case 1:
        dot.contracted.push_back(d);
        break;
      default:
        free_sizes.push_back(lhs.dimension(d));
    }
  }
  c->random().Shuffle(&dot.batch);
  c->random().Shuffle(&dot.contracted);

  // The right operand: batch, contracted and free dimensions in random order.
  for (int64_t d : dot.batch) dot.result_sizes.push_back(lhs.dimension(d));
  absl::c_copy(free_sizes, std::back_inserter(dot.result_sizes));
  const int64_t shared_rank = static_cast<int64_t>(dot.batch.size() + dot.contracted.size());
  DimensionVector rhs_free =
      c->RandomSizes(c->random().Between(0, 2),
                     kMaxRandomElements / std::max<int64_t>(ElementCountOf(lhs.dimensions()), 1));
  absl::c_copy(rhs_free, std::back_inserter(dot.result_sizes));
  const int64_t rhs_rank = shared_rank + static_cast<int64_t>(rhs_free.size());
  std::vector<int64_t> places = c->RandomPermutation(rhs_rank);
  std::sort(places.begin() + shared_rank, places.end());
  dot.rhs_sizes.resize(rhs_rank);
  size_t next = 0;
  for (int64_t d : dot.batch) {
    dot.rhs_sizes[places[next]] = lhs.dimension(d);
    dot.rhs_batch.push_back(places[next++]);
  }
  for (int64_t d : dot.contracted) {
    dot.rhs_sizes[places[next]] = lhs.dimension(d);
    dot.rhs_contracted.push_back(places[next++]);
  }
  for (int64_t size : rhs_free) dot.rhs_sizes[places[next++]] = size;
  return dot;
}

// Scales for blocks of an array of these sizes.
Shape RandomScales(absl::Span<const int64_t> sizes, RandomComputation* c) {
  if (c->random().OneIn(6)) return Shape::Scalar(ElementType::kF32);
  DimensionVector scales(sizes.begin(), sizes.end());
  for (int64_t& size : scales) {
    if (!c->random().OneIn(3)) size = c->random().Between(std::min<int64_t>(size, 1), size);
  }
  return Shape::Array(ElementType::kF32, scales);
}

// `b0f` in a random order, given the names of all dimensions; `*places` tells where each went.
std::string RandomLabels(absl::string_view names, RandomComputation* c,
                         std::vector<int64_t>* places) {
  *places = c->RandomPermutation(static_cast<int64_t>(names.size()));
  std::string labels(names);
  for (size_t i = 0; i < names.size(); ++i) labels[(*places)[i]] = names[i];
  return labels;
}

Shape ShapeInOrder(ElementType type, const DimensionVector& sizes,
                   const std::vector<int64_t>& places) {
  DimensionVector ordered(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) ordered[places[i]] = sizes[i];
  return Shape::Array(type, ordered);
}

}  // namespace

RandomValue AddRandomDot(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kS32};
  const RandomValue lhs = c->ArrayOperand(kTypes);
  const RandomDot dot = MakeRandomDot(lhs.shape, c);
  const ElementType type = lhs.shape.element_type();
  const RandomValue rhs = c->OperandLike(Shape::Array(type, dot.rhs_sizes));
  return c->Add(Shape::Array(type, dot.result_sizes), "dot", {lhs, rhs}, dot.Attributes());
}

RandomValue AddRandomRaggedDot(RandomComputation* c) {
  const RandomValue lhs = c->Operand(
      [](const Shape& shape) {
        return shape.element_type() == ElementType::kF32 && shape.rank() > 0;
      },
      [&] {
        return Shape::Array(ElementType::kF32, c->RandomSizes(c->random().Between(1, 3), 32));
      });
  RandomDot dot = MakeRandomDot(lhs.shape, c);
  const int64_t ragged = c->random().Between(0, lhs.shape.rank() - 1);
  const bool is_batch = absl::c_linear_search(dot.batch, ragged);
  const bool is_contracted = absl::c_linear_search(dot.contracted, ragged);
  const int64_t groups = c->random().Between(1, 3);
  std::string attributes = absl::StrCat(", lhs_ragged_dims={", ragged, "}");
  if (is_contracted) {
    dot.result_sizes.insert(dot.result_sizes.begin(), groups);
  } else if (!is_batch) {
    const int64_t place = c->random().Between(0, static_cast<int64_t>(dot.rhs_sizes.size()));
    dot.rhs_sizes.insert(dot.rhs_sizes.begin() + place, groups);
    for (std::vector<int64_t>* dims : {&dot.rhs_batch, &dot.rhs_contracted}) {
      for (int64_t& dim : *dims) dim += dim >= place ? 1 : 0;
    }
    absl::StrAppend(&attributes, ", rhs_group_dims={", place, "}");
  }
  // The dimensions along which sizes may differ: the batch, and those of the same kind before.
  DimensionVector sizes;
  if (c->random().OneIn(2)) {
    for (int64_t d : dot.batch) {
      if (d == ragged) break;
      sizes.push_back(lhs.shape.dimension(d));
    }
    if (is_contracted) {
      for (auto d = dot.contracted.begin(); *d != ragged; ++d) {
        sizes.push_back(lhs.shape.dimension(*d));
      }
    } else if (!is_batch) {
      for (int64_t d = 0; d < ragged; ++d) {
        if (absl::c_linear_search(dot.batch, d) || absl::c_linear_search(dot.contracted, d)) {
          continue;
        }
        sizes.push_back(lhs.shape.dimension(d));
      }
    }
  }
  sizes.push_back(groups);
  const RandomValue rhs = c->OperandLike(Shape::Array(ElementType::kF32, dot.rhs_sizes));
  const RandomValue group_sizes = c->Integers(Shape::Array(c->RandomIntegerType(), sizes));
  return c->Add(Shape::Array(ElementType::kF32, dot.result_sizes), "ragged-dot",
                {lhs, rhs, group_sizes}, absl::StrCat(dot.Attributes(), attributes));
}

RandomValue AddRandomScaledDot(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kF32};
  const RandomValue lhs = c->ArrayOperand(kTypes);
  const RandomDot dot = MakeRandomDot(lhs.shape, c);
  const RandomValue rhs = c->OperandLike(Shape::Array(ElementType::kF32, dot.rhs_sizes));
  const RandomValue lhs_scales = c->OperandLike(RandomScales(lhs.shape.dimensions(), c));
  const RandomValue rhs_scales = c->OperandLike(RandomScales(dot.rhs_sizes, c));
  return c->Add(Shape::Array(ElementType::kF32, dot.result_sizes), "scaled-dot",
                {lhs, rhs, lhs_scales, rhs_scales}, dot.Attributes());
}

RandomValue AddRandomConvolution(RandomComputation* c) {
  while (true) {
    int64_t feature_groups = c->random().OneIn(3) ? c->random().Between(2, 3) : 1;
    int64_t batch_groups = 1;
    if (feature_groups == 1 && c->random().OneIn(3)) batch_groups = c->random().Between(2, 3);
    const auto small_size = [&] { return c->random().Between(c->random().OneIn(40) ? 0 : 1, 3); };
    const int64_t batch = small_size();
    const int64_t in_features = small_size();
    const int64_t out_features = small_size() * feature_groups * batch_groups;
    // Batch, feature and spatial dimensions; input and output features and spatial dimensions.
    DimensionVector input = {batch * batch_groups, in_features * feature_groups};
    DimensionVector kernel = {in_features, out_features};
    DimensionVector result = {batch, out_features};
    Window window;
    for (int64_t k = c->random().Between(0, 2); k > 0; --k) {
      const int64_t size = c->RandomSize();
      WindowDimension dimension = RandomWindowDimension(size, 4, c, &result.emplace_back());
      dimension.window_reversal = c->random().OneIn(4);
      input.push_back(size);
      kernel.push_back(dimension.size);
      window.dimensions.push_back(dimension);
    }
    if (std::max({ElementCountOf(input), ElementCountOf(kernel), ElementCountOf(result)}) >
        kMaxRandomElements) {
      continue;
    }
    const size_t rank = input.size();
    std::vector<int64_t> input_places;
    std::vector<int64_t> kernel_places;
    std::vector<int64_t> result_places;
    std::string attributes;
    const std::string input_labels =
        RandomLabels(absl::string_view("bf01").substr(0, rank), c, &input_places);
    const std::string kernel_labels =
        RandomLabels(absl::string_view("io01").substr(0, rank), c, &kernel_places);
    const std::string result_labels =
        RandomLabels(absl::string_view("bf01").substr(0, rank), c, &result_places);
    if (rank > 2) absl::StrAppend(&attributes, ", window=", window.ToString());
    absl::StrAppend(&attributes, ", dim_labels=", input_labels, "_", kernel_labels, "->",
                    result_labels);
    if (feature_groups > 1) absl::StrAppend(&attributes, ", feature_group_count=", feature_groups);
    if (batch_groups > 1) absl::StrAppend(&attributes, ", batch_group_count=", batch_groups);
    const ElementType type = c->random().OneIn(3) ? ElementType::kS32 : ElementType::kF32;
    const RandomValue lhs = c->OperandLike(ShapeInOrder(type, input, input_places));
    const RandomValue rhs = c->OperandLike(ShapeInOrder(type, kernel, kernel_places));
    return c->Add(ShapeInOrder(type, result, result_places), "convolution", {lhs, rhs}, attributes);
  }
}

}  // namespace xla_indexing
