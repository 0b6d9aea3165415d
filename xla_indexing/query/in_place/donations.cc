#include "xla_indexing/query/in_place/donations.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/buffers/alias_text.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::BufferWriters;

// Results that are tried for a parameter: equally many for each, the likeliest first.
constexpr size_t kMaxTried = 4;

class DonationCheck {
 public:
  DonationCheck(const HloModule& module, mlir::MLIRContext* context)
      : module_(module),
        entry_(*module.entry_computation()),
        context_(context),
        indexers_(context),
        writers_(entry_, &indexers_) {}

  std::vector<Donation> Run() && {
    for (const DonatedLeaf& leaf : DonatedLeaves(module_)) {
      donated_.insert(leaf.parameter);
      writers_.Donate(leaf.parameter);
      if (leaf.output_leaf) aliased_outputs_.insert(*leaf.output_leaf);
    }
    // The answers about the header come first, one for each of its aliases.
    const std::vector<CheckedAlias> checked = CheckAliases(module_, context_);
    const auto stated =
        internal::ParseAliases(module_.FindAttribute("input_output_alias").value_or("{}"),
                               &entry_.root_instruction()->shape(), entry_.parameters());
    for (size_t i = 0; stated && i < std::min(stated->size(), checked.size()); ++i) {
      const auto& [output, number, in_parameter] = (*stated)[i];
      if (in_parameter.shape == nullptr || output.shape == nullptr) continue;
      stated_[{entry_.parameter(number), in_parameter.leaf}].push_back({output.leaf, checked[i]});
    }
    CollectResults();
    std::vector<Donation> donations;
    for (const HloInstruction* parameter : entry_.parameters()) {
      for (int64_t leaf = 0; leaf < parameter->shape().LeafCount(); ++leaf) {
        const Shape& shape = parameter->shape().Leaf(leaf);
        if (!shape.IsArray()) continue;
        Donation& donation = donations.emplace_back();
        donation.parameter = {parameter, leaf};
        const std::optional<Interval> bytes = BufferBytesOf(shape);
        if (bytes && bytes->has_lower()) donation.bytes = bytes->lower();
        if (donated_.contains(donation.parameter)) {
          AnswerDonated(&donation);
        } else {
          AnswerKept(&donation);
        }
      }
    }
    return donations;
  }

 private:
  struct StatedResult {
    int64_t output_leaf;
    CheckedAlias checked;
  };

  // Results that are computed, and have no buffer yet, by shape.
  void CollectResults() {
    internal::BufferValues& values = writers_.values();
    std::set<BufferValue> seen;
    const Shape& result = entry_.root_instruction()->shape();
    for (int64_t leaf = 0; leaf < result.LeafCount(); ++leaf) {
      if (!result.Leaf(leaf).IsArray() || aliased_outputs_.contains(leaf)) continue;
      const BufferValue value = values.OriginOfOutput(leaf);
      const HloOpcode opcode = value.instruction->opcode();
      if (opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant) continue;
      if (seen.insert(value).second) results_[result.Leaf(leaf).ToString()].push_back(leaf);
    }
  }

  void AnswerDonated(Donation* donation) {
    const std::vector<StatedResult>& aliases = stated_[donation->parameter];
    if (aliases.empty()) {
      donation->answer = DonationAnswer::kUnused;
      donation->why = "no result is written into it";
      return;
    }
    for (const StatedResult& alias : aliases) donation->output_leaves.push_back(alias.output_leaf);
    const std::string words =
        absl::StrCat("result ", absl::StrJoin(donation->output_leaves, ", "), " has its buffer");
    donation->answer = DonationAnswer::kCopied;
    for (const HloInstruction* user : donation->parameter.instruction->users()) {
      if (user->opcode() != HloOpcode::kCopy && user->opcode() != HloOpcode::kCopyStart) continue;
      donation->why = absl::StrCat(words, "; ", user->name(), " copies it before");
      return;
    }
    for (const auto& [leaf, alias] : aliases) {
      if (alias.writer == nullptr || alias.writer->opcode() != HloOpcode::kCopy) continue;
      donation->why =
          absl::StrCat(words, ", computed elsewhere; ", alias.WriterName(), " copies it there");
      return;
    }
    const CheckedAlias& first = aliases.front().checked;
    const std::string safety = first.safety.ToString();
    switch (first.safety.answer) {
      case InPlaceAnswer::kUnsafe:
        donation->why = absl::StrCat(words, ", which takes a copy: ", safety);
        return;
      case InPlaceAnswer::kUndecided:
        donation->answer = DonationAnswer::kUndecided;
        donation->why = absl::StrCat(words, "; ", safety);
        return;
      case InPlaceAnswer::kAnyOrder:
      case InPlaceAnswer::kInOrder:
        donation->answer = DonationAnswer::kAliased;
        donation->why = absl::StrCat(
            words, first.writer == nullptr
                       ? ", it stays there"
                       : absl::StrCat(", written by ", first.WriterName(), ": ", safety));
    }
  }

  void AnswerKept(Donation* donation) {
    const BufferValue& parameter = donation->parameter;
    const std::string key = parameter.instruction->shape().Leaf(parameter.leaf).ToString();
    const std::vector<int64_t>& results = results_[key];
    donation->answer = DonationAnswer::kImpossible;
    if (results.empty()) {
      donation->why = "no result has its shape and needs a buffer";
      return;
    }
    // The k-th parameter of a shape is likely to become the k-th result.
    const size_t first = parameters_of_shape_[key]++;
    const size_t tried = std::min(results.size(), kMaxTried);
    for (size_t i = 0; i < tried; ++i) {
      const int64_t result = results[(first + i) % results.size()];
      const InPlaceSafety safety = SafetyOf(parameter, result);
      if (safety.IsSafe()) {
        donation->answer = DonationAnswer::kPossible;
        donation->output_leaves.push_back(result);
        if (donation->output_leaves.size() == 1) {
          donation->why =
              absl::StrCat("result ", result, " may be written into it: ", safety.ToString());
        }
      } else if (donation->answer != DonationAnswer::kPossible) {
        if (safety.answer == InPlaceAnswer::kUndecided) {
          donation->answer = DonationAnswer::kUndecided;
        }
        donation->why = absl::StrCat("result ", result, ": ", safety.ToString());
      }
    }
    if (donation->answer == DonationAnswer::kImpossible && tried < results.size()) {
      donation->answer = DonationAnswer::kUndecided;
      absl::StrAppend(&donation->why, "; ", tried, " of ", results.size(), " results were tried");
    }
  }

  InPlaceSafety SafetyOf(const BufferValue& parameter, int64_t result) {
    writers_.Donate(parameter);
    const QuestionBudget question;
    return writers_.CheckBeside(writers_.OfOutput(result, parameter)).safety;
  }

  const HloModule& module_;
  const HloComputation& entry_;
  mlir::MLIRContext* context_;
  HloIndexers indexers_;
  BufferWriters writers_;
  std::set<BufferValue> donated_;
  std::set<int64_t> aliased_outputs_;
  std::map<BufferValue, std::vector<StatedResult>> stated_;  // by parameter
  std::map<std::string, std::vector<int64_t>> results_;
  std::map<std::string, size_t> parameters_of_shape_;
};

}  // namespace

absl::string_view DonationAnswerName(DonationAnswer answer) {
  constexpr absl::string_view kNames[] = {"aliased",  "copied",     "unused",
                                          "possible", "impossible", "undecided"};
  return kNames[static_cast<size_t>(answer)];
}

absl::StatusOr<std::vector<Donation>> CheckDonations(const HloModule& module,
                                                     mlir::MLIRContext* context) {
  if (absl::Status status = VerifyModule(module); !status.ok()) return status;
  return DonationCheck(module, context).Run();
}

}  // namespace xla_indexing
