#include "xla_indexing/gpu/fusing/fuse_like_xla.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/gpu/fusing/kernel_merger.h"
#include "xla_indexing/gpu/fusing/value_graph.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/computation_copier.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using internal::ComputationCopier;
using internal::ControlPredecessors;
using internal::CopyInstruction;
using internal::InlinedCalls;
using internal::MergedKernels;
using internal::Value;
using internal::ValueGraph;
using internal::ValueRole;

// `name`, or with the first number that makes it new.
template <typename IsTaken>
std::string NewName(absl::string_view name, IsTaken is_taken, int64_t* next) {
  std::string new_name(name);
  while (is_taken(new_name)) new_name = absl::StrCat(name, ".", ++*next);
  return new_name;
}

// Writes the copy of one computation.
class FusedComputationWriter {
 public:
  FusedComputationWriter(const ValueGraph& graph, HloModule* module, ComputationCopier* copier)
      : graph_(graph), values_(graph.values), module_(module), copier_(copier) {}

  HloComputation* Write(const HloComputation& original) {
    original_ = &original;
    merged_ = internal::MergeKernels(graph_);
    kernel_of_.assign(values_.size(), -1);
    for (size_t k = 0; k < merged_.kernels.size(); ++k) {
      for (const int value : merged_.kernels[k]) kernel_of_[value] = static_cast<int>(k);
      bodies_.push_back(BodyOf(merged_.kernels[k]));
    }
    for (Body& body : bodies_) WriteBody(&body);
    copy_ = module_->AddComputation(original.name());
    if (!original.execution_thread().empty()) {
      copy_->SetExecutionThread(original.execution_thread());
    }
    copies_.assign(values_.size(), nullptr);
    WriteInOrder();
    copy_->SetRoot(CopyOf(graph_.root));
    return copy_;
  }

 private:
  // What a kernel computes: positions of values, operands before users, and of those that it reads.
  struct Body {
    std::vector<int> results;
    std::vector<int> values;
    std::vector<int> reads;
    const HloComputation* computation = nullptr;  // none for one operation
    absl::string_view kind = "kLoop";
  };

  Body BodyOf(const std::vector<int>& results) const {
    Body body;
    body.results = results;
    absl::flat_hash_set<int> seen(results.begin(), results.end());
    body.values = results;
    for (size_t i = 0; i < body.values.size(); ++i) {
      for (const int operand : values_[body.values[i]].operands) {
        if (!seen.insert(operand).second) continue;
        const Value& value = values_[operand];
        const bool is_inside = value.role == ValueRole::kFree ||
                               (value.role == ValueRole::kFusible && !merged_.is_written[operand]);
        (is_inside ? body.values : body.reads).push_back(operand);
      }
    }
    absl::c_sort(body.values);
    absl::c_sort(body.reads);
    return body;
  }

  static bool IsInputOperation(const HloInstruction& instruction) {
    return instruction.opcode() == HloOpcode::kScatter ||
           internal::TiledTransposeOf(instruction).has_value() ||
           internal::ReductionOf(instruction, EmitterOptions().warp_size).has_value();
  }

  HloInstruction* AddCopy(const Value& value, absl::string_view name,
                          absl::Span<const HloInstruction* const> operands,
                          HloComputation* computation) {
    const HloInstruction& original = *value.instruction;
    if (value.role == ValueRole::kFree && !operands.empty()) {
      HloInstruction* bitcast =
          computation->AddInstruction(HloOpcode::kBitcast, name, original.shape(), operands);
      CopyMetadata(original, bitcast);
      return bitcast;
    }
    if (value.is_relayout) {
      return computation->AddInstruction(HloOpcode::kCopy, name, original.shape(), operands);
    }
    HloInstruction* copy =
        CopyInstruction(original, name, operands, ControlPredecessors::kLeftOut, computation);
    if (value.in_layout) copy->SetShape(*value.in_layout);
    copier_->RedirectComputations(copy);
    return copy;
  }

  static void CopyMetadata(const HloInstruction& from, HloInstruction* to) {
    const Attribute* metadata = from.FindAttribute(AttributeKey::kMetadata);
    if (metadata != nullptr) to->SetAttribute(metadata->key, metadata->value);
  }

  std::string NameIn(const HloComputation& computation, absl::string_view name) {
    return NewName(
        name, [&](absl::string_view n) { return computation.FindInstruction(n) != nullptr; },
        &next_name_[name]);
  }

  void WriteBody(Body* body) {
    const bool is_one = body->values.size() == 1;
    if (is_one) return;
    HloComputation* computation = module_->AddComputation(NewName(
        absl::StrCat("fused_", values_[body->results.back()].instruction->name()),
        [&](absl::string_view n) {
          return module_->FindComputation(n) != nullptr ||
                 original_->parent()->FindComputation(n) != nullptr;
        },
        &next_computation_));
    absl::flat_hash_map<int, const HloInstruction*> copies;
    for (const int read : body->reads) {
      const HloInstruction& operand = *values_[read].instruction;
      copies[read] =
          computation->AddParameter(static_cast<int64_t>(copies.size()),
                                    NameIn(*computation, operand.name()), values_[read].shape());
    }
    std::vector<const HloInstruction*> operands;
    for (const int i : body->values) {
      const Value& value = values_[i];
      operands.clear();
      for (const int operand : value.operands) operands.push_back(copies.at(operand));
      copies[i] =
          AddCopy(value, NameIn(*computation, value.instruction->name()), operands, computation);
      if (value.opcode() == HloOpcode::kDot) {
        body->kind = "kCustom";
      } else if (body->kind == "kLoop" && IsInputOperation(*value.instruction)) {
        body->kind = "kInput";
      }
    }
    if (body->results.size() > 1) {
      operands.clear();
      for (const int result : body->results) operands.push_back(copies.at(result));
      computation->SetRoot(computation->AddInstruction(
          HloOpcode::kTuple, NameIn(*computation, "results"), ResultShape(*body), operands));
    } else {
      computation->SetRoot(copies.at(body->results[0]));
    }
    body->computation = computation;
  }

  Shape ResultShape(const Body& body) const {
    if (body.results.size() == 1) return values_[body.results[0]].shape();
    std::vector<Shape> shapes;
    shapes.reserve(body.results.size());
    for (const int result : body.results) shapes.push_back(values_[result].shape());
    return Shape::Tuple(std::move(shapes));
  }

  // The copy of a value that is in memory, or free.
  const HloInstruction* CopyOf(int i) {
    if (copies_[i] != nullptr) return copies_[i];
    const Value& value = values_[i];
    std::vector<const HloInstruction*> operands;
    for (const int operand : value.operands) operands.push_back(CopyOf(operand));
    return copies_[i] = AddCopy(value, NameIn(*copy_, value.instruction->name()), operands, copy_);
  }

  // Kernels and what is in memory, each after what it reads, otherwise in the order of the graph.
  void WriteInOrder() {
    // What comes together is known by its last value.
    std::vector<std::vector<int>> waiting(values_.size());
    std::vector<int> open(values_.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    const auto place_of = [&](int value) {
      const int kernel = kernel_of_[value];
      return kernel >= 0 ? merged_.kernels[kernel].back() : value;
    };
    for (size_t i = 0; i < values_.size(); ++i) {
      const int place = static_cast<int>(i);
      const bool is_kernel = kernel_of_[i] >= 0;
      if (!is_kernel && values_[i].role != ValueRole::kMemory) continue;
      if (place_of(place) != place) continue;
      const auto wait = [&](int read) {
        read = graph_.Behind(read);
        if (read < 0) return;
        ++open[i];
        waiting[place_of(read)].push_back(place);
      };
      if (is_kernel) {
        absl::c_for_each(bodies_[kernel_of_[i]].reads, wait);
      } else {
        absl::c_for_each(values_[i].operands, wait);
      }
      if (open[i] == 0) ready.push(place);
    }
    while (!ready.empty()) {
      const int place = ready.top();
      ready.pop();
      if (kernel_of_[place] >= 0) {
        WriteKernel(bodies_[kernel_of_[place]]);
      } else {
        CopyOf(place);
      }
      for (const int next : waiting[place]) {
        if (--open[next] == 0) ready.push(next);
      }
    }
  }

  void WriteKernel(const Body& body) {
    const Value& last = values_[body.results.back()];
    std::vector<const HloInstruction*> operands;
    if (body.computation == nullptr) {
      for (const int operand : last.operands) operands.push_back(CopyOf(operand));
      copies_[body.results[0]] =
          AddCopy(last, NameIn(*copy_, last.instruction->name()), operands, copy_);
      return;
    }
    for (const int read : body.reads) operands.push_back(CopyOf(read));
    HloInstruction* fusion = copy_->AddInstruction(
        HloOpcode::kFusion, NameIn(*copy_, absl::StrCat(last.instruction->name(), "_fusion")),
        ResultShape(body), operands);
    fusion->SetAttribute(AttributeKey::kFusionKind, body.kind);
    fusion->SetAttribute(AttributeKey::kCalls, body.computation);
    CopyMetadata(*last.instruction, fusion);
    if (body.results.size() == 1) {
      copies_[body.results[0]] = fusion;
      return;
    }
    for (size_t k = 0; k < body.results.size(); ++k) {
      const Value& result = values_[body.results[k]];
      HloInstruction* element = copy_->AddInstruction(HloOpcode::kGetTupleElement,
                                                      NameIn(*copy_, result.instruction->name()),
                                                      result.shape(), {fusion});
      element->SetAttribute(AttributeKey::kIndex, static_cast<int64_t>(k));
      copies_[body.results[k]] = element;
    }
  }

  const ValueGraph& graph_;
  const std::vector<Value>& values_;
  HloModule* module_;
  ComputationCopier* copier_;
  MergedKernels merged_;
  std::vector<int> kernel_of_;  // by value; -1 where it is not written by one
  std::vector<Body> bodies_;    // by kernel
  const HloComputation* original_ = nullptr;
  HloComputation* copy_ = nullptr;
  std::vector<const HloInstruction*> copies_;  // by value
  absl::flat_hash_map<std::string, int64_t> next_name_;
  int64_t next_computation_ = 0;
};

// Which computations of a module run as sequences of kernels, and which are called otherwise.
struct Uses {
  Uses(const HloModule& module, const InlinedCalls& inlined) {
    is_sequence.insert(module.entry_computation());
    const auto computations = module.computations();
    for (size_t i = computations.size(); i-- > 0;) {
      const HloComputation* computation = computations[i];
      const bool is_run = is_sequence.contains(computation) || is_inlined.contains(computation);
      const bool is_copied = is_other.contains(computation);
      if (!is_run && !is_copied) continue;
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) {
          if (is_copied) is_other.insert(called);
          if (!is_run) continue;
          if (inlined.Has(*instruction)) {
            is_inlined.insert(called);
          } else {
            (RunsKernels(*instruction) ? is_sequence : is_other).insert(called);
          }
        }
      }
    }
  }

  static bool RunsKernels(const HloInstruction& instruction) {
    return instruction.opcode() == HloOpcode::kWhile ||
           instruction.opcode() == HloOpcode::kConditional ||
           instruction.opcode() == HloOpcode::kCall;
  }

  absl::flat_hash_set<const HloComputation*> is_sequence;
  absl::flat_hash_set<const HloComputation*> is_inlined;
  absl::flat_hash_set<const HloComputation*> is_other;
};

bool HasRowMajorLeaves(const Shape& shape) {
  return absl::c_all_of(shape.Leaves(), [](const Shape* leaf) {
    return !leaf->has_layout() || *leaf->layout() == RowMajorLayout(leaf->rank());
  });
}

Shape InRowMajor(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_elements()) elements.push_back(InRowMajor(element));
    return Shape::Tuple(std::move(elements));
  }
  Shape row_major = shape;
  if (shape.has_layout()) row_major.SetLayout(RowMajorLayout(shape.rank()));
  return row_major;
}

std::unique_ptr<HloModule> EmptyCopyOf(const HloModule& module) {
  auto copy = std::make_unique<HloModule>(module.name());
  for (const ModuleAttribute& attribute : module.attributes()) {
    copy->SetAttribute(attribute.name, attribute.text);
  }
  copy->SetStackFrameTables(module.stack_frame_tables());
  return copy;
}

std::unique_ptr<HloModule> CopyInRowMajor(const HloModule& module) {
  std::unique_ptr<HloModule> copy = EmptyCopyOf(module);
  ComputationCopier copier(copy.get());
  for (const HloComputation* computation : module.computations()) {
    for (HloInstruction* instruction : copier.Copy(*computation)->instructions()) {
      if (HasRowMajorLeaves(instruction->shape())) continue;
      instruction->SetShape(InRowMajor(instruction->shape()));
    }
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  return copy;
}

}  // namespace

// Only passes that come after the assignment make bitcasts, fusions and copies to another layout.
bool HasUnassignedLayouts(const HloModule& module) {
  bool are_all_row_major = true;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* i : computation->instructions()) {
      if (i->opcode() == HloOpcode::kFusion || i->opcode() == HloOpcode::kBitcast ||
          (i->opcode() == HloOpcode::kCopy && i->shape() != i->operand(0)->shape())) {
        return false;
      }
      if (HasRowMajorLeaves(i->shape())) continue;
      are_all_row_major = false;
      const bool is_argument =
          computation == module.entry_computation() && i->opcode() == HloOpcode::kParameter;
      if (is_argument) return false;
    }
  }
  return !are_all_row_major && !module.is_scheduled();
}

std::unique_ptr<HloModule> WithoutUnassignedLayouts(const HloModule& module) {
  return HasUnassignedLayouts(module) ? CopyInRowMajor(module) : nullptr;
}

absl::StatusOr<std::unique_ptr<HloModule>> FuseLikeXla(const HloModule& module) {
  if (absl::Status status = VerifyModule(module); !status.ok()) return status;
  if (const auto in_row_major = WithoutUnassignedLayouts(module)) return FuseLikeXla(*in_row_major);
  std::unique_ptr<HloModule> copy = EmptyCopyOf(module);
  const InlinedCalls inlined(module);
  const Uses uses(module, inlined);
  ComputationCopier copier(copy.get());
  for (const HloComputation* computation : module.computations()) {
    if (uses.is_other.contains(computation)) {
      copier.Copy(*computation);
    } else if (uses.is_sequence.contains(computation)) {
      const ValueGraph graph(*computation, inlined);
      copier.SetCopy(*computation,
                     FusedComputationWriter(graph, copy.get(), &copier).Write(*computation));
    }
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  if (absl::Status status = VerifyModule(*copy); !status.ok()) return status;
  return copy;
}

bool HasFusions(const HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* instruction) {
      return instruction->opcode() == HloOpcode::kFusion;
    });
  });
}

}  // namespace xla_indexing
