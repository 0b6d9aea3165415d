#include "xla_indexing/fusion/parallel_indexing.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/base/internal/parallel.h"
#include "xla_indexing/fusion/internal/called_computations.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/ops/internal/instruction_kind.h"

namespace xla_indexing {
namespace {

using internal::AreOfKind;
using internal::CalledComputations;
using internal::InstructionKind;
using internal::InstructionKindEqual;
using internal::InstructionKindHash;
using internal::KindOf;
using internal::ParallelFor;
using internal::SharedAnswers;

// How many instructions a thread takes at a time. It is a small number, because some instructions
// take a thousand times as long as others.
constexpr size_t kInstructionsPerPiece = 8;

// The maps of one instruction; null where not asked for.
struct MadeIndexing {
  mlir::MLIRContext* context = nullptr;
  absl::StatusOr<SharedIndexing> output_to_input = SharedIndexing();
  absl::StatusOr<SharedIndexing> input_to_output = SharedIndexing();
};

// The maps of the first instruction of a kind that a thread has come to. Those who find it there
// may look into it when all threads are done, but for the last field.
struct IndexingOfKind {
  size_t first = 0;
  MadeIndexing made;
  bool is_of_kind = false;
  std::atomic<bool> is_of_first_only = false;
};

// A table of kinds that several threads look up at the same time.
class KindTable {
 public:
  struct Found {
    IndexingOfKind* indexing;
    bool is_new;
  };
  Found FindOrAdd(const InstructionKind& kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [it, is_new] = kinds_.try_emplace(kind);
    return {&it->second, is_new};
  }

  // Frees what was made in that context. Other threads may free what was made in others.
  void Free(const mlir::MLIRContext* context) {
    for (auto& [kind, of_kind] : kinds_) {
      if (of_kind.made.context == context) of_kind.made = MadeIndexing();
    }
  }

 private:
  std::mutex mutex_;
  absl::node_hash_map<InstructionKind, IndexingOfKind, InstructionKindHash, InstructionKindEqual>
      kinds_;
};

// What one thread works with. It asks the table for each kind once.
struct IndexingThread {
  mlir::MLIRContext* context;
  std::unique_ptr<SharedAnswers> shared = {};
  std::unique_ptr<CalledComputations> called = {};  // refers to `shared`
  absl::flat_hash_map<InstructionKind, const IndexingOfKind*, InstructionKindHash,
                      InstructionKindEqual>
      kinds = {};
};

class ParallelIndexer {
 public:
  ParallelIndexer(absl::Span<const HloInstruction* const> instructions,
                  absl::Span<mlir::MLIRContext* const> contexts,
                  const ParallelIndexingOptions& options)
      : instructions_(instructions), options_(options), results_(instructions.size()) {
    for (mlir::MLIRContext* context : contexts) threads_.push_back({.context = context});
  }

  void Run(absl::FunctionRef<void(const IndexedInstruction&)> receive) {
    const std::thread::id caller = std::this_thread::get_id();
    const size_t pieces = (results_.size() + kInstructionsPerPiece - 1) / kInstructionsPerPiece;
    const size_t count = std::clamp<size_t>(pieces, 1, threads_.size());
    std::atomic<size_t> next = 0;
    std::atomic<size_t> next_left = 0;
    std::vector<size_t> left;
    std::barrier are_found(static_cast<std::ptrdiff_t>(count),
                           [&]() noexcept { left = FindLeft(); });
    std::barrier are_ready(static_cast<std::ptrdiff_t>(count));
    std::barrier are_given(static_cast<std::ptrdiff_t>(count));
    ParallelFor(static_cast<int>(count), count, [&](size_t i) {
      IndexingThread& thread = threads_[i];
      thread.shared = std::make_unique<SharedAnswers>();
      thread.called = std::make_unique<CalledComputations>(thread.context, options_.fusion,
                                                           thread.shared.get());
      // The last instructions, which end the entry computation, are likely to be the largest.
      TakePieces(next, results_.size(),
                 [&](size_t later) { Find(results_.size() - 1 - later, thread); });
      are_found.arrive_and_wait();
      if (!left.empty()) {
        TakePieces(next_left, left.size(), [&](size_t i) { MakeOwn(left[i], thread); });
        are_ready.arrive_and_wait();
      }
      if (std::this_thread::get_id() == caller) GiveTo(receive);
      are_given.arrive_and_wait();
      Free(thread);
    });
  }

 private:
  // Where the maps of an instruction are; nowhere: it has none.
  struct Result {
    std::unique_ptr<MadeIndexing> own;
    const IndexingOfKind* of_kind = nullptr;
  };

  // Calls `work(i)` for every i from `next` on that no other thread takes.
  template <typename Work>
  static void TakePieces(std::atomic<size_t>& next, size_t count, Work work) {
    for (size_t begin = next.fetch_add(kInstructionsPerPiece); begin < count;
         begin = next.fetch_add(kInstructionsPerPiece)) {
      const size_t end = std::min(count, begin + kInstructionsPerPiece);
      for (size_t i = begin; i < end; ++i) work(i);
    }
  }

  // The instructions that cannot share the maps of their kind, as was found when these were made.
  std::vector<size_t> FindLeft() const {
    std::vector<size_t> left;
    for (size_t i = 0; i < results_.size(); ++i) {
      const IndexingOfKind* of_kind = results_[i].of_kind;
      if (of_kind != nullptr && !of_kind->is_of_kind && of_kind->first != i &&
          results_[i].own == nullptr) {
        left.push_back(i);
      }
    }
    return left;
  }

  void GiveTo(absl::FunctionRef<void(const IndexedInstruction&)> receive) const {
    const MadeIndexing nothing{threads_.front().context, NoEntries(), NoEntries()};
    for (size_t i = 0; i < results_.size(); ++i) {
      const Result& result = results_[i];
      const MadeIndexing& made = result.own != nullptr       ? *result.own
                                 : result.of_kind != nullptr ? result.of_kind->made
                                                             : nothing;
      const MadeIndexing& to_input = options_.output_to_input ? made : nothing;
      const MadeIndexing& to_output = options_.input_to_output ? made : nothing;
      receive(
          {instructions_[i], made.context, to_input.output_to_input, to_output.input_to_output});
    }
  }

  // Each thread frees what it has made, because memory that another thread frees cannot be had
  // without waiting for it.
  void Free(IndexingThread& thread) {
    for (Result& result : results_) {
      if (result.own != nullptr && result.own->context == thread.context) result.own.reset();
    }
    kinds_.Free(thread.context);
    thread.kinds = {};
    thread.called.reset();
    thread.shared.reset();
  }

  void Find(size_t i, IndexingThread& thread) {
    const HloInstruction& instruction = *instructions_[i];
    if (instruction.operands().empty()) return;
    InstructionKind kind = KindOf(instruction);
    if (kind.empty()) {
      MakeOwn(i, thread);
      return;
    }
    const auto share = [&](const IndexingOfKind* of_kind) {
      results_[i].of_kind = of_kind;
      // Where this is not set yet, it may be set later (FindLeft).
      if (of_kind->is_of_first_only.load(std::memory_order_relaxed)) MakeOwn(i, thread);
    };
    const auto known = thread.kinds.find(absl::Span<const uint64_t>(kind));
    if (known != thread.kinds.end()) return share(known->second);
    const auto [of_kind, is_new] = kinds_.FindOrAdd(kind);
    thread.kinds.emplace(std::move(kind), of_kind);
    if (!is_new) return share(of_kind);
    results_[i].of_kind = of_kind;
    const auto may_be_shared = [&](const absl::StatusOr<SharedIndexing>& entries) {
      return entries.ok() && (*entries == nullptr || AreOfKind(instruction, **entries, {}));
    };
    of_kind->first = i;
    of_kind->made = Make(i, thread);
    of_kind->is_of_kind = may_be_shared(of_kind->made.output_to_input) &&
                          may_be_shared(of_kind->made.input_to_output);
    of_kind->is_of_first_only.store(!of_kind->is_of_kind, std::memory_order_relaxed);
  }

  void MakeOwn(size_t i, const IndexingThread& thread) {
    results_[i].own = std::make_unique<MadeIndexing>(Make(i, thread));
  }

  MadeIndexing Make(size_t i, const IndexingThread& thread) const {
    MadeIndexing made;
    made.context = thread.context;
    if (options_.output_to_input) {
      made.output_to_input = thread.called->EntriesOf(*instructions_[i], Direction::kOutputToInput);
    }
    if (options_.input_to_output) {
      made.input_to_output = thread.called->EntriesOf(*instructions_[i], Direction::kInputToOutput);
    }
    return made;
  }

  const absl::Span<const HloInstruction* const> instructions_;
  const ParallelIndexingOptions& options_;
  std::vector<IndexingThread> threads_;
  KindTable kinds_;
  std::vector<Result> results_;
};

}  // namespace

void ComputeIndexingInParallel(absl::Span<const HloInstruction* const> instructions,
                               absl::Span<mlir::MLIRContext* const> contexts,
                               const ParallelIndexingOptions& options,
                               absl::FunctionRef<void(const IndexedInstruction&)> receive) {
  // There are few contexts, so that each is compared with all before it.
  for (size_t i = 0; i < contexts.size(); ++i) {
    Check(contexts[i] != nullptr && !absl::c_linear_search(contexts.first(i), contexts[i]),
          "ComputeIndexingInParallel() with a context that is null or there twice");
  }
  Check(!contexts.empty(), "ComputeIndexingInParallel() without a context");
  ParallelIndexer(instructions, contexts, options).Run(receive);
}

std::vector<const HloInstruction*> InstructionsOf(const HloModule& module) {
  std::vector<const HloInstruction*> instructions;
  for (const HloComputation* computation : module.computations()) {
    instructions.insert(instructions.end(), computation->instructions().begin(),
                        computation->instructions().end());
  }
  return instructions;
}

}  // namespace xla_indexing
