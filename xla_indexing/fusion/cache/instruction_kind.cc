#include "xla_indexing/fusion/cache/instruction_kind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {
namespace {

// Stands for all elementwise opcodes; no opcode has this value.
constexpr uint64_t kElementwise = ~uint64_t{0};

// Whether the maps of the opcode's instructions depend on its attributes, and on no computations but
// those of IsIrrelevant.
bool ReadsAttributes(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllToAll:
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConvolution:
    case HloOpcode::kCopy:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceScatter:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kScatter:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kSort:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// The first of the operands that an operation reads indices from, and the one behind the last;
// none of other operations.
std::pair<int64_t, int64_t> IndexOperandsOf(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kDynamicSlice:
      return {1, instruction.operand_count()};
    case HloOpcode::kDynamicUpdateSlice:
      return {2, instruction.operand_count()};
    case HloOpcode::kGather:
      return {1, 2};
    case HloOpcode::kScatter:
      return {instruction.operand_count() / 2, instruction.operand_count() / 2 + 1};
    default:
      return {0, 0};
  }
}

bool IsIrrelevant(AttributeKey key, HloOpcode opcode) {
  switch (key) {
    // What two numbers are combined to is nothing to the places that they are read from; but which
    // of several a scatter combines is in its computation.
    case AttributeKey::kSelect:
    case AttributeKey::kScatter:
      return true;
    case AttributeKey::kToApply:
      return opcode != HloOpcode::kScatter;
    case AttributeKey::kMetadata:
    case AttributeKey::kSharding:
    case AttributeKey::kFrontendAttributes:
    case AttributeKey::kBackendConfig:
    case AttributeKey::kControlPredecessors:
      return true;
    default:
      return false;
  }
}

template <typename Pointer>
uint64_t Address(Pointer pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

using Words = llvm::SmallVectorImpl<uint64_t>;

// Spans of numbers, and of structs of nothing but numbers, by value.
template <typename T>
void AppendSpan(absl::Span<const T> values, Words* kind) {
  static_assert(sizeof(T) % sizeof(uint64_t) == 0 && std::has_unique_object_representations_v<T>);
  const size_t words = values.size() * sizeof(T) / sizeof(uint64_t);
  const size_t first = kind->size() + 1;
  kind->push_back(values.size());
  kind->resize(first + words);
  if (words == 0) return;
  std::memcpy(kind->data() + first, static_cast<const void*>(values.data()),
              words * sizeof(uint64_t));
}

void AppendTextInPlace(absl::string_view text, Words* kind) {
  const size_t first = kind->size() + 1;
  kind->push_back(text.size());
  kind->resize(first + (text.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  if (!text.empty()) std::memcpy(kind->data() + first, text.data(), text.size());
}

void AppendWindow(const Window& window, Words* kind) {
  kind->push_back(window.dimensions.size());
  for (const WindowDimension& d : window.dimensions) {
    for (const int64_t number : {d.size, d.stride, d.padding_low, d.padding_high, d.base_dilation,
                                 d.window_dilation, int64_t{d.window_reversal}}) {
      kind->push_back(static_cast<uint64_t>(number));
    }
  }
}

void AppendLabels(const ConvolutionDimensionNumbers& labels, Words* kind) {
  for (const int64_t number :
       {labels.input_batch, labels.input_feature, labels.kernel_input_feature,
        labels.kernel_output_feature, labels.output_batch, labels.output_feature, labels.input_rank,
        labels.kernel_rank, labels.output_rank}) {
    kind->push_back(static_cast<uint64_t>(number));
  }
  for (const auto* spatial :
       {&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial}) {
    AppendSpan(absl::Span<const int64_t>(*spatial), kind);
  }
}

// Appends a value; `append_text(text, kind)` does so with a text.
template <typename AppendText>
struct AppendValue {
  Words* kind;
  AppendText append_text;

  void operator()(bool value) const { kind->push_back(value ? 1 : 0); }
  void operator()(int64_t value) const { kind->push_back(static_cast<uint64_t>(value)); }
  void operator()(absl::string_view text) const { append_text(text, kind); }
  template <typename T>
  void operator()(absl::Span<const T> values) const {
    AppendSpan(values, kind);
  }
  void operator()(const Window* window) const { AppendWindow(*window, kind); }
  void operator()(const ConvolutionDimensionNumbers* labels) const { AppendLabels(*labels, kind); }
  // Literals and computations lie in the module; the same one is equal to itself.
  template <typename T>
  void operator()(const T* value) const {
    kind->push_back(Address(value));
  }
};

// Appends the shapes of the result and of the operands.
void AppendShapes(const HloInstruction& instruction, InstructionKind* kind) {
  kind->push_back(static_cast<uint64_t>(instruction.operand_count()));
  kind->push_back(Address(&instruction.shape()));
  for (const HloInstruction* operand : instruction.operands()) {
    kind->push_back(Address(&operand->shape()));
  }
}

// Appends opcode, shapes and attributes of an instruction whose opcode has kinds; nothing of others.
template <typename AppendText>
void AppendForm(const HloInstruction& instruction, InstructionKind* kind, AppendText append_text) {
  const HloOpcode opcode = instruction.opcode();
  if (!HasKind(opcode)) return;
  const bool is_elementwise = !ReadsAttributes(opcode);
  kind->push_back(is_elementwise ? kElementwise : static_cast<uint64_t>(opcode));
  AppendShapes(instruction, kind);
  if (is_elementwise) return;
  for (const Attribute& attribute : instruction.attributes()) {
    if (IsIrrelevant(attribute.key, opcode)) continue;
    kind->push_back(static_cast<uint64_t>(attribute.key));
    // Channels are numbered one by one; what a collective does depends on whether it has one.
    if (attribute.key == AttributeKey::kChannelId) continue;
    if (attribute.key == AttributeKey::kOther) append_text(attribute.name, kind);
    std::visit(AppendValue<AppendText>{kind, append_text}, attribute.value);
  }
}

// Appends a literal by what it says; false where that is too long.
bool AppendLiteral(const Literal& literal, uint64_t number_of_shape, Words* content) {
  constexpr int64_t kMaxElements = 1024;
  if (!literal.tuple_elements().empty()) return false;
  const int64_t count =
      literal.IsSplat() ? std::min<int64_t>(literal.ElementCount(), 1) : literal.ElementCount();
  if (count > kMaxElements) return false;
  content->append({number_of_shape, (literal.IsElided() ? 1U : 0U) | (literal.IsSplat() ? 2U : 0U),
                   static_cast<uint64_t>(count)});
  const int parts = IsComplex(literal.shape().element_type()) ? 2 : 1;
  for (int64_t i = 0; i < count; ++i) {
    for (int part = 0; part < parts; ++part) content->push_back(literal.BitsAt(i, part));
  }
  return true;
}

// Whether an attribute says nothing about maps and values. Rules for custom calls may read what they
// like.
bool IsDescription(AttributeKey key, HloOpcode opcode) {
  switch (key) {
    case AttributeKey::kMetadata:
    case AttributeKey::kControlPredecessors:
      return true;
    case AttributeKey::kSharding:
    case AttributeKey::kFrontendAttributes:
      return !IsOpaque(opcode);
    case AttributeKey::kBackendConfig:
      // That of a while may say how often it runs.
      return !IsOpaque(opcode) && opcode != HloOpcode::kWhile;
    default:
      return false;
  }
}

// How an operand of indices stands in a kind.
enum IndexOperand : uint64_t { kNumber, kName, kItself };

}  // namespace

bool HasKind(HloOpcode opcode) { return ReadsAttributes(opcode) || IsElementwise(opcode); }

InstructionKind KindOf(const HloInstruction& instruction) {
  InstructionKind kind;
  const auto [first_index, last_index] = IndexOperandsOf(instruction);
  if (first_index == last_index) AppendForm(instruction, &kind, AppendTextInPlace);
  return kind;
}

bool AppendContent(const HloInstruction& instruction, const ContentNumbers& numbers,
                   llvm::SmallVectorImpl<uint64_t>* content) {
  const HloOpcode opcode = instruction.opcode();
  content->append({static_cast<uint64_t>(opcode), numbers.of_shape(instruction.shape()),
                   static_cast<uint64_t>(instruction.operand_count())});
  for (const HloInstruction* operand : instruction.operands()) {
    content->push_back(numbers.of_operand(*operand));
  }
  const auto append_computation = [&](const HloComputation* computation) {
    content->push_back(computation == nullptr ? 0 : 1 + numbers.of_computation(*computation));
  };
  const AppendValue<decltype(&AppendTextInPlace)> append = {content, AppendTextInPlace};
  for (const Attribute& attribute : instruction.attributes()) {
    if (IsDescription(attribute.key, opcode)) continue;
    content->push_back(static_cast<uint64_t>(attribute.key));
    // Channels are numbered one by one; what a collective does depends on whether it has one.
    if (attribute.key == AttributeKey::kChannelId) continue;
    if (attribute.key == AttributeKey::kOther) AppendTextInPlace(attribute.name, content);
    if (const auto* literal = std::get_if<const Literal*>(&attribute.value)) {
      if (!AppendLiteral(**literal, numbers.of_shape((*literal)->shape()), content)) return false;
    } else if (const auto* computation = std::get_if<const HloComputation*>(&attribute.value)) {
      append_computation(*computation);
    } else if (const auto* computations =
                   std::get_if<absl::Span<const HloComputation* const>>(&attribute.value)) {
      content->push_back(computations->size());
      absl::c_for_each(*computations, append_computation);
    } else if (std::holds_alternative<absl::Span<const HloInstruction* const>>(attribute.value)) {
      return false;
    } else {
      std::visit(append, attribute.value);
    }
  }
  // Runtime variables are put in the order of the computations that they are read in.
  const absl::Span<const HloComputation* const> called = instruction.called_computations();
  if (called.size() < 2 || absl::c_linear_search(called, nullptr)) return true;
  llvm::SmallVector<std::pair<int64_t, uint64_t>, 4> order;
  for (size_t i = 0; i < called.size(); ++i) order.emplace_back(called[i]->index_in_module(), i);
  absl::c_sort(order);
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_same = i > 0 && order[i].first == order[i - 1].first;
    content->push_back(order[i].second << 1 | (is_same ? 1 : 0));
  }
  return true;
}

bool MayBind(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kParameter:
    case HloOpcode::kTuple:
      return false;
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kScatter:
      return true;
    default:
      return !HasKind(opcode);
  }
}

NamedKind KindOfCall(const HloInstruction& instruction, uint64_t computation) {
  NamedKind call;
  call.kind = {static_cast<uint64_t>(instruction.opcode()), computation};
  AppendShapes(instruction, &call.kind);
  return call;
}

size_t KindFinder::TextHash::operator()(absl::string_view text) const {
  return llvm::xxh3_64bits(llvm::StringRef(text.data(), text.size()));
}

void KindFinder::Clear() {
  values_.clear();
  texts_.clear();
}

const KindFinder::ScalarValue& KindFinder::ValueOf(const HloInstruction& scalar) {
  const auto [known, is_new] = values_.try_emplace(&scalar);
  if (!is_new) return known->second;
  // A scalar has one element, whatever map reads it: its value depends on no variables.
  ElementEvaluator evaluator(Domain(), context_);
  const ValueCases cases = evaluator.Evaluate(&scalar, /*leaf=*/0, {});
  ScalarValue value;
  if (llvm::any_of(cases,
                   [&](const ValueCase& each) { return evaluator.HasUnknown(each.value); })) {
    // An unknown by itself, or one of several cases, is not folded; a function of unknowns is.
    value.is_unknown = cases.size() > 1 || !cases[0].when.empty() ||
                       cases[0].value.getKind() == mlir::AffineExprKind::SymbolId;
  } else if (cases.size() == 1 && cases[0].when.empty()) {
    if (auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(cases[0].value)) {
      value.number = number.getValue();
    }
  }
  // Evaluation does not ask this finder.
  return known->second = value;
}

void KindFinder::AppendIndexOperands(const HloInstruction& instruction, bool fold,
                                     NamedKind* found) {
  const auto [first, last] = IndexOperandsOf(instruction);
  if (first == last) return;
  // The number of each, where it is one.
  llvm::SmallVector<std::optional<int64_t>, 4> numbers;
  // What a scatter leaves out depends on its indices in more ways than through bindings.
  bool all_are_named = instruction.opcode() != HloOpcode::kScatter;
  for (int64_t i = first; i < last; ++i) {
    const HloInstruction& operand = *instruction.operand(i);
    std::optional<int64_t>& number = numbers.emplace_back();
    if (!fold || !MayBeFollowed(operand)) continue;
    const Shape& shape = operand.shape();
    if (!shape.IsScalar() || !(IsIntegral(shape.element_type()) || IsPred(shape.element_type()))) {
      all_are_named = false;
      continue;
    }
    const ScalarValue& value = ValueOf(operand);
    number = value.number;
    if (!number && !value.is_unknown) all_are_named = false;
  }
  KindNames& names = found->names;
  for (int64_t i = first; i < last && all_are_named; ++i) {
    if (!numbers[i - first]) names.push_back(instruction.operand(i));
  }
  absl::c_sort(names, [](const HloInstruction* a, const HloInstruction* b) {
    return a->index_in_computation() < b->index_in_computation();
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (int64_t i = first; i < last; ++i) {
    const HloInstruction* operand = instruction.operand(i);
    if (const std::optional<int64_t>& number = numbers[i - first]) {
      found->kind.append({kNumber, static_cast<uint64_t>(*number)});
    } else if (all_are_named) {
      const auto place = absl::c_find(names, operand) - names.begin();
      found->kind.append({kName, static_cast<uint64_t>(place)});
    } else {
      found->kind.append({kItself, Address(operand)});
      found->has_instructions = true;
    }
  }
}

NamedKind KindFinder::Find(const HloInstruction& instruction, bool fold_runtime_variables) {
  // Longer texts stand in kinds by their number.
  constexpr size_t kLongText = 64;
  NamedKind found;
  AppendForm(instruction, &found.kind, [this](absl::string_view text, Words* kind) {
    if (text.size() <= kLongText) return AppendTextInPlace(text, kind);
    kind->append({text.size(), texts_.try_emplace(text, texts_.size()).first->second});
  });
  if (!found.kind.empty()) AppendIndexOperands(instruction, fold_runtime_variables, &found);
  return found;
}

namespace {

// Whether the texts of the maps order them before any name is looked at.
bool AreOrderedByFormulas(const OperandIndexingSet& set) {
  for (size_t i = 1; i < set.size(); ++i) {
    const std::string before = set.maps()[i - 1].MapToString();
    const std::string after = set.maps()[i].MapToString();
    if (absl::StartsWith(before, after) || absl::StartsWith(after, before)) return false;
  }
  return true;
}

}  // namespace

bool AreOfKind(const HloInstruction& instruction, const InstructionIndexing& entries,
               const NamedKind& kind) {
  llvm::SmallVector<bool, 4> is_named(kind.names.size());
  for (const IndexingEntry& entry : entries) {
    // The order of several maps may be that of the names in their texts.
    if (!kind.has_instructions && HasRuntimeVariables(entry.indexing) &&
        !AreOrderedByFormulas(entry.indexing)) {
      return false;
    }
    for (const OperandIndexing& map : entry.indexing) {
      if (!map.IsExact() && absl::StrContains(map.label().reason, instruction.name())) return false;
      if (kind.has_instructions) continue;
      for (const RuntimeVarIndexing& binding : map.bindings()) {
        const auto* name = absl::c_find(kind.names, binding.instruction);
        if (name == kind.names.end() || !binding.call_path.empty()) return false;
        is_named[name - kind.names.begin()] = true;
      }
    }
  }
  return absl::c_all_of(is_named, [](bool named) { return named; });
}

InstructionIndexing WithNames(const InstructionIndexing& entries, const KindNames& from,
                              const KindNames& to) {
  InstructionIndexing renamed = entries;
  if (from == to) return renamed;
  for (IndexingEntry& entry : renamed) {
    if (!HasRuntimeVariables(entry.indexing)) continue;
    OperandIndexingSet maps;
    for (const OperandIndexing& map : entry.indexing) {
      maps.Add(map.Renamed(kPartsFit, [&](RuntimeVarIndexing* binding) {
        binding->instruction = to[absl::c_find(from, binding->instruction) - from.begin()];
      }));
    }
    entry.indexing = std::move(maps);
  }
  return renamed;
}

}  // namespace xla_indexing::internal
