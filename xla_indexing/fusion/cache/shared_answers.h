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
// A loop shares its answers in the same way, also with loops in other computations. What its maps
// depend on is a *part* of its computation: the loop, and what its operands are computed of as far as
// values are followed (ops/values/element_value.h). Of what is behind that nothing is known but its
// shape, and its name is bound.
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
#ifndef XLA_INDEXING_FUSION_CACHE_SHARED_ANSWERS_H_
#define XLA_INDEXING_FUSION_CACHE_SHARED_ANSWERS_H_

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
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/passed_values.h"

namespace xla_indexing::internal {

class SharedAnswers {
 public:
  static constexpr int64_t kMaxInstructions = 4096;
  // Whether the contents of what the computation calls are of use.
  static bool MayBeShared(const HloComputation& computation) {
    return computation.instruction_count() <= kMaxInstructions &&
           computation.root_instruction() != nullptr;
  }

  // Instructions of one computation, in its order: all of them, or those that a loop's maps depend on.
  struct Part {
    explicit Part(const HloComputation& computation)
        : subject(&computation),
          computation(computation),
          instructions(computation.instructions()) {}
    Part(const HloInstruction& loop, absl::Span<const HloInstruction* const> instructions)
        : subject(&loop), computation(*loop.parent()), instructions(instructions) {}

    // The position of an instruction of the computation among them; nullopt if it is none of them.
    std::optional<int64_t> PositionOf(const HloInstruction& instruction) const;

    const void* subject;
    const HloComputation& computation;
    absl::Span<const HloInstruction* const> instructions;
  };
  // The instructions that the maps of a loop depend on, the loop among them; empty if these are too
  // many.
  static std::vector<const HloInstruction*> InstructionsBehind(const HloInstruction& loop);

  // What is known of the content of a computation or a loop.
  struct Content {
    uint64_t number = 0;
    // Whether no other computation has the number.
    bool is_own = false;
    // Whether maps may have bindings.
    bool may_bind = true;
  };
  // The content of a computation; `known` gives that of one that it calls. What callers pass is a part
  // of it where there is a loop, whose maps depend on it (ops/values/passed_values.h).
  using KnownContents = llvm::function_ref<const Content&(const HloComputation&)>;
  Content ContentOf(const HloComputation& computation, KnownContents known, PassedValues& passed);
  // The content of a loop with these instructions behind it.
  Content ContentOf(const HloInstruction& loop,
                    absl::Span<const HloInstruction* const> instructions, KnownContents known,
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

  // The answer about this part, which has the content. Null if there is none that says it.
  SharedIndexing Find(const Question& question, const Part& part);
  bool IsKept(const Question& question) const { return answers_.contains(question); }
  // Keeps an answer, which was found for this part.
  void Keep(const Question& question, const Part& part, SharedIndexing entries);

  // Whether entries about a computation, or about a call of it, say the same of all computations of
  // its content, but for what is bound: reasons name no instruction of it.
  bool AreSharedUpToNames(const InstructionIndexing& entries, const HloComputation& computation) {
    return NamesInReasons(entries, Part(computation)).empty();
  }

  void CountMaps(const InstructionIndexing& entries);
  bool IsFull() const { return kept_maps_ > kMaxMaps || kept_words_ > kMaxWords; }
  // In how many steps all that is kept, here and by who asks, was made, at most.
  int64_t steps() const { return steps_; }
  void AddSteps(int64_t steps) { steps_ += steps; }

  // The budget (QuestionBudget::Number()) that was spent, so that what is kept may be too weak for
  // questions of others; 0 for none.
  int64_t cut_by() const { return cut_by_; }
  void SetCutBy(int64_t number) { cut_by_ = number; }

  // Forgets everything. Numbers are not given again.
  void Forget();
  // How often that was.
  int64_t times_forgotten() const { return times_forgotten_; }

 private:
  static constexpr size_t kMaxMaps = 50'000;
  static constexpr size_t kMaxWords = size_t{1} << 21;

  // The positions of callers and which of the computations of each is called, and the position of
  // the instruction; the first of them in the part.
  using Place = llvm::SmallVector<int32_t, 5>;
  // What has a name: for a part and each of the computations below, the position of an instruction, or
  // -1, and whether the computation has it.
  using Positions = std::vector<std::pair<int64_t, bool>>;

  struct Answer {
    SharedIndexing entries;
    // For which computation or loop of which module it was found.
    const void* subject = nullptr;
    int64_t module = 0;
    // Whether it says the same of everything of the content in which these names are found at
    // the same positions.
    bool is_shared = false;
    std::vector<std::pair<std::string, Positions>> names;
    // One for each binding, in the order of the entries and their maps.
    std::vector<Place> places;
  };

  // The place of what a binding names; nullopt if it is not of the part or below.
  static std::optional<Place> PlaceOf(const RuntimeVarIndexing& binding, const Part& part);
  // Lets a binding name what is at the place.
  static void MoveTo(const Part& part, const Place& place, RuntimeVarIndexing* binding);
  // The names, of this part, the computations below and their instructions, that reasons contain.
  std::vector<std::string> NamesInReasons(const InstructionIndexing& entries, const Part& part);
  const std::vector<std::string>& NamesIn(const std::string& reason, const Part& part);
  Positions PositionsOf(const std::string& name, const Part& part);
  // The content of a part about `subject`: all of a computation, or a loop and what is behind it.
  Content ContentOf(const Part& part, uint64_t subject, bool is_whole, KnownContents known,
                    PassedValues& passed);
  uint64_t NumberOfShape(const Shape& shape);

  // Which instructions reasons name, of the part that was looked at last and of the computations that
  // it calls.
  struct Reasons {
    const void* subject = nullptr;
    int64_t module = 0;
    std::vector<const HloComputation*> below;
    absl::flat_hash_map<std::string, std::vector<std::string>> names;
  };
  Reasons& ReasonsOf(const Part& part);

  uint64_t next_number_ = 0;
  Reasons reasons_;
  absl::flat_hash_map<std::vector<uint64_t>, Content> contents_;
  absl::node_hash_map<Shape, uint64_t> shapes_;
  absl::flat_hash_map<Question, Answer> answers_;
  size_t kept_maps_ = 0;
  size_t kept_words_ = 0;
  int64_t steps_ = 0;
  int64_t cut_by_ = 0;
  int64_t times_forgotten_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_SHARED_ANSWERS_H_
