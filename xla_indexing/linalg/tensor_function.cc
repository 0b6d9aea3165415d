#include "xla_indexing/linalg/tensor_function.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/OpDefinition.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/linalg/op_steps.h"

namespace xla_indexing {

class TensorFunctionBuilder {
 public:
  explicit TensorFunctionBuilder(absl::string_view name) {
    function_.module_ = std::make_unique<HloModule>(name);
  }

  // What an operation is computed by, in a computation of its own.
  absl::Status AddSteps(mlir::Operation* op) {
    const std::string name = op->getName().stripDialect().str();
    steps_.emplace_back(function_.module_.get(), op, absl::StrCat(name, ".", steps_.size()),
                        &sums_);
    ops_.push_back(op);
    return steps_.back().Import();
  }

  // The entry, in which each operation is a fusion. Values that no operation gives are parameters, these first.
  absl::StatusOr<TensorFunction> Finish(mlir::ValueRange parameters, mlir::ValueRange results) {
    HloComputation* entry = function_.module_->AddComputation("entry");
    function_.module_->SetEntry(entry);
    for (const mlir::Value parameter : parameters) AddParameter(parameter, entry);
    HloBuilder builder(entry);
    for (size_t i = 0; i < ops_.size(); ++i) {
      std::vector<const HloInstruction*> operands;
      for (const auto& [value, parameter] : steps_[i].inputs()) {
        AddParameter(value, entry);
        operands.push_back(function_.of_values_.lookup(value));
        function_.values_[parameter] = value;
      }
      const HloComputation* computation = steps_[i].computation();
      const Shape& shape = computation->root_instruction()->shape();
      const std::string name = steps_[i].name();
      HloInstruction* fusion = entry->AddInstruction(HloOpcode::kFusion, name, shape, operands);
      fusion->SetAttribute(AttributeKey::kFusionKind, absl::string_view("kLoop"));
      fusion->SetAttribute(AttributeKey::kCalls, computation);
      function_.of_operations_[ops_[i]] = fusion;
      if (!shape.IsTuple()) {
        // A store gives no value, but memory.
        if (ops_[i]->getNumResults() == 1) Bind(ops_[i]->getResult(0), fusion);
        continue;
      }
      for (const mlir::OpResult result : ops_[i]->getResults()) {
        const int64_t number = result.getResultNumber();
        HloInstruction* part =
            entry->AddInstruction(HloOpcode::kGetTupleElement, absl::StrCat(name, ".of.", number),
                                  shape.Leaf(number), {fusion});
        part->SetAttribute(AttributeKey::kIndex, number);
        Bind(result, part);
      }
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(const HloInstruction* root, RootOf(results, entry));
    XLA_INDEXING_RETURN_IF_ERROR(builder.SetRoot(root));
    XLA_INDEXING_RETURN_IF_ERROR(VerifyModule(*function_.module_));
    return std::move(function_);
  }

  const std::vector<internal::OpSteps>& steps() const { return steps_; }

 private:
  void Bind(mlir::Value value, const HloInstruction* instruction) {
    function_.of_values_[value] = instruction;
    function_.values_[instruction] = value;
  }

  // A value of a type that HLO does not have is none, and no operation reads it.
  void AddParameter(mlir::Value value, HloComputation* entry) {
    if (function_.of_values_.contains(value)) return;
    const absl::StatusOr<Shape> shape = internal::ShapeOfValues(value.getType());
    if (!shape.ok()) return;
    const auto number = static_cast<int64_t>(entry->parameters().size());
    Bind(value, entry->AddParameter(number, absl::StrCat("arg", number), *shape));
  }

  absl::StatusOr<const HloInstruction*> RootOf(mlir::ValueRange results, HloComputation* entry) {
    std::vector<const HloInstruction*> roots;
    for (const mlir::Value result : results) {
      const HloInstruction* root = function_.of_values_.lookup(result);
      if (root == nullptr)
        return absl::UnimplementedError("a result of a type that HLO does not have");
      roots.push_back(root);
    }
    if (roots.size() == 1) return roots.front();
    if (roots.empty() && !ops_.empty()) return function_.of_operations_.lookup(ops_.back());
    return HloBuilder(entry).Add(HloOpcode::kTuple, roots);
  }

  TensorFunction function_;
  std::map<ElementType, const HloComputation*> sums_;
  std::vector<internal::OpSteps> steps_;
  std::vector<mlir::Operation*> ops_;
};

absl::StatusOr<TensorFunction> TensorFunction::Create(mlir::Region& body, absl::string_view name) {
  if (!body.hasOneBlock()) return absl::UnimplementedError("a function of several blocks");
  TensorFunctionBuilder builder(name);
  mlir::Block& block = body.front();
  for (mlir::Operation& op : block) {
    // What has no results changes memory, which is not looked at.
    if (op.hasTrait<mlir::OpTrait::IsTerminator>() || op.getNumResults() == 0) continue;
    XLA_INDEXING_RETURN_IF_ERROR(builder.AddSteps(&op));
  }
  const bool ends = !block.empty() && block.back().hasTrait<mlir::OpTrait::IsTerminator>();
  return builder.Finish(block.getArguments(),
                        ends ? mlir::ValueRange(block.back().getOperands()) : mlir::ValueRange());
}

absl::StatusOr<TensorFunction> TensorFunction::OfOperation(mlir::Operation* operation) {
  TensorFunctionBuilder builder("operation");
  XLA_INDEXING_RETURN_IF_ERROR(builder.AddSteps(operation));
  std::vector<mlir::Value> inputs;
  for (const auto& [value, parameter] : builder.steps().front().inputs()) inputs.push_back(value);
  return builder.Finish(inputs, operation->getResults());
}

absl::StatusOr<OpIndexing> IndexingOf(mlir::Operation* operation, Direction direction) {
  XLA_INDEXING_ASSIGN_OR_RETURN(TensorFunction function, TensorFunction::OfOperation(operation));
  HloIndexer indexer(operation->getContext(), WithGivenMaps());
  XLA_INDEXING_ASSIGN_OR_RETURN(SharedIndexing entries,
                                indexer.IndexSimplified(function.computation(), direction));
  return OpIndexing{std::move(function), std::move(entries)};
}

}  // namespace xla_indexing
