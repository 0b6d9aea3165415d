// What the parser of instructions needs of the module that it reads a part of.
#ifndef XLA_INDEXING_HLO_TEXT_MODULE_READER_H_
#define XLA_INDEXING_HLO_TEXT_MODULE_READER_H_

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

class ModuleReader {
 public:
  virtual ~ModuleReader() = default;

  virtual Lexer& lexer() = 0;
  virtual HloModule& module() = 0;
  // Reads a shape and gives the module's copy of it. A spelling that was met before is not read
  // again.
  virtual bool ReadInternedShape(int depth, const Shape** shape) = 0;
  // The module's copy of a shape that was inferred, null (and a failure at `position`) if it, or
  // all that were inferred together, are too large: a short text can describe shapes of exponential
  // size.
  virtual const Shape* InternInferredShape(const char* position, const Shape& shape) = 0;
  // Reads a string and gives what it stands for.
  virtual bool ReadString(absl::string_view* value) = 0;
  // Reads the name of a computation that is defined.
  virtual bool ReadCalledComputation(const HloComputation** computation) = 0;
  // Reads `{ instructions }` of a computation that has no name of its own.
  virtual bool ReadInlineComputation(int depth, const HloComputation** computation) = 0;
  // Makes a computation that gets a name starting with `base`, when all names are known.
  virtual HloComputation* MakeGeneratedComputation(absl::string_view base) = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_MODULE_READER_H_
