// The cost of all requests of a launch, without making them all.
//
// Mathematics. The bit address of an access is a form A(inner, outer)
// (gpu/internal/access_forms.h): inner variables run over the lanes of a warp and the elements of a
// vector, and their values together are one request; each value of the outer ones (blocks, warps,
// loops) is another. A point counts where all constraints hold. The sum of the costs of all
// requests is found as follows, each step exact:
//
//   - A constraint that holds for every value of its variables is dropped; one that holds for none
//     leaves nothing. One that is linear in an outer variable splits its values into those for
//     which it holds, those for which it does not and the few between; one with the variable in a
//     division is bisected.
//   - A(v + P) = A(v) + c is read off the form, for the least such P. Where c is a multiple of the
//     meter's modulus and the constraints do not change, values of v that are equal modulo P cost
//     the same: P of them are counted, each with the number of values that are equal to it.
//   - The values of the last outer variable in divisions are counted by classes
//     (gpu/internal/lane_classes.h): those whose lanes carry at the same places, from the same
//     residue of the modulus on, cost the same. Values without a carry in between are one step, so
//     that the work grows with rows and not with warps, and with those of one period
//     (gpu/internal/value_periods.h, gpu/internal/class_costs.h), whatever c is.
//   - An outer variable that is only added, k*v, moves all lanes alike. How often each residue of
//     the sum of such variables comes up is a convolution; the lanes are measured once for each
//     residue.
//
// So a row-major loop, or a transpose whose sizes divide one another, needs the measurement of one
// warp at a few residues, however large it is.
//
// Unknown values are of two kinds. *Launch* variables have one value for the whole launch (the
// start of a dynamic-slice, the base address below its alignment): least and most are taken over
// their values, each summed over a whole launch. *Free* ones may have another value for every
// request, or for every lane (the indices of a gather): least and most are summed over requests,
// each with its cheapest and its dearest values. Lanes with equal keys have equal free values.
//
// Budget. Measuring a lane takes one step; looking at a part of the launch, or at a place of its
// classes, takes 8. When none are left, the rest counts with its bounds.
#ifndef XLA_INDEXING_GPU_INTERNAL_COUNT_REQUESTS_H_
#define XLA_INDEXING_GPU_INTERNAL_COUNT_REQUESTS_H_

#include <cstdint>

#include "xla_indexing/gpu/internal/launch_variables.h"
#include "xla_indexing/gpu/internal/request_meter.h"
#include "xla_indexing/gpu/internal/request_totals.h"

namespace xla_indexing::internal {

RequestTotals CountRequests(LaunchAccess access, const RequestMeter& meter, int64_t max_steps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_COUNT_REQUESTS_H_
