#include "xla_indexing/base/engines.h"

#ifdef XLA_INDEXING_BOARD

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace xla_indexing::internal {
namespace {

constexpr absl::string_view kNamesOfEngines[] = {
#define XLA_INDEXING_ENGINE(name, question, files) #name,
#include "xla_indexing/base/engines.def"
#undef XLA_INDEXING_ENGINE
};
constexpr size_t kNumEngines = std::size(kNamesOfEngines);

void WriteName(std::FILE* file, absl::string_view name) {
  std::fprintf(file, "%.*s\n", static_cast<int>(name.size()), name.data());
}

[[noreturn]] void StopAtUnknown(absl::string_view unknown) {
  std::fprintf(stderr, "XLA_INDEXING_WITHOUT names no engine: ");
  WriteName(stderr, unknown);
  std::fprintf(stderr, "The engines are:\n");
  for (const absl::string_view name : kNamesOfEngines) WriteName(stderr, name);
  std::exit(2);
}

// Which engines have been asked whether they are off.
std::atomic<bool> engines_asked[kNumEngines] = {};

void WriteEnginesAsked() {
  std::FILE* file = std::fopen(std::getenv("XLA_INDEXING_ASKED"), "w");
  if (file == nullptr) return;
  for (size_t i = 0; i < kNumEngines; ++i) {
    if (engines_asked[i]) WriteName(file, kNamesOfEngines[i]);
  }
  std::fclose(file);
}

std::array<bool, kNumEngines> ReadEnginesOff() {
  std::array<bool, kNumEngines> off = {};
  if (std::getenv("XLA_INDEXING_ASKED") != nullptr) std::atexit(WriteEnginesAsked);
  const char* names = std::getenv("XLA_INDEXING_WITHOUT");
  if (names == nullptr) return off;
  for (const absl::string_view name : absl::StrSplit(names, ',', absl::SkipEmpty())) {
    size_t i = 0;
    while (i < kNumEngines && kNamesOfEngines[i] != name) ++i;
    if (i == kNumEngines) StopAtUnknown(name);
    off[i] = true;
  }
  return off;
}

}  // namespace

bool IsOff(Engine engine) {
  static const std::array<bool, kNumEngines> off = ReadEnginesOff();
  const auto i = static_cast<size_t>(engine);
  if (!engines_asked[i].load(std::memory_order_relaxed)) {
    engines_asked[i].store(true, std::memory_order_relaxed);
  }
  return off[i];
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BOARD
