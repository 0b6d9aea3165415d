#include "xla_indexing/plugin/annotate_pass.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/linalg/tensor_function.h"
#include "xla_indexing/lowering/dialect/indexing_dialect.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

class Annotator {
 public:
  explicit Annotator(const TensorFunction& function, mlir::MLIRContext* context)
      : function_(function), builder_(context), indexers_(context, WithGivenMaps()) {}

  void Annotate(mlir::Operation* op, const HloInstruction& instruction) {
    AnnotateReads(op, instruction);
    AnnotateInPlace(op, instruction);
    const absl::StatusOr<FusionView> view = FusionView::OfFusion(instruction);
    if (!view.ok()) return;
    const auto cost = CoalescingOfFusion(view->computation(), indexers_);
    if (cost.ok() && cost->Sectors().has_upper()) {
      op->setAttr("indexing.sectors", builder_.getI64IntegerAttr(cost->Sectors().upper()));
    }
  }

 private:
  // The number of the operation's operand that is an operand of the instruction; none for what its regions capture.
  std::optional<int64_t> OperandNumber(mlir::Operation* op, const HloInstruction& instruction,
                                       int64_t operand) const {
    const mlir::Value value = function_.ValueOf(*instruction.operand(operand));
    const auto found = llvm::find(op->getOperands(), value);
    if (found == op->operand_end()) return std::nullopt;
    return found - op->operand_begin();
  }

  void AnnotateReads(mlir::Operation* op, const HloInstruction& instruction) {
    const auto entries = indexers_.usual().IndexSimplified(instruction, Direction::kOutputToInput);
    const auto utilization = ComputeUtilization(instruction, indexers_);
    if (!entries.ok() || !utilization.ok()) return;
    llvm::SmallVector<mlir::Attribute> reads;
    for (const IndexingEntry& entry : **entries) {
      const std::optional<int64_t> number = OperandNumber(op, instruction, entry.operand);
      if (!number) continue;
      mlir::NamedAttrList read;
      read.set("operand", builder_.getI64IntegerAttr(*number));
      bool exact = true;
      llvm::SmallVector<mlir::Attribute> maps;
      for (const OperandIndexing& map : entry.indexing) {
        exact &= map.IsExact();
        if (!map.IsUnknown()) maps.push_back(dialect::IndexingMapAttr::get(map.map()));
      }
      read.set("maps", builder_.getArrayAttr(maps));
      if (exact) read.set("exact", builder_.getUnitAttr());
      for (const OperandUtilization& operand : utilization->operands) {
        if (operand.operand != entry.operand || operand.output_leaf != entry.output_leaf) continue;
        const auto set = [&](llvm::StringRef name, const Interval& count) {
          if (count.IsPoint()) read.set(name, builder_.getI64IntegerAttr(count.lower()));
        };
        set("elements", operand.utilization.elements_read);
        set("of", operand.utilization.elements);
        set("reads", operand.utilization.reads);
      }
      reads.push_back(read.getDictionary(builder_.getContext()));
    }
    op->setAttr("indexing.reads", builder_.getArrayAttr(reads));
  }

  void AnnotateInPlace(mlir::Operation* op, const HloInstruction& instruction) {
    auto analysis = InPlaceAnalysis::OfInstruction(instruction, indexers_);
    if (!analysis.ok()) return;
    const auto sharing = analysis->Share();
    if (!sharing.ok()) return;
    llvm::SmallVector<mlir::Attribute> pairs;
    for (const SharedBuffer& shared : sharing->shared) {
      const auto number = OperandNumber(op, instruction, shared.operand.operand);
      if (number) pairs.push_back(builder_.getDenseI64ArrayAttr({shared.output_leaf, *number}));
    }
    if (!pairs.empty()) op->setAttr("indexing.in_place", builder_.getArrayAttr(pairs));
  }

  const TensorFunction& function_;
  mlir::Builder builder_;
  HloIndexers indexers_;
};

class IndexingAnnotatePass
    : public mlir::PassWrapper<IndexingAnnotatePass,
                               mlir::InterfacePass<mlir::FunctionOpInterface>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IndexingAnnotatePass)

  llvm::StringRef getArgument() const override { return "indexing-annotate"; }
  llvm::StringRef getDescription() const override {
    return "Says what operations on tensors read, and what that costs";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<dialect::IndexingDialect>();
  }

  void runOnOperation() override {
    mlir::FunctionOpInterface func = getOperation();
    if (func.isExternal()) return;
    const absl::StatusOr<TensorFunction> function =
        TensorFunction::Create(func.getFunctionBody(), func.getName().str());
    if (!function.ok()) {
      func.emitRemark() << "not annotated: " << std::string(function.status().message());
      return;
    }
    Annotator annotator(*function, &getContext());
    for (mlir::Operation& op : func.getFunctionBody().front()) {
      const HloInstruction* instruction = function->InstructionOf(&op);
      // What has no operands reads nothing.
      if (instruction != nullptr && instruction->operand_count() > 0) {
        annotator.Annotate(&op, *instruction);
      }
    }
  }
};

}  // namespace

void RegisterAnnotatePass() { mlir::PassRegistration<IndexingAnnotatePass>(); }

}  // namespace xla_indexing
