// Objects that stay where they are until all of them are destroyed. llvm::SpecificBumpPtrAllocator
// with larger pieces: what is taken up to the first one is not given back in between.
#ifndef XLA_INDEXING_AFFINE_EXPR_OBJECT_ARENA_H_
#define XLA_INDEXING_AFFINE_EXPR_OBJECT_ARENA_H_

#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace xla_indexing::internal {

template <typename T>
class ObjectArena {
 public:
  ObjectArena() = default;
  ~ObjectArena() { Clear(); }
  ObjectArena(const ObjectArena&) = delete;
  ObjectArena& operator=(const ObjectArena&) = delete;

  template <typename... Arguments>
  T* New(Arguments&&... arguments) {
    objects_.push_back(new (memory_.Allocate(sizeof(T), alignof(T)))
                           T{std::forward<Arguments>(arguments)...});
    return objects_.back();
  }
  // In the order in which they were made.
  const T& operator[](size_t i) const { return *objects_[i]; }
  size_t size() const { return objects_.size(); }
  void Clear() {
    for (T* object : objects_) object->~T();
    objects_.clear();
    memory_.Reset();
  }

 private:
  static constexpr size_t kSlabSize = 1 << 15;
  llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, kSlabSize> memory_;
  llvm::SmallVector<T*, 0> objects_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_OBJECT_ARENA_H_
