#include "xla_indexing/lowering/fusion/element_reader.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/elements/elementwise_ops.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"

namespace xla_indexing::internal {
namespace {

using mlir::Value;
namespace arith = mlir::arith;

// Exact and disjoint maps; indices stay what the operation reads, so that each is an operand.
IndexingOptions OptionsOfEmitter() {
  IndexingOptions options;
  options.exact = true;
  options.fold_runtime_variables = false;
  return options;
}

// The maps of an operand, for the first leaf of the result.
const OperandIndexingSet* FindMaps(const InstructionIndexing& entries, int64_t operand) {
  for (const IndexingEntry& entry : entries) {
    if (entry.output_leaf == 0 && entry.operand == operand) return &entry.indexing;
  }
  return nullptr;
}

bool IsOnlyMoved(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

absl::Status NoExactMap(const HloInstruction& instruction, int64_t operand) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": the elements of operand ",
                                               operand, " that it reads are not known exactly"));
}

// The loops of a sum: range variables after the dimensions of the result, in the domain of all steps.
absl::StatusOr<IndexingMap> LoopsOf(const InstructionIndexing& steps, int64_t operands, int rank,
                                    int loops) {
  llvm::SmallVector<int, 4> dims(loops);
  std::iota(dims.begin(), dims.end(), rank);
  absl::StatusOr<IndexingMap> all = absl::InternalError("a sum without operands");
  for (int64_t operand = 0; operand < operands; ++operand) {
    const OperandIndexingSet* maps = FindMaps(steps, operand);
    if (maps == nullptr || maps->size() != 1) return absl::InternalError("no steps");
    absl::StatusOr<IndexingMap> step = DimensionsToRanges(maps->begin()->map(), dims);
    if (!step.ok()) return step.status();
    if (operand == 0) {
      all = std::move(step);
      continue;
    }
    for (int i = 0; i < rank; ++i) {
      Interval& bounds = all->mutable_dim(i).bounds;
      bounds = bounds.Intersect(step->dims()[i].bounds);
    }
    for (int i = 0; i < loops; ++i) {
      Interval& bounds = all->mutable_range(i).bounds;
      bounds = bounds.Intersect(step->ranges()[i].bounds);
    }
    for (const Constraint& constraint : step->constraints()) {
      all->AddConstraint(kPartsFit, constraint.expr, constraint.interval);
    }
  }
  return all;
}

}  // namespace

absl::Status NotLoweredInstruction(const HloInstruction& instruction) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": ", instruction.opcode_name(),
                                               " is not lowered in this form"));
}

absl::StatusOr<InstructionIndexing> ElementReader::MapsOf(const HloInstruction& instruction) {
  return OperationMaps(instruction, Direction::kOutputToInput, builder_.getContext(),
                       OptionsOfEmitter());
}

absl::StatusOr<Value> ElementReader::Read(ArrayValue array, const ElementPlace& place) {
  array = ComputedBy(array);
  const Value memory = MemoryOf(array);
  if (!memory) return Compute(*array.instruction, place);
  const absl::StatusOr<MlirValues> address =
      ApplyIndexing(builder_, loc_, place.map, place.values, {});
  if (!address.ok()) return address.status();
  return mlir::memref::LoadOp::create(builder_, loc_, memory, *address).getResult();
}

absl::StatusOr<Value> ElementReader::Compute(const HloInstruction& instruction,
                                             const ElementPlace& place) {
  if (instruction.opcode() == HloOpcode::kConstant) return ReadConstant(instruction);
  if (instruction.opcode() == HloOpcode::kIota) return ReadIota(instruction, place);
  if (IsOnlyMoved(instruction.opcode())) return ReadMoved(instruction, place);
  switch (instruction.opcode()) {
    case HloOpcode::kConcatenate:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kPad:
      return ReadOneOf(instruction, place);
    default:
      break;
  }
  if (!IsLoweredElementwise(instruction)) return NotLoweredInstruction(instruction);
  MlirValues operands;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    const absl::StatusOr<Value> operand = ReadOperand(instruction, i, place);
    if (!operand.ok()) return operand.status();
    operands.push_back(*operand);
  }
  return EmitElementwise(builder_, loc_, instruction, operands);
}

absl::StatusOr<Value> ElementReader::ReadOperand(const HloInstruction& instruction, int64_t operand,
                                                 const ElementPlace& place) {
  const absl::StatusOr<InstructionIndexing> entries = MapsOf(instruction);
  if (!entries.ok()) return entries.status();
  const OperandIndexingSet* maps = FindMaps(*entries, operand);
  if (maps == nullptr || maps->size() != 1 || !maps->begin()->IsExact()) {
    return NoExactMap(instruction, operand);
  }
  IndexingMap known = place.map;
  const absl::StatusOr<ElementPlace> read = Follow(*maps->begin(), place, &known);
  if (!read.ok()) return read.status();
  return Read({instruction.operand(operand), 0}, *read);
}

absl::StatusOr<Value> ElementReader::ReadScalar(const HloInstruction& scalar) {
  return Read({&scalar, 0}, {IndexingMap(builder_.getContext()), {}});
}

absl::StatusOr<Value> ElementReader::ReadMoved(const HloInstruction& instruction,
                                               const ElementPlace& place) {
  const absl::StatusOr<Value> value = ReadOperand(instruction, 0, place);
  if (!value.ok()) return value.status();
  return EmitMoved(instruction, *value, instruction.operand(0)->shape().element_type());
}

absl::StatusOr<Value> ElementReader::EmitMoved(const HloInstruction& instruction, Value value,
                                               ElementType from) {
  const ElementType to = instruction.shape().element_type();
  if (from == to) return value;
  if (instruction.opcode() != HloOpcode::kBitcast) {
    return EmitConvert(builder_, loc_, value, from, to);
  }
  const absl::StatusOr<mlir::Type> type = MlirElementType(to, builder_.getContext());
  if (!type.ok()) return type.status();
  if (type->getIntOrFloatBitWidth() != value.getType().getIntOrFloatBitWidth()) {
    return NotLoweredInstruction(instruction);
  }
  return builder_.createOrFold<arith::BitcastOp>(loc_, *type, value);
}

// Begins with what is there in any case, the padding value or the array that is updated, and replaces
// it where the element is one of another operand. Those of a concatenation cover all of it.
absl::StatusOr<Value> ElementReader::ReadOneOf(const HloInstruction& instruction,
                                               const ElementPlace& place) {
  const absl::StatusOr<InstructionIndexing> entries = MapsOf(instruction);
  if (!entries.ok()) return entries.status();
  int64_t first = 0;
  int64_t last = instruction.operand_count();
  absl::StatusOr<Value> value;
  if (instruction.opcode() == HloOpcode::kPad) {
    value = ReadScalar(*instruction.operand(1));
    last = 1;
  } else if (instruction.opcode() == HloOpcode::kDynamicUpdateSlice) {
    value = Read({instruction.operand(0), 0}, place);
    first = 1;
    last = 2;
  } else {
    const absl::StatusOr<mlir::Type> type =
        MlirElementType(instruction.shape().element_type(), builder_.getContext());
    if (!type.ok()) return type.status();
    value = arith::ConstantOp::create(builder_, loc_, builder_.getZeroAttr(*type)).getResult();
  }
  for (int64_t operand = first; value.ok() && operand < last; ++operand) {
    const OperandIndexingSet* maps = FindMaps(*entries, operand);
    if (maps == nullptr) continue;
    for (const OperandIndexing& indexing : *maps) {
      if (!indexing.IsExact()) return NoExactMap(instruction, operand);
      IndexingMap known = place.map;
      const absl::StatusOr<ElementPlace> read = Follow(indexing, place, &known);
      if (!read.ok()) return read.status();
      const absl::StatusOr<Value> holds =
          CheckDomain(builder_, loc_, read->map, read->values, {}, &known);
      if (!holds.ok()) return holds.status();
      const absl::StatusOr<MlirValues> replaced =
          EmitIf(*holds, *value, [&]() -> absl::StatusOr<MlirValues> {
            const absl::StatusOr<Value> element = Read({instruction.operand(operand), 0}, *read);
            if (!element.ok()) return element.status();
            return MlirValues({*element});
          });
      if (!replaced.ok()) return replaced.status();
      value = replaced->front();
    }
  }
  return value;
}

absl::StatusOr<MlirValues> ElementReader::EmitIf(
    Value holds, mlir::ValueRange otherwise, absl::FunctionRef<absl::StatusOr<MlirValues>()> then) {
  if (mlir::matchPattern(holds, mlir::m_One())) return then();
  if (mlir::matchPattern(holds, mlir::m_Zero())) return MlirValues(otherwise);
  auto branch = mlir::scf::IfOp::create(builder_, loc_, otherwise.getTypes(), holds,
                                        /*withElseRegion=*/true);
  const mlir::OpBuilder::InsertionGuard back(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  const absl::StatusOr<MlirValues> values = then();
  if (!values.ok()) return values.status();
  mlir::scf::YieldOp::create(builder_, loc_, *values);
  builder_.setInsertionPointToStart(branch.elseBlock());
  mlir::scf::YieldOp::create(builder_, loc_, otherwise);
  return MlirValues(branch.getResults());
}

absl::StatusOr<Value> ElementReader::ReadConstant(const HloInstruction& constant) {
  if (!IsOneNumber(constant)) return NotLoweredInstruction(constant);
  const auto element = MlirElement(*constant.literal(), 0, builder_.getContext());
  if (!element.ok()) return element.status();
  return arith::ConstantOp::create(builder_, loc_, *element).getResult();
}

absl::StatusOr<Value> ElementReader::ReadIota(const HloInstruction& iota,
                                              const ElementPlace& place) {
  const auto index = SelectResults(place.map, {static_cast<int>(iota.iota_dimension())});
  if (!index.ok()) return index.status();
  const auto values = ApplyIndexing(builder_, loc_, *index, place.values, {});
  if (!values.ok()) return values.status();
  const Value number =
      builder_.createOrFold<arith::IndexCastOp>(loc_, builder_.getI64Type(), values->front());
  return EmitConvert(builder_, loc_, number, ElementType::kS64, iota.shape().element_type());
}

// The value that an index has: loaded, and clamped.
absl::StatusOr<Value> ElementReader::ReadIndex(const OperandIndexing& indexing, int runtime,
                                               const ElementPlace& place) {
  const RuntimeVarIndexing& binding = indexing.bindings()[runtime];
  const absl::StatusOr<IndexingMap> element =
      ComposeIndexingMaps(place.map, indexing.ElementMap(runtime));
  if (!element.ok()) return element.status();
  if (element->num_symbols() > 0) return NotLoweredInstruction(*binding.instruction);
  const absl::StatusOr<Value> read =
      Read({binding.instruction, binding.leaf}, {*element, place.values});
  if (!read.ok()) return read.status();
  const ElementType type = binding.shape().element_type();
  const bool is_unsigned = IsUnsignedIntegral(type);
  if (binding.value.kind() != ValueFunction::Kind::kClamp) {
    return NotLoweredInstruction(*binding.instruction);
  }
  // Clamped as numbers of 64 bits: those of u64 that exceed them are greater than any index.
  const absl::StatusOr<Value> wide =
      EmitConvert(builder_, loc_, *read, type, is_unsigned ? ElementType::kU64 : ElementType::kS64);
  if (!wide.ok()) return wide.status();
  const auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder_, loc_, builder_.getI64IntegerAttr(value));
  };
  const Value low = constant(binding.value.lower());
  const Value high = constant(binding.value.upper());
  const Value clamped =
      is_unsigned ? builder_.createOrFold<arith::MinUIOp>(
                        loc_, builder_.createOrFold<arith::MaxUIOp>(loc_, *wide, low), high)
                  : builder_.createOrFold<arith::MinSIOp>(
                        loc_, builder_.createOrFold<arith::MaxSIOp>(loc_, *wide, low), high);
  return builder_.createOrFold<arith::IndexCastOp>(loc_, builder_.getIndexType(), clamped);
}

absl::StatusOr<ElementPlace> ElementReader::Follow(const OperandIndexing& indexing,
                                                   const ElementPlace& place, IndexingMap* known) {
  absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(place.map, indexing.map());
  if (!composed.ok()) return composed.status();
  MlirValues values = place.values;
  Variables dims(known->dims());
  for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
    const absl::StatusOr<Value> index = ReadIndex(indexing, i, place);
    if (!index.ok()) return index.status();
    values.push_back(*index);
    dims.push_back({indexing.bindings()[i].ValueRange(), {}});
  }
  composed = RuntimesToDimensions(*composed);
  if (!composed.ok()) return composed.status();
  composed->Simplify();
  if (composed->num_ranges() > 0) {
    return absl::UnimplementedError(
        absl::StrCat("several elements are read at once: ", composed->ToString()));
  }
  const size_t num_dims = dims.size();
  *known =
      IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, 0, known->results(), known->context()),
                  std::move(dims), {}, {}, Constraints(known->constraints()));
  return ElementPlace{*std::move(composed), std::move(values)};
}

absl::StatusOr<MlirValues> ElementReader::ReadSum(const HloInstruction& instruction,
                                                  const ElementPlace& place) {
  const bool is_product =
      instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kConvolution;
  const ElementType type = instruction.shape().Leaf(0).element_type();
  const int64_t arrays = is_product ? 2 : instruction.operand_count() / 2;
  if (is_product && instruction.operand_count() != 2) return NotLoweredInstruction(instruction);
  MlirValues inits;
  if (is_product) {
    const absl::StatusOr<mlir::Type> mlir_type = MlirElementType(type, builder_.getContext());
    if (!mlir_type.ok()) return mlir_type.status();
    inits.push_back(
        arith::ConstantOp::create(builder_, loc_, builder_.getZeroAttr(*mlir_type)).getResult());
  }
  for (int64_t i = 0; !is_product && i < arrays; ++i) {
    const absl::StatusOr<Value> init = ReadScalar(*instruction.operand(arrays + i));
    if (!init.ok()) return init.status();
    inits.push_back(*init);
  }
  const llvm::SmallVector<int64_t, 2> sizes = ContractionLoops(instruction);
  if (llvm::is_contained(sizes, 0)) return inits;
  const absl::StatusOr<InstructionIndexing> entries = MapsOf(instruction);
  if (!entries.ok()) return entries.status();
  const InstructionIndexing steps =
      ContractionSteps(instruction, *entries, builder_.getContext(), OptionsOfEmitter());
  // Where no step reads anything, as of windows on padding alone, the sum is what it begins with.
  for (int64_t operand = 0; operand < arrays; ++operand) {
    if (FindMaps(steps, operand) == nullptr) return inits;
  }
  const int rank = place.map.num_dims();
  const absl::StatusOr<IndexingMap> loops =
      LoopsOf(steps, arrays, rank, static_cast<int>(sizes.size()));
  if (!loops.ok()) return loops.status();
  if (loops->IsKnownEmpty()) return inits;

  const auto body = [&](mlir::ValueRange ranges,
                        mlir::ValueRange carried) -> absl::StatusOr<MlirValues> {
    MlirValues arguments(carried);
    for (int64_t operand = 0; operand < arrays; ++operand) {
      MlirValues values = place.values;
      values.append(ranges.begin(), ranges.end());
      const absl::StatusOr<Value> element =
          Read({instruction.operand(operand), 0},
               {FindMaps(steps, operand)->begin()->map(), std::move(values)});
      if (!element.ok()) return element.status();
      arguments.push_back(*element);
    }
    if (!is_product) {
      return EmitScalarComputation(builder_, loc_, *instruction.to_apply(), arguments);
    }
    return EmitMultiplyAdd(builder_, loc_, instruction, arguments);
  };
  // Elements of the result outside of the loops' domain read nothing.
  IndexingMap all = IndexingMap(kPartsFit, mlir::AffineMap::get(rank, 0, builder_.getContext()),
                                Variables(loops->dims()), {}, {});
  const absl::StatusOr<Value> holds =
      CheckDomain(builder_, loc_, all, place.values, {}, &place.map);
  if (!holds.ok()) return holds.status();
  return EmitIf(*holds, inits, [&] {
    return EmitLoopNest(builder_, loc_, *loops, place.values, {}, inits, body);
  });
}

}  // namespace xla_indexing::internal
