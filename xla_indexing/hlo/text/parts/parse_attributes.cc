#include "xla_indexing/hlo/text/parts/parse_attributes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace xla_indexing::internal {
namespace {

// `0_1` or `-1_0_3`: integers with `_` between them.
bool ReadUnderscored(Lexer& lexer, absl::string_view what, IntegerList* values) {
  do {
    if (!lexer.ReadInteger(what, &values->emplace_back())) return false;
  } while (lexer.ConsumeRaw('_'));
  return true;
}

// One field of a window: its values for all dimensions, with `x` between them.
using WindowField = absl::InlinedVector<IntegerList, 4>;

bool StoreWindowField(Lexer& lexer, const char* start, absl::string_view name,
                      const WindowField& field, Window* window) {
  if (window->dimensions.empty()) window->dimensions.resize(field.size());
  if (window->dimensions.size() != field.size()) {
    return lexer.FailAt(start, "the window has ", window->dimensions.size(), " dimensions, its ",
                        name, " has ", field.size());
  }
  for (size_t i = 0; i < field.size(); ++i) {
    WindowDimension& dimension = window->dimensions[i];
    const IntegerList& values = field[i];
    const bool is_pair = name == "pad";
    if (values.size() != (is_pair ? 2 : 1)) {
      return lexer.FailAt(start, is_pair ? "expected low_high for each dimension of the padding"
                                         : "expected one number for each dimension");
    }
    if (is_pair) {
      dimension.padding_low = values[0];
      dimension.padding_high = values[1];
      continue;
    }
    if (name == "rhs_reversal") {
      if (values[0] != 0 && values[0] != 1) {
        return lexer.FailAt(start, "expected 0 or 1 for each dimension of rhs_reversal");
      }
      dimension.window_reversal = values[0] == 1;
      continue;
    }
    if (values[0] < (name == "size" ? 0 : 1)) {
      return lexer.FailAt(start, "a ", name, " of a window cannot be ", values[0]);
    }
    if (name == "size") dimension.size = values[0];
    if (name == "stride") dimension.stride = values[0];
    if (name == "lhs_dilate") dimension.base_dilation = values[0];
    if (name == "rhs_dilate") dimension.window_dilation = values[0];
  }
  return true;
}

bool IsWindowField(absl::string_view name) {
  return name == "size" || name == "stride" || name == "pad" || name == "lhs_dilate" ||
         name == "rhs_dilate" || name == "rhs_reversal";
}

// Reads the labels of one operand or of the result up to `stop`: `first` and `second` are the
// letters of its two dimensions that are not spatial.
bool ReadLabels(Lexer& lexer, char first, int64_t* first_dimension, char second,
                int64_t* second_dimension, absl::InlinedVector<int64_t, 3>* spatial,
                int64_t* rank) {
  const char* const start = lexer.position();
  int64_t position = 0;
  const auto set = [&](int64_t& dimension) {
    if (dimension >= 0) return lexer.Fail("this label stands here a second time");
    dimension = position;
    return true;
  };
  for (;; ++position) {
    const char c = lexer.PeekRaw();
    if (c == first) {
      if (!set(*first_dimension)) return false;
    } else if (c == second) {
      if (!set(*second_dimension)) return false;
    } else if (c >= '0' && c <= '9') {
      const size_t i = c - '0';
      if (i >= spatial->size()) spatial->resize(i + 1, -1);
      if (!set((*spatial)[i])) return false;
    } else if (c != '?') {
      break;
    }
    lexer.ConsumeRaw(c);
  }
  *rank = position;
  for (const int64_t dimension : *spatial) {
    if (dimension < 0) return lexer.FailAt(start, "a number is missing among these labels");
  }
  if (*first_dimension < 0 || *second_dimension < 0) {
    return lexer.FailExpected("the labels ", std::string(1, first), ", ", std::string(1, second),
                              " and the digits");
  }
  return true;
}

}  // namespace

bool ReadIntegers(Lexer& lexer, IntegerList* values) {
  return lexer.ReadList('{', '}',
                        [&] { return lexer.ReadInteger("an integer", &values->emplace_back()); });
}

bool ReadWindow(Lexer& lexer, Window* window) {
  if (!lexer.Expect('{')) return false;
  std::vector<absl::string_view> seen;
  while (!lexer.Consume('}')) {
    const char* const start = lexer.NextPosition();
    const absl::string_view name = lexer.ReadWord();
    if (!IsWindowField(name)) {
      lexer.SetPosition(start);
      return lexer.FailExpected(
          "size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal of a window");
    }
    for (const absl::string_view other : seen) {
      if (other == name) return lexer.FailAt(start, name, " is given twice");
    }
    seen.push_back(name);
    if (!lexer.Expect('=')) return false;
    WindowField field;
    do {
      if (!ReadUnderscored(lexer, "an integer", &field.emplace_back())) return false;
    } while (lexer.ConsumeRaw('x'));
    if (!StoreWindowField(lexer, start, name, field, window)) return false;
  }
  return true;
}

bool ReadDimensionLabels(Lexer& lexer, ConvolutionDimensionNumbers* numbers) {
  const char* const start = lexer.NextPosition();
  if (!ReadLabels(lexer, 'b', &numbers->input_batch, 'f', &numbers->input_feature,
                  &numbers->input_spatial, &numbers->input_rank)) {
    return false;
  }
  if (!lexer.ConsumeRaw('_')) return lexer.FailExpected("'_' and the labels of the kernel");
  if (!ReadLabels(lexer, 'i', &numbers->kernel_input_feature, 'o', &numbers->kernel_output_feature,
                  &numbers->kernel_spatial, &numbers->kernel_rank)) {
    return false;
  }
  if (!lexer.ConsumeRaw('-') || !lexer.ConsumeRaw('>')) {
    return lexer.FailExpected("'->' and the labels of the result");
  }
  if (!ReadLabels(lexer, 'b', &numbers->output_batch, 'f', &numbers->output_feature,
                  &numbers->output_spatial, &numbers->output_rank)) {
    return false;
  }
  if (numbers->input_spatial.size() != numbers->kernel_spatial.size() ||
      numbers->input_spatial.size() != numbers->output_spatial.size()) {
    return lexer.FailAt(start, "the labels have unequal numbers of spatial dimensions");
  }
  return true;
}

bool ReadPadding(Lexer& lexer, std::vector<PaddingDimension>* padding) {
  const char first = lexer.Peek();
  if (first != '-' && (first < '0' || first > '9')) return true;
  do {
    const char* const start = lexer.position();
    IntegerList values;
    if (!ReadUnderscored(lexer, "an integer", &values)) return false;
    if (values.size() != 2 && values.size() != 3) {
      return lexer.FailAt(start, "expected low_high or low_high_interior for each dimension");
    }
    const int64_t interior = values.size() == 3 ? values[2] : 0;
    if (interior < 0) return lexer.FailAt(start, "the interior padding is negative");
    padding->push_back({.low = values[0], .high = values[1], .interior = interior});
  } while (lexer.ConsumeRaw('x'));
  return true;
}

bool ReadSlice(Lexer& lexer, std::vector<SliceRange>* slice) {
  return lexer.ReadList('{', '}', [&] {
    SliceRange& range = slice->emplace_back();
    if (!lexer.Expect('[') || !lexer.ReadInteger("the start of a slice", &range.start) ||
        !lexer.Expect(':') || !lexer.ReadInteger("the limit of a slice", &range.limit)) {
      return false;
    }
    if (lexer.Consume(':') && !lexer.ReadInteger("the stride of a slice", &range.stride)) {
      return false;
    }
    return lexer.Expect(']');
  });
}

std::optional<KernelSparsity> ParseKernelSparsity(absl::string_view config) {
  Lexer lexer(config);
  if (!lexer.Consume('{') || !lexer.Consume("rhs") || !lexer.Consume('=') || !lexer.Consume('{')) {
    return std::nullopt;
  }
  KernelSparsity sparsity;
  bool has_sizes = false;
  bool has_dimension = false;
  while (!lexer.Consume('}')) {
    lexer.SkipSpace();
    const absl::string_view field = lexer.ReadWord();
    if (field.empty() || !lexer.Consume('=')) return std::nullopt;
    if (field == "sparsity") {
      has_sizes = lexer.ReadInteger("a size", &sparsity.kept) && lexer.ConsumeRaw('x') &&
                  lexer.ReadInteger("a size", &sparsity.of);
      if (!has_sizes) return std::nullopt;
      continue;
    }
    int64_t value = 0;
    if (!lexer.ReadInteger("an integer", &value)) return std::nullopt;
    if (field == "dimension") {
      sparsity.dimension = value;
      has_dimension = true;
    } else if (field == "stride" ? value != 1 : field != "idx") {
      return std::nullopt;
    }
  }
  const bool is_whole = lexer.Consume('}') && lexer.AtEnd();
  if (!is_whole || !has_sizes || !has_dimension || sparsity.kept < 1 ||
      sparsity.of < sparsity.kept) {
    return std::nullopt;
  }
  return sparsity;
}

}  // namespace xla_indexing::internal
