// A value that copies share until one of them is changed.
//
// Copying costs a reference count, whatever the value is. A copy that is changed gets a value of
// its own first, unless no other copy is left. Copies may be used on several threads at the same
// time, as values may; one copy may not be changed while another thread uses that same copy.
//
// A CopyOnWrite that was moved from may be assigned to and destroyed, and nothing else.
//
// Example:
//
//   CopyOnWrite<std::string> a("one");
//   CopyOnWrite<std::string> b = a;  // no second string
//   b.Mutable() += " more";          // now there is one; *a is still "one"

#ifndef XLA_INDEXING_BASE_MEMORY_COPY_ON_WRITE_H_
#define XLA_INDEXING_BASE_MEMORY_COPY_ON_WRITE_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

template <typename T>
class CopyOnWrite {
 public:
  explicit CopyOnWrite(T value) : shared_(new Shared{std::move(value)}) {}
  // A value made of these parts, in its place.
  template <typename... Parts>
  explicit CopyOnWrite(std::in_place_t, Parts&&... parts)
      : shared_(new Shared{T{std::forward<Parts>(parts)...}}) {}
  CopyOnWrite(const CopyOnWrite& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  CopyOnWrite(CopyOnWrite&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  CopyOnWrite& operator=(const CopyOnWrite& other) {
    if (this != &other) *this = CopyOnWrite(other);
    return *this;
  }
  CopyOnWrite& operator=(CopyOnWrite&& other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~CopyOnWrite() {
    if (shared_ != nullptr &&
        (IsOnlyOwner() || shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      delete shared_;
    }
  }

  const T& operator*() const { return shared_->value; }
  const T* operator->() const { return &shared_->value; }

  // The value for changing it, which no other copy has from now on.
  T& Mutable() {
    if (!IsOnlyOwner()) *this = CopyOnWrite(shared_->value);
    return shared_->value;
  }

  // Whether both have one value in common. Where they have not, the values may be equal.
  bool SharesWith(const CopyOnWrite& other) const { return shared_ == other.shared_; }

 private:
  struct Shared {
    T value;
    std::atomic<int64_t> owners = 1;
  };

  // What other owners have read before they went away is read before this is true.
  bool IsOnlyOwner() const { return shared_->owners.load(std::memory_order_acquire) == 1; }

  Shared* shared_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_MEMORY_COPY_ON_WRITE_H_
