// Functions of abseil that keep something for each thread, in place of abseil's own.
//
// Debian compiles abseil's archives for programs (-fPIE), not for shared objects. All of their code can be linked
// into one but for what reads thread-local variables: the linker refuses the archives' members raw_hash_set.cc.o,
// cordz_functions.cc.o and sysinfo.cc.o. With everything that these define defined here, they are not linked. It
// declares nothing: abseil's headers do, in this one version of it. Other versions need no such help, or have to be
// compiled with -fPIC.

#include "absl/base/config.h"

#if defined(ABSL_LTS_RELEASE_VERSION) && ABSL_LTS_RELEASE_VERSION == 20220623

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>

#include "absl/base/internal/sysinfo.h"
#include "absl/container/internal/raw_hash_set.h"
#include "absl/strings/internal/cordz_functions.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

namespace container_internal {

// The control bytes of every table without elements: the end at once, and nothing behind it.
alignas(16) ABSL_CONST_INIT const ctrl_t kEmptyGroup[16] = {
    ctrl_t::kSentinel, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
    ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
    ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
    ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty};

// abseil asks that nobody relies on the order of elements, and draws this by lot. Nothing here does.
bool ShouldInsertBackwards(size_t hash, const ctrl_t* ctrl) {
  return ((hash ^ (reinterpret_cast<uintptr_t>(ctrl) >> 12)) & 1) != 0;
}

template FindInfo find_first_non_full(const ctrl_t*, size_t, size_t);

void HashTableSizeOverflow() { throw std::bad_alloc(); }

void ConvertDeletedToEmptyAndFullToDeleted(ctrl_t* ctrl, size_t capacity) {
  for (size_t i = 0; i < capacity; ++i) {
    ctrl[i] = IsEmptyOrDeleted(ctrl[i]) ? ctrl_t::kEmpty : ctrl_t::kDeleted;
  }
  ctrl[capacity] = ctrl_t::kSentinel;
  // The first bytes are there once more behind the end, so that a group may be read across it. A table that is
  // smaller than a group has empty ones in between.
  std::memset(ctrl + capacity + 1, static_cast<int8_t>(ctrl_t::kEmpty), NumClonedBytes());
  std::memcpy(ctrl + capacity + 1, ctrl, std::min(capacity, NumClonedBytes()));
}

}  // namespace container_internal

namespace cord_internal {

// No cord is ever watched: a thread looks again after this many.
ABSL_CONST_INIT thread_local int64_t cordz_next_sample = int64_t{1} << 40;

bool cordz_should_profile_slow() {
  cordz_next_sample = int64_t{1} << 40;
  return false;
}
int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t) {}
void cordz_set_next_sample_for_testing(int64_t next_sample) { cordz_next_sample = next_sample; }

}  // namespace cord_internal

namespace base_internal {

int NumCPUs() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }
double NominalCPUFrequency() { return 1.0; }
pid_t GetTID() { return static_cast<pid_t>(syscall(SYS_gettid)); }
pid_t GetCachedTID() {
  static thread_local const pid_t id = GetTID();
  return id;
}

}  // namespace base_internal

ABSL_NAMESPACE_END
}  // namespace absl

#endif
