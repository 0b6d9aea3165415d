// What maps map to where the arrays that their runtime variables are read from have given contents.
//
// An array of `contents` stands under what yields it, as the line of the runtime variable says:
// `row`, `call/computation/start`, `w/body/c`, `w, iterations`. What the body of a loop computes
// has one dimension more, in front, for the iterations, and one more for each loop around it.
//
// Mathematics. At a point (d, s), a row of indices and values of the range variables, runtime
// variable i is value_i(contents_i[element_i(d, s, rt_0 .. rt_(i-1))]). Variables are looked up in
// order, at points that are in the domain as far as the variables before say: what a loop computes
// in an iteration that it does not run is not looked at.
#ifndef PYTHON_SRC_CONTENTS_H_
#define PYTHON_SRC_CONTENTS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "python/src/arrays.h"
#include "python/src/common.h"

namespace xla_indexing::python {

inline constexpr int64_t kMaxPointsRead = int64_t{1} << 28;

// What a runtime variable of a map is read from, the key of `contents`.
std::string SourceOf(const OperandMap& map, int variable);

// The distinct pairs (number of the row of indices, element) that some of the maps, of one entry, has,
// sorted. Error for indices that are not those of elements of the array that the maps start from.
nb::typed<nb::tuple, Vector, Matrix> ReadsWithContents(const Entry& entry,
                                                       absl::Span<const OperandMap> maps,
                                                       nb::handle indices, const nb::dict& contents,
                                                       int64_t max_points);

// The arrays that runtime variables of the maps are read from, by their source, as far as they are computed from
// these: one for each parameter, integers of its shape, or None.
nb::dict ContentsFromArguments(const Entry& entry, absl::Span<const OperandMap> maps,
                               const nb::list& arguments);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_CONTENTS_H_
