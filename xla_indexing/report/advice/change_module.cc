#include "xla_indexing/report/advice/change_module.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/transforms/computation_copier.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"

namespace xla_indexing::internal {
namespace {

// The instruction that stands for one in the copy; null if it is copied as it is.
using AddOther = absl::FunctionRef<HloInstruction*(const HloInstruction& original,
                                                   absl::Span<const HloInstruction* const> operands,
                                                   HloComputation* copy)>;

// A module with the attributes of another, but for the layouts that its entry is said to have.
std::unique_ptr<HloModule> EmptyLike(const HloModule& module) {
  auto copy = std::make_unique<HloModule>(module.name());
  for (const ModuleAttribute& attribute : module.attributes()) {
    if (attribute.name == "entry_computation_layout") continue;
    copy->SetAttribute(attribute.name, attribute.text);
  }
  copy->SetStackFrameTables(module.stack_frame_tables());
  return copy;
}

absl::StatusOr<std::unique_ptr<HloModule>> Verified(std::unique_ptr<HloModule> module) {
  if (absl::Status status = VerifyModule(*module); !status.ok()) return status;
  return module;
}

void CopyComputation(const HloComputation& computation, AddOther add_other,
                     ComputationCopier* copier) {
  // No copy of an instruction fails.
  (void)copier->Copy(
      computation,
      [&](const HloInstruction& original, absl::Span<const HloInstruction* const> operands,
          HloComputation* copy) -> absl::StatusOr<HloInstruction*> {
        if (HloInstruction* other = add_other(original, operands, copy)) return other;
        return CopyInstruction(original, original.name(), operands, ControlPredecessors::kAsTheyAre,
                               copy);
      });
}

// `{}`, `{1}`, `{0, 2}`.
std::string IndexOfLeaf(const Shape& shape, int64_t leaf) {
  std::vector<int64_t> path;
  const Shape* of = &shape;
  while (of->IsTuple()) {
    int64_t element = 0;
    while (of->tuple_elements()[element].LeafCount() <= leaf) {
      leaf -= of->tuple_elements()[element++].LeafCount();
    }
    path.push_back(element);
    of = &of->tuple_elements()[element];
  }
  return absl::StrCat("{", absl::StrJoin(path, ", "), "}");
}

// The name, or with the first number that makes it new in the module.
std::string NewName(const HloModule& module, absl::string_view name) {
  std::string new_name(name);
  for (int i = 1; module.FindComputation(new_name) != nullptr; ++i) {
    new_name = absl::StrCat(name, ".", i);
  }
  return new_name;
}

// All that the instruction is computed from, with it, without going through `border`.
absl::flat_hash_set<const HloInstruction*> ConeOf(const HloInstruction& root,
                                                  const HloInstruction* border) {
  absl::flat_hash_set<const HloInstruction*> cone = {&root};
  std::vector<const HloInstruction*> rest = {&root};
  while (!rest.empty()) {
    const HloInstruction* next = rest.back();
    rest.pop_back();
    if (next == border) continue;
    for (const HloInstruction* operand : next->operands()) {
      if (cone.insert(operand).second) rest.push_back(operand);
    }
  }
  return cone;
}

// Adds what `root` is computed from, in which `given`, if there is one, is a parameter behind the others.
// Parameters that nothing reads stay, so that operands keep their numbers.
HloComputation* CopyCone(const HloInstruction& root, const HloInstruction* given,
                         absl::string_view name, ComputationCopier* copier, HloModule* module) {
  const HloComputation& original = *root.parent();
  const auto cone = ConeOf(root, given);
  HloComputation* copy = module->AddComputation(name);
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> copies;
  std::vector<const HloInstruction*> operands;
  for (const HloInstruction* instruction : original.instructions()) {
    if (instruction == given) {
      copies[instruction] = copy->AddParameter(static_cast<int64_t>(original.parameters().size()),
                                               instruction->name(), instruction->shape());
      continue;
    }
    if (!cone.contains(instruction) && instruction->opcode() != HloOpcode::kParameter) continue;
    operands.clear();
    for (const HloInstruction* operand : instruction->operands()) {
      operands.push_back(copies.at(operand));
    }
    HloInstruction* same = CopyInstruction(*instruction, instruction->name(), operands,
                                           ControlPredecessors::kLeftOut, copy);
    copier->RedirectComputations(same);
    copies[instruction] = same;
  }
  copy->SetRoot(copies.at(&root));
  return copy;
}

bool IsReadByLogicalElements(const HloInstruction& user) {
  if (!user.called_computations().empty() && user.opcode() != HloOpcode::kReduce) return false;
  switch (user.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kCustomCall:
    case HloOpcode::kTuple:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kUnknown:
      return false;
    default:
      return user.shape().IsArray();
  }
}

// The layout of its operand in which every element is where it is in the transpose.
Layout LayoutOfOperand(const HloInstruction& transpose) {
  Layout layout = transpose.shape().LayoutOrRowMajor();
  for (int64_t& dimension : layout.minor_to_major) dimension = transpose.dimensions()[dimension];
  return layout;
}

// The fusion's own parameters that stand for an operand.
std::vector<const HloInstruction*> ParametersFor(const HloInstruction& fusion,
                                                 const HloInstruction& operand) {
  std::vector<const HloInstruction*> parameters;
  for (int64_t i = 0; i < fusion.operand_count(); ++i) {
    if (fusion.operand(i) == &operand) parameters.push_back(fusion.calls()->parameter(i));
  }
  return parameters;
}

int64_t CountCallers(const HloComputation& computation) {
  int64_t callers = 0;
  for (const HloComputation* other : computation.parent()->computations()) {
    for (const HloInstruction* instruction : other->instructions()) {
      callers += absl::c_count(instruction->called_computations(), &computation);
    }
  }
  return callers;
}

// The transpose or copy that a kernel is; null if it is something else.
const HloInstruction* MovementOf(const HloInstruction& kernel) {
  const HloInstruction* moved = &kernel;
  if (kernel.opcode() == HloOpcode::kFusion && kernel.calls() != nullptr &&
      kernel.operand_count() == 1) {
    moved = kernel.calls()->root_instruction();
    if (moved->operand_count() != 1 || moved->operand(0)->opcode() != HloOpcode::kParameter) {
      return nullptr;
    }
  }
  const bool is_movement =
      moved->opcode() == HloOpcode::kTranspose || moved->opcode() == HloOpcode::kCopy;
  return is_movement && moved->operand(0)->shape().IsArray() ? moved : nullptr;
}

// What is updated in place has to be an array in memory.
bool UpdatesInPlace(const HloComputation& body) {
  return absl::c_any_of(body.instructions(), [](const HloInstruction* i) {
    return i->opcode() == HloOpcode::kScatter || i->opcode() == HloOpcode::kDynamicUpdateSlice;
  });
}

bool IsDonated(const HloInstruction& parameter) {
  return absl::c_any_of(DonatedLeaves(*parameter.parent()->parent()), [&](const DonatedLeaf& leaf) {
    return leaf.parameter.instruction == &parameter;
  });
}

// Whether nothing is written over what is moved before a later instruction has read it: it is computed for the
// movement alone, or a parameter of the entry that nobody donates.
bool StaysUntilItIsRead(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kParameter) {
    return value.parent()->is_entry() && !IsDonated(value);
  }
  return !IsAlias(value) && value.users().size() == 1 && !value.is_root();
}

// Whether a value is a result of its computation, by itself or under another name.
bool IsResult(const HloInstruction& value) {
  absl::flat_hash_set<const HloInstruction*> seen = {&value};
  std::vector<const HloInstruction*> rest = {&value};
  while (!rest.empty()) {
    const HloInstruction* next = rest.back();
    rest.pop_back();
    if (next->is_root()) return true;
    for (const HloInstruction* user : next->users()) {
      if (IsAlias(*user) && seen.insert(user).second) rest.push_back(user);
    }
  }
  return false;
}

// Parameters of one entry with their layouts; these kernels are bitcasts.
using ParameterLayouts = absl::flat_hash_map<const HloInstruction*, Layout>;
absl::StatusOr<std::unique_ptr<HloModule>> WithLayouts(
    ParameterLayouts layouts, const absl::flat_hash_set<const HloInstruction*>& bitcasts) {
  const HloModule& module = *layouts.begin()->first->parent()->parent();
  // Fusions read them by parameters of their own.
  const std::vector<std::pair<const HloInstruction*, Layout>> outside(layouts.begin(),
                                                                      layouts.end());
  for (const auto& [parameter, layout] : outside) {
    for (const HloInstruction* user : parameter->users()) {
      if (user->opcode() != HloOpcode::kFusion) continue;
      for (const HloInstruction* inside : ParametersFor(*user, *parameter)) {
        layouts[inside] = layout;
      }
    }
  }
  const auto add_other = [&](const HloInstruction& original,
                             absl::Span<const HloInstruction* const> operands,
                             HloComputation* copy) -> HloInstruction* {
    const auto of_parameter = layouts.find(&original);
    const bool is_parameter = of_parameter != layouts.end();
    if (!is_parameter && !bitcasts.contains(&original)) return nullptr;
    Shape shape = original.shape();
    if (is_parameter) shape.SetLayout(of_parameter->second);
    HloInstruction* other =
        is_parameter ? copy->AddParameter(original.parameter_number(), original.name(), shape)
                     : copy->AddInstruction(HloOpcode::kBitcast, original.name(), shape, operands);
    if (const Attribute* metadata = original.FindAttribute(AttributeKey::kMetadata)) {
      other->SetAttribute(metadata->key, metadata->value);
    }
    return other;
  };
  std::unique_ptr<HloModule> copy = EmptyLike(module);
  ComputationCopier copier(copy.get());
  for (const HloComputation* computation : module.computations()) {
    CopyComputation(*computation, add_other, &copier);
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  return Verified(std::move(copy));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> WithDonations(const HloModule& module,
                                                         const std::vector<DonationPair>& pairs) {
  std::vector<std::string> items;
  const auto known = module.FindAttribute("input_output_alias");
  if (known) {
    absl::string_view inside = absl::StripAsciiWhitespace(*known);
    if (absl::ConsumePrefix(&inside, "{") && absl::ConsumeSuffix(&inside, "}")) {
      inside = absl::StripAsciiWhitespace(inside);
      if (!inside.empty()) items.emplace_back(inside);
    }
  }
  const Shape& result = module.entry_computation()->root_instruction()->shape();
  for (const auto& [parameter, output] : pairs) {
    items.push_back(absl::StrCat(
        IndexOfLeaf(result, output), ": (", parameter.instruction->parameter_number(), ", ",
        IndexOfLeaf(parameter.instruction->shape(), parameter.leaf), ", may-alias)"));
  }
  std::unique_ptr<HloModule> copy = EmptyLike(module);
  ComputationCopier copier(copy.get());
  for (const HloComputation* computation : module.computations()) copier.Copy(*computation);
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  copy->SetAttribute("input_output_alias", absl::StrCat("{ ", absl::StrJoin(items, ", "), " }"));
  return Verified(std::move(copy));
}

bool MayHaveAnyLayout(const HloInstruction& parameter) {
  if (!parameter.shape().IsArray() || parameter.is_root() ||
      (parameter.shape().has_layout() && !parameter.shape().layout()->IsPlain())) {
    return false;
  }
  return absl::c_all_of(parameter.users(), [&](const HloInstruction* user) {
    if (user->opcode() != HloOpcode::kFusion) return IsReadByLogicalElements(*user);
    return user->calls() != nullptr && CountCallers(*user->calls()) == 1 &&
           absl::c_all_of(ParametersFor(*user, parameter), [](const HloInstruction* inside) {
             return !inside->is_root() &&
                    absl::c_all_of(inside->users(), [](const HloInstruction* i) {
                      return IsReadByLogicalElements(*i);
                    });
           });
  });
}

absl::StatusOr<std::unique_ptr<HloModule>> WithMinorDimension(const HloInstruction& parameter,
                                                              int64_t dimension) {
  Layout layout = parameter.shape().LayoutOrRowMajor();
  std::stable_partition(layout.minor_to_major.begin(), layout.minor_to_major.end(),
                        [&](int64_t of) { return of == dimension; });
  return WithLayouts({{&parameter, std::move(layout)}}, {});
}

std::optional<TransposedArgument> ArgumentTransposedBy(const HloInstruction& kernel) {
  const HloInstruction* moved = MovementOf(kernel);
  if (moved == nullptr || moved->opcode() != HloOpcode::kTranspose) return std::nullopt;
  if (kernel.shape().has_layout() && !kernel.shape().layout()->IsPlain()) return std::nullopt;
  const HloInstruction* parameter = kernel.operand(0);
  if (parameter->opcode() != HloOpcode::kParameter || !parameter->parent()->is_entry() ||
      !MayHaveAnyLayout(*parameter)) {
    return std::nullopt;
  }
  // A result has a buffer of its own, in its own order.
  if (IsDonated(*parameter) || IsResult(kernel)) return std::nullopt;
  return TransposedArgument{parameter, {moved->dimensions().begin(), moved->dimensions().end()}};
}

absl::StatusOr<std::unique_ptr<HloModule>> WithTransposed(
    const std::vector<const HloInstruction*>& kernels) {
  ParameterLayouts layouts;
  for (const HloInstruction* kernel : kernels) {
    layouts.try_emplace(kernel->operand(0), LayoutOfOperand(*MovementOf(*kernel)));
  }
  return WithLayouts(layouts, {kernels.begin(), kernels.end()});
}

absl::StatusOr<std::unique_ptr<HloModule>> WithOwnKernel(const HloInstruction& fusion,
                                                         const HloInstruction& inside) {
  const HloComputation& body = *fusion.calls();
  if (inside.parent() != &body || inside.is_root() || !inside.shape().IsArray() ||
      CountCallers(body) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "instruction '", inside.name(), "' cannot leave the fusion '", fusion.name(), "'"));
  }
  const HloModule& module = *body.parent();
  std::unique_ptr<HloModule> copy = EmptyLike(module);
  ComputationCopier copier(copy.get());
  const HloComputation* own = nullptr;
  const auto add_other = [&](const HloInstruction& original,
                             absl::Span<const HloInstruction* const> operands,
                             HloComputation* computation) -> HloInstruction* {
    if (&original != &fusion) return nullptr;
    const auto add_fusion = [&](absl::string_view name, const Shape& shape,
                                const std::vector<const HloInstruction*>& reads) {
      HloInstruction* added = computation->AddInstruction(HloOpcode::kFusion, name, shape, reads);
      added->SetAttribute(AttributeKey::kFusionKind, absl::string_view("kLoop"));
      return added;
    };
    std::string name = absl::StrCat(inside.name(), "_kernel");
    while (original.parent()->FindInstruction(name) != nullptr) name.push_back('_');
    std::vector<const HloInstruction*> reads(operands.begin(), operands.end());
    HloInstruction* first = add_fusion(name, inside.shape(), reads);
    first->SetAttribute(AttributeKey::kCalls, own);
    if (const Attribute* metadata = inside.FindAttribute(AttributeKey::kMetadata)) {
      first->SetAttribute(metadata->key, metadata->value);
    }
    reads.push_back(first);
    return CopyInstruction(original, original.name(), reads, ControlPredecessors::kAsTheyAre,
                           computation);
  };
  for (const HloComputation* computation : module.computations()) {
    if (computation != &body) {
      CopyComputation(*computation, add_other, &copier);
      continue;
    }
    own = CopyCone(inside, nullptr, NewName(module, absl::StrCat(body.name(), "_", inside.name())),
                   &copier, copy.get());
    copier.SetCopy(body,
                   CopyCone(*body.root_instruction(), &inside, body.name(), &copier, copy.get()));
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  return Verified(std::move(copy));
}

const HloInstruction* MayTakeIn(const HloInstruction& movement) {
  const HloInstruction* moved = MovementOf(movement);
  if (moved == nullptr || movement.is_root() || movement.users().size() != 1) return nullptr;
  // A copy in the same order is there for its buffer's sake.
  if (moved->opcode() == HloOpcode::kCopy && moved->shape() == moved->operand(0)->shape()) {
    return nullptr;
  }
  if (!StaysUntilItIsRead(*movement.operand(0))) return nullptr;
  const HloInstruction* fusion = movement.users()[0];
  const bool may = fusion->opcode() == HloOpcode::kFusion && fusion->calls() != nullptr &&
                   CountCallers(*fusion->calls()) == 1 &&
                   ParametersFor(*fusion, movement).size() == 1 &&
                   !UpdatesInPlace(*fusion->calls());
  return may ? fusion : nullptr;
}

absl::StatusOr<std::unique_ptr<HloModule>> WithFolded(const HloInstruction& movement) {
  const HloInstruction* fusion = MayTakeIn(movement);
  if (fusion == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no fusion can take in the instruction '", movement.name(), "'"));
  }
  const HloInstruction& moved = *MovementOf(movement);
  const HloInstruction* inside = ParametersFor(*fusion, movement)[0];
  const HloModule& module = *movement.parent()->parent();
  std::unique_ptr<HloModule> copy = EmptyLike(module);
  const auto add_other = [&](const HloInstruction& original,
                             absl::Span<const HloInstruction* const> operands,
                             HloComputation* computation) -> HloInstruction* {
    if (&original == inside) {
      std::string name = absl::StrCat(inside->name(), "_unmoved");
      while (inside->parent()->FindInstruction(name) != nullptr) name.push_back('_');
      const HloInstruction* whole =
          computation->AddParameter(inside->parameter_number(), name, movement.operand(0)->shape());
      return CopyInstruction(moved, inside->name(), {whole}, ControlPredecessors::kLeftOut,
                             computation);
    }
    if (&original == &movement) {
      // Another name for what it moved.
      return computation->AddInstruction(HloOpcode::kTuple, original.name(),
                                         Shape::Tuple({movement.operand(0)->shape()}),
                                         {operands[0]});
    }
    if (&original != fusion) return nullptr;
    std::vector<const HloInstruction*> reads(operands.begin(), operands.end());
    for (int64_t i = 0; i < fusion->operand_count(); ++i) {
      if (fusion->operand(i) == &movement) reads[i] = operands[i]->operand(0);
    }
    return CopyInstruction(original, original.name(), reads, ControlPredecessors::kAsTheyAre,
                           computation);
  };
  ComputationCopier copier(copy.get());
  for (const HloComputation* computation : module.computations()) {
    CopyComputation(*computation, add_other, &copier);
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  return Verified(std::move(copy));
}

bool MayBeOneKernel(const HloInstruction& first, const HloInstruction& second) {
  for (const HloInstruction* kernel : {&first, &second}) {
    if (kernel->opcode() != HloOpcode::kFusion || kernel->calls() == nullptr ||
        !kernel->shape().IsArray() || IsAlias(*kernel) || UpdatesInPlace(*kernel->calls()) ||
        !kernel->control_predecessors().empty()) {
      return false;
    }
  }
  return first.parent() == second.parent() &&
         first.shape().dimensions() == second.shape().dimensions() &&
         first.index_in_computation() < second.index_in_computation() &&
         absl::c_all_of(
             second.operands(),
             [&](const HloInstruction* operand) {
               return operand->index_in_computation() < first.index_in_computation();
             });
}

namespace {

// Adds the instructions of a body, whose parameters are these, and returns the copy of its root.
const HloInstruction* AddBody(const HloComputation& body,
                              absl::Span<const HloInstruction* const> parameters,
                              ComputationCopier* copier, HloComputation* to) {
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> copies;
  for (const HloInstruction* instruction : body.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      copies[instruction] = parameters[instruction->parameter_number()];
      continue;
    }
    std::vector<const HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.push_back(copies.at(operand));
    }
    std::string name(instruction->name());
    while (to->FindInstruction(name) != nullptr) name.push_back('_');
    HloInstruction* same =
        CopyInstruction(*instruction, name, operands, ControlPredecessors::kLeftOut, to);
    copier->RedirectComputations(same);
    copies[instruction] = same;
  }
  return copies.at(body.root_instruction());
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> WithOneKernel(const HloInstruction& first,
                                                         const HloInstruction& second) {
  if (!MayBeOneKernel(first, second)) {
    return absl::InvalidArgumentError(absl::StrCat("the instructions '", first.name(), "' and '",
                                                   second.name(), "' cannot be one kernel"));
  }
  const HloModule& module = *first.parent()->parent();
  std::unique_ptr<HloModule> copy = EmptyLike(module);
  ComputationCopier copier(copy.get());
  // Each array is one operand.
  std::vector<const HloInstruction*> reads;
  for (const HloInstruction* kernel : {&first, &second}) {
    for (const HloInstruction* operand : kernel->operands()) {
      if (!absl::c_linear_search(reads, operand)) reads.push_back(operand);
    }
  }
  const HloComputation* body = nullptr;
  const auto make_body = [&] {
    HloComputation* made =
        copy->AddComputation(NewName(module, absl::StrCat(first.name(), "_", second.name())));
    std::vector<const HloInstruction*> parameters;
    for (const HloInstruction* read : reads) {
      const auto number = static_cast<int64_t>(parameters.size());
      parameters.push_back(
          made->AddParameter(number, absl::StrCat("read_", number), read->shape()));
    }
    std::vector<const HloInstruction*> results;
    for (const HloInstruction* kernel : {&first, &second}) {
      std::vector<const HloInstruction*> own;
      for (const HloInstruction* operand : kernel->operands()) {
        own.push_back(parameters[absl::c_find(reads, operand) - reads.begin()]);
      }
      results.push_back(AddBody(*kernel->calls(), own, &copier, made));
    }
    std::string name = "both";
    while (made->FindInstruction(name) != nullptr) name.push_back('_');
    made->SetRoot(made->AddInstruction(HloOpcode::kTuple, name,
                                       Shape::Tuple({results[0]->shape(), results[1]->shape()}),
                                       results));
    body = made;
  };
  const HloInstruction* both = nullptr;
  const auto element = [&](const HloInstruction& original, int64_t index,
                           HloComputation* computation) {
    HloInstruction* added = computation->AddInstruction(HloOpcode::kGetTupleElement,
                                                        original.name(), original.shape(), {both});
    added->SetAttribute(AttributeKey::kIndex, index);
    return added;
  };
  const auto add_other = [&](const HloInstruction& original,
                             absl::Span<const HloInstruction* const> /*operands*/,
                             HloComputation* computation) -> HloInstruction* {
    if (&original == &second) return element(original, 1, computation);
    if (&original != &first) return nullptr;
    std::vector<const HloInstruction*> operands;
    operands.reserve(reads.size());
    for (const HloInstruction* read : reads) {
      operands.push_back(computation->FindInstruction(read->name()));
    }
    std::string name = absl::StrCat(first.name(), "_and_", second.name());
    while (first.parent()->FindInstruction(name) != nullptr) name.push_back('_');
    HloInstruction* fusion =
        CopyInstruction(first, name, operands, ControlPredecessors::kLeftOut, computation);
    fusion->SetShape(Shape::Tuple({first.shape(), second.shape()}));
    fusion->SetAttribute(AttributeKey::kCalls, body);
    both = fusion;
    return element(original, 0, computation);
  };
  for (const HloComputation* computation : module.computations()) {
    // What is called comes before.
    if (computation == first.parent()) make_body();
    CopyComputation(*computation, add_other, &copier);
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  return Verified(std::move(copy));
}

}  // namespace xla_indexing::internal
