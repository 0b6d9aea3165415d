// Objects that are taken, used and given back with the memory that they have allocated: what a
// simplifier or a positional algebra works with. Most of these serve a map or a path, in which
// making their tables anew would take about as long as using them.
//
//   std::unique_ptr<SimplifierState> state = InstancePool<SimplifierState>::Take();
//   state->Start(..);   // it is as its last user left it
//   InstancePool<SimplifierState>::GiveBack(std::move(state));
#ifndef XLA_INDEXING_BASE_MEMORY_INSTANCE_POOL_H_
#define XLA_INDEXING_BASE_MEMORY_INSTANCE_POOL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace xla_indexing::internal {

// Each thread has objects of its own.
template <typename T>
class InstancePool {
 public:
  static std::unique_ptr<T> Take() {
    std::vector<std::unique_ptr<T>>& kept = Kept();
    if (kept.empty()) return std::make_unique<T>();
    std::unique_ptr<T> object = std::move(kept.back());
    kept.pop_back();
    return object;
  }
  static void GiveBack(std::unique_ptr<T> object) {
    // Two or three objects of one thread live at the same time.
    constexpr size_t kMostKept = 4;
    if (Kept().size() < kMostKept) Kept().push_back(std::move(object));
  }

 private:
  static std::vector<std::unique_ptr<T>>& Kept() {
    thread_local std::vector<std::unique_ptr<T>> kept;
    return kept;
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_MEMORY_INSTANCE_POOL_H_
