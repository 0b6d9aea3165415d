// Interrupts and progress of questions that take long.

#include <cmath>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "python/src/common.h"

namespace xla_indexing::python {

bool Waiting::ShouldStop(double share) {
  constexpr double kPercent = 100;
  const nb::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_valid()) {
      progress_ = nb::module_::import_("xla_indexing.progress").attr("Progress")("xla_indexing");
    }
    progress_.attr("show_percent")(static_cast<int>(std::floor(share * kPercent)));
  } catch (...) {
    raised_ = std::current_exception();
    return true;
  }
  return false;
}

void Waiting::Finish() {
  if (progress_.is_valid()) progress_.attr("end")();
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

namespace {

thread_local bool has_context = false;

}  // namespace

ContextLock::ContextLock(Context& context) : context_(context) {
  if (has_context) {
    throw StatusError(absl::FailedPreconditionError(
        "a question is asked while its thread waits for the answer to another one"));
  }
  context_.mutex.lock();
  has_context = true;
}

ContextLock::~ContextLock() {
  has_context = false;
  context_.mutex.unlock();
}

}  // namespace xla_indexing::python
