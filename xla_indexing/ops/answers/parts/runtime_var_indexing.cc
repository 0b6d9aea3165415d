#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/compare.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using internal::CompareValues;

int CompareInstructions(const HloInstruction* a, const HloInstruction* b) {
  if (a == b) return 0;
  if (int c = CompareValues(a->parent()->index_in_module(), b->parent()->index_in_module())) {
    return c;
  }
  return CompareValues(a->index_in_computation(), b->index_in_computation());
}

}  // namespace

Interval ValuesOfElementType(ElementType type) {
  if (IsPred(type)) return Interval::Closed(0, 1);
  const int bits = BitWidth(type);
  if (IsUnsignedIntegral(type)) {
    return bits >= 64 ? Interval::AtLeast(0)
                      : Interval::Closed(0, static_cast<int64_t>((uint64_t{1} << bits) - 1));
  }
  if (IsSignedIntegral(type)) {
    const int64_t greatest = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    return Interval::Closed(-greatest - 1, greatest);
  }
  return Interval::All();
}

RuntimeVarIndexing RuntimeVarIndexing::IterationsOf(const HloInstruction& loop) {
  RuntimeVarIndexing binding;
  binding.instruction = &loop;
  binding.value = ValueFunction::Iterations();
  return binding;
}

const Shape& RuntimeVarIndexing::shape() const {
  static const Shape* const count = new Shape(Shape::Scalar(ElementType::kU64));
  return value.kind() == ValueFunction::Kind::kIterations ? *count
                                                          : instruction->shape().Leaf(leaf);
}

int64_t RuntimeVarIndexing::NumLoops() const {
  return llvm::count_if(call_path, [](const HloInstruction* caller) {
    return caller->opcode() == HloOpcode::kWhile;
  });
}

Interval RuntimeVarIndexing::ValueRange() const {
  return value.Apply(ValuesOfElementType(shape().element_type()));
}

std::string RuntimeVarIndexing::YieldedBy(const HloComputation* analysed) const {
  std::string text;
  for (const HloInstruction* caller : call_path) absl::StrAppend(&text, caller->name(), "/");
  if (analysed != nullptr && instruction->parent() != analysed) {
    absl::StrAppend(&text, instruction->parent()->name(), "/");
  }
  absl::StrAppend(&text, instruction->name());
  if (leaf != 0) absl::StrAppend(&text, "#", leaf);
  return text;
}

int CompareSources(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  const size_t shorter = std::min(a.call_path.size(), b.call_path.size());
  for (size_t i = 0; i < shorter; ++i) {
    if (const int c = CompareInstructions(a.call_path[i], b.call_path[i])) return c;
  }
  if (const int c = CompareValues(a.call_path.size(), b.call_path.size())) return c;
  if (const int c = CompareInstructions(a.instruction, b.instruction)) return c;
  return CompareValues(a.leaf, b.leaf);
}

}  // namespace xla_indexing
