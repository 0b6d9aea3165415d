// The cost of all requests of a launch, without making them all.
//
// Mathematics. The bit address of an access is an expression A(inner, outer)
// (gpu/requests/access_program.h): inner variables run over the lanes of a warp and the elements of a
// vector, and their values together are one request; each value of the outer ones (blocks, warps,
// loops) is another. A point counts where all constraints hold. What a request costs depends on how
// its lanes lie to one another, and on where the first begins modulo the meter's modulus M, a power
// of two. So requests are enumerated, variable by variable, and one of those that are alike is
// evaluated, lane by lane (gpu/requests/request_lanes.h):
//
//   - A constraint that holds for every value of its variables is dropped; one that holds for none
//     leaves nothing. One that is linear in an outer variable splits its values into those for
//     which it holds, those for which it does not and the few between; one with the variable in a
//     division is bisected.
//   - A variable in divisions is enumerated up to its *period*: A(v + P) = A(v) + c is read off the
//     form, for the least such P. With n = M / gcd(M, c), values that are equal modulo n*P cost the
//     same: n*P of them are looked at, each with the number of values that are equal to it.
//   - The last of these variables goes by *stretches* (gpu/requests/stretch.h), between two carries
//     of a division: along one, lanes lie alike, and are moved by the same number of bits each
//     time. So the work grows with rows and not with warps.
//   - A variable that is only added, k*v, moves all lanes alike. How often they are moved by each
//     number of bits modulo M is counted for all such variables, and the stretch, at once
//     (gpu/requests/shift_counts.h).
//
// So a row-major loop, or a transpose whose sizes divide one another, needs one warp, measured at a
// few residues, however large it is. Costs are kept by how lanes lie and where they begin
// (gpu/requests/request_costs.h): what comes again is not measured again.
//
// The worst request is the first that has the greatest cost relative to its least one, in the order
// in which requests are looked at.
//
// Example, the transpose of f32[37,40]: output rows are 37 elements, and element e is read from the
// address 32 * (40 * (e mod 37) + e floordiv 37), with e = 32*w + lane. After 37 warps, 32 rows, A
// has changed by 1024 bits, a line: 37 of the 47 warps are looked at. A warp has the end of a row
// within it, or lies in one row.
//
// Unknown values are of two kinds. *Launch* variables have one value for the whole launch (the
// start of a dynamic-slice, the base address below its alignment): least and most are taken over
// their values, each summed over a whole launch. *Free* ones may have another value for every
// request, or for every lane (the indices of a gather): least and most are summed over requests,
// each with its cheapest and its dearest values. Lanes with equal keys have equal free values.
//
// Budget. Looking at a part of the launch, or at a stretch, takes 8 steps; evaluating and sorting
// the lanes of a warp takes 4, and more for vectors; measuring a run of bits takes one. When none
// are left, the rest counts with its bounds.
#ifndef XLA_INDEXING_GPU_REQUESTS_COUNT_REQUESTS_H_
#define XLA_INDEXING_GPU_REQUESTS_COUNT_REQUESTS_H_

#include <cstdint>

#include "xla_indexing/gpu/requests/launch_variables.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/gpu/requests/request_totals.h"

namespace xla_indexing::internal {

RequestTotals CountRequests(LaunchAccess access, const RequestMeter& meter, int64_t max_steps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_COUNT_REQUESTS_H_
