#include "xla_indexing/ops/implicit_broadcast.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing {
namespace {

using internal::InputToOutputOfNest;
using internal::kWholeAxis;
using internal::LoopNest;
using internal::MatchingNest;
using internal::OutputToInputOfNest;

// How a dimension of an operand follows from that of the result.
enum class Reading : uint8_t { kFirst, kSame, kEither };

class OperandCases {
 public:
  OperandCases(const Shape& operand, const ImplicitBroadcast& broadcast,
               const std::vector<int64_t>& dimensions, const std::vector<int64_t>& sources,
               mlir::MLIRContext* context)
      : operand_(operand), result_(broadcast.result), dimensions_(dimensions), context_(context) {
    for (int64_t k = 0; k < operand.rank(); ++k) {
      const DimensionSize size = DimensionSize::Of(operand, k);
      const bool is_only_source = sources[dimensions[k]] == 1;
      Reading reading = Reading::kSame;
      if (size.size == 1) {
        reading = Reading::kFirst;
      } else if (size.is_dynamic && size.size != 0 && !is_only_source) {
        reading = Reading::kEither;
      }
      readings_.push_back(reading);
      if (reading == Reading::kEither) open_.push_back(k);
    }
  }

  std::vector<BroadcastCase> All() const {
    const size_t told_apart = std::min<size_t>(open_.size(), kMaxCaseDimensions);
    std::vector<BroadcastCase> cases;
    for (size_t bits = 0; bits < size_t{1} << told_apart; ++bits) {
      std::vector<SizeAssumption> sizes;
      for (size_t i = 0; i < told_apart; ++i) {
        const bool is_one = (bits >> (told_apart - 1 - i) & 1) == 0;
        sizes.push_back({open_[i], is_one, DimensionSize::Of(result_, dimensions_[open_[i]])});
      }
      cases.push_back(One(std::move(sizes)));
    }
    return cases;
  }

 private:
  BroadcastCase One(std::vector<SizeAssumption> sizes) const {
    std::vector<Reading> readings = readings_;
    for (const SizeAssumption& size : sizes) {
      readings[size.dimension] = size.is_one ? Reading::kFirst : Reading::kSame;
    }
    // The operand with the sizes of this case.
    Shape operand = operand_;
    std::vector<int64_t> match;
    bool is_exact = true;
    for (int64_t k = 0; k < operand.rank(); ++k) {
      match.push_back(readings[k] == Reading::kSame ? dimensions_[k] : kWholeAxis);
      if (readings[k] == Reading::kSame) {
        operand.SetDimension(k, result_.dimension(dimensions_[k]));
      } else if (readings[k] == Reading::kFirst) {
        operand.SetDimension(k, 1);
      } else {
        is_exact = false;
      }
    }
    BroadcastCase result{std::move(sizes), {}, {}};
    LoopNest nest = MatchingNest(result_, operand, match);
    if (nest.IsEmpty()) return result;
    if (!is_exact) {
      nest.label = ExactnessLabel::OverApproximate(
          absl::StrCat("of more than ", kMaxCaseDimensions,
                       " dimensions it is not known whether their sizes at run time are 1"));
    }
    result.result_to_operand.Add(OutputToInputOfNest(nest, result_, operand, context_));
    result.operand_to_result.Add(InputToOutputOfNest(nest, result_, operand, context_));
    return result;
  }

  const Shape& operand_;
  const Shape& result_;
  const std::vector<int64_t>& dimensions_;
  mlir::MLIRContext* context_;
  std::vector<Reading> readings_;
  std::vector<int64_t> open_;  // The dimensions that are read either way.
};

}  // namespace

std::string BroadcastCase::Label() const {
  std::string label;
  for (const SizeAssumption& assumption : sizes) {
    absl::StrAppend(&label, label.empty() ? "" : ", ", "dimension ", assumption.dimension);
    if (assumption.is_one) {
      absl::StrAppend(&label, " has size 1");
    } else if (assumption.size.IsStatic()) {
      absl::StrAppend(&label, " has size ", assumption.size.size);
    } else {
      absl::StrAppend(&label, " has the size of the result");
    }
  }
  return label;
}

BroadcastIndexing ComputeBroadcastIndexing(absl::Span<const Shape> operands,
                                           const ImplicitBroadcast& broadcast,
                                           mlir::MLIRContext* context) {
  // For each dimension of the result, how many operands may have another size than 1 there.
  std::vector<int64_t> sources(broadcast.result.rank(), 0);
  for (size_t i = 0; i < operands.size(); ++i) {
    for (int64_t k = 0; k < operands[i].rank(); ++k) {
      if (!DimensionSize::Of(operands[i], k).IsStaticOne()) ++sources[broadcast.dimensions[i][k]];
    }
  }
  BroadcastIndexing indexing;
  for (size_t i = 0; i < operands.size(); ++i) {
    indexing.operands.push_back(
        OperandCases(operands[i], broadcast, broadcast.dimensions[i], sources, context).All());
  }
  return indexing;
}

}  // namespace xla_indexing
