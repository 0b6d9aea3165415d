#include "xla_indexing/ops/values/array_operations.h"

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/ops/values/cases/numbers.h"
#include "xla_indexing/ops/values/cases/value_cases.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/ordered_arrays.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::APFloat;
using Known = std::shared_ptr<const Literal>;
using Pairs = absl::FunctionRef<bool(int64_t from, int64_t to)>;

// The number of elements of an array for which MayBeKnown() holds.
int64_t ElementsOf(const Shape& array) { return *array.ElementCount(); }

bool HasSymbol(mlir::AffineExpr expr) {
  return expr
      .walk([](mlir::AffineExpr part) {
        return llvm::isa<mlir::AffineSymbolExpr>(part) ? mlir::WalkResult::interrupt()
                                                       : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// The row-major position of point `i` of a block; -1 if it is outside of the array.
int64_t PositionAt(const Shape& array, absl::Span<const int64_t* const> columns, size_t i) {
  int64_t position = 0;
  for (const auto [k, size] : llvm::enumerate(array.dimensions())) {
    const int64_t index = columns[k][i];
    if (index < 0 || index >= size) return -1;
    position = position * size + index;
  }
  return position;
}

// The pairs of elements of an exact map between arrays: those of the first in row-major order, and of each the
// range variables in order.
class PairsOfMap {
 public:
  PairsOfMap(const Shape& from, const Shape& to, StepBudget* budget)
      : from_(from), to_(to), budget_(budget) {}

  // False if some are not known, or `visit` is false for one.
  bool Visit(const OperandIndexing& indexing, const HloInstruction& instruction,
             absl::Span<const KnownLeaves> operands, Pairs visit) {
    const IndexingMap& map = indexing.map();
    if (!indexing.IsExact() || indexing.replica_map() != nullptr) return false;
    if (map.IsKnownEmpty()) return true;
    if (map.num_runtimes() > 0 && !FindRuntimes(indexing, instruction, operands)) return false;
    // Without runtime variables all variables take all their values.
    std::vector<MapProgram::Source> sources(
        static_cast<size_t>(map.num_dims() + map.num_symbols()));
    for (size_t i = 0; i < columns_.size(); ++i) {
      const size_t variable = i < static_cast<size_t>(map.num_dims()) ? i : i + map.num_ranges();
      sources[variable] = {columns_[i].data(), 1};
    }
    return Run(map, sources, [&](const MapProgram::Block& block, size_t i) {
      const int64_t at = PositionAt(from_, block.variables, i);
      const int64_t read = PositionAt(to_, block.results, i);
      return at >= 0 && read >= 0 && visit(at, read);
    });
  }

 private:
  using Visitor = absl::FunctionRef<bool(const MapProgram::Block& block, size_t i)>;

  bool Run(const IndexingMap& map, absl::Span<const MapProgram::Source> sources, Visitor visit) {
    const size_t rows = columns_.empty() ? 1 : columns_.front().size();
    bool goes_on = true;
    const absl::Status status =
        MapProgram(map).Run(rows, sources, budget_->left(), [&](const MapProgram::Block& block) {
          goes_on = goes_on && budget_->Take(static_cast<int64_t>(block.count));
          for (size_t i = 0; goes_on && i < block.count; ++i) {
            if (block.is_inside[i] != 0) goes_on = visit(block, i);
          }
        });
    return status.ok() && goes_on;
  }

  // Makes columns of the points of the dimensions, and of the runtime variables there.
  bool FindRuntimes(const OperandIndexing& indexing, const HloInstruction& instruction,
                    absl::Span<const KnownLeaves> operands) {
    const IndexingMap& map = indexing.map();
    std::vector<std::vector<int64_t>> columns(static_cast<size_t>(map.num_dims()));
    for (const auto [number, binding] : llvm::enumerate(indexing.bindings())) {
      const absl::Span<const HloInstruction* const> all = instruction.operands();
      const auto operand = absl::c_find(all, binding.instruction);
      if (operand == all.end() || !binding.call_path.empty() ||
          binding.value.kind() == ValueFunction::Kind::kIterations) {
        return false;
      }
      const Known& known = operands[operand - all.begin()][binding.leaf];
      if (known == nullptr) return false;
      if (llvm::any_of(binding.element, HasSymbol)) return false;
      const auto element = mlir::AffineMap::get(map.num_dims(), 0, binding.element, map.context());
      Variables dims(map.dims().begin(), map.dims().end());
      const absl::StatusOr<IndexingMap> at = IndexingMap::Create(element, std::move(dims), {}, {});
      if (!at.ok()) return false;
      std::vector<int64_t>& values = columns.emplace_back();
      const std::vector<MapProgram::Source> sources(static_cast<size_t>(map.num_dims()));
      const bool is_found = Run(*at, sources, [&](const MapProgram::Block& block, size_t i) {
        const int64_t position = PositionAt(known->shape(), block.results, i);
        if (position < 0) return false;
        const std::optional<int64_t> value = known->IntegerAt(position);
        if (!value) return false;
        values.push_back(binding.value.Apply(*value));
        for (int d = 0; number == 0 && d < map.num_dims(); ++d) {
          columns[d].push_back(block.variables[d][i]);
        }
        return true;
      });
      if (!is_found) return false;
    }
    columns_ = std::move(columns);
    return true;
  }

  const Shape& from_;
  const Shape& to_;
  StepBudget* budget_;
  std::vector<std::vector<int64_t>> columns_;  // of dimensions, then of runtime variables
};

// A combiner of two numbers that is one operation, for which the order does not matter.
class Combiner {
 public:
  // Nothing if it is another one.
  static std::optional<Combiner> Of(const HloComputation* computation) {
    const HloInstruction* root = computation != nullptr ? computation->root_instruction() : nullptr;
    if (root == nullptr) return std::nullopt;
    const bool is_second = root->opcode() == HloOpcode::kParameter && root->parameter_number() == 1;
    if (!is_second && !IsOrderlessCombiner(*root)) return std::nullopt;
    return Combiner(*root, is_second);
  }

  bool IsOf(ElementType type) const { return root_->shape().element_type() == type; }
  // Whether the second one takes the place of the first.
  bool Replaces() const { return replaces_; }

  // Nothing if it is not known, or another order may give another number.
  std::optional<Number> Combine(const Number& a, const Number& b) {
    if (replaces_) return b;
    std::optional<Number> result = ApplyToNumbers(*root_, {a, b});
    if (!result || !std::holds_alternative<APFloat>(a)) return result;
    return IsExact(std::get<APFloat>(a), std::get<APFloat>(b)) ? result : std::nullopt;
  }

 private:
  Combiner(const HloInstruction& root, bool replaces) : root_(&root), replaces_(replaces) {}

  // Whether floats are combined without rounding in all orders: least and greatest numbers, products of 0, 1
  // and -1, and sums of integers whose sizes have a sum that fits.
  bool IsExact(const APFloat& a, const APFloat& b) {
    if (a.isNaN() || b.isNaN()) return false;
    const auto is_unit = [](const APFloat& x) {
      return x.isZero() || x.isExactlyValue(1) || x.isExactlyValue(-1);
    };
    switch (root_->opcode()) {
      case HloOpcode::kMaximum:
      case HloOpcode::kMinimum:
        return !a.isZero() || !b.isZero() || a.isNegative() == b.isNegative();
      case HloOpcode::kMultiply:
        return is_unit(a) && is_unit(b);
      default:
        break;
    }
    if (!a.isInteger() || !b.isInteger() || !a.isFinite() || !b.isFinite()) return false;
    // `a` is the sum so far, or what it began with.
    const unsigned precision = llvm::APFloat::semanticsPrecision(a.getSemantics());
    const double most = static_cast<double>(uint64_t{1} << std::min(precision, 52U));
    const auto size = [](APFloat x) {
      bool loses = false;
      x.clearSign();
      x.convert(APFloat::IEEEdouble(), APFloat::rmTowardPositive, &loses);
      return x.convertToDouble();
    };
    total_ += size(b);
    return total_ + size(a) <= most;
  }

  const HloInstruction* root_;
  bool replaces_;
  double total_ = 0;
};

// A result in the making: the numbers so far.
class Accumulators {
 public:
  static std::optional<Accumulators> Of(const Combiner& combiner, const Literal& begin,
                                        const Shape& result) {
    Accumulators made;
    const int64_t count = ElementsOf(result);
    const bool is_scalar = begin.shape().IsScalar();
    for (int64_t i = 0; i < count; ++i) {
      const std::optional<Number> number = NumberAt(begin, is_scalar ? 0 : i);
      if (!number) return std::nullopt;
      made.numbers_.push_back(*number);
      made.combiners_.push_back(combiner);
    }
    made.is_set_.resize(made.numbers_.size());
    return made;
  }

  // False where another order may give another number.
  bool Add(int64_t position, const Number& number) {
    const auto i = static_cast<size_t>(position);
    // One that takes the place of another one that did has to be the same.
    const bool replaces_another = combiners_[i].Replaces() && is_set_[i];
    if (replaces_another) return IsSame(numbers_[i], number);
    const std::optional<Number> result = combiners_[i].Combine(numbers_[i], number);
    if (!result || !IsPortable(*result)) return false;
    numbers_[i] = *result;
    is_set_[i] = true;
    return true;
  }

  Known AsLiteral(const Shape& shape) const {
    absl::StatusOr<Literal> literal = Literal::Zeros(shape);
    if (!literal.ok()) return nullptr;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      SetNumber(&*literal, static_cast<int64_t>(i), numbers_[i]);
    }
    return std::make_shared<const Literal>(*std::move(literal));
  }

 private:
  std::vector<Number> numbers_;
  std::vector<Combiner> combiners_;
  std::vector<bool> is_set_;
};

// The operation on arrays of which all elements are known.
class WholeArrays {
 public:
  WholeArrays(const HloInstruction& instruction, absl::Span<const KnownLeaves> operands,
              mlir::MLIRContext* context, StepBudget* budget)
      : instruction_(instruction), operands_(operands), context_(context), budget_(budget) {}

  KnownLeaves Find() {
    switch (instruction_.opcode()) {
      case HloOpcode::kReduce:
        if (!Combiner::Of(instruction_.to_apply())) return Choose();
        break;
      case HloOpcode::kSort:
        return SortArrays(instruction_, operands_, budget_);
      default:
        break;
    }
    if (!instruction_.shape().IsArray()) return Nothing();
    return {FindArray()};
  }

  // Each element of a scatter's updates and the one that it is written to; only the indices need be known.
  bool VisitUpdates(Pairs visit) {
    const std::optional<InstructionIndexing> entries = Maps(Direction::kInputToOutput, {2, 0});
    return entries && absl::c_all_of(*entries, [&](const IndexingEntry& entry) {
             return entry.operand != 2 || absl::c_all_of(entry.indexing, [&](const auto& map) {
                      return PairsOfMap(instruction_.operand(2)->shape(), instruction_.shape(),
                                        budget_)
                          .Visit(map, instruction_, operands_, visit);
                    });
           });
  }

 private:
  const Literal& Operand(size_t i) const { return *operands_[i][0]; }

  KnownLeaves Nothing() const {
    return KnownLeaves(static_cast<size_t>(instruction_.shape().LeafCount()));
  }

  Known FindArray() {
    switch (instruction_.opcode()) {
      case HloOpcode::kIota:
        return Iota();
      case HloOpcode::kReduce:
      case HloOpcode::kReduceWindow:
        return Reduce();
      case HloOpcode::kScatter:
        return Scatter();
      case HloOpcode::kDot:
        return Dot();
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kDynamicUpdateSlice:
      case HloOpcode::kGather:
        return Move();
      default:
        break;
    }
    if (IsElementwise(instruction_.opcode())) return Elementwise();
    const ElementType type = instruction_.shape().element_type();
    const bool keeps_type = absl::c_all_of(operands_, [&](const KnownLeaves& operand) {
      return operand.size() == 1 && operand[0]->shape().element_type() == type;
    });
    return keeps_type && MovesElements(instruction_.opcode()) ? Move() : nullptr;
  }

  // Each element of the result by its position.
  Known Make(absl::FunctionRef<std::optional<Number>(int64_t)> number_at) {
    absl::StatusOr<Literal> literal = Literal::Zeros(instruction_.shape());
    const int64_t count = ElementsOf(instruction_.shape());
    if (!literal.ok() || !budget_->Take(count)) return nullptr;
    for (int64_t i = 0; i < count; ++i) {
      const std::optional<Number> number = number_at(i);
      if (!number || !IsPortable(*number)) return nullptr;
      SetNumber(&*literal, i, *number);
    }
    return std::make_shared<const Literal>(*std::move(literal));
  }

  Known Iota() {
    const Shape& shape = instruction_.shape();
    const int64_t dim = instruction_.iota_dimension();
    if (dim < 0 || dim >= shape.rank()) return nullptr;
    int64_t stride = 1;
    for (int64_t i = dim + 1; i < shape.rank(); ++i) stride *= shape.dimension(i);
    const ElementType type = shape.element_type();
    const Interval values = ValuesOfElementType(type);
    return Make([&](int64_t position) -> std::optional<Number> {
      const int64_t index = position / stride % shape.dimension(dim);
      if (HoldsFloats(type)) return FloatOf(index, type);
      if (!values.Contains(index)) return std::nullopt;
      return index;
    });
  }

  Known Elementwise() {
    const bool fit = absl::c_all_of(operands_, [&](const KnownLeaves& operand) {
      const Shape& shape = operand[0]->shape();
      return shape.IsScalar() || shape.dimensions() == instruction_.shape().dimensions();
    });
    if (!fit || operands_.empty()) return nullptr;
    return Make([&](int64_t position) -> std::optional<Number> {
      llvm::SmallVector<Number, 3> numbers;
      for (size_t i = 0; i < operands_.size(); ++i) {
        const Literal& operand = Operand(i);
        const auto number = NumberAt(operand, operand.shape().IsScalar() ? 0 : position);
        if (!number || !IsPortable(*number)) return std::nullopt;
        numbers.push_back(*number);
      }
      return ApplyToNumbers(instruction_, numbers);
    });
  }

  std::optional<InstructionIndexing> Maps(Direction direction, OperandLeaf of) {
    IndexingOptions options;
    options.exact = true;
    options.fold_runtime_variables = false;
    absl::StatusOr<InstructionIndexing> entries =
        OperationMaps(instruction_, direction, context_, options, of);
    if (!entries.ok()) return std::nullopt;
    return *std::move(entries);
  }

  Known Move() {
    const std::optional<InstructionIndexing> entries = Maps(Direction::kOutputToInput, {0, 0});
    const Shape& shape = instruction_.shape();
    absl::StatusOr<Literal> literal = Literal::Zeros(shape);
    if (!entries || !literal.ok()) return nullptr;
    std::vector<bool> is_set(static_cast<size_t>(ElementsOf(shape)));
    for (const IndexingEntry& entry : *entries) {
      const Literal& source = Operand(static_cast<size_t>(entry.operand));
      const bool is_index =
          source.shape().element_type() != shape.element_type() || IsIndexOperand(entry.operand);
      for (const OperandIndexing& map : entry.indexing) {
        if (is_index) continue;
        const bool is_moved =
            PairsOfMap(shape, source.shape(), budget_)
                .Visit(map, instruction_, operands_, [&](int64_t to, int64_t from) {
                  // An element of two sources is none that is moved.
                  if (is_set[static_cast<size_t>(to)]) return false;
                  is_set[static_cast<size_t>(to)] = true;
                  literal->SetBits(to, source.BitsAt(from));
                  return true;
                });
        if (!is_moved) return nullptr;
      }
    }
    if (!absl::c_all_of(is_set, [](bool each) { return each; })) return nullptr;
    return std::make_shared<const Literal>(*std::move(literal));
  }

  bool IsIndexOperand(int64_t operand) const {
    switch (instruction_.opcode()) {
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kGather:
        return operand > 0;
      case HloOpcode::kDynamicUpdateSlice:
        return operand > 1;
      default:
        return false;
    }
  }

  Known Reduce() {
    const Shape& shape = instruction_.shape();
    std::optional<Combiner> combiner = Combiner::Of(instruction_.to_apply());
    if (operands_.size() != 2 || !combiner || combiner->Replaces() || !HaveTypeOf(*combiner)) {
      return nullptr;
    }
    // What windows are padded with must not matter, however often.
    const std::optional<Number> initial = NumberAt(Operand(1), 0);
    if (!initial) return nullptr;
    std::optional<Accumulators> sums = Accumulators::Of(*combiner, Operand(1), shape);
    const std::optional<InstructionIndexing> entries = Maps(Direction::kOutputToInput, {0, 0});
    if (!sums || !entries) return nullptr;
    if (instruction_.opcode() == HloOpcode::kReduceWindow && !IsNeutral(*combiner, *initial)) {
      return nullptr;
    }
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != 0) continue;
      for (const OperandIndexing& map : entry.indexing) {
        const bool is_added =
            PairsOfMap(shape, Operand(0).shape(), budget_)
                .Visit(map, instruction_, operands_, [&](int64_t to, int64_t from) {
                  const auto number = NumberAt(Operand(0), from);
                  return number && sums->Add(to, *number);
                });
        if (!is_added) return nullptr;
      }
    }
    return sums->AsLiteral(shape);
  }

  // A reduction that chooses one of its elements.
  KnownLeaves Choose() {
    const Shape& shape = instruction_.shape().Leaf(0);
    const std::optional<InstructionIndexing> entries = Maps(Direction::kOutputToInput, {0, 0});
    // A list takes the memory of so many numbers.
    constexpr int64_t kStepsOfList = 16;
    if (operands_.size() % 2 != 0 || !entries || !budget_->Take(kStepsOfList * ElementsOf(shape))) {
      return Nothing();
    }
    std::vector<std::vector<int64_t>> elements(static_cast<size_t>(ElementsOf(shape)));
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != 0) continue;
      for (const OperandIndexing& map : entry.indexing) {
        const bool are_known =
            PairsOfMap(shape, Operand(0).shape(), budget_)
                .Visit(map, instruction_, operands_, [&](int64_t to, int64_t from) {
                  elements[static_cast<size_t>(to)].push_back(from);
                  return true;
                });
        if (!are_known) return Nothing();
      }
    }
    return ChooseFromArrays(instruction_, operands_, elements, budget_);
  }

  // Sums of products. Those of floats are known where the factors are integers of at most 2^8, which a product at
  // reduced precision keeps, and the sizes of the products have a sum that fits the type.
  Known Dot() {
    const Shape& shape = instruction_.shape();
    const DotDimensionNumbers dims = instruction_.dot_dimension_numbers();
    absl::StatusOr<Literal> literal = Literal::Zeros(shape);
    if (operands_.size() != 2 || !literal.ok() || IsPred(shape.element_type())) return nullptr;
    const auto offsets = [&](size_t operand, absl::Span<const int64_t> some) {
      return OffsetsAlong(Operand(operand).shape(), some);
    };
    const auto others = [&](size_t operand, absl::Span<const int64_t> a,
                            absl::Span<const int64_t> b) {
      std::vector<int64_t> left;
      for (int64_t i = 0; i < Operand(operand).shape().rank(); ++i) {
        if (!absl::c_linear_search(a, i) && !absl::c_linear_search(b, i)) left.push_back(i);
      }
      return offsets(operand, left);
    };
    const std::vector<int64_t> batch[] = {offsets(0, dims.lhs_batch_dims),
                                          offsets(1, dims.rhs_batch_dims)};
    const std::vector<int64_t> summed[] = {offsets(0, dims.lhs_contracting_dims),
                                           offsets(1, dims.rhs_contracting_dims)};
    const auto rows = others(0, dims.lhs_batch_dims, dims.lhs_contracting_dims);
    const auto columns = others(1, dims.rhs_batch_dims, dims.rhs_contracting_dims);
    const int64_t count = ElementsOf(shape);
    if (!budget_->Take(count) || !budget_->Take(count * static_cast<int64_t>(summed[0].size()))) {
      return nullptr;
    }
    int64_t at = 0;
    for (size_t i = 0; i < batch[0].size(); ++i) {
      for (const int64_t row : rows) {
        for (const int64_t column : columns) {
          const std::optional<uint64_t> bits =
              BitsOfDot(batch[0][i] + row, batch[1][i] + column, summed[0], summed[1]);
          if (!bits) return nullptr;
          literal->SetBits(at++, *bits);
        }
      }
    }
    return std::make_shared<const Literal>(*std::move(literal));
  }

  // The sum of the products of elements at these offsets from two positions.
  std::optional<uint64_t> BitsOfDot(int64_t lhs, int64_t rhs, absl::Span<const int64_t> lhs_offsets,
                                    absl::Span<const int64_t> rhs_offsets) const {
    const ElementType type = instruction_.shape().element_type();
    const bool is_float = HoldsFloats(type);
    uint64_t sum = 0;
    uint64_t size = 0;
    bool is_negative_zero = is_float && !lhs_offsets.empty();  // all products are -0
    for (size_t k = 0; k < lhs_offsets.size(); ++k) {
      const std::optional<int64_t> a = IntegerOf(NumberAt(Operand(0), lhs + lhs_offsets[k]));
      const std::optional<int64_t> b = IntegerOf(NumberAt(Operand(1), rhs + rhs_offsets[k]));
      if (!a || !b) return std::nullopt;
      const uint64_t product = static_cast<uint64_t>(*a) * static_cast<uint64_t>(*b);
      sum += product;
      if (!is_float) continue;
      if (!IsSmallFactor(*a) || !IsSmallFactor(*b)) return std::nullopt;
      size += static_cast<uint64_t>(std::abs(static_cast<int64_t>(product)));
      is_negative_zero = is_negative_zero && product == 0 && (*a < 0 || *b < 0);
    }
    if (!is_float) return sum & (~uint64_t{0} >> (64 - BitWidth(type)));
    const APFloat result = FloatOf(static_cast<int64_t>(sum), type);
    const unsigned precision = APFloat::semanticsPrecision(result.getSemantics());
    if (is_negative_zero || size > uint64_t{1} << precision) return std::nullopt;
    return result.bitcastToAPInt().getZExtValue();
  }

  static bool IsSmallFactor(int64_t factor) {
    constexpr int64_t kMost = 256;
    return -kMost <= factor && factor <= kMost;
  }

  // A factor, if it is an integer and not -0.
  static std::optional<int64_t> IntegerOf(const std::optional<Number>& factor) {
    if (!factor) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&*factor)) return *integer;
    const auto& value = std::get<APFloat>(*factor);
    llvm::APSInt integer(64, /*isUnsigned=*/false);
    bool is_exact = false;
    value.convertToInteger(integer, APFloat::rmTowardZero, &is_exact);
    if (!is_exact || value.isNegZero()) return std::nullopt;
    return integer.getSExtValue();
  }

  // What is added to a position along some dimensions, in row-major order of them.
  static std::vector<int64_t> OffsetsAlong(const Shape& array, absl::Span<const int64_t> dims) {
    std::vector<int64_t> strides(static_cast<size_t>(array.rank()), 1);
    for (int64_t i = array.rank() - 1; i > 0; --i) {
      strides[i - 1] = strides[i] * array.dimension(i);
    }
    std::vector<int64_t> offsets = {0};
    for (const int64_t dim : dims) {
      std::vector<int64_t> longer;
      for (const int64_t offset : offsets) {
        for (int64_t i = 0; i < array.dimension(dim); ++i) {
          longer.push_back(offset + i * strides[dim]);
        }
      }
      offsets = std::move(longer);
    }
    return offsets;
  }

  static bool IsNeutral(Combiner combiner, const Number& initial) {
    const std::optional<Number> twice = combiner.Combine(initial, initial);
    if (!twice) return false;
    if (const auto* value = std::get_if<APFloat>(&initial)) {
      return std::get<APFloat>(*twice).bitwiseIsEqual(*value);
    }
    return std::get<int64_t>(*twice) == std::get<int64_t>(initial);
  }

  Known Scatter() {
    const Shape& shape = instruction_.shape();
    std::optional<Combiner> combiner = Combiner::Of(instruction_.to_apply());
    const bool have_type = operands_.size() == 3 && shape.IsArray() && combiner &&
                           combiner->IsOf(shape.element_type()) &&
                           Operand(0).shape().element_type() == shape.element_type() &&
                           Operand(2).shape().element_type() == shape.element_type();
    if (!have_type) return nullptr;
    std::optional<Accumulators> result = Accumulators::Of(*combiner, Operand(0), shape);
    if (!result) return nullptr;
    const bool is_added = VisitUpdates([&](int64_t from, int64_t to) {
      const auto number = NumberAt(Operand(2), from);
      return number && result->Add(to, *number);
    });
    if (!is_added) return nullptr;
    return result->AsLiteral(shape);
  }

  bool HaveTypeOf(const Combiner& combiner) const {
    const ElementType type = instruction_.shape().element_type();
    return combiner.IsOf(type) && absl::c_all_of(operands_, [&](const KnownLeaves& operand) {
             return operand[0]->shape().element_type() == type;
           });
  }

  const HloInstruction& instruction_;
  absl::Span<const KnownLeaves> operands_;
  mlir::MLIRContext* context_;
  StepBudget* budget_;
};
}  // namespace

KnownLeaves ComputeArrays(const HloInstruction& instruction, absl::Span<const KnownLeaves> operands,
                          mlir::MLIRContext* context, StepBudget* budget) {
  return WholeArrays(instruction, operands, context, budget).Find();
}

std::shared_ptr<const Literal> ReplacedByScatter(const HloInstruction& scatter,
                                                 const Literal& indices, mlir::MLIRContext* context,
                                                 StepBudget* budget) {
  const Shape& shape = scatter.shape();
  const std::optional<Combiner> combiner = Combiner::Of(scatter.to_apply());
  if (scatter.operand_count() != 3 || !shape.IsArray() || !combiner || !combiner->Replaces()) {
    return nullptr;
  }
  Shape predicates = shape;
  predicates.SetElementType(ElementType::kPred);
  predicates.ClearLayout();
  if (!MayBeKnown(predicates, kMaxKnownElements)) return nullptr;
  absl::StatusOr<Literal> replaced = Literal::Zeros(predicates);
  if (!replaced.ok()) return nullptr;
  const KnownLeaves operands[] = {{nullptr}, {Known(Known(), &indices)}, {nullptr}};
  const bool are_known = WholeArrays(scatter, operands, context, budget)
                             .VisitUpdates([&](int64_t /*from*/, int64_t to) {
                               replaced->SetBits(to, 1);
                               return true;
                             });
  return are_known ? std::make_shared<const Literal>(*std::move(replaced)) : nullptr;
}

}  // namespace xla_indexing::internal
