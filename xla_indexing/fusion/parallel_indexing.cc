#include "xla_indexing/fusion/parallel_indexing.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "xla_indexing/base/parallel.h"
#include "xla_indexing/hlo/computation.h"

namespace xla_indexing {
namespace {

// As many instructions are worked on by one thread at a time: few, because some take a thousand
// times as long as others.
constexpr size_t kInstructionsPerPiece = 16;

class ParallelIndexer {
 public:
  ParallelIndexer(absl::Span<const HloInstruction* const> instructions,
                  const ParallelIndexingOptions& options,
                  absl::FunctionRef<void(IndexedInstruction)> receive)
      : instructions_(instructions),
        options_(options),
        receive_(receive),
        piece_count_((instructions.size() + kInstructionsPerPiece - 1) / kInstructionsPerPiece) {}

  // Works on pieces until none is left, and gives the receiver each when its turn has come. A
  // thread does that with its own, so that it is the thread that made maps which frees them: memory
  // that another one frees is not to be had without waiting for it.
  void Work(mlir::MLIRContext* context) {
    InstructionIndexer indexer(context, options_.fusion);
    std::deque<Piece> finished;
    for (size_t number = next_++; number < piece_count_; number = next_++) {
      finished.push_back({number, Analyse(number, context, indexer)});
      HandOver(&finished);
    }
    while (!finished.empty()) {
      WaitForTurnOf(finished.front().number);
      HandOver(&finished);
    }
  }

 private:
  struct Piece {
    size_t number = 0;
    std::vector<IndexedInstruction> results;
  };

  std::vector<IndexedInstruction> Analyse(size_t number, mlir::MLIRContext* context,
                                          InstructionIndexer& indexer) const {
    std::vector<IndexedInstruction> results;
    for (const HloInstruction* instruction :
         instructions_.subspan(number * kInstructionsPerPiece, kInstructionsPerPiece)) {
      IndexedInstruction& result = results.emplace_back();
      result.instruction = instruction;
      result.context = context;
      if (options_.output_to_input) result.output_to_input = indexer.OutputToInput(*instruction);
      if (options_.input_to_output) result.input_to_output = indexer.InputToOutput(*instruction);
    }
    return results;
  }

  // Gives the receiver the pieces whose turn it is. No other thread does so meanwhile: the next
  // turn is that of one of these pieces until it has been received.
  void HandOver(std::deque<Piece>* finished) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!finished->empty() && finished->front().number == turn_) {
      lock.unlock();
      for (IndexedInstruction& result : finished->front().results) receive_(std::move(result));
      finished->pop_front();
      lock.lock();
      ++turn_;
      turn_changed_.notify_all();
    }
  }

  void WaitForTurnOf(size_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == number; });
  }

  const absl::Span<const HloInstruction* const> instructions_;
  const ParallelIndexingOptions& options_;
  const absl::FunctionRef<void(IndexedInstruction)> receive_;
  const size_t piece_count_;
  std::atomic<size_t> next_ = 0;  // The piece that no thread has begun with.

  std::mutex mutex_;
  std::condition_variable turn_changed_;
  size_t turn_ = 0;  // The piece that is received next; guarded by `mutex_`.
};

}  // namespace

void ComputeIndexingInParallel(absl::Span<const HloInstruction* const> instructions,
                               absl::Span<mlir::MLIRContext* const> contexts,
                               const ParallelIndexingOptions& options,
                               absl::FunctionRef<void(IndexedInstruction)> receive) {
  ParallelIndexer indexer(instructions, options, receive);
  ParallelFor(static_cast<int>(contexts.size()), contexts.size(),
              [&](size_t i) { indexer.Work(contexts[i]); });
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
