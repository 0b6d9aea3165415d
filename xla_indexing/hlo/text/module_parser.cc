#include "xla_indexing/hlo/text/module_parser.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/model/instruction_names.h"
#include "xla_indexing/hlo/text/instruction_parser.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
namespace {

// The name of the computation that holds instructions which stand alone.
constexpr absl::string_view kBareComputationName = "entry";

// The end of the tuple shape that begins at the start of `text`: the parenthesis that closes it, past
// comments. 0 where there is none.
size_t TupleShapeExtent(absl::string_view text) {
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
    if (text[i] != '/') continue;
    const size_t close = text.substr(i, 2) == "/*" ? text.find("*/", i + 2) : text.npos;
    if (close == text.npos) return 0;
    i = close + 1;
  }
  return 0;
}

// The end of the layout, `{..}` without braces or comments inside, that begins at `start`; 0 where it
// is another one.
size_t LayoutExtent(absl::string_view text, size_t start) {
  for (size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '}') return i + 1;
    if (text[i] == '{' || text[i] == '/') return 0;
  }
  return 0;
}

// The end of the array shape that begins at the start of `text`, which is 0 where it has comments.
size_t ArrayShapeExtent(absl::string_view text) {
  size_t i = 0;
  while (i < text.size() && Lexer::IsNameCharacter(text[i])) ++i;
  if (i == text.size() || text[i] != '[') return 0;
  while (i < text.size() && text[i] != ']' && text[i] != '/') ++i;
  if (i == text.size() || text[i] == '/') return 0;
  ++i;
  if (i == text.size()) return 0;
  switch (text[i]) {
    case ' ':
      // A layout may follow after space; that is left to the reader of shapes.
      if (i + 1 == text.size()) return 0;
      return text[i + 1] == '{' || text[i + 1] == ' ' || text[i + 1] == '/' ? 0 : i;
    case ',':
    case ')':
      return i;
    case '{':
      return LayoutExtent(text, i);
    default:
      return 0;
  }
}

// The end of the shape that begins at the start of `text`, where its spelling shows it without being
// understood, and otherwise 0. It only serves to look up shapes that are spelled alike.
size_t ShapeExtent(absl::string_view text) {
  return text[0] == '(' ? TupleShapeExtent(text) : ArrayShapeExtent(text);
}

}  // namespace

ModuleParser::ModuleParser(Lexer& lexer, std::shared_ptr<const SourceText> source)
    : lexer_(lexer), module_(std::make_unique<HloModule>("")) {
  module_->source_ = std::move(source);
}

std::unique_ptr<HloModule> ModuleParser::Parse() {
  if (lexer_.AtEnd() || !ReadPiece()) return nullptr;
  if (lexer_.failed()) return nullptr;
  NameGenerated();
  if (!has_header_) {
    module_->SetName(absl::StrCat("module_", module_->entry_computation()->name()));
  }
  return std::move(module_);
}

bool ModuleParser::ReadPiece() {
  if (BeginsProtocolBuffer()) {
    return lexer_.Fail("this is a text protocol buffer; only HLO text is read");
  }
  const char* const start = lexer_.position();
  const bool has_percent = lexer_.ConsumeRaw('%');
  const absl::string_view word = lexer_.ReadWord();
  const char next = lexer_.Peek();
  if (!has_percent && word == "HloModule" && (next == '%' || Lexer::IsNameStart(next)))
    return ReadHeader();
  lexer_.SetPosition(start);
  if (BeginsComputation()) {
    if (!ReadComputations()) return false;
    // Modules are printed with signatures and an ENTRY; a list with the one and not the other is a
    // part of a module, and which computation is its entry is not known.
    if (next != '(' || module_->entry_ != nullptr) return true;
    return lexer_.FailAt(start,
                         "this computation is cut off from its module: there is neither a "
                         "'HloModule' header nor an ENTRY computation");
  }
  if (has_percent || (!word.empty() && next == '=') || (word == "ROOT" && next != '(')) {
    return ReadBareInstructions(false);
  }
  if (lexer_.PeekRaw() == '(' || next == '(' || next == '[') return ReadBareInstructions(true);
  return lexer_.FailExpected("'HloModule', a computation or an instruction");
}

bool ModuleParser::BeginsProtocolBuffer() {
  const char* const start = lexer_.position();
  absl::string_view word = lexer_.ReadWord();
  bool begins = !word.empty() && lexer_.Peek() == ':';
  if (!begins && lexer_.Consume('{')) {
    word = lexer_.ReadWord();
    begins = !word.empty() && lexer_.Peek() == ':';
  }
  lexer_.SetPosition(start);
  return begins;
}

// `ENTRY name`, `name {`, `name (p: shape, ..) ->` or `name () ->`.
bool ModuleParser::BeginsComputation() {
  const char* const start = lexer_.NextPosition();
  bool begins = false;
  const bool has_percent = lexer_.ConsumeRaw('%');
  const absl::string_view word = lexer_.ReadWord();
  const char next = lexer_.Peek();
  if (!has_percent && word == "ENTRY" && (next == '%' || Lexer::IsNameStart(next))) {
    begins = true;
  } else if (!word.empty() && next == '{') {
    begins = true;
  } else if (!word.empty() && lexer_.Consume('(')) {
    if (lexer_.Consume(')')) {
      begins = lexer_.Peek() == '-' || lexer_.Peek() == '{';
    } else {
      lexer_.Consume('%');
      begins = !lexer_.ReadWord().empty() && lexer_.Peek() == ':';
    }
  }
  lexer_.SetPosition(start);
  return begins;
}

bool ModuleParser::ReadHeader() {
  absl::string_view name;
  if (!lexer_.ReadName("the name of the module", &name)) return false;
  has_header_ = true;
  module_->name_ = name;
  lexer_.Consume(':');
  while (lexer_.Consume(',')) {
    if (!ReadHeaderAttribute()) return false;
  }
  return ReadStackFrameTables() && ReadComputations();
}

bool ModuleParser::ReadHeaderAttribute() {
  const char* const start = lexer_.NextPosition();
  const absl::string_view name = lexer_.ReadWord();
  if (name.empty()) return lexer_.FailExpected("the name of an attribute");
  if (module_->FindAttribute(name).has_value()) {
    return lexer_.FailAt(start, "attribute '", name, "' is given twice");
  }
  if (!lexer_.Expect('=')) return false;
  absl::string_view text;
  if (lexer_.Peek() == '{') {
    const char* const value = lexer_.position();
    EntryLayout layout;  // The text is kept; here only its syntax is looked at.
    if (name == "entry_computation_layout") {
      if (!ReadEntryLayout(lexer_, &layout)) return false;
      text = lexer_.TextSince(value);
    } else if (!lexer_.ReadBraces(&text)) {
      return false;
    }
  } else if (!lexer_.ReadUntilComma(&text)) {
    return false;
  }
  module_->attributes_.push_back({name, text});
  return true;
}

// Tables named FileNames, FunctionNames, FileLocations and StackFrames: a number and a string, or a
// number and `{..}`, a line.
bool ModuleParser::ReadStackFrameTables() {
  const char* const start = lexer_.NextPosition();
  const char* end = start;
  while (true) {
    const char* const table = lexer_.NextPosition();
    const absl::string_view word = lexer_.ReadWord();
    const char next = lexer_.Peek();
    const bool is_table = (word == "FileNames" || word == "FunctionNames" ||
                           word == "FileLocations" || word == "StackFrames") &&
                          next != '{' && next != '(';
    if (!is_table) {
      lexer_.SetPosition(table);
      break;
    }
    end = table + word.size();
    while (lexer_.Peek() >= '0' && lexer_.PeekRaw() <= '9') {
      int64_t number = 0;
      absl::string_view text;
      if (!lexer_.ReadInteger("the number of an entry", &number)) return false;
      if (!(lexer_.Peek() == '{' ? lexer_.ReadBraces(&text) : lexer_.ReadString(&text))) {
        return false;
      }
      end = lexer_.position();
    }
  }
  module_->SetOwnedStackFrameTables(absl::string_view(start, end - start));
  return true;
}

bool ModuleParser::ReadComputations() {
  do {
    if (!ReadComputation()) return false;
  } while (!lexer_.AtEnd());
  return true;
}

bool ModuleParser::ReadComputation() {
  const char* name_start = lexer_.NextPosition();
  absl::string_view name;
  bool is_entry = false;
  if (!lexer_.ReadName("a computation", &name)) return false;
  if (name == "ENTRY" && *name_start != '%' && lexer_.Peek() != '{' && lexer_.PeekRaw() != '(') {
    is_entry = true;
    name_start = lexer_.NextPosition();
    if (!lexer_.ReadName("the name of the ENTRY computation", &name)) return false;
  }
  if (is_entry && module_->entry_ != nullptr) {
    return lexer_.FailAt(name_start, "this is the second computation marked ENTRY");
  }
  lexer_.SkipSpace();
  const Shape* declared_result = nullptr;
  const char* result_start = lexer_.position();
  if (lexer_.Peek() == '(' && !ReadSignature(&declared_result)) return false;
  if (!lexer_.Consume('{')) {
    return lexer_.FailExpected("'{' and the instructions of the computation");
  }
  HloComputation* computation = module_->MakeComputation(name);
  InstructionParser instructions(*this, computation, /*depth=*/0);
  if (!instructions.ReadUntil('}')) return false;
  while (lexer_.Consume(',')) {
    absl::string_view thread;
    if (!lexer_.Expect("execution_thread") || !lexer_.Expect('=') || !ReadString(&thread)) {
      return false;
    }
    computation->execution_thread_ = thread;
  }
  if (declared_result != nullptr) {
    const Shape& actual = computation->root_instruction()->shape();
    if (!EqualIgnoringLayout(*declared_result, actual)) {
      return lexer_.FailAt(result_start, "computation '", name, "' declares the result ",
                           declared_result->ToStringWithoutLayout(), ", its root '",
                           computation->root_instruction()->name(), "' has the shape ",
                           actual.ToStringWithoutLayout());
    }
  }
  if (!module_->Adopt(computation)) {
    return lexer_.FailAt(name_start, "computation '", name, "' is defined twice");
  }
  if (is_entry) module_->entry_ = computation;
  return true;
}

bool ModuleParser::ReadSignature(const Shape** result) {
  const auto read_parameter = [&] {
    absl::string_view name;
    const Shape* shape = nullptr;
    return lexer_.ReadName("the name of a parameter", &name) && lexer_.Expect(':') &&
           ReadInternedShape(0, &shape);
  };
  return lexer_.ReadList('(', ')', read_parameter) && lexer_.Expect("->") &&
         ReadInternedShape(0, result);
}

bool ModuleParser::ReadBareInstructions(bool one_without_name) {
  HloComputation* computation = module_->MakeComputation(kBareComputationName);
  InstructionParser instructions(*this, computation, /*depth=*/0);
  if (!(one_without_name ? instructions.ReadOneWithoutName() : instructions.ReadUntilEnd())) {
    return false;
  }
  return module_->Adopt(computation);
}

bool ModuleParser::ReadInternedShape(int depth, const Shape** shape) {
  const char* const start = lexer_.NextPosition();
  if (lexer_.Remaining() == 0) return lexer_.FailExpected("a shape");
  const size_t extent = ShapeExtent(absl::string_view(start, lexer_.Remaining()));
  if (extent > 0) {
    const auto it = shapes_by_text_.find(absl::string_view(start, extent));
    if (it != shapes_by_text_.end()) {
      *shape = it->second;
      lexer_.SetPosition(start + extent);
      return true;
    }
  }
  Shape value;
  if (!ReadShape(lexer_, depth, &value)) return false;
  *shape = module_->InternShape(value);
  if (lexer_.TextSince(start).size() == extent) {
    shapes_by_text_.emplace(lexer_.TextSince(start), *shape);
  }
  return true;
}

const Shape* ModuleParser::InternInferredShape(const char* position, const Shape& shape) {
  constexpr int64_t kMaxNodesOfAll = int64_t{1} << 20;
  if (shape.IsTuple()) {
    int64_t nodes_left = kMostTupleNodes;
    const int64_t levels = CountLevels(shape, &nodes_left);
    inferred_shape_nodes_ += kMostTupleNodes - nodes_left;
    if (nodes_left < 0 || inferred_shape_nodes_ > kMaxNodesOfAll || levels > kMaxParseDepth + 1) {
      lexer_.FailAt(position, "the shapes that this leaves out are too large; they must be given");
      return nullptr;
    }
  }
  return module_->InternShape(shape);
}

bool ModuleParser::ReadString(absl::string_view* value) {
  const char* const start = lexer_.NextPosition();
  absl::string_view raw;
  if (!lexer_.ReadString(&raw)) return false;
  *value = raw;
  if (raw.find('\\') == raw.npos) return true;
  std::string unescaped;
  std::string error;
  if (!absl::CUnescape(raw, &unescaped, &error)) {
    return lexer_.FailAt(start, "this string is malformed: ", error);
  }
  *value = module_->arena().CopyString(unescaped);
  return true;
}

bool ModuleParser::ReadCalledComputation(const HloComputation** computation) {
  const char* const start = lexer_.NextPosition();
  absl::string_view name;
  if (!lexer_.ReadName("the name of a computation", &name)) return false;
  *computation = module_->FindComputation(name);
  if (*computation != nullptr) return true;
  return lexer_.FailAt(start, "computation '", name, "' is not defined before this place");
}

bool ModuleParser::ReadInlineComputation(int depth, const HloComputation** computation) {
  if (depth > kMaxParseDepth) {
    return lexer_.Fail("computations are nested more than ", kMaxParseDepth, " deep");
  }
  if (!lexer_.Expect('{')) return false;
  HloComputation* made = MakeGeneratedComputation("computation");
  InstructionParser instructions(*this, made, depth);
  if (!instructions.ReadUntil('}')) return false;
  module_->Adopt(made);
  *computation = made;
  return true;
}

HloComputation* ModuleParser::MakeGeneratedComputation(absl::string_view base) {
  HloComputation* computation = module_->MakeComputation("");
  generated_.push_back({computation, base});
  return computation;
}

void ModuleParser::NameGenerated() {
  int64_t suffix = 0;
  for (const Generated& generated : generated_) {
    std::string name(generated.base);
    while (module_->FindComputation(name) != nullptr) {
      name = absl::StrCat(generated.base, ".", ++suffix);
    }
    generated.computation->name_ = module_->arena().CopyString(name);
    module_->AddName(generated.computation);
  }
}

}  // namespace xla_indexing::internal
