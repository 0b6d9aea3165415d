#include "xla_indexing/query/dims/corresponding_dims.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {
namespace {

// A leaf of the result or of an operand.
using Leaf = std::pair<int64_t, int64_t>;  // operand or LeafDim::kResult, leaf

struct Link {
  LeafDim of_result;
  LeafDim of_operand;
};

const Shape& ShapeOf(const IndexingTarget& target, const Leaf& leaf) {
  const HloInstruction* instruction = target.instruction();
  const HloInstruction* value = nullptr;
  if (leaf.first == LeafDim::kResult) {
    value = instruction != nullptr ? instruction : target.computation()->root_instruction();
  } else {
    value = instruction != nullptr ? instruction->operand(leaf.first)
                                   : target.computation()->parameters()[leaf.first];
  }
  return value->shape().Leaf(leaf.second);
}

// The dimension of the result that every map has for dimension `dim` of the operand.
std::optional<int64_t> CommonDim(const OperandIndexingSet& maps, int64_t dim) {
  std::optional<int64_t> common;
  for (const OperandIndexing& indexing : maps) {
    if (indexing.IsUnknown()) return std::nullopt;
    const auto expr = llvm::dyn_cast<mlir::AffineDimExpr>(indexing.map().results()[dim]);
    if (!expr || (common && *common != expr.getPosition())) return std::nullopt;
    common = expr.getPosition();
  }
  return common;
}

bool CanBeCut(int64_t size) { return size > 1 || size == Shape::kUnboundedSize; }

// Sets of dimensions that are merged.
class DimSets {
 public:
  void Merge(const LeafDim& a, const LeafDim& b) {
    const int x = Root(NumberOf(a));
    const int y = Root(NumberOf(b));
    parents_[std::max(x, y)] = std::min(x, y);
  }

  std::vector<std::vector<LeafDim>> Sorted() {
    std::map<int, std::vector<LeafDim>> by_root;
    for (const auto& [dim, number] : numbers_) by_root[Root(number)].push_back(dim);
    std::vector<std::vector<LeafDim>> groups;
    groups.reserve(by_root.size());
    for (auto& [root, dims] : by_root) groups.push_back(std::move(dims));
    absl::c_sort(groups);
    return groups;
  }

 private:
  int NumberOf(const LeafDim& dim) {
    const auto [it, is_new] = numbers_.try_emplace(dim, static_cast<int>(parents_.size()));
    if (is_new) parents_.push_back(it->second);
    return it->second;
  }
  int Root(int number) {
    while (parents_[number] != number) {
      parents_[number] = parents_[parents_[number]];
      number = parents_[number];
    }
    return number;
  }

  std::map<LeafDim, int> numbers_;
  std::vector<int> parents_;
};

}  // namespace

std::string CorrespondingDims::ToString() const {
  std::string text =
      absl::StrCat("size ", size == Shape::kUnboundedSize ? "?" : absl::StrCat(size), ": ",
                   absl::StrJoin(dims, ", ", [](std::string* out, const LeafDim& dim) {
                     if (dim.operand == LeafDim::kResult) {
                       absl::StrAppend(out, "result ", dim.leaf);
                     } else {
                       absl::StrAppend(out, "operand ", dim.operand);
                       if (dim.leaf != 0) absl::StrAppend(out, "#", dim.leaf);
                     }
                     absl::StrAppend(out, " dim ", dim.dim);
                   }));
  if (is_batch) absl::StrAppend(&text, "  (batch)");
  return text;
}

absl::StatusOr<std::vector<CorrespondingDims>> FindCorrespondingDims(IndexingTarget target,
                                                                     mlir::MLIRContext* context,
                                                                     const FusionOptions& options) {
  HloIndexer indexer(context, options);
  return FindCorrespondingDims(target, indexer);
}

absl::StatusOr<std::vector<CorrespondingDims>> FindCorrespondingDims(IndexingTarget target,
                                                                     HloIndexer& indexer) {
  const QuestionBudget question;
  const absl::StatusOr<SharedIndexing> shared = indexer.Index(target, Direction::kOutputToInput);
  if (!shared.ok()) return shared.status();
  InstructionIndexing entries = **shared;
  DimSets groups;
  // The links of each entry whose operand has dimensions, and the leaves of these entries.
  std::vector<std::vector<Link>> links;
  std::set<Leaf> leaves;
  for (IndexingEntry& entry : entries) {
    entry.indexing.Simplify();
    const Leaf result = {LeafDim::kResult, entry.output_leaf};
    const Leaf operand = {entry.operand, entry.operand_leaf};
    const Shape& result_shape = ShapeOf(target, result);
    const Shape& operand_shape = ShapeOf(target, operand);
    if (operand_shape.rank() == 0) continue;
    leaves.insert(operand);
    leaves.insert(result);
    std::vector<Link>& of_entry = links.emplace_back();
    for (int64_t a = 0; a < operand_shape.rank(); ++a) {
      const std::optional<int64_t> b = CommonDim(entry.indexing, a);
      const int64_t size = operand_shape.dimension(a);
      if (!b || !CanBeCut(size) || result_shape.dimension(*b) != size) continue;
      of_entry.push_back({{result.first, result.second, *b}, {operand.first, operand.second, a}});
      groups.Merge(of_entry.back().of_result, of_entry.back().of_operand);
    }
  }

  std::vector<CorrespondingDims> result;
  for (std::vector<LeafDim>& dims : groups.Sorted()) {
    CorrespondingDims group;
    const LeafDim& first = dims.front();
    group.size = ShapeOf(target, {first.operand, first.leaf}).dimension(first.dim);
    std::set<Leaf> covered;
    for (const LeafDim& dim : dims) covered.insert({dim.operand, dim.leaf});
    group.is_batch = covered == leaves && absl::c_all_of(links, [&](const auto& of_entry) {
                       return absl::c_any_of(of_entry, [&](const Link& link) {
                         return absl::c_binary_search(dims, link.of_result);
                       });
                     });
    group.dims = std::move(dims);
    result.push_back(std::move(group));
  }
  return result;
}

}  // namespace xla_indexing
