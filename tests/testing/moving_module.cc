#include "tests/testing/moving_module.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/random.h"

namespace xla_indexing {
namespace {

class MovingModule {
 public:
  explicit MovingModule(uint64_t seed) : random_(seed) {}

  std::string Text() {
    const std::vector<Sizes> all = {{4},    {6},    {2, 3}, {3, 2},    {4, 1, 2}, {2, 2, 2},
                                    {1, 4}, {5, 1}, {8},    {1, 5, 1}, {1},       {}};
    sizes_ = random_.Pick(all);
    type_ = random_.Pick(std::vector<std::string>{"s32", "s32", "u8", "s16", "s4"});
    values_ = {{"p0", sizes_}, {"p1", sizes_}};
    const std::string layout = LayoutOf(sizes_);
    text_ = absl::StrCat("HloModule m\nassign { a = ", type_, "[] parameter(0) ROOT b = ", type_,
                         "[] parameter(1) }\nplus { a = ", type_, "[] parameter(0) b = ", type_,
                         "[] parameter(1) ROOT c = ", type_,
                         "[] add(a, b) }\nENTRY e {\n  p0 = ", Typed(sizes_), layout,
                         " parameter(0)\n");
    if (HasNarrow() && random_.OneIn(5)) {
      absl::StrAppend(&text_, "  q1 = ", Narrow(sizes_), " parameter(1)\n  p1 = ", Typed(sizes_),
                      " bitcast-convert(q1)\n");
    } else {
      absl::StrAppend(&text_, "  p1 = ", Typed(sizes_), " parameter(1)\n");
    }
    absl::StrAppend(&text_, "  start = s32[] parameter(2)\n  zero = s32[] constant(0)\n",
                    "  one = s32[] constant(1)\n  mask = pred[", absl::StrJoin(sizes_, ","),
                    "] parameter(3)\n  at = s32[2,1] parameter(4)\n");
    for (int64_t i = random_.Between(1, 6); i > 0; --i) Step();
    std::vector<std::string> roots = {Rooted()};
    if (random_.OneIn(6)) roots.push_back(Rooted());
    if (roots.size() == 1 && HasNarrow() && random_.OneIn(6)) {
      absl::StrAppend(&text_, "  ROOT r = ", Narrow(sizes_), " bitcast-convert(", roots[0],
                      ")\n}\n");
    } else if (roots.size() == 1) {
      // The root with a layout is a copy.
      const std::string of = LayoutOf(sizes_);
      absl::StrAppend(&text_, "  ROOT r = ", Typed(sizes_), of, " copy(", roots[0], ")\n}\n");
    } else {
      absl::StrAppend(&text_, "  ROOT r = (", Typed(sizes_), ", ", Typed(sizes_), ") tuple(",
                      absl::StrJoin(roots, ", "), ")\n}\n");
    }
    return text_;
  }

 private:
  using Sizes = std::vector<int64_t>;
  struct Named {
    std::string name;
    Sizes sizes;
  };

  static int64_t CountOf(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  std::string Typed(const Sizes& sizes) const {
    return absl::StrCat(type_, "[", absl::StrJoin(sizes, ","), "]");
  }
  // Elements of half the width, two for each.
  bool HasNarrow() const { return type_ == "s32" || type_ == "s16" || type_ == "u8"; }
  std::string Narrow(const Sizes& sizes) const {
    return absl::StrCat(type_ == "s32"   ? "s16"
                        : type_ == "s16" ? "u8"
                                         : "s4",
                        "[", absl::StrJoin(sizes, ","), sizes.empty() ? "" : ",", "2]");
  }
  std::string LayoutOf(const Sizes& sizes) {
    if (sizes.size() < 2 || !random_.OneIn(4)) return "";
    Sizes order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    random_.Shuffle(&order);
    return absl::StrCat("{", absl::StrJoin(order, ","), "}");
  }

  std::string Add(const Sizes& sizes, const std::string& operation) {
    const std::string name = absl::StrCat("v", values_.size());
    absl::StrAppend(&text_, "  ", name, " = ", Typed(sizes), " ", operation, "\n");
    values_.push_back({name, sizes});
    return name;
  }
  const Named& AnyOf(const Sizes& sizes) {
    std::vector<const Named*> fitting;
    for (const Named& value : values_) {
      if (value.sizes == sizes) fitting.push_back(&value);
    }
    return *random_.Pick(fitting);
  }
  // The latest of as many elements, in the sizes of the parameters.
  std::string Rooted() {
    std::vector<const Named*> fitting;
    for (const Named& value : values_) {
      if (CountOf(value.sizes) == CountOf(sizes_)) fitting.push_back(&value);
    }
    const Named value = random_.OneIn(3) ? *random_.Pick(fitting) : *fitting.back();
    if (value.sizes == sizes_) return value.name;
    return Add(sizes_, absl::StrCat("reshape(", value.name, ")"));
  }
  std::string Slices(const Sizes& from, const Sizes& count) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < from.size(); ++i) {
      parts.push_back(absl::StrCat("[", from[i], ":", from[i] + count[i], "]"));
    }
    return absl::StrJoin(parts, ", ");
  }
  std::string Starts(size_t rank) {
    std::vector<std::string> starts;
    for (size_t i = 0; i < rank; ++i) {
      starts.push_back(random_.Pick(std::vector<std::string>{"zero", "one", "one", "start"}));
    }
    return absl::StrJoin(starts, ", ");
  }
  Named Piece(const Named& of) {
    Sizes from;
    Sizes count;
    for (const int64_t size : of.sizes) {
      count.push_back(random_.Between(1, size));
      from.push_back(random_.Between(0, size - count.back()));
    }
    const std::string name =
        random_.OneIn(4)
            ? Add(count, absl::StrCat("dynamic-slice(", of.name, of.sizes.empty() ? "" : ", ",
                                      Starts(of.sizes.size()), "), dynamic_slice_sizes={",
                                      absl::StrJoin(count, ","), "}"))
            : Add(count, absl::StrCat("slice(", of.name, "), slice={", Slices(from, count), "}"));
    return {name, count};
  }

  void Step() {
    const Named a = values_[random_.Between(0, static_cast<int64_t>(values_.size()) - 1)];
    const auto rank = static_cast<int64_t>(a.sizes.size());
    const int64_t axis = rank == 0 ? -1 : random_.Between(0, rank - 1);
    switch (random_.Between(0, 13)) {
      case 0:
        Add(a.sizes, absl::StrCat("add(", a.name, ", ", AnyOf(a.sizes).name, ")"));
        return;
      case 1:
        Add(a.sizes, absl::StrCat("negate(", a.name, ")"));
        return;
      case 2:
        if (rank > 0) Add(a.sizes, absl::StrCat("reverse(", a.name, "), dimensions={", axis, "}"));
        return;
      case 3: {
        Sizes order(rank);
        std::iota(order.begin(), order.end(), 0);
        random_.Shuffle(&order);
        Sizes sizes;
        for (const int64_t i : order) sizes.push_back(a.sizes[i]);
        Add(sizes,
            absl::StrCat("transpose(", a.name, "), dimensions={", absl::StrJoin(order, ","), "}"));
        return;
      }
      case 4: {
        const int64_t count = CountOf(a.sizes);
        Sizes sizes = {count};
        if (count % 2 == 0) sizes = {2, count / 2};
        Add(sizes, absl::StrCat("reshape(", a.name, ")"));
        return;
      }
      case 5:
      case 6: {
        const Named piece = Piece(AnyOf(a.sizes));
        if (rank == 0) return;
        Add(a.sizes, absl::StrCat("dynamic-update-slice(", a.name, ", ", piece.name, ", ",
                                  Starts(a.sizes.size()), ")"));
        return;
      }
      case 7: {
        if (rank == 0 || a.sizes[axis] < 2) return;
        Sizes from(rank, 0);
        Sizes count = a.sizes;
        const int64_t cut = random_.Between(1, a.sizes[axis] - 1);
        from[axis] = cut;
        count[axis] -= cut;
        const std::string tail =
            Add(count, absl::StrCat("slice(", a.name, "), slice={", Slices(from, count), "}"));
        from[axis] = 0;
        count[axis] = cut;
        const std::string head = Add(count, absl::StrCat("slice(", AnyOf(a.sizes).name,
                                                         "), slice={", Slices(from, count), "}"));
        const bool is_swapped = random_.OneIn(2);
        Add(a.sizes, absl::StrCat("concatenate(", is_swapped ? tail : head, ", ",
                                  is_swapped ? head : tail, "), dimensions={", axis, "}"));
        return;
      }
      case 8: {
        if (rank == 0) return;
        const int64_t by = random_.Between(-1, 1);
        std::vector<std::string> padding(rank, "0_0");
        padding[axis] = absl::StrCat(by, "_", -by);
        const std::string value = absl::StrCat("c", values_.size());
        absl::StrAppend(&text_, "  ", value, " = ", type_, "[] constant(1)\n");
        Add(a.sizes,
            absl::StrCat("pad(", a.name, ", ", value, "), padding=", absl::StrJoin(padding, "x")));
        return;
      }
      case 9:
        if (a.sizes != sizes_) return;
        Add(a.sizes, absl::StrCat("select(mask, ", a.name, ", ", AnyOf(a.sizes).name, ")"));
        return;
      case 10: {
        // The halves of elements are exchanged, or whole elements are, as halves.
        if (!HasNarrow()) return;
        const std::string halves = absl::StrCat("h", values_.size());
        absl::StrAppend(&text_, "  ", halves, "a = ", Narrow(a.sizes), " bitcast-convert(", a.name,
                        ")\n  ", halves, "b = ", Narrow(a.sizes), " reverse(", halves,
                        "a), dimensions={", random_.Between(0, rank), "}\n");
        Add(a.sizes, absl::StrCat("bitcast-convert(", halves, random_.OneIn(3) ? "a" : "b", ")"));
        return;
      }
      case 11:
      case 12: {
        // Two rows are read, or written, where a parameter says.
        if (rank == 0 || a.sizes[0] < 2) return;
        Sizes rows = a.sizes;
        rows[0] = 2;
        Sizes slices = a.sizes;
        slices[0] = 1;
        std::string offsets;
        for (int64_t i = 1; i < rank; ++i) absl::StrAppend(&offsets, i == 1 ? "" : ",", i);
        if (random_.OneIn(2)) {
          const std::string read =
              Add(rows, absl::StrCat("gather(", a.name, ", at), offset_dims={", offsets,
                                     "}, collapsed_slice_dims={0}, start_index_map={0}, "
                                     "index_vector_dim=1, slice_sizes={",
                                     absl::StrJoin(slices, ","), "}"));
          Add(a.sizes, absl::StrCat("dynamic-update-slice(", AnyOf(a.sizes).name, ", ", read, ", ",
                                    Starts(a.sizes.size()), ")"));
          return;
        }
        Sizes from(rank, 0);
        from[0] = random_.Between(0, a.sizes[0] - 2);
        const std::string updates = Add(rows, absl::StrCat("slice(", AnyOf(a.sizes).name,
                                                           "), slice={", Slices(from, rows), "}"));
        Add(a.sizes,
            absl::StrCat("scatter(", a.name, ", at, ", updates, "), update_window_dims={", offsets,
                         "}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                         "index_vector_dim=1, to_apply=",
                         random_.OneIn(2) ? "plus" : "assign"));
        return;
      }
      default: {
        // Each element reads a row: the sum of a dimension, spread over it again.
        if (rank == 0 || a.sizes[axis] < 2) return;
        Sizes count = a.sizes;
        count[axis] = 1;
        Sizes from(rank, 0);
        from[axis] = random_.Between(0, a.sizes[axis] - 1);
        const std::string row =
            Add(count, absl::StrCat("slice(", a.name, "), slice={", Slices(from, count), "}"));
        Sizes dropped = count;
        dropped.erase(dropped.begin() + axis);
        const std::string flat = Add(dropped, absl::StrCat("reshape(", row, ")"));
        Sizes kept;
        for (int64_t i = 0; i < rank; ++i) {
          if (i != axis) kept.push_back(i);
        }
        Add(a.sizes,
            absl::StrCat("broadcast(", flat, "), dimensions={", absl::StrJoin(kept, ","), "}"));
        return;
      }
    }
  }

  Random random_;
  Sizes sizes_;
  std::string type_;
  std::vector<Named> values_;
  std::string text_;
};

}  // namespace

std::string MovingModuleText(uint64_t seed) { return MovingModule(seed).Text(); }

}  // namespace xla_indexing
