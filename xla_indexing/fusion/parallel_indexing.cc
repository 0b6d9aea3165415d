#include "xla_indexing/fusion/parallel_indexing.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
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

// How many instructions a thread takes at a time, at least and at most. Pieces become smaller towards
// the end, because some instructions take a thousand times as long as others.
constexpr size_t kLeastPiece = 8;
constexpr size_t kGreatestPiece = 128;

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
  const MadeIndexing* made = nullptr;
  bool is_of_kind = false;
  std::atomic<bool> is_of_first_only = false;
};

// A table of kinds that several threads look up at the same time.
class KindTable {
 public:
  using Kinds = absl::node_hash_map<InstructionKind, IndexingOfKind, InstructionKindHash,
                                    InstructionKindEqual>;
  // Where the kind stands, for as long as this lives, and whether it is new.
  std::pair<Kinds::value_type*, bool> FindOrAdd(InstructionKind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [it, is_new] = kinds_.try_emplace(std::move(kind));
    return {&*it, is_new};
  }

 private:
  std::mutex mutex_;
  Kinds kinds_;
};

// What one thread works with, in cache lines of its own. It asks the table for each kind once.
struct alignas(64) IndexingThread {
  mlir::MLIRContext* context;
  std::deque<MadeIndexing> made = {};
  std::unique_ptr<SharedAnswers> shared = {};
  std::unique_ptr<CalledComputations> called = {};  // refers to `shared`
  // By what stands in the table.
  absl::flat_hash_map<absl::Span<const uint64_t>, const IndexingOfKind*> kinds = {};
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
    const size_t pieces = (results_.size() + kLeastPiece - 1) / kLeastPiece;
    const size_t count = std::clamp<size_t>(pieces, 1, threads_.size());
    const auto for_each_thread = [&](auto work) {
      ParallelFor(static_cast<int>(count), count, [&](size_t i) { work(threads_[i]); });
    };
    std::atomic<size_t> next = 0;
    for_each_thread([&](IndexingThread& thread) {
      thread.shared = std::make_unique<SharedAnswers>();
      thread.called = std::make_unique<CalledComputations>(thread.context, options_.fusion,
                                                           thread.shared.get());
      // The last instructions, which end the entry computation, are likely to be the largest.
      TakePieces(next, results_.size(),
                 [&](size_t later) { Find(results_.size() - 1 - later, thread); });
    });
    if (const std::vector<size_t> left = FindLeft(); !left.empty()) {
      std::atomic<size_t> next_left = 0;
      for_each_thread([&](IndexingThread& thread) {
        TakePieces(next_left, left.size(), [&](size_t i) { MakeOwn(left[i], thread); });
      });
    }
    GiveTo(receive);
    // Each thread frees what it has made, because memory that another thread frees cannot be had
    // without waiting for it.
    for_each_thread([](IndexingThread& thread) {
      thread.called.reset();
      thread = {.context = thread.context};
    });
  }

 private:
  // Where the maps of an instruction are; nowhere: it has none.
  struct Result {
    const MadeIndexing* own = nullptr;
    const IndexingOfKind* of_kind = nullptr;
  };

  // Calls `work(i)` for every i from `next` on that no other thread takes.
  template <typename Work>
  void TakePieces(std::atomic<size_t>& next, size_t count, Work work) const {
    for (size_t begin = next.load(); begin < count;) {
      const size_t piece = std::clamp((count - begin) / (kLeastPiece * threads_.size()),
                                      kLeastPiece, kGreatestPiece);
      const size_t end = std::min(count, begin + piece);
      if (!next.compare_exchange_weak(begin, end)) continue;
      for (size_t i = begin; i < end; ++i) work(i);
      begin = next.load();
    }
  }

  // The instructions that cannot share the maps of their kind, as was found when these were made.
  std::vector<size_t> FindLeft() const {
    std::vector<size_t> left;
    if (!may_be_left_) return left;
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
                                 : result.of_kind != nullptr ? *result.of_kind->made
                                                             : nothing;
      const MadeIndexing& to_input = options_.output_to_input ? made : nothing;
      const MadeIndexing& to_output = options_.input_to_output ? made : nothing;
      receive(
          {instructions_[i], made.context, to_input.output_to_input, to_output.input_to_output});
    }
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
    const auto [in_table, is_new] = kinds_.FindOrAdd(std::move(kind));
    IndexingOfKind* const of_kind = &in_table->second;
    thread.kinds.emplace(in_table->first, of_kind);
    if (!is_new) return share(of_kind);
    results_[i].of_kind = of_kind;
    const auto may_be_shared = [&](const absl::StatusOr<SharedIndexing>& entries) {
      return entries.ok() && (*entries == nullptr || AreOfKind(instruction, **entries, {}));
    };
    of_kind->first = i;
    of_kind->made = Make(i, thread);
    of_kind->is_of_kind = may_be_shared(of_kind->made->output_to_input) &&
                          may_be_shared(of_kind->made->input_to_output);
    of_kind->is_of_first_only.store(!of_kind->is_of_kind, std::memory_order_relaxed);
    if (!of_kind->is_of_kind) may_be_left_ = true;
  }

  void MakeOwn(size_t i, IndexingThread& thread) { results_[i].own = Make(i, thread); }

  const MadeIndexing* Make(size_t i, IndexingThread& thread) const {
    MadeIndexing& made = thread.made.emplace_back();
    made.context = thread.context;
    if (options_.output_to_input) {
      made.output_to_input = thread.called->EntriesOf(*instructions_[i], Direction::kOutputToInput);
    }
    if (options_.input_to_output) {
      made.input_to_output = thread.called->EntriesOf(*instructions_[i], Direction::kInputToOutput);
    }
    return &made;
  }

  const absl::Span<const HloInstruction* const> instructions_;
  const ParallelIndexingOptions& options_;
  std::vector<IndexingThread> threads_;
  KindTable kinds_;
  std::vector<Result> results_;
  std::atomic<bool> may_be_left_ = false;
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
  instructions.reserve(module.instruction_count());
  for (const HloComputation* computation : module.computations()) {
    instructions.insert(instructions.end(), computation->instructions().begin(),
                        computation->instructions().end());
  }
  return instructions;
}

}  // namespace xla_indexing
