// The three classes that a module is made of know of each other; their bodies stand together.
#include "xla_indexing/hlo/model/module.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/instruction_names.h"
#include "xla_indexing/hlo/text/parts/parse_attributes.h"
#include "xla_indexing/hlo/text/parts/parse_metadata.h"

namespace xla_indexing {
namespace {

using internal::Arena;
using internal::InstructionNames;
using internal::ParseKernelSparsity;
using internal::ParseMetadata;
using internal::StackFrameTables;

// Copies what an attribute's value refers to into an arena.
struct CopyInto {
  Arena& arena;

  AttributeValue operator()(bool value) const { return value; }
  AttributeValue operator()(int64_t value) const { return value; }
  AttributeValue operator()(absl::string_view text) const { return arena.CopyString(text); }
  template <typename T>
  AttributeValue operator()(absl::Span<const T> values) const {
    return arena.Copy(values);
  }
  template <typename T>
  AttributeValue operator()(const T* value) const {
    return static_cast<const T*>(arena.New<T>(*value));
  }
  AttributeValue operator()(const HloComputation* computation) const { return computation; }
};

// Adds an element to an array in an arena, which is replaced by a larger one where it is full.
template <typename T>
void AppendInArena(const T& element, Arena& arena, T** elements, uint32_t* count,
                   uint32_t* capacity) {
  if (*count == *capacity) {
    *capacity = *capacity == 0 ? 2 : *capacity * 2;
    T* grown = arena.NewArray<T>(*capacity);
    std::uninitialized_copy_n(*elements, *count, grown);
    *elements = grown;
  }
  new (&(*elements)[(*count)++]) T(element);
}

int64_t CountOr1(std::optional<absl::string_view> text) {
  int64_t count = 0;
  return text.has_value() && absl::SimpleAtoi(*text, &count) && count > 0 ? count : 1;
}

}  // namespace

bool HloInstruction::is_root() const { return parent_->root_instruction() == this; }

const Attribute* HloInstruction::FindAttribute(AttributeKey key) const {
  for (const Attribute& attribute : attributes()) {
    if (attribute.key == key) return &attribute;
  }
  return nullptr;
}

std::optional<int64_t> HloInstruction::GetInteger(AttributeKey key) const {
  const Attribute* attribute = FindAttribute(key);
  if (attribute == nullptr) return std::nullopt;
  const auto* value = std::get_if<int64_t>(&attribute->value);
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::optional<absl::string_view> HloInstruction::GetTextByName(absl::string_view name) const {
  for (const Attribute& attribute : attributes()) {
    if (attribute.name != name) continue;
    if (const auto* text = std::get_if<absl::string_view>(&attribute.value)) return *text;
  }
  return std::nullopt;
}

DotDimensionNumbers HloInstruction::dot_dimension_numbers() const {
  return {.lhs_batch_dims = GetIntegers(AttributeKey::kLhsBatchDims),
          .rhs_batch_dims = GetIntegers(AttributeKey::kRhsBatchDims),
          .lhs_contracting_dims = GetIntegers(AttributeKey::kLhsContractingDims),
          .rhs_contracting_dims = GetIntegers(AttributeKey::kRhsContractingDims)};
}

GatherDimensionNumbers HloInstruction::gather_dimension_numbers() const {
  return {.offset_dims = GetIntegers(AttributeKey::kOffsetDims),
          .collapsed_slice_dims = GetIntegers(AttributeKey::kCollapsedSliceDims),
          .start_index_map = GetIntegers(AttributeKey::kStartIndexMap),
          .operand_batching_dims = GetIntegers(AttributeKey::kOperandBatchingDims),
          .start_indices_batching_dims = GetIntegers(AttributeKey::kStartIndicesBatchingDims),
          .index_vector_dim = GetInteger(AttributeKey::kIndexVectorDim).value_or(0)};
}

ScatterDimensionNumbers HloInstruction::scatter_dimension_numbers() const {
  return {.update_window_dims = GetIntegers(AttributeKey::kUpdateWindowDims),
          .inserted_window_dims = GetIntegers(AttributeKey::kInsertedWindowDims),
          .scatter_dims_to_operand_dims = GetIntegers(AttributeKey::kScatterDimsToOperandDims),
          .input_batching_dims = GetIntegers(AttributeKey::kInputBatchingDims),
          .scatter_indices_batching_dims = GetIntegers(AttributeKey::kScatterIndicesBatchingDims),
          .index_vector_dim = GetInteger(AttributeKey::kIndexVectorDim).value_or(0)};
}

std::optional<KernelSparsity> HloInstruction::kernel_sparsity() const {
  return ParseKernelSparsity(GetTextByName("sparsity_config").value_or(""));
}

absl::InlinedVector<const HloComputation*, 2> HloInstruction::branch_computations() const {
  const HloComputation* on_true = GetComputation(AttributeKey::kTrueComputation);
  const HloComputation* on_false = GetComputation(AttributeKey::kFalseComputation);
  if (on_true != nullptr && on_false != nullptr) return {on_true, on_false};
  const auto branches =
      Get<absl::Span<const HloComputation* const>>(AttributeKey::kBranchComputations);
  return {branches.begin(), branches.end()};
}

OpMetadata HloInstruction::metadata() const {
  return ParseMetadata(GetText(AttributeKey::kMetadata));
}

std::vector<SourceFrame> HloInstruction::SourceFrames() const {
  OpMetadata own = metadata();
  std::vector<SourceFrame> frames = parent_->parent_->SourceFrames(own.stack_frame_id);
  if (frames.empty() && !own.source_file.empty()) {
    frames.push_back({.file = std::move(own.source_file),
                      .line = own.source_line,
                      .end_line = own.source_end_line,
                      .column = own.source_column,
                      .end_column = own.source_end_column});
  }
  return frames;
}

void HloInstruction::SetAttribute(AttributeKey key, const AttributeValue& value) {
  parent_->parent_->MarkChanged();
  Attribute copy{key, AttributeName(key), std::visit(CopyInto{parent_->parent_->arena()}, value)};
  for (Attribute& attribute : absl::MakeSpan(attributes_, attribute_count_)) {
    if (attribute.key == key) {
      attribute = copy;
      CollectCalledComputations();
      return;
    }
  }
  AppendOwnedAttribute(copy);
  if (key == AttributeKey::kParameterNumber) {
    parent_->RegisterParameter(this, parameter_number());
  }
  CollectCalledComputations();
}

void HloInstruction::SetTextAttribute(absl::string_view name, absl::string_view text) {
  if (const std::optional<AttributeKey> key = AttributeKeyFromName(name)) {
    SetAttribute(*key, text);
    return;
  }
  parent_->parent_->MarkChanged();
  Arena& arena = parent_->parent_->arena();
  for (Attribute& attribute : absl::MakeSpan(attributes_, attribute_count_)) {
    if (attribute.name == name) {
      attribute.value = arena.CopyString(text);
      return;
    }
  }
  AppendOwnedAttribute({AttributeKey::kOther, arena.CopyString(name), arena.CopyString(text)});
}

void HloInstruction::SetShape(const Shape& shape) {
  parent_->parent_->MarkChanged();
  shape_ = parent_->parent_->InternShape(shape);
}

void HloInstruction::SetOwnedAttributes(absl::Span<const Attribute> attributes) {
  if (attributes.empty()) return;
  attributes_ = parent_->parent_->arena().NewArray<Attribute>(attributes.size());
  std::uninitialized_copy(attributes.begin(), attributes.end(), attributes_);
  attribute_count_ = static_cast<uint32_t>(attributes.size());
  attribute_capacity_ = attribute_count_;
  CollectCalledComputations();
}

void HloInstruction::AppendOwnedAttribute(const Attribute& attribute) {
  AppendInArena(attribute, parent_->parent_->arena(), &attributes_, &attribute_count_,
                &attribute_capacity_);
}

void HloInstruction::AddUse(const Use& use) {
  AppendInArena(use, parent_->parent_->arena(), &uses_, &use_count_, &use_capacity_);
}

absl::InlinedVector<const HloInstruction*, 2> HloInstruction::users() const {
  absl::InlinedVector<const HloInstruction*, 2> users;
  for (const Use& use : uses()) {
    if (users.empty() || users.back() != use.user) users.push_back(use.user);
  }
  return users;
}

void HloInstruction::CollectCalledComputations() {
  absl::InlinedVector<const HloComputation*, 4> called;
  for (const Attribute& attribute : attributes()) {
    if (const auto* one = std::get_if<const HloComputation*>(&attribute.value)) {
      called.push_back(*one);
    } else if (const auto* list =
                   std::get_if<absl::Span<const HloComputation* const>>(&attribute.value)) {
      called.insert(called.end(), list->begin(), list->end());
    }
  }
  // An update that binds operands may be what begins the computation of its start.
  if (BindsLate()) {
    const HloInstruction* start = AsyncStartOf(*operands_[0]);
    if (start != nullptr && start->calls() != nullptr) called.push_back(start->calls());
  }
  if (called.empty() && called_computations_.empty()) return;
  called_computations_ =
      parent_->parent_->arena().Copy<const HloComputation*>(absl::MakeConstSpan(called));
}

HloComputation::HloComputation(HloModule* parent, absl::string_view name)
    : name_(name), parent_(parent), names_(parent->arena().New<InstructionNames>()) {}

bool HloComputation::HasUniqueNames() const { return names_->are_unique(); }

bool HloComputation::is_entry() const { return parent_->entry_computation() == this; }

const HloInstruction* HloComputation::root_instruction() const {
  if (root_ != nullptr) return root_;
  return instructions_.empty() ? nullptr : instructions_.back();
}

const HloInstruction* HloComputation::FindInstruction(absl::string_view name) const {
  return names_->Find(instructions_, name);
}

void HloComputation::SetRoot(const HloInstruction* root) {
  parent_->MarkChanged();
  root_ = root;
}

void HloComputation::SetExecutionThread(absl::string_view thread) {
  execution_thread_ = parent_->arena().CopyString(thread);
}

HloInstruction* HloComputation::MakeInstruction(HloOpcode opcode, absl::string_view name,
                                                absl::Span<const HloInstruction* const> operands) {
  Arena& arena = parent_->arena();
  auto* instruction = arena.New<HloInstruction>(this, opcode, arena.CopyString(name));
  instruction->operands_ = arena.Copy(operands);
  return instruction;
}

HloInstruction* HloComputation::AddInstruction(HloOpcode opcode, absl::string_view name,
                                               const Shape& shape,
                                               absl::Span<const HloInstruction* const> operands) {
  HloInstruction* instruction = MakeInstruction(opcode, name, operands);
  instruction->SetShape(shape);
  AppendOwned(instruction);
  return instruction;
}

HloInstruction* HloComputation::AddParameter(int64_t number, absl::string_view name,
                                             const Shape& shape) {
  HloInstruction* parameter = AddInstruction(HloOpcode::kParameter, name, shape);
  parameter->SetAttribute(AttributeKey::kParameterNumber, number);
  return parameter;
}

HloInstruction* HloComputation::AddConstant(absl::string_view name, const Literal& literal) {
  HloInstruction* constant = AddInstruction(HloOpcode::kConstant, name, literal.shape());
  constant->SetAttribute(AttributeKey::kConstantValue, &literal);
  return constant;
}

bool HloComputation::AppendOwned(HloInstruction* instruction) {
  parent_->MarkChanged();
  instruction->index_ = static_cast<int32_t>(instructions_.size());
  instructions_.push_back(instruction);
  for (int64_t i = 0; i < instruction->operand_count(); ++i) {
    const HloInstruction* operand = instruction->operands_[i];
    // The verifier refuses any other.
    if (operand->parent_ != this || instructions_[operand->index_] != operand) continue;
    instructions_[operand->index_]->AddUse({instruction, i});
  }
  if (instruction->BindsLate()) instruction->CollectCalledComputations();
  return instruction->name_.empty() || names_->Add(instructions_, instructions_.size() - 1);
}

bool HloComputation::RegisterParameter(HloInstruction* instruction, int64_t number) {
  // A number past all that could be asked for in earnest is left to the verifier, not allocated.
  if (number < 0 || number >= kMaxParameters) return false;
  if (number >= static_cast<int64_t>(parameters_.size())) parameters_.resize(number + 1, nullptr);
  if (parameters_[number] != nullptr) return false;
  parameters_[number] = instruction;
  return true;
}

namespace {

int64_t NextSerialNumber() {
  static std::atomic<int64_t> next = 0;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

struct HloModule::Tables {
  absl::node_hash_set<Shape> shapes;
  absl::flat_hash_map<absl::string_view, HloComputation*> by_name;
};

HloModule::HloModule(absl::string_view name)
    : serial_number_(NextSerialNumber()),
      arena_(std::make_unique<Arena>()),
      tables_(std::make_unique<Tables>()) {
  SetName(name);
}

HloModule::~HloModule() { ForgetVerdict(); }

void HloModule::SetVerdict(absl::Status verdict) const {
  auto own = std::make_unique<const absl::Status>(std::move(verdict));
  const absl::Status* other = nullptr;
  // Another thread may have found the same.
  if (verdict_.compare_exchange_strong(other, own.get(), std::memory_order_acq_rel)) own.release();
}

void HloModule::ForgetVerdict() { delete verdict_.exchange(nullptr); }

const Shape* HloModule::InternShape(const Shape& shape) {
  return &*tables_->shapes.insert(shape).first;
}

void HloModule::SetName(absl::string_view name) { name_ = arena_->CopyString(name); }

absl::string_view HloModule::stack_frame_tables() const {
  return stack_frame_tables_ == nullptr ? absl::string_view() : stack_frame_tables_->text();
}

void HloModule::SetStackFrameTables(absl::string_view text) {
  SetOwnedStackFrameTables(arena_->CopyString(text));
}

void HloModule::SetOwnedStackFrameTables(absl::string_view text) {
  stack_frame_tables_ = text.empty() ? nullptr : std::make_unique<const StackFrameTables>(text);
}

std::vector<SourceFrame> HloModule::SourceFrames(int64_t stack_frame_id) const {
  if (stack_frame_tables_ == nullptr) return {};
  return stack_frame_tables_->FramesFrom(stack_frame_id);
}

const HloComputation* HloModule::entry_computation() const {
  if (entry_ != nullptr) return entry_;
  return computations_.empty() ? nullptr : computations_.back();
}

const HloComputation* HloModule::FindComputation(absl::string_view name) const {
  const auto it = tables_->by_name.find(name);
  return it == tables_->by_name.end() ? nullptr : it->second;
}

int64_t HloModule::instruction_count() const {
  int64_t count = 0;
  for (const HloComputation* computation : computations_) count += computation->instruction_count();
  return count;
}

std::optional<absl::string_view> HloModule::FindAttribute(absl::string_view name) const {
  for (const ModuleAttribute& attribute : attributes_) {
    if (attribute.name == name) return attribute.text;
  }
  return std::nullopt;
}

void HloModule::SetEntry(const HloComputation* entry) {
  MarkChanged();
  entry_ = entry;
}

void HloModule::SetAttribute(absl::string_view name, absl::string_view text) {
  MarkChanged();
  for (ModuleAttribute& attribute : attributes_) {
    if (attribute.name == name) {
      attribute.text = arena_->CopyString(text);
      return;
    }
  }
  attributes_.push_back({arena_->CopyString(name), arena_->CopyString(text)});
}

bool HloModule::is_scheduled() const {
  return FindAttribute("is_scheduled") == absl::string_view("true");
}

int64_t HloModule::replica_count() const { return CountOr1(FindAttribute("replica_count")); }

int64_t HloModule::num_partitions() const { return CountOr1(FindAttribute("num_partitions")); }

HloComputation* HloModule::AddComputation(absl::string_view name) {
  HloComputation* computation = MakeComputation(arena_->CopyString(name));
  Adopt(computation);
  return computation;
}

HloComputation* HloModule::MakeComputation(absl::string_view owned_name) {
  return arena_->New<HloComputation>(this, owned_name);
}

bool HloModule::Adopt(HloComputation* computation) {
  MarkChanged();
  computation->index_ = static_cast<int64_t>(computations_.size());
  computations_.push_back(computation);
  return computation->name_.empty() || AddName(computation);
}

bool HloModule::AddName(HloComputation* computation) {
  return tables_->by_name.try_emplace(computation->name_, computation).second;
}

}  // namespace xla_indexing
