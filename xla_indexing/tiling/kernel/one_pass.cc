#include "xla_indexing/tiling/kernel/one_pass.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/text/parts/float_format.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"

namespace xla_indexing::internal {
namespace {

// Operations on the way from a contraction to an exponential, or from there to the maximum.
constexpr int kMaxWay = 64;
constexpr int kMaxMaxima = 64;

bool IsFloat(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && IsFloatingPoint(instruction.shape().element_type());
}

bool IsMove(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kCopy:
      return true;
    case HloOpcode::kBitcast:
      return instruction.shape().element_type() == instruction.operand(0)->shape().element_type();
    default:
      return false;
  }
}

// Whether all elements are -inf.
bool IsLowest(const HloInstruction& instruction) {
  const HloInstruction* constant = &instruction;
  while (IsMove(*constant)) constant = constant->operand(0);
  const Literal* literal = constant->literal();
  return literal != nullptr && literal->ElementCount() == 1 && IsFloat(*constant) &&
         literal->BitsAt(0) == EncodeInfinity(constant->shape().element_type(), /*negative=*/true);
}

// Whether each value of a floating-point type is one of another.
bool HoldsAll(ElementType type, ElementType of) {
  return type == of || (StorageBitWidth(of) >= 16 && StorageBitWidth(type) > StorageBitWidth(of));
}

// Whether an instruction converts to numbers that a caller takes for those that are converted.
using KeepsValues = llvm::function_ref<bool(const HloInstruction& conversion)>;

bool IsExactConversion(const HloInstruction& conversion) {
  return HoldsAll(conversion.shape().element_type(), conversion.operand(0)->shape().element_type());
}

// The operand that an instruction moves, or gives unchanged: JAX takes the maximum of a maximum and -inf.
std::optional<int64_t> MovedOperand(const HloInstruction& instruction, KeepsValues keeps) {
  if (IsMove(instruction)) return 0;
  if (instruction.opcode() == HloOpcode::kConvert) {
    const bool is_kept =
        IsFloat(instruction) && IsFloat(*instruction.operand(0)) && keeps(instruction);
    return is_kept ? std::optional<int64_t>(0) : std::nullopt;
  }
  if (instruction.opcode() != HloOpcode::kMaximum) return std::nullopt;
  if (IsLowest(*instruction.operand(0))) return 1;
  return IsLowest(*instruction.operand(1)) ? std::optional<int64_t>(0) : std::nullopt;
}

// Whether all elements are 1.
bool IsOne(const HloInstruction& instruction) {
  const HloInstruction* constant = &instruction;
  while (IsMove(*constant)) constant = constant->operand(0);
  const Literal* literal = constant->literal();
  return literal != nullptr && literal->ElementCount() == 1 && IsFloat(*constant) &&
         literal->BitsAt(0) == EncodeFloat(constant->shape().element_type(), 1);
}

bool IsZero(const HloInstruction& instruction) {
  const Literal* literal = instruction.literal();
  if (literal == nullptr || literal->ElementCount() != 1) return false;
  // All bits of a positive zero are 0.
  return literal->BitsAt(0) == 0;
}

// The position of the one loop with more than one step; nullopt if there are several, or none.
std::optional<int> LoopOf(const HloInstruction& contraction) {
  const llvm::SmallVector<int64_t, 2> sizes = ContractionLoops(contraction);
  std::optional<int> loop;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (loop || sizes[i] == 0) return std::nullopt;
    loop = static_cast<int>(i);
  }
  return loop;
}

// The opcode of a reduction of one array by a single operation; none for others.
std::optional<HloOpcode> ReducerOf(const HloInstruction& instruction) {
  const bool is_reduction = instruction.opcode() == HloOpcode::kReduce ||
                            instruction.opcode() == HloOpcode::kReduceWindow;
  if (!is_reduction || instruction.operand_count() != 2) return std::nullopt;
  const HloComputation* reducer = instruction.to_apply();
  if (reducer == nullptr || reducer->parameters().size() != 2) return std::nullopt;
  const HloInstruction* root = reducer->root_instruction();
  if (root == nullptr || root->operand_count() != 2) return std::nullopt;
  const HloInstruction* a = reducer->parameter(0);
  const HloInstruction* b = reducer->parameter(1);
  const bool combines_both = (root->operand(0) == a && root->operand(1) == b) ||
                             (root->operand(0) == b && root->operand(1) == a);
  return combines_both ? std::optional(root->opcode()) : std::nullopt;
}

std::optional<TileCombiner> CombinerOfOpcode(HloOpcode opcode) {
  using Neutral = TileCombiner::Neutral;
  switch (opcode) {
    case HloOpcode::kAdd:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return TileCombiner{opcode, Neutral::kZero};
    case HloOpcode::kMultiply:
      return TileCombiner{opcode, Neutral::kOne};
    case HloOpcode::kMaximum:
      return TileCombiner{opcode, Neutral::kLowest};
    case HloOpcode::kMinimum:
      return TileCombiner{opcode, Neutral::kGreatest};
    case HloOpcode::kAnd:
      return TileCombiner{opcode, Neutral::kAllOnes};
    default:
      return std::nullopt;
  }
}

// One group: the maximum, and what is recognised of the instructions after it.
class Recognizer {
 public:
  Recognizer(const HloInstruction& maximum, int loop, EntriesOfLeaf entries_of)
      : maximum_(maximum), loop_(loop), entries_of_(entries_of) {
    found_.contractions.push_back(&maximum);
    depends_.insert(&maximum);
  }

  OnePass Run(absl::Span<const HloInstruction* const> after,
              const absl::flat_hash_set<const HloInstruction*>& taken);

 private:
  // What an accumulator needs, as it is found on the way from it.
  struct Found {
    std::vector<OnePass::Rescale> rescales;
    std::vector<const HloInstruction*> movers;
    // Whether it is the sum of the exponentials themselves.
    bool is_plain = true;
  };

  bool Depends(const HloInstruction* instruction) const { return depends_.contains(instruction); }
  // The one exact map by which an instruction reads an operand, as a function; none otherwise.
  std::optional<OperandIndexing> MapTo(const HloInstruction& instruction, int64_t operand) const;
  // `at` followed by that map.
  std::optional<OperandIndexing> Follow(const OperandIndexing& at,
                                        const HloInstruction& instruction, int64_t operand) const;
  // The instruction that an operand's moves and conversions lead to, with the map to it.
  std::optional<std::pair<const HloInstruction*, OperandIndexing>> SourceOf(
      const OperandIndexing& at, const HloInstruction& user, int64_t operand, KeepsValues keeps,
      std::vector<const HloInstruction*>* movers = nullptr) const;
  // A map from an accumulator's elements and steps as one from its elements; nullopt if it depends
  // on the steps.
  static std::optional<IndexingMap> WithoutSteps(const OperandIndexing& at, int64_t rank);

  bool Recognize(const HloInstruction& contraction, Found* found) const;
  // The factor that the exponential is in; nullopt where the other one depends on the maximum, unless it is
  // the reciprocal of a divisor.
  std::optional<int64_t> FollowFactor(const HloInstruction& accumulator,
                                      const HloInstruction& product,
                                      const std::optional<OperandIndexing>& at, Found* found) const;
  bool FollowExponent(const HloInstruction& accumulator, int loop, const HloInstruction& exponent,
                      const OperandIndexing& at, Found* found) const;
  // Whether `division` is its operand `dividend` divided by a sum, or times the reciprocal of one.
  bool FollowDivisor(const HloInstruction& accumulator, const HloInstruction& division,
                     int64_t dividend, const OperandIndexing& at, Found* found) const;

  const HloInstruction& maximum_;
  const int loop_;  // of the maximum, among its loops
  EntriesOfLeaf entries_of_;
  OnePass found_;
  absl::flat_hash_set<const HloInstruction*> depends_;  // on the maximum
  // Those of the group that are sums of the exponentials.
  absl::flat_hash_set<const HloInstruction*> divisors_;
};

std::optional<OperandIndexing> Recognizer::MapTo(const HloInstruction& instruction,
                                                 int64_t operand) const {
  const absl::StatusOr<SharedIndexing> entries = entries_of_(instruction);
  if (!entries.ok()) return std::nullopt;
  for (const IndexingEntry& entry : **entries) {
    if (entry.operand != operand) continue;
    if (entry.output_leaf != 0 || entry.operand_leaf != 0 || entry.indexing.size() != 1) break;
    const OperandIndexing& map = *entry.indexing.begin();
    if (!map.IsExact() || map.map().num_symbols() > 0 || map.replica_map() != nullptr) break;
    return map;
  }
  return std::nullopt;
}

std::optional<OperandIndexing> Recognizer::Follow(const OperandIndexing& at,
                                                  const HloInstruction& instruction,
                                                  int64_t operand) const {
  const std::optional<OperandIndexing> map = MapTo(instruction, operand);
  if (!map) return std::nullopt;
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(at, *map);
  if (!composed.ok() || !composed->IsExact()) return std::nullopt;
  composed->Simplify();
  return *std::move(composed);
}

std::optional<std::pair<const HloInstruction*, OperandIndexing>> Recognizer::SourceOf(
    const OperandIndexing& at, const HloInstruction& user, int64_t operand, KeepsValues keeps,
    std::vector<const HloInstruction*>* movers) const {
  std::optional<OperandIndexing> reached = Follow(at, user, operand);
  const HloInstruction* source = user.operand(operand);
  for (int way = 0; reached; ++way) {
    const std::optional<int64_t> moved = MovedOperand(*source, keeps);
    if (!moved) return std::pair(source, *std::move(reached));
    if (way == kMaxWay) return std::nullopt;
    if (movers != nullptr) movers->push_back(source);
    reached = Follow(*reached, *source, *moved);
    source = source->operand(*moved);
  }
  return std::nullopt;
}

std::optional<IndexingMap> Recognizer::WithoutSteps(const OperandIndexing& at, int64_t rank) {
  const IndexingMap& map = at.map();
  if (!map.constraints().empty() || map.num_symbols() > 0) return std::nullopt;
  for (const mlir::AffineExpr result : map.results()) {
    for (int i = static_cast<int>(rank); i < map.num_dims(); ++i) {
      if (result.isFunctionOfDim(i)) return std::nullopt;
    }
  }
  const auto affine_map = mlir::AffineMap::get(rank, 0, map.results(), map.context());
  return IndexingMap(kPartsFit, affine_map, Variables(map.dims().take_front(rank)), {}, {});
}

bool Recognizer::FollowExponent(const HloInstruction& accumulator, int loop,
                                const HloInstruction& exponent, const OperandIndexing& at,
                                Found* found) const {
  if (exponent.opcode() != HloOpcode::kSubtract || !IsFloat(exponent)) return false;
  if (Depends(exponent.operand(0))) return false;
  const auto scores = SourceOf(at, exponent, 0, IsExactConversion);
  if (!scores) return false;
  // The maximum of converted numbers is one of them, and none is lost where it is converted back.
  const ElementType type = scores->first->shape().element_type();
  const auto keeps_maximum = [&](const HloInstruction& conversion) {
    return IsExactConversion(conversion) ||
           (HoldsAll(conversion.shape().element_type(), type) && IsLowest(*maximum_.operand(1)));
  };
  const auto moved = SourceOf(at, exponent, 1, keeps_maximum, &found->movers);
  if (!moved || moved->first != &maximum_) return false;
  const int64_t rank = accumulator.shape().rank();
  std::optional<IndexingMap> elements = WithoutSteps(moved->second, rank);
  if (!elements) return false;
  // The maximum at the accumulator's step, and the element that it has there.
  llvm::SmallVector<mlir::AffineExpr, 6> results(moved->second.map().results());
  mlir::MLIRContext* context = elements->context();
  const size_t num_loops = ContractionLoops(maximum_).size();
  for (size_t i = 0; i < num_loops; ++i) {
    results.push_back(static_cast<int>(i) == loop_ ? mlir::getAffineDimExpr(rank + loop, context)
                                                   : mlir::getAffineConstantExpr(0, context));
  }
  const auto of_maximum =
      SourceOf(WithResults(moved->second, results), maximum_, 0, IsExactConversion);
  if (!of_maximum || of_maximum->first != scores->first ||
      !OperandIndexing::IdenticalRelation(of_maximum->second, scores->second)) {
    return false;
  }
  found->rescales.push_back(
      {&accumulator, &maximum_, TileRescale::Kind::kMaximum, *std::move(elements), nullptr});
  return true;
}

bool Recognizer::FollowDivisor(const HloInstruction& accumulator, const HloInstruction& division,
                               int64_t dividend, const OperandIndexing& at, Found* found) const {
  // To no fewer bits than the quotient has.
  const int64_t bits = StorageBitWidth(division.shape().element_type());
  const auto is_as_wide = [&](const HloInstruction& conversion) {
    return StorageBitWidth(conversion.shape().element_type()) >= bits;
  };
  auto moved = SourceOf(at, division, 1 - dividend, is_as_wide);
  if (moved && division.opcode() == HloOpcode::kMultiply) {
    const HloInstruction& reciprocal = *moved->first;
    if (reciprocal.opcode() != HloOpcode::kDivide || !IsOne(*reciprocal.operand(0))) return false;
    moved = SourceOf(moved->second, reciprocal, 1, is_as_wide);
  }
  if (!moved || !divisors_.contains(moved->first) || !found->rescales.empty()) return false;
  std::optional<IndexingMap> elements = WithoutSteps(moved->second, accumulator.shape().rank());
  if (!elements) return false;
  found->rescales.push_back({&accumulator, moved->first, TileRescale::Kind::kDivisor,
                             *std::move(elements), &division, dividend});
  return true;
}

std::optional<int64_t> Recognizer::FollowFactor(const HloInstruction& accumulator,
                                                const HloInstruction& product,
                                                const std::optional<OperandIndexing>& at,
                                                Found* found) const {
  for (const int64_t factor : {0, 1}) {
    if (!Depends(product.operand(1 - factor))) return factor;
  }
  if (product.opcode() == HloOpcode::kDot) return std::nullopt;
  for (const int64_t factor : {0, 1}) {
    if (FollowDivisor(accumulator, product, factor, *at, found)) return factor;
  }
  return std::nullopt;
}

bool Recognizer::Recognize(const HloInstruction& contraction, Found* found) const {
  const bool is_dot = contraction.opcode() == HloOpcode::kDot;
  const bool is_sum = contraction.opcode() == HloOpcode::kReduce &&
                      ReducerOf(contraction) == HloOpcode::kAdd && IsZero(*contraction.operand(1));
  if ((!is_dot && !is_sum) || !IsFloat(contraction)) return false;
  const std::optional<int> loop = LoopOf(contraction);
  if (!loop || ContractionLoops(contraction)[*loop] != ContractionLoops(maximum_)[loop_]) {
    return false;
  }
  const HloInstruction* user = &contraction;
  std::optional<OperandIndexing> at;
  for (int way = 0; way < kMaxWay; ++way) {
    // The operand that the exponential is in, which alone depends on the maximum.
    int64_t operand = 0;
    switch (user->opcode()) {
      case HloOpcode::kDot:
      case HloOpcode::kMultiply:
        if (user->opcode() == HloOpcode::kDot && user != &contraction) return false;
        if (const auto factor = FollowFactor(contraction, *user, at, found)) {
          operand = *factor;
          found->is_plain = false;
          break;
        }
        return false;
      case HloOpcode::kReduce:
        if (user != &contraction) return false;
        break;
      case HloOpcode::kDivide:
        if (Depends(user->operand(1)) && !FollowDivisor(contraction, *user, 0, *at, found)) {
          return false;
        }
        [[fallthrough]];
      case HloOpcode::kNegate:
        found->is_plain = false;
        break;
      case HloOpcode::kConvert:
        break;
      case HloOpcode::kExponential:
        at = Follow(*at, *user, 0);
        return at && FollowExponent(contraction, *loop, *user->operand(0), *at, found);
      default:
        if (!IsMove(*user)) return false;
    }
    at = at ? Follow(*at, *user, operand) : MapTo(*user, operand);
    user = user->operand(operand);
    if (!at || !Depends(user) || !IsFloat(*user)) return false;
  }
  return false;
}

OnePass Recognizer::Run(absl::Span<const HloInstruction* const> after,
                        const absl::flat_hash_set<const HloInstruction*>& taken) {
  for (const HloInstruction* instruction : after) {
    const bool depends = llvm::any_of(
        instruction->operands(), [&](const HloInstruction* operand) { return Depends(operand); });
    if (!depends) continue;
    depends_.insert(instruction);
    Found found;
    if (taken.contains(instruction) || !Recognize(*instruction, &found)) continue;
    found_.contractions.push_back(instruction);
    if (found.is_plain) divisors_.insert(instruction);
    found_.movers.insert(found.movers.begin(), found.movers.end());
    llvm::move(found.rescales, std::back_inserter(found_.rescales));
  }
  return std::move(found_);
}

}  // namespace

std::optional<TileCombiner> CombinerOf(const HloInstruction& contraction) {
  switch (contraction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot:
    case HloOpcode::kRaggedDot:
    case HloOpcode::kConvolution:
      return TileCombiner{};
    default: {
      const std::optional<HloOpcode> reducer = ReducerOf(contraction);
      return reducer ? CombinerOfOpcode(*reducer) : std::nullopt;
    }
  }
}

std::vector<OnePass> FindOnePasses(absl::Span<const HloInstruction* const> instructions,
                                   EntriesOfLeaf entries_of) {
  std::vector<OnePass> passes;
  absl::flat_hash_set<const HloInstruction*> taken;
  int maxima = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const HloInstruction& maximum = *instructions[i];
    if (maximum.opcode() != HloOpcode::kReduce || taken.contains(&maximum) || !IsFloat(maximum) ||
        ReducerOf(maximum) != HloOpcode::kMaximum) {
      continue;
    }
    const std::optional<int> loop = LoopOf(maximum);
    if (!loop || ++maxima > kMaxMaxima) continue;
    OnePass pass = Recognizer(maximum, *loop, entries_of).Run(instructions.subspan(i + 1), taken);
    if (pass.contractions.size() < 2) continue;
    taken.insert(pass.contractions.begin(), pass.contractions.end());
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace xla_indexing::internal
