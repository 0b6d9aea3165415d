// Storage for objects that are made by the dozen and thrown away together: what a simplifier keeps
// for the expressions of one domain. From one use to the next it keeps its memory.
//
//   ObjectPool<DigitAtom> atoms;
//   DigitAtom* atom = atoms.New();   // as its last user left it: every field has to be set
//   HashedChains<DigitAtom> by_hash;
//   by_hash.Insert(hash, atom);      // DigitAtom has the fields `hash` and `next`
//   for (DigitAtom* a = by_hash.First(hash); a != nullptr; a = a->next) ..  // also of other hashes
//   std::unique_ptr<SimplifierMemory> memory = InstancePool<SimplifierMemory>::Take();
//   InstancePool<SimplifierMemory>::GiveBack(std::move(memory));
#ifndef XLA_INDEXING_AFFINE_INTERNAL_OBJECT_POOL_H_
#define XLA_INDEXING_AFFINE_INTERNAL_OBJECT_POOL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace xla_indexing::internal {

// Objects that stay where they are until Reset().
template <typename T>
class ObjectPool {
 public:
  T* New() {
    if (used_ == objects_.size()) objects_.push_back(std::make_unique<T>());
    return objects_[used_++].get();
  }
  size_t size() const { return used_; }
  // The objects in the order in which they were made.
  const T& operator[](size_t i) const { return *objects_[i]; }
  void Reset() {
    constexpr size_t kMostKept = 256;
    if (objects_.size() > kMostKept) objects_.truncate(kMostKept);
    used_ = 0;
  }

 private:
  llvm::SmallVector<std::unique_ptr<T>, 0> objects_;
  size_t used_ = 0;
};

// Objects by their hash, last inserted first. T has the fields `size_t hash` and `T* next`, which
// belong to the table.
template <typename T>
class HashedChains {
 public:
  T* First(size_t hash) const { return chains_[hash & (chains_.size() - 1)]; }

  void Insert(size_t hash, T* object) {
    if (++count_ > 2 * chains_.size()) Grow();
    object->hash = hash;
    Link(object);
  }

  void Clear() {
    if (count_ == 0) return;
    chains_.assign(kFewest, nullptr);
    count_ = 0;
  }

 private:
  static constexpr size_t kFewest = 8;

  void Link(T* object) {
    T*& first = chains_[object->hash & (chains_.size() - 1)];
    object->next = first;
    first = object;
  }

  void Grow() {
    const llvm::SmallVector<T*, kFewest> before = std::move(chains_);
    chains_.assign(before.size() * 4, nullptr);
    for (T* object : before) {
      while (object != nullptr) {
        T* const next = object->next;
        Link(object);
        object = next;
      }
    }
  }

  llvm::SmallVector<T*, kFewest> chains_{kFewest, nullptr};
  size_t count_ = 0;
};

// What is kept of T, whole, of the thread that asks. T has Reset().
template <typename T>
class InstancePool {
 public:
  static std::unique_ptr<T> Take() {
    std::vector<std::unique_ptr<T>>& kept = Kept();
    if (kept.empty()) return std::make_unique<T>();
    std::unique_ptr<T> memory = std::move(kept.back());
    kept.pop_back();
    return memory;
  }
  static void GiveBack(std::unique_ptr<T> memory) {
    // Those of one thread that live at the same time are two or three.
    constexpr size_t kMostKept = 8;
    std::vector<std::unique_ptr<T>>& kept = Kept();
    if (kept.size() >= kMostKept) return;
    memory->Reset();
    kept.push_back(std::move(memory));
  }

 private:
  static std::vector<std::unique_ptr<T>>& Kept() {
    thread_local std::vector<std::unique_ptr<T>> kept;
    return kept;
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_OBJECT_POOL_H_
