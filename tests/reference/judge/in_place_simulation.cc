#include "tests/reference/judge/in_place_simulation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/execute/copied_values.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/tiled_layout.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/in_place/in_place.h"

namespace xla_indexing::reference {
namespace {

std::vector<Bits> PlacesOf(const Shape& array) {
  std::vector<Bits> places;
  ForEachIndex(array.dimensions(), [&](const Index& index) {
    const int64_t begin =
        PositionOf(array, std::vector<int64_t>(index.begin(), index.end())) * WidthOf(array);
    places.push_back({begin, begin + WidthOf(array)});
  });
  return places;
}

}  // namespace

bool InPlaceTruth::AreInConflict(int64_t writer, int64_t reader) const {
  if (iteration[writer] == iteration[reader] || !changes[writer]) return false;
  return std::any_of(reads[reader].begin(), reads[reader].end(),
                     [&](int64_t r) { return operand[r].Meets(written[writer]); });
}
bool InPlaceTruth::HasOutsideConflict() const {
  for (size_t e = 0; e < written.size(); ++e) {
    for (const int64_t r : read_from_outside) {
      if (changes[e] && operand[r].Meets(written[e])) return true;
    }
  }
  return false;
}

bool InPlaceTruth::IsCorrupted(const std::vector<int64_t>& order) const {
  std::set<int64_t> overwritten;  // bits
  std::set<int64_t> done;
  for (const int64_t first : order) {
    if (!done.insert(iteration[first]).second) continue;
    std::vector<int64_t> together;
    for (size_t i = 0; i < iteration.size(); ++i) {
      if (iteration[i] == iteration[first]) together.push_back(static_cast<int64_t>(i));
    }
    for (const int64_t f : together) {
      for (const int64_t r : reads[f]) {
        const auto it = overwritten.lower_bound(operand[r].begin);
        if (it != overwritten.end() && *it < operand[r].end) return true;
      }
    }
    for (const int64_t e : together) {
      if (!changes[e]) continue;
      for (int64_t bit = written[e].begin; bit < written[e].end; ++bit) overwritten.insert(bit);
    }
  }
  return false;
}

absl::StatusOr<InPlaceTruth> InPlaceTruthOf(const HloComputation& computation,
                                            const Execution& execution,
                                            const Dependence& dependence,
                                            const SharedBuffer& buffer) {
  const auto copied = CopiesOfRoot(computation, execution);
  if (!copied.ok()) return copied.status();
  const Shape& root = computation.root_instruction()->shape();
  InPlaceTruth truth;
  truth.output = root.Leaf(buffer.output_leaf);
  const Shape& operand =
      computation.parameters()[buffer.operand.operand]->shape().Leaf(buffer.operand.operand_leaf);
  truth.written = PlacesOf(truth.output);
  truth.operand_shape = operand;
  truth.operand = PlacesOf(operand);
  truth.reads.resize(truth.written.size());
  for (size_t e = 0; e < truth.written.size(); ++e) {
    bool is_left = true;
    const auto parts = static_cast<size_t>(PartsOf(truth.output));
    for (size_t k = 0; k < parts; ++k) {
      const Copied& from = (*copied)[buffer.output_leaf][e * parts + k];
      is_left &= from.parameter == buffer.operand.operand &&
                 from.leaf == buffer.operand.operand_leaf &&
                 truth.operand[from.element].begin + from.part * kPartBits ==
                     truth.written[e].begin + static_cast<int64_t>(k) * kPartBits;
    }
    truth.changes.push_back(!is_left);
    const int64_t width = truth.written[e].end - truth.written[e].begin;
    truth.iteration.push_back(width < 8 ? truth.written[e].begin / 8 : static_cast<int64_t>(e));
  }
  for (const auto& [pair, relation] : dependence) {
    if (pair.operand != buffer.operand.operand ||
        pair.operand_leaf != buffer.operand.operand_leaf) {
      continue;
    }
    const bool is_inside = SameDimensions(root.Leaf(pair.output_leaf), truth.output);
    for (const auto& [to, from] : relation) {
      if (is_inside) {
        truth.reads[to].push_back(from);
      } else {
        truth.read_from_outside.insert(from);
      }
    }
  }
  return truth;
}

std::vector<int64_t> ElementsIn(const LoopOrder& loops, const Shape& array) {
  std::vector<std::pair<std::vector<int64_t>, int64_t>> keyed;
  int64_t position = 0;
  ForEachIndex(array.dimensions(), [&](const Index& index) {
    std::vector<int64_t> key;
    for (const DirectedLoop& loop : loops) {
      key.push_back(loop.is_descending ? -index[loop.dimension] : index[loop.dimension]);
    }
    keyed.emplace_back(std::move(key), position++);
  });
  std::sort(keyed.begin(), keyed.end());
  std::vector<int64_t> order;
  for (const auto& [key, element] : keyed) order.push_back(element);
  return order;
}

std::vector<LoopOrder> OrdersThatBeginWith(const LoopOrder& begin, int64_t rank, Random* random) {
  std::vector<LoopOrder> orders;
  std::vector<int> rest;
  for (int i = 0; i < rank; ++i) {
    if (std::none_of(begin.begin(), begin.end(), [&](auto& l) { return l.dimension == i; })) {
      rest.push_back(i);
    }
  }
  do {
    for (int signs = 0; signs < (1 << rest.size()); ++signs) {
      LoopOrder order = begin;
      for (size_t i = 0; i < rest.size(); ++i) order.push_back({rest[i], (signs >> i & 1) != 0});
      orders.push_back(std::move(order));
    }
  } while (std::next_permutation(rest.begin(), rest.end()));
  // All of up to three dimensions, and some of more.
  constexpr size_t kMost = 48;
  if (orders.size() > kMost) {
    random->Shuffle(&orders);
    orders.resize(kMost);
  }
  return orders;
}

}  // namespace xla_indexing::reference
