#include "xla_indexing/hlo/proto/proto_attribute_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/proto/proto_literal.h"
#include "xla_indexing/hlo/proto/proto_spelling.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

std::vector<SliceRange> ReadSlice(const WireMessage& message, ProtoField field) {
  std::vector<SliceRange> slice;
  message.Messages(field, [&](const WireMessage& dimension, int64_t) {
    slice.push_back({.start = dimension.Integer({1, "start"}),
                     .limit = dimension.Integer({2, "limit"}),
                     .stride = dimension.Integer({3, "stride"})});
  });
  return slice;
}

std::vector<PaddingDimension> ReadPadding(const WireMessage& message, ProtoField field) {
  std::vector<PaddingDimension> padding;
  message.Message(field, [&](const WireMessage& config) {
    config.Messages({1, "dimensions"}, [&](const WireMessage& dimension, int64_t) {
      padding.push_back({.low = dimension.Integer({1, "edge_padding_low"}),
                         .high = dimension.Integer({2, "edge_padding_high"}),
                         .interior = dimension.Integer({3, "interior_padding"})});
      if (padding.back().interior < 0) dimension.Fail("the interior padding is negative");
    });
  });
  return padding;
}

Window ReadWindow(const WireMessage& message, ProtoField field) {
  Window window;
  message.Message(field, [&](const WireMessage& of_window) {
    of_window.Messages({1, "dimensions"}, [&](const WireMessage& dimension, int64_t) {
      const WindowDimension read = {.size = dimension.Integer({1, "size"}),
                                    .stride = dimension.Integer({2, "stride"}),
                                    .padding_low = dimension.Integer({3, "padding_low"}),
                                    .padding_high = dimension.Integer({4, "padding_high"}),
                                    .base_dilation = dimension.Integer({6, "base_dilation"}),
                                    .window_dilation = dimension.Integer({5, "window_dilation"}),
                                    .window_reversal = dimension.Bool({7, "window_reversal"})};
      if (read.size < 0 || read.stride < 1 || read.base_dilation < 1 || read.window_dilation < 1) {
        dimension.Fail("a window cannot have size ", read.size, ", stride ", read.stride,
                       ", base dilation ", read.base_dilation, ", window dilation ",
                       read.window_dilation);
      }
      window.dimensions.push_back(read);
    });
  });
  return window;
}

// The rank of an operand or result of a convolution with these dimensions: up to the last of them.
int64_t RankOf(const WireMessage& message, int64_t first, int64_t second,
               absl::Span<const int64_t> spatial) {
  constexpr int64_t kMostLabels = 64;
  std::vector<int64_t> dimensions(spatial.begin(), spatial.end());
  dimensions.push_back(first);
  dimensions.push_back(second);
  std::sort(dimensions.begin(), dimensions.end());
  const bool is_distinct =
      std::adjacent_find(dimensions.begin(), dimensions.end()) == dimensions.end();
  if (is_distinct && dimensions.front() >= 0 && dimensions.back() < kMostLabels) {
    return dimensions.back() + 1;
  }
  return message.Fail<int64_t>("{", absl::StrJoin(dimensions, ","),
                               "} cannot be the dimensions of an operand or result");
}

ConvolutionDimensionNumbers ReadConvolutionDimensions(const WireMessage& message) {
  ConvolutionDimensionNumbers read;
  read.input_batch = message.Integer({7, "input_batch_dimension"});
  read.input_feature = message.Integer({8, "input_feature_dimension"});
  message.Integers({11, "input_spatial_dimensions"}, &read.input_spatial);
  read.kernel_input_feature = message.Integer({3, "kernel_input_feature_dimension"});
  read.kernel_output_feature = message.Integer({4, "kernel_output_feature_dimension"});
  message.Integers({6, "kernel_spatial_dimensions"}, &read.kernel_spatial);
  read.output_batch = message.Integer({9, "output_batch_dimension"});
  read.output_feature = message.Integer({10, "output_feature_dimension"});
  message.Integers({12, "output_spatial_dimensions"}, &read.output_spatial);
  // Labels of spatial dimensions are single digits.
  constexpr size_t kMostSpatial = 10;
  const size_t spatial = read.input_spatial.size();
  if (read.kernel_spatial.size() != spatial || read.output_spatial.size() != spatial) {
    message.Fail("there are unequal numbers of spatial dimensions");
  } else if (spatial > kMostSpatial) {
    message.Fail("there are ", spatial, " spatial dimensions, and labels for ", kMostSpatial);
  }
  if (message.source().failed()) return read;
  read.input_rank = RankOf(message, read.input_batch, read.input_feature, read.input_spatial);
  read.kernel_rank =
      RankOf(message, read.kernel_input_feature, read.kernel_output_feature, read.kernel_spatial);
  read.output_rank = RankOf(message, read.output_batch, read.output_feature, read.output_spatial);
  return read;
}

// Reads rows of the table.
class AttributeReader {
 public:
  AttributeReader(const ProtoInstruction& instruction, Arena& arena, AttributeList* attributes)
      : in_(instruction),
        message_(instruction.message),
        source_(instruction.message.source()),
        arena_(arena),
        attributes_(*attributes) {}

  void Read(const AttributeField& row) {
    if (!row.fields.empty()) {
      message_.Message(row.field, [&](const WireMessage& message) {
        const ProtoInstruction within = {message,      in_.opcode, in_.shape,
                                         in_.operands, in_.called, in_.references};
        AttributeReader reader(within, arena_, &attributes_);
        for (const AttributeField& field : row.fields) reader.Read(field);
      });
    } else if (row.message_spelling != nullptr) {
      message_.Message(row.field, [&](const WireMessage& message) {
        AddText(row, row.message_spelling(message));
      });
    } else if (row.condition != nullptr && !row.condition(in_, row.field)) {
      return;
    } else if (row.spelling != nullptr) {
      AddText(row, row.spelling(in_, row.field));
    } else {
      ReadValue(row);
    }
  }

 private:
  void Add(const AttributeField& row, const AttributeValue& value) {
    const bool is_named = row.key == AttributeKey::kOther;
    attributes_.push_back({row.key, is_named ? row.name : AttributeName(row.key), value});
  }
  template <typename T>
  void AddList(const AttributeField& row, const std::vector<T>& values) {
    Add(row, arena_.Copy(absl::MakeConstSpan(values)));
  }
  template <typename T>
  void AddOwned(const AttributeField& row, T value) {
    const T* owned = arena_.New<T>(std::move(value));
    Add(row, owned);
  }

  void AddText(const AttributeField& row, const std::string& text);
  void ReadValue(const AttributeField& row);
  void ReadInteger(const AttributeField& row);
  void ReadComputation(const AttributeField& row);
  void ReadInstructions(const AttributeField& row);

  const ProtoInstruction& in_;
  const WireMessage& message_;
  ProtoSource& source_;
  Arena& arena_;
  AttributeList& attributes_;
};

void AttributeReader::AddText(const AttributeField& row, const std::string& text) {
  if (text.empty()) return;
  CheckReadsBack(text, source_);
  Add(row, arena_.CopyString(text));
}

void AttributeReader::ReadValue(const AttributeField& row) {
  const ProtoField field = row.field;
  switch (KindOf(row.key)) {
    case AttributeKind::kBool:
      // One with a condition is true where it is written.
      return Add(row, row.condition != nullptr || message_.Bool(field));
    case AttributeKind::kInteger:
      return ReadInteger(row);
    case AttributeKind::kIntegers: {
      std::vector<int64_t> values;
      message_.Integers(field, &values);
      return AddList(row, values);
    }
    case AttributeKind::kText:
    case AttributeKind::kString:
      return Add(row, arena_.CopyString(message_.Bytes(field)));
    case AttributeKind::kWindow:
      if (Window window = ReadWindow(message_, field); !window.dimensions.empty()) {
        AddOwned(row, std::move(window));
      }
      return;
    case AttributeKind::kDimensionLabels:
      return message_.Message(field, [&](const WireMessage& numbers) {
        AddOwned(row, ReadConvolutionDimensions(numbers));
      });
    case AttributeKind::kPadding:
      return AddList(row, ReadPadding(message_, field));
    case AttributeKind::kSlice:
      return AddList(row, ReadSlice(message_, field));
    case AttributeKind::kLiteral: {
      // Where there is none it was left out when the message was written.
      Literal value = Literal::Elided(in_.shape);
      message_.Message(
          field, [&](const WireMessage& literal) { value = ReadLiteralProto(literal, in_.shape); });
      return AddOwned(row, std::move(value));
    }
    case AttributeKind::kComputation:
      return ReadComputation(row);
    case AttributeKind::kComputations:
      if (!in_.called.empty()) Add(row, arena_.Copy(in_.called));
      return;
    case AttributeKind::kInstructions:
      return ReadInstructions(row);
  }
}

void AttributeReader::ReadInteger(const AttributeField& row) {
  if (row.key != AttributeKey::kIotaDimension) return Add(row, message_.Integer(row.field));
  // In a list.
  std::vector<int64_t> dimensions;
  message_.Integers(row.field, &dimensions);
  if (dimensions.size() == 1) return Add(row, dimensions[0]);
  source_.Fail("an iota has one dimension, not ", dimensions.size());
}

void AttributeReader::ReadComputation(const AttributeField& row) {
  if (in_.called.empty()) return;
  if (in_.called.size() == row.called.count) return Add(row, in_.called[row.called.position]);
  source_.Fail("a ", OpcodeName(in_.opcode), " calls ", row.called.count, " computations, not ",
               in_.called.size());
}

void AttributeReader::ReadInstructions(const AttributeField& row) {
  std::vector<const HloInstruction*> predecessors;
  message_.ForEachVarint(row.field, [&](uint64_t id) {
    const auto found = in_.references.instructions.find(static_cast<int64_t>(id));
    if (found == in_.references.instructions.end()) {
      source_.Fail("control predecessor ", id, " does not come before this place");
      return;
    }
    predecessors.push_back(found->second);
  });
  if (!predecessors.empty()) AddList(row, predecessors);
}

}  // namespace

AttributeList ReadAttributesProto(const ProtoInstruction& instruction, Arena& arena) {
  AttributeList attributes;
  AttributeReader reader(instruction, arena, &attributes);
  for (const uint8_t row : RowsOf(instruction.opcode)) {
    reader.Read(InstructionFields()[row].field);
  }
  return attributes;
}

}  // namespace xla_indexing::internal
