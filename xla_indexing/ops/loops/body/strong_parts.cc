#include "xla_indexing/ops/loops/body/strong_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace xla_indexing::internal {

std::vector<std::vector<int>> StrongParts(
    int count, llvm::function_ref<const std::vector<int>&(int node)> next) {
  std::vector<int> number(count, -1);
  std::vector<int> least(count, 0);
  std::vector<bool> is_open(count, false);
  std::vector<int> open;
  struct Visit {
    int node;
    size_t next = 0;
  };
  // A stack, since graphs are as deep as they are large.
  std::vector<Visit> visits;
  std::vector<std::vector<int>> parts;
  int numbered = 0;
  const auto begin = [&](int node) {
    number[node] = least[node] = numbered++;
    open.push_back(node);
    is_open[node] = true;
    visits.push_back({node});
  };
  for (int root = 0; root < count; ++root) {
    if (number[root] < 0) begin(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const int node = visit.node;
      const std::vector<int>& nexts = next(node);
      if (visit.next < nexts.size()) {
        const int to = nexts[visit.next++];
        if (number[to] < 0) {
          begin(to);
        } else if (is_open[to]) {
          least[node] = std::min(least[node], number[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        least[visits.back().node] = std::min(least[visits.back().node], least[node]);
      }
      if (least[node] != number[node]) continue;
      std::vector<int> part;
      int member = -1;
      do {
        member = open.back();
        open.pop_back();
        is_open[member] = false;
        part.push_back(member);
      } while (member != node);
      std::sort(part.begin(), part.end());
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace xla_indexing::internal
