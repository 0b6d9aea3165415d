// Attributes of instructions out of their protocol buffers.
#ifndef XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/proto/proto_fields_instruction.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/printer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// What messages refer to by numbers.
struct ProtoReferences {
  // The computations, and the instructions of the computation that is being read, by their ids;
  // those that were read before.
  absl::flat_hash_map<int64_t, const HloComputation*> computations;
  absl::flat_hash_map<int64_t, const HloInstruction*> instructions;
  // The strings that several instructions share, by their positions.
  std::vector<absl::string_view> payloads;
};

// What is known of an instruction before its attributes.
struct ProtoInstruction {
  const WireMessage& message;
  HloOpcode opcode;
  const Shape& shape;
  absl::Span<const HloInstruction* const> operands;
};

using AttributeList = absl::InlinedVector<Attribute, 8>;

// Reads the attributes of one instruction, by opcode. A method reads one attribute, or those of one
// kind of operation; where they are defined: what says how elements move in
// proto_attribute_reader_movement.cc, what names computations, devices and channels in
// proto_attribute_reader_calls.cc, the others in proto_attribute_reader.cc.
class ProtoAttributeReader {
 public:
  ProtoAttributeReader(const ProtoInstruction& instruction, const ProtoReferences& references,
                       Arena& arena)
      : message_(instruction.message),
        source_(instruction.message.source()),
        opcode_(instruction.opcode),
        shape_(instruction.shape),
        operands_(instruction.operands),
        references_(references),
        arena_(arena) {}

  // The attributes that HLO text gives the instruction, in the order in which XLA prints them. Values
  // lie in the arena. Fails at the message's source where a value is none that text could have, or
  // refers to what was not read before.
  AttributeList Read() && {
    ReadOwn();
    ReadCalledComputations();
    if (message_.Bool(Field::kIsComposite)) AddText("is_composite", "true");
    ReadCommon();
    return std::move(attributes_);
  }

 private:
  using Field = proto::Instruction::Field;

  void Add(AttributeKey key, const AttributeValue& value) {
    attributes_.push_back({key, AttributeName(key), value});
  }
  // An attribute without a key of its own; `name` is a literal.
  void AddText(absl::string_view name, absl::string_view text) {
    attributes_.push_back({AttributeKey::kOther, name, Checked(text)});
  }
  void AddText(AttributeKey key, absl::string_view text) { Add(key, Checked(text)); }

  // A copy of a text, which must be one word, string or pair of braces to be read again.
  absl::string_view Checked(absl::string_view text) {
    Lexer lexer(text);
    absl::string_view unused;
    if (!text.empty() && text.front() == '{' && (!lexer.ReadBraces(&unused) || !lexer.AtEnd())) {
      source_.Fail(absl::StrCat("'", Shown(text), "' cannot be written as HLO text: ",
                                lexer.failed() ? lexer.error_message() : "its braces close early"));
    }
    return arena_.CopyString(text);
  }

  // An attribute whose text is one word.
  void AddWord(AttributeKey key, absl::string_view word) {
    if (word.empty() || !std::all_of(word.begin(), word.end(), Lexer::IsNameCharacter)) {
      source_.Fail(absl::StrCat("'", Shown(word), "' is no ", AttributeName(key)));
    }
    Add(key, arena_.CopyString(word));
  }

  template <typename T>
  absl::Span<const T> Owned(const std::vector<T>& values) {
    return arena_.Copy(absl::MakeConstSpan(values));
  }

  std::vector<int64_t> Integers(const WireMessage& message, uint32_t number) const {
    std::vector<int64_t> values;
    message.Integers(number, &values);
    return values;
  }
  void AddIntegers(AttributeKey key, const WireMessage& message, uint32_t number) {
    Add(key, Owned(Integers(message, number)));
  }
  // As AddIntegers, for a list that is not written where it is empty.
  void AddIntegersIfAny(AttributeKey key, const WireMessage& message, uint32_t number) {
    if (message.Has(number)) AddIntegers(key, message, number);
  }
  void AddDimensions() { AddIntegers(AttributeKey::kDimensions, message_, Field::kDimensions); }
  void AddInteger(AttributeKey key, const WireMessage& message, uint32_t number) {
    Add(key, message.Integer(number));
  }
  // A flag that is not written where it is false.
  void AddFlag(AttributeKey key, const WireMessage& message, uint32_t number) {
    if (message.Bool(number)) Add(key, true);
  }
  // A count that is 1 where it is not given, and not written then.
  void AddCount(AttributeKey key, uint32_t number) {
    if (const int64_t count = message_.Integer(number); count > 1) Add(key, count);
  }

  // The name at `value` in `names`, which begin with that of 0.
  absl::string_view Name(int64_t value, absl::Span<const absl::string_view> names,
                         absl::string_view what) {
    if (value >= 0 && value < static_cast<int64_t>(names.size())) return names[value];
    source_.Fail(absl::StrCat("no ", what, " has the number ", value));
    return names[0];
  }

  void ReadOwn();
  void ReadWindow();
  void ReadConvolutionDimensions();
  void ReadConvolution();
  void ReadPrecision();
  void AddDotDimensions(const WireMessage& numbers);
  void ReadDot();
  void ReadRaggedDot();
  void ReadGather();
  void ReadScatter();
  void ReadSlice();
  void ReadPadding();
  void ReadCompare();
  void ReadFft();
  void ReadTriangularSolve();
  void ReadChannel();
  void ReadCollective();
  void ReadCollectivePermute();
  void ReadCustomCall();
  void ReadUnknown();
  void ReadConstant();
  void ReadParameter();
  void ReadDomain();
  void ReadScan();
  void ReadCalledComputations();
  void ReadControlPredecessors();
  void ReadStatistics();
  void ReadResultAccuracy();
  void ReadCommon();

  const WireMessage& message_;
  ProtoSource& source_;
  const HloOpcode opcode_;
  const Shape& shape_;
  const absl::Span<const HloInstruction* const> operands_;
  const ProtoReferences& references_;
  Arena& arena_;
  AttributeList attributes_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_
