// StableHLO, as operations of MLIR, to a module of HLO.
//
// The operations are known by their names and attributes alone, so that it makes no difference whether
// their dialects are registered in the context: a compiler that has them hands over what it has in memory,
// and the reader of text (stablehlo_reader.h) operations that no dialect knows. The context is not
// changed but for attributes and types of MLIR's own.
//
// Each function is a computation, and each region of an operation. A region's parameters are those of HLO:
//   - while: the state as one tuple, with the values that condition and body capture at its end;
//   - case, if: what the branch captures, as one tuple;
//   - reduce, reduce_window, scatter, sort, map: a captured scalar is one more array, of that scalar, that
//     the operation works on at the same time;
//   - what these regions compute of nothing but captured values, as an element of an array at a known place,
//     is computed outside, and its result captured;
//   - constants are copied into the regions that use them.
// An operation whose regions capture anything else is one that is not known, which may read all of it.
// Operations with several results have a tuple and a get-tuple-element for each. What HLO has no opcode for:
//   - a function of each element, as most of `chlo`, is a map of a custom call of that name;
//   - sdy.manual_computation is a call between custom calls that cut arrays for devices and join them;
//   - operations whose sizes are operands are what they are with constant sizes, where these are constants or
//     the types of results say them; a reshape is a dynamic-reshape, a bounded iota one whose sizes are set.
//     Others are custom calls, which may read all of their operands: an iota or a pad without bound, a
//     broadcast of a dimension of which it is not known whether it is 1 and repeated (symbols of JAX are not);
//   - einsum is a dot, with its result transposed, and diagonals gathered, where it has to be;
//   - send and recv are two instructions, of which the second ends with `-done`;
//   - a custom call of `mhlo.topk`, and of other operations of HLO, is that operation;
//   - async_start is a call, and a future is what it will be;
//   - an operation that is not known has an opcode that is not known (HloOpcode::kUnknown).
// Quantised types are what is stored. Locations are metadata, shardings are kept as text. Names are the
// text's: `%arg0` is `arg0`, and `%5`, an addition, is `add.5`; without text they are made of locations.
//
// Types are the shapes of instructions, and are compared with what their operations give when the module is
// verified (hlo/verify/verifier.h). Takes linear time.
//
// Errors: InvalidArgument with the operation's name and place: functions that call themselves, values that
// are not defined before their use, types that HLO does not have, attributes that are not what they should
// be, regions nested more than 256 deep.
//
// Example:
//
//   const auto module = ImportStableHlo(mlir_module);
//   if (!module.ok()) { std::cerr << module.status().message() << "\n"; return; }
//   (*module)->entry_computation()->root_instruction()->name();
//
// Source: the StableHLO specification; XLA's conversion of it, hlo/translate/mhlo_to_hlo.

#ifndef XLA_INDEXING_STABLEHLO_IMPORTER_H_
#define XLA_INDEXING_STABLEHLO_IMPORTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "mlir/IR/Operation.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// The module of a builtin.module. Its entry is the function `main`, else the last public one. The module is
// not verified, and nothing of it refers to `module`.
absl::StatusOr<std::unique_ptr<HloModule>> ImportStableHlo(mlir::Operation* module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_STABLEHLO_IMPORTER_H_
