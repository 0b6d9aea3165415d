// Answers about computations, for all computations that say the same.
//
// What a walk over a computation finds depends on what the computation says: opcodes, attributes,
// shapes with their layouts, which operand is which instruction, what the computations say that it
// calls, and how many devices the module has. It does not depend on names, metadata and the module
// that the computation is in. So every *content* gets a number, equal contents the same one, and an
// answer is kept under it. Contents are compared word by word.
//
// Bindings name instructions. Those that an answer names are kept by their *places*: the positions
// of the callers and of the instruction, each in the computation that it is in. The answer about
// another computation of the content names the instructions at the same places there. Answers are
// therefore good for as long as this lives, also where the modules that they were found in do not.
//
// Where a reason names instructions of the computation, or names decide the order of a set, the answer
// is that about the computations in which these names are those of the same instructions, such as
// views of one fusion. Computations of more than kMaxInstructions instructions, or with a constant of
// more than 1,024 elements, are equal to themselves only.
//
// Memory. There are at most kMaxMaps maps and answers and kMaxWords words of contents together with
// what was found last; when there are more, all is forgotten (Forget()).
//
// Example: { p = f32[4,8] parameter(0), ROOT t = f32[8,4] transpose(p), dimensions={1,0} } has the
// number of { a = f32[4,8] parameter(0), ROOT b = f32[8,4] transpose(a), dimensions={1,0} }.
#ifndef XLA_INDEXING_FUSION_INTERNAL_SHARED_ANSWERS_H_
#define XLA_INDEXING_FUSION_INTERNAL_SHARED_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/internal/passed_values.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {

class SharedAnswers {
 public:
  static constexpr int64_t kMaxInstructions = 4096;
  // Whether the contents of what the computation calls are of use.
  static bool MayBeShared(const HloComputation& computation) {
    return computation.instruction_count() <= kMaxInstructions &&
           computation.root_instruction() != nullptr;
  }

  // What is known of the content of a computation.
  struct Content {
    uint64_t number = 0;
    // Whether no other computation has the number.
    bool is_own = false;
    // Whether maps may have bindings.
    bool may_bind = true;
  };
  // The content of a computation; `known` gives that of one that it calls. What callers pass is a part
  // of it where there is a loop, whose maps depend on it (ops/internal/passed_values.h).
  Content ContentOf(const HloComputation& computation,
                    llvm::function_ref<const Content&(const HloComputation&)> known,
                    PassedValues& passed);
  // A number that nothing else has.
  uint64_t OwnNumber() { return next_number_++; }

  // What was asked about a content.
  struct Question {
    uint64_t content = 0;
    Direction direction = Direction::kOutputToInput;
    // Where the walk starts; none: everywhere.
    std::optional<OperandLeaf> from;
    int levels_left = 0;
    // Whether the computation is called, and then whether as the body or the condition of a loop.
    bool is_called = false;
    bool is_of_loop = false;
    bool tightest = false;

    template <typename H>
    friend H AbslHashValue(H h, const Question& q) {
      const OperandLeaf from = q.from.value_or(OperandLeaf{-1, -1});
      return H::combine(std::move(h), q.content, q.direction, from.operand, from.operand_leaf,
                        q.levels_left, q.is_called, q.is_of_loop, q.tightest);
    }
    friend bool operator==(const Question& a, const Question& b) = default;
  };

  // The answer about this computation, which has the content. Null where there is none that says
  // it.
  SharedIndexing Find(const Question& question, const HloComputation& computation);
  bool IsKept(const Question& question) const { return answers_.contains(question); }
  // Keeps an answer, which was found for this computation.
  void Keep(const Question& question, const HloComputation& computation, SharedIndexing entries);

  // Whether entries about a computation, or about a call of it, say the same of all computations of
  // its content, but for what is bound: reasons name no instruction of it, and the order of maps
  // does not depend on what they name.
  bool AreSharedUpToNames(const InstructionIndexing& entries, const HloComputation& computation) {
    return NamesThatMatter(entries, computation).empty();
  }

  void CountMaps(const InstructionIndexing& entries);
  bool IsFull() const { return kept_maps_ > kMaxMaps || kept_words_ > kMaxWords; }
  // In how many steps all that is kept, here and by who asks, was made, at most.
  int64_t steps() const { return steps_; }
  void AddSteps(int64_t steps) { steps_ += steps; }

  // Forgets everything. Numbers are not given again.
  void Forget();
  // How often that was.
  int64_t times_forgotten() const { return times_forgotten_; }

 private:
  static constexpr size_t kMaxMaps = 50'000;
  static constexpr size_t kMaxWords = size_t{1} << 21;

  // The positions of callers and which of the computations of each is called, and the position of
  // the instruction.
  using Place = llvm::SmallVector<int32_t, 5>;
  // What has a name: for each of a computation and those below, the position of an instruction, or -1,
  // and whether the computation has it.
  using Positions = std::vector<std::pair<int64_t, bool>>;

  struct Answer {
    SharedIndexing entries;
    // For which computation of which module it was found.
    const HloComputation* computation = nullptr;
    int64_t module = 0;
    // Whether it says the same of every computation of the content in which these names are found at
    // the same positions.
    bool is_shared = false;
    std::vector<std::pair<std::string, Positions>> names;
    // One for each binding, in the order of the entries and their maps.
    std::vector<Place> places;
  };

  // The place of what a binding names; none where it is not below the computation.
  static std::optional<Place> PlaceOf(const RuntimeVarIndexing& binding,
                                      const HloComputation& computation);
  // Lets a binding name what is at the place.
  static void MoveTo(const HloComputation& computation, const Place& place,
                     RuntimeVarIndexing* binding);
  // The names, of this computation, those below and their instructions, that entries depend on.
  std::vector<std::string> NamesThatMatter(const InstructionIndexing& entries,
                                           const HloComputation& computation);
  const std::vector<std::string>& NamesIn(const std::string& reason,
                                          const HloComputation& computation);
  Positions PositionsOf(const std::string& name, const HloComputation& computation);
  uint64_t NumberOfShape(const Shape& shape);

  // Which instructions reasons name, of the computation that was looked at last and of those that it
  // calls.
  struct Reasons {
    const HloComputation* computation = nullptr;
    int64_t module = 0;
    std::vector<const HloComputation*> below;  // and itself
    absl::flat_hash_map<std::string, std::vector<std::string>> names;
  };
  Reasons& ReasonsOf(const HloComputation& computation);

  uint64_t next_number_ = 0;
  Reasons reasons_;
  absl::flat_hash_map<std::vector<uint64_t>, Content> contents_;
  absl::node_hash_map<Shape, uint64_t> shapes_;
  absl::flat_hash_map<Question, Answer> answers_;
  size_t kept_maps_ = 0;
  size_t kept_words_ = 0;
  int64_t steps_ = 0;
  int64_t times_forgotten_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_SHARED_ANSWERS_H_
