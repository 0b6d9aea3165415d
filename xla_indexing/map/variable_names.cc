#include "xla_indexing/map/variable_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

absl::string_view CustomName(const Variable& variable) {
  const llvm::StringRef name = variable.name.text();
  return absl::string_view(name.data(), name.size());
}

bool HasUsableName(const Variable& variable) { return IsVariableName(CustomName(variable)); }

// The default names, and empty strings where a custom name is to be put.
void AppendDefaults(llvm::ArrayRef<Variable> variables, VariableKind kind,
                    std::vector<std::string>* names) {
  for (size_t i = 0; i < variables.size(); ++i) {
    names->push_back(HasUsableName(variables[i]) ? std::string() : DefaultVariableName(kind, i));
  }
}

class Uniquifier {
 public:
  void Take(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!name.empty()) taken_.insert(name);
    }
  }

  std::string FreeNameFor(absl::string_view wanted) {
    std::string name(wanted);
    // The suffix last given to this name is remembered: many variables of one name cost no search.
    for (int& suffix = last_suffix_[wanted]; !taken_.insert(name).second;) {
      name = absl::StrCat(wanted, "_", ++suffix);
    }
    return name;
  }

 private:
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> last_suffix_;
};

}  // namespace

std::string DefaultVariableName(VariableKind kind, size_t position) {
  switch (kind) {
    case VariableKind::kDim:
      return absl::StrCat("d", position);
    case VariableKind::kRange:
      return absl::StrCat("s", position);
    case VariableKind::kRuntime:
      return absl::StrCat("rt", position);
  }
  return {};
}

bool IsReservedWord(absl::string_view text) {
  constexpr std::array<absl::string_view, 6> kWords = {"floordiv", "ceildiv", "mod",
                                                       "in",       "inf",     "domain"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

bool IsVariableNameByte(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.';
}

bool IsVariableName(absl::string_view text) {
  if (text.empty() || !(absl::ascii_isalpha(text[0]) || text[0] == '_')) return false;
  return std::all_of(text.begin(), text.end(), IsVariableNameByte) && !IsReservedWord(text);
}

VariableNames NamesOf(const IndexingMap& map) {
  VariableNames names;
  AppendDefaults(map.dims(), VariableKind::kDim, &names.dims);
  AppendDefaults(map.ranges(), VariableKind::kRange, &names.symbols);
  AppendDefaults(map.runtimes(), VariableKind::kRuntime, &names.symbols);
  const auto is_empty = [](const std::string& name) { return name.empty(); };
  if (std::none_of(names.dims.begin(), names.dims.end(), is_empty) &&
      std::none_of(names.symbols.begin(), names.symbols.end(), is_empty)) {
    return names;
  }

  Uniquifier uniquifier;
  uniquifier.Take(names.dims);
  uniquifier.Take(names.symbols);
  for (size_t i = 0; i < names.dims.size(); ++i) {
    if (names.dims[i].empty()) names.dims[i] = uniquifier.FreeNameFor(CustomName(map.dims()[i]));
  }
  for (size_t i = 0; i < names.symbols.size(); ++i) {
    if (!names.symbols[i].empty()) continue;
    names.symbols[i] = uniquifier.FreeNameFor(CustomName(map.symbol(static_cast<int>(i))));
  }
  return names;
}

}  // namespace xla_indexing::internal
