#include "xla_indexing/report/internal/runs.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/loop_counter.h"

namespace xla_indexing::internal {
namespace {

// 7 of `.. "known_trip_count":{"n":"7"} ..`.
std::optional<int64_t> TripCountOfCompiler(absl::string_view config) {
  constexpr absl::string_view kKey = "known_trip_count";
  const size_t at = config.find(kKey);
  if (at == config.npos) return std::nullopt;
  config.remove_prefix(at + kKey.size());
  // The text may be a string in a string, with backslashes before quotes.
  std::string digits;
  for (const char c : config.substr(0, 64)) {
    if (c >= '0' && c <= '9') {
      digits.push_back(c);
    } else if (!digits.empty() || c == '-' || c == '}') {
      break;
    }
  }
  int64_t count = 0;
  return absl::SimpleAtoi(digits, &count) ? std::optional(count) : std::nullopt;
}

}  // namespace

std::optional<int64_t> TripCount(const HloInstruction& loop) {
  if (const std::optional<LoopCounter> counter = FindLoopCounter(loop)) return counter->count;
  return TripCountOfCompiler(loop.GetText(AttributeKey::kBackendConfig));
}

bool RunsComputations(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
      return true;
    case HloOpcode::kAsyncStart:
      return instruction.calls() != nullptr;
    default:
      return false;
  }
}

absl::flat_hash_map<const HloComputation*, Runs> RunsOfComputations(const HloModule& module) {
  absl::flat_hash_map<const HloComputation*, Runs> runs;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr) return runs;
  runs[entry].count = Interval::Point(1);
  const auto add = [&](const HloComputation* computation, const Runs& caller, const Interval& times,
                       const std::string& reason) {
    if (computation == nullptr) return;
    Runs& called = runs[computation];
    called.count = called.count.Add(caller.count.Mul(times));
    if (called.reason.empty()) called.reason = !reason.empty() ? reason : caller.reason;
  };
  // Computations that call come after those that they call.
  for (auto it = module.computations().rbegin(); it != module.computations().rend(); ++it) {
    const auto known = runs.find(*it);
    if (known == runs.end()) continue;
    const Runs own = known->second;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      if (!RunsComputations(*instruction)) continue;
      switch (instruction->opcode()) {
        case HloOpcode::kWhile: {
          const std::optional<int64_t> count = TripCount(*instruction);
          const std::string reason = count
                                         ? ""
                                         : absl::StrCat("how often the loop ", instruction->name(),
                                                        " runs its body is not known");
          const Interval times = count ? Interval::Point(*count) : Interval::AtLeast(0);
          add(instruction->while_body(), own, times, reason);
          add(instruction->while_condition(), own, times.Add(1), reason);
          break;
        }
        case HloOpcode::kConditional: {
          const auto branches = instruction->branch_computations();
          const bool is_one = branches.size() == 1;
          for (const HloComputation* branch : branches) {
            add(branch, own, is_one ? Interval::Point(1) : Interval::Closed(0, 1),
                is_one ? ""
                       : absl::StrCat("which branch ", instruction->name(), " takes is not known"));
          }
          break;
        }
        default:
          add(instruction->opcode() == HloOpcode::kCall ? instruction->to_apply()
                                                        : instruction->calls(),
              own, Interval::Point(1), "");
      }
    }
  }
  return runs;
}

}  // namespace xla_indexing::internal
