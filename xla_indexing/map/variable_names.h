// The names under which a map's variables are printed.
//
// A name is an identifier: a letter or `_`, then letters, digits, `_`, `$` and `.`; the words of
// the map syntax (`floordiv`, `ceildiv`, `mod`, `in`, `inf`, `domain`) are not names. Variables
// without a name have their default one, by kind and position: d0, s0, rt0.
//
// Names of one map are distinct when printed, whatever the map says: default names stand as they
// are; a custom name that another variable already has gets the first free suffix `_1`, `_2`, ...;
// a custom name that is no identifier is replaced by the default one.
//
// Example: composing two maps whose range variables are both called `k` prints `[k, k_1]`.

#ifndef XLA_INDEXING_MAP_VARIABLE_NAMES_H_
#define XLA_INDEXING_MAP_VARIABLE_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace xla_indexing {
class IndexingMap;
}  // namespace xla_indexing

namespace xla_indexing::internal {

struct VariableNames {
  std::vector<std::string> dims;
  std::vector<std::string> symbols;  // range variables, then runtime variables
};

enum class VariableKind { kDim, kRange, kRuntime };

// d<i>, s<i> or rt<i>.
std::string DefaultVariableName(VariableKind kind, size_t position);

bool IsReservedWord(absl::string_view text);
// Whether a name may go on with this byte; it begins with a letter or `_`.
bool IsVariableNameByte(char c);
bool IsVariableName(absl::string_view text);

VariableNames NamesOf(const IndexingMap& map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_VARIABLE_NAMES_H_
