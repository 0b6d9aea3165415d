// Elements one by one: an integer, a predicate or a float, and what elementwise operations make of them.
//
// Integers wrap as their type says. Floats are those of IEEE 754, rounded once for each operation, to
// nearest, ties to even. What may differ from machine to machine is not known: division by the integer 0,
// functions like sine but at the points where their value is exact, and converting what does not fit.
//
// Example: add(127, 1) of s8 is -128; exponential(-infinity) of f32 is 0.
//
// Source: the operations of XLA's semantics; IEEE 754-2019.
#ifndef XLA_INDEXING_OPS_VALUES_CASES_NUMBERS_H_
#define XLA_INDEXING_OPS_VALUES_CASES_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// A float; or an integer or predicate, zero-extended if its type is unsigned.
using Number = std::variant<llvm::APFloat, int64_t>;

// Whether it is an array of integers, predicates or floats, with at most as many elements.
bool MayBeKnown(const Shape& shape, int64_t max_elements);

// Whether numbers of this type are floats: f16, bf16, f32 and f64.
bool HoldsFloats(ElementType type);

// An integer as a float of this type.
llvm::APFloat FloatOf(int64_t value, ElementType type);
// An element of a literal of floats, by its position in row-major order.
llvm::APFloat FloatAt(const Literal& literal, int64_t position);

// An element of a literal; nothing for types that are not followed, and values of u64 from 2^63 on.
std::optional<Number> NumberAt(const Literal& literal, int64_t position);
// Sets an element of a literal, whose type is the number's.
void SetNumber(Literal* literal, int64_t position, const Number& number);

// Whether all machines have it: a subnormal float is zero on some.
bool IsPortable(const Number& number);
// Whether they are the same, bit for bit.
bool IsSame(const Number& a, const Number& b);

// The elementwise operation on numbers of its operands' types; nullopt if it is not known.
std::optional<Number> ApplyToNumbers(const HloInstruction& instruction,
                                     llvm::ArrayRef<Number> numbers);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_NUMBERS_H_
