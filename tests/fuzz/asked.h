// What the fuzzer of modules asks about, and which elements the answers name.
//
// Runtime variables read tensors with arbitrary contents, which are the same at every reading.
#ifndef TESTS_FUZZ_ASKED_H_
#define TESTS_FUZZ_ASKED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::fuzz {

// Bounds on the work for one input.
inline constexpr int64_t kSteps = 1 << 12;  // of each question
inline constexpr size_t kMaxEntries = 24;   // of an instruction that are looked at
inline constexpr size_t kSamples = 6;       // elements of an array that are looked at

// What is asked about: an instruction and its operands, or a computation, by its root, and its
// parameters.
struct Asked {
  const HloInstruction* result;
  bool is_fusion;
  mlir::MLIRContext* context;

  absl::Span<const HloInstruction* const> operands() const {
    return is_fusion ? result->parent()->parameters() : result->operands();
  }
  std::string Name() const {
    return absl::StrCat(is_fusion ? "the computation of " : "", result->ToString());
  }
};

struct Ends {
  const Shape& from;
  const Shape& to;
};

Ends EndsOf(const Asked& asked, const IndexingEntry& entry, bool forward);

// Aborts, with the law that does not hold and both sides of it.
[[noreturn]] void Fail(const Asked& asked, absl::string_view law, absl::string_view first,
                       absl::string_view second = "");

bool IsInside(const Shape& array, llvm::ArrayRef<int64_t> element);

// Some elements of an array, all of them where they are few.
std::vector<Point> SomeElements(const Shape& array, Random& random);

// The element that a runtime variable is read at; none outside its tensor, or on another device.
std::optional<Point> ElementOf(const RuntimeVarIndexing& binding, int num_dims,
                               llvm::ArrayRef<int64_t> point);

// The elements that an element reads through a map, or a set of them; none where they are many or
// not known.
std::optional<std::set<Point>> ReadsOf(const OperandIndexing& indexing, const Point& element);
std::optional<std::set<Point>> ReadsOf(const OperandIndexingSet& maps, const Point& element);

// Whether all that runtime variables read are parameters, whose contents can be arbitrary; those of
// other instructions depend on one another.
bool ReadsParametersOnly(const OperandIndexingSet& maps);

std::string TextOf(const OperandIndexingSet& maps);

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_ASKED_H_
