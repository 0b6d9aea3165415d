#include "xla_indexing/lowering/emit_fusion.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/elements/elementwise_ops.h"
#include "xla_indexing/lowering/elements/scalar_computation.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/function_frame.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing {
namespace {

using internal::ArrayValue;
using internal::ComputedBy;
using internal::ElementPlace;
using internal::ElementReader;
using mlir::Value;
namespace arith = mlir::arith;

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
        reader_(builder_) {}

  // From the memory of the leaves of the parameters to that of those of the result. A result that
  // is an argument has to be what the computation hands on of it.
  absl::Status Emit(const MlirValues& arguments, const MlirValues& results) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const FusionView view, FusionView::OfComputation(original_));
    XLA_INDEXING_RETURN_IF_ERROR(internal::PlaceParameters(original_, view, arguments, &reader_));
    const HloComputation& computation = view.computation();
    const internal::MemoryPlan plan(computation);
    const HloInstruction* root = computation.root_instruction();
    PlaceResults(*root, plan, results);
    for (const HloInstruction* instruction : computation.instructions()) {
      if (!plan.IsInMemory(*instruction)) continue;
      builder_.setLoc(mlir::NameLoc::get(builder_.getStringAttr(std::string(instruction->name()))));
      XLA_INDEXING_RETURN_IF_ERROR(internal::Named(*instruction, EmitInMemory(*instruction)));
    }
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      if (reader_.MemoryOf(array) == results[leaf]) continue;
      XLA_INDEXING_RETURN_IF_ERROR(
          internal::Named(*array.instruction, EmitCopy({root, leaf}, results[leaf])));
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
      const bool has_type = array.shape().element_type() == root.shape().Leaf(leaf).element_type();
      if (is_computed && has_type && !reader_.MemoryOf(array)) {
        reader_.SetMemory(array, results[leaf]);
      }
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
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value temporary,
                                      Allocate(instruction.shape().Leaf(leaf)));
        array = temporary;
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
      case HloOpcode::kSelectAndScatter:
        return EmitSelectAndScatter(instruction, memory.front());
      case HloOpcode::kSort:
        return EmitSort(instruction, memory);
      case HloOpcode::kTopk:
        return EmitTopk(instruction, memory);
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
    return EmitElements(shape, memory.front(), [&](const ElementPlace& place) {
      return reader_.Compute(instruction, place);
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
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value temporary, Allocate(array.shape()));
        arguments.back() = temporary;
        XLA_INDEXING_RETURN_IF_ERROR(EmitCopy(array, temporary));
      }
    }
    XLA_INDEXING_RETURN_IF_ERROR(EmitCalled(called, arguments, results));
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
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value index, reader_.ReadScalar(*conditional.operand(0)));
    const auto branches = conditional.branch_computations();
    llvm::SmallVector<int64_t, 4> cases(branches.size() - 1);
    std::iota(cases.begin(), cases.end(), 0);
    const bool is_pred = IsPred(conditional.operand(0)->shape().element_type());
    if (is_pred) cases.front() = 1;
    const mlir::Type type = builder_.getIndexType();
    auto choice = mlir::scf::IndexSwitchOp::create(
        builder_, mlir::TypeRange(),
        is_pred ? Make<arith::IndexCastUIOp>(type, index) : Make<arith::IndexCastOp>(type, index),
        cases, cases.size());
    const mlir::OpBuilder::InsertionGuard back(builder_);
    for (size_t b = 0; b < branches.size(); ++b) {
      builder_.createBlock(b < cases.size() ? &choice.getCaseRegions()[b]
                                            : &choice.getDefaultRegion());
      const int64_t operand = static_cast<int64_t>(b) + 1;
      XLA_INDEXING_RETURN_IF_ERROR(
          EmitCalled(*branches[b], conditional.operands().subspan(operand, 1), results));
      mlir::scf::YieldOp::create(builder_);
    }
    return absl::OkStatus();
  }

  // The body may read what it has written already: its results are copied when it is done.
  absl::Status EmitWhile(const HloInstruction& loop, const MlirValues& state) {
    const HloComputation& body = *loop.while_body();
    MlirValues next = state;
    for (const auto [leaf, memory] : llvm::enumerate(state)) {
      const auto number = static_cast<int64_t>(leaf);
      XLA_INDEXING_RETURN_IF_ERROR(EmitCopy({loop.operand(0), number}, memory));
      if (ComputedBy({body.root_instruction(), number}) == ArrayValue{body.parameter(0), number}) {
        continue;
      }
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value temporary, Allocate(loop.shape().Leaf(number)));
      next[leaf] = temporary;
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value goes_on, Allocate(Shape::Scalar(ElementType::kPred)));
    auto op = mlir::scf::WhileOp::create(builder_, mlir::TypeRange(), mlir::ValueRange());
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.createBlock(&op.getBefore());
    XLA_INDEXING_RETURN_IF_ERROR(EmitCalled(*loop.while_condition(), state, {goes_on}));
    mlir::scf::ConditionOp::create(builder_, Load(goes_on, {}), mlir::ValueRange());
    builder_.createBlock(&op.getAfter());
    XLA_INDEXING_RETURN_IF_ERROR(EmitCalled(body, state, next));
    for (const auto [leaf, memory] : llvm::enumerate(state)) {
      if (next[leaf] == memory) continue;
      XLA_INDEXING_RETURN_IF_ERROR(
          EmitElements(loop.shape().Leaf(static_cast<int64_t>(leaf)), memory,
                       [&, from = next[leaf]](const ElementPlace& place) {
                         return absl::StatusOr<Value>(Load(from, place.values));
                       }));
    }
    mlir::scf::YieldOp::create(builder_);
    return absl::OkStatus();
  }

  // The updates, one after another, on what is there.
  absl::Status EmitScatter(const HloInstruction& scatter, const MlirValues& memory) {
    const auto count = static_cast<int64_t>(memory.size());
    for (int64_t i = 0; i < count; ++i) {
      XLA_INDEXING_RETURN_IF_ERROR(EmitCopy({scatter.operand(i), 0}, memory[i]));
    }
    return EmitNest(scatter.operand(count + 1)->shape(), {}, [&](const ElementPlace& place) {
      return reader_.EmitUpdate(scatter, place, memory);
    });
  }

  // Each element of the source is combined with that of the result where the window selects one.
  absl::Status EmitSelectAndScatter(const HloInstruction& instruction, Value memory) {
    const Shape& shape = instruction.operand(0)->shape();
    const Shape& source = instruction.operand(1)->shape();
    XLA_INDEXING_RETURN_IF_ERROR(EmitElements(shape, memory, [&](const ElementPlace& /*place*/) {
      return reader_.ReadScalar(*instruction.operand(2));
    }));
    internal::LoopNest nest;
    llvm::SmallVector<internal::Loop, 4> steps;
    for (const WindowDimension& window : internal::WindowOf(instruction)) {
      const auto d = static_cast<int64_t>(steps.size());
      const internal::Loop position = nest.AddLoop(source.dimension(d));
      steps.push_back(nest.AddLoop(window.size));
      nest.result.push_back(internal::NestAxis::Along(position));
      nest.operand.push_back(
          internal::NestAxis::OnWindow(position, steps.back(), window, shape.dimension(d)));
    }
    if (nest.IsEmpty()) return absl::OkStatus();
    const IndexingMap met =
        internal::LoopStepToInputOfNest(nest, steps, source, shape, builder_.getContext()).map();
    llvm::SmallVector<int, 4> window_dims(steps.size());
    std::iota(window_dims.begin(), window_dims.end(), source.rank());
    XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap window, DimensionsToRanges(met, window_dims));
    XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type,
                                  reader_.TypeOf({instruction.operand(0), 0}));
    // Whether there is one yet, the element, and its indices.
    MlirValues none = {Constant(builder_.getBoolAttr(false)), internal::EmitZero(builder_, type)};
    none.append(steps.size(), Index(0));
    const auto choose = [&](const MlirValues& place,
                            mlir::ValueRange best) -> absl::StatusOr<MlirValues> {
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value element,
                                    reader_.Read({instruction.operand(0), 0}, {met, place}));
      XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues at, reader_.IndexOf({met, place}));
      MlirValues next = {Constant(builder_.getBoolAttr(true)), element};
      next.append(at);
      const HloComputation& select = *instruction.GetComputation(AttributeKey::kSelect);
      XLA_INDEXING_ASSIGN_OR_RETURN(
          const MlirValues keeps,
          internal::EmitScalarComputation(builder_, select, {best[1], element}));
      const Value stays = Make<arith::AndIOp>(best[0], keeps.front());
      for (size_t i = 1; i < next.size(); ++i) {
        next[i] = Make<arith::SelectOp>(stays, best[i], next[i]);
      }
      return next;
    };
    return EmitNest(source, {}, [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
      const auto step = [&](mlir::ValueRange ranges, mlir::ValueRange best) {
        MlirValues values = place.values;
        values.append(ranges.begin(), ranges.end());
        return choose(values, best);
      };
      XLA_INDEXING_ASSIGN_OR_RETURN(
          const MlirValues best,
          EmitLoopNest(builder_, builder_.getLoc(), window, place.values, {}, none, step));
      return EmitIf(builder_, builder_.getLoc(), best.front(), {}, [&] {
        return reader_.CombineWith(instruction.operands().subspan(1, 1), place,
                                   *instruction.GetComputation(AttributeKey::kScatter), {memory},
                                   mlir::ValueRange(best).drop_front(2));
      });
    });
  }

  // Merges neighbouring runs of 1, 2, 4 .. sorted elements. Equal ones stay in their order.
  absl::Status EmitSort(const HloInstruction& sort, const MlirValues& memory) {
    MlirValues merged;
    for (const auto [leaf, array] : llvm::enumerate(memory)) {
      const auto number = static_cast<int64_t>(leaf);
      XLA_INDEXING_RETURN_IF_ERROR(EmitCopy({sort.operand(number), 0}, array));
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value temporary, Allocate(sort.shape().Leaf(number)));
      merged.push_back(temporary);
    }
    const Shape& shape = sort.operand(0)->shape();
    const int64_t dim = sort.dimensions().front();
    const int64_t size = shape.dimension(dim);
    // A loop over each dimension but the sorted one, in whose place is one over the merges.
    llvm::SmallVector<int64_t, 4> sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[dim] = size > 1 ? llvm::Log2_64_Ceil(size) : 0;
    const auto merge = [&](mlir::ValueRange row, mlir::ValueRange) -> absl::StatusOr<MlirValues> {
      const Value run = Make<arith::ShLIOp>(Index(1), row[dim]);
      const auto at = [&](Value index) {
        MlirValues address(row);
        address[dim] = index;
        return address;
      };
      const auto take = [&](mlir::ValueRange to, mlir::ValueRange heads) {
        return EmitMerge(sort, memory, merged, run, to.front(), heads, at);
      };
      const auto put_back = [&](mlir::ValueRange to,
                                mlir::ValueRange) -> absl::StatusOr<MlirValues> {
        for (const auto [from, array] : llvm::zip(merged, memory)) {
          Store(Load(from, at(to.front())), array, at(to.front()));
        }
        return MlirValues();
      };
      XLA_INDEXING_RETURN_IF_ERROR(EmitLoops({size}, {Index(0), Index(0)}, take).status());
      return EmitLoops({size}, {}, put_back);
    };
    return EmitLoops(sizes, {}, merge).status();
  }

  // The element at `to`, from the heads of the two runs that are merged there, of `run` elements each.
  // Gives the heads after that.
  absl::StatusOr<MlirValues> EmitMerge(const HloInstruction& sort, const MlirValues& memory,
                                       const MlirValues& merged, Value run, Value to,
                                       mlir::ValueRange heads,
                                       absl::FunctionRef<MlirValues(Value)> at) {
    using Compare = arith::CmpIPredicate;
    const Value size = Index(sort.operand(0)->shape().dimension(sort.dimensions().front()));
    const Value both = Make<arith::AddIOp>(run, run);
    const Value begin = Make<arith::SubIOp>(to, Make<arith::RemUIOp>(to, both));
    const Value middle = Make<arith::MinSIOp>(Make<arith::AddIOp>(begin, run), size);
    const Value end = Make<arith::MinSIOp>(Make<arith::AddIOp>(begin, both), size);
    const Value is_first = Make<arith::CmpIOp>(Compare::eq, to, begin);
    const Value left = Make<arith::SelectOp>(is_first, begin, heads[0]);
    const Value right = Make<arith::SelectOp>(is_first, middle, heads[1]);
    const Value last = Make<arith::SubIOp>(size, Index(1));
    MlirValues of_left;
    MlirValues compared;  // the head of the right run with that of the left
    for (const Value array : memory) {
      of_left.push_back(Load(array, at(Make<arith::MinSIOp>(left, last))));
      compared.append({Load(array, at(Make<arith::MinSIOp>(right, last))), of_left.back()});
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(const auto is_before, internal::EmitScalarComputation(
                                                            builder_, *sort.to_apply(), compared));
    const Value is_over = Make<arith::CmpIOp>(Compare::sge, right, end);
    const Value takes_right = Make<arith::OrIOp>(
        Make<arith::CmpIOp>(Compare::sge, left, middle),
        Make<arith::SelectOp>(is_over, Constant(builder_.getBoolAttr(false)), is_before.front()));
    for (size_t i = 0; i < memory.size(); ++i) {
      Store(Make<arith::SelectOp>(takes_right, compared[2 * i], of_left[i]), merged[i], at(to));
    }
    const Value of_right = Make<arith::IndexCastUIOp>(builder_.getIndexType(), takes_right);
    return MlirValues({Make<arith::AddIOp>(left, Make<arith::SubIOp>(Index(1), of_right)),
                       Make<arith::AddIOp>(right, of_right)});
  }

  // An element goes to the place that is the number of those before it: of better ones, and of equal ones
  // to its left.
  absl::Status EmitTopk(const HloInstruction& topk, const MlirValues& memory) {
    const ArrayValue array = {topk.operand(0), 0};
    const Shape& shape = array.shape();
    const bool is_largest = topk.GetBool(AttributeKey::kLargest, true);
    const auto compare = [&](absl::string_view direction, Value a, Value b) {
      return internal::EmitOrder(builder_, direction, shape.element_type(), a, b);
    };
    return EmitNest(shape, {}, [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, reader_.Read(array, place));
      const Value position = place.values.back();
      const auto count = [&](mlir::ValueRange ranges,
                             mlir::ValueRange counted) -> absl::StatusOr<MlirValues> {
        ElementPlace other = place;
        other.values.back() = ranges.front();
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value compared, reader_.Read(array, other));
        const Value is_better = compare(is_largest ? "GT" : "LT", compared, value);
        const Value is_as_good = compare(is_largest ? "GE" : "LE", compared, value);
        if (!is_better || !is_as_good) return internal::NotLoweredInstruction(topk);
        const Value is_left =
            Make<arith::CmpIOp>(arith::CmpIPredicate::slt, ranges.front(), position);
        const Value is_before = Make<arith::SelectOp>(is_left, is_as_good, is_better);
        return MlirValues({Make<arith::AddIOp>(
            counted.front(), Make<arith::IndexCastUIOp>(builder_.getIndexType(), is_before))});
      };
      XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues before,
                                    EmitLoops({shape.dimensions().back()}, {Index(0)}, count));
      MlirValues to = place.values;
      to.back() = before.front();
      const Value is_in = Make<arith::CmpIOp>(arith::CmpIPredicate::slt, to.back(),
                                              Index(topk.shape().Leaf(0).dimensions().back()));
      return EmitIf(builder_, builder_.getLoc(), is_in, {}, [&]() -> absl::StatusOr<MlirValues> {
        Store(value, memory[0], to);
        Store(Make<arith::IndexCastOp>(builder_.getI32Type(), position), memory[1], to);
        return MlirValues();
      });
    });
  }

  // Until Deallocate, in the same block.
  absl::StatusOr<Value> Allocate(Shape shape) {
    shape.ClearLayout();
    XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::MemRefType type,
                                  internal::MemoryType(shape, builder_.getContext()));
    temporaries_.push_back(mlir::memref::AllocOp::create(builder_, type));
    return temporaries_.back();
  }

  // All but the first temporaries.
  void Deallocate(size_t num_kept) {
    for (const Value temporary : llvm::drop_begin(temporaries_, num_kept)) {
      mlir::memref::DeallocOp::create(builder_, temporary);
    }
    temporaries_.truncate(num_kept);
  }

  absl::Status EmitCopy(const ArrayValue& array, Value to) {
    return EmitElements(array.shape(), to,
                        [&](const ElementPlace& place) { return reader_.Read(array, place); });
  }

  // Loops over an array's elements, which stores what `compute` gives.
  absl::Status EmitElements(const Shape& shape, Value memory,
                            absl::FunctionRef<absl::StatusOr<Value>(const ElementPlace&)> compute) {
    return EmitNest(shape, memory, [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, compute(place));
      return MlirValues({value});
    });
  }

  // Likewise, one for each memory.
  absl::Status EmitNest(
      const Shape& shape, mlir::ValueRange memory,
      absl::FunctionRef<absl::StatusOr<MlirValues>(const ElementPlace&)> compute) {
    const absl::Span<const int64_t> sizes = shape.dimensions();
    XLA_INDEXING_ASSIGN_OR_RETURN(
        const IndexingMap elements,
        CreateIdentityMap(llvm::ArrayRef(sizes.data(), sizes.size()), builder_.getContext()));
    return EmitLoops(elements, {},
                     [&](mlir::ValueRange ranges,
                         mlir::ValueRange /*carried*/) -> absl::StatusOr<MlirValues> {
                       XLA_INDEXING_ASSIGN_OR_RETURN(const auto values,
                                                     compute({elements, MlirValues(ranges)}));
                       for (size_t i = 0; i < memory.size(); ++i) {
                         Store(values[i], memory[i], ranges);
                       }
                       return MlirValues();
                     })
        .status();
  }

  // Loops over the elements of an array, or over the dimensions of a map.
  absl::StatusOr<MlirValues> EmitLoops(llvm::ArrayRef<int64_t> sizes, mlir::ValueRange inits,
                                       LoopBody body) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap elements,
                                  CreateIdentityMap(sizes, builder_.getContext()));
    return EmitLoops(elements, inits, body);
  }
  absl::StatusOr<MlirValues> EmitLoops(const IndexingMap& elements, mlir::ValueRange inits,
                                       LoopBody body) {
    llvm::SmallVector<int, 4> all(elements.num_dims());
    std::iota(all.begin(), all.end(), 0);
    XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap loops, DimensionsToRanges(elements, all));
    return EmitLoopNest(builder_, builder_.getLoc(), loops, {}, {}, inits, body);
  }

  template <typename Op, typename... Arguments>
  Value Make(Arguments&&... arguments) {
    return builder_.createOrFold<Op>(std::forward<Arguments>(arguments)...);
  }
  Value Constant(mlir::TypedAttr value) { return arith::ConstantOp::create(builder_, value); }
  Value Index(int64_t value) { return Constant(builder_.getIndexAttr(value)); }
  Value Load(Value memory, mlir::ValueRange at) {
    return mlir::memref::LoadOp::create(builder_, memory, at);
  }
  void Store(Value value, Value memory, mlir::ValueRange at) {
    const mlir::Type type = mlir::cast<mlir::MemRefType>(memory.getType()).getElementType();
    mlir::memref::StoreOp::create(builder_, internal::EmitFloatAs(builder_, value, type), memory,
                                  at);
  }

  const HloComputation& original_;
  internal::FunctionFrame& frame_;
  int64_t& num_called_;
  const int depth_;
  mlir::ImplicitLocOpBuilder& builder_;
  ElementReader reader_;
  MlirValues temporaries_;
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context) {
  internal::FunctionFrame frame(computation, context);
  XLA_INDEXING_RETURN_IF_ERROR(frame.Begin());
  int64_t num_called = 0;
  XLA_INDEXING_RETURN_IF_ERROR(
      ComputationEmitter(computation, frame, num_called).Emit(frame.arguments(), frame.results()));
  return frame.Finish();
}

}  // namespace xla_indexing
