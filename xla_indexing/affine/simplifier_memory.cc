#include "xla_indexing/affine/simplifier_memory.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace xla_indexing {
namespace {

// Simplifiers of one thread that live at the same time are two or three.
constexpr size_t kMostKept = 8;
thread_local std::vector<std::unique_ptr<SimplifierMemory>> unused_memory;

}  // namespace

std::unique_ptr<SimplifierMemory> TakeMemory() {
  if (unused_memory.empty()) return std::make_unique<SimplifierMemory>();
  std::unique_ptr<SimplifierMemory> memory = std::move(unused_memory.back());
  unused_memory.pop_back();
  return memory;
}

void GiveBackMemory(std::unique_ptr<SimplifierMemory> memory) {
  if (unused_memory.size() >= kMostKept) return;
  memory->Reset();
  unused_memory.push_back(std::move(memory));
}

}  // namespace xla_indexing
