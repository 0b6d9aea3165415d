#include "xla_indexing/lowering/emit_fusion.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/function_frame.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::ArrayValue;
using internal::ComputedBy;
using internal::ElementPlace;
using internal::ElementReader;
using mlir::Value;

// Computations in computations are a recursion, and one has code wherever it is called.
constexpr int kMaxDepth = 32;
constexpr int64_t kMaxCalledInstructions = 200000;

// Emits a computation where the frame's builder inserts.
class ComputationEmitter {
 public:
  // `depth` computations are around this one. `num_called` counts the instructions of all but the
  // outermost.
  ComputationEmitter(const HloComputation& computation, internal::FunctionFrame& frame,
                     int64_t& num_called, int depth = 0)
      : original_(computation),
        frame_(frame),
        num_called_(num_called),
        depth_(depth),
        builder_(frame.builder()),
        loc_(frame.loc()),
        reader_(builder_, loc_) {}

  // From the memory of the leaves of the parameters to that of those of the result. A result that
  // is an argument has to be what the computation hands on of it.
  absl::Status Emit(const MlirValues& arguments, const MlirValues& results) {
    const absl::StatusOr<FusionView> view = FusionView::OfComputation(original_);
    if (!view.ok()) return view.status();
    if (absl::Status status = internal::PlaceParameters(original_, *view, arguments, &reader_);
        !status.ok()) {
      return status;
    }
    const HloComputation& computation = view->computation();
    const internal::MemoryPlan plan(computation);
    const HloInstruction* root = computation.root_instruction();
    PlaceResults(*root, plan, results);
    for (const HloInstruction* instruction : computation.instructions()) {
      if (!plan.IsInMemory(*instruction)) continue;
      if (absl::Status status = EmitInMemory(*instruction); !status.ok()) {
        return internal::Named(*instruction, status);
      }
    }
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      if (reader_.MemoryOf(array) == results[leaf]) continue;
      if (absl::Status status = EmitCopy(array, results[leaf]); !status.ok()) {
        return internal::Named(*array.instruction, status);
      }
    }
    Deallocate(0);
    return absl::OkStatus();
  }

 private:
  // What is computed as a result is written there at once; the others are copied.
  void PlaceResults(const HloInstruction& root, const internal::MemoryPlan& plan,
                    const MlirValues& results) {
    for (int64_t leaf = 0; leaf < root.shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({&root, leaf});
      const bool is_computed = plan.IsInMemory(*array.instruction) &&
                               array.instruction->opcode() != HloOpcode::kConstant;
      if (is_computed && !reader_.MemoryOf(array)) reader_.SetMemory(array, results[leaf]);
    }
  }

  absl::Status EmitInMemory(const HloInstruction& instruction) {
    if (instruction.opcode() == HloOpcode::kParameter) return absl::OkStatus();
    if (instruction.opcode() == HloOpcode::kConstant) {
      const absl::StatusOr<Value> memory = frame_.AddConstant(instruction);
      if (memory.ok()) reader_.SetMemory({&instruction, 0}, *memory);
      return memory.status();
    }
    MlirValues memory;
    for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
      Value array = reader_.MemoryOf({&instruction, leaf});
      if (!array) {
        const absl::StatusOr<Value> temporary = Allocate(instruction.shape().Leaf(leaf));
        if (!temporary.ok()) return temporary.status();
        array = *temporary;
        reader_.SetMemory({&instruction, leaf}, array);
      }
      memory.push_back(array);
    }
    if (memory.empty()) return internal::NotLoweredInstruction(instruction);
    switch (instruction.opcode()) {
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
        return EmitCalled(*instruction.inlined_computation(), instruction.operands(), memory);
      case HloOpcode::kConditional:
        return EmitConditional(instruction, memory);
      case HloOpcode::kScatter:
        return EmitScatter(instruction, memory);
      case HloOpcode::kWhile:
        return EmitWhile(instruction, memory);
      default:
        break;
    }
    const Shape& shape = instruction.shape().Leaf(0);
    if (internal::IsSumOfMany(instruction)) {
      return EmitNest(shape, memory, [&](const ElementPlace& place) {
        return reader_.ReadSum(instruction, place);
      });
    }
    if (memory.size() > 1) return internal::NotLoweredInstruction(instruction);
    return EmitNest(shape, memory, [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
      const absl::StatusOr<Value> value = reader_.Compute(instruction, place);
      if (!value.ok()) return value.status();
      return MlirValues({*value});
    });
  }

  // A computation on the values of instructions; those that are inlined are put in memory for it.
  absl::Status EmitCalled(const HloComputation& called,
                          absl::Span<const HloInstruction* const> operands,
                          const MlirValues& results) {
    MlirValues arguments;
    const size_t num_before = temporaries_.size();
    for (const HloInstruction* operand : operands) {
      for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
        const ArrayValue array = ComputedBy({operand, leaf});
        arguments.push_back(reader_.MemoryOf(array));
        if (arguments.back()) continue;
        const absl::StatusOr<Value> temporary = Allocate(array.shape());
        if (!temporary.ok()) return temporary.status();
        arguments.back() = *temporary;
        if (absl::Status status = EmitCopy(array, *temporary); !status.ok()) return status;
      }
    }
    if (absl::Status status = EmitCalled(called, arguments, results); !status.ok()) return status;
    Deallocate(num_before);
    return absl::OkStatus();
  }

  // A computation on arrays in memory.
  absl::Status EmitCalled(const HloComputation& called, const MlirValues& arguments,
                          const MlirValues& results) {
    num_called_ += called.instruction_count();
    if (depth_ >= kMaxDepth || num_called_ > kMaxCalledInstructions) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "computations that are called are more than ", kMaxDepth,
          " one in another, or have more than ", kMaxCalledInstructions, " instructions together"));
    }
    return ComputationEmitter(called, frame_, num_called_, depth_ + 1).Emit(arguments, results);
  }

  // The last branch is that of all other indices.
  absl::Status EmitConditional(const HloInstruction& conditional, const MlirValues& results) {
    const absl::StatusOr<Value> index = reader_.ReadScalar(*conditional.operand(0));
    if (!index.ok()) return index.status();
    const auto branches = conditional.branch_computations();
    llvm::SmallVector<int64_t, 4> cases(branches.size() - 1);
    std::iota(cases.begin(), cases.end(), 0);
    const bool is_pred = IsPred(conditional.operand(0)->shape().element_type());
    if (is_pred) cases.front() = 1;
    const mlir::Type type = builder_.getIndexType();
    auto choice = mlir::scf::IndexSwitchOp::create(
        builder_, loc_, mlir::TypeRange(),
        is_pred ? builder_.createOrFold<mlir::arith::IndexCastUIOp>(loc_, type, *index)
                : builder_.createOrFold<mlir::arith::IndexCastOp>(loc_, type, *index),
        cases, cases.size());
    const mlir::OpBuilder::InsertionGuard back(builder_);
    for (size_t b = 0; b < branches.size(); ++b) {
      builder_.createBlock(b < cases.size() ? &choice.getCaseRegions()[b]
                                            : &choice.getDefaultRegion());
      const int64_t operand = static_cast<int64_t>(b) + 1;
      if (absl::Status status =
              EmitCalled(*branches[b], conditional.operands().subspan(operand, 1), results);
          !status.ok()) {
        return status;
      }
      mlir::scf::YieldOp::create(builder_, loc_);
    }
    return absl::OkStatus();
  }

  // The body may read what it has written already: its results are copied when it is done.
  absl::Status EmitWhile(const HloInstruction& loop, const MlirValues& state) {
    const HloComputation& body = *loop.while_body();
    MlirValues next = state;
    for (const auto [leaf, memory] : llvm::enumerate(state)) {
      const auto number = static_cast<int64_t>(leaf);
      if (absl::Status status = EmitCopy({loop.operand(0), number}, memory); !status.ok()) {
        return status;
      }
      if (ComputedBy({body.root_instruction(), number}) == ArrayValue{body.parameter(0), number}) {
        continue;
      }
      const absl::StatusOr<Value> temporary = Allocate(loop.shape().Leaf(number));
      if (!temporary.ok()) return temporary.status();
      next[leaf] = *temporary;
    }
    const absl::StatusOr<Value> goes_on = Allocate(Shape::Scalar(ElementType::kPred));
    if (!goes_on.ok()) return goes_on.status();
    auto op = mlir::scf::WhileOp::create(builder_, loc_, mlir::TypeRange(), mlir::ValueRange());
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.createBlock(&op.getBefore());
    if (absl::Status status = EmitCalled(*loop.while_condition(), state, {*goes_on});
        !status.ok()) {
      return status;
    }
    const Value holds = mlir::memref::LoadOp::create(builder_, loc_, *goes_on);
    mlir::scf::ConditionOp::create(builder_, loc_, holds, mlir::ValueRange());
    builder_.createBlock(&op.getAfter());
    if (absl::Status status = EmitCalled(body, state, next); !status.ok()) return status;
    for (const auto [leaf, memory] : llvm::enumerate(state)) {
      if (next[leaf] == memory) continue;
      const absl::Status status = EmitNest(
          loop.shape().Leaf(static_cast<int64_t>(leaf)), memory,
          [&, from = next[leaf]](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
            return MlirValues({mlir::memref::LoadOp::create(builder_, loc_, from, place.values)});
          });
      if (!status.ok()) return status;
    }
    mlir::scf::YieldOp::create(builder_, loc_);
    return absl::OkStatus();
  }

  // The updates, one after another, on what is there.
  absl::Status EmitScatter(const HloInstruction& scatter, const MlirValues& memory) {
    const auto count = static_cast<int64_t>(memory.size());
    for (int64_t i = 0; i < count; ++i) {
      if (absl::Status status = EmitCopy({scatter.operand(i), 0}, memory[i]); !status.ok()) {
        return status;
      }
    }
    return EmitNest(scatter.operand(count + 1)->shape(), {},
                    [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
                      absl::Status status = reader_.EmitUpdate(scatter, place, memory);
                      if (!status.ok()) return status;
                      return MlirValues();
                    });
  }

  // Until Deallocate, in the same block.
  absl::StatusOr<Value> Allocate(Shape shape) {
    shape.ClearLayout();
    const absl::StatusOr<mlir::MemRefType> type =
        internal::MemoryType(shape, builder_.getContext());
    if (!type.ok()) return type.status();
    temporaries_.push_back(mlir::memref::AllocOp::create(builder_, loc_, *type));
    return temporaries_.back();
  }

  // All but the first temporaries.
  void Deallocate(size_t num_kept) {
    for (const Value temporary : llvm::drop_begin(temporaries_, num_kept)) {
      mlir::memref::DeallocOp::create(builder_, loc_, temporary);
    }
    temporaries_.truncate(num_kept);
  }

  absl::Status EmitCopy(const ArrayValue& array, Value to) {
    return EmitNest(array.shape(), to,
                    [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
                      const absl::StatusOr<Value> value = reader_.Read(array, place);
                      if (!value.ok()) return value.status();
                      return MlirValues({*value});
                    });
  }

  // Loops over an array's elements, which stores what `compute` gives, one for each memory.
  absl::Status EmitNest(
      const Shape& shape, mlir::ValueRange memory,
      absl::FunctionRef<absl::StatusOr<MlirValues>(const ElementPlace&)> compute) {
    const llvm::ArrayRef<int64_t> sizes(shape.dimensions().data(), shape.dimensions().size());
    const absl::StatusOr<IndexingMap> elements = CreateIdentityMap(sizes, builder_.getContext());
    if (!elements.ok()) return elements.status();
    llvm::SmallVector<int, 4> all(sizes.size());
    std::iota(all.begin(), all.end(), 0);
    const absl::StatusOr<IndexingMap> loops = DimensionsToRanges(*elements, all);
    if (!loops.ok()) return loops.status();
    return EmitLoopNest(builder_, loc_, *loops, {}, {}, {},
                        [&](mlir::ValueRange ranges,
                            mlir::ValueRange /*carried*/) -> absl::StatusOr<MlirValues> {
                          const auto values = compute({*elements, MlirValues(ranges)});
                          if (!values.ok()) return values.status();
                          for (size_t i = 0; i < memory.size(); ++i) {
                            mlir::memref::StoreOp::create(builder_, loc_, (*values)[i], memory[i],
                                                          ranges);
                          }
                          return MlirValues();
                        })
        .status();
  }

  const HloComputation& original_;
  internal::FunctionFrame& frame_;
  int64_t& num_called_;
  const int depth_;
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  ElementReader reader_;
  MlirValues temporaries_;
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context) {
  internal::FunctionFrame frame(computation, context);
  if (absl::Status status = frame.Begin(); !status.ok()) return status;
  int64_t num_called = 0;
  if (absl::Status status = ComputationEmitter(computation, frame, num_called)
                                .Emit(frame.arguments(), frame.results());
      !status.ok()) {
    return status;
  }
  return frame.Finish();
}

}  // namespace xla_indexing
