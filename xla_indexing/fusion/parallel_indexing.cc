#include "xla_indexing/fusion/parallel_indexing.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/fusion/cache/instruction_kind.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using internal::AreOfKind;
using internal::CalledComputations;
using internal::DecidesReads;
using internal::InstructionKind;
using internal::InstructionKindHash;
using internal::KindOf;
using internal::ParallelFor;

// How many instructions a thread takes at a time, at least and at most. Pieces become smaller towards
// the end, because some instructions take a thousand times as long as others.
constexpr size_t kLeastPiece = 8;
constexpr size_t kGreatestPiece = 128;

// As many instructions for each thread at least.
constexpr size_t kLeastOfThread = 128;

// Where maps are: which of the threads has made them, and the how manieth of its maps they are.
struct PlaceOfMaps {
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  uint32_t thread = 0;
  uint32_t index = kNowhere;  // of an instruction that has no maps
};

// The maps of the first instruction of a kind that a thread has come to, or of one that shares them
// with no other. Other threads may read the kind and the place once the table of kinds has them, and
// everything when all threads are done.
struct MadeIndexing {
  InstructionKind kind;
  PlaceOfMaps place;
  size_t instruction = 0;
  std::atomic<bool> is_of_first_only = false;
  bool is_of_kind = false;
  // Null if not asked for.
  absl::StatusOr<SharedIndexing> output_to_input = SharedIndexing();
  absl::StatusOr<SharedIndexing> input_to_output = SharedIndexing();
};

// A kind that is hashed once, for the tables of a thread and of all.
struct HashedKind {
  explicit HashedKind(absl::Span<const uint64_t> kind)
      : kind(kind), hash(InstructionKindHash()(kind)) {}

  template <typename H>
  friend H AbslHashValue(H h, const HashedKind& k) {
    return H::combine(std::move(h), k.hash);
  }
  friend bool operator==(const HashedKind& a, const HashedKind& b) {
    return a.hash == b.hash && a.kind == b.kind;
  }

  absl::Span<const uint64_t> kind;
  size_t hash;
};

using KindMap = absl::flat_hash_map<HashedKind, const MadeIndexing*>;

// A table of kinds that several threads look up at the same time.
class KindTable {
 public:
  // What stands there for the kind, which lives as long as this; `made` if nothing has.
  const MadeIndexing* FindOrAdd(const HashedKind& kind, const MadeIndexing* made) {
    // The lock is held for less time than it takes to put a thread to sleep and to wake it.
    while (is_held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    const MadeIndexing* const found = kinds_.try_emplace(kind, made).first->second;
    is_held_.clear(std::memory_order_release);
    return found;
  }

 private:
  std::atomic_flag is_held_;
  KindMap kinds_;
};

// What one thread works with, in cache lines of its own. It asks the table for each kind once.
struct alignas(64) IndexingThread {
  uint32_t number;
  mlir::MLIRContext* context;
  std::deque<MadeIndexing> made = {};
  std::unique_ptr<CalledComputations> called = {};
  KindMap kinds = {};
};

class ParallelIndexer {
 public:
  ParallelIndexer(absl::Span<const HloInstruction* const> instructions,
                  absl::Span<mlir::MLIRContext* const> contexts,
                  const ParallelIndexingOptions& options)
      : instructions_(instructions),
        options_(options),
        places_(std::make_unique_for_overwrite<PlaceOfMaps[]>(instructions.size())) {
    const size_t count = UsefulThreads(instructions, contexts.size());
    for (mlir::MLIRContext* context : contexts.first(count)) {
      threads_.push_back({.number = static_cast<uint32_t>(threads_.size()), .context = context});
    }
  }

  void Run(absl::FunctionRef<void(const IndexedInstruction&)> receive) {
    ForEachThread([&](IndexingThread& thread) {
      thread.called = std::make_unique<CalledComputations>(thread.context, options_.fusion);
    });
    // The last instructions, which end the entry computation, are likely to be the largest.
    ForEach(instructions_.size(), [&](size_t later, IndexingThread& thread) {
      const size_t i = instructions_.size() - 1 - later;
      places_[i] = Find(i, thread);
    });
    if (const std::vector<size_t> left = FindLeft(); !left.empty()) {
      ForEach(left.size(), [&](size_t i, IndexingThread& thread) {
        places_[left[i]] = MakeOwn(left[i], thread);
      });
    }
    // Each thread frees what it has made, because memory that another thread frees cannot be had
    // without waiting for it. None looks at what another one has made.
    ForEachThread([&](IndexingThread& thread) {
      GiveMapsOf(thread, receive);
      thread.called.reset();
      thread = {.number = thread.number, .context = thread.context};
    });
  }

 private:
  // Calls `work(i, thread)` for every i below `count`, each on one of the threads. Each begins with a
  // part of its own, where what follows one another lies side by side in memory, and continues with what
  // is left of the others.
  template <typename Work>
  void ForEach(size_t count, Work work) {
    struct alignas(64) Part {
      std::atomic<size_t> next;
      size_t end;
    };
    const size_t threads = threads_.size();
    std::vector<Part> parts(threads);
    for (size_t i = 0; i < threads; ++i) {
      parts[i].next = count * i / threads;
      parts[i].end = count * (i + 1) / threads;
    }
    ForEachThread([&](IndexingThread& thread) {
      for (size_t later = 0; later < threads; ++later) {
        Part& part = parts[(thread.number + later) % threads];
        for (size_t begin = part.next.load(); begin < part.end;) {
          const size_t piece =
              std::clamp((part.end - begin) / kLeastPiece, kLeastPiece, kGreatestPiece);
          const size_t end = std::min(part.end, begin + piece);
          if (!part.next.compare_exchange_weak(begin, end)) continue;
          for (size_t i = begin; i < end; ++i) work(i, thread);
          begin = part.next.load();
        }
      }
    });
  }

  template <typename Work>
  void ForEachThread(Work work) {
    ParallelFor(static_cast<int>(threads_.size()), threads_.size(),
                [&](size_t i) { work(threads_[i]); });
  }

  // The instructions that cannot share the maps of their kind, as was found when these were made.
  std::vector<size_t> FindLeft() const {
    std::vector<size_t> left;
    if (!may_be_left_) return left;
    for (size_t i = 0; i < instructions_.size(); ++i) {
      const PlaceOfMaps place = places_[i];
      if (place.index == PlaceOfMaps::kNowhere) continue;
      const MadeIndexing& made = threads_[place.thread].made[place.index];
      if (!made.is_of_kind && made.instruction != i) left.push_back(i);
    }
    return left;
  }

  void GiveMapsOf(const IndexingThread& thread,
                  absl::FunctionRef<void(const IndexedInstruction&)> receive) const {
    const absl::StatusOr<SharedIndexing> nothing = NoEntries();
    for (size_t i = 0; i < instructions_.size(); ++i) {
      const PlaceOfMaps place = places_[i];
      if (place.thread != thread.number) continue;
      const MadeIndexing* made =
          place.index == PlaceOfMaps::kNowhere ? nullptr : &thread.made[place.index];
      receive({.instruction = instructions_[i],
               .position = i,
               .thread = thread.number,
               .context = thread.context,
               .output_to_input =
                   made != nullptr && options_.output_to_input ? made->output_to_input : nothing,
               .input_to_output =
                   made != nullptr && options_.input_to_output ? made->input_to_output : nothing});
    }
  }

  PlaceOfMaps Find(size_t i, IndexingThread& thread) {
    const HloInstruction& instruction = *instructions_[i];
    if (instruction.operands().empty()) return {};
    if (!instruction.parent()->parent()->is_verified()) return MakeOwn(i, thread);
    const bool is_decided = options_.fusion.indexing.dependence != Dependence::kReads &&
                            DecidesReads(instruction.opcode());
    InstructionKind kind = KindOf(instruction);
    if (kind.empty() || is_decided) return MakeOwn(i, thread);
    const auto share = [&](const MadeIndexing& made) {
      // Where this is not set yet, it may be set later (FindLeft).
      return made.is_of_first_only.load(std::memory_order_relaxed) ? MakeOwn(i, thread)
                                                                   : made.place;
    };
    HashedKind hashed(kind);
    if (const auto known = thread.kinds.find(hashed); known != thread.kinds.end()) {
      return share(*known->second);
    }
    MadeIndexing& made = AddTo(thread, i);
    made.kind = std::move(kind);
    hashed.kind = made.kind;
    const MadeIndexing* const in_table = kinds_.FindOrAdd(hashed, &made);
    if (in_table != &made) {
      hashed.kind = in_table->kind;
      thread.made.pop_back();
      thread.kinds.emplace(hashed, in_table);
      return share(*in_table);
    }
    thread.kinds.emplace(hashed, &made);
    Make(thread, &made);
    const auto may_be_shared = [&](const absl::StatusOr<SharedIndexing>& entries) {
      return entries.ok() && (*entries == nullptr || AreOfKind(instruction, **entries));
    };
    made.is_of_kind = may_be_shared(made.output_to_input) && may_be_shared(made.input_to_output);
    made.is_of_first_only.store(!made.is_of_kind, std::memory_order_relaxed);
    if (!made.is_of_kind) may_be_left_ = true;
    return made.place;
  }

  PlaceOfMaps MakeOwn(size_t i, IndexingThread& thread) const {
    MadeIndexing& made = AddTo(thread, i);
    Make(thread, &made);
    return made.place;
  }

  static MadeIndexing& AddTo(IndexingThread& thread, size_t i) {
    MadeIndexing& made = thread.made.emplace_back();
    made.place = {thread.number, static_cast<uint32_t>(thread.made.size() - 1)};
    made.instruction = i;
    return made;
  }

  void Make(IndexingThread& thread, MadeIndexing* made) const {
    const HloInstruction& instruction = *instructions_[made->instruction];
    if (absl::Status status = VerifyModule(*instruction.parent()->parent()); !status.ok()) {
      made->output_to_input = made->input_to_output = std::move(status);
      return;
    }
    if (options_.output_to_input) {
      made->output_to_input = thread.called->EntriesOf(instruction, Direction::kOutputToInput);
    }
    if (options_.input_to_output) {
      made->input_to_output = thread.called->EntriesOf(instruction, Direction::kInputToOutput);
    }
  }

  const absl::Span<const HloInstruction* const> instructions_;
  const ParallelIndexingOptions& options_;
  std::vector<IndexingThread> threads_;
  KindTable kinds_;
  const std::unique_ptr<PlaceOfMaps[]> places_;
  std::atomic<bool> may_be_left_ = false;
};

// One for each thread.
absl::Status CheckContexts(absl::Span<mlir::MLIRContext* const> contexts) {
  // There are few contexts, so that each is compared with all before it.
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (contexts[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("context ", i, " of ", contexts.size(),
                                                     " is null: make one for each thread"));
    }
    const auto* const first = std::find(contexts.begin(), contexts.begin() + i, contexts[i]);
    if (first == contexts.begin() + i) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("contexts ", first - contexts.begin(), " and ", i,
                     " are one, which several threads cannot use: make one for each thread"));
  }
  if (!contexts.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("no context: make one for each thread");
}

}  // namespace

absl::Status ComputeIndexingInParallel(absl::Span<const HloInstruction* const> instructions,
                                       absl::Span<mlir::MLIRContext* const> contexts,
                                       const ParallelIndexingOptions& options,
                                       absl::FunctionRef<void(const IndexedInstruction&)> receive) {
  if (absl::Status status = CheckContexts(contexts); !status.ok()) return status;
  // Once, and not by each thread.
  const HloModule* last = nullptr;
  for (const HloInstruction* instruction : instructions) {
    if (const HloModule* module = instruction->parent()->parent(); module != last) {
      VerifyModule(*module).IgnoreError();
      last = module;
    }
  }
  ParallelIndexer(instructions, contexts, options).Run(receive);
  return absl::OkStatus();
}

absl::Status AskInParallel(size_t count, absl::Span<mlir::MLIRContext* const> contexts,
                           const FusionOptions& options,
                           absl::FunctionRef<void(size_t i, HloIndexers& indexers)> ask) {
  if (absl::Status status = CheckContexts(contexts); !status.ok()) return status;
  const size_t threads = std::min(contexts.size(), count);
  std::atomic<size_t> next = 0;
  ParallelFor(static_cast<int>(threads), threads, [&](size_t thread) {
    HloIndexers indexers(contexts[thread], options);
    for (size_t i = next++; i < count; i = next++) ask(i, indexers);
  });
  return absl::OkStatus();
}

size_t UsefulThreads(absl::Span<const HloInstruction* const> instructions, size_t most) {
  size_t count = instructions.size() / kLeastOfThread;
  for (const HloInstruction* instruction : instructions) {
    if (count >= most) break;
    const HloOpcode opcode = instruction->opcode();
    if (opcode == HloOpcode::kWhile || opcode == HloOpcode::kScan) ++count;
  }
  return std::clamp<size_t>(count, 1, std::max<size_t>(most, 1));
}

std::vector<const HloInstruction*> InstructionsOf(const HloModule& module) {
  std::vector<const HloInstruction*> instructions;
  instructions.reserve(module.instruction_count());
  for (const HloComputation* computation : module.computations()) {
    instructions.insert(instructions.end(), computation->instructions().begin(),
                        computation->instructions().end());
  }
  return instructions;
}

}  // namespace xla_indexing
