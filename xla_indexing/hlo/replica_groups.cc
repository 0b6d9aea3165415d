#include "xla_indexing/hlo/replica_groups.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/device_lists.h"
#include "xla_indexing/hlo/lexer.h"

namespace xla_indexing {

int64_t ReplicaGroups::IdCount() const {
  if (form == Form::kIota) return iota.group_count * iota.group_size;
  int64_t count = 0;
  for (const std::vector<int64_t>& list : lists) count += static_cast<int64_t>(list.size());
  return count;
}

absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text) {
  Lexer lexer(text);
  ReplicaGroups groups;
  if (ReadReplicaGroups(lexer, &groups) && !lexer.AtEnd()) {
    lexer.FailExpected("the end of the replica groups");
  }
  if (!lexer.failed()) return groups;
  return absl::InvalidArgumentError(
      absl::StrCat("replica groups '", text, "': ", lexer.error_message()));
}

absl::StatusOr<std::vector<SourceTargetPair>> ParseSourceTargetPairs(absl::string_view text) {
  Lexer lexer(text);
  std::vector<SourceTargetPair> pairs;
  if (ReadSourceTargetPairs(lexer, &pairs) && !lexer.AtEnd()) {
    lexer.FailExpected("the end of the pairs");
  }
  if (!lexer.failed()) return pairs;
  return absl::InvalidArgumentError(
      absl::StrCat("source-target pairs '", text, "': ", lexer.error_message()));
}

}  // namespace xla_indexing
