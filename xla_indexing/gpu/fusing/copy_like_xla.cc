#include "xla_indexing/gpu/fusing/copy_like_xla.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"

namespace xla_indexing {
namespace {

using internal::BufferValues;
using internal::BufferWriters;
using internal::Overwrite;
using internal::WriterSafety;

// A copy makes others needless, or needed: more rounds than there are kinds of copies are not.
constexpr int kMaxRounds = 6;

// Operand `operand` of `user` is to be a copy of what it is.
struct Edit {
  const HloInstruction* user = nullptr;
  int64_t operand = 0;
  std::string reason;
};

bool RunsInSequence(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kWhile ||
         instruction.opcode() == HloOpcode::kConditional ||
         instruction.opcode() == HloOpcode::kCall;
}

// The operands whose buffers an instruction updates, by leaves of its result.
std::vector<std::pair<int64_t, int64_t>> UpdatedOperands(const HloInstruction& instruction) {
  std::vector<std::pair<int64_t, int64_t>> updated;
  if (instruction.opcode() == HloOpcode::kDynamicUpdateSlice) updated.emplace_back(0, 0);
  if (instruction.opcode() == HloOpcode::kScatter) {
    for (int64_t i = 0; i < instruction.shape().LeafCount(); ++i) updated.emplace_back(i, i);
  }
  if (instruction.opcode() != HloOpcode::kFusion || instruction.calls() == nullptr) return updated;
  std::vector<internal::RootOfFusion> roots = internal::RootsOfFusion(*instruction.calls());
  if (roots.empty()) return updated;
  const EmitterKind kind = internal::DecideKind(EmitterOptions().warp_size, &roots).kind;
  if (kind != EmitterKind::kInPlaceUpdate && kind != EmitterKind::kScatter) return updated;
  for (const internal::RootOfFusion& root : roots) {
    const bool is_scatter = kind == EmitterKind::kScatter;
    const HloInstruction* parameter =
        internal::UpdatedParameter(is_scatter ? *root.root : *root.hero, root.root_leaf);
    if (parameter == nullptr) continue;
    updated.emplace_back(root.output_leaf, parameter->parameter_number());
  }
  return updated;
}

// The copies that one computation needs.
class CopiesOfComputation {
 public:
  // `is_last` of the last round, which leaves nothing for another one.
  CopiesOfComputation(const HloComputation& computation, bool is_body, bool is_last,
                      HloIndexers* indexers)
      : computation_(computation),
        is_body_(is_body),
        is_last_(is_last),
        is_entry_(computation.is_entry()) {
    writers_ = is_body ? BufferWriters::OfBody(computation, indexers)
                       : std::make_unique<BufferWriters>(computation, indexers);
    if (!is_entry_) return;
    for (const DonatedLeaf& donated : DonatedLeaves(*computation.parent())) {
      writers_->Donate(donated.parameter);
      if (!donated.output_leaf) continue;
      before_output_[*donated.output_leaf] = donated.parameter;
      writers_->Demand(writers_->OfOutput(*donated.output_leaf, donated.parameter));
    }
  }

  // Loops with bodies in `changed`, whose answers will be others, are not asked about.
  std::vector<Edit> Find(const absl::flat_hash_set<const HloComputation*>& changed) {
    for (const HloInstruction* instruction : computation_.instructions()) {
      for (const auto& [leaf, operand] : UpdatedOperands(*instruction)) {
        if (!instruction->operand(operand)->shape().IsArray()) continue;
        Ask(*instruction, operand, {instruction->operand(operand), 0}, {instruction, leaf});
      }
      if (instruction->opcode() == HloOpcode::kWhile &&
          !changed.contains(instruction->while_body())) {
        AskLoop(*instruction);
      }
    }
    for (const Question& question : questions_) writers_->Demand(question.overwrites);
    for (const Question& question : questions_) Answer(question);
    AnswerOutputs();
    return std::move(edits_);
  }

  int64_t undecided() const { return undecided_; }

 private:
  struct Question {
    const HloInstruction* user;
    int64_t operand;
    BufferValue before;
    std::vector<Overwrite> overwrites;
  };

  void Ask(const HloInstruction& user, int64_t operand, BufferValue before, BufferValue after) {
    const BufferValue origin = writers_->values().OriginOf(before);
    questions_.push_back({&user, operand, origin, writers_->OfValue(after, before)});
  }

  void AskLoop(const HloInstruction& loop) {
    const HloInstruction& operand = *loop.operand(0);
    const bool is_flat = operand.opcode() == HloOpcode::kTuple &&
                         operand.operand_count() == loop.shape().LeafCount();
    for (int64_t leaf = 0; leaf < loop.shape().LeafCount(); ++leaf) {
      if (!loop.shape().Leaf(leaf).IsArray()) continue;
      const BufferValue after = {&loop, leaf};
      if (writers_->values().OriginOf(after) != after) continue;
      if (is_flat && operand.operand(leaf)->shape().IsArray()) {
        Ask(operand, leaf, {&operand, leaf}, after);
      }
    }
  }

  void Answer(const Question& question) {
    const QuestionBudget budget;
    const WriterSafety answer = writers_->Check(question.overwrites);
    if (answer.safety.IsSafe()) return;
    if (answer.safety.answer == InPlaceAnswer::kUndecided) {
      ++undecided_;
      return;
    }
    // One copy of a value may do for all.
    if (!copied_.insert({question.before.instruction, question.before.leaf}).second) return;
    const std::string reason = WhyNot(answer.safety);
    if (!CopyForOthers(question, reason))
      edits_.push_back({question.user, question.operand, reason});
  }

  // The value may be overwritten, but for others that read it: they read a copy.
  bool CopyForOthers(const Question& question, const std::string& reason) {
    const BufferValue& before = question.before;
    BufferValues& values = writers_->values();
    const HloOpcode opcode = before.instruction->opcode();
    const bool is_kept = (opcode == HloOpcode::kParameter && !is_body_) ||
                         opcode == HloOpcode::kConstant || values.OutputOf(before).has_value();
    if (is_kept || question.overwrites.empty()) return false;
    const HloInstruction* writer = question.overwrites.front().written.instruction;
    std::vector<Edit> edits;
    for (const HloInstruction* reader : values.ReadersOf(before)) {
      if (reader == writer) continue;
      for (int64_t i = 0; i < reader->operand_count(); ++i) {
        const HloInstruction* operand = reader->operand(i);
        const bool is_array = operand->shape().IsArray();
        if (is_array && values.OriginOf({operand, 0}) != before) continue;
        if (!is_array) return false;
        edits.push_back({reader, i, reason});
      }
    }
    if (edits.empty()) return false;
    edits_.insert(edits_.end(), edits.begin(), edits.end());
    return true;
  }

  // What is handed on to the next iteration, or out of the module.
  void AnswerOutputs() {
    const HloInstruction& root = *computation_.root_instruction();
    if ((!is_body_ && !is_entry_) || root.opcode() != HloOpcode::kTuple) return;
    absl::flat_hash_set<std::pair<const HloInstruction*, int64_t>> handed_on;
    for (int64_t i = 0; i < root.operand_count(); ++i) {
      if (!root.operand(i)->shape().IsArray()) continue;
      const int64_t leaf = root.shape().FirstLeafOfElement(i);
      const BufferValue value = writers_->values().OriginOfOutput(leaf);
      std::string why = WhyCopied(leaf, value);
      if (why.empty() && !handed_on.insert({value.instruction, value.leaf}).second) {
        why = absl::StrCat(value.instruction->name(), " is output twice");
      }
      if (!why.empty()) edits_.push_back({&root, i, std::move(why)});
    }
  }

  // Why an output is a copy of a value; empty where it is the value itself.
  std::string WhyCopied(int64_t leaf, const BufferValue& value) {
    std::optional<BufferValue> before;
    if (is_body_) before = {computation_.parameters()[0], leaf};
    if (const auto it = before_output_.find(leaf); it != before_output_.end()) before = it->second;
    const HloOpcode opcode = value.instruction->opcode();
    const bool is_there_before = opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant;
    if (value == before) return "";
    if (is_there_before) {
      return absl::StrCat(value.instruction->name(), " is output ", leaf,
                          ", which has another buffer");
    }
    if (!before || copied_.contains({before->instruction, before->leaf})) return "";
    const QuestionBudget budget;
    const InPlaceSafety safety = writers_->Check(writers_->OfOutput(leaf, *before)).safety;
    if (safety.answer == InPlaceAnswer::kUndecided) ++undecided_;
    if (safety.answer != InPlaceAnswer::kUnsafe) return "";
    // A copy breaks a circle of demands on the order, and the others are asked about again.
    if (!safety.conflict && is_circle_broken_ && !is_last_) return "";
    is_circle_broken_ |= !safety.conflict;
    return WhyNot(safety);
  }

  static std::string WhyNot(const InPlaceSafety& safety) {
    return safety.reason.empty() ? safety.ToString() : safety.reason;
  }

  const HloComputation& computation_;
  const bool is_body_;
  const bool is_last_;
  const bool is_entry_;
  bool is_circle_broken_ = false;
  std::unique_ptr<BufferWriters> writers_;
  std::map<int64_t, BufferValue> before_output_;  // of stated aliases
  std::vector<Question> questions_;
  std::vector<Edit> edits_;
  absl::flat_hash_set<std::pair<const HloInstruction*, int64_t>> copied_;
  int64_t undecided_ = 0;
};

// The bodies of loops, and all else that runs instruction by instruction.
struct Sequences {
  explicit Sequences(const HloModule& module) {
    const auto computations = module.computations();
    all.insert(module.entry_computation());
    for (size_t i = computations.size(); i-- > 0;) {
      if (!all.contains(computations[i])) continue;
      for (const HloInstruction* instruction : computations[i]->instructions()) {
        if (!RunsInSequence(*instruction)) continue;
        for (const HloComputation* called : instruction->called_computations()) all.insert(called);
        if (instruction->while_body() != nullptr) bodies.insert(instruction->while_body());
      }
    }
  }

  absl::flat_hash_set<const HloComputation*> all;
  absl::flat_hash_set<const HloComputation*> bodies;
};

std::vector<Edit> FindEdits(const HloModule& module, bool is_last, int64_t* undecided) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexers indexers(&context);
  const Sequences sequences(module);
  std::vector<Edit> edits;
  absl::flat_hash_set<const HloComputation*> changed;
  *undecided = 0;
  for (const HloComputation* computation : module.computations()) {
    if (!sequences.all.contains(computation)) continue;
    CopiesOfComputation copies(*computation, sequences.bodies.contains(computation), is_last,
                               &indexers);
    std::vector<Edit> found = copies.Find(changed);
    *undecided += copies.undecided();
    if (!found.empty()) changed.insert(computation);
    absl::c_move(found, std::back_inserter(edits));
  }
  return edits;
}

// What is copied, and why, by computation and name.
using Reasons = std::map<std::pair<std::string, std::string>, std::string>;

absl::StatusOr<std::unique_ptr<HloModule>> Apply(const HloModule& module,
                                                 const std::vector<Edit>& edits, Reasons* reasons) {
  absl::flat_hash_map<const HloInstruction*, std::vector<const Edit*>> of_user;
  for (const Edit& edit : edits) of_user[edit.user].push_back(&edit);
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> copies;  // by operand
  return RewriteModule(module, [&](InstructionRewriter& rewriter) {
    const HloInstruction& original = rewriter.original();
    const auto found = of_user.find(&original);
    if (found == of_user.end()) return absl::OkStatus();
    std::vector<const HloInstruction*> operands(rewriter.operands().begin(),
                                                rewriter.operands().end());
    for (const Edit* edit : found->second) {
      const HloInstruction* operand = original.operand(edit->operand);
      const HloInstruction*& copy = copies[operand];
      if (copy == nullptr || original.opcode() == HloOpcode::kTuple) {
        HloInstruction* added = rewriter.AddHelper(HloOpcode::kCopy, "copy", operand->shape(),
                                                   {rewriter.operand(edit->operand)});
        const HloInstruction& from = original.opcode() == HloOpcode::kTuple ? *operand : original;
        if (const Attribute* metadata = from.FindAttribute(AttributeKey::kMetadata)) {
          added->SetAttribute(metadata->key, metadata->value);
        }
        (*reasons)[{std::string(original.parent()->name()), std::string(added->name())}] =
            edit->reason;
        copy = added;
      }
      operands[edit->operand] = copy;
    }
    rewriter.ReplaceOperands(operands);
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<ModuleWithCopies> CopyLikeXla(const HloModule& module) {
  if (absl::Status status = VerifyModule(module); !status.ok()) return status;
  ModuleWithCopies result;
  Reasons reasons;
  const HloModule* last = &module;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<Edit> edits;
    if (!module.is_scheduled()) {
      edits = FindEdits(*last, /*is_last=*/round + 1 == kMaxRounds, &result.undecided);
    }
    if (edits.empty() && result.module != nullptr) break;
    absl::StatusOr<std::unique_ptr<HloModule>> next = Apply(*last, edits, &reasons);
    if (!next.ok()) return next.status();
    result.module = *std::move(next);
    last = result.module.get();
    if (edits.empty()) break;
  }
  for (const HloComputation* computation : last->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const auto reason =
          reasons.find({std::string(computation->name()), std::string(instruction->name())});
      if (reason != reasons.end()) result.copies.push_back({instruction, reason->second});
    }
  }
  return result;
}

}  // namespace xla_indexing
