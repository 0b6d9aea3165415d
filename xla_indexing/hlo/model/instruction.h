// An instruction of an HLO computation: an opcode applied to operands, with attributes, giving a
// value of some shape.
//
// Instructions are made by HloComputation::AddInstruction and live as long as their module;
// operands come before their users in their computation. An instruction is changed only while it is
// being built. Names carry no `%`.
//
// Example, the transpose in `t = f32[3,2] transpose(p), dimensions={1,0}`:
//
//   HloInstruction* t = computation->AddInstruction(HloOpcode::kTranspose, "t", shape, {p});
//   t->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>({1, 0}));
//   t->dimensions();  // {1, 0}

#ifndef XLA_INDEXING_HLO_MODEL_INSTRUCTION_H_
#define XLA_INDEXING_HLO_MODEL_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/metadata.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

namespace internal {
class Arena;
class InstructionParser;
class ProtoModuleReader;
}  // namespace internal

class HloComputation;
class HloModule;

class HloInstruction {
 public:
  static constexpr int64_t kNoSourceOffset = -1;

  HloInstruction(const HloInstruction&) = delete;
  HloInstruction& operator=(const HloInstruction&) = delete;

  HloOpcode opcode() const { return opcode_; }
  // As in the text, also where the opcode is not known.
  absl::string_view opcode_name() const {
    return opcode_ == HloOpcode::kUnknown ? GetText(AttributeKey::kUnknownOpcode)
                                          : OpcodeName(opcode_);
  }
  absl::string_view name() const { return name_; }
  const Shape& shape() const { return *shape_; }
  // False only in a parser that has not inferred an omitted shape yet.
  bool has_shape() const { return shape_ != nullptr; }

  absl::Span<const HloInstruction* const> operands() const { return operands_; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  const HloInstruction* operand(int64_t i) const { return operands_[i]; }

  // One place where the instruction is an operand.
  struct Use {
    const HloInstruction* user = nullptr;
    int64_t operand = 0;  // the user's operand of this number

    friend bool operator==(const Use& a, const Use& b) = default;
  };
  // Every operand of an instruction of the computation that is this one, in the order of the
  // computation and of the operands: of p in `a = add(p, p)`, `n = negate(p)` these are
  // {a, 0}, {a, 1}, {n, 0}.
  absl::Span<const Use> uses() const { return {uses_, use_count_}; }
  // The instructions that have this one as an operand, each once, in the order of the computation.
  absl::InlinedVector<const HloInstruction*, 2> users() const;

  const HloComputation* parent() const { return parent_; }
  // The position in the parent's instructions.
  int64_t index_in_computation() const { return index_; }
  bool is_root() const;

  // Where the instruction's name begins in the module's source text; kNoSourceOffset if it was not
  // parsed.
  int64_t source_offset() const { return source_offset_; }

  // All attributes, in the order of the text.
  absl::Span<const Attribute> attributes() const { return {attributes_, attribute_count_}; }
  // The attribute with this key, null if there is none. Not for kOther.
  const Attribute* FindAttribute(AttributeKey key) const;
  bool HasAttribute(AttributeKey key) const { return FindAttribute(key) != nullptr; }

  // The value of an attribute, or the default where it is not given.
  bool GetBool(AttributeKey key, bool default_value = false) const {
    return Get(key, default_value);
  }
  std::optional<int64_t> GetInteger(AttributeKey key) const;
  absl::Span<const int64_t> GetIntegers(AttributeKey key) const {
    return Get<absl::Span<const int64_t>>(key);
  }
  // For kinds kText and kString.
  absl::string_view GetText(AttributeKey key) const { return Get<absl::string_view>(key); }
  const HloComputation* GetComputation(AttributeKey key) const {
    return Get<const HloComputation*>(key);
  }
  // The text of an attribute that has no key of its own (or of one kept as text).
  std::optional<absl::string_view> GetTextByName(absl::string_view name) const;

  // Where the instruction comes from (hlo/types/metadata.h). Each call reads the text of its metadata.
  OpMetadata metadata() const;
  // The place in the source that it comes from, and the places from which that was called, the
  // innermost first; from the module's tables, else the one that the metadata name; empty if
  // nothing is known.
  std::vector<SourceFrame> SourceFrames() const;

  // The attributes that indexing reads, by their names. What is not given is empty.
  absl::Span<const int64_t> dimensions() const { return GetIntegers(AttributeKey::kDimensions); }
  absl::Span<const SliceRange> slice() const {
    return Get<absl::Span<const SliceRange>>(AttributeKey::kSlice);
  }
  absl::Span<const PaddingDimension> padding() const {
    return Get<absl::Span<const PaddingDimension>>(AttributeKey::kPadding);
  }
  absl::Span<const int64_t> dynamic_slice_sizes() const {
    return GetIntegers(AttributeKey::kDynamicSliceSizes);
  }
  absl::Span<const int64_t> gather_slice_sizes() const {
    return GetIntegers(AttributeKey::kSliceSizes);
  }
  // Null if there is none.
  const Window* window() const { return Get<const Window*>(AttributeKey::kWindow); }
  const ConvolutionDimensionNumbers* convolution_dimension_numbers() const {
    return Get<const ConvolutionDimensionNumbers*>(AttributeKey::kDimLabels);
  }
  // The value of a constant.
  const Literal* literal() const { return Get<const Literal*>(AttributeKey::kConstantValue); }
  DotDimensionNumbers dot_dimension_numbers() const;
  GatherDimensionNumbers gather_dimension_numbers() const;
  ScatterDimensionNumbers scatter_dimension_numbers() const;
  // -1 where not given.
  int64_t parameter_number() const { return Get<int64_t>(AttributeKey::kParameterNumber, -1); }
  int64_t tuple_index() const { return Get<int64_t>(AttributeKey::kIndex, -1); }
  int64_t iota_dimension() const { return Get<int64_t>(AttributeKey::kIotaDimension, -1); }
  // Whether a convolution leaves out elements of an operand, and which of the kernel's where that alone
  // is said.
  bool is_sparse() const { return GetTextByName("sparsity_config").has_value(); }
  std::optional<KernelSparsity> kernel_sparsity() const;
  // 1 where not given.
  int64_t feature_group_count() const { return Get<int64_t>(AttributeKey::kFeatureGroupCount, 1); }
  int64_t batch_group_count() const { return Get<int64_t>(AttributeKey::kBatchGroupCount, 1); }
  absl::string_view custom_call_target() const { return GetText(AttributeKey::kCustomCallTarget); }
  // `LT`, `EQ`, ...
  absl::string_view comparison_direction() const { return GetText(AttributeKey::kDirection); }
  // `kLoop`, `kInput`, ...
  absl::string_view fusion_kind() const { return GetText(AttributeKey::kFusionKind); }
  absl::Span<const HloInstruction* const> control_predecessors() const {
    return Get<absl::Span<const HloInstruction* const>>(AttributeKey::kControlPredecessors);
  }

  // The computations that this instruction calls, in the order of its attributes; of an async-update that
  // binds operands the one of its async-start.
  absl::Span<const HloComputation* const> called_computations() const {
    return called_computations_;
  }
  const HloComputation* to_apply() const { return GetComputation(AttributeKey::kToApply); }
  // The body of a fusion, and what an async-start runs.
  const HloComputation* calls() const { return GetComputation(AttributeKey::kCalls); }
  // The computation whose result a call or a fusion has, whatever else it names; null of others.
  const HloComputation* inlined_computation() const {
    if (opcode_ == HloOpcode::kCall) return to_apply();
    return opcode_ == HloOpcode::kFusion ? calls() : nullptr;
  }
  const HloComputation* while_condition() const { return GetComputation(AttributeKey::kCondition); }
  const HloComputation* while_body() const { return GetComputation(AttributeKey::kBody); }
  // The branches of a conditional in the order of their indices. Branch 0 of a predicated
  // conditional is the branch for true.
  absl::InlinedVector<const HloComputation*, 2> branch_computations() const;

  // Building. Adds an attribute (at the end) or gives the one that is there a new value, and copies
  // what the value refers to into the module. The value must be of the key's kind; a text is taken
  // for every kind and is printed as it is.
  void SetAttribute(AttributeKey key, const AttributeValue& value);
  // Does what SetAttribute does, for an attribute that is kept as text under its own name.
  void SetTextAttribute(absl::string_view name, absl::string_view text);
  void SetShape(const Shape& shape);
  // Where it stands in the module's source text.
  void SetSourceOffset(int64_t offset) { source_offset_ = offset; }

  // The instruction as one line of HLO text.
  std::string ToString() const;

 private:
  friend class internal::Arena;
  friend class HloComputation;
  friend class HloModule;
  friend class internal::InstructionParser;
  friend class internal::ProtoModuleReader;

  HloInstruction(HloComputation* parent, HloOpcode opcode, absl::string_view name)
      : name_(name), parent_(parent), opcode_(opcode) {}

  // The value of an attribute, or the default where it is not given or of another type.
  template <typename T>
  T Get(AttributeKey key, T default_value = {}) const {
    const Attribute* attribute = FindAttribute(key);
    const T* value = attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
    return value == nullptr ? default_value : *value;
  }
  // Gives an instruction that has none its attributes, whose values lie in the module's memory
  // already.
  void SetOwnedAttributes(absl::Span<const Attribute> attributes);
  // Takes an attribute whose value lies in the module's memory already.
  void AppendOwnedAttribute(const Attribute& attribute);
  void CollectCalledComputations();
  bool BindsLate() const { return opcode_ == HloOpcode::kAsyncUpdate && operands_.size() > 1; }
  void AddUse(const Use& use);

  absl::string_view name_;
  const Shape* shape_ = nullptr;
  absl::Span<const HloInstruction* const> operands_;
  absl::Span<const HloComputation* const> called_computations_;
  Use* uses_ = nullptr;
  Attribute* attributes_ = nullptr;
  uint32_t attribute_count_ = 0;
  uint32_t attribute_capacity_ = 0;
  uint32_t use_count_ = 0;
  uint32_t use_capacity_ = 0;
  HloComputation* parent_;
  int64_t source_offset_ = kNoSourceOffset;
  int32_t index_ = 0;
  HloOpcode opcode_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODEL_INSTRUCTION_H_
