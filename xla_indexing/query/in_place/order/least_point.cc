#include "xla_indexing/query/in_place/order/least_point.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/sets/domain.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

std::optional<llvm::SmallVector<int64_t, 8>> LeastPointOf(const IndexingMap& domain,
                                                          StepBudget* budget) {
  IndexingMap map = DomainOf(domain);
  llvm::SmallVector<int64_t, 8> point;
  const int count = map.num_dims() + map.num_symbols();
  for (int i = 0; i < count; ++i) {
    const bool is_dim = i < map.num_dims();
    const int symbol = i - map.num_dims();
    const AffineExpr variable = is_dim ? mlir::getAffineDimExpr(i, map.context())
                                       : mlir::getAffineSymbolExpr(symbol, map.context());
    const Interval bounds = is_dim ? map.dims()[i].bounds : map.symbol(symbol).bounds;
    if (bounds.IsEmpty()) return std::nullopt;
    int64_t low = bounds.has_lower() ? bounds.lower() : bounds.Contains(0) ? 0 : bounds.upper();
    int64_t high = bounds.has_upper() ? bounds.upper() : low;
    // Most often the least value will do.
    if (low < high &&
        HasIntegerPointWith(map, variable, Interval::Point(low), budget) != Answer::kYes) {
      ++low;
      while (low < high) {
        const auto middle = static_cast<int64_t>(low + (Int128{high} - low) / 2);
        const Answer below =
            HasIntegerPointWith(map, variable, Interval::Closed(low, middle), budget);
        if (below == Answer::kUndecided) return std::nullopt;
        (below == Answer::kYes ? high : low) = below == Answer::kYes ? middle : middle + 1;
      }
    }
    map.AddConstraint(kPartsFit, variable, Interval::Point(low));
    point.push_back(low);
  }
  const llvm::ArrayRef<int64_t> all = point;
  const auto num_dims = static_cast<size_t>(domain.num_dims());
  const absl::StatusOr<bool> is_inside =
      domain.Contains(all.take_front(num_dims), all.drop_front(num_dims));
  if (!is_inside.ok() || !*is_inside) return std::nullopt;
  return point;
}

}  // namespace xla_indexing::internal
