#include "xla_indexing/lowering/fusion/element_reader.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

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
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/elements/elementwise_ops.h"
#include "xla_indexing/lowering/elements/scalar_computation.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/ops/rules/indexed/indexed_windows.h"

namespace xla_indexing::internal {
namespace {

using mlir::AffineExpr;
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

bool IsProduct(const HloInstruction& sum) {
  return sum.opcode() == HloOpcode::kDot || sum.opcode() == HloOpcode::kConvolution;
}

bool IsOnlyMoved(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
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

// Whether wide elements are rows of narrow ones: so is a bitcast-convert, and a bitcast in row-major order.
bool IsOfRows(const HloInstruction& instruction) {
  const Shape& from = instruction.operand(0)->shape();
  const Shape& to = instruction.shape();
  const auto is_row_major = [](const Shape& shape) {
    return shape.LayoutOrRowMajor().minor_to_major == RowMajorLayout(shape.rank()).minor_to_major;
  };
  const Shape& narrow = from.rank() > to.rank() ? from : to;
  const Shape& wide = from.rank() > to.rank() ? to : from;
  return instruction.opcode() == HloOpcode::kBitcastConvert ||
         (is_row_major(from) && is_row_major(to) && narrow.rank() == wide.rank() + 1 &&
          narrow.dimensions().first(wide.rank()) == wide.dimensions() &&
          narrow.dimensions().back() * StorageBitWidth(narrow.element_type()) ==
              StorageBitWidth(wide.element_type()));
}

absl::Status NoExactMap(const HloInstruction& instruction, int64_t operand) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": the elements of operand ",
                                               operand, " that it reads are not known exactly"));
}

// A map without symbols.
IndexingMap MapOf(Variables dims, llvm::ArrayRef<AffineExpr> results, Constraints constraints,
                  mlir::MLIRContext* context) {
  const auto affine_map = mlir::AffineMap::get(dims.size(), 0, results, context);
  return IndexingMap(kPartsFit, affine_map, std::move(dims), {}, {}, std::move(constraints));
}

// What is known of the first dimensions of a map alone, and the constraints that speak of others.
std::pair<IndexingMap, Constraints> SplitDomain(const IndexingMap& map, int num_dims) {
  Constraints first;
  Constraints others;
  for (const Constraint& constraint : map.constraints()) {
    bool is_of_others = false;
    for (int i = num_dims; i < map.num_dims(); ++i) {
      is_of_others |= constraint.expr.isFunctionOfDim(i);
    }
    (is_of_others ? others : first).push_back(constraint);
  }
  return {MapOf(Variables(map.dims().take_front(num_dims)), {}, std::move(first), map.context()),
          std::move(others)};
}

// What is known where all of these maps, over the same dimensions, are read: of which the last
// `num_steps` are the loops of a sum, and the others are around them.
struct StepLoops {
  IndexingMap around;  // intervals and constraints of the dimensions around the loops
  IndexingMap loops;   // the loops as range variables, and the constraints that speak of them
};
absl::StatusOr<StepLoops> LoopsOf(llvm::ArrayRef<IndexingMap> reads, int num_steps) {
  IndexingMap all = reads.front();
  for (const IndexingMap& read : reads.drop_front()) {
    for (int i = 0; i < all.num_dims(); ++i) {
      Interval& bounds = all.mutable_dim(i).bounds;
      bounds = bounds.Intersect(read.dims()[i].bounds);
    }
    for (const Constraint& constraint : read.constraints()) {
      all.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
    }
  }
  const int num_around = all.num_dims() - num_steps;
  auto [around, of_loops] = SplitDomain(all, num_around);
  llvm::SmallVector<int, 4> steps(num_steps);
  std::iota(steps.begin(), steps.end(), num_around);
  const IndexingMap inside = MapOf(Variables(all.dims()), {}, std::move(of_loops), all.context());
  XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap loops, DimensionsToRanges(inside, steps));
  return StepLoops{std::move(around), std::move(loops)};
}

// Where a place is in a tile.
struct PlaceInTile {
  ElementPlace position;
  Constraints box;     // hold where the position is in the tile's memory
  Constraints filled;  // and where something was put there
};
// i and r of index = i * stride + r; strides of one element may be 0, and all may be negative.
std::pair<AffineExpr, AffineExpr> DivideByStride(AffineExpr index, int64_t stride) {
  if (stride == 0) return {Constant(0, index.getContext()), index};
  const AffineExpr forward = stride > 0 ? index : Scale(index, -1);
  const int64_t step = stride > 0 ? stride : -stride;
  if (!forward || step < 0) return {};
  return {FloorDiv(forward, step), Mod(forward, step)};
}

absl::StatusOr<PlaceInTile> FindInTile(const TileInMemory& tile, const ElementPlace& place) {
  mlir::MLIRContext* context = place.map.context();
  Variables dims(place.map.dims());
  MlirValues values = place.values;
  // The same values are the same dimensions, so that offsets cancel.
  llvm::SmallVector<AffineExpr, 8> arguments;
  for (const auto [i, argument] : llvm::enumerate(tile.arguments)) {
    const auto same = llvm::find(values, argument);
    arguments.push_back(mlir::getAffineDimExpr(same - values.begin(), context));
    if (same == values.end()) {
      values.push_back(argument);
      dims.push_back(tile.offsets.dims()[i]);
    }
  }
  Constraints box;
  Constraints filled;
  llvm::SmallVector<AffineExpr, 4> positions;
  for (const auto [d, element] : llvm::enumerate(place.map.results())) {
    const AffineExpr from =
        Sub(element, tile.offsets.results()[d].replaceDimsAndSymbols(arguments, {}));
    if (!from) return absl::OutOfRangeError("a position in a tile exceeds 64 bits");
    const auto [position, rest] = DivideByStride(from, tile.strides[d]);
    if (!position || !rest) return absl::OutOfRangeError("a position in a tile exceeds 64 bits");
    positions.push_back(position);
    box.push_back({position, Interval::OfSize(tile.sizes[d])});
    filled.push_back({rest, Interval::Point(0)});
    filled.push_back({element, tile.bounds[d]});
  }
  IndexingMap map =
      MapOf(std::move(dims), positions, Constraints(place.map.constraints()), context);
  return PlaceInTile{{std::move(map), std::move(values)}, std::move(box), std::move(filled)};
}

}  // namespace

absl::StatusOr<InstructionIndexing> ElementReader::MapsOf(const HloInstruction& instruction) {
  return OperationMaps(instruction, Direction::kOutputToInput, builder_.getContext(),
                       OptionsOfEmitter());
}

absl::StatusOr<mlir::Type> ElementReader::TypeOf(const ArrayValue& array) const {
  return MlirElementType(array.shape().element_type(), builder_.getContext());
}

absl::StatusOr<Value> ElementReader::Read(ArrayValue array, const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type, TypeOf(array));
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, ReadComputed(ComputedBy(array), place));
  return EmitFloatAs(builder_, value, type);
}

absl::StatusOr<Value> ElementReader::ReadComputed(ArrayValue array, const ElementPlace& place) {
  if (tiles_) {
    const auto tiles = tiles_->find(array);
    if (tiles != tiles_->end()) return ReadTiles(tiles->second, place);
  }
  const Value memory = MemoryOf(array);
  if (!memory) {
    if (tiles_ && !IsOfNothing(*array.instruction)) {
      return absl::UnimplementedError(
          absl::StrCat("no tile is known to have what is read of ", array.instruction->name()));
    }
    return Compute(*array.instruction, place);
  }
  return Load(memory, place);
}

absl::StatusOr<MlirValues> ElementReader::IndexOf(const ElementPlace& place) {
  return ApplyIndexing(builder_, builder_.getLoc(), place.map, place.values, {});
}

absl::StatusOr<Value> ElementReader::Load(Value memory, const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues index, IndexOf(place));
  return mlir::memref::LoadOp::create(builder_, memory, index).getResult();
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
  if (instruction.opcode() != HloOpcode::kMap && !IsLoweredElementwise(instruction)) {
    return NotLoweredInstruction(instruction);
  }
  MlirValues operands;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value operand, ReadOperand(instruction, i, place));
    operands.push_back(operand);
  }
  return EmitElement(builder_, instruction, operands);
}

absl::StatusOr<Value> ElementReader::ReadOperand(const HloInstruction& instruction, int64_t operand,
                                                 const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InstructionIndexing entries, MapsOf(instruction));
  const OperandIndexingSet* maps = FindMaps(entries, operand);
  if (maps == nullptr || maps->size() != 1 || !maps->begin()->IsExact()) {
    return NoExactMap(instruction, operand);
  }
  IndexingMap known = place.map;
  XLA_INDEXING_ASSIGN_OR_RETURN(const ElementPlace read, Follow(*maps->begin(), place, &known));
  return Read({instruction.operand(operand), 0}, read);
}

absl::StatusOr<Value> ElementReader::ReadScalar(const HloInstruction& scalar) {
  return Read({&scalar, 0}, {IndexingMap(builder_.getContext()), {}});
}

absl::StatusOr<Value> ElementReader::ReadMoved(const HloInstruction& instruction,
                                               const ElementPlace& place) {
  const HloOpcode opcode = instruction.opcode();
  const ElementType from = instruction.operand(0)->shape().element_type();
  const ElementType to = instruction.shape().element_type();
  const bool is_bits = opcode == HloOpcode::kBitcast || opcode == HloOpcode::kBitcastConvert;
  if (is_bits && StorageBitWidth(from) != StorageBitWidth(to)) return ReadBits(instruction, place);
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, ReadOperand(instruction, 0, place));
  return is_bits ? EmitBitcast(builder_, instruction, value)
                 : EmitConvert(builder_, value, from, to);
}

// Narrow elements are the bits of a wide one, the lowest first.
absl::StatusOr<Value> ElementReader::ReadBits(const HloInstruction& instruction,
                                              const ElementPlace& place) {
  const ArrayValue operand = {instruction.operand(0), 0};
  const ElementType from = operand.shape().element_type();
  const int from_width = StorageBitWidth(from);
  const ElementType to = instruction.shape().element_type();
  const int width = StorageBitWidth(to);
  if (IsComplex(from) || IsComplex(to) || !IsOfRows(instruction)) {
    return NotLoweredInstruction(instruction);
  }
  const mlir::Type bits_type = builder_.getIntegerType(width);
  const auto read = [&](llvm::ArrayRef<AffineExpr> element) -> absl::StatusOr<Value> {
    IndexingMap map = MapOf(Variables(place.map.dims()), element,
                            Constraints(place.map.constraints()), place.map.context());
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, Read(operand, {std::move(map), place.values}));
    return EmitBits(builder_, value, from);
  };
  const auto constant = [&](mlir::Type type, int64_t value) {
    return EmitConstant(builder_, builder_.getIntegerAttr(type, value));
  };
  Value bits;
  if (from_width > width) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value wide, read(place.map.results().drop_back()));
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value part,
                                  ReadIndexOf(place, place.map.num_results() - 1));
    const mlir::Type type = wide.getType();
    const Value number = Make<arith::IndexCastOp>(type, part);
    const Value shift = Make<arith::MulIOp>(number, constant(type, width));
    bits = Make<arith::TruncIOp>(bits_type, Make<arith::ShRUIOp>(wide, shift));
  }
  for (int low = 0; low < width && from_width < width; low += from_width) {
    llvm::SmallVector<AffineExpr, 8> element(place.map.results());
    element.push_back(Constant(low / from_width, builder_.getContext()));
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value narrow, read(element));
    const Value extended = Make<arith::ExtUIOp>(bits_type, narrow);
    const Value shifted = Make<arith::ShLIOp>(extended, constant(bits_type, low));
    bits = bits ? Make<arith::OrIOp>(bits, shifted) : shifted;
  }
  return EmitFromBits(builder_, bits, to);
}

// Begins with what is there in any case, the padding value or the array that is updated, and replaces
// it where the element is one of another operand. Those of a concatenation cover all of it.
absl::StatusOr<Value> ElementReader::ReadOneOf(const HloInstruction& instruction,
                                               const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InstructionIndexing entries, MapsOf(instruction));
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type, TypeOf({&instruction, 0}));
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
    value = EmitZero(builder_, type);
  }
  if (value.ok()) value = EmitFloatAs(builder_, *value, type);
  for (int64_t operand = first; value.ok() && operand < last; ++operand) {
    const OperandIndexingSet* maps = FindMaps(entries, operand);
    if (maps == nullptr) continue;
    for (const OperandIndexing& indexing : *maps) {
      if (!indexing.IsExact()) return NoExactMap(instruction, operand);
      IndexingMap known = place.map;
      XLA_INDEXING_ASSIGN_OR_RETURN(const ElementPlace read, Follow(indexing, place, &known));
      XLA_INDEXING_ASSIGN_OR_RETURN(
          const Value holds,
          CheckDomain(builder_, builder_.getLoc(), read.map, read.values, {}, &known));
      value = EmitElementIf(holds, *value, [&]() -> absl::StatusOr<Value> {
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value element,
                                      Read({instruction.operand(operand), 0}, read));
        return EmitFloatAs(builder_, element, type);
      });
      if (!value.ok()) return value;
    }
  }
  return value;
}

absl::StatusOr<Value> ElementReader::EmitElementIf(
    Value holds, Value otherwise, absl::FunctionRef<absl::StatusOr<Value>()> then) {
  const auto emit = [&]() -> absl::StatusOr<MlirValues> {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value element, then());
    return MlirValues({element});
  };
  XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues elements,
                                EmitIf(builder_, builder_.getLoc(), holds, otherwise, emit));
  return elements.front();
}

absl::StatusOr<Value> ElementReader::ReadConstant(const HloInstruction& constant) {
  if (!IsOneNumber(constant)) return NotLoweredInstruction(constant);
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto element,
                                MlirElement(*constant.literal(), 0, builder_.getContext()));
  return EmitConstant(builder_, element);
}

absl::StatusOr<Value> ElementReader::ReadIota(const HloInstruction& iota,
                                              const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value index,
                                ReadIndexOf(place, static_cast<int>(iota.iota_dimension())));
  const Value number = Make<arith::IndexCastOp>(builder_.getI64Type(), index);
  return EmitConvert(builder_, number, ElementType::kS64, iota.shape().element_type());
}

absl::StatusOr<Value> ElementReader::ReadIndexOf(const ElementPlace& place, int dimension) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap index, SelectResults(place.map, {dimension}));
  XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues values, IndexOf({index, place.values}));
  return values.front();
}

absl::StatusOr<Value> ElementReader::ReadBinding(const OperandIndexing& indexing, int runtime,
                                                 const ElementPlace& place) {
  const RuntimeVarIndexing& binding = indexing.bindings()[runtime];
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap element,
                                ComposeIndexingMaps(place.map, indexing.ElementMap(runtime)));
  if (element.num_symbols() > 0) return NotLoweredInstruction(*binding.instruction);
  return ReadIndex({binding.instruction, binding.leaf}, {element, place.values}, binding.value);
}

absl::StatusOr<Value> ElementReader::ReadIndex(ArrayValue array, const ElementPlace& place,
                                               const ValueFunction& function) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value read, Read(array, place));
  const ElementType type = array.shape().element_type();
  const bool is_unsigned = IsUnsignedIntegral(type);
  const bool is_clamped = function.kind() == ValueFunction::Kind::kClamp;
  if (!is_clamped && function.kind() != ValueFunction::Kind::kAsIs) {
    return NotLoweredInstruction(*array.instruction);
  }
  // Clamped as numbers of 64 bits: those of u64 that exceed them are greater than any index.
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const Value wide,
      EmitConvert(builder_, read, type, is_unsigned ? ElementType::kU64 : ElementType::kS64));
  const auto constant = [&](int64_t value) {
    return EmitConstant(builder_, builder_.getI64IntegerAttr(value));
  };
  const Value low = constant(is_clamped ? function.lower() : is_unsigned ? 0 : kInt64Min);
  const Value high = constant(is_clamped ? function.upper() : kInt64Max);
  const Value clamped = is_unsigned ? Make<arith::MinUIOp>(Make<arith::MaxUIOp>(wide, low), high)
                                    : Make<arith::MinSIOp>(Make<arith::MaxSIOp>(wide, low), high);
  return Make<arith::IndexCastOp>(builder_.getIndexType(), clamped);
}

absl::StatusOr<ElementPlace> ElementReader::Follow(const OperandIndexing& indexing,
                                                   const ElementPlace& place, IndexingMap* known) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap with_runtimes,
                                ComposeIndexingMaps(place.map, indexing.map()));
  MlirValues values = place.values;
  Variables dims(known->dims());
  for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value index, ReadBinding(indexing, i, place));
    values.push_back(index);
    dims.push_back({indexing.bindings()[i].ValueRange(), {}});
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap composed, RuntimesToDimensions(with_runtimes));
  composed.Simplify();
  if (composed.num_ranges() > 0) {
    return absl::UnimplementedError(
        absl::StrCat("several elements are read at once: ", composed.ToString()));
  }
  *known =
      MapOf(std::move(dims), known->results(), Constraints(known->constraints()), known->context());
  return ElementPlace{std::move(composed), std::move(values)};
}

absl::StatusOr<MlirValues> ElementReader::ReadInits(const HloInstruction& instruction) {
  MlirValues inits;
  for (int64_t i = 0; i < instruction.shape().LeafCount(); ++i) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type, TypeOf({&instruction, i}));
    if (IsProduct(instruction)) {
      inits.push_back(EmitZero(builder_, type));
      continue;
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(
        const auto init, ReadScalar(*instruction.operand(instruction.operand_count() / 2 + i)));
    inits.push_back(EmitFloatAs(builder_, init, type));
  }
  return inits;
}

absl::StatusOr<MlirValues> ElementReader::ReadSum(const HloInstruction& instruction,
                                                  const ElementPlace& place) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues inits, ReadInits(instruction));
  // All steps, after what the place has values of.
  const llvm::SmallVector<int64_t, 2> sizes = ContractionLoops(instruction);
  Variables dims(place.map.dims());
  llvm::SmallVector<AffineExpr, 8> points(place.map.results());
  for (const int64_t size : sizes) {
    points.push_back(mlir::getAffineDimExpr(dims.size(), builder_.getContext()));
    dims.push_back({Interval::OfSize(size), {}});
  }
  IndexingMap steps =
      MapOf(std::move(dims), points, Constraints(place.map.constraints()), builder_.getContext());
  return AddSteps(instruction, {{std::move(steps), place.values}, static_cast<int>(sizes.size())},
                  inits);
}

absl::StatusOr<MlirValues> ElementReader::AddSteps(const HloInstruction& instruction,
                                                   const StepPlaces& steps,
                                                   const MlirValues& sums) {
  const bool is_product = IsProduct(instruction);
  if (is_product && instruction.operand_count() != 2) return NotLoweredInstruction(instruction);
  const int64_t arrays = is_product ? 2 : instruction.operand_count() / 2;
  const IndexingMap& points = steps.place.map;
  if (points.IsKnownEmpty()) return sums;
  XLA_INDEXING_ASSIGN_OR_RETURN(const InstructionIndexing entries, MapsOf(instruction));
  const InstructionIndexing of_steps =
      ContractionSteps(instruction, entries, builder_.getContext(), OptionsOfEmitter());
  std::vector<IndexingMap> reads;
  for (int64_t operand = 0; operand < arrays; ++operand) {
    const OperandIndexingSet* maps = FindMaps(of_steps, operand);
    // Where no step reads anything, as of windows on padding alone, the sum is what it begins with.
    if (maps == nullptr) return sums;
    if (maps->size() != 1) return absl::InternalError("no steps");
    XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap read,
                                  ComposeIndexingMaps(points, maps->begin()->map()));
    read.Simplify();
    if (read.num_symbols() > 0) return NotLoweredInstruction(instruction);
    if (read.IsKnownEmpty()) return sums;
    reads.push_back(std::move(read));
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const StepLoops nest, LoopsOf(reads, steps.num_steps));
  if (nest.loops.IsKnownEmpty()) return sums;

  const MlirValues& around = steps.place.values;
  const auto body = [&](mlir::ValueRange ranges,
                        mlir::ValueRange carried) -> absl::StatusOr<MlirValues> {
    MlirValues arguments(carried);
    MlirValues values = around;
    values.append(ranges.begin(), ranges.end());
    for (int64_t operand = 0; operand < arrays; ++operand) {
      XLA_INDEXING_ASSIGN_OR_RETURN(
          const Value element, Read({instruction.operand(operand), 0}, {reads[operand], values}));
      arguments.push_back(element);
    }
    if (is_product) return EmitMultiplyAdd(builder_, instruction, arguments);
    return Combine(*instruction.to_apply(), arguments);
  };
  // Elements of the result outside of the loops' domain read nothing.
  const IndexingMap known = SplitDomain(points, static_cast<int>(around.size())).first;
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const Value holds, CheckDomain(builder_, builder_.getLoc(), nest.around, around, {}, &known));
  return EmitIf(builder_, builder_.getLoc(), holds, sums, [&] {
    return EmitLoopNest(builder_, builder_.getLoc(), nest.loops, around, {}, sums, body);
  });
}

absl::StatusOr<MlirValues> ElementReader::Combine(const HloComputation& computation,
                                                  const MlirValues& arguments) {
  XLA_INDEXING_ASSIGN_OR_RETURN(MlirValues results,
                                EmitScalarComputation(builder_, computation, arguments));
  for (const auto [result, argument] : llvm::zip(results, arguments)) {
    result = EmitFloatAs(builder_, result, argument.getType());
  }
  return results;
}

absl::StatusOr<MlirValues> ElementReader::EmitUpdate(const HloInstruction& scatter,
                                                     const ElementPlace& update,
                                                     const MlirValues& memory) {
  const auto count = static_cast<int64_t>(memory.size());
  const IndexedWindows windows =
      IndexedWindows::OfScatter(scatter, IndexedWindows::Outside::kDropped);
  MapBuilder builder(windows.windows(), windows.array(), builder_.getContext());
  IndexedWindows::IndexVector offsets;
  for (const int64_t dim : windows.window_dims()) offsets.push_back(builder.Dim(dim));
  const auto origin = windows.AddOrigin(windows.BatchOfWindow(builder), &builder);
  const OperandIndexing target = builder.Build(windows.ArrayElement(origin, offsets, &builder));
  if (!target.IsExact()) return NoExactMap(scatter, count + 1);
  IndexingMap known = update.map;
  XLA_INDEXING_ASSIGN_OR_RETURN(const ElementPlace combined, Follow(target, update, &known));
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const Value holds,
      CheckDomain(builder_, builder_.getLoc(), combined.map, combined.values, {}, &known));
  const auto combine = [&]() -> absl::StatusOr<MlirValues> {
    XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues at, IndexOf(combined));
    const auto updates = scatter.operands().subspan(count + 1);
    return CombineWith(updates, update, *scatter.to_apply(), memory, at);
  };
  return EmitIf(builder_, builder_.getLoc(), holds, {}, combine);
}

absl::StatusOr<MlirValues> ElementReader::CombineWith(
    absl::Span<const HloInstruction* const> updates, const ElementPlace& place,
    const HloComputation& combiner, const MlirValues& memory, mlir::ValueRange at) {
  MlirValues arguments;
  for (const Value array : memory) {
    arguments.push_back(mlir::memref::LoadOp::create(builder_, array, at));
  }
  for (const HloInstruction* update : updates) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value element, Read({update, 0}, place));
    arguments.push_back(element);
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues results, Combine(combiner, arguments));
  for (const auto [result, array] : llvm::zip(results, memory)) {
    mlir::memref::StoreOp::create(builder_, result, array, at);
  }
  return MlirValues();
}

absl::StatusOr<Value> ElementReader::ReadTiles(llvm::ArrayRef<TileInMemory> tiles,
                                               const ElementPlace& place) {
  const mlir::Type type =
      mlir::cast<mlir::MemRefType>(tiles.front().memory.getType()).getElementType();
  Value value = EmitZero(builder_, type);
  for (const TileInMemory& tile : llvm::reverse(tiles)) {
    XLA_INDEXING_ASSIGN_OR_RETURN(PlaceInTile found, FindInTile(tile, place));
    IndexingMap& map = found.position.map;
    Constraints unsure;
    if (may_miss_ || tiles.size() > 1) unsure = found.box;
    if (tiles.size() > 1) unsure.append(found.filled);
    const IndexingMap has = MapOf(Variables(map.dims()), {}, std::move(unsure), map.context());
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value holds, CheckDomain(builder_, builder_.getLoc(), has,
                                                                 found.position.values, {}, &map));
    map.Simplify();
    XLA_INDEXING_ASSIGN_OR_RETURN(
        value, EmitElementIf(holds, value, [&] { return Load(tile.memory, found.position); }));
  }
  return value;
}

}  // namespace xla_indexing::internal
