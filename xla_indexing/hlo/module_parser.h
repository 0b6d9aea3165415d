// Reading of one module: header, computations and what their instructions need from the module.

#ifndef XLA_INDEXING_HLO_MODULE_PARSER_H_
#define XLA_INDEXING_HLO_MODULE_PARSER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/lexer.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {

class ModuleParser {
 public:
  // The lexer must read a part of `source`'s text: names and attributes of the module point there.
  ModuleParser(Lexer& lexer, std::shared_ptr<const SourceText> source);

  // Reads all that the lexer holds. Null if that is nothing but comments or where the lexer failed.
  std::unique_ptr<HloModule> Parse();

  // For the parser of instructions.
  Lexer& lexer() { return lexer_; }
  HloModule& module() { return *module_; }
  // Reads a shape and gives the module's copy of it. A spelling that was met before is not read
  // again.
  bool ReadInternedShape(int depth, const Shape** shape);
  // The module's copy of a shape that was inferred, null (and a failure at `position`) if it, or
  // all that were inferred together, are too large: a short text can describe shapes of exponential
  // size.
  const Shape* InternInferredShape(const char* position, const Shape& shape);
  // Reads a string and gives what it stands for.
  bool ReadString(absl::string_view* value);
  // Reads the name of a computation that is defined.
  bool ReadCalledComputation(const HloComputation** computation);
  // Reads `{ instructions }` of a computation that has no name of its own.
  bool ReadInlineComputation(int depth, const HloComputation** computation);
  // Makes a computation that gets a name starting with `base`, when all names are known.
  HloComputation* MakeGeneratedComputation(absl::string_view base);

 private:
  struct Generated {
    HloComputation* computation;
    absl::string_view base;
  };

  bool ReadPiece();
  bool ReadHeader();
  bool ReadHeaderAttribute();
  bool ReadStackFrameTables();
  bool ReadComputations();
  bool ReadComputation();
  bool ReadSignature(const Shape** result);
  bool ReadBareInstructions(bool one_without_name);
  bool BeginsProtocolBuffer();
  bool BeginsComputation();
  void NameGenerated();

  Lexer& lexer_;
  std::unique_ptr<HloModule> module_;
  bool has_header_ = false;
  // Shapes by their spelling.
  absl::flat_hash_map<absl::string_view, const Shape*> shapes_by_text_;
  std::vector<Generated> generated_;
  int64_t inferred_shape_nodes_ = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODULE_PARSER_H_
