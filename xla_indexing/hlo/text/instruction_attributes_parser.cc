// The part of InstructionParser that reads attributes.

#include <bitset>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/instruction_parser.h"
#include "xla_indexing/hlo/text/parts/parse_attributes.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// The attributes that an asynchronous start keeps for itself; the others describe what it runs.
bool BelongsToAsyncStart(AttributeKey key) {
  switch (key) {
    case AttributeKey::kAsyncExecutionThread:
    case AttributeKey::kMetadata:
    case AttributeKey::kSharding:
    case AttributeKey::kFrontendAttributes:
    case AttributeKey::kControlPredecessors:
      return true;
    default:
      return false;
  }
}

// Whether the value of an attribute that is kept as text may have white space in it outside brackets: a
// literal after its shape.
bool MayHaveSpace(absl::string_view name) {
  return name == "literal" || name == "outfeed_shape" || name == "shape";
}

bool IsPlainTextCharacter(char c) {
  return Lexer::IsNameCharacter(c) || c == '+' || c == '@' || c == ':';
}

// Reads a value into the arena.
template <typename T>
bool ReadOne(Lexer& lexer, bool (*read)(Lexer&, T*), Arena& arena, AttributeValue* value) {
  T* owned = arena.New<T>();
  *value = static_cast<const T*>(owned);
  return read(lexer, owned);
}

// The same of a list.
template <typename List>
bool ReadListOf(Lexer& lexer, bool (*read)(Lexer&, List*), Arena& arena, AttributeValue* value) {
  List list;
  if (!read(lexer, &list)) return false;
  *value = arena.Copy(absl::MakeConstSpan(list));
  return true;
}

}  // namespace

bool InstructionParser::ReadAttributes(Attributes* attributes, Attributes* wrapped) {
  std::bitset<256> seen;
  while (lexer_.Consume(',')) {
    const char* const start = lexer_.NextPosition();
    const absl::string_view name = lexer_.ReadWord();
    if (name.empty()) return lexer_.FailExpected("the name of an attribute");
    const AttributeKey key = AttributeKeyFromName(name).value_or(AttributeKey::kOther);
    bool given = false;
    if (key == AttributeKey::kOther) {
      for (const Attribute& other : *attributes) given |= other.name == name;
    } else {
      given = seen.test(static_cast<size_t>(key));
      seen.set(static_cast<size_t>(key));
    }
    if (given) return lexer_.FailAt(start, "attribute '", name, "' is given twice");
    if (!lexer_.Expect('=')) return false;
    Attribute attribute{key, name, {}};
    if (KindOf(key) == AttributeKind::kText) {
      absl::string_view text;
      if (!ReadTextValue(key, name, &text)) return false;
      attribute.value = text;
    } else if (!ReadAttributeValue(key, &attribute.value)) {
      return false;
    }
    const bool to_wrapped = wrapped != nullptr && !BelongsToAsyncStart(key);
    (to_wrapped ? wrapped : attributes)->push_back(attribute);
  }
  return true;
}

bool InstructionParser::ReadAttributeValue(AttributeKey key, AttributeValue* value) {
  Arena& arena = module_reader_.module().arena();
  switch (KindOf(key)) {
    case AttributeKind::kBool:
      return lexer_.ReadBool(&value->emplace<bool>());
    case AttributeKind::kInteger:
      return lexer_.ReadInteger("an integer", &value->emplace<int64_t>());
    case AttributeKind::kIntegers:
      // An in-place collective-permute has a list of lists.
      if (key == AttributeKey::kSliceSizes && lexer_.Peek() == '{' && lexer_.PeekSecond() == '{') {
        return lexer_.ReadBraces(&value->emplace<absl::string_view>());
      }
      return ReadListOf<IntegerList>(lexer_, ReadIntegers, arena, value);
    case AttributeKind::kString:
      return module_reader_.ReadString(&value->emplace<absl::string_view>());
    case AttributeKind::kWindow:
      return ReadOne<Window>(lexer_, ReadWindow, arena, value);
    case AttributeKind::kDimensionLabels:
      return ReadOne<ConvolutionDimensionNumbers>(lexer_, ReadDimensionLabels, arena, value);
    case AttributeKind::kPadding:
      return ReadListOf<std::vector<PaddingDimension>>(lexer_, ReadPadding, arena, value);
    case AttributeKind::kSlice:
      return ReadListOf<std::vector<SliceRange>>(lexer_, ReadSlice, arena, value);
    case AttributeKind::kComputation:
      return ReadComputationValue(value);
    case AttributeKind::kComputations:
      return ReadComputationList(value);
    case AttributeKind::kInstructions:
      return ReadInstructionList(value);
    case AttributeKind::kText:     // Has been read already.
    case AttributeKind::kLiteral:  // Stands between the parentheses of a constant, never here.
      break;
  }
  return lexer_.FailExpected("an attribute");
}

bool InstructionParser::ReadTextValue(AttributeKey key, absl::string_view name,
                                      absl::string_view* text) {
  const char first = lexer_.Peek();
  const char* const start = lexer_.position();
  if (key == AttributeKey::kReplicaGroups) {
    ReplicaGroups groups;
    if (!ReadReplicaGroups(lexer_, &groups)) return false;
    *text = lexer_.TextSince(start);
    return true;
  }
  if (key == AttributeKey::kSourceTargetPairs) {
    std::vector<SourceTargetPair> pairs;
    if (!ReadSourceTargetPairs(lexer_, &pairs)) return false;
    *text = lexer_.TextSince(start);
    return true;
  }
  if (key == AttributeKey::kSharding) {
    return (first == '{' ? lexer_.ReadBraces(text) : lexer_.ReadUntilComma(text)) &&
           CheckSharding(lexer_, *text);
  }
  // The value of an unknown attribute is anything that brackets and strings hold together.
  if (key == AttributeKey::kOther) {
    if (MayHaveSpace(name)) return lexer_.ReadUntilComma(text);
    // An instruction after a comma too many: `x = add(a, b)`.
    const absl::string_view word = lexer_.ReadWord();
    const bool is_opcode = OpcodeFromName(word).has_value() && lexer_.PeekRaw() == '(';
    lexer_.SetPosition(start);
    if (is_opcode) return lexer_.FailExpected("the value of '", name, "'");
    return lexer_.ReadUntilSpace(text);
  }
  if (first == '{') return lexer_.ReadBraces(text);
  if (first == '"' || first == '\'') {
    absl::string_view unused;
    if (!lexer_.ReadString(&unused)) return false;
    *text = lexer_.TextSince(start);
    return true;
  }
  while (IsPlainTextCharacter(lexer_.PeekRaw())) lexer_.SetPosition(lexer_.position() + 1);
  *text = lexer_.TextSince(start);
  if (!text->empty()) return true;
  return lexer_.FailExpected("the value of '", name, "'");
}

// A name, a list of computations, or a computation that is written out in place.
bool InstructionParser::ReadComputationValue(AttributeValue* value) {
  if (lexer_.Peek() == '{') {
    const char* const start = lexer_.position();
    lexer_.Consume('{');
    bool is_inline = lexer_.Peek() != '}' && lexer_.Peek() != '{';
    if (is_inline) {
      lexer_.ConsumeRaw('%');
      const absl::string_view word = lexer_.ReadWord();
      const char next = lexer_.Peek();
      is_inline = next == '=' || (word == "ROOT" && next != ',' && next != '}');
    }
    lexer_.SetPosition(start);
    if (!is_inline) return ReadComputationList(value);
  }
  const HloComputation* computation = nullptr;
  if (!ReadComputation(&computation)) return false;
  *value = computation;
  return true;
}

// A name, or a computation that is written out in place.
bool InstructionParser::ReadComputation(const HloComputation** computation) {
  return lexer_.Peek() == '{' ? module_reader_.ReadInlineComputation(depth_ + 1, computation)
                              : module_reader_.ReadCalledComputation(computation);
}

bool InstructionParser::ReadComputationList(AttributeValue* value) {
  std::vector<const HloComputation*> computations;
  const auto read = [&] { return ReadComputation(&computations.emplace_back()); };
  if (!lexer_.ReadList('{', '}', read)) return false;
  *value = module_reader_.module().arena().Copy(absl::MakeConstSpan(computations));
  return true;
}

bool InstructionParser::ReadInstructionList(AttributeValue* value) {
  Operands instructions;
  const auto read = [&] { return ReadNamedOperand(nullptr, &instructions.emplace_back()); };
  if (!lexer_.ReadList('{', '}', read)) return false;
  *value = module_reader_.module().arena().Copy(absl::MakeConstSpan(instructions));
  return true;
}

}  // namespace xla_indexing::internal
