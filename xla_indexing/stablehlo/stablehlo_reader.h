// Reading of StableHLO text, as JAX, PyTorch/XLA and TensorFlow print it, into HLO modules.
//
// MLIR's own parser reads it, pretty or generic, with or without locations, in a context that is made for
// the call; importer.h says what becomes of the operations. Operations that are not known keep their names
// (HloOpcode::kUnknown). The module has the text as its source: the verifier's errors name lines of it.
//
// Nothing is aborted on: whatever the text is, the result is a module or an error
//
//   FILE:LINE:COLUMN: error: what is wrong
//   <the source line>
//      ^
//
// Brackets may be nested 256 deep; affine maps are refused, as no operation of StableHLO has one. Bytecode
// is refused with a word on how to get text.
//
// Example:
//
//   const auto module = ReadAndVerifyStableHlo(text, "model.mlir");
//   if (!module.ok()) { std::cerr << module.status().message() << "\n"; return; }
//   (*module)->entry_computation()->root_instruction()->name();

#ifndef XLA_INDEXING_STABLEHLO_STABLEHLO_READER_H_
#define XLA_INDEXING_STABLEHLO_STABLEHLO_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// The module of a text. At most 2^31 bytes are read.
absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(SourceText source);

// The module, if the verifier accepts it: what the analysis asks of a module.
absl::StatusOr<std::unique_ptr<HloModule>> ReadAndVerifyStableHlo(
    absl::string_view text, absl::string_view filename = "<string>");

// Whether a text is one of MLIR (text or bytecode) and none of HLO: it begins with a module, a function or an alias, after
// blanks and comments.
bool LooksLikeStableHlo(absl::string_view text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_STABLEHLO_STABLEHLO_READER_H_
