#include "xla_indexing/ops/answers/binding_words.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing {

const HloComputation* BeginOfPath(const RuntimeVarIndexing& binding) {
  return (binding.call_path.empty() ? binding.instruction : binding.call_path.front())->parent();
}

std::string BindingInWords(const OperandIndexing& indexing, int i, absl::string_view source) {
  const std::vector<std::string> element = TextPartsOf(indexing.ElementMap(i)).results;
  const RuntimeVarIndexing& binding = indexing.bindings()[i];
  if (source.empty()) source = binding.instruction->name();
  const ValueFunction& value = binding.value;
  std::string text;
  if (value.kind() == ValueFunction::Kind::kIterations) {
    text = absl::StrCat("how often the loop ", source, " runs");
  } else {
    const auto index = absl::MakeConstSpan(element).subspan(binding.NumLoops());
    text = absl::StrCat(
        index.empty() ? "the value" : absl::StrCat("element (", absl::StrJoin(index, ", "), ")"),
        " of ", source, binding.leaf == 0 ? "" : absl::StrCat("#", binding.leaf));
  }
  // The numbers of iterations are those of the loops from the outermost on.
  int64_t loop = binding.NumLoops();
  for (size_t k = binding.call_path.size(); k-- > 0;) {
    const HloInstruction& caller = *binding.call_path[k];
    if (caller.opcode() != HloOpcode::kWhile) continue;
    absl::StrAppend(&text, " in iteration ", element[--loop], " of the loop ", caller.name());
  }
  if (binding.device) absl::StrAppend(&text, " on another device");
  const std::string interval = absl::StrCat("[", value.lower(), ", ", value.upper(), "]");
  switch (value.kind()) {
    case ValueFunction::Kind::kAsIs:
    case ValueFunction::Kind::kIterations:
      return text;
    case ValueFunction::Kind::kClamp:
      return absl::StrCat(text, ", clamped to ", interval);
    case ValueFunction::Kind::kInRangeElseLast:
      return absl::StrCat(text, ", or ", value.upper(), " where that is not in ", interval);
    case ValueFunction::Kind::kIsNotZero:
      return absl::StrCat("whether ", text, " is not 0");
  }
  return text;
}

}  // namespace xla_indexing
