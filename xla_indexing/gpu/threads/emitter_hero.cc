#include "xla_indexing/gpu/threads/emitter_hero.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// The dimensions of size 2 and more in the order of memory, major to minor.
llvm::SmallVector<int64_t, 4> MajorToMinor(const Shape& shape) {
  llvm::SmallVector<int64_t, 4> order;
  const Layout layout = shape.LayoutOrRowMajor();
  for (const int64_t dim : llvm::reverse(layout.minor_to_major)) {
    if (shape.dimension(dim) != 1) order.push_back(dim);
  }
  return order;
}

bool IsRowMajor(const Shape& shape) { return absl::c_is_sorted(MajorToMinor(shape)); }

// Whether every element stays in its place in memory.
bool KeepsPlaces(const HloInstruction& instruction) {
  const std::optional<JoinedTranspose> joined = JoinTranspose(instruction);
  return joined && joined->permutation.size() < 2;
}

// Rule 1.
bool IsTrivial(const HloInstruction& instruction, int64_t max_operands) {
  if (instruction.operand_count() == 0 || instruction.operand_count() > max_operands ||
      !instruction.shape().IsArray()) {
    return false;
  }
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
      return true;
    case HloOpcode::kReshape:
      return IsRowMajor(instruction.shape()) && IsRowMajor(instruction.operand(0)->shape());
    case HloOpcode::kCopy:
    case HloOpcode::kTranspose:
      return KeepsPlaces(instruction);
    default:
      return IsElementwise(instruction.opcode());
  }
}

// The only instruction above `start` through trivial ones that has the property, null if there
// are several, or where it is used by one that is not trivial.
const HloInstruction* FindOnly(const HloInstruction* start,
                               absl::FunctionRef<bool(const HloInstruction&)> is_it) {
  constexpr int64_t kMaxOperands = 3;
  const HloInstruction* found = nullptr;
  std::vector<const HloInstruction*> open = {start};
  absl::flat_hash_set<const HloInstruction*> seen = {start};
  for (size_t i = 0; i < open.size() && QuestionBudget::Spend(); ++i) {
    if (is_it(*open[i])) {
      if (found != nullptr) return nullptr;
      found = open[i];
    } else if (IsTrivial(*open[i], kMaxOperands)) {
      for (const HloInstruction* operand : open[i]->operands()) {
        if (seen.insert(operand).second) open.push_back(operand);
      }
    }
  }
  if (found == nullptr) return nullptr;
  open = {found};
  seen = {found};
  for (size_t i = 0; i < open.size(); ++i) {
    for (const HloInstruction* user : open[i]->users()) {
      if (user->opcode() == HloOpcode::kTuple || !seen.insert(user).second) continue;
      if (!IsTrivial(*user, kMaxOperands)) return nullptr;
      open.push_back(user);
    }
  }
  return found;
}

// Rule 2.
void FindHero(RootOfFusion* root) {
  root->hero = root->root;
  root->hero_leaf = root->root_leaf;
  const HloInstruction* above = root->root;
  int64_t leaf = root->root_leaf;
  while (true) {
    if (above->opcode() == HloOpcode::kGetTupleElement &&
        above->operand(0)->opcode() == HloOpcode::kReduce) {
      leaf += above->operand(0)->shape().FirstLeafOfElement(above->tuple_index());
      above = above->operand(0);
      break;
    }
    if (!IsTrivial(*above, 1) || (above != root->root && above->users().size() > 1)) break;
    above = above->operand(0);
  }
  const HloInstruction* hero =
      FindOnly(above, [](const HloInstruction& i) { return TiledTransposeOf(i).has_value(); });
  if (hero == nullptr) {
    hero = FindOnly(above,
                    [](const HloInstruction& i) { return i.opcode() == HloOpcode::kConcatenate; });
  }
  if (hero != nullptr) {
    root->hero = hero;
    root->hero_leaf = 0;
  } else if (above->opcode() == HloOpcode::kReduce) {
    root->hero = above;
    root->hero_leaf = leaf;
  }
}

const HloInstruction* AboveBitcasts(const HloInstruction* i) {
  while (i->opcode() == HloOpcode::kBitcast && i->operand(0)->uses().size() == 1) i = i->operand(0);
  return i;
}

// Whether the slice reads just what the update overwrites, element for element.
bool SlicesWhatIsUpdated(const HloInstruction& slice, const HloInstruction& update) {
  const auto is_same = [](const HloInstruction* a, const HloInstruction* b) {
    return a == b ||
           (a->literal() != nullptr && b->literal() != nullptr && *a->literal() == *b->literal());
  };
  if (slice.opcode() != HloOpcode::kDynamicSlice || slice.operand(0) != update.operand(0) ||
      slice.operand_count() + 1 != update.operand_count() ||
      slice.shape().dimensions() != update.operand(1)->shape().dimensions()) {
    return false;
  }
  for (int64_t i = 1; i < slice.operand_count(); ++i) {
    if (!is_same(slice.operand(i), update.operand(i + 1))) return false;
  }
  return true;
}

// Whether all that is computed from the slice is the update, each element from its own.
bool LeadsToTheUpdateOnly(const HloInstruction& slice, const HloInstruction& update) {
  std::vector<const HloInstruction*> rest = {&slice};
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!rest.empty()) {
    const HloInstruction* next = rest.back();
    rest.pop_back();
    for (const HloInstruction* user : next->users()) {
      if (user == &update && absl::c_count(update.operands(), next) == 1 &&
          update.operand(1) == next) {
        continue;
      }
      if (user == &update || !IsElementwise(user->opcode()) ||
          user->shape().dimensions() != slice.shape().dimensions()) {
        return false;
      }
      if (seen.insert(user).second) rest.push_back(user);
    }
  }
  return true;
}

// The dynamic-update-slice that updates its parameter in place (rule 8); null if there is none.
const HloInstruction* InPlaceUpdateOf(const HloInstruction* root) {
  const HloInstruction* update = AboveBitcasts(root);
  if (update->opcode() != HloOpcode::kDynamicUpdateSlice) return nullptr;
  const HloInstruction* updated = update->operand(0);
  for (const HloInstruction* user : updated->users()) {
    if (user == update) {
      if (absl::c_count(update->operands(), updated) != 1) return nullptr;
    } else if (!SlicesWhatIsUpdated(*user, *update) || !LeadsToTheUpdateOnly(*user, *update)) {
      return nullptr;
    }
  }
  const HloInstruction* parameter = AboveBitcasts(updated);
  const bool is_ours = parameter->opcode() == HloOpcode::kParameter &&
                       (parameter == updated || parameter->uses().size() == 1);
  return is_ours ? update : nullptr;
}

}  // namespace

const HloInstruction* UpdatedParameter(const HloInstruction& hero, int64_t leaf) {
  const bool is_scatter = hero.opcode() == HloOpcode::kScatter;
  if (!is_scatter && hero.opcode() != HloOpcode::kDynamicUpdateSlice) return nullptr;
  const HloInstruction* updated = AboveBitcasts(hero.operand(is_scatter ? leaf : 0));
  const bool is_alone = !is_scatter || updated->uses().size() == 1;
  return updated->opcode() == HloOpcode::kParameter && is_alone ? updated : nullptr;
}

namespace {

bool HaveAsManyElements(const Shape& a, const Shape& b) {
  const absl::StatusOr<int64_t> of_a = a.ElementCount();
  const absl::StatusOr<int64_t> of_b = b.ElementCount();
  return of_a.ok() && of_b.ok() && *of_a == *of_b;
}

// The position of the first root with a hero of a form, where those of all others are equal and the
// roots without have as many elements as what the first hero reads.
template <typename Form>
std::optional<size_t> FirstOfOneForm(
    const std::vector<RootOfFusion>& roots,
    absl::FunctionRef<std::optional<Form>(const HloInstruction&)> form_of) {
  std::optional<size_t> first;
  std::optional<Form> form;
  for (size_t i = 0; i < roots.size(); ++i) {
    const std::optional<Form> here = form_of(*roots[i].hero);
    if (!here) continue;
    if (form && !(*form == *here)) return std::nullopt;
    if (!form) first = i;
    form = here;
  }
  if (!first) return std::nullopt;
  const Shape& read = roots[*first].hero->operand(0)->shape();
  for (const RootOfFusion& root : roots) {
    if (!form_of(*root.hero) &&
        !HaveAsManyElements(root.root->shape().Leaf(root.root_leaf), read)) {
      return std::nullopt;
    }
  }
  return first;
}

}  // namespace

llvm::SmallVector<int64_t, 4> JoinedTranspose::result_sizes() const {
  llvm::SmallVector<int64_t, 4> sizes;
  for (const int64_t dim : permutation) sizes.push_back(operand_sizes[dim]);
  return sizes;
}

std::optional<JoinedTranspose> JoinTranspose(const HloInstruction& instruction) {
  const bool is_copy = instruction.opcode() == HloOpcode::kCopy;
  if (!is_copy && instruction.opcode() != HloOpcode::kTranspose) return std::nullopt;
  const Shape& operand = instruction.operand(0)->shape();
  if (!operand.HasElements()) return std::nullopt;
  const llvm::SmallVector<int64_t, 4> operand_order = MajorToMinor(operand);
  // The dimensions of the result by their positions in the operand's order.
  llvm::SmallVector<int64_t, 4> positions;
  for (const int64_t dim : MajorToMinor(instruction.shape())) {
    const int64_t operand_dim = is_copy ? dim : instruction.dimensions()[dim];
    positions.push_back(llvm::find(operand_order, operand_dim) - operand_order.begin());
  }
  // Neighbours in both orders are one: where each begins in the operand, and how large it is.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> joined;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t size = operand.dimension(operand_order[positions[i]]);
    if (i > 0 && positions[i] == positions[i - 1] + 1) {
      joined.back().second *= size;
    } else {
      joined.push_back({positions[i], size});
    }
  }
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> in_operand = joined;
  llvm::sort(in_operand);
  JoinedTranspose result;
  for (const auto& [position, size] : in_operand) result.operand_sizes.push_back(size);
  for (const auto& dim : joined) {
    result.permutation.push_back(llvm::find(in_operand, dim) - in_operand.begin());
  }
  return result;
}

std::optional<JoinedTranspose> TiledTransposeOf(const HloInstruction& instruction) {
  constexpr int64_t kLeastSize = 16;
  constexpr int64_t kLeastSizeOfLarge = 8;
  constexpr int64_t kLeastLarge = 64 * 128;
  std::optional<JoinedTranspose> joined = JoinTranspose(instruction);
  if (!joined || joined->permutation.size() < 2) return std::nullopt;
  const size_t rank = joined->permutation.size();
  if (joined->keeps_minor()) {
    constexpr int64_t kMostBytes = 8;
    constexpr int64_t kLeastBytes = 16;
    const int64_t width = CeilDiv(StorageBitWidth(instruction.shape().element_type()), 8);
    const int64_t minor = joined->operand_sizes.back();
    const int64_t next = std::min(joined->operand_sizes[rank - 2],
                                  joined->operand_sizes[joined->permutation[rank - 2]]);
    const bool is_small = minor <= kMostBytes / width;
    return is_small && next >= CeilDiv(kLeastBytes, width * minor) ? joined : std::nullopt;
  }
  const int64_t operand_minor = joined->operand_sizes.back();
  const int64_t result_minor = joined->operand_sizes[joined->permutation.back()];
  const int64_t least = std::min(operand_minor, result_minor);
  const bool is_large = least >= kLeastSizeOfLarge &&
                        std::max(operand_minor, result_minor) >= CeilDiv(kLeastLarge, least);
  return least >= kLeastSize || is_large ? joined : std::nullopt;
}

std::optional<JoinedReduction> ReductionOf(const HloInstruction& instruction, int64_t warp_size) {
  if (instruction.opcode() != HloOpcode::kReduce) return std::nullopt;
  const Shape& shape = instruction.operand(0)->shape();
  if (!shape.HasElements()) return std::nullopt;
  // Sizes of what is kept and what is reduced in turn, the major first.
  struct Part {
    bool is_reduced;
    int64_t size;
  };
  llvm::SmallVector<Part, 4> parts;
  for (const int64_t dim : MajorToMinor(shape)) {
    const bool is_reduced = absl::c_linear_search(instruction.dimensions(), dim);
    if (!parts.empty() && parts.back().is_reduced == is_reduced) {
      parts.back().size *= shape.dimension(dim);
    } else {
      parts.push_back({is_reduced, shape.dimension(dim)});
    }
  }
  if (parts.size() > 3 || llvm::none_of(parts, [](const Part& p) { return p.is_reduced; })) {
    return std::nullopt;
  }
  JoinedReduction joined;
  joined.is_of_rows = parts.back().is_reduced;
  joined.minor = parts.back().size;
  if (parts.size() > 1) joined.middle = parts[parts.size() - 2].size;
  if (parts.size() > 2) joined.major = parts.front().size;
  const int64_t column = joined.middle;
  const int64_t row = joined.minor;
  const bool is_worth_it =
      joined.is_of_rows
          ? row >= warp_size || warp_size % row == 0
          : !(column < warp_size || (column < 2 * warp_size && row < warp_size) ||
              (column < 4 * warp_size && row < 8) || (column < 8 * warp_size && row < 3));
  return is_worth_it ? std::optional(joined) : std::nullopt;
}

std::vector<RootOfFusion> RootsOfFusion(const HloComputation& computation) {
  std::vector<RootOfFusion> roots;
  // Instructions and the leaf that their first is, the last one next.
  std::vector<std::pair<const HloInstruction*, int64_t>> open;
  if (computation.root_instruction() != nullptr) {
    open.push_back({computation.root_instruction(), 0});
  }
  while (!open.empty()) {
    const auto [instruction, first_leaf] = open.back();
    open.pop_back();
    if (instruction->opcode() == HloOpcode::kTuple) {
      for (int64_t i = instruction->operand_count(); i-- > 0;) {
        open.push_back(
            {instruction->operand(i), first_leaf + instruction->shape().FirstLeafOfElement(i)});
      }
      continue;
    }
    for (int64_t leaf = 0; leaf < instruction->shape().LeafCount(); ++leaf) {
      if (!instruction->shape().Leaf(leaf).IsArray()) continue;
      roots.push_back({first_leaf + leaf, instruction, leaf, nullptr, 0});
      FindHero(&roots.back());
    }
  }
  return roots;
}

DecidedKind DecideKind(int64_t warp_size, std::vector<RootOfFusion>* roots) {
  const auto reduction = FirstOfOneForm<JoinedReduction>(
      *roots, [&](const HloInstruction& hero) { return ReductionOf(hero, warp_size); });
  if (reduction) return {EmitterKind::kReduction, *reduction};
  if (const auto transpose = FirstOfOneForm<JoinedTranspose>(*roots, TiledTransposeOf)) {
    return {EmitterKind::kTranspose, *transpose};
  }
  RootOfFusion& first = roots->front();
  const bool is_only = roots->size() == 1;
  if (first.root->opcode() == HloOpcode::kScatter &&
      absl::c_all_of(*roots, [&](const RootOfFusion& root) { return root.root == first.root; })) {
    return {EmitterKind::kScatter, 0};
  }
  constexpr int64_t kMaxPieces = 4;
  if (is_only && first.hero->opcode() == HloOpcode::kConcatenate &&
      first.hero->operand_count() <= kMaxPieces) {
    return {EmitterKind::kConcatenate, 0};
  }
  if (absl::c_all_of(
          *roots, [](const RootOfFusion& root) { return InPlaceUpdateOf(root.root) != nullptr; })) {
    for (RootOfFusion& root : *roots) root.hero = InPlaceUpdateOf(root.root);
    return {EmitterKind::kInPlaceUpdate, 0};
  }
  return {};
}

}  // namespace xla_indexing::internal
