#include "xla_indexing/hlo/transforms/replace_indexed.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing {

absl::StatusOr<std::unique_ptr<HloModule>> ReplaceIndexed(const HloModule& module,
                                                          const IndexedReplacements& replacements) {
  return RewriteModule(module, [&](InstructionRewriter& rewriter) {
    const auto it = replacements.find(&rewriter.original());
    if (it == replacements.end()) return absl::OkStatus();
    const IndexedReplacement& replacement = it->second;
    if (replacement.gather) {
      internal::ReplaceGather(*replacement.gather, &rewriter);
    } else if (replacement.scatter) {
      internal::ReplaceScatter(*replacement.scatter, &rewriter);
    }
    if (rewriter.replacement() != nullptr) return absl::OkStatus();
    if (replacement.is_sorted || replacement.is_unique) {
      HloInstruction* same = rewriter.ReplaceOperands(rewriter.operands());
      if (replacement.is_sorted) same->SetAttribute(AttributeKey::kIndicesAreSorted, true);
      if (replacement.is_unique) same->SetAttribute(AttributeKey::kUniqueIndices, true);
    }
    return absl::OkStatus();
  });
}

}  // namespace xla_indexing
