// Adds the copies that a module needs before its updates can be made in place, as XLA's copy insertion does
// after fusion.
//
// Who writes into a buffer that holds a value already, and has to:
//
//   dynamic-update-slice, scatter, a fusion that updates a parameter in place   the array that it updates
//   while              the leaves of its operand that its body changes
//   the body's root    the leaves of the body's parameter
//
// Where a value may not be overwritten (query/in_place/in_place_aliases.h) there is a copy:
//
//   of an array that is updated, of an operand of a while   where it is a constant, an output, or a parameter
//                                    of the entry that nobody donates
//   of an array that is updated, for its other readers      where they read it after the update
//   of the new value, at the body's root                    where the old one is needed after it is there
//   of an output                                            which is a parameter or a constant
//
// Where it is not decided whether a value may be overwritten, it is overwritten. A module with a schedule has
// the copies that XLA made; it is not changed.
//
// Example: ENTRY e { p = .. parameter(0), ROOT u = dynamic-update-slice(p, x, i) } updates a copy of p, unless p
// is donated, `input_output_alias={ {}: (0, {}) }`.
//
// Errors: InvalidArgument for a module that does not verify.
#ifndef XLA_INDEXING_GPU_FUSING_COPY_LIKE_XLA_H_
#define XLA_INDEXING_GPU_FUSING_COPY_LIKE_XLA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

struct AddedCopy {
  const HloInstruction* copy = nullptr;
  std::string reason;  // `c is a parameter that is not donated`
};

struct ModuleWithCopies {
  std::unique_ptr<HloModule> module;
  std::vector<AddedCopy> copies;  // in the order of the module
  int64_t undecided = 0;          // values that are overwritten though it was not decided
};

absl::StatusOr<ModuleWithCopies> CopyLikeXla(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_FUSING_COPY_LIKE_XLA_H_
