#include "xla_indexing/fusion/cache/shared_answers.h"

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
#include "xla_indexing/base/engines.h"
#include "xla_indexing/fusion/cache/instruction_kind.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using Called = std::vector<const HloComputation*>;

// The computations that these instructions call, directly or not.
Called AllBelow(absl::Span<const HloInstruction* const> instructions) {
  Called all;
  absl::flat_hash_set<const HloComputation*> seen;
  const auto add_called = [&](absl::Span<const HloInstruction* const> callers) {
    for (const HloInstruction* instruction : callers) {
      for (const HloComputation* called : instruction->called_computations()) {
        if (called != nullptr && seen.insert(called).second) all.push_back(called);
      }
    }
  };
  add_called(instructions);
  for (size_t next = 0; next < all.size(); ++next) add_called(all[next]->instructions());
  return all;
}

// The position in the part of the instruction with the name.
std::optional<int64_t> PositionOfName(absl::string_view name, const SharedAnswers::Part& part) {
  const HloInstruction* named = part.computation.FindInstruction(name);
  return named == nullptr ? std::nullopt : part.PositionOf(*named);
}

// The words of the text that are names of instructions of the part and of these computations.
std::vector<std::string> NamesInText(absl::string_view text, const SharedAnswers::Part& part,
                                     const Called& below) {
  std::vector<std::string> names;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" ,;()'\""))) {
    const auto is_name = [&](absl::string_view name) {
      return PositionOfName(name, part) ||
             absl::c_any_of(below, [&](const HloComputation* computation) {
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

// Whether maps may depend on more of an instruction behind a loop than its shape.
bool IsLookedInto(const HloInstruction& instruction) {
  return MayBeFollowed(instruction) || (!instruction.operands().empty() &&
                                        IndexingOfOpcode(instruction.opcode()).routes != nullptr);
}

}  // namespace

std::optional<int64_t> SharedAnswers::Part::PositionOf(const HloInstruction& instruction) const {
  const auto comes_before = [](const HloInstruction* a, int64_t index) {
    return a->index_in_computation() < index;
  };
  const auto* found = std::lower_bound(instructions.begin(), instructions.end(),
                                       instruction.index_in_computation(), comes_before);
  if (found == instructions.end() || *found != &instruction) return std::nullopt;
  return found - instructions.begin();
}

std::vector<const HloInstruction*> SharedAnswers::InstructionsBehind(const HloInstruction& loop) {
  std::vector<const HloInstruction*> behind = {&loop};
  absl::flat_hash_set<const HloInstruction*> seen = {&loop};
  for (size_t next = 0; next < behind.size(); ++next) {
    if (next > 0 && !IsLookedInto(*behind[next])) continue;
    for (const HloInstruction* operand : behind[next]->operands()) {
      if (seen.insert(operand).second) behind.push_back(operand);
    }
    if (behind.size() > kMaxInstructions) return {};
  }
  absl::c_sort(behind, [](const HloInstruction* a, const HloInstruction* b) {
    return a->index_in_computation() < b->index_in_computation();
  });
  return behind;
}

std::vector<std::string> SharedAnswers::NamesInReasons(const InstructionIndexing& entries,
                                                       const Part& part) {
  std::vector<std::string> names;
  for (const IndexingEntry& entry : entries) {
    for (const OperandIndexing& map : entry.indexing) {
      if (map.IsExact()) continue;
      absl::c_copy(NamesIn(map.label().reason, part), std::back_inserter(names));
    }
  }
  absl::c_sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

SharedAnswers::Reasons& SharedAnswers::ReasonsOf(const Part& part) {
  const int64_t module = part.computation.parent()->serial_number();
  if (reasons_.subject != part.subject || reasons_.module != module) {
    reasons_ = {part.subject, module, AllBelow(part.instructions), {}};
  }
  return reasons_;
}

const std::vector<std::string>& SharedAnswers::NamesIn(const std::string& reason,
                                                       const Part& part) {
  Reasons& reasons = ReasonsOf(part);
  const auto [known, is_new] = reasons.names.try_emplace(reason);
  if (is_new) known->second = NamesInText(reason, part, reasons.below);
  return known->second;
}

SharedAnswers::Positions SharedAnswers::PositionsOf(const std::string& name, const Part& part) {
  Positions positions = {
      {PositionOfName(name, part).value_or(-1), part.computation.name() == name}};
  for (const HloComputation* below : ReasonsOf(part).below) {
    const HloInstruction* named = below->FindInstruction(name);
    positions.push_back(
        {named != nullptr ? named->index_in_computation() : -1, below->name() == name});
  }
  return positions;
}

std::optional<SharedAnswers::Place> SharedAnswers::PlaceOf(const RuntimeVarIndexing& binding,
                                                           const Part& part) {
  Place place;
  const HloComputation* in = &part.computation;
  const auto add = [&](const HloInstruction& instruction) {
    const std::optional<int64_t> position =
        place.empty() ? part.PositionOf(instruction)
                      : std::optional<int64_t>(instruction.index_in_computation());
    if (position) place.push_back(static_cast<int32_t>(*position));
    return position.has_value();
  };
  for (size_t i = 0; i < binding.call_path.size(); ++i) {
    const HloInstruction& caller = *binding.call_path[i];
    const HloInstruction& next =
        i + 1 < binding.call_path.size() ? *binding.call_path[i + 1] : *binding.instruction;
    const absl::Span<const HloComputation* const> called = caller.called_computations();
    const auto* which = absl::c_find(called, next.parent());
    if (caller.parent() != in || which == called.end() || !add(caller)) return std::nullopt;
    place.push_back(static_cast<int32_t>(which - called.begin()));
    in = next.parent();
  }
  if (binding.instruction->parent() != in || !add(*binding.instruction)) return std::nullopt;
  return place;
}

void SharedAnswers::MoveTo(const Part& part, const Place& place, RuntimeVarIndexing* binding) {
  absl::Span<const HloInstruction* const> in = part.instructions;
  for (size_t i = 0; i < binding->call_path.size(); ++i) {
    const HloInstruction* caller = in[place[2 * i]];
    in = caller->called_computations()[place[2 * i + 1]]->instructions();
    binding->call_path[i] = caller;
  }
  binding->instruction = in[place.back()];
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

// What is known of the scalars that callers pass as parameters in the part, which matters to loops in
// it, and first for how many leaves.
void AppendPassedValues(const SharedAnswers::Part& part, PassedValues& passed,
                        llvm::SmallVectorImpl<uint64_t>* words) {
  const size_t number = words->size();
  words->push_back(0);
  const bool has_loop = absl::c_any_of(part.instructions, [](const HloInstruction* each) {
    return each->opcode() == HloOpcode::kWhile;
  });
  if (!has_loop) return;
  for (const HloInstruction* parameter : part.computation.parameters()) {
    const std::optional<int64_t> position = part.PositionOf(*parameter);
    if (!position) continue;
    const int64_t leaf_count = parameter->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const PassedScalar scalar = passed.Of(*parameter, leaf);
      const bool is_itself = scalar.parameter == parameter && scalar.leaf == leaf;
      if (is_itself && !scalar.values.IsFinite()) continue;
      ++(*words)[number];
      words->append(
          {static_cast<uint64_t>(*position), static_cast<uint64_t>(parameter->parameter_number()),
           static_cast<uint64_t>(leaf), static_cast<uint64_t>(scalar.parameter->parameter_number()),
           static_cast<uint64_t>(scalar.leaf), static_cast<uint64_t>(scalar.added)});
      const Interval values = is_itself ? scalar.values : Interval::Point(0);
      words->append({static_cast<uint64_t>(values.lower()), static_cast<uint64_t>(values.upper())});
    }
  }
}

// How an instruction stands in the words of a part of which nothing but its shape matters.
constexpr uint64_t kOpaque = ~uint64_t{0};

}  // namespace

SharedAnswers::Content SharedAnswers::ContentOf(const HloComputation& computation,
                                                KnownContents known, PassedValues& passed) {
  if (!MayBeShared(computation)) return {OwnNumber(), /*is_own=*/true, /*may_bind=*/true};
  const int64_t root = computation.root_instruction()->index_in_computation();
  return ContentOf(Part(computation), static_cast<uint64_t>(root), /*is_whole=*/true, known,
                   passed);
}

SharedAnswers::Content SharedAnswers::ContentOf(
    const HloInstruction& loop, absl::Span<const HloInstruction* const> instructions,
    KnownContents known, PassedValues& passed) {
  const Part part(loop, instructions);
  const std::optional<int64_t> position = part.PositionOf(loop);
  if (!position) return {OwnNumber(), /*is_own=*/true, /*may_bind=*/true};
  return ContentOf(part, ~static_cast<uint64_t>(*position), /*is_whole=*/false, known, passed);
}

SharedAnswers::Content SharedAnswers::ContentOf(const Part& part, uint64_t subject, bool is_whole,
                                                KnownContents known, PassedValues& passed) {
  Content content = {0, /*is_own=*/false, /*may_bind=*/false};
  const HloModule& module = *part.computation.parent();
  llvm::SmallVector<uint64_t, 128> words = {static_cast<uint64_t>(module.replica_count()),
                                            static_cast<uint64_t>(module.num_partitions()),
                                            subject};
  const auto of_operand = [&](const HloInstruction& operand) {
    return is_whole ? static_cast<uint64_t>(operand.index_in_computation())
                    : static_cast<uint64_t>(*part.PositionOf(operand));
  };
  const auto of_shape = [&](const Shape& shape) { return NumberOfShape(shape); };
  const auto of_computation = [&](const HloComputation& called) { return known(called).number; };
  const ContentNumbers numbers = {of_operand, of_shape, of_computation};
  AppendPassedValues(part, passed, &words);
  for (const HloInstruction* instruction : part.instructions) {
    if (!is_whole && instruction != part.subject && !IsLookedInto(*instruction)) {
      words.append({kOpaque, NumberOfShape(instruction->shape())});
      continue;
    }
    const HloComputation* inlined = instruction->inlined_computation();
    content.may_bind = content.may_bind || (inlined != nullptr ? known(*inlined).may_bind
                                                               : MayBind(instruction->opcode()));
    if (!AppendContent(*instruction, numbers, &words)) {
      content.is_own = true;
      content.number = OwnNumber();
      return content;
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

SharedIndexing SharedAnswers::Find(const Question& question, const Part& part) {
  if (IsOff(Engine::kSharedAnswers)) return nullptr;
  const auto known = answers_.find(question);
  if (known == answers_.end()) return nullptr;
  const Answer& answer = known->second;
  const bool is_of_this =
      answer.subject == part.subject && answer.module == part.computation.parent()->serial_number();
  if (is_of_this) return answer.entries;
  if (!answer.is_shared || !absl::c_all_of(answer.names, [&](const auto& name) {
        return PositionsOf(name.first, part) == name.second;
      })) {
    return nullptr;
  }
  if (answer.places.empty()) return answer.entries;
  InstructionIndexing renamed;
  auto place = answer.places.begin();
  for (const IndexingEntry& entry : *answer.entries) {
    OperandIndexingSet maps;
    for (const OperandIndexing& map : entry.indexing) {
      maps.Add(map.Renamed(kPartsFit,
                           [&](RuntimeVarIndexing* binding) { MoveTo(part, *place++, binding); }));
    }
    renamed.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps)});
  }
  return std::make_shared<const InstructionIndexing>(std::move(renamed));
}

void SharedAnswers::Keep(const Question& question, const Part& part, SharedIndexing entries) {
  if (IsOff(Engine::kSharedAnswers)) return;
  CountMaps(*entries);
  Answer answer;
  answer.is_shared = true;
  for (std::string& name : NamesInReasons(*entries, part)) {
    Positions positions = PositionsOf(name, part);
    kept_words_ += positions.size() + name.size() / sizeof(uint64_t) + 1;
    answer.names.emplace_back(std::move(name), std::move(positions));
  }
  answer.entries = std::move(entries);
  answer.subject = part.subject;
  answer.module = part.computation.parent()->serial_number();
  for (const IndexingEntry& entry : *answer.entries) {
    for (const OperandIndexing& map : entry.indexing) {
      for (const RuntimeVarIndexing& binding : map.bindings()) {
        std::optional<Place> place = PlaceOf(binding, part);
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
  cut_by_ = 0;
  ++times_forgotten_;
}

}  // namespace xla_indexing::internal
