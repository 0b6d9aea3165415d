#include "xla_indexing/query/in_place/matching.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace xla_indexing::internal {

// Each left thing in turn is paired, where need be by moving others along a path.
std::vector<int> MaximumMatching(const std::vector<std::vector<int>>& edges, int num_right) {
  std::vector<int> left_of(num_right, -1);
  for (size_t left = 0; left < edges.size(); ++left) {
    std::vector<bool> is_seen(num_right, false);
    const std::function<bool(int)> enlarge = [&](int from) {
      for (const int right : edges[from]) {
        if (is_seen[right]) continue;
        is_seen[right] = true;
        if (left_of[right] < 0 || enlarge(left_of[right])) {
          left_of[right] = from;
          return true;
        }
      }
      return false;
    };
    enlarge(static_cast<int>(left));
  }
  std::vector<int> right_of(edges.size(), -1);
  for (int right = 0; right < num_right; ++right) {
    if (left_of[right] >= 0) right_of[left_of[right]] = right;
  }
  return right_of;
}

}  // namespace xla_indexing::internal
