#include "xla_indexing/gpu/fusion_mapping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/gpu/threads/emitter_launch.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {
namespace {

using internal::ConcatenateMappings;
using internal::DecidedKind;
using internal::DecideKind;
using internal::EmitterLoop;
using internal::EmitterReduction;
using internal::JoinedTranspose;
using internal::ReductionLaunch;
using internal::ReductionOf;
using internal::ReductionReads;
using internal::ReductionWrites;
using internal::RootOfFusion;
using internal::RootsOfFusion;
using internal::TiledTransposeOf;
using internal::TransposeReads;
using internal::TransposeWrites;
using internal::Vectors;

// Each is walked to and from by itself.
constexpr int64_t kMaxRoots = 4096;

// Makes the mappings of one fusion.
class FusionMapper {
 public:
  FusionMapper(const HloComputation& computation, mlir::MLIRContext* context,
               const EmitterOptions& options)
      : computation_(computation), context_(context), options_(options) {}

  absl::StatusOr<FusionMapping> Map() && {
    const QuestionBudget question;
    const HloInstruction* result = computation_.root_instruction();
    const int64_t leaves = result == nullptr ? 0 : result->shape().LeafCount();
    if (leaves > kMaxRoots) {
      return absl::ResourceExhaustedError(absl::StrCat("computation '", computation_.name(),
                                                       "' computes ", leaves, " arrays, more than ",
                                                       kMaxRoots));
    }
    std::vector<RootOfFusion> roots = RootsOfFusion(computation_);
    if (roots.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "computation '", computation_.name(), "' computes no array that threads could go over"));
    }
    // With the budget spent, some heroes may not have been found.
    if (QuestionBudget::IsSpent()) return absl::ResourceExhaustedError(QuestionBudget::Reason());
    const DecidedKind decided = DecideKind(options_.warp_size, &roots);
    kind_ = decided.kind;
    const HloInstruction& hero = *roots[decided.root].hero;
    if (kind_ == EmitterKind::kReduction) {
      reduction_ =
          EmitterReduction(computation_, hero, *ReductionOf(hero, options_.warp_size), options_);
    } else if (kind_ == EmitterKind::kTranspose) {
      transpose_ = *TiledTransposeOf(hero);
    } else if (kind_ == EmitterKind::kLoop) {
      const RootOfFusion& first = roots.front();
      const absl::StatusOr<LoopOptions> loop =
          EmitterLoop(computation_, first.root->shape().Leaf(first.root_leaf),
                      Vectors::kWhereTheyPay, options_);
      if (!loop.ok()) return loop.status();
      loop_ = *loop;
    }
    FusionMapping mapping;
    mapping.computation = &computation_;
    mapping.kind = kind_;
    mapping.main_root = decided.root;
    for (const RootOfFusion& root : roots) {
      RootMapping of_root{root.output_leaf, root.root, root.root_leaf, root.root, {}, {}};
      if (absl::Status status = MapRoot(root, &of_root); !status.ok()) return status;
      if (kind_ == EmitterKind::kInPlaceUpdate || kind_ == EmitterKind::kScatter) {
        of_root.updated = internal::UpdatedParameter(*of_root.hero, root.root_leaf);
      }
      mapping.roots.push_back(std::move(of_root));
    }
    return mapping;
  }

 private:
  absl::Status MapRoot(const RootOfFusion& root, RootMapping* mapping) {
    const HloInstruction& hero = *root.hero;
    switch (kind_) {
      case EmitterKind::kReduction:
        if (!ReductionOf(hero, options_.warp_size)) break;
        return MapReduction(root, mapping);
      case EmitterKind::kTranspose:
        if (!TiledTransposeOf(hero)) break;
        return MapTranspose(hero, mapping);
      case EmitterKind::kConcatenate:
        return MapConcatenate(hero, mapping);
      case EmitterKind::kInPlaceUpdate:
        mapping->hero = &hero;
        return AddLoop(hero.operand(1), &mapping->reads, mapping);
      case EmitterKind::kScatter:
        mapping->hero = &hero;
        // Its operands are as many inputs as the result has arrays, the indices, and as many updates.
        return AddLoop(hero.operand(hero.operand_count() / 2 + 1 + root.root_leaf), &mapping->reads,
                       mapping);
      case EmitterKind::kLoop:
        break;
    }
    return MapWithoutHero(root, mapping);
  }

  absl::Status MapReduction(const RootOfFusion& root, RootMapping* mapping) {
    const HloInstruction& hero = *root.hero;
    mapping->hero = &hero;
    for (int64_t i = 0; i < hero.operand_count() / 2; ++i) {
      const HloInstruction* operand = hero.operand(i);
      absl::Status status =
          Add(operand, 0, ReductionReads(*reduction_, operand->shape(), context_), &mapping->reads);
      if (!status.ok()) return status;
    }
    return Add(&hero, root.hero_leaf, ReductionWrites(*reduction_, hero, root.hero_leaf, context_),
               &mapping->writes);
  }

  absl::Status MapTranspose(const HloInstruction& hero, RootMapping* mapping) {
    mapping->hero = &hero;
    const HloInstruction* operand = hero.operand(0);
    absl::Status status =
        Add(operand, 0, TransposeReads(*transpose_, operand->shape(), context_), &mapping->reads);
    status.Update(
        Add(&hero, 0, TransposeWrites(*transpose_, hero.shape(), context_), &mapping->writes));
    return status;
  }

  absl::Status MapConcatenate(const HloInstruction& hero, RootMapping* mapping) {
    mapping->hero = &hero;
    auto pieces = ConcatenateMappings(computation_, hero, options_, context_);
    if (!pieces.ok()) return pieces.status();
    for (int64_t i = 0; i < hero.operand_count(); ++i) {
      const HloInstruction* piece = hero.operand(i);
      // A piece that is there twice is read once.
      if (absl::c_any_of(mapping->reads,
                         [&](const ThreadedArray& array) { return array.instruction == piece; })) {
        continue;
      }
      absl::Status status = Add(piece, 0, (*pieces)[i], &mapping->reads);
      if (!status.ok()) return status;
    }
    mapping->writes = mapping->reads;
    return absl::OkStatus();
  }

  // The root of a loop, or one beside roots with a hero, whose threads read as those do.
  absl::Status MapWithoutHero(const RootOfFusion& root, RootMapping* mapping) {
    const Shape& shape = root.root->shape().Leaf(root.root_leaf);
    absl::StatusOr<ThreadMapping> threads =
        reduction_   ? ReductionReads(*reduction_, shape, context_)
        : transpose_ ? TransposeReads(*transpose_, shape, context_)
                     : RowMajorLoop(shape, loop_, context_);
    const absl::Status status = Add(root.root, root.root_leaf, std::move(threads), &mapping->reads);
    mapping->writes = mapping->reads;
    return status;
  }

  absl::Status AddLoop(const HloInstruction* array, std::vector<ThreadedArray>* arrays,
                       RootMapping* mapping) {
    const auto loop = EmitterLoop(computation_, array->shape(), Vectors::kNone, options_);
    if (!loop.ok()) return loop.status();
    const absl::Status status =
        Add(array, 0, RowMajorLoop(array->shape(), *loop, context_), arrays);
    mapping->writes = mapping->reads;
    return status;
  }

  static absl::Status Add(const HloInstruction* instruction, int64_t leaf,
                          absl::StatusOr<ThreadMapping> mapping,
                          std::vector<ThreadedArray>* arrays) {
    if (!mapping.ok()) return mapping.status();
    mapping->map.Simplify({.keep_variables = true});
    arrays->push_back({instruction, leaf, *std::move(mapping)});
    return absl::OkStatus();
  }

  const HloComputation& computation_;
  mlir::MLIRContext* context_;
  const EmitterOptions& options_;
  EmitterKind kind_ = EmitterKind::kLoop;
  std::optional<ReductionLaunch> reduction_;
  std::optional<JoinedTranspose> transpose_;
  LoopOptions loop_;
};

// From every element of an array to the only one of a scalar.
OperandIndexing ToScalar(const Shape& array, mlir::MLIRContext* context) {
  Variables dims;
  for (const int64_t size : array.dimensions()) dims.push_back({Interval::OfSize(size), {}});
  return OperandIndexing(kPartsFit,
                         IndexingMap(kPartsFit, mlir::AffineMap::get(array.rank(), 0, {}, context),
                                     std::move(dims), {}, {}));
}

// What a walk over the computation may take: an operand of an instruction may be looked for in all that
// the instruction calls.
int64_t StepsToWalk(const HloComputation& computation) {
  internal::Int128 steps = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    internal::Int128 called = 1;
    for (const HloComputation* callee : instruction->called_computations()) {
      called += callee->instruction_count();
    }
    steps += 1 + instruction->operand_count() * called;
  }
  return static_cast<int64_t>(std::min<internal::Int128>(steps, INT64_MAX));
}

class AccessCollector {
 public:
  AccessCollector(const FusionMapping& mapping, HloIndexers& indexers)
      : mapping_(mapping), indexer_(indexers.usual()), context_(indexers.context()) {}

  absl::StatusOr<FusionAccesses> Collect() && {
    const QuestionBudget question;
    for (const RootMapping& root : mapping_.roots) {
      for (const ThreadedArray& array : root.reads) {
        if (absl::Status status = AddReads(array, std::nullopt, *array.instruction, array.leaf);
            !status.ok()) {
          return status;
        }
      }
      is_after_exchange_ = mapping_.kind != EmitterKind::kLoop;
      if (absl::Status status = AddOfRoot(root); !status.ok()) return status;
      is_after_exchange_ = false;
    }
    for (auto& [leaf, accesses] : accesses_) {
      absl::c_move(accesses, std::back_inserter(result_.accesses));
    }
    return std::move(result_);
  }

 private:
  absl::StatusOr<const FusionView*> ViewOf(FusionView::Instructions from,
                                           const HloInstruction& root) {
    absl::StatusOr<FusionView> view = FusionView::Between(from, {&root});
    if (!view.ok()) return view.status();
    if (!QuestionBudget::Spend(StepsToWalk(view->computation()))) {
      return absl::ResourceExhaustedError(QuestionBudget::Reason());
    }
    result_.views.push_back(std::make_shared<const FusionView>(*std::move(view)));
    return result_.views.back().get();
  }

  // `before`, if there is one, followed by `set`.
  static absl::StatusOr<OperandIndexingSet> After(const std::optional<OperandIndexingSet>& before,
                                                  const OperandIndexingSet& set) {
    if (!before) return set;
    absl::StatusOr<OperandIndexingSet> composed = ComposeOperandIndexingSets(*before, set);
    if (composed.ok()) composed->Simplify();
    return composed;
  }

  void AddAccess(ThreadAccess::Kind kind, int64_t number, int64_t leaf, const ThreadedArray& array,
                 const Shape& accessed, OperandIndexingSet indexing) {
    if (indexing.empty() ||
        !known_.insert({kind, is_after_exchange_, number, leaf, array.mapping.map, indexing})
             .second) {
      return;
    }
    accesses_[{kind, number, leaf}].push_back(
        {kind, number, leaf, array, &accessed, std::move(indexing)});
  }

  // The reads of parameters, by the threads of `array`, for the elements of a leaf of `value`,
  // which `to_value` leads to from the array; without it they are the array's own.
  absl::Status AddReads(const ThreadedArray& array,
                        const std::optional<OperandIndexingSet>& to_value,
                        const HloInstruction& value, int64_t leaf) {
    const absl::StatusOr<const FusionView*> view = ViewOf({}, value);
    if (!view.ok()) return view.status();
    return AddReadsThrough(**view, array, to_value, leaf, {});
  }

  // Adds the maps of a view whose root is the value. The parameters that stand for `others` are
  // left out.
  absl::Status AddReadsThrough(const FusionView& view, const ThreadedArray& array,
                               const std::optional<OperandIndexingSet>& to_value, int64_t leaf,
                               FusionView::Instructions others) {
    const absl::StatusOr<SharedIndexing> entries =
        indexer_.Index(view.computation(), Direction::kOutputToInput, OperandLeaf{0, leaf});
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : **entries) {
      const HloInstruction* parameter = view.operand(entry.operand);
      if (absl::c_linear_search(others, parameter)) continue;
      absl::StatusOr<OperandIndexingSet> maps = After(to_value, entry.indexing);
      if (!maps.ok()) return maps.status();
      AddAccess(ThreadAccess::Kind::kRead, parameter->parameter_number(), entry.operand_leaf, array,
                parameter->shape().Leaf(entry.operand_leaf), *std::move(maps));
    }
    return absl::OkStatus();
  }

  // What the threads of write arrays read and write.
  absl::Status AddOfRoot(const RootMapping& root) {
    std::vector<const HloInstruction*> from;
    from.reserve(root.writes.size());
    for (const ThreadedArray& array : root.writes) from.push_back(array.instruction);
    const absl::StatusOr<const FusionView*> view = ViewOf(from, *root.root);
    if (!view.ok()) return view.status();
    for (const ThreadedArray& array : root.writes) {
      const std::optional<int64_t> parameter = (*view)->ParameterOf(*array.instruction);
      if (!parameter) continue;
      const absl::StatusOr<SharedIndexing> entries = indexer_.Index(
          (*view)->computation(), Direction::kInputToOutput, OperandLeaf{*parameter, array.leaf});
      if (!entries.ok()) return entries.status();
      OperandIndexingSet to_root;
      for (const IndexingEntry& entry : **entries) {
        if (entry.output_leaf == root.root_leaf) to_root.Add(entry.indexing);
      }
      if (absl::Status status = AddOthers(root, **view, from, array, to_root); !status.ok()) {
        return status;
      }
      AddAccess(ThreadAccess::Kind::kWrite, 0, root.output_leaf, array,
                root.root->shape().Leaf(root.root_leaf), std::move(to_root));
    }
    return absl::OkStatus();
  }

  // What the threads of a write array read beside the hero's operands that they go over.
  absl::Status AddOthers(const RootMapping& root, const FusionView& view,
                         FusionView::Instructions from, const ThreadedArray& array,
                         const OperandIndexingSet& to_root) {
    const HloInstruction& hero = *root.hero;
    const auto add_scalars = [&](int64_t first) -> absl::Status {
      const OperandIndexingSet to_scalar(ToScalar(array.shape(), context_));
      for (int64_t i = first; i < hero.operand_count(); ++i) {
        if (!hero.operand(i)->shape().IsScalar()) continue;
        if (auto status = AddReads(array, to_scalar, *hero.operand(i), 0); !status.ok()) {
          return status;
        }
      }
      return absl::OkStatus();
    };
    switch (mapping_.kind) {
      case EmitterKind::kLoop:
        return absl::OkStatus();
      case EmitterKind::kInPlaceUpdate:
        return add_scalars(2);
      case EmitterKind::kScatter:
        return AddIndices(view, array, to_root);
      case EmitterKind::kReduction:
        if (hero.opcode() == HloOpcode::kReduce && &hero == array.instruction) {
          if (auto status = add_scalars(hero.operand_count() / 2); !status.ok()) return status;
        }
        [[fallthrough]];
      case EmitterKind::kTranspose:
      case EmitterKind::kConcatenate:
        return AddReadsThrough(view, array, to_root, root.root_leaf, from);
    }
    return absl::OkStatus();
  }

  // What the runtime variables of a scatter's maps are read from.
  absl::Status AddIndices(const FusionView& view, const ThreadedArray& array,
                          const OperandIndexingSet& to_root) {
    for (const OperandIndexing& map : to_root) {
      for (int i = 0; i < map.map().num_runtimes(); ++i) {
        const RuntimeVarIndexing& binding = map.bindings()[i];
        IndexingMap element = map.ElementMap(i);
        const HloInstruction* indices = view.OriginalOf(*binding.instruction);
        if (indices == nullptr || element.num_runtimes() > 0) continue;
        const OperandIndexingSet to_indices(OperandIndexing(kPartsFit, std::move(element)));
        if (auto status = AddReads(array, to_indices, *indices, binding.leaf); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  const FusionMapping& mapping_;
  HloIndexer& indexer_;
  mlir::MLIRContext* context_;
  FusionAccesses result_;
  std::map<std::tuple<ThreadAccess::Kind, int64_t, int64_t>, std::vector<ThreadAccess>> accesses_;
  // What is read before values are exchanged is not kept for what comes after it.
  bool is_after_exchange_ = false;
  absl::flat_hash_set<
      std::tuple<ThreadAccess::Kind, bool, int64_t, int64_t, IndexingMap, OperandIndexingSet>>
      known_;
};

}  // namespace

absl::StatusOr<FusionMapping> MappingForFusion(const HloComputation& computation,
                                               mlir::MLIRContext* context,
                                               const EmitterOptions& options) {
  if (absl::Status status = options.Verify(); !status.ok()) return status;
  if (absl::Status status = VerifyModule(*computation.parent()); !status.ok()) return status;
  return FusionMapper(computation, context, options).Map();
}

absl::StatusOr<FusionAccesses> AccessesOf(const FusionMapping& mapping, HloIndexers& indexers) {
  return AccessCollector(mapping, indexers).Collect();
}

absl::StatusOr<FusionAccesses> AccessesOf(const FusionMapping& mapping, mlir::MLIRContext* context,
                                          const FusionOptions& options) {
  HloIndexers indexers(context, options);
  return AccessesOf(mapping, indexers);
}

absl::StatusOr<OperandIndexingSet> FromThreads(const ThreadAccess& access) {
  absl::StatusOr<OperandIndexingSet> composed = ComposeOperandIndexingSets(
      OperandIndexingSet(OperandIndexing(kPartsFit, access.array.mapping.map)), access.indexing);
  if (composed.ok()) composed->Simplify();
  return composed;
}

Interval FusionCoalescing::Sectors() const {
  Interval sum = Interval::Point(0);
  for (const AccessCoalescing& access : accesses) {
    for (const Coalescing& coalescing : access.coalescing) sum = sum.Add(coalescing.sectors);
  }
  return sum;
}

absl::StatusOr<FusionCoalescing> CoalescingOfFusion(const HloComputation& computation,
                                                    mlir::MLIRContext* context,
                                                    const EmitterOptions& emitter,
                                                    const CoalescingOptions& coalescing,
                                                    const FusionOptions& options) {
  HloIndexers indexers(context, options);
  return CoalescingOfFusion(computation, indexers, emitter, coalescing);
}

absl::StatusOr<FusionCoalescing> CoalescingOfFusion(const HloComputation& computation,
                                                    HloIndexers& indexers,
                                                    const EmitterOptions& emitter,
                                                    const CoalescingOptions& coalescing) {
  absl::StatusOr<FusionMapping> mapping =
      MappingForFusion(computation, indexers.context(), emitter);
  if (!mapping.ok()) return mapping.status();
  absl::StatusOr<FusionAccesses> accesses = AccessesOf(*mapping, indexers);
  if (!accesses.ok()) return accesses.status();
  FusionCoalescing result{*std::move(mapping), {}, std::move(accesses->views)};
  for (ThreadAccess& access : accesses->accesses) {
    const absl::StatusOr<CoalescingAnalysis> analysis =
        CoalescingAnalysis::Create(access.array.mapping, access.array.shape(), coalescing);
    if (!analysis.ok()) return analysis.status();
    AccessCoalescing of_access{std::move(access), {}};
    for (const OperandIndexing& map : of_access.access.indexing) {
      of_access.coalescing.push_back(analysis->OfReads(map, *of_access.access.accessed));
    }
    result.accesses.push_back(std::move(of_access));
  }
  return result;
}

}  // namespace xla_indexing
