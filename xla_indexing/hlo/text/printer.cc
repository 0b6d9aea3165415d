#include "xla_indexing/hlo/text/printer.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/text/parts/float_format.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing {
namespace {

using internal::DecodeFloat;
using internal::EncodeNan;
using internal::IsNegative;
using internal::MantissaOf;

template <typename T>
void AppendNumber(T value, std::string* text) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text->append(buffer, result.ptr - buffer);
}

// The least decimal that reads back as the same bits.
void PrintFloat(ElementType type, uint64_t bits, std::string* text) {
  const double value = DecodeFloat(type, bits);
  const bool negative = IsNegative(type, bits);
  if (value != value) {
    if (EncodeNan(type, negative) == bits) {
      // Where NaN has one pattern its sign says nothing.
      text->append(negative && EncodeNan(type, false) != bits ? "-nan" : "nan");
    } else {
      absl::StrAppend(text, negative ? "-" : "", "nan(0x", absl::Hex(MantissaOf(type, bits)), ")");
    }
  } else if (type == ElementType::kF64 || value == 0) {
    AppendNumber(value, text);
  } else {
    AppendNumber(static_cast<float>(value), text);
  }
}

void PrintElement(const Literal& literal, int64_t position, std::string* text) {
  const ElementType type = literal.shape().element_type();
  if (IsPred(type)) {
    text->append(literal.BitsAt(position) != 0 ? "true" : "false");
  } else if (IsUnsignedIntegral(type)) {
    AppendNumber(literal.BitsAt(position), text);
  } else if (IsSignedIntegral(type)) {
    AppendNumber(*literal.IntegerAt(position), text);
  } else if (IsComplex(type)) {
    const ElementType part = ComplexComponentType(type);
    text->append("(");
    PrintFloat(part, literal.BitsAt(position, 0), text);
    text->append(", ");
    PrintFloat(part, literal.BitsAt(position, 1), text);
    text->append(")");
  } else {
    PrintFloat(type, literal.BitsAt(position), text);
  }
}

void PrintArray(const Literal& literal, std::string* text) {
  const Shape& shape = literal.shape();
  const int64_t rank = shape.rank();
  if (literal.ElementCount() == 0) {
    text->append("{}");
    return;
  }
  // Before an element, as many braces open as dimensions begin with it; after it, as many close as
  // end with it.
  std::vector<int64_t> index(rank, 0);
  text->append(rank, '{');
  for (int64_t position = 0;; ++position) {
    PrintElement(literal, position, text);
    int64_t ended = 0;
    while (ended < rank && ++index[rank - 1 - ended] == shape.dimension(rank - 1 - ended)) {
      index[rank - 1 - ended] = 0;
      ++ended;
    }
    text->append(ended, '}');
    if (ended == rank) return;
    text->append(", ");
    text->append(ended, '{');
  }
}

void PrintName(absl::string_view name, std::string* text) {
  text->push_back('%');
  text->append(name.data(), name.size());
}

// Appends what `print` appends for each value, with commas between and braces around.
template <typename T, typename Print>
void PrintList(absl::Span<const T> values, absl::string_view separator, Print print,
               std::string* text) {
  text->push_back('{');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text->append(separator.data(), separator.size());
    print(values[i], text);
  }
  text->push_back('}');
}

template <typename T>
void PrintNames(absl::Span<const T* const> values, std::string* text) {
  PrintList(
      values, ", ", [](const T* value, std::string* out) { PrintName(value->name(), out); }, text);
}

// Appends the value of an attribute of some kind.
struct ValuePrinter {
  AttributeKey key;
  std::string* text;

  void operator()(bool value) const { text->append(value ? "true" : "false"); }
  void operator()(int64_t value) const { AppendNumber(value, text); }
  void operator()(absl::Span<const int64_t> values) const {
    PrintList(values, ",", AppendNumber<int64_t>, text);
  }
  void operator()(absl::string_view value) const {
    if (KindOf(key) == AttributeKind::kString) {
      PrintString(value, text);
    } else {
      text->append(value.data(), value.size());
    }
  }
  void operator()(const Window* window) const { text->append(window->ToString()); }
  void operator()(const ConvolutionDimensionNumbers* numbers) const {
    text->append(numbers->ToString());
  }
  void operator()(absl::Span<const PaddingDimension> padding) const {
    absl::StrAppend(text, absl::StrJoin(padding, "x", [](std::string* out, const auto& dimension) {
                      absl::StrAppend(out, dimension.low, "_", dimension.high);
                      if (dimension.interior != 0) absl::StrAppend(out, "_", dimension.interior);
                    }));
  }
  void operator()(absl::Span<const SliceRange> slice) const {
    PrintList(
        slice, ", ",
        [](const SliceRange& range, std::string* out) {
          absl::StrAppend(out, "[", range.start, ":", range.limit);
          if (range.stride != 1) absl::StrAppend(out, ":", range.stride);
          absl::StrAppend(out, "]");
        },
        text);
  }
  void operator()(const Literal* literal) const { PrintLiteral(*literal, text); }
  void operator()(const HloComputation* computation) const { PrintName(computation->name(), text); }
  void operator()(absl::Span<const HloComputation* const> computations) const {
    PrintNames(computations, text);
  }
  void operator()(absl::Span<const HloInstruction* const> instructions) const {
    PrintNames(instructions, text);
  }
};

// Whether the attribute is written between the parentheses of its instruction.
bool StandsAsOperand(AttributeKey key) {
  return key == AttributeKey::kConstantValue || key == AttributeKey::kParameterNumber;
}

bool IsWritten(AttributeKey key) { return key != AttributeKey::kUnknownOpcode; }

}  // namespace

void PrintString(absl::string_view value, std::string* text) {
  absl::StrAppend(text, "\"", absl::CEscape(value), "\"");
}

void PrintLiteral(const Literal& literal, std::string* text) {
  if (literal.shape().IsToken()) {
    text->append("token");
  } else if (literal.IsElided()) {
    text->append("{...}");
  } else if (literal.shape().IsTuple()) {
    text->append("(");
    for (size_t i = 0; i < literal.tuple_elements().size(); ++i) {
      if (i > 0) text->append(", ");
      PrintLiteral(literal.tuple_elements()[i], text);
    }
    text->append(")");
  } else if (literal.IsSplat() && literal.ElementCount() > 0) {
    PrintElement(literal, 0, text);
  } else {
    PrintArray(literal, text);
  }
}

void PrintInstruction(const HloInstruction& instruction, std::string* text) {
  PrintName(instruction.name(), text);
  text->append(" = ");
  instruction.shape().AppendTo(text);
  absl::StrAppend(text, " ", instruction.opcode_name(), "(");
  bool first = true;
  for (const HloInstruction* operand : instruction.operands()) {
    if (!first) text->append(", ");
    first = false;
    PrintName(operand->name(), text);
  }
  for (const Attribute& attribute : instruction.attributes()) {
    if (StandsAsOperand(attribute.key)) {
      std::visit(ValuePrinter{attribute.key, text}, attribute.value);
    }
  }
  text->append(")");
  for (const Attribute& attribute : instruction.attributes()) {
    if (StandsAsOperand(attribute.key) || !IsWritten(attribute.key)) continue;
    absl::StrAppend(text, ", ", attribute.name, "=");
    std::visit(ValuePrinter{attribute.key, text}, attribute.value);
  }
}

void PrintComputation(const HloComputation& computation, std::string* text) {
  if (computation.is_entry()) text->append("ENTRY ");
  PrintName(computation.name(), text);
  text->append(" {\n");
  for (const HloInstruction* instruction : computation.instructions()) {
    text->append(instruction->is_root() ? "  ROOT " : "  ");
    PrintInstruction(*instruction, text);
    text->append("\n");
  }
  text->append("}");
  if (!computation.execution_thread().empty()) {
    text->append(", execution_thread=");
    PrintString(computation.execution_thread(), text);
  }
  text->append("\n");
}

void PrintModule(const HloModule& module, std::string* text) {
  absl::StrAppend(text, "HloModule ", module.name());
  for (const ModuleAttribute& attribute : module.attributes()) {
    absl::StrAppend(text, ", ", attribute.name, "=", attribute.text);
  }
  text->append("\n");
  if (!module.stack_frame_tables().empty()) {
    absl::StrAppend(text, "\n", module.stack_frame_tables(), "\n");
  }
  for (const HloComputation* computation : module.computations()) {
    text->append("\n");
    PrintComputation(*computation, text);
  }
}

std::string HloInstruction::ToString() const {
  std::string text;
  PrintInstruction(*this, &text);
  return text;
}

std::string HloComputation::ToString() const {
  std::string text;
  PrintComputation(*this, &text);
  return text;
}

std::string HloModule::ToString() const {
  std::string text;
  PrintModule(*this, &text);
  return text;
}

}  // namespace xla_indexing
