// Memory that is handed out in pieces and freed all at once.
//
// A module of tens of thousands of instructions is built from many small objects that live exactly
// as long as the module; one arena holds them. Objects with a destructor have it run when the arena
// is destroyed.

#ifndef XLA_INDEXING_HLO_MODEL_ARENA_H_
#define XLA_INDEXING_HLO_MODEL_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace xla_indexing::internal {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (auto it = destructors_.rbegin(); it != destructors_.rend(); ++it) it->run(it->object);
  }

  template <typename T, typename... Args>
  T* New(Args&&... args) {
    T* object = new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
    if constexpr (!std::is_trivially_destructible_v<T>) {
      destructors_.push_back({object, [](void* p) { static_cast<T*>(p)->~T(); }});
    }
    return object;
  }

  // `size` objects, not initialized.
  template <typename T>
  T* NewArray(size_t size) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(Allocate(size * sizeof(T), alignof(T)));
  }

  template <typename T>
  absl::Span<const T> Copy(absl::Span<const T> values) {
    if (values.empty()) return {};
    T* copy = NewArray<T>(values.size());
    std::uninitialized_copy(values.begin(), values.end(), copy);
    return absl::MakeConstSpan(copy, values.size());
  }

  absl::string_view CopyString(absl::string_view text) {
    if (text.empty()) return {};
    char* copy = NewArray<char>(text.size());
    std::memcpy(copy, text.data(), text.size());
    return absl::string_view(copy, text.size());
  }

 private:
  struct Destructor {
    void* object;
    void (*run)(void*);
  };

  static constexpr size_t kFirstBlock = 4096;
  static constexpr size_t kLargestBlock = size_t{1} << 20;

  void* Allocate(size_t size, size_t alignment) {
    uintptr_t start = (next_ + alignment - 1) & ~(uintptr_t{alignment} - 1);
    if (next_ == 0 || start + size > end_) {
      const size_t block_size = std::max(size + alignment, block_size_);
      block_size_ = std::min(block_size_ * 2, kLargestBlock);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size));
      next_ = reinterpret_cast<uintptr_t>(blocks_.back().get());
      end_ = next_ + block_size;
      start = (next_ + alignment - 1) & ~(uintptr_t{alignment} - 1);
    }
    next_ = start + size;
    return reinterpret_cast<void*>(start);
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<Destructor> destructors_;
  uintptr_t next_ = 0;
  uintptr_t end_ = 0;
  size_t block_size_ = kFirstBlock;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_MODEL_ARENA_H_
