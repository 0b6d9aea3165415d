#include "tests/testing/random/random_computation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

constexpr int64_t kMaxRank = 4;
constexpr ElementType kIntegerTypes[] = {ElementType::kS32, ElementType::kS32, ElementType::kS64,
                                         ElementType::kU32, ElementType::kU64, ElementType::kS8,
                                         ElementType::kU8,  ElementType::kS16, ElementType::kU16};

// A number that a constant of this type can have; small for the most part.
int64_t RandomInteger(ElementType type, Random* random) {
  if (IsPred(type)) return random->Between(0, 1);
  const int bits = std::min(BitWidth(type), 62);
  const bool is_signed = IsSignedIntegral(type);
  if (random->OneIn(12)) return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (random->OneIn(12)) return is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  return random->Between(is_signed ? -3 : 0, 6);
}

// Appends the braces and numbers of the elements from dimension `d` on.
void AppendNumbers(const Shape& shape, int64_t d, Random* random, std::string* text) {
  if (d == shape.rank()) {
    const int64_t value = RandomInteger(shape.element_type(), random);
    if (IsPred(shape.element_type())) {
      absl::StrAppend(text, value != 0 ? "true" : "false");
    } else {
      absl::StrAppend(text, value);
    }
    return;
  }
  absl::StrAppend(text, "{");
  for (int64_t i = 0; i < shape.dimension(d); ++i) {
    if (i > 0) absl::StrAppend(text, ", ");
    AppendNumbers(shape, d + 1, random, text);
  }
  absl::StrAppend(text, "}");
}

}  // namespace

std::string RandomModuleText::NewComputationName() {
  return absl::StrCat("f", computation_count++);
}

std::string ListAttribute(absl::string_view name, absl::Span<const int64_t> values) {
  return absl::StrCat(", ", name, "={", absl::StrJoin(values, ","), "}");
}

int64_t ElementCountOf(absl::Span<const int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

RandomValue RandomComputation::Add(const Shape& shape, absl::string_view opcode,
                                   absl::Span<const RandomValue> operands,
                                   absl::string_view attributes) {
  const std::string name = absl::StrCat("v", lines_.size());
  const std::string operand_names = absl::StrJoin(
      operands, ", ",
      [](std::string* text, const RandomValue& operand) { absl::StrAppend(text, operand.name); });
  lines_.push_back(absl::StrCat(name, " = ", shape.ToString(), " ", opcode, "(", operand_names, ")",
                                attributes));
  return values_.emplace_back(RandomValue{name, shape});
}

RandomValue RandomComputation::AddParameter(const Shape& shape) {
  if (is_closed_) return AddConstants(shape);
  const std::string name = absl::StrCat("v", lines_.size());
  lines_.push_back(
      absl::StrCat(name, " = ", shape.ToString(), " parameter(", parameters_.size(), ")"));
  parameters_.push_back(shape);
  return values_.emplace_back(RandomValue{name, shape});
}

RandomValue RandomComputation::AddConstants(const Shape& shape) {
  if (shape.IsToken()) return Add(shape, "after-all", {});
  if (shape.IsTuple()) {
    std::vector<RandomValue> elements;
    for (const Shape& element : shape.tuple_elements()) elements.push_back(AddConstants(element));
    return Add(shape, "tuple", elements);
  }
  if (shape.rank() == 0) return AddConstant(shape);
  return Add(shape, "broadcast", {AddConstant(Shape::Scalar(shape.element_type()))},
             ", dimensions={}");
}

RandomValue RandomComputation::Operand(absl::FunctionRef<bool(const Shape&)> fits,
                                       absl::FunctionRef<Shape()> make) {
  if (random().Between(1, 100) <= reuse_percent_) {
    std::vector<size_t> fitting;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (fits(values_[i].shape)) fitting.push_back(i);
    }
    if (!fitting.empty()) {
      // The later of two, so that instructions build on each other.
      return values_[std::max(random().Pick(fitting), random().Pick(fitting))];
    }
  }
  return AddParameter(make());
}

RandomValue RandomComputation::ArrayOperand(int64_t min_rank) {
  return Operand([&](const Shape& shape) { return shape.IsArray() && shape.rank() >= min_rank; },
                 [&] { return RandomArray(min_rank); });
}

RandomValue RandomComputation::ArrayOperand(absl::Span<const ElementType> types) {
  return Operand(
      [&](const Shape& shape) { return absl::c_linear_search(types, shape.element_type()); },
      [&] {
        Shape shape = RandomArray(0);
        shape.SetElementType(random().Pick(types));
        return shape;
      });
}

RandomValue RandomComputation::OperandLike(const Shape& shape) {
  return Operand([&](const Shape& other) { return EqualIgnoringLayout(shape, other); },
                 [&] {
                   Shape parameter = shape;
                   parameter.ClearLayout();
                   return parameter;
                 });
}

RandomValue RandomComputation::Integers(const Shape& shape, int max_depth) {
  const int64_t choice = random().Between(0, max_depth > 0 ? 9 : 5);
  if (choice <= 2) return OperandLike(shape);
  if (choice <= 4) {
    const int64_t count = ElementCountOf(shape.dimensions());
    return count == 0 || count > 32 ? OperandLike(shape) : AddConstant(shape);
  }
  if (choice == 5) {
    if (shape.rank() == 0 || IsPred(shape.element_type())) return OperandLike(shape);
    return Add(shape, "iota", {},
               absl::StrCat(", iota_dimension=", random().Between(0, shape.rank() - 1)));
  }
  if (choice <= 7) return Arithmetic(shape, max_depth - 1);
  return MovedIntegers(shape, max_depth - 1);
}

RandomValue RandomComputation::AddConstant(const Shape& shape) {
  const std::string name = absl::StrCat("v", lines_.size());
  std::string line = absl::StrCat(name, " = ", shape.ToString(), " constant(");
  AppendNumbers(shape, 0, random_, &line);
  lines_.push_back(absl::StrCat(line, ")"));
  return values_.emplace_back(RandomValue{name, shape});
}

RandomValue RandomComputation::AddConstant(const Shape& shape, int64_t value) {
  const std::string name = absl::StrCat("v", lines_.size());
  lines_.push_back(absl::StrCat(name, " = ", shape.ToString(), " constant(", value, ")"));
  return values_.emplace_back(RandomValue{name, shape});
}

RandomValue RandomComputation::Arithmetic(const Shape& shape, int max_depth) {
  static constexpr absl::string_view kOpcodes[] = {"add",     "add",     "subtract", "multiply",
                                                   "maximum", "minimum", "divide",   "remainder"};
  if (IsPred(shape.element_type())) return OperandLike(shape);
  const RandomValue a = Integers(shape, max_depth);
  const RandomValue b = Integers(shape, max_depth);
  if (random().OneIn(8)) return Add(shape, "clamp", {a, b, Integers(shape, max_depth)});
  return Add(shape, random().Pick(kOpcodes), {a, b});
}

// Integers of another shape or type brought to this one.
RandomValue RandomComputation::MovedIntegers(const Shape& shape, int max_depth) {
  const int64_t count = ElementCountOf(shape.dimensions());
  Shape source = shape;
  source.ClearLayout();
  switch (random().Between(0, 3)) {
    case 0: {
      source.SetElementType(RandomIntegerType());
      return Add(shape, "convert", {Integers(source, max_depth)});
    }
    case 1:
      source = Shape::Array(shape.element_type(), RandomSizesOf(count));
      return Add(shape, "reshape", {Integers(source, max_depth)});
    case 2:
      source = Shape::Scalar(shape.element_type());
      return Add(shape, "broadcast", {Integers(source, max_depth)}, ", dimensions={}");
    default: {
      if (shape.rank() == 0 || count > kMaxRandomElements / 4) return Integers(shape, 0);
      std::string ranges;
      for (int64_t d = 0; d < shape.rank(); ++d) {
        const int64_t start = d == 0 ? random().Between(0, 2) : 0;
        const int64_t limit = start + shape.dimension(d);
        source.SetDimension(d, limit);
        absl::StrAppend(&ranges, d == 0 ? "" : ", ", "[", start, ":", limit, "]");
      }
      return Add(shape, "slice", {Integers(source, max_depth)},
                 absl::StrCat(", slice={", ranges, "}"));
    }
  }
}

ElementType RandomComputation::RandomType() {
  static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF32, ElementType::kF32,
                                           ElementType::kF32, ElementType::kS32, ElementType::kS32,
                                           ElementType::kU8,  ElementType::kPred};
  return random().Pick(kTypes);
}

ElementType RandomComputation::RandomIntegerType() { return random().Pick(kIntegerTypes); }

int64_t RandomComputation::RandomSize() {
  if (random().OneIn(40)) return 0;
  if (random().OneIn(6)) return 1;
  return random().OneIn(3) ? random().Between(5, 9) : random().Between(2, 4);
}

DimensionVector RandomComputation::RandomSizes(int64_t rank, int64_t max_count) {
  DimensionVector sizes(rank);
  for (int64_t& size : sizes) size = RandomSize();
  while (ElementCountOf(sizes) > std::max<int64_t>(max_count, 1)) {
    int64_t& size = sizes[random().Between(0, rank - 1)];
    size = std::max<int64_t>(size / 2, 1);
  }
  return sizes;
}

DimensionVector RandomComputation::RandomSizesOf(int64_t count) {
  if (count == 0) {
    DimensionVector sizes = RandomSizes(random().Between(1, kMaxRank), kMaxRandomElements);
    sizes[random().Between(0, static_cast<int64_t>(sizes.size()) - 1)] = 0;
    return sizes;
  }
  DimensionVector sizes(random().Between(count == 1 ? 0 : 1, kMaxRank), 1);
  for (int64_t factor = 2; count > 1; ++factor) {
    for (; count % factor == 0; count /= factor) {
      sizes[random().Between(0, static_cast<int64_t>(sizes.size()) - 1)] *= factor;
    }
  }
  return sizes;
}

Shape RandomComputation::RandomArray(int64_t min_rank) {
  int64_t rank = random().Between(min_rank, kMaxRank);
  if (rank == 0) rank = random().Between(min_rank, kMaxRank);
  const DimensionVector sizes = RandomSizes(rank, kMaxRandomElements / 2);
  const Shape shape = Shape::Array(RandomType(), sizes);
  return random().OneIn(4) ? WithRandomLayout(shape) : shape;
}

Shape RandomComputation::RandomTuple() {
  std::vector<Shape> elements;
  for (int64_t i = random().Between(0, 3); i > 0; --i) {
    elements.push_back(random().OneIn(5) ? Shape::Tuple({RandomArray(0), RandomArray(0)})
                                         : RandomArray(0));
  }
  return Shape::Tuple(std::move(elements));
}

std::vector<int64_t> RandomComputation::RandomPermutation(int64_t size) {
  std::vector<int64_t> permutation(size);
  for (int64_t i = 0; i < size; ++i) permutation[i] = i;
  random().Shuffle(&permutation);
  return permutation;
}

std::vector<int64_t> RandomComputation::RandomSubset(int64_t size) {
  std::vector<int64_t> subset;
  for (int64_t i = 0; i < size; ++i) {
    if (random().OneIn(2)) subset.push_back(i);
  }
  return subset;
}

Shape RandomComputation::WithRandomLayout(Shape shape) {
  Layout layout;
  for (int64_t d : RandomPermutation(shape.rank())) layout.minor_to_major.push_back(d);
  shape.SetLayout(layout);
  return shape;
}

std::string RandomComputation::Finish(const RandomValue& root, bool is_entry) {
  const std::string name = is_entry ? "main" : module_->NewComputationName();
  std::string text = absl::StrCat(is_entry ? "ENTRY " : "", name, " {\n");
  for (const std::string& line : lines_) {
    const bool is_root = absl::string_view(line).substr(0, line.find(' ')) == root.name;
    absl::StrAppend(&text, "  ", is_root ? "ROOT " : "", line, "\n");
  }
  absl::StrAppend(&module_->computations, text, "}\n\n");
  return name;
}

}  // namespace xla_indexing
