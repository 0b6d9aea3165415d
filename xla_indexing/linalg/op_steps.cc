#include "xla_indexing/linalg/op_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/linalg/given_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing::internal {
namespace {

using mlir::AffineExpr;
using mlir::Value;
using Key = AttributeKey;
using Ints = std::vector<int64_t>;

Attribute Given(Key key, const Ints& ints) {
  return MakeAttribute(key, absl::Span<const int64_t>(ints));
}

Variables LoopsOf(llvm::ArrayRef<int64_t> sizes) {
  Variables loops;
  for (const int64_t size : sizes) loops.push_back({Interval::OfSize(size), {}});
  return loops;
}

// An item of the configuration of a call with given maps.
std::string ItemOf(int operand, int num_dims, int num_symbols, llvm::ArrayRef<AffineExpr> results,
                   Variables loops, Variables runtimes, mlir::MLIRContext* context,
                   Constraints constraints = {}) {
  const IndexingMap map(kPartsFit, mlir::AffineMap::get(num_dims, num_symbols, results, context),
                        std::move(loops), {}, std::move(runtimes), std::move(constraints));
  return absl::StrCat(operand, ": ", map.ToString());
}

// The arguments of a body that each value that it yields is computed from, also through what it carries from one
// iteration to the next: result i starts with argument `first_carried` + i.
llvm::BitVector ArgumentsBehind(mlir::Block& body, unsigned result, unsigned first_carried) {
  llvm::BitVector found(body.getNumArguments());
  llvm::SetVector<Value> values;
  llvm::BitVector seen_results(body.getTerminator()->getNumOperands());
  const auto add_result = [&](unsigned i) {
    if (seen_results.test(i)) return;
    seen_results.set(i);
    values.insert(body.getTerminator()->getOperand(i));
  };
  add_result(result);
  for (size_t i = 0; i < values.size(); ++i) {
    const Value value = values[i];
    if (const auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
      if (argument.getOwner() != &body) continue;
      found.set(argument.getArgNumber());
      if (argument.getArgNumber() >= first_carried) {
        add_result(argument.getArgNumber() - first_carried);
      }
      continue;
    }
    mlir::Operation* definition = value.getDefiningOp();
    definition->walk([&](mlir::Operation* inner) {
      for (const Value operand : inner->getOperands()) values.insert(operand);
    });
  }
  return found;
}

// A value of a body before what converts numbers.
Value BeforeConversions(Value value) {
  mlir::Operation* definition = value.getDefiningOp();
  while (definition != nullptr &&
         mlir::isa<mlir::arith::ExtFOp, mlir::arith::ExtSIOp, mlir::arith::ExtUIOp>(definition)) {
    value = definition->getOperand(0);
    definition = value.getDefiningOp();
  }
  return value;
}

// Whether a body adds to what it carries, argument `carried`, the product of the two arguments before it.
bool IsMultiplyAdd(mlir::Block& body, unsigned result, unsigned carried) {
  if (carried != 2 || body.getNumArguments() != 3) return false;
  mlir::Operation* sum = body.getTerminator()->getOperand(result).getDefiningOp();
  if (sum == nullptr || !mlir::isa<mlir::arith::AddFOp, mlir::arith::AddIOp>(sum)) return false;
  const auto is_argument = [&](Value value, unsigned number) {
    return value == body.getArgument(number);
  };
  for (const int side : {0, 1}) {
    mlir::Operation* product = sum->getOperand(1 - side).getDefiningOp();
    if (!is_argument(sum->getOperand(side), carried) || product == nullptr ||
        !mlir::isa<mlir::arith::MulFOp, mlir::arith::MulIOp>(product)) {
      continue;
    }
    const Value a = BeforeConversions(product->getOperand(0));
    const Value b = BeforeConversions(product->getOperand(1));
    return (is_argument(a, 0) && is_argument(b, 1)) || (is_argument(a, 1) && is_argument(b, 0));
  }
  return false;
}

// The loop that a result of a projected permutation is.
unsigned LoopOf(AffineExpr result) { return mlir::cast<mlir::AffineDimExpr>(result).getPosition(); }

}  // namespace

absl::StatusOr<Shape> ShapeOfValues(mlir::Type type) {
  mlir::Type tensor = type;
  if (const auto memref = mlir::dyn_cast<mlir::MemRefType>(type)) {
    tensor = mlir::RankedTensorType::get(memref.getShape(), memref.getElementType());
  } else if (type.isIntOrIndexOrFloat() || mlir::isa<mlir::ComplexType>(type)) {
    tensor = mlir::RankedTensorType::get({}, type);
  }
  const auto ranked = mlir::dyn_cast<mlir::RankedTensorType>(tensor);
  if (!ranked || !ranked.hasStaticShape()) {
    return absl::UnimplementedError("an array whose sizes are not static");
  }
  absl::StatusOr<Shape> shape = ShapeOfType(tensor);
  if (shape.ok() && !shape->ElementCount().ok()) {
    return absl::UnimplementedError("an array with too many elements");
  }
  return shape;
}

OpSteps::OpSteps(HloModule* module, mlir::Operation* operation, std::string name,
                 std::map<ElementType, const HloComputation*>* sums)
    : module_(module), op_(operation), name_(std::move(name)), sums_(sums) {}

absl::Status OpSteps::Import() {
  auto linalg = mlir::dyn_cast<mlir::linalg::LinalgOp>(op_);
  for (unsigned i = 0; linalg && i < linalg.getNumDpsInits(); ++i) {
    // What a computation calls comes before it.
    const Shape shape = ShapeOf(linalg.getDpsInitOperand(i)->get().getType());
    if (!status_.ok()) return status_;
    const ElementType type = shape.element_type();
    if (sums_->contains(type)) continue;
    const Shape scalar = Shape::Scalar(type);
    HloComputation* sum = module_->AddComputation(absl::StrCat("sum.", ElementTypeName(type)));
    HloInstruction* a = sum->AddParameter(0, "a", scalar);
    HloInstruction* b = sum->AddParameter(1, "b", scalar);
    sum->AddInstruction(type == ElementType::kPred ? HloOpcode::kOr : HloOpcode::kAdd, "s", scalar,
                        {a, b});
    (*sums_)[type] = sum;
  }
  computation_ = module_->AddComputation(name_);
  if (linalg) {
    for (unsigned i = 0; i < linalg.getNumDpsInits(); ++i) results_.push_back(LinalgResult(i));
  } else if (mlir::isa<mlir::affine::AffineLoadOp, mlir::affine::AffineStoreOp>(op_)) {
    ImportAccess();
  } else if (mlir::isa<mlir::tensor::ExtractSliceOp>(op_)) {
    ImportSlice();
  } else if (mlir::isa<mlir::tensor::InsertSliceOp>(op_)) {
    ImportInsertSlice();
  } else if (mlir::OpTrait::hasElementwiseMappableTraits(op_)) {
    ImportElementwise();
  } else {
    ImportTensorOp();
  }
  if (status_.ok() && results_.size() != 1) {
    results_ = {Add(HloOpcode::kTuple, results_, {})};
  }
  if (!status_.ok()) return status_;
  return HloBuilder(computation_).SetRoot(results_.front());
}

void OpSteps::Fail(absl::string_view why) {
  status_.Update(absl::UnimplementedError(
      absl::StrCat(std::string(op_->getName().getStringRef()), ": ", why)));
}

Shape OpSteps::ShapeOf(mlir::Type type) {
  absl::StatusOr<Shape> shape = ShapeOfValues(type);
  if (shape.ok()) return *std::move(shape);
  Fail(shape.status().message());
  return Shape();
}

OpSteps::Instruction OpSteps::Input(Value value) {
  if (const auto known = inputs_.find(value); known != inputs_.end()) return known->second;
  const Shape shape = ShapeOf(value.getType());
  if (!status_.ok()) return nullptr;
  const auto number = static_cast<int64_t>(inputs_.size());
  const Instruction added =
      computation_->AddParameter(number, absl::StrCat("input.", number), shape);
  inputs_.insert({value, added});
  return added;
}

OpSteps::Instruction OpSteps::Add(HloOpcode opcode, const Instructions& operands,
                                  std::vector<Attribute> attributes, const Shape* shape) {
  if (!status_.ok() || llvm::is_contained(operands, nullptr)) return nullptr;
  InstructionDetails details{.attributes = std::move(attributes)};
  if (shape != nullptr) details.shape = *shape;
  const absl::StatusOr<Instruction> added = HloBuilder(computation_).Add(opcode, operands, details);
  if (added.ok()) return *added;
  Fail(added.status().message());
  return nullptr;
}

OpSteps::Instruction OpSteps::Reshape(Instruction operand, const Shape& shape) {
  if (operand == nullptr || operand->shape() == shape) return operand;
  return Add(HloOpcode::kReshape, {operand}, {}, &shape);
}

OpSteps::Instruction OpSteps::CustomCall(absl::string_view target, const Instructions& operands,
                                         const Shape& shape, absl::string_view config) {
  std::vector<Attribute> attributes = {MakeAttribute(Key::kCustomCallTarget, target)};
  const std::string quoted = absl::StrCat("\"", config, "\"");
  if (!config.empty()) {
    attributes.push_back(MakeAttribute(Key::kBackendConfig, absl::string_view(quoted)));
  }
  return Add(HloOpcode::kCustomCall, operands, std::move(attributes), &shape);
}

OpSteps::Instruction OpSteps::AtEachPoint(const Instructions& operands,
                                          llvm::ArrayRef<mlir::AffineMap> maps,
                                          const Shape& shape) {
  const auto rank = static_cast<int>(shape.rank());
  std::vector<std::string> items;
  items.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    llvm::SmallVector<AffineExpr, 8> results;
    for (int d = 0; d < rank; ++d) results.push_back(mlir::getAffineDimExpr(d, op_->getContext()));
    llvm::append_range(results, maps[i].getResults());
    items.push_back(ItemOf(static_cast<int>(i), rank, 0, results, LoopsOf(shape.dimensions()), {},
                           op_->getContext()));
  }
  return CustomCall(kGivenMapsTarget, operands, shape, absl::StrJoin(items, "; "));
}

OpSteps::Instruction OpSteps::InOrder(Instruction values, llvm::ArrayRef<unsigned> loops,
                                      llvm::ArrayRef<unsigned> wanted) {
  std::vector<int64_t> order;
  order.reserve(wanted.size());
  for (const unsigned loop : wanted) order.push_back(llvm::find(loops, loop) - loops.begin());
  if (llvm::is_sorted(order)) return values;
  return Add(HloOpcode::kTranspose, {values}, {Given(Key::kDimensions, order)});
}

OpSteps::Instruction OpSteps::Dot(const Instructions& operands,
                                  llvm::ArrayRef<mlir::AffineMap> maps,
                                  llvm::ArrayRef<unsigned> kept, const Shape& shape) {
  if (operands[0] == nullptr || operands[1] == nullptr || !maps[0].isProjectedPermutation() ||
      !maps[1].isProjectedPermutation() ||
      operands[0]->shape().element_type() != operands[1]->shape().element_type()) {
    return nullptr;
  }
  std::vector<unsigned> of_operand[2];
  for (const int side : {0, 1}) {
    for (const AffineExpr dim : maps[side].getResults()) of_operand[side].push_back(LoopOf(dim));
  }
  // Dimensions of each operand: of both and the result, of both alone, of the operand and the result.
  Ints batch[2];
  Ints contracting[2];
  std::vector<unsigned> loops;
  for (const unsigned loop : of_operand[0]) {
    const auto other = llvm::find(of_operand[1], loop);
    const bool is_kept = llvm::is_contained(kept, loop);
    if (other == of_operand[1].end()) {
      if (!is_kept) return nullptr;
      continue;
    }
    (is_kept ? batch : contracting)[0].push_back(llvm::find(of_operand[0], loop) -
                                                 of_operand[0].begin());
    (is_kept ? batch : contracting)[1].push_back(other - of_operand[1].begin());
    if (is_kept) loops.push_back(loop);
  }
  for (const int side : {0, 1}) {
    for (const unsigned loop : of_operand[side]) {
      if (llvm::is_contained(of_operand[1 - side], loop)) continue;
      if (!llvm::is_contained(kept, loop)) return nullptr;
      loops.push_back(loop);
    }
  }
  // A loop of the result alone, or of no array, is none of a dot.
  if (loops.size() != kept.size() || contracting[0].empty() ||
      contracting[0].size() + kept.size() != maps[0].getNumDims()) {
    return nullptr;
  }
  Ints sizes;
  for (const unsigned loop : loops) {
    sizes.push_back(shape.dimension(llvm::find(kept, loop) - kept.begin()));
  }
  const Shape product = Shape::Array(shape.element_type(), sizes);
  return InOrder(Add(HloOpcode::kDot, operands,
                     {Given(Key::kLhsBatchDims, batch[0]), Given(Key::kRhsBatchDims, batch[1]),
                      Given(Key::kLhsContractingDims, contracting[0]),
                      Given(Key::kRhsContractingDims, contracting[1])},
                     &product),
                 loops, kept);
}

OpSteps::Instruction OpSteps::LinalgResult(unsigned result) {
  auto op = mlir::cast<mlir::linalg::LinalgOp>(op_);
  const llvm::SmallVector<int64_t> loops = op.getStaticLoopRanges();
  if (llvm::any_of(loops, mlir::ShapedType::isDynamic)) {
    Fail("an array whose sizes are not static");
    return nullptr;
  }
  mlir::OpOperand* init = op.getDpsInitOperand(result);
  const mlir::AffineMap to_result = op.getMatchingIndexingMap(init);
  if (!to_result.isProjectedPermutation()) {
    Fail("the map of a result is no projected permutation");
    return nullptr;
  }
  std::vector<unsigned> kept;
  for (const AffineExpr dim : to_result.getResults()) {
    kept.push_back(LoopOf(dim));
  }
  std::vector<int64_t> reduced;
  for (unsigned l = 0; l < loops.size(); ++l) {
    if (!llvm::is_contained(kept, l)) reduced.push_back(l);
  }
  // What the body reads. The initial value of a reduction is read once, after all others.
  const llvm::BitVector behind =
      ArgumentsBehind(*op.getBlock(), result, static_cast<unsigned>(op.getNumDpsInputs()));
  Instructions operands;
  std::vector<mlir::AffineMap> maps;
  bool reads_init = false;
  for (mlir::OpOperand& operand : op_->getOpOperands()) {
    const mlir::BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!behind.test(argument.getArgNumber())) continue;
    if (&operand == init && !reduced.empty()) {
      reads_init = true;
      continue;
    }
    operands.push_back(Input(operand.get()));
    maps.push_back(op.getMatchingIndexingMap(&operand));
  }
  llvm::SetVector<Value> captured;
  mlir::getUsedValuesDefinedAbove(op_->getRegions(), captured);
  for (const Value value : captured) {
    if (mlir::isa<mlir::ShapedType>(value.getType())) Fail("its body reads an array");
    operands.push_back(Input(value));
    maps.push_back(mlir::AffineMap::get(loops.size(), 0, op_->getContext()));
  }
  const Shape shape = ShapeOf(init->get().getType());
  if (!status_.ok()) return nullptr;
  if (reads_init && captured.empty() && shape.element_type() != ElementType::kPred &&
      maps.size() == 2 &&
      IsMultiplyAdd(*op.getBlock(), result, static_cast<unsigned>(op.getNumDpsInputs()))) {
    const Instruction product = Dot(operands, maps, kept, shape);
    if (!status_.ok()) return nullptr;
    if (product != nullptr) {
      return Add(HloOpcode::kAdd, {product, Input(init->get())}, {});
    }
  }
  Instruction values = AtEachPoint(operands, maps, Shape::Array(shape.element_type(), loops));
  if (!reduced.empty() && status_.ok()) {
    const auto zero = Literal::Zeros(Shape::Scalar(shape.element_type()));
    const auto start = HloBuilder(computation_).AddConstant(*zero);
    values = Add(HloOpcode::kReduce, {values, *start},
                 {Given(Key::kDimensions, reduced),
                  MakeAttribute(Key::kToApply, sums_->at(shape.element_type()))});
  }
  // The loops that are left are in their order.
  std::vector<unsigned> sorted = kept;
  llvm::sort(sorted);
  values = InOrder(values, sorted, kept);
  if (!reads_init) return values;
  const auto identity = mlir::AffineMap::getMultiDimIdentityMap(shape.rank(), op_->getContext());
  return AtEachPoint({values, Input(init->get())}, {identity, identity}, shape);
}

void OpSteps::ImportAccess() {
  mlir::MLIRContext* context = op_->getContext();
  auto load = mlir::dyn_cast<mlir::affine::AffineLoadOp>(op_);
  auto store = mlir::dyn_cast<mlir::affine::AffineStoreOp>(op_);
  const Value array = load ? load.getMemRef() : store.getMemRef();
  const mlir::AffineMap map = load ? load.getAffineMap() : store.getAffineMap();
  Instructions operands;
  if (store) operands.push_back(Input(store.getValueToStore()));
  operands.push_back(Input(array));
  for (const Value index : load ? load.getMapOperands() : store.getMapOperands()) {
    operands.push_back(Input(index));
  }
  if (!status_.ok()) return;
  const Shape shape = ShapeOf(array.getType());
  // The map's operands as runtime variables, after as many loops as there are dimensions.
  Variables runtimes(map.getNumInputs(), Variable{Interval::All(), {}});
  llvm::SmallVector<AffineExpr> variables;
  for (unsigned i = 0; i < map.getNumInputs(); ++i) {
    variables.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  std::vector<AffineExpr> element;
  Constraints inside;
  for (const auto& [d, result] : llvm::enumerate(map.getResults())) {
    element.push_back(
        result.replaceDimsAndSymbols(llvm::ArrayRef(variables).take_front(map.getNumDims()),
                                     llvm::ArrayRef(variables).drop_front(map.getNumDims())));
    inside.push_back({element.back(), Interval::OfSize(shape.dimension(d))});
  }
  const int num_symbols = static_cast<int>(runtimes.size());
  // One element: without loops.
  const std::string of_element = ItemOf(0, 0, num_symbols, element, {}, runtimes, context, inside);
  if (load) {
    const Shape scalar = Shape::Scalar(shape.element_type());
    results_ = {CustomCall(kGivenMapsTarget, operands, scalar, of_element)};
    return;
  }
  // All other elements stay: those that differ first in dimension d, below and above.
  std::vector<std::string> items = {of_element};
  std::vector<AffineExpr> both;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int64_t d = 0; d < shape.rank(); ++d) both.push_back(mlir::getAffineDimExpr(d, context));
  }
  Constraints equal;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const AffineExpr difference = Sub(both[d], element[d]);
    if (!difference) return Fail("its map is too large");
    for (const Interval& side : {Interval::AtMost(-1), Interval::AtLeast(1)}) {
      Constraints constraints = equal;
      constraints.push_back({difference, side});
      constraints.append(inside);
      items.push_back(ItemOf(1, static_cast<int>(shape.rank()), num_symbols, both,
                             LoopsOf(shape.dimensions()), runtimes, context, constraints));
    }
    equal.push_back({difference, Interval::Point(0)});
  }
  results_ = {CustomCall(kGivenMapsTarget, operands, shape, absl::StrJoin(items, "; "))};
}

OpSteps::Instructions OpSteps::Offsets(llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                       std::vector<int64_t>* constants) {
  if (const auto known = mlir::getConstantIntValues(offsets); known && constants != nullptr) {
    constants->assign(known->begin(), known->end());
    return {};
  }
  Instructions scalars;
  for (const mlir::OpFoldResult offset : offsets) {
    if (const auto constant = mlir::getConstantIntValue(offset)) {
      absl::StatusOr<Literal> literal = Literal::Zeros(Shape::Scalar(ElementType::kS64));
      literal->SetBits(0, static_cast<uint64_t>(*constant));
      const auto added = HloBuilder(computation_).AddConstant(*literal);
      if (!added.ok()) Fail(added.status().message());
      scalars.push_back(added.ok() ? *added : nullptr);
    } else {
      scalars.push_back(Input(mlir::cast<Value>(offset)));
    }
  }
  return scalars;
}

void OpSteps::ImportSlice() {
  auto op = mlir::cast<mlir::tensor::ExtractSliceOp>(op_);
  const Instruction source = Input(op.getSource());
  if (!op.getSizes().empty() || !op.getStrides().empty()) {
    return Fail("sizes or strides that are not constants");
  }
  const llvm::ArrayRef<int64_t> sizes = op.getStaticSizes();
  const llvm::ArrayRef<int64_t> strides = op.getStaticStrides();
  std::vector<int64_t> constants;
  Instructions scalars = Offsets(op.getMixedOffsets(), &constants);
  if (!status_.ok()) return;
  std::vector<SliceRange> ranges;
  std::vector<int64_t> spans;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] < 1) return Fail("a stride below 1");
    const int64_t start = scalars.empty() ? constants[d] : 0;
    spans.push_back(sizes[d] == 0 ? 0 : (sizes[d] - 1) * strides[d] + 1);
    ranges.push_back({start, start + spans.back(), strides[d]});
  }
  Instruction values = source;
  if (!scalars.empty()) {
    scalars.insert(scalars.begin(), source);
    values = Add(HloOpcode::kDynamicSlice, scalars, {Given(Key::kDynamicSliceSizes, spans)});
  }
  if (scalars.empty() || !llvm::all_of(strides, [](int64_t stride) { return stride == 1; })) {
    values = Add(HloOpcode::kSlice, {values},
                 {MakeAttribute(Key::kSlice, absl::Span<const SliceRange>(ranges))});
  }
  results_ = {Reshape(values, ShapeOf(op.getType()))};
}

void OpSteps::ImportInsertSlice() {
  auto op = mlir::cast<mlir::tensor::InsertSliceOp>(op_);
  const Instruction source = Input(op.getSource());
  const Instruction dest = Input(op.getDest());
  if (!op.getSizes().empty() || !op.getStrides().empty() ||
      !llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; })) {
    return Fail("sizes that are not constants, or strides other than 1");
  }
  Instructions operands = Offsets(op.getMixedOffsets(), /*constants=*/nullptr);
  if (!status_.ok()) return;
  const Shape box = Shape::Array(ShapeOf(op.getDestType()).element_type(), op.getStaticSizes());
  operands.insert(operands.begin(), {dest, Reshape(source, box)});
  results_ = {Add(HloOpcode::kDynamicUpdateSlice, operands, {})};
}

void OpSteps::ImportElementwise() {
  const Shape shape = ShapeOf(op_->getResult(0).getType());
  if (!status_.ok()) return;
  Instructions operands;
  std::vector<mlir::AffineMap> maps;
  for (const Value operand : op_->getOperands()) {
    operands.push_back(Input(operand));
    if (!status_.ok()) return;
    // A scalar is read by all elements.
    maps.push_back(operands.back()->shape().rank() == shape.rank()
                       ? mlir::AffineMap::getMultiDimIdentityMap(shape.rank(), op_->getContext())
                       : mlir::AffineMap::get(shape.rank(), 0, op_->getContext()));
  }
  for (const Value result : op_->getResults()) {
    const Shape of_result = ShapeOf(result.getType());
    if (status_.ok()) results_.push_back(AtEachPoint(operands, maps, of_result));
  }
}

void OpSteps::ImportTensorOp() {
  Instructions operands;
  const auto add_all = [&](mlir::ValueRange values) {
    for (const Value value : values) operands.push_back(Input(value));
  };
  if (auto pad = mlir::dyn_cast<mlir::tensor::PadOp>(op_);
      pad && pad.getConstantPaddingValue() && pad.getLow().empty() && pad.getHigh().empty()) {
    const Instruction source = Input(pad.getSource());
    if (!status_.ok()) return;
    std::vector<PaddingDimension> padding;
    for (const auto& [low, high] : llvm::zip(pad.getStaticLow(), pad.getStaticHigh())) {
      padding.push_back({low, high, 0});
    }
    // The value is one that the operation knows, or a scalar.
    Value value = pad.getConstantPaddingValue();
    const bool is_inside = pad.getRegion().isAncestor(value.getParentRegion());
    const Instruction filler =
        is_inside || value.getDefiningOp<mlir::arith::ConstantOp>()
            ? CustomCall("arith.constant", {}, Shape::Scalar(source->shape().element_type()))
            : Input(value);
    results_ = {Add(HloOpcode::kPad, {source, filler},
                    {MakeAttribute(Key::kPadding, absl::Span<const PaddingDimension>(padding))})};
    return;
  }
  if (auto concat = mlir::dyn_cast<mlir::tensor::ConcatOp>(op_)) {
    add_all(concat.getInputs());
    results_ = {Add(HloOpcode::kConcatenate, operands,
                    {Given(Key::kDimensions, {static_cast<int64_t>(concat.getDim())})})};
    return;
  }
  if (mlir::isa<mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp, mlir::tensor::CastOp>(
          op_)) {
    const Instruction source = Input(op_->getOperand(0));
    const Shape shape = ShapeOf(op_->getResult(0).getType());
    if (status_.ok()) results_ = {Reshape(source, shape)};
    return;
  }
  if (auto gather = mlir::dyn_cast<mlir::tensor::GatherOp>(op_)) {
    add_all({gather.getSource(), gather.getIndices()});
    const Shape shape = ShapeOf(gather.getType());
    if (!status_.ok()) return;
    const std::vector<int64_t> dims(gather.getGatherDims().begin(), gather.getGatherDims().end());
    const int64_t batch = operands[1]->shape().rank() - 1;
    const int64_t source_rank = operands[0]->shape().rank();
    const bool keeps_dims = shape.rank() == batch + source_rank;
    std::vector<int64_t> offset_dims(static_cast<size_t>(shape.rank() - batch));
    std::iota(offset_dims.begin(), offset_dims.end(), batch);
    std::vector<int64_t> sizes(operands[0]->shape().dimensions().begin(),
                               operands[0]->shape().dimensions().end());
    for (const int64_t dim : dims) sizes[static_cast<size_t>(dim)] = 1;
    results_ = {Add(HloOpcode::kGather, operands,
                    {Given(Key::kOffsetDims, offset_dims),
                     Given(Key::kCollapsedSliceDims, keeps_dims ? Ints() : dims),
                     Given(Key::kStartIndexMap, dims), MakeAttribute(Key::kIndexVectorDim, batch),
                     Given(Key::kSliceSizes, sizes)})};
    return;
  }
  // Anything else: all that it may read, but for what has no elements of its own.
  llvm::SetVector<Value> read(op_->operand_begin(), op_->operand_end());
  mlir::getUsedValuesDefinedAbove(op_->getRegions(), read);
  if (!mlir::isa<mlir::tensor::EmptyOp>(op_)) {
    for (const Value value : read) operands.push_back(Input(value));
  }
  for (const Value result : op_->getResults()) {
    const Shape shape = ShapeOf(result.getType());
    if (!status_.ok()) return;
    results_.push_back(CustomCall(op_->getName().getStringRef().str(), operands, shape));
  }
}

}  // namespace xla_indexing::internal
