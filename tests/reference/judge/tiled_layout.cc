#include "tests/reference/judge/tiled_layout.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::reference {
namespace {

using Numbers = std::vector<int64_t>;

// An element's index and the sizes that it is in, the most major first.
struct Place {
  Numbers e;
  Numbers d;
};

Place WithTile(Place place, Numbers t) {
  while (place.d.size() < t.size()) {
    place.e.insert(place.e.begin(), 0);
    place.d.insert(place.d.begin(), 1);
  }
  for (size_t i = 0; i < t.size();) {
    if (t[i] != Tile::kCombineDimension) {
      ++i;
      continue;
    }
    const size_t at = place.d.size() - t.size() + i;
    place.e[at + 1] += place.e[at] * place.d[at + 1];
    place.d[at + 1] *= place.d[at];
    place.e.erase(place.e.begin() + static_cast<int64_t>(at));
    place.d.erase(place.d.begin() + static_cast<int64_t>(at));
    t.erase(t.begin() + static_cast<int64_t>(i));
  }
  const size_t first = place.d.size() - t.size();
  Place result = place;
  for (size_t i = 0; i < t.size(); ++i) {
    result.e[first + i] = place.e[first + i] / t[i];
    result.d[first + i] = (place.d[first + i] + t[i] - 1) / t[i];
  }
  for (size_t i = 0; i < t.size(); ++i) {
    result.e.push_back(place.e[first + i] % t[i]);
    result.d.push_back(t[i]);
  }
  return result;
}

Place PlaceOf(const Shape& array, const Numbers& index) {
  const Layout layout = array.LayoutOrRowMajor();
  Place place;
  for (size_t i = layout.minor_to_major.size(); i-- > 0;) {
    place.e.push_back(index[layout.minor_to_major[i]]);
    place.d.push_back(array.dimension(layout.minor_to_major[i]));
  }
  for (const Tile& tile : layout.tiles) {
    place = WithTile(place, Numbers(tile.dimensions.begin(), tile.dimensions.end()));
  }
  return place;
}

}  // namespace

int64_t WidthOf(const Shape& array) {
  if (array.has_layout() && array.layout()->element_size_in_bits > 0) {
    return array.layout()->element_size_in_bits;
  }
  return array.element_type() == ElementType::kPred ? 8 : BitWidth(array.element_type());
}

int64_t PositionOf(const Shape& array, const std::vector<int64_t>& index) {
  const Place place = PlaceOf(array, index);
  int64_t position = 0;
  for (size_t i = 0; i < place.d.size(); ++i) position = position * place.d[i] + place.e[i];
  return position;
}

int64_t NumPositions(const Shape& array) {
  int64_t positions = 1;
  for (const int64_t size : PlaceOf(array, Numbers(array.rank(), 0)).d) positions *= size;
  return positions;
}

}  // namespace xla_indexing::reference
