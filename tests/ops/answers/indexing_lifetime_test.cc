#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing {
namespace {

template <typename T>
concept CanBeLookedInto = requires(T&& answer) { *std::forward<T>(answer); };
template <typename T>
concept HasMembers = requires(T&& answer) { std::forward<T>(answer)->size(); };
template <typename T>
concept CanBeLookedIntoTwice = requires(T&& answer) { **std::forward<T>(answer); };

// for (const IndexingEntry& entry : **indexer.Index(..)) does not compile.
TEST(SharedIndexingLifetimeTest, ATemporaryCannotBeLookedInto) {
  static_assert(CanBeLookedInto<SharedIndexing&>);
  static_assert(CanBeLookedInto<const SharedIndexing&>);
  static_assert(!CanBeLookedInto<SharedIndexing>);
  static_assert(!CanBeLookedInto<const SharedIndexing>);
  static_assert(HasMembers<const SharedIndexing&>);
  static_assert(!HasMembers<SharedIndexing>);
  static_assert(CanBeLookedIntoTwice<const absl::StatusOr<SharedIndexing>&>);
  static_assert(!CanBeLookedIntoTwice<absl::StatusOr<SharedIndexing>>);
  const SharedIndexing kept(std::make_shared<const InstructionIndexing>());
  EXPECT_TRUE(kept->empty());
}

}  // namespace
}  // namespace xla_indexing
