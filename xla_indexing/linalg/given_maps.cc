#include "xla_indexing/linalg/given_maps.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

namespace xla_indexing {
namespace {

using mlir::AffineExpr;

struct GivenMap {
  int64_t operand = 0;
  IndexingMap map;
};

absl::StatusOr<std::vector<GivenMap>> MapsOf(const CustomCallLeaf& leaf) {
  absl::string_view config = leaf.instruction.GetText(AttributeKey::kBackendConfig);
  absl::ConsumePrefix(&config, "\"");
  absl::ConsumeSuffix(&config, "\"");
  std::vector<GivenMap> maps;
  for (const absl::string_view part : absl::StrSplit(config, ';', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> split =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    int64_t operand = 0;
    if (!absl::SimpleAtoi(split.first, &operand) || operand < 0 ||
        operand >= leaf.instruction.operand_count()) {
      return absl::InvalidArgumentError("a map is for no operand");
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap map, ParseIndexingMap(split.second, leaf.context));
    const Shape& array = leaf.instruction.operand(operand)->shape();
    if (!array.IsArray() || !leaf.instruction.shape().IsArray() || map.num_ranges() > 0 ||
        map.num_results() != leaf.instruction.shape().rank() + array.rank() ||
        map.num_runtimes() >= leaf.instruction.operand_count()) {
      return absl::InvalidArgumentError("a map does not fit the arrays");
    }
    maps.push_back({operand, std::move(map)});
  }
  return maps;
}

// The map from the elements of one array to those of the other.
absl::StatusOr<OperandIndexing> MapBetween(const CustomCallLeaf& leaf, const GivenMap& given) {
  const HloInstruction& call = leaf.instruction;
  const IndexingMap& map = given.map;
  const bool is_forward = leaf.operand >= 0;
  const Shape& result = call.shape();
  const Shape& operand = call.operand(given.operand)->shape();
  const Shape& from = is_forward ? operand : result;
  const Shape& to = is_forward ? result : operand;
  Variables dims;
  for (const int64_t size : from.dimensions()) dims.push_back({Interval::OfSize(size), {}});
  Variables ranges(map.dims());
  llvm::SmallVector<AffineExpr, 8> loops;
  for (int i = 0; i < map.num_dims(); ++i) {
    loops.push_back(mlir::getAffineSymbolExpr(i, leaf.context));
  }
  llvm::SmallVector<AffineExpr, 4> runtimes;
  for (int i = 0; i < map.num_runtimes(); ++i) {
    runtimes.push_back(mlir::getAffineSymbolExpr(map.num_dims() + i, leaf.context));
  }
  const std::optional<IndexingMap> of_loops =
      internal::ReplaceVariables(map, dims, ranges, Variables(map.runtimes()), loops, runtimes);
  if (!of_loops) return absl::OutOfRangeError("a map is too large");
  const llvm::ArrayRef<AffineExpr> of_result = of_loops->results().take_front(result.rank());
  const llvm::ArrayRef<AffineExpr> of_operand = of_loops->results().drop_front(result.rank());
  const llvm::ArrayRef<AffineExpr> starts = is_forward ? of_operand : of_result;
  const llvm::ArrayRef<AffineExpr> ends = is_forward ? of_result : of_operand;
  IndexingMap relation(
      kPartsFit, mlir::AffineMap::get(dims.size(), of_loops->num_symbols(), ends, leaf.context),
      dims, ranges, Variables(map.runtimes()), Constraints(of_loops->constraints()));
  for (int64_t i = 0; i < from.rank(); ++i) {
    const AffineExpr difference = internal::Sub(starts[i], mlir::getAffineDimExpr(i, leaf.context));
    if (!difference) return absl::OutOfRangeError("a map is too large");
    relation.AddConstraint(kPartsFit, difference, Interval::Point(0));
  }
  for (int64_t i = 0; i < to.rank(); ++i) {
    relation.AddConstraint(kPartsFit, ends[i], Interval::OfSize(to.dimension(i)));
  }
  RuntimeVarIndexings bindings(map.num_runtimes());
  for (int i = 0; i < map.num_runtimes(); ++i) {
    bindings[i].instruction = call.operand(call.operand_count() - map.num_runtimes() + i);
  }
  absl::StatusOr<OperandIndexing> indexing =
      OperandIndexing::Create(std::move(relation), std::move(bindings));
  if (indexing.ok()) indexing->Simplify();
  return indexing;
}

// Scalars that runtime variables are read from, which every element reads.
absl::StatusOr<std::optional<InstructionIndexing>> EntriesOf(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  XLA_INDEXING_ASSIGN_OR_RETURN(const std::vector<GivenMap> maps, MapsOf(leaf));
  std::vector<OperandIndexingSet> sets(call.operand_count());
  int runtimes = 0;
  for (const GivenMap& given : maps) {
    runtimes = std::max(runtimes, given.map.num_runtimes());
    XLA_INDEXING_ASSIGN_OR_RETURN(OperandIndexing indexing, MapBetween(leaf, given));
    if (!indexing.IsKnownEmpty()) sets[given.operand].Add(std::move(indexing));
  }
  for (int64_t i = call.operand_count() - runtimes; i < call.operand_count(); ++i) {
    const Shape& from = leaf.operand >= 0 ? call.operand(i)->shape() : call.shape();
    const Shape& to = leaf.operand >= 0 ? call.shape() : call.operand(i)->shape();
    sets[i].Add(internal::EveryElement(from, to, ExactnessLabel::Exact(), leaf.context));
  }
  InstructionIndexing entries;
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (leaf.operand >= 0 && i != leaf.operand) continue;
    if (!sets[i].empty()) entries.push_back({0, i, 0, std::move(sets[i])});
  }
  return std::optional<InstructionIndexing>(std::move(entries));
}

}  // namespace

FusionOptions WithGivenMaps(FusionOptions options) {
  static const auto& registry = *[] {
    auto* with_rule = new CustomCallRegistry(CustomCallRegistry::Default());
    with_rule->Add(kGivenMapsTarget, {.output_to_input = EntriesOf, .input_to_output = EntriesOf});
    return with_rule;
  }();
  options.indexing.custom_calls = &registry;
  return options;
}

}  // namespace xla_indexing
