// Whether a module is one that the reference executes in a moment.
//
// The reference walks over every element of every array, again and again, and expects that somebody
// chose a module for it. Callers with modules from elsewhere ask this first.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_CAN_EXECUTE_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_CAN_EXECUTE_H_

#include "absl/status/status.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::reference {

// Whether a verified module can be executed. Unimplemented, naming the instruction, where
//   - a dimension has a size that is known at run time only, or an array more than 256 elements;
//   - the entry, and what it calls as often as it calls it, takes more than some millions of steps;
//   - the module's header does not have the devices that an operation across them names, or there
//     are more than 8, or only some of them may come to it;
//   - a custom call whose target has a definition does not have the shapes of that definition.
// An operation without any definition (operations.h) is found when it is executed, which gives
// Unimplemented too.
absl::Status CanExecute(const HloModule& module);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_CAN_EXECUTE_H_
