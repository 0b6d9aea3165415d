// Reading of one module: its header and its computations.

#ifndef XLA_INDEXING_HLO_TEXT_MODULE_PARSER_H_
#define XLA_INDEXING_HLO_TEXT_MODULE_PARSER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/module_reader.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

class ModuleParser final : public ModuleReader {
 public:
  // The lexer must read a part of `source`'s text: names and attributes of the module point there.
  ModuleParser(Lexer& lexer, std::shared_ptr<const SourceText> source);

  // Reads all that the lexer holds. Null if that is nothing but comments or where the lexer failed.
  std::unique_ptr<HloModule> Parse();

  // ModuleReader.
  Lexer& lexer() override { return lexer_; }
  HloModule& module() override { return *module_; }
  bool ReadInternedShape(int depth, const Shape** shape) override;
  const Shape* InternInferredShape(const char* position, const Shape& shape) override;
  bool ReadString(absl::string_view* value) override;
  bool ReadCalledComputation(const HloComputation** computation) override;
  bool ReadInlineComputation(int depth, const HloComputation** computation) override;
  HloComputation* MakeGeneratedComputation(absl::string_view base) override;

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

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_MODULE_PARSER_H_
