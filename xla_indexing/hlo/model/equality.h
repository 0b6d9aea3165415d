// Structural equality of modules.
//
// Example: `a = f32[4] add(p, q)` and `b = f32[4] add(r, s), metadata={op_name="plus"}` are the same
// operation (SameOperation); modules that differ in no more than these are not equal (ModulesEqual).

#ifndef XLA_INDEXING_HLO_MODEL_EQUALITY_H_
#define XLA_INDEXING_HLO_MODEL_EQUALITY_H_

#include <string>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// Whether two modules are the same: name, header attributes, and computation by computation in
// order the names, threads, roots and instructions (opcode, name, shape with layout, operands,
// attributes in order). Where they are not, `*difference` (if not null) says in one sentence what
// differs first.
bool ModulesEqual(const HloModule& a, const HloModule& b, std::string* difference = nullptr);

// Whether two instructions, perhaps of different modules, do the same to their operands: they have
// equal opcodes, shapes (layouts aside) and attributes in any order. Descriptive attributes
// (metadata, sharding, frontend attributes) and control predecessors do not count. What is called is
// not compared.
bool SameOperation(const HloInstruction& a, const HloInstruction& b);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODEL_EQUALITY_H_
