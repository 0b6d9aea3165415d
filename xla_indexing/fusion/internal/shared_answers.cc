#include "xla_indexing/fusion/internal/shared_answers.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/instruction_kind.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using Called = std::vector<const HloComputation*>;

// The computation and those that it calls, directly or not.
Called AllBelow(const HloComputation& computation) {
  Called all = {&computation};
  absl::flat_hash_set<const HloComputation*> seen = {&computation};
  for (size_t next = 0; next < all.size(); ++next) {
    for (const HloInstruction* instruction : all[next]->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        if (called != nullptr && seen.insert(called).second) all.push_back(called);
      }
    }
  }
  return all;
}

// The words of the text that are names of instructions of these computations.
std::vector<std::string> NamesInText(absl::string_view text, const Called& computations) {
  std::vector<std::string> names;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" ,;()'\""))) {
    const auto is_name = [&](absl::string_view name) {
      return absl::c_any_of(computations, [&](const HloComputation* computation) {
        return computation->FindInstruction(name) != nullptr;
      });
    };
    while (!word.empty() && !is_name(word)) {
      const bool is_in_sentence = absl::ascii_ispunct(word.back());
      word = is_in_sentence ? word.substr(0, word.size() - 1) : absl::string_view();
    }
    if (!word.empty()) names.emplace_back(word);
  }
  return names;
}

}  // namespace

std::vector<std::string> SharedAnswers::NamesThatMatter(const InstructionIndexing& entries,
                                                        const HloComputation& computation) {
  std::vector<std::string> names;
  const auto add_sources = [&](const OperandIndexing& map) {
    for (const RuntimeVarIndexing& binding : map.bindings()) {
      names.emplace_back(binding.instruction->name());
      names.emplace_back(binding.instruction->parent()->name());
      for (const HloInstruction* caller : binding.call_path) names.emplace_back(caller->name());
    }
  };
  for (const IndexingEntry& entry : entries) {
    // Sets are sorted by text, in which the map comes before the names.
    absl::flat_hash_map<std::string, const OperandIndexing*> before_names;
    for (const OperandIndexing& map : entry.indexing) {
      if (!map.IsExact())
        absl::c_copy(NamesIn(map.label().reason, computation), std::back_inserter(names));
      if (entry.indexing.size() == 1 || map.bindings().empty()) continue;
      const auto [same, is_new] = before_names.try_emplace(map.MapToString(), &map);
      if (is_new) continue;
      add_sources(*same->second);
      add_sources(map);
    }
  }
  absl::c_sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

SharedAnswers::Reasons& SharedAnswers::ReasonsOf(const HloComputation& computation) {
  if (reasons_.computation != &computation ||
      reasons_.module != computation.parent()->serial_number()) {
    reasons_ = {&computation, computation.parent()->serial_number(), AllBelow(computation), {}};
  }
  return reasons_;
}

const std::vector<std::string>& SharedAnswers::NamesIn(const std::string& reason,
                                                       const HloComputation& computation) {
  Reasons& reasons = ReasonsOf(computation);
  const auto [known, is_new] = reasons.names.try_emplace(reason);
  if (is_new) known->second = NamesInText(reason, reasons.below);
  return known->second;
}

SharedAnswers::Positions SharedAnswers::PositionsOf(const std::string& name,
                                                    const HloComputation& computation) {
  Positions positions;
  for (const HloComputation* below : ReasonsOf(computation).below) {
    const HloInstruction* named = below->FindInstruction(name);
    positions.push_back(
        {named != nullptr ? named->index_in_computation() : -1, below->name() == name});
  }
  return positions;
}

std::optional<SharedAnswers::Place> SharedAnswers::PlaceOf(const RuntimeVarIndexing& binding,
                                                           const HloComputation& computation) {
  Place place;
  const HloComputation* in = &computation;
  for (size_t i = 0; i < binding.call_path.size(); ++i) {
    const HloInstruction& caller = *binding.call_path[i];
    const HloInstruction& next =
        i + 1 < binding.call_path.size() ? *binding.call_path[i + 1] : *binding.instruction;
    const absl::Span<const HloComputation* const> called = caller.called_computations();
    const auto* which = absl::c_find(called, next.parent());
    if (caller.parent() != in || which == called.end()) return std::nullopt;
    place.push_back(static_cast<int32_t>(caller.index_in_computation()));
    place.push_back(static_cast<int32_t>(which - called.begin()));
    in = next.parent();
  }
  if (binding.instruction->parent() != in) return std::nullopt;
  place.push_back(static_cast<int32_t>(binding.instruction->index_in_computation()));
  return place;
}

void SharedAnswers::MoveTo(const HloComputation& computation, const Place& place,
                           RuntimeVarIndexing* binding) {
  const HloComputation* in = &computation;
  for (size_t i = 0; i < binding->call_path.size(); ++i) {
    const HloInstruction* caller = in->instructions()[place[2 * i]];
    in = caller->called_computations()[place[2 * i + 1]];
    binding->call_path[i] = caller;
  }
  binding->instruction = in->instructions()[place.back()];
}

uint64_t SharedAnswers::NumberOfShape(const Shape& shape) {
  const auto [known, is_new] = shapes_.try_emplace(shape, next_number_);
  if (is_new) {
    ++next_number_;
    kept_words_ += 16 + 16 * static_cast<size_t>(shape.LeafCount());
  }
  return known->second;
}

namespace {

// What is known of the scalars that callers pass to a computation, which matters to loops in it, and
// first for how many leaves.
void AppendPassedValues(const HloComputation& computation, PassedValues& passed,
                        llvm::SmallVectorImpl<uint64_t>* words) {
  const size_t number = words->size();
  words->push_back(0);
  const bool has_loop = absl::c_any_of(computation.instructions(), [](const HloInstruction* each) {
    return each->opcode() == HloOpcode::kWhile;
  });
  if (!has_loop) return;
  for (const HloInstruction* parameter : computation.parameters()) {
    const int64_t leaf_count = parameter->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const PassedScalar scalar = passed.Of(*parameter, leaf);
      const bool is_itself = scalar.parameter == parameter && scalar.leaf == leaf;
      if (is_itself && !scalar.values.IsFinite()) continue;
      ++(*words)[number];
      words->append({static_cast<uint64_t>(parameter->parameter_number()),
                     static_cast<uint64_t>(leaf),
                     static_cast<uint64_t>(scalar.parameter->parameter_number()),
                     static_cast<uint64_t>(scalar.leaf), static_cast<uint64_t>(scalar.added)});
      const Interval values = is_itself ? scalar.values : Interval::Point(0);
      words->append({static_cast<uint64_t>(values.lower()), static_cast<uint64_t>(values.upper())});
    }
  }
}

}  // namespace

SharedAnswers::Content SharedAnswers::ContentOf(
    const HloComputation& computation,
    llvm::function_ref<const Content&(const HloComputation&)> known, PassedValues& passed) {
  Content own = {0, /*is_own=*/true, /*may_bind=*/true};
  if (!MayBeShared(computation)) {
    own.number = OwnNumber();
    return own;
  }
  Content content = {0, /*is_own=*/false, /*may_bind=*/false};
  const HloModule& module = *computation.parent();
  llvm::SmallVector<uint64_t, 128> words = {
      static_cast<uint64_t>(module.replica_count()), static_cast<uint64_t>(module.num_partitions()),
      static_cast<uint64_t>(computation.root_instruction()->index_in_computation())};
  const auto of_shape = [&](const Shape& shape) { return NumberOfShape(shape); };
  const auto of_computation = [&](const HloComputation& called) { return known(called).number; };
  const ContentNumbers numbers = {of_shape, of_computation};
  AppendPassedValues(computation, passed, &words);
  for (const HloInstruction* instruction : computation.instructions()) {
    const HloComputation* inlined = instruction->inlined_computation();
    content.may_bind = content.may_bind || (inlined != nullptr ? known(*inlined).may_bind
                                                               : MayBind(instruction->opcode()));
    if (!AppendContent(*instruction, numbers, &words)) {
      own.may_bind = content.may_bind;
      own.number = OwnNumber();
      return own;
    }
  }
  const auto [found, is_new] =
      contents_.try_emplace(std::vector<uint64_t>(words.begin(), words.end()), content);
  if (is_new) {
    found->second.number = OwnNumber();
    kept_words_ += words.size();
  }
  return found->second;
}

SharedIndexing SharedAnswers::Find(const Question& question, const HloComputation& computation) {
  const auto known = answers_.find(question);
  if (known == answers_.end()) return nullptr;
  const Answer& answer = known->second;
  const bool is_of_this =
      answer.computation == &computation && answer.module == computation.parent()->serial_number();
  if (is_of_this) return answer.entries;
  if (!answer.is_shared || !absl::c_all_of(answer.names, [&](const auto& name) {
        return PositionsOf(name.first, computation) == name.second;
      })) {
    return nullptr;
  }
  if (answer.places.empty()) return answer.entries;
  InstructionIndexing renamed;
  auto place = answer.places.begin();
  for (const IndexingEntry& entry : *answer.entries) {
    OperandIndexingSet maps;
    for (const OperandIndexing& map : entry.indexing) {
      maps.Add(map.Renamed(
          kPartsFit, [&](RuntimeVarIndexing* binding) { MoveTo(computation, *place++, binding); }));
    }
    renamed.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps)});
  }
  return std::make_shared<const InstructionIndexing>(std::move(renamed));
}

void SharedAnswers::Keep(const Question& question, const HloComputation& computation,
                         SharedIndexing entries) {
  CountMaps(*entries);
  Answer answer;
  answer.is_shared = true;
  for (std::string& name : NamesThatMatter(*entries, computation)) {
    Positions positions = PositionsOf(name, computation);
    kept_words_ += positions.size() + name.size() / sizeof(uint64_t) + 1;
    answer.names.emplace_back(std::move(name), std::move(positions));
  }
  answer.entries = std::move(entries);
  answer.computation = &computation;
  answer.module = computation.parent()->serial_number();
  for (const IndexingEntry& entry : *answer.entries) {
    for (const OperandIndexing& map : entry.indexing) {
      for (const RuntimeVarIndexing& binding : map.bindings()) {
        std::optional<Place> place = PlaceOf(binding, computation);
        answer.is_shared = answer.is_shared && place.has_value();
        if (answer.is_shared) answer.places.push_back(*std::move(place));
      }
    }
  }
  kept_words_ += 4 * answer.places.size();
  answers_.insert_or_assign(question, std::move(answer));
}

void SharedAnswers::CountMaps(const InstructionIndexing& entries) {
  ++kept_maps_;
  for (const IndexingEntry& entry : entries) kept_maps_ += entry.indexing.size();
}

void SharedAnswers::Forget() {
  contents_.clear();
  shapes_.clear();
  answers_.clear();
  reasons_ = {};
  kept_maps_ = 0;
  kept_words_ = 0;
  steps_ = 0;
  ++times_forgotten_;
}

}  // namespace xla_indexing::internal
