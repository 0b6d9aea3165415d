// Checks that answers to questions about maps are true at the points of the maps (map_fuzz.cc).
#ifndef TESTS_FUZZ_CHECK_MAP_ANSWERS_H_
#define TESTS_FUZZ_CHECK_MAP_ANSWERS_H_

#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/sampled_map.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::fuzz {

// Is the domain empty, is the simplified map the same, is the map one-to-one?
void CheckDecisions(const SampledMap& subject, const IndexingMap& simplified);

// Is the image a box, and is the map a bijection onto one?
void CheckImage(const SampledMap& subject);

// How many points, results and pairs are there?
void CheckCounts(const SampledMap& subject);

// Does the inverse lead back, and from nowhere else?
void CheckInverse(const SampledMap& subject, Random& random, mlir::MLIRContext* context);

// Are two maps the same, or is one a part of the other?
void CheckPair(const SampledMap& a, const SampledMap& b);

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_CHECK_MAP_ANSWERS_H_
