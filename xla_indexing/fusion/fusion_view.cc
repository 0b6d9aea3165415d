#include "xla_indexing/fusion/fusion_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/transforms/computation_copier.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/values/leaf_routes.h"
#include "xla_indexing/ops/values/loop_counter.h"

namespace xla_indexing {
namespace {

using internal::ComputationCopier;
using internal::ControlPredecessors;
using internal::CopyInstruction;

// A fusion of calls that nest deeper is one of calls (FusionOptions::max_call_depth).
constexpr int kMaxInlinedDepth = 64;

template <typename... Parts>
absl::Status ViewError(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("fusion view: ", parts...));
}

std::string Quoted(const HloInstruction& instruction) {
  return absl::StrCat("'", instruction.name(), "'");
}

bool IsBefore(const HloInstruction* a, const HloInstruction* b) {
  return a->index_in_computation() < b->index_in_computation();
}

// Checks that there are instructions, and that all are of one computation.
absl::Status CheckTogether(FusionView::Instructions first, FusionView::Instructions others) {
  if (first.empty()) return ViewError("there are no instructions to compute");
  for (const FusionView::Instructions instructions : {first, others}) {
    for (const HloInstruction* instruction : instructions) {
      if (instruction == nullptr) return ViewError("an instruction is null");
      if (instruction->parent() == first.front()->parent()) continue;
      return ViewError("instruction ", Quoted(*instruction), " is in computation '",
                       instruction->parent()->name(), "', and ", Quoted(*first.front()), " in '",
                       first.front()->parent()->name(), "'");
    }
  }
  return absl::OkStatus();
}

// Whether a value of the one shape can be used as one of the other: layouts may be left out.
bool HasSameLayouts(const Shape& a, const Shape& b) {
  if (a == b) return true;
  if (!EqualIgnoringLayout(a, b)) return false;
  const std::vector<const Shape*> of_a = a.Leaves();
  const std::vector<const Shape*> of_b = b.Leaves();
  return absl::c_equal(of_a, of_b, [](const Shape* x, const Shape* y) {
    return !x->IsArray() || x->LayoutOrRowMajor() == y->LayoutOrRowMajor();
  });
}

// The array that get-tuple-elements lead to: an instruction and, where its tuple is not one of the
// program's tuples, the places in it.
using ValueKey = std::pair<const HloInstruction*, absl::InlinedVector<int64_t, 2>>;

ValueKey KeyOf(const HloInstruction* value) {
  ValueKey key;
  while (true) {
    if (value->opcode() == HloOpcode::kGetTupleElement) {
      key.second.push_back(value->tuple_index());
      value = value->operand(0);
    } else if (value->opcode() == HloOpcode::kTuple && !key.second.empty()) {
      value = value->operand(key.second.back());
      key.second.pop_back();
    } else {
      key.first = value;
      return key;
    }
  }
}

}  // namespace

// Makes a view in three steps: a list of *nodes*, instructions to copy, in their order; of these,
// the ones that the roots need; and their copies.
class FusionViewBuilder {
 public:
  // With a context, loops whose number of iterations is known are replaced by these.
  FusionViewBuilder(FusionView::Instructions roots,
                    absl::FunctionRef<bool(const HloInstruction&)> is_inside,
                    mlir::MLIRContext* context = nullptr)
      : roots_(roots), is_inside_(is_inside), context_(context) {}

  absl::StatusOr<FusionView> Build() && {
    const HloModule& module = *roots_.front()->parent()->parent();
    if (absl::Status status = VerifyModule(module); !status.ok()) return status;
    AddNodesOfComputation();
    for (const HloInstruction* root : roots_) root_nodes_.push_back(ValueOf(root));
    MarkNeeded();
    FusionView view = Copy();
    if (absl::Status status = VerifyModule(view.module()); !status.ok()) {
      return ViewError("computed to ", Quoted(*roots_.front()), ": ", status.message());
    }
    return view;
  }

 private:
  using NodeId = size_t;

  struct Node {
    const HloInstruction* original = nullptr;
    // A parameter that stands for the original, a copy of it, a copy operation that gives the value of the
    // only operand the shape of the original, or a constant that the original is in an iteration.
    enum class Kind : uint8_t { kParameter, kCopy, kRelayout, kConstant } kind = Kind::kCopy;
    bool is_needed = false;
    absl::InlinedVector<NodeId, 2> operands;
    const HloInstruction* copy = nullptr;
    FusionView::Iterations iterations = {};
    int64_t value = 0;
  };

  NodeId AddNode(const HloInstruction& original, Node::Kind kind,
                 absl::InlinedVector<NodeId, 2> operands = {}) {
    nodes_.push_back({&original, kind, false, std::move(operands), nullptr, iterations_});
    return nodes_.size() - 1;
  }

  const Shape& ShapeOf(NodeId node) const { return nodes_[node].original->shape(); }

  // The node with the value of a node in the shape of an instruction.
  NodeId InShapeOf(const HloInstruction& instruction, NodeId node) {
    if (HasSameLayouts(ShapeOf(node), instruction.shape())) return node;
    return AddNode(instruction, Node::Kind::kRelayout, {node});
  }

  // Notes that an instruction has the value of a node.
  NodeId Record(const HloInstruction& instruction, NodeId node) {
    values_.push_back({&instruction, node});
    return node;
  }

  // The node of an instruction of the roots' computation.
  NodeId ValueOf(const HloInstruction* instruction) {
    const auto known = outer_.find(instruction);
    if (known != outer_.end()) return known->second;
    const auto [it, is_new] = outside_.try_emplace(KeyOf(instruction), 0);
    if (is_new || !HasSameLayouts(ShapeOf(it->second), instruction->shape())) {
      it->second = AddNode(*instruction, Node::Kind::kParameter);
    }
    return outer_[instruction] = Record(*instruction, it->second);
  }

  bool IsInside(const HloInstruction& instruction) const {
    return instruction.opcode() != HloOpcode::kParameter && is_inside_(instruction);
  }

  void AddNodesOfComputation() {
    std::vector<const HloInstruction*> inside;
    absl::flat_hash_set<const HloInstruction*> seen;
    const auto reach = [&](const HloInstruction* instruction) {
      if (seen.insert(instruction).second && IsInside(*instruction)) inside.push_back(instruction);
    };
    for (const HloInstruction* root : roots_) reach(root);
    for (size_t i = 0; i < inside.size(); ++i) {
      for (const HloInstruction* operand : inside[i]->operands()) reach(operand);
    }
    absl::c_sort(inside, IsBefore);
    for (const HloInstruction* instruction : inside) {
      absl::InlinedVector<NodeId, 2> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(ValueOf(operand));
      }
      outer_[instruction] = Add(*instruction, std::move(operands), /*depth=*/0);
    }
  }

  // The node of an instruction with these operands.
  NodeId Add(const HloInstruction& instruction, absl::InlinedVector<NodeId, 2> operands,
             int depth) {
    const HloComputation* inlined = instruction.inlined_computation();
    if (inlined != nullptr && depth < kMaxInlinedDepth &&
        inlined_count_ + inlined->instruction_count() <= FusionView::kMaxInlined &&
        QuestionBudget::Spend(inlined->instruction_count())) {
      inlined_count_ += inlined->instruction_count();
      return Record(instruction,
                    InShapeOf(instruction, AddNodesOfCall(*inlined, operands, depth + 1)));
    }
    if (instruction.opcode() == HloOpcode::kWhile && context_ != nullptr) {
      if (const auto unrolled = AddIterations(instruction, operands[0], depth + 1)) {
        return Record(instruction, InShapeOf(instruction, *unrolled));
      }
    }
    if (instruction.opcode() == HloOpcode::kGetTupleElement) {
      const Node& tuple = nodes_[operands[0]];
      if (tuple.kind == Node::Kind::kCopy && tuple.original->opcode() == HloOpcode::kTuple) {
        return Record(instruction,
                      InShapeOf(instruction, tuple.operands[instruction.tuple_index()]));
      }
    }
    return Record(instruction, AddNode(instruction, Node::Kind::kCopy, std::move(operands)));
  }

  // The node of the root of a computation that is called with these values.
  NodeId AddNodesOfCall(const HloComputation& computation,
                        const absl::InlinedVector<NodeId, 2>& arguments, int depth) {
    std::vector<NodeId> values;  // by position
    values.reserve(computation.instruction_count());
    for (const HloInstruction* instruction : computation.instructions()) {
      if (instruction->opcode() == HloOpcode::kParameter) {
        const NodeId argument = arguments[instruction->parameter_number()];
        values.push_back(Record(*instruction, InShapeOf(*instruction, argument)));
        continue;
      }
      absl::InlinedVector<NodeId, 2> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(values[operand->index_in_computation()]);
      }
      values.push_back(Add(*instruction, std::move(operands), depth));
    }
    return values[computation.root_instruction()->index_in_computation()];
  }

  // The node of the state after all iterations of a loop; nothing if their number is not known, or they are
  // too many.
  std::optional<NodeId> AddIterations(const HloInstruction& loop, NodeId state, int depth) {
    const auto [found, is_new] = iterated_.try_emplace(&loop);
    if (is_new) found->second = IteratedOf(loop);
    const IteratedLoop iterated = found->second;
    const HloComputation& body = *loop.while_body();
    const int64_t size = std::max<int64_t>(body.instruction_count(), 1);
    const bool is_short = iterated.count && depth < kMaxInlinedDepth &&
                          *iterated.count <= (FusionView::kMaxInlined - inlined_count_) / size &&
                          QuestionBudget::Spend(*iterated.count * size);
    if (!is_short) return std::nullopt;
    inlined_count_ += *iterated.count * size;
    for (int64_t k = 0; k < *iterated.count; ++k) {
      iterations_.push_back(k);
      state = AddNodesOfCall(body, {WithCounted(state, iterated, k)}, depth);
      iterations_.pop_back();
    }
    return state;
  }

  // How often a loop runs, and the leaves that count from a constant.
  struct IteratedLoop {
    std::optional<int64_t> count;  // nothing if it is not known, or depends on data
    std::vector<std::pair<int64_t, internal::CountingLeaf>> counting = {};
  };

  IteratedLoop IteratedOf(const HloInstruction& loop) const {
    const std::vector<bool> passed = internal::LeavesPassedThrough(loop);
    const internal::LoopCounter counter = internal::FindLoopCounter(loop, passed, context_);
    const auto begins_with_constant = [&](int64_t leaf) {
      const internal::LeafSource source = internal::FollowRoutes({loop.operand(0), leaf});
      return source.instruction->opcode() == HloOpcode::kConstant;
    };
    // The iterations do not say what else the condition reads.
    const HloInstruction& state = *loop.while_condition()->parameters()[0];
    const bool reads_no_data = absl::c_all_of(state.uses(), [&](const HloInstruction::Use& use) {
      if (use.user->uses().empty() && !use.user->is_root()) return true;
      if (use.user->opcode() != HloOpcode::kGetTupleElement) return false;
      const int64_t leaf = state.shape().FirstLeafOfElement(use.user->tuple_index());
      return use.user->shape().IsArray() && begins_with_constant(leaf) &&
             (counter.leaves.contains(leaf) || passed[static_cast<size_t>(leaf)]);
    });
    if (!reads_no_data) return {};
    IteratedLoop iterated = {counter.count()};
    for (const auto& counting : counter.leaves) {
      if (begins_with_constant(counting.first)) iterated.counting.push_back(counting);
    }
    return iterated;
  }

  // The state that iteration `k` begins with, in which what counts is a constant.
  NodeId WithCounted(NodeId state, const IteratedLoop& loop, int64_t k) {
    const HloInstruction& tuple = *nodes_[state].original;
    const bool is_flat = nodes_[state].kind == Node::Kind::kCopy &&
                         tuple.opcode() == HloOpcode::kTuple &&
                         tuple.operand_count() == tuple.shape().LeafCount();
    if (!is_flat) return state;
    absl::InlinedVector<NodeId, 2> operands = nodes_[state].operands;
    for (const auto& [leaf, counting] : loop.counting) {
      const NodeId constant = AddNode(*tuple.operand(leaf), Node::Kind::kConstant);
      nodes_[constant].value = counting.start + k * counting.step;
      operands[static_cast<size_t>(leaf)] = constant;
    }
    return AddNode(tuple, Node::Kind::kCopy, std::move(operands));
  }

  void MarkNeeded() {
    std::vector<NodeId> open = root_nodes_;
    while (!open.empty()) {
      Node& node = nodes_[open.back()];
      open.pop_back();
      if (std::exchange(node.is_needed, true)) continue;
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    }
  }

  // The parameters that are needed, in the order of their first use.
  std::vector<NodeId> Parameters() const {
    std::vector<NodeId> parameters;
    absl::flat_hash_set<NodeId> seen;
    const auto use = [&](NodeId id) {
      if (nodes_[id].kind == Node::Kind::kParameter && seen.insert(id).second) {
        parameters.push_back(id);
      }
    };
    for (const Node& node : nodes_) {
      if (node.is_needed) absl::c_for_each(node.operands, use);
    }
    absl::c_for_each(root_nodes_, use);
    return parameters;
  }

  FusionView Copy() {
    const HloModule& original = *roots_.front()->parent()->parent();
    FusionView view(std::make_unique<HloModule>(original.name()));
    HloModule* module = view.module_.get();
    // The header's attributes about devices are kept; the others are about the entry of the original.
    for (const absl::string_view name : {"replica_count", "num_partitions"}) {
      if (const auto text = original.FindAttribute(name)) module->SetAttribute(name, *text);
    }
    ComputationCopier copier(module);
    std::vector<const HloInstruction*> copied;
    for (const Node& node : nodes_) {
      if (node.is_needed && node.kind == Node::Kind::kCopy) copied.push_back(node.original);
    }
    copier.CopyCalled(copied);
    std::string name = "fusion_view";
    while (module->FindComputation(name) != nullptr) name += "_";
    HloComputation* computation = module->AddComputation(name);
    module->SetEntry(computation);
    const absl::string_view thread = roots_.front()->parent()->execution_thread();
    if (!thread.empty()) computation->SetExecutionThread(thread);
    AddParameters(computation, &view);
    AddCopies(copier, computation, &view);
    SetRoot(computation, &view);
    view.roots_.assign(roots_.begin(), roots_.end());
    KeepCopies(&view);
    return view;
  }

  void AddParameters(HloComputation* computation, FusionView* view) {
    for (const NodeId id : Parameters()) {
      const HloInstruction& operand = *nodes_[id].original;
      nodes_[id].copy =
          computation->AddParameter(static_cast<int64_t>(view->operands_.size()),
                                    NewName(operand.name(), *computation), operand.shape());
      view->operands_.push_back(&operand);
      view->originals_.push_back(&operand);
    }
  }

  void AddCopies(ComputationCopier& copier, HloComputation* computation, FusionView* view) {
    std::vector<const HloInstruction*> operands;
    for (Node& node : nodes_) {
      if (!node.is_needed || node.copy != nullptr) continue;
      operands.clear();
      for (const NodeId operand : node.operands) operands.push_back(nodes_[operand].copy);
      const std::string new_name = NewName(node.original->name(), *computation);
      if (node.kind == Node::Kind::kConstant) {
        node.copy = computation->AddConstant(
            new_name, Literal::IntegerScalar(node.original->shape().element_type(), node.value));
      } else if (node.kind == Node::Kind::kRelayout) {
        node.copy = computation->AddInstruction(HloOpcode::kCopy, new_name, node.original->shape(),
                                                operands);
      } else {
        HloInstruction* copy = CopyInstruction(*node.original, new_name, operands,
                                               ControlPredecessors::kLeftOut, computation);
        copier.RedirectComputations(copy);
        node.copy = copy;
      }
      view->originals_.push_back(node.original);
      if (!node.iterations.empty()) view->iterations_.emplace(node.copy, node.iterations);
    }
  }

  // The root is the copy of the one root, or a tuple of those of several.
  void SetRoot(HloComputation* computation, FusionView* view) {
    if (root_nodes_.size() == 1) {
      computation->SetRoot(nodes_[root_nodes_.front()].copy);
      return;
    }
    std::vector<const HloInstruction*> copies;
    std::vector<Shape> shapes;
    for (const NodeId id : root_nodes_) {
      copies.push_back(nodes_[id].copy);
      shapes.push_back(nodes_[id].copy->shape());
    }
    computation->SetRoot(computation->AddInstruction(HloOpcode::kTuple,
                                                     NewName("roots", *computation),
                                                     Shape::Tuple(std::move(shapes)), copies));
    view->originals_.push_back(nullptr);
  }

  // The copies of each instruction of the original, in their order.
  void KeepCopies(FusionView* view) const {
    for (const auto& [instruction, id] : values_) {
      const HloInstruction* copy = nodes_[id].copy;
      if (copy != nullptr) view->copies_[instruction].push_back(copy);
    }
    for (auto& [instruction, copies] : view->copies_) {
      absl::c_sort(copies, IsBefore);
      copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    }
  }

  // `base`, with a number behind where that is taken.
  std::string NewName(absl::string_view base, const HloComputation& computation) {
    std::string name(base);
    if (computation.FindInstruction(name) == nullptr) return name;
    int64_t& count = name_counts_[name];
    do {
      name = absl::StrCat(base, ".", ++count);
    } while (computation.FindInstruction(name) != nullptr);
    return name;
  }

  const FusionView::Instructions roots_;
  const absl::FunctionRef<bool(const HloInstruction&)> is_inside_;
  mlir::MLIRContext* context_;
  std::vector<Node> nodes_;
  // The iterations, of the loops around it, in which a node is added.
  FusionView::Iterations iterations_;
  absl::flat_hash_map<const HloInstruction*, IteratedLoop> iterated_;
  // The instructions of the calls that are replaced so far.
  int64_t inlined_count_ = 0;
  std::vector<NodeId> root_nodes_;
  // Which node has the value of an instruction of the original, in the order of the nodes; several
  // times for an instruction that is met in several calls.
  std::vector<std::pair<const HloInstruction*, NodeId>> values_;
  absl::flat_hash_map<const HloInstruction*, NodeId> outer_;
  absl::flat_hash_map<ValueKey, NodeId> outside_;
  absl::flat_hash_map<std::string, int64_t> name_counts_;
};

namespace {

// The instructions of a set and the get-tuple-elements that lead from one of them to another.
absl::flat_hash_set<const HloInstruction*> WithElementsBetween(
    const absl::flat_hash_set<const HloInstruction*>& given) {
  absl::flat_hash_set<const HloInstruction*> inside = given;
  std::vector<const HloInstruction*> elements;
  for (const HloInstruction* instruction : given) {
    for (const HloInstruction* operand : instruction->operands()) {
      elements.clear();
      while (operand->opcode() == HloOpcode::kGetTupleElement && !inside.contains(operand)) {
        elements.push_back(operand);
        operand = operand->operand(0);
      }
      if (inside.contains(operand)) inside.insert(elements.begin(), elements.end());
    }
  }
  return inside;
}

// Refuses a set of instructions of which one is computed from another through one outside.
absl::Status CheckConvex(const absl::flat_hash_set<const HloInstruction*>& inside) {
  std::vector<const HloInstruction*> in_order(inside.begin(), inside.end());
  absl::c_sort(in_order, IsBefore);
  // Whatever is computed from an instruction inside comes after the first of them.
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<const HloInstruction*> outside;
  for (const HloInstruction* instruction : in_order) {
    for (const HloInstruction* operand : instruction->operands()) {
      if (!inside.contains(operand)) outside.push_back(operand);
      while (!outside.empty()) {
        const HloInstruction* next = outside.back();
        outside.pop_back();
        if (IsBefore(next, in_order.front()) || !seen.insert(next).second) continue;
        for (const HloInstruction* source : next->operands()) {
          if (inside.contains(source)) {
            return ViewError(Quoted(*instruction), " reads ", Quoted(*operand),
                             ", which is outside and computed from ", Quoted(*source),
                             ": a fusion of both would wait for itself");
          }
          outside.push_back(source);
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FusionView> FusionView::Create(
    Instructions roots, absl::FunctionRef<bool(const HloInstruction&)> is_inside) {
  if (absl::Status status = CheckTogether(roots, {}); !status.ok()) return status;
  return FusionViewBuilder(roots, is_inside).Build();
}

absl::StatusOr<FusionView> FusionView::Between(Instructions from, Instructions roots) {
  if (absl::Status status = CheckTogether(roots, from); !status.ok()) return status;
  const absl::flat_hash_set<const HloInstruction*> boundary(from.begin(), from.end());
  return Create(roots, [&](const HloInstruction& i) { return !boundary.contains(&i); });
}

absl::StatusOr<FusionView> FusionView::OfInstructions(Instructions instructions) {
  if (absl::Status status = CheckTogether(instructions, {}); !status.ok()) return status;
  absl::flat_hash_set<const HloInstruction*> given;
  for (const HloInstruction* instruction : instructions) {
    if (instruction->opcode() != HloOpcode::kParameter) given.insert(instruction);
  }
  if (given.empty()) return ViewError("there are no instructions but parameters");
  const absl::flat_hash_set<const HloInstruction*> inside = WithElementsBetween(given);
  if (absl::Status status = CheckConvex(inside); !status.ok()) return status;

  const auto is_root = [&](const HloInstruction& instruction) {
    if (instruction.is_root() || instruction.uses().empty()) return true;
    // Elements that were not asked for stand for the tuple that they are of.
    std::vector<const HloInstruction*> values = {&instruction};
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->is_root()) return true;
      for (const HloInstruction* user : values[i]->users()) {
        if (!inside.contains(user)) return true;
        if (!given.contains(user)) values.push_back(user);
      }
    }
    return false;
  };
  std::vector<const HloInstruction*> roots;
  for (const HloInstruction* instruction : given) {
    if (is_root(*instruction)) roots.push_back(instruction);
  }
  absl::c_sort(roots, IsBefore);
  return Create(roots, [&](const HloInstruction& i) { return inside.contains(&i); });
}

absl::StatusOr<FusionView> FusionView::OfFusion(const HloInstruction& fusion) {
  return Create({&fusion}, [&](const HloInstruction& i) { return &i == &fusion; });
}

absl::StatusOr<FusionView> FusionView::OfComputation(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return ViewError("computation '", computation.name(), "' has no root");
  return Create({root}, [](const HloInstruction&) { return true; });
}

absl::StatusOr<FusionView> FusionView::OfIterations(const HloComputation& computation,
                                                    mlir::MLIRContext* context) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return ViewError("computation '", computation.name(), "' has no root");
  const auto is_inside = [](const HloInstruction&) { return true; };
  return FusionViewBuilder({&root, 1}, is_inside, context).Build();
}

FusionView::Iterations FusionView::IterationsOf(const HloInstruction& copy) const {
  const auto found = iterations_.find(&copy);
  return found == iterations_.end() ? Iterations() : found->second;
}

absl::StatusOr<FusionView> FusionView::OfProducerConsumer(const HloInstruction& producer,
                                                          const HloInstruction& consumer,
                                                          ProducerIs producer_is) {
  if (absl::Status status = CheckTogether({&producer, &consumer}, {}); !status.ok()) return status;
  const absl::flat_hash_set<const HloInstruction*> inside =
      WithElementsBetween({&producer, &consumer});
  const bool reads_it = absl::c_any_of(consumer.operands(), [&](const HloInstruction* operand) {
    return operand != &consumer && inside.contains(operand);
  });
  if (!reads_it || producer.opcode() == HloOpcode::kParameter) {
    return ViewError(Quoted(producer), " is not computed for ", Quoted(consumer), " to read");
  }
  if (absl::Status status = CheckConvex(inside); !status.ok()) return status;
  std::vector<const HloInstruction*> roots = {&consumer};
  if (producer_is == ProducerIs::kOutput) roots.push_back(&producer);
  return Create(roots, [&](const HloInstruction& i) { return inside.contains(&i); });
}

std::optional<int64_t> FusionView::ParameterOf(const HloInstruction& operand) const {
  for (const HloInstruction* copy : CopiesOf(operand)) {
    if (copy->opcode() == HloOpcode::kParameter) return copy->parameter_number();
  }
  return std::nullopt;
}

FusionView::Instructions FusionView::CopiesOf(const HloInstruction& original) const {
  const auto copies = copies_.find(&original);
  return copies == copies_.end() ? Instructions() : Instructions(copies->second);
}

const HloInstruction* FusionView::OriginalOf(const HloInstruction& copy) const {
  if (copy.parent() != &computation()) return nullptr;
  return originals_[copy.index_in_computation()];
}

}  // namespace xla_indexing
