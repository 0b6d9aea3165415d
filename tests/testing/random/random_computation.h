// A computation of a random module while it is being written.

#ifndef XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_COMPUTATION_H_
#define XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_COMPUTATION_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// An instruction, as an operand of others.
struct RandomValue {
  std::string name;
  Shape shape;
};

// The text of a module: the computations that are finished; the devices that it is for; the opcodes
// of computations that are called, none: any.
struct RandomModuleText {
  std::string computations;
  int64_t computation_count = 0;
  int64_t replica_count = 1;
  int64_t partition_count = 1;
  absl::Span<const HloOpcode> called_opcodes;

  std::string NewComputationName();
};

class RandomComputation {
 public:
  // `reuse_percent`: how often an operand is an earlier instruction where one fits. `depth`: how
  // many computations are being written around this one.
  RandomComputation(RandomModuleText* module, Random* random, int64_t reuse_percent, int depth)
      : module_(module), random_(random), reuse_percent_(reuse_percent), depth_(depth) {}

  RandomModuleText* module() { return module_; }
  Random& random() { return *random_; }
  int64_t reuse_percent() const { return reuse_percent_; }
  int depth() const { return depth_; }
  // Whether all devices come to this computation together, so that it may have operations across
  // replicas.
  bool is_synchronous() const { return is_synchronous_; }
  void set_is_synchronous(bool value) { is_synchronous_ = value; }
  const std::vector<RandomValue>& values() const { return values_; }
  const std::vector<Shape>& parameters() const { return parameters_; }

  // --- Instructions ---------------------------------------------------------------------------

  // `name = shape opcode(operands)attributes`; attributes begin with `, ` where there are any.
  RandomValue Add(const Shape& shape, absl::string_view opcode,
                  absl::Span<const RandomValue> operands, absl::string_view attributes = "");
  RandomValue Add(const Shape& shape, absl::string_view opcode,
                  std::initializer_list<RandomValue> operands, absl::string_view attributes = "") {
    return Add(shape, opcode, absl::MakeConstSpan(operands.begin(), operands.size()), attributes);
  }
  // A constant (or tuple of such) once CloseParameters() has been called.
  RandomValue AddParameter(const Shape& shape);
  void CloseParameters() { is_closed_ = true; }
  // A constant of random integers or predicates.
  RandomValue AddConstant(const Shape& shape);
  // A scalar constant of this value.
  RandomValue AddConstant(const Shape& shape, int64_t value);

  // --- Operands -------------------------------------------------------------------------------

  // A value with a shape that fits: an earlier one, or a parameter of the shape that `make` makes.
  RandomValue Operand(absl::FunctionRef<bool(const Shape&)> fits, absl::FunctionRef<Shape()> make);
  // An array of some numbers or predicates.
  RandomValue ArrayOperand(int64_t min_rank = 0);
  // An array with elements of one of these types.
  RandomValue ArrayOperand(absl::Span<const ElementType> types);
  // A value of this shape; layouts are of no account.
  RandomValue OperandLike(const Shape& shape);
  // An array of integers: parameter, constant, iota, or arithmetic of such.
  RandomValue Integers(const Shape& shape, int max_depth = 2);

  // --- Random parts ---------------------------------------------------------------------------

  ElementType RandomType();
  ElementType RandomIntegerType();
  int64_t RandomSize();
  // Sizes with a product of at most `max_count` (or 1).
  DimensionVector RandomSizes(int64_t rank, int64_t max_count);
  // Sizes of that product.
  DimensionVector RandomSizesOf(int64_t count);
  Shape RandomArray(int64_t min_rank);
  // A tuple of arrays and tuples.
  Shape RandomTuple();
  std::vector<int64_t> RandomPermutation(int64_t size);
  // A subset of 0, .., size - 1 in increasing order.
  std::vector<int64_t> RandomSubset(int64_t size);
  // The shape with a random order of dimensions in memory.
  Shape WithRandomLayout(Shape shape);

  // Ends the computation; its name.
  std::string Finish(const RandomValue& root, bool is_entry);

 private:
  RandomValue AddConstants(const Shape& shape);
  RandomValue Arithmetic(const Shape& shape, int max_depth);
  RandomValue MovedIntegers(const Shape& shape, int max_depth);

  RandomModuleText* module_;
  Random* random_;
  int64_t reuse_percent_;
  int depth_;
  bool is_closed_ = false;
  bool is_synchronous_ = false;
  std::vector<RandomValue> values_;
  std::vector<std::string> lines_;
  std::vector<Shape> parameters_;
};

// `, name={1,2}`.
std::string ListAttribute(absl::string_view name, absl::Span<const int64_t> values);

int64_t ElementCountOf(absl::Span<const int64_t> sizes);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_COMPUTATION_H_
