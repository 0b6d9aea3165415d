#include "xla_indexing/tiling/kernel/tiling_space.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {
namespace {

std::string NamesOf(absl::Span<const TilingDimension> dims) {
  return absl::StrJoin(dims, ", ", [](std::string* out, const TilingDimension& dim) {
    absl::StrAppend(out, dim.name);
  });
}

std::string SizeText(int64_t size) {
  return size == internal::kInt64Max ? "without bound" : absl::StrCat("size ", size);
}

}  // namespace

absl::string_view NameOf(TilingDimension::Kind kind) {
  switch (kind) {
    case TilingDimension::Kind::kParallel:
      return "parallel";
    case TilingDimension::Kind::kSequential:
      return "sequential";
    case TilingDimension::Kind::kRuntime:
      return "runtime";
  }
  return "";
}

std::vector<int64_t> TilingSpace::DimSizes() const {
  std::vector<int64_t> sizes;
  sizes.reserve(dims_.size());
  for (const TilingDimension& dim : dims_) sizes.push_back(dim.size);
  return sizes;
}

absl::StatusOr<std::vector<int64_t>> TilingSpace::ParseSizes(absl::string_view text) const {
  std::vector<std::optional<int64_t>> given(dims_.size());
  size_t position = 0;
  for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    const bool is_named = item.find('=') != absl::string_view::npos;
    const absl::string_view name = absl::StripAsciiWhitespace(is_named ? parts.first : "");
    const absl::string_view number = absl::StripAsciiWhitespace(is_named ? parts.second : item);
    int64_t size = 0;
    if (!absl::SimpleAtoi(number, &size) || size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("tile size '", number, "' is not a number that is at least 1"));
    }
    size_t dim = position++;
    if (is_named) {
      // k0 is the name of the only sequential dimension too.
      dim = std::find_if(dims_.begin(), dims_.end(),
                         [&](const TilingDimension& d) {
                           return d.name == name || (d.name == "k" && name == "k0");
                         }) -
            dims_.begin();
      if (dim == dims_.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("there is no dimension '", name, "' to tile; there are ", NamesOf(dims_)));
      }
    }
    if (dim >= dims_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "more than ", dims_.size(), " tile sizes; the dimensions are ", NamesOf(dims_)));
    }
    if (given[dim]) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tile size of ", dims_[dim].name, " is given twice"));
    }
    given[dim] = size;
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (!given[i] && IsParallel(static_cast<int>(i))) {
      return absl::InvalidArgumentError(absl::StrCat("no tile size for ", dims_[i].name,
                                                     "; the dimensions are ", NamesOf(dims_)));
    }
    sizes.push_back(given[i].value_or(std::max<int64_t>(dims_[i].size, 1)));
  }
  return sizes;
}

std::string TilingSpace::ToString() const {
  std::string text;
  for (const TilingDimension& dim : dims_) {
    const bool is_parallel = dim.kind == TilingDimension::Kind::kParallel;
    absl::StrAppend(&text, dim.name, ": ", NameOf(dim.kind), ", ", SizeText(dim.size), ", ",
                    is_parallel ? "dimension " : "loop ", dim.position, " of ", dim.owner_name,
                    is_parallel && dim.is_of_tuple ? absl::StrCat("#", dim.leaf) : "");
    for (size_t i = 0; i < dim.joined.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? ", in one pass with " : ", ", dim.joined[i].owner_name);
    }
    text.push_back('\n');
  }
  for (const TilingDimension& dim : runtimes_) {
    absl::StrAppend(&text, dim.name, ": ", NameOf(dim.kind), ", ", SizeText(dim.size), ", read of ",
                    dim.owner_name, "\n");
  }
  return text;
}

}  // namespace xla_indexing
