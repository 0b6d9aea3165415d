// A list of a few small things, which is copied in place while it is short. llvm::SmallVector calls
// out for every copy and every append; sums of two or three terms are copied by the thousand.
#ifndef XLA_INDEXING_AFFINE_EXPR_SHORT_LIST_H_
#define XLA_INDEXING_AFFINE_EXPR_SHORT_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "llvm/ADT/ArrayRef.h"

namespace xla_indexing::internal {

template <typename T, uint32_t kInPlace>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ShortList() {}  // no element has a value
  ShortList(std::initializer_list<T> elements) : ShortList(elements.begin(), elements.end()) {}
  ShortList(const T* begin, const T* end) { append(begin, end); }
  ShortList(const ShortList& other) {
    if (!CopyInPlace(other)) CopyFrom(other);
  }
  ShortList(ShortList&& other) noexcept {
    if (!CopyInPlace(other)) MoveFrom(other);
  }
  ShortList& operator=(const ShortList& other) {
    if (this != &other && !CopyInPlace(other)) CopyFrom(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this != &other && !CopyInPlace(other)) MoveFrom(other);
    return *this;
  }
  ~ShortList() = default;

  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size_ - 1]; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  // Converts implicitly, like llvm::SmallVector.
  operator llvm::ArrayRef<T>() const  // NOLINT(google-explicit-constructor)
  {
    return {data(), size_};
  }

  void push_back(T value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data()[size_++] = value;
  }
  // Appends the elements of another list.
  void append(const T* begin, const T* end) {
    const size_t size = size_ + static_cast<size_t>(end - begin);
    if (size > capacity_) Grow(static_cast<uint32_t>(size));
    Copy(begin, end, data() + size_);
    size_ = static_cast<uint32_t>(size);
  }
  void pop_back() { --size_; }
  T pop_back_val() { return data()[--size_]; }
  void erase(T* at) {
    Copy(at + 1, end(), at);
    --size_;
  }
  // Keeps the first `size` elements.
  void truncate(size_t size) { size_ = static_cast<uint32_t>(size); }
  void clear() { size_ = 0; }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  T* data() { return far_ ? far_.get() : near_; }
  const T* data() const { return far_ ? far_.get() : near_; }

  // Copies element by element: std::copy calls memmove, which takes longer for two or three
  // elements.
  static void Copy(const T* from, const T* end, T* to) {
    for (; from != end; ++from, ++to) *to = *from;
  }

  // Copies all places of a list that is stored in place, whether they hold values or not, which
  // takes neither a loop nor a branch. False, and nothing copied, unless both lists are stored in
  // place.
  bool CopyInPlace(const ShortList& other) {
    if (far_ || other.far_) return false;
    std::memcpy(static_cast<void*>(near_), other.near_, sizeof(near_));
    size_ = other.size_;
    return true;
  }

  void CopyFrom(const ShortList& other) {
    size_ = 0;
    if (other.size_ > capacity_) Grow(other.size_);
    Copy(other.begin(), other.end(), data());
    size_ = other.size_;
  }

  void MoveFrom(ShortList& other) {
    if (!other.far_) return CopyFrom(other);
    far_ = std::move(other.far_);
    capacity_ = std::exchange(other.capacity_, kInPlace);
    size_ = std::exchange(other.size_, 0);
  }

  void Grow(uint32_t least) {
    const uint32_t capacity = std::max(least, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<T[]>(capacity);
    Copy(begin(), end(), larger.get());
    far_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> far_;
  uint32_t size_ = 0;
  uint32_t capacity_ = kInPlace;
  // The first `size_` elements have values.
  union {
    T near_[kInPlace];
  };
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_SHORT_LIST_H_
