// What questions are about, in the forms that they take it.
#ifndef PYTHON_SRC_SUBJECTS_H_
#define PYTHON_SRC_SUBJECTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "python/src/common.h"
#include "xla_indexing/gpu/machine/machine.h"

namespace xla_indexing::python {

// The computation that a question about a whole fusion is about: of a fusion what it calls, of any other
// instruction a view of it alone.
Computation ComputationOf(const Subject& subject);

// An Instruction or a Computation; TypeError for anything else.
Subject ToSubject(nb::handle object);

// The computation that a question about two programs is about: ComputationOf, or a Module's entry.
Computation ToComputation(nb::handle object);

// A machine of the library; Error for another name.
const Machine& MachineNamed(absl::string_view name);

// What an operand is called: the Python function's argument that it is, or its name.
std::string NameOfOperand(const Subject& subject, int64_t operand);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_SUBJECTS_H_
