#include "xla_indexing/tools/out_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "absl/strings/string_view.h"
#include "llvm/Support/ErrorHandling.h"

namespace xla_indexing {
namespace {

int out_of_memory_exit_code = 1;

// May be called on any thread, several at once, and must not allocate.
[[noreturn]] void EndOutOfMemory() {
  static std::atomic<bool> is_ending = false;
  // Another thread ends the process.
  while (is_ending.exchange(true)) pause();
  std::fflush(stdout);
  constexpr absl::string_view kMessage = "print-indexing: error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(out_of_memory_exit_code);
}

// Nothing here throws but the standard library: std::bad_alloc, std::length_error and, of a thread
// that cannot be started, std::system_error.
[[noreturn]] void EndOnException() {
  if (std::current_exception() == nullptr) std::abort();
  EndOutOfMemory();
}

}  // namespace

void EndWhenOutOfMemory(int exit_code) {
  out_of_memory_exit_code = exit_code;
  std::set_new_handler(EndOutOfMemory);
  std::set_terminate(EndOnException);
  llvm::install_bad_alloc_error_handler([](void* /*user_data*/, const char* /*reason*/,
                                           bool /*gen_crash_diag*/) { EndOutOfMemory(); });
}

}  // namespace xla_indexing
