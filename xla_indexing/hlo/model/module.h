// An HLO module: its computations, one of them the entry, and the attributes of its header.
//
// A module owns everything in it in one arena: instructions, computations, names, shapes, literals.
// Pointers to them are good while the module lives. It is built once, by the parser or with
// AddComputation and AddInstruction. Questions are answered about valid modules only: they verify the
// module (hlo/verify/verifier.h) unless that was done since it was changed for the last time.
//
// Example, `p = f32[4] parameter(0), ROOT n = f32[4] negate(p)`:
//
//   HloModule module("m");
//   HloComputation* main = module.AddComputation("main");
//   const Shape shape = Shape::Array(ElementType::kF32, {4});
//   HloInstruction* p = main->AddParameter(0, "p", shape);
//   main->AddInstruction(HloOpcode::kNegate, "n", shape, {p});

#ifndef XLA_INDEXING_HLO_MODEL_MODULE_H_
#define XLA_INDEXING_HLO_MODEL_MODULE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/metadata.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

namespace internal {
class Arena;
class InstructionParser;
class ModuleParser;
class StackFrameTables;
}  // namespace internal

// The text that modules were parsed from; shared by the modules of one file.
struct SourceText {
  std::string filename;
  std::string text;
};

// An attribute of the module's header, kept as text: `is_scheduled` and `true`.
struct ModuleAttribute {
  absl::string_view name;
  absl::string_view text;
};

class HloModule {
 public:
  explicit HloModule(absl::string_view name);
  ~HloModule();
  HloModule(const HloModule&) = delete;
  HloModule& operator=(const HloModule&) = delete;

  // A number that no other module of the process has or has had: who remembers something about a
  // module tells by it whether an address is still that of the same one.
  int64_t serial_number() const { return serial_number_; }

  absl::string_view name() const { return name_; }
  void SetName(absl::string_view name);

  // The computations, those called before those that call them.
  absl::Span<HloComputation* const> computations() { return computations_; }
  absl::Span<const HloComputation* const> computations() const { return computations_; }
  // The computation marked ENTRY, else the last one; null only if there are none.
  const HloComputation* entry_computation() const;
  void SetEntry(const HloComputation* entry);
  // The computation of that name (without `%`), null if there is none.
  const HloComputation* FindComputation(absl::string_view name) const;
  // The number of instructions in all computations.
  int64_t instruction_count() const;

  // The attributes of the header in the order of the text.
  absl::Span<const ModuleAttribute> attributes() const { return attributes_; }
  std::optional<absl::string_view> FindAttribute(absl::string_view name) const;
  void SetAttribute(absl::string_view name, absl::string_view text);
  bool is_scheduled() const;
  // `replica_count` and `num_partitions` of the header, 1 where not given.
  int64_t replica_count() const;
  int64_t num_partitions() const;

  // The tables of stack frames that follow a header, as text; empty if there are none.
  absl::string_view stack_frame_tables() const;
  void SetStackFrameTables(absl::string_view text);
  // The frame of that number in the tables and the frames that called it, the innermost first; none
  // where there is no such frame (hlo/types/metadata.h).
  std::vector<SourceFrame> SourceFrames(int64_t stack_frame_id) const;

  // The text that the module was parsed from; null if it was not. Offsets of instructions count
  // from its beginning.
  const SourceText* source() const { return source_.get(); }
  // Building, by a reader of a text: the text, null for none.
  void SetSource(std::shared_ptr<const SourceText> source) { source_ = std::move(source); }

  // What VerifyModule() says of the module, which keeps it here, also of a constant module: it says
  // nothing that does not follow from the module. Null if it was not asked since the last change.
  const absl::Status* verdict() const { return verdict_.load(std::memory_order_acquire); }
  void SetVerdict(absl::Status verdict) const;
  // Whether the module was found valid and has not been changed since.
  bool is_verified() const { return verdict() != nullptr && verdict()->ok(); }

  // Building: adds an empty computation at the end. Its name must be new (the verifier reports one
  // that is not).
  HloComputation* AddComputation(absl::string_view name);

  // The one copy of `shape` that the module keeps.
  const Shape* InternShape(const Shape& shape);
  internal::Arena& arena() { return *arena_; }

  // The module as HLO text. Parses back to an equal module.
  std::string ToString() const;

 private:
  friend class HloComputation;
  friend class HloInstruction;
  friend class internal::InstructionParser;
  friend class internal::ModuleParser;

  // The shapes that are kept, and the computations by name.
  struct Tables;

  // Makes a computation that is not yet in the list; `Adopt` puts it at the end. One without a name
  // is given one later. False if the name is taken.
  HloComputation* MakeComputation(absl::string_view owned_name);
  bool Adopt(HloComputation* computation);
  // Lets FindComputation find it; false if another computation has its name.
  bool AddName(HloComputation* computation);
  // To be called by whatever changes something that the verifier looks at.
  void MarkChanged() {
    if (verdict_.load(std::memory_order_relaxed) != nullptr) ForgetVerdict();
  }
  void ForgetVerdict();
  // Takes tables whose text lies in the module's memory already.
  void SetOwnedStackFrameTables(absl::string_view text);

  const int64_t serial_number_;
  const std::unique_ptr<internal::Arena> arena_;
  const std::unique_ptr<Tables> tables_;
  std::shared_ptr<const SourceText> source_;
  absl::string_view name_;
  std::vector<ModuleAttribute> attributes_;
  // Null if there are none.
  std::unique_ptr<const internal::StackFrameTables> stack_frame_tables_;
  std::vector<HloComputation*> computations_;
  const HloComputation* entry_ = nullptr;
  // Owned.
  mutable std::atomic<const absl::Status*> verdict_ = nullptr;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODEL_MODULE_H_
