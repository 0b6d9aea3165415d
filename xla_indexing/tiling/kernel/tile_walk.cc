#include "xla_indexing/tiling/kernel/tile_walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/chain/reindexing.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

int64_t TiledSize(int64_t size) { return size == Shape::kUnboundedSize ? kInt64Max : size; }

// The most operands of all reads together.
constexpr int64_t kMaxOperands = int64_t{1} << 22;

// Which contractions may share a loop: not those of a pass over these maxima.
struct LoopSharing {
  TiledLoops loops = TiledLoops::kSeparate;
  absl::flat_hash_set<const HloInstruction*> refused;
};

class TileTraversal {
 public:
  TileTraversal(const HloComputation& computation, HloIndexers& indexers,
                const LoopSharing& sharing)
      : computation_(computation),
        context_(indexers.context()),
        options_(indexers.options()),
        sharing_(sharing),
        indexer_(indexers.one_map()),
        budget_(options_.max_steps, /*steps_in_one_of_question=*/1) {}

  absl::Status Walk(std::vector<TilingRoot> roots, std::vector<TilingDimension> parallel);
  TileWalk Take();

  // The maxima of passes with a contraction that is not read through one exact map alone.
  std::vector<const HloInstruction*> ReadInSeveralWays() const;

  // Pairs of dimensions of different roots along which some instruction is read.
  std::vector<std::pair<int, int>> Links() const;

 private:
  struct Leaf {
    const HloInstruction* instruction;
    int64_t leaf;
  };

  // The entries of a leaf of an instruction's result: all entries at once may be as many as leaves of
  // the result times leaves of operands.
  absl::StatusOr<SharedIndexing> EntriesOf(const HloInstruction& instruction, int64_t leaf);
  // Marks the instructions that the roots need.
  void FindNeeded();
  // Gives contractions their dimensions.
  void FindLoops();
  // The contractions that share a loop.
  void FindPasses();
  // The leaf that tuples and their elements pass on.
  static Leaf Resolve(Leaf leaf);
  // The read of a leaf through this path, whose map is `map` where that is known already.
  absl::StatusOr<int> AddRead(Leaf leaf, Path path, std::optional<OperandIndexing> map);
  absl::StatusOr<int> AddWholeRead(Leaf leaf, std::string reason);
  // The reads of a leaf, and those of each hash of their maps, in ascending order.
  struct LeafReads {
    std::vector<int> all;
    absl::flat_hash_map<size_t, llvm::SmallVector<int, 1>> by_hash;
  };
  // Adds a read of this leaf.
  int NewRead(Leaf leaf, OperandIndexing map, Path path);
  absl::Status AddOperands(int read);
  // What elements are moved from: continues the chain. Marks the operands that this is done for.
  absl::Status AddReindexed(int index, llvm::SmallBitVector* is_done);
  // What is read through `first` and then the maps of the entry.
  absl::Status AddComposed(int index, const OperandIndexing& first, const IndexingEntry& entry);
  absl::Status Connect(int read, int64_t operand, int64_t operand_leaf, Path path,
                       std::optional<OperandIndexing> map);
  // The map to the step space of a contraction that is read through this one.
  OperandIndexing ToSteps(const TileRead& read) const;
  void FindRuntimes();

  const HloComputation& computation_;
  mlir::MLIRContext* context_;
  const FusionOptions& options_;
  const LoopSharing& sharing_;
  HloIndexer& indexer_;
  StepBudget budget_;  // compositions
  std::vector<OnePass> passes_;

  std::vector<TilingDimension> dims_;
  std::vector<TilingDimension> runtimes_;
  std::vector<TilingRoot> roots_;
  Shape space_;  // an array with these dimensions
  std::map<const HloInstruction*, std::vector<int>> loops_;
  std::vector<TileRead> reads_;
  std::vector<Path> paths_;  // of reads
  std::vector<int> root_reads_;
  // By position of the instruction.
  std::vector<std::vector<int>> reads_of_;
  absl::flat_hash_map<std::pair<const HloInstruction*, int64_t>, LeafReads> reads_of_leaf_;
  std::vector<bool> is_needed_;
  // The last entries that were asked for, which one read after another needs.
  struct Asked {
    const HloInstruction* instruction = nullptr;
    int64_t leaf = 0;
    SharedIndexing entries;
  };
  Asked asked_;
  int64_t num_operands_ = 0;  // of all reads
};

absl::StatusOr<SharedIndexing> TileTraversal::EntriesOf(const HloInstruction& instruction,
                                                        int64_t leaf) {
  if (asked_.instruction == &instruction && asked_.leaf == leaf) return asked_.entries;
  absl::StatusOr<SharedIndexing> entries =
      indexer_.Index(instruction, Direction::kOutputToInput, OperandLeaf{0, leaf});
  if (!entries.ok()) return entries.status();
  if (!ContractionLoops(instruction).empty()) {
    entries = SharedIndexing(std::make_shared<const InstructionIndexing>(
        ContractionSteps(instruction, **entries, context_, options_.indexing)));
  }
  asked_ = {&instruction, leaf, *entries};
  return asked_.entries;
}

void TileTraversal::FindNeeded() {
  const auto instructions = computation_.instructions();
  is_needed_.assign(instructions.size(), false);
  is_needed_[computation_.root_instruction()->index_in_computation()] = true;
  for (size_t i = instructions.size(); i-- > 0;) {
    if (!is_needed_[i]) continue;
    for (const HloInstruction* operand : instructions[i]->operands()) {
      is_needed_[operand->index_in_computation()] = true;
    }
  }
}

void TileTraversal::FindPasses() {
  std::vector<const HloInstruction*> needed;
  for (const HloInstruction* instruction : computation_.instructions()) {
    if (is_needed_[instruction->index_in_computation()]) needed.push_back(instruction);
  }
  passes_ = FindOnePasses(
      needed, [&](const HloInstruction& instruction) { return EntriesOf(instruction, 0); });
  llvm::erase_if(passes_, [&](const OnePass& pass) {
    return sharing_.refused.contains(pass.contractions.front());
  });
}

void TileTraversal::FindLoops() {
  const auto instructions = computation_.instructions();
  // The dimension of each pass, once one of its contractions has it.
  std::vector<int> dim_of_pass(passes_.size(), -1);
  // In the order of the users first, as the reads are.
  for (size_t i = instructions.size(); i-- > 0;) {
    if (!is_needed_[i]) continue;
    const llvm::SmallVector<int64_t, 2> sizes = ContractionLoops(*instructions[i]);
    if (sizes.empty()) continue;
    std::vector<int>& own = loops_[instructions[i]];
    const auto pass = llvm::find_if(passes_, [&](const OnePass& p) {
      return llvm::is_contained(p.contractions, instructions[i]);
    });
    int* shared = pass == passes_.end() ? nullptr : &dim_of_pass[pass - passes_.begin()];
    for (size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] == 1) {
        own.push_back(-1);
        continue;
      }
      if (shared != nullptr && *shared >= 0) {
        own.push_back(*shared);
        dims_[*shared].joined.push_back(
            {instructions[i], static_cast<int64_t>(k), std::string(instructions[i]->name())});
        continue;
      }
      if (shared != nullptr) *shared = static_cast<int>(dims_.size());
      own.push_back(static_cast<int>(dims_.size()));
      dims_.push_back({TilingDimension::Kind::kSequential, instructions[i], 0,
                       static_cast<int64_t>(k), sizes[k], ""});
    }
  }
}

TileTraversal::Leaf TileTraversal::Resolve(Leaf leaf) {
  while (true) {
    const HloInstruction& instruction = *leaf.instruction;
    if (instruction.opcode() == HloOpcode::kTuple) {
      int64_t operand = 0;
      while (leaf.leaf >= instruction.operand(operand)->shape().LeafCount()) {
        leaf.leaf -= instruction.operand(operand++)->shape().LeafCount();
      }
      leaf.instruction = instruction.operand(operand);
    } else if (instruction.opcode() == HloOpcode::kGetTupleElement) {
      const Shape& tuple = instruction.operand(0)->shape();
      for (int64_t i = 0; i < instruction.tuple_index(); ++i) {
        leaf.leaf += tuple.tuple_element(i).LeafCount();
      }
      leaf.instruction = instruction.operand(0);
    } else {
      return leaf;
    }
  }
}

int TileTraversal::NewRead(Leaf leaf, OperandIndexing map, Path path) {
  const auto number = static_cast<int>(reads_.size());
  reads_of_[leaf.instruction->index_in_computation()].push_back(number);
  LeafReads& of_leaf = reads_of_leaf_[{leaf.instruction, leaf.leaf}];
  of_leaf.all.push_back(number);
  of_leaf.by_hash[hash_value(map.map())].push_back(number);
  reads_.push_back({leaf.instruction, leaf.leaf, std::move(map), {}});
  paths_.push_back(std::move(path));
  return number;
}

absl::StatusOr<int> TileTraversal::AddWholeRead(Leaf leaf, std::string reason) {
  const Shape& shape = leaf.instruction->shape().Leaf(leaf.leaf);
  OperandIndexing whole = WholeTensorIndexing(space_, shape, std::move(reason), context_);
  LeafReads& known = reads_of_leaf_[{leaf.instruction, leaf.leaf}];
  for (const int i : known.by_hash[hash_value(whole.map())]) {
    if (OperandIndexing::IdenticalRelation(reads_[i].map, whole)) return i;
  }
  Path path(whole, shape);
  return NewRead(leaf, std::move(whole), std::move(path));
}

absl::StatusOr<int> TileTraversal::AddRead(Leaf leaf, Path path,
                                           std::optional<OperandIndexing> map) {
  leaf = Resolve(leaf);
  if (!map) map = path.Map(leaf.instruction->shape().Leaf(leaf.leaf));
  if (map->IsUnknown()) return AddWholeRead(leaf, map->label().reason);
  LeafReads& known = reads_of_leaf_[{leaf.instruction, leaf.leaf}];
  for (const int i : known.by_hash[hash_value(map->map())]) {
    // One that is exact may be that of another root.
    if (OperandIndexing::IdenticalRelation(reads_[i].map, *map) &&
        reads_[i].map.IsExact() == map->IsExact()) {
      return i;
    }
  }
  if (known.all.size() >= static_cast<size_t>(options_.max_maps)) {
    return AddWholeRead(leaf, absl::StrCat("whole tensor: more than ", options_.max_maps,
                                           " maps at ", leaf.instruction->name()));
  }
  return NewRead(leaf, *std::move(map), std::move(path));
}

absl::Status TileTraversal::Connect(int read, int64_t operand, int64_t operand_leaf, Path path,
                                    std::optional<OperandIndexing> map) {
  const HloInstruction& user = *reads_[read].instruction;
  const absl::StatusOr<int> found =
      AddRead({user.operand(operand), operand_leaf}, std::move(path), std::move(map));
  if (!found.ok()) return found.status();
  if (++num_operands_ > kMaxOperands) {
    return absl::ResourceExhaustedError(absl::StrCat("the tiles of ", computation_.name(),
                                                     " have more than ", kMaxOperands,
                                                     " operands, at ", user.name()));
  }
  reads_[read].operands.push_back({operand, operand_leaf, *found});
  return absl::OkStatus();
}

OperandIndexing TileTraversal::ToSteps(const TileRead& read) const {
  const IndexingMap& map = read.map.map();
  llvm::SmallVector<AffineExpr, 6> results(map.results());
  for (const int loop : read.loops) {
    results.push_back(loop < 0 ? mlir::getAffineConstantExpr(0, context_)
                               : mlir::getAffineDimExpr(loop, context_));
  }
  return internal::WithResults(read.map, results);
}

absl::Status TileTraversal::AddReindexed(int index, llvm::SmallBitVector* is_done) {
  const HloInstruction& instruction = *reads_[index].instruction;
  for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
    // What is reduced is a loop.
    if (!IsReindexing(instruction, operand) || instruction.opcode() == HloOpcode::kReduce) continue;
    const auto number = static_cast<unsigned>(operand);
    if (IsElementwise(instruction.opcode())) {
      is_done->set(number);
      absl::Status status = Connect(index, operand, 0, paths_[index], reads_[index].map);
      if (!status.ok()) return status;
      continue;
    }
    PathSet moved;
    if (paths_[index].Extend(instruction, operand, Direction::kOutputToInput, &moved) ==
        Reindexed::kRefused) {
      continue;
    }
    is_done->set(number);
    for (const Path& path : moved.paths()) {
      absl::Status status = Connect(index, operand, 0, path, std::nullopt);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status TileTraversal::AddComposed(int index, const OperandIndexing& first,
                                        const IndexingEntry& entry) {
  const HloInstruction& instruction = *reads_[index].instruction;
  const Shape& to = instruction.operand(entry.operand)->shape().Leaf(entry.operand_leaf);
  if (!to.IsArray()) return absl::OkStatus();
  for (const OperandIndexing& step : entry.indexing) {
    if (!budget_.Take(1)) {
      return absl::ResourceExhaustedError(absl::StrCat("finding the tiles of ", computation_.name(),
                                                       " takes more than ", options_.max_steps,
                                                       " steps"));
    }
    absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, step);
    if (!composed.ok()) {
      composed = WholeTensorIndexing(
          space_, to, absl::StrCat("whole tensor: ", composed.status().message()), context_);
    }
    composed->Simplify();
    if (composed->IsKnownEmpty()) continue;
    absl::Status status =
        Connect(index, entry.operand, entry.operand_leaf, Path(*composed, to), *composed);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TileTraversal::AddOperands(int index) {
  const HloInstruction& instruction = *reads_[index].instruction;
  const auto loops = loops_.find(&instruction);
  const bool is_contraction = loops != loops_.end();
  if (is_contraction) reads_[index].loops = loops->second;
  if (instruction.operand_count() == 0) return absl::OkStatus();
  const absl::StatusOr<SharedIndexing> entries = EntriesOf(instruction, reads_[index].leaf);
  if (!entries.ok()) return entries.status();
  reads_[index].entries = *entries;
  llvm::SmallBitVector is_done(static_cast<unsigned>(instruction.operand_count()));
  if (!is_contraction) {
    absl::Status status = AddReindexed(index, &is_done);
    if (!status.ok()) return status;
  }
  if (is_done.all()) return absl::OkStatus();
  const OperandIndexing first = is_contraction ? ToSteps(reads_[index]) : reads_[index].map;
  for (const IndexingEntry& entry : **entries) {
    if (is_done[static_cast<unsigned>(entry.operand)]) continue;
    absl::Status status = AddComposed(index, first, entry);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void TileTraversal::FindRuntimes() {
  for (const TileRead& read : reads_) {
    for (const RuntimeVarIndexing& binding : read.map.bindings()) {
      const auto is_known = [&](const TilingDimension& dim) {
        return dim.owner == binding.instruction && dim.leaf == binding.leaf;
      };
      if (llvm::any_of(runtimes_, is_known)) continue;
      const std::optional<int64_t> size = binding.ValueRange().Size();
      runtimes_.push_back({TilingDimension::Kind::kRuntime, binding.instruction, binding.leaf, 0,
                           size.value_or(kInt64Max), absl::StrCat("rt", runtimes_.size())});
    }
  }
}

absl::Status TileTraversal::Walk(std::vector<TilingRoot> roots,
                                 std::vector<TilingDimension> parallel) {
  const HloInstruction& root = *computation_.root_instruction();
  roots_ = std::move(roots);
  dims_ = std::move(parallel);
  const size_t num_parallel = dims_.size();
  FindNeeded();
  if (sharing_.loops == TiledLoops::kOnePass) FindPasses();
  FindLoops();
  const size_t num_sequential = dims_.size() - num_parallel;
  llvm::SmallVector<int64_t, 6> sizes;
  for (size_t i = 0; i < dims_.size(); ++i) {
    dims_[i].name = i < num_parallel     ? absl::StrCat("d", i)
                    : num_sequential > 1 ? absl::StrCat("k", i - num_parallel)
                                         : "k";
    // A root without elements has one tile in the maps, so that other roots have theirs, and none in
    // the grid.
    sizes.push_back(dims_[i].size == kInt64Max ? Shape::kUnboundedSize
                                               : std::max<int64_t>(dims_[i].size, 1));
  }
  space_ = Shape::Array(ElementType::kF32, sizes);
  reads_of_.assign(computation_.instructions().size(), {});
  const OperandIndexing identity = IdentityIndexing(space_, context_);
  for (const TilingRoot& tiled : roots_) {
    llvm::SmallVector<AffineExpr, 4> results;
    for (const int dim : tiled.dims) results.push_back(mlir::getAffineDimExpr(dim, context_));
    const auto affine_map = mlir::AffineMap::get(dims_.size(), 0, results, context_);
    OperandIndexing start(
        kPartsFit, IndexingMap(kPartsFit, affine_map, Variables(identity.map().dims()), {}, {}));
    start.Simplify();
    const absl::StatusOr<int> read =
        AddRead({&root, tiled.leaf}, Path(start, root.shape().Leaf(tiled.leaf)), start);
    if (!read.ok()) return read.status();
    root_reads_.push_back(*read);
  }
  for (size_t i = reads_of_.size(); i-- > 0;) {
    // Operands come before their users, so that all reads of the instruction are there.
    const std::vector<int> own = reads_of_[i];
    for (const int read : own) {
      absl::Status status = AddOperands(read);
      if (!status.ok()) return status;
    }
  }
  FindRuntimes();
  return absl::OkStatus();
}

std::vector<const HloInstruction*> TileTraversal::ReadInSeveralWays() const {
  std::vector<const HloInstruction*> maxima;
  for (const OnePass& pass : passes_) {
    const bool has_one_each =
        llvm::all_of(pass.contractions, [&](const HloInstruction* contraction) {
          const std::vector<int>& own = reads_of_[contraction->index_in_computation()];
          return own.size() == 1 && reads_[own[0]].map.IsExact();
        });
    if (!has_one_each) maxima.push_back(pass.contractions.front());
  }
  return maxima;
}

std::vector<std::pair<int, int>> TileTraversal::Links() const {
  std::vector<int> root_of_dim(dims_.size(), -1);
  for (size_t r = roots_.size(); r-- > 0;) {
    for (const int dim : roots_[r].dims) root_of_dim[dim] = static_cast<int>(r);
  }
  const auto dim_of = [&](const OperandIndexing& map, int result) {
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(map.map().results()[result]);
    const int position = dim ? static_cast<int>(dim.getPosition()) : -1;
    return position >= 0 && root_of_dim[position] >= 0 ? position : -1;
  };
  std::vector<std::pair<int, int>> links;
  for (const std::vector<int>& own : reads_of_) {
    for (const int i : own) {
      const TileRead& a = reads_[i];
      const std::vector<int>& of_leaf = reads_of_leaf_.at({a.instruction, a.leaf}).all;
      for (auto j = std::upper_bound(of_leaf.begin(), of_leaf.end(), i); j != of_leaf.end(); ++j) {
        const TileRead& b = reads_[*j];
        for (int result = 0; result < a.map.map().num_results(); ++result) {
          const int x = dim_of(a.map, result);
          const int y = dim_of(b.map, result);
          if (x < 0 || y < 0 || root_of_dim[x] == root_of_dim[y]) continue;
          if (dims_[x].size != dims_[y].size) continue;
          links.emplace_back(std::min(x, y), std::max(x, y));
        }
      }
    }
  }
  return links;
}

TileWalk TileTraversal::Take() {
  // Users come first: later instructions before earlier ones.
  std::vector<int> order(reads_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return reads_[a].instruction->index_in_computation() >
           reads_[b].instruction->index_in_computation();
  });
  std::vector<int> new_index(reads_.size());
  for (size_t i = 0; i < order.size(); ++i) new_index[order[i]] = static_cast<int>(i);
  for (std::vector<TilingDimension>* dims : {&dims_, &runtimes_}) {
    for (TilingDimension& dim : *dims) {
      dim.owner_name = std::string(dim.owner->name());
      dim.is_of_tuple = !dim.owner->shape().IsArray();
    }
  }
  TileWalk walk{TilingSpace(dims_, runtimes_, roots_), {}, {}, std::move(passes_)};
  for (const int read : order) {
    walk.reads.push_back(std::move(reads_[read]));
    for (TileReadOperand& operand : walk.reads.back().operands)
      operand.read = new_index[operand.read];
  }
  for (const int read : root_reads_) walk.roots.push_back(new_index[read]);
  return walk;
}

// The roots of a computation and their parallel dimensions.
struct TiledRoots {
  std::vector<TilingRoot> roots;
  std::vector<TilingDimension> dims;
};

// Roots of equal dimensions share them.
TiledRoots TiledRootsOf(const HloInstruction& root) {
  TiledRoots tiled;
  std::vector<TilingRoot>& roots = tiled.roots;
  for (int64_t leaf = 0; leaf < root.shape().LeafCount(); ++leaf) {
    const Shape& shape = root.shape().Leaf(leaf);
    if (!shape.IsArray()) continue;
    TilingRoot& added = roots.emplace_back();
    added.leaf = leaf;
    const auto alike = std::find_if(roots.begin(), roots.end() - 1, [&](const TilingRoot& other) {
      return root.shape().Leaf(other.leaf).dimensions() == shape.dimensions();
    });
    if (alike != roots.end() - 1) {
      added.dims = alike->dims;
      continue;
    }
    for (int64_t i = 0; i < shape.rank(); ++i) {
      added.dims.push_back(static_cast<int>(tiled.dims.size()));
      tiled.dims.push_back(
          {TilingDimension::Kind::kParallel, &root, leaf, i, TiledSize(shape.dimension(i)), ""});
    }
  }
  return tiled;
}

// Whether a root has one dimension twice, where each dimension stands for another one.
bool HasDimensionTwice(llvm::ArrayRef<TilingRoot> roots, const std::vector<int>& stands_for) {
  return llvm::any_of(roots, [&](const TilingRoot& tiled) {
    llvm::SmallVector<int, 8> own;
    for (const int dim : tiled.dims) own.push_back(stands_for[dim]);
    llvm::sort(own);
    return std::adjacent_find(own.begin(), own.end()) != own.end();
  });
}

// Makes one dimension of each pair that is linked, unless a root would then have it twice.
void LinkDimensions(llvm::ArrayRef<std::pair<int, int>> links, TiledRoots* tiled) {
  // Each dimension stands for itself, or for an earlier one of another root.
  std::vector<int> stands_for(tiled->dims.size());
  std::iota(stands_for.begin(), stands_for.end(), 0);
  for (const auto& [to, from] : links) {
    if (stands_for[from] != from || stands_for[to] == from) continue;
    const std::vector<int> before = stands_for;
    for (int& dim : stands_for) {
      if (dim == from) dim = stands_for[to];
    }
    if (HasDimensionTwice(tiled->roots, stands_for)) stands_for = before;
  }
  std::vector<TilingDimension> linked;
  std::vector<int> renumbered(tiled->dims.size(), -1);
  for (size_t i = 0; i < tiled->dims.size(); ++i) {
    if (stands_for[i] != static_cast<int>(i)) continue;
    renumbered[i] = static_cast<int>(linked.size());
    linked.push_back(tiled->dims[i]);
  }
  for (TilingRoot& root : tiled->roots) {
    for (int& dim : root.dims) dim = renumbered[stands_for[dim]];
  }
  tiled->dims = std::move(linked);
}

// Walks twice where roots have dimensions in common, the second time with these as one.
absl::StatusOr<std::unique_ptr<TileTraversal>> Traverse(const HloComputation& computation,
                                                        HloIndexers& indexers,
                                                        const LoopSharing& sharing,
                                                        TiledRoots tiled) {
  auto traversal = std::make_unique<TileTraversal>(computation, indexers, sharing);
  absl::Status status = traversal->Walk(tiled.roots, tiled.dims);
  if (!status.ok()) return status;
  const std::vector<std::pair<int, int>> links = traversal->Links();
  if (links.empty()) return traversal;
  LinkDimensions(links, &tiled);
  traversal = std::make_unique<TileTraversal>(computation, indexers, sharing);
  status = traversal->Walk(std::move(tiled.roots), std::move(tiled.dims));
  if (!status.ok()) return status;
  return traversal;
}

}  // namespace

absl::StatusOr<TileWalk> WalkTiles(const HloComputation& computation, HloIndexers& indexers,
                                   TiledLoops loops) {
  if (absl::Status status = VerifyModule(*computation.parent()); !status.ok()) return status;
  const QuestionBudget question;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", computation.name(), " has no root"));
  }
  const TiledRoots tiled = TiledRootsOf(*root);
  if (tiled.roots.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the root ", root->name(), " of ", computation.name(), " has no array"));
  }
  LoopSharing sharing{loops, {}};
  while (true) {
    auto traversal = Traverse(computation, indexers, sharing, tiled);
    if (!traversal.ok()) return traversal.status();
    const std::vector<const HloInstruction*> maxima = (*traversal)->ReadInSeveralWays();
    if (maxima.empty()) return (*traversal)->Take();
    // Without some passes others may be read in several ways: then without any.
    if (!sharing.refused.empty()) sharing.loops = TiledLoops::kSeparate;
    sharing.refused.insert(maxima.begin(), maxima.end());
  }
}

}  // namespace xla_indexing::internal
