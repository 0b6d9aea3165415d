// Maps as Python has them.
#ifndef PYTHON_SRC_INDEXING_MAP_H_
#define PYTHON_SRC_INDEXING_MAP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "python/src/common.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::python {

// The map that a text spells, in a context of its own.
Map ParseMap(absl::string_view text);

// A map in another context: it is taken there as text, which says all of it.
IndexingMap InContext(const Map& map, const SharedContext& context);

std::string TextOf(const Map& map);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_INDEXING_MAP_H_
