#include "xla_indexing/stablehlo/stablehlo_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/reader_dialects.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing {
namespace {

using internal::kMaxParseDepth;

constexpr size_t kMaxTextBytes = size_t{1} << 31;
constexpr absl::string_view kBytecode = "ML\xefR";
constexpr size_t kMostHeaderBytes = size_t{1} << 16;

absl::Status ErrorAt(const SourceText& source, size_t offset, absl::string_view message) {
  return absl::InvalidArgumentError(
      FormatDiagnostic(source.filename, source.text, offset, message));
}

// MLIR's bytecode, or a file of jax.export, which has it behind its header.
bool HasBytecode(absl::string_view text) {
  return absl::StrContains(text.substr(0, kMostHeaderBytes), kBytecode);
}

absl::Status BytecodeError(absl::string_view filename, absl::string_view text) {
  const bool is_exported = !absl::StartsWith(text, kBytecode);
  return absl::InvalidArgumentError(absl::StrCat(
      filename, ": error: this is ",
      is_exported ? "what jax.export's serialize() gives, with bytecode of MLIR in it"
                  : "MLIR's bytecode",
      ", which is not read. What prints its text, with the path for FILE:\n",
      is_exported ? "  python3 -c 'import jax.export; print(jax.export.deserialize(bytearray("
                    "open(\"FILE\", \"rb\").read())).mlir_module())'"
                  : "  python3 -c 'from jaxlib.mlir import ir; from jaxlib.mlir.dialects import "
                    "stablehlo; print(stablehlo.deserialize_portable_artifact(ir.Context(), "
                    "open(\"FILE\", \"rb\").read()))'"));
}

bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$'; }

// The text of a diagnostic, without types and attributes that are too long to print.
std::string MessageOf(mlir::Diagnostic& diagnostic) {
  using Kind = mlir::DiagnosticArgument::DiagnosticArgumentKind;
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const mlir::DiagnosticArgument& part : diagnostic.getArguments()) {
    const Kind kind = part.getKind();
    const bool is_long = (kind == Kind::Type && !internal::HasFewParts(part.getAsType())) ||
                         (kind == Kind::Attribute && !internal::HasFewParts(part.getAsAttribute()));
    if (is_long) stream << "..";
    if (!is_long) part.print(stream);
  }
  return text;
}

// Where the string that begins at `i` ends, or its line.
size_t EndOfString(absl::string_view text, size_t i) {
  const size_t end = std::min(text.find('"', i + 1), text.size());
  const absl::string_view inside = text.substr(i + 1, end - i - 1);
  // Constants are long, and without either.
  if (!absl::StrContains(inside, '\\') && !absl::StrContains(inside, '\n')) return end;
  for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return i;
}

// MLIR's parser recurses over brackets and over the signs in affine expressions. It is given no
// text in which it could do so without end.
absl::Status CheckNesting(const SourceText& source) {
  const absl::string_view text = source.text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        i = EndOfString(text, i);
        break;
      case '/':
        if (i + 1 < text.size() && text[i + 1] == '/') {
          while (i < text.size() && text[i] != '\n') ++i;
        }
        break;
      case '(':
      case '[':
      case '{':
      case '<':
        if (++depth > kMaxParseDepth) {
          return ErrorAt(source, i,
                         absl::StrCat("brackets are nested more than ", kMaxParseDepth, " deep"));
        }
        break;
      case ')':
      case ']':
      case '}':
        --depth;
        break;
      case '>':
        if (i == 0 || text[i - 1] != '-') --depth;
        break;
      case 'a':
        if ((i == 0 || !IsWord(text[i - 1])) && (absl::StartsWith(text.substr(i), "affine_map<") ||
                                                 absl::StartsWith(text.substr(i), "affine_set<"))) {
          return ErrorAt(source, i, "an affine map is not part of StableHLO");
        }
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeStableHlo(absl::string_view text) {
  if (HasBytecode(text)) return true;
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (!absl::StartsWith(text, "//")) break;
    text.remove_prefix(std::min(text.size(), text.find('\n')));
  }
  if (text.empty()) return false;
  if (text[0] == '#' || text[0] == '!') return true;
  for (const absl::string_view word : {"builtin.module", "\"builtin.module\"", "func.func",
                                       "\"func.func\"", "sdy.mesh", "\"sdy.mesh\""}) {
    if (absl::StartsWith(text, word)) return true;
  }
  if (!absl::ConsumePrefix(&text, "module")) return false;
  if (text.empty() || !absl::ascii_isspace(text[0])) return false;
  text = absl::StripLeadingAsciiWhitespace(text);
  if (absl::StartsWith(text, "@") || absl::StartsWith(text, "attributes ")) return true;
  // HLO may have a computation of this name.
  if (!absl::ConsumePrefix(&text, "{")) return false;
  text = absl::StripLeadingAsciiWhitespace(text);
  return text.empty() || text[0] == '}' || absl::StartsWith(text, "func") ||
         absl::StartsWith(text, "sdy.") || absl::StartsWith(text, "\"") ||
         absl::StartsWith(text, "//");
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(SourceText source_text) {
  const auto source = std::make_shared<const SourceText>(std::move(source_text));
  if (source->text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(source->filename, ": error: the text is larger than 2^31 bytes"));
  }
  if (HasBytecode(source->text)) return BytecodeError(source->filename, source->text);
  if (absl::Status status = CheckNesting(*source); !status.ok()) return status;

  mlir::DialectRegistry registry;
  internal::RegisterReaderDialects(&registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  // A dialect that is loaded later frees the names of its operations that were made before.
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  llvm::SourceMgr manager;
  const unsigned buffer = manager.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(source->text, source->filename), llvm::SMLoc());
  absl::Status error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (!error.ok() || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return;
    llvm::SMLoc at;
    if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation())) {
      at = manager.FindLocForLineAndColumn(buffer, place.getLine(), place.getColumn());
    }
    const size_t offset = at.isValid() ? at.getPointer() - source->text.data() : 0;
    error = ErrorAt(*source, offset, MessageOf(diagnostic));
  });
  const mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  mlir::AsmParserState state;
  mlir::Block block;
  if (mlir::failed(mlir::parseAsmSourceFile(manager, &block, config, &state))) {
    return error.ok() ? ErrorAt(*source, 0, "this is not MLIR's text") : error;
  }
  // Functions may stand without a module around them.
  mlir::OwningOpRef<mlir::ModuleOp> around;
  mlir::Operation* module = nullptr;
  if (block.getOperations().size() == 1 && mlir::isa<mlir::ModuleOp>(block.front())) {
    module = &block.front();
  } else {
    around = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    around->getBody()->getOperations().splice(around->getBody()->end(), block.getOperations());
    module = around->getOperation();
  }
  return internal::ModuleImporter(source, &state).Import(*module);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadAndVerifyStableHlo(absl::string_view text,
                                                                  absl::string_view filename) {
  auto module = ReadStableHlo({std::string(filename), std::string(text)});
  if (!module.ok()) return module;
  if (absl::Status status = VerifyModule(**module); !status.ok()) return status;
  return module;
}

}  // namespace xla_indexing
