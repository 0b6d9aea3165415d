#include "tests/reference/judge/made_indices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/random.h"
#include "xla_indexing/query/index_structure/index_structure.h"

namespace xla_indexing::reference {
namespace {

// Indices written by arithmetic on arrays of one shape, as programs write them.
class IndexProgram {
 public:
  IndexProgram(std::string type, std::vector<int64_t> sizes)
      : type_(std::move(type)), sizes_(std::move(sizes)) {}

  std::string Constant(int64_t value) {
    const std::string scalar = Add("", absl::StrCat("constant(", value, ")"));
    return Add(absl::StrJoin(sizes_, ","), absl::StrCat("broadcast(", scalar, "), dimensions={}"));
  }
  std::string Iota(int64_t dim) {
    return Add(absl::StrJoin(sizes_, ","), absl::StrCat("iota(), iota_dimension=", dim));
  }
  std::string Apply(const std::string& opcode, const std::vector<std::string>& operands) {
    return Add(absl::StrJoin(sizes_, ","),
               absl::StrCat(opcode, "(", absl::StrJoin(operands, ", "), ")"));
  }
  std::string Compare(const std::string& a, const std::string& b, const std::string& direction) {
    return AddOf("pred", absl::StrJoin(sizes_, ","),
                 absl::StrCat("compare(", a, ", ", b, "), direction=", direction));
  }
  std::string And(const std::string& a, const std::string& b) {
    return AddOf("pred", absl::StrJoin(sizes_, ","), absl::StrCat("and(", a, ", ", b, ")"));
  }
  // Adds up terms of iotas: `start`, and a step for each dimension.
  std::string Law(int64_t start, const std::vector<int64_t>& steps) {
    std::string sum = Constant(start);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] == 0) continue;
      const std::string term =
          Apply("multiply", {Iota(static_cast<int64_t>(i)), Constant(steps[i])});
      sum = Apply("add", {sum, term});
    }
    return sum;
  }
  std::string Add(const std::string& sizes, const std::string& call) {
    return AddOf(type_, sizes, call);
  }
  std::string AddOf(const std::string& type, const std::string& sizes, const std::string& call) {
    const std::string name = absl::StrCat("x", count_++);
    absl::StrAppend(&text_, "  ", name, " = ", type, "[", sizes, "] ", call, "\n");
    return name;
  }

  const std::string& type() const { return type_; }
  const std::string& text() const { return text_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  std::string type_;
  std::vector<int64_t> sizes_;
  std::string text_;
  int count_ = 0;
};

// Changes indices in [0, size - 1] by what leaves them as they are: what a program does with
// negative ones, clamps that never act, another type.
std::string Disguised(std::string index, int64_t size, Random* random, IndexProgram* text) {
  if (random->OneIn(3)) {
    index = text->Apply("clamp", {text->Constant(0), index, text->Constant(size - 1)});
  }
  if (random->OneIn(3)) {
    // As JAX writes indices that may count from the end, here all of them or none.
    const bool is_negative = text->type()[0] == 's' && random->OneIn(2);
    if (is_negative) index = text->Apply("subtract", {index, text->Constant(size)});
    const std::string below = text->Compare(index, text->Constant(0), "LT");
    const std::string wrapped = text->Apply("add", {index, text->Constant(size)});
    index = text->Apply("select", {below, wrapped, index});
  }
  return index;
}

// Single elements of a[sizes] at these indices, one for each dimension.
struct ElementwiseAccess {
  std::string indices;  // the name of the array of index vectors
  std::string numbers;  // without offset_dims and the like
};

ElementwiseAccess JoinIndices(const std::vector<std::string>& indices, bool is_gather,
                              Random* random, IndexProgram* text) {
  std::vector<int64_t> sizes = text->sizes();
  sizes.push_back(1);
  std::vector<std::string> vectors;
  for (const std::string& index : indices) {
    vectors.push_back(text->Add(absl::StrJoin(sizes, ","), absl::StrCat("reshape(", index, ")")));
  }
  sizes.back() = static_cast<int64_t>(indices.size());
  ElementwiseAccess access;
  access.indices = text->Add(absl::StrJoin(sizes, ","),
                             absl::StrCat("concatenate(", absl::StrJoin(vectors, ", "),
                                          "), dimensions={", sizes.size() - 1, "}"));
  if (random->OneIn(3)) {
    access.indices = text->AddOf("s64", absl::StrJoin(sizes, ","),
                                 absl::StrCat("convert(", access.indices, ")"));
  }
  std::vector<int> all(indices.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string dims = absl::StrJoin(all, ",");
  const std::string ones = absl::StrJoin(std::vector<int>(all.size(), 1), ",");
  access.numbers = is_gather ? absl::StrCat("offset_dims={}, collapsed_slice_dims={", dims,
                                            "}, start_index_map={", dims,
                                            "}, index_vector_dim=", sizes.size() - 1,
                                            ", slice_sizes={", ones, "}")
                             : absl::StrCat("update_window_dims={}, inserted_window_dims={", dims,
                                            "}, scatter_dims_to_operand_dims={", dims,
                                            "}, index_vector_dim=", sizes.size() - 1);
  return access;
}

std::string ModuleOf(const std::string& parameters, const IndexProgram& text,
                     const std::string& root) {
  return absl::StrCat(
      "HloModule m\nput { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }\n"
      "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"
      "max { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] maximum(b, a) }\n"
      "two { a = s32[] parameter(0) b = s32[] parameter(1) d = s32[] negate(b) ROOT c = s32[] "
      "add(a, d) }\n"
      "ENTRY e {\n",
      parameters, text.text(), "  ROOT r = ", root, "\n}\n");
}

std::string TypeOfIndices(Random* random) {
  static constexpr const char* kTypes[] = {"s8", "u8", "s16", "u16", "s32", "u32", "s64"};
  return random->Pick(kTypes);
}

std::string GatherOf(const std::string& result, const ElementwiseAccess& access) {
  return absl::StrCat("s32[", result, "] gather(p, ", access.indices, "), ", access.numbers);
}

MadeClass MakeStencil(Random* random) {
  // p[a * i + b * j + c], windows that overlap or have gaps.
  const int64_t rows = random->Between(2, 5);
  const int64_t window = random->Between(2, 4);
  int64_t a = random->Between(1, 3);
  int64_t b = random->Between(1, 3);
  int64_t c = random->Between(0, 2);
  const bool is_reversed = random->OneIn(3);
  const int64_t span = a * (rows - 1) + b * (window - 1);
  const int64_t size = c + span + 1 + random->Between(0, 2);
  if (is_reversed) {
    c += b * (window - 1);
    b = -b;
  }
  IndexProgram text(is_reversed ? "s32" : TypeOfIndices(random), {rows, window});
  const std::string index = Disguised(text.Law(c, {a, b}), size, random, &text);
  const ElementwiseAccess access = JoinIndices({index}, true, random, &text);
  MadeClass made;
  made.name = "stencil";
  made.contains = "stencil";
  made.forms = {IndexedForm::kStencil};
  made.stays = true;
  made.text = ModuleOf(absl::StrCat("  p = s32[", size, "] parameter(0)\n"), text,
                       GatherOf(absl::StrCat(rows, ",", window), access));
  // Indices of a type that these do not fit in are followed no further than to it.
  return made;
}

MadeClass MakeConcatenation(Random* random) {
  // One law before a cut, and another one from it on.
  const int64_t size = random->Between(8, 12);
  const int64_t first = random->Between(2, 4);
  const int64_t second = random->Between(2, 4);
  const int64_t step = random->Between(1, 2);
  const bool is_reversed = random->OneIn(2);
  const int64_t start = random->Between(0, size - 1 - step * (first - 1));
  int64_t next = random->Between(0, size - second);
  IndexProgram text("s32", {first + second});
  const std::string before = text.Law(start, {step});
  const int64_t slope = is_reversed ? -1 : 1;
  const int64_t from = is_reversed ? next + second - 1 : next;
  const bool continues = slope == step && from == start + step * first;
  const std::string after = text.Law(from - slope * first, {slope});
  const std::string is_before = text.Compare(text.Iota(0), text.Constant(first), "LT");
  std::string index = text.Apply("select", {is_before, before, after});
  index = Disguised(index, size, random, &text);
  const ElementwiseAccess access = JoinIndices({index}, true, random, &text);
  MadeClass made;
  made.name = "concatenation";
  made.contains = continues ? "" : "concatenation of 2";
  made.forms = {continues ? IndexedForm::kBox : IndexedForm::kConcatenation};
  made.text = ModuleOf(absl::StrCat("  p = s32[", size, "] parameter(0)\n"), text,
                       GatherOf(absl::StrCat(first + second), access));
  return made;
}

MadeClass MakeRotation(Random* random) {
  // All elements, turned around; two of them are reversed.
  const int64_t size = random->Between(3, 6);
  IndexProgram text(TypeOfIndices(random), {size});
  // (i + shift) mod size
  const int64_t shift = random->Between(1, size - 1);
  const std::string moved = text.Apply("add", {text.Iota(0), text.Constant(shift)});
  const std::string turned = text.Apply("remainder", {moved, text.Constant(size)});
  const std::string index = Disguised(turned, size, random, &text);
  const ElementwiseAccess access = JoinIndices({index}, true, random, &text);
  MadeClass made;
  made.name = "rotation";
  made.contains = "concatenation of 2";
  made.forms = {IndexedForm::kConcatenation};
  made.text = ModuleOf(absl::StrCat("  p = s32[", size, "] parameter(0)\n"), text,
                       GatherOf(absl::StrCat(size), access));
  return made;
}

MadeClass MakeTable(Random* random) {
  // A constant table of one arithmetic sequence after the other.
  const int64_t size = 12;
  std::vector<int64_t> values;
  for (int run = 0; run < 2; ++run) {
    const int64_t step = random->Between(1, 2);
    int64_t value = random->Between(0, 4);
    for (int64_t i = random->Between(2, 4); i > 0; --i, value += step) values.push_back(value);
  }
  MadeClass made;
  made.name = "table";
  made.contains = "";
  made.forms = {IndexedForm::kBox, IndexedForm::kConcatenation};
  IndexProgram text("s32", {static_cast<int64_t>(values.size())});
  const std::string index = text.Add(absl::StrCat(values.size()),
                                     absl::StrCat("constant({", absl::StrJoin(values, ", "), "})"));
  const ElementwiseAccess access = JoinIndices({index}, true, random, &text);
  made.text = ModuleOf(absl::StrCat("  p = s32[", size, "] parameter(0)\n"), text,
                       GatherOf(absl::StrCat(values.size()), access));
  return made;
}

MadeClass MakeScatter(Random* random) {
  // Steps of any size and sign, into a parameter or an array of one value.
  const auto rank = static_cast<int>(random->Between(1, 2));
  std::vector<int64_t> updates;
  std::vector<int64_t> sizes;
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;
  for (int i = 0; i < rank; ++i) {
    const int64_t count = random->Between(2, 4);
    const int64_t step = random->Between(1, 3);
    const int64_t start = random->Between(0, 2);
    const bool is_reversed = random->OneIn(3);
    sizes.push_back(start + step * (count - 1) + 1 + random->Between(0, 2));
    starts.push_back(is_reversed ? start + step * (count - 1) : start);
    steps.push_back(is_reversed ? -step : step);
    updates.push_back(count);
  }
  IndexProgram text(random->OneIn(2) ? "s32" : "s64", updates);
  std::vector<std::string> indices;
  const bool is_transposed = rank == 2 && random->OneIn(2);
  for (int i = 0; i < rank; ++i) {
    std::vector<int64_t> along(updates.size(), 0);
    along[is_transposed ? 1 - i : i] = steps[i];
    if (is_transposed) {
      // The counts are those of the other dimension.
      const int64_t count = updates[1 - i];
      const int64_t low = steps[i] < 0 ? starts[i] + steps[i] * (updates[i] - 1) : starts[i];
      const int64_t reach = (steps[i] < 0 ? -steps[i] : steps[i]) * (count - 1);
      sizes[i] = low + reach + 1;
      starts[i] = steps[i] < 0 ? low + reach : low;
    }
    indices.push_back(Disguised(text.Law(starts[i], along), sizes[i], random, &text));
  }
  const ElementwiseAccess access = JoinIndices(indices, false, random, &text);
  const std::string shape = absl::StrJoin(sizes, ",");
  const std::string combiner =
      std::vector<std::string>{"put", "add", "max", "two"}[random->Between(0, 3)];
  const bool is_pad = random->OneIn(3);
  std::string operand = "p";
  if (is_pad) operand = text.AddOf("s32", shape, "broadcast(f), dimensions={}");
  MadeClass made;
  made.name = combiner == "put" ? "update" : "accumulation";
  made.contains = is_pad              ? "pad"
                  : combiner == "put" ? "dynamic-update-slice"
                                      : "accumulation over disjoint windows";
  made.forms = {is_pad              ? IndexedForm::kPad
                : combiner == "put" ? IndexedForm::kUpdate
                                    : IndexedForm::kAccumulation};
  made.text = ModuleOf(
      absl::StrCat("  p = s32[", shape, "] parameter(0)\n  u = s32[", absl::StrJoin(updates, ","),
                   "] parameter(1)\n  f = s32[] parameter(2)\n"),
      text,
      absl::StrCat("s32[", shape, "] scatter(", operand, ", ", access.indices, ", u), ",
                   access.numbers, ", to_apply=", combiner));
  return made;
}

MadeClass MakeBatch(Random* random) {
  // Row b of the operand at step * i + start, with batching dimensions or an iota for them.
  const int64_t rows = random->Between(2, 4);
  const int64_t count = random->Between(2, 4);
  const int64_t step = random->Between(1, 2);
  const int64_t start = random->Between(0, 2);
  const int64_t size = start + step * (count - 1) + 1 + random->Between(0, 2);
  IndexProgram text(random->OneIn(2) ? "s32" : "s64", {rows, count});
  const std::string index = Disguised(text.Law(start, {0, step}), size, random, &text);
  const std::string shape = absl::StrCat(rows, ",", count);
  MadeClass made;
  made.name = "batch";
  made.contains = step > 1 ? "strided slice" : size == count ? "copy" : "slice";
  made.forms = {IndexedForm::kBox};
  const std::string parameters = absl::StrCat("  p = s32[", rows, ",", size, "] parameter(0)\n");
  if (random->OneIn(2)) {
    const ElementwiseAccess access = JoinIndices({text.Iota(0), index}, true, random, &text);
    made.text = ModuleOf(parameters, text, GatherOf(shape, access));
    return made;
  }
  made.text =
      ModuleOf(parameters, text,
               absl::StrCat("s32[", shape, "] gather(p, ", index,
                            "), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
                            "operand_batching_dims={0}, start_indices_batching_dims={0}, "
                            "index_vector_dim=2, slice_sizes={1,1}"));
  return made;
}

MadeClass MakeStart(Random* random) {
  // One start for all elements, as a slice of the operand.
  const int64_t size = random->Between(3, 8);
  const int64_t window = random->Between(1, size);
  const std::string type = TypeOfIndices(random);
  IndexProgram text(type, {2});
  MadeClass made;
  made.name = "dynamic-slice";
  made.contains = "dynamic-slice";
  made.is_in_bounds = false;
  made.forms = {IndexedForm::kDynamicSlice};
  if (window == size) {
    made.contains = "copy";
    made.is_in_bounds = false;
    made.forms = {IndexedForm::kBox};
  }
  made.text = ModuleOf(
      absl::StrCat("  p = s32[", size, ",3] parameter(0)\n  i = ", type, "[1] parameter(1)\n"),
      text,
      absl::StrCat("s32[", window,
                   ",3] gather(p, i), offset_dims={0,1}, collapsed_slice_dims={}, "
                   "start_index_map={0}, index_vector_dim=0, slice_sizes={",
                   window, ",3}"));
  return made;
}

}  // namespace

MadeAccess MakeAccess(uint64_t seed, bool is_scatter) {
  Random random(seed);
  MadeAccess made;
  made.is_scatter = is_scatter;
  const auto rank = static_cast<int>(random.Between(1, 3));
  std::vector<int64_t> sizes;
  std::vector<int64_t> starts;
  std::vector<int64_t> strides;
  std::vector<int64_t> counts;
  for (int i = 0; i < rank; ++i) {
    const int64_t stride = is_scatter ? 1 : random.Between(1, 3);
    const int64_t count = random.Between(2, 4);
    const int64_t slack = random.Between(0, 2);
    const int64_t size = (count - 1) * stride + 1 + slack;
    const int64_t low = random.Between(0, slack);
    const bool is_reversed = !is_scatter && random.OneIn(3);
    sizes.push_back(size);
    counts.push_back(count);
    strides.push_back(is_reversed ? -stride : stride);
    starts.push_back(is_reversed ? low + (count - 1) * stride : low);
    if (stride > 1) made.parts.insert("strided slice");
    if (is_reversed) made.parts.insert("reverse");
  }
  if (made.parts.count("strided slice") == 0 && counts != sizes) made.parts.insert("slice");
  // Which dimension of the operand runs along each dimension of the result; rank: none.
  std::vector<int> along(rank);
  std::iota(along.begin(), along.end(), 0);
  random.Shuffle(&along);
  if (!std::is_sorted(along.begin(), along.end())) made.parts.insert("transpose");
  bool is_diagonal = false;
  if (!is_scatter && rank > 1 && random.OneIn(5)) {
    // Two dimensions of the operand run along one of the result.
    is_diagonal = true;
    counts[along[1]] = counts[along[0]] = std::min(counts[along[0]], counts[along[1]]);
  }
  std::vector<int64_t> result;
  for (const int dim : along) result.push_back(counts[dim]);
  if (is_diagonal) result.erase(result.begin() + 1);
  if (!is_scatter && random.OneIn(4)) {
    result.push_back(random.Between(2, 3));
    made.parts.insert("broadcast");
  }
  if (is_diagonal) made.parts = {"diagonal"};

  std::string body;
  const std::string type = random.OneIn(2) ? "s32" : "s64";
  const std::string shape = absl::StrCat("[", absl::StrJoin(result, ","), "]");
  std::vector<std::string> components;
  std::vector<int64_t> with_one = result;
  with_one.push_back(1);
  const std::string vector_shape = absl::StrCat("[", absl::StrJoin(with_one, ","), "]");
  for (int k = 0; k < rank; ++k) {
    auto dim = std::find(along.begin(), along.end(), k) - along.begin();
    if (is_diagonal && dim > 0) --dim;
    absl::StrAppend(&body, "  i", k, " = ", type, shape, " iota(), iota_dimension=", dim, "\n");
    absl::StrAppend(&body, "  a", k, " = ", type, "[] constant(", strides[k], ")\n  b", k, " = ",
                    type, "[] constant(", starts[k], ")\n");
    absl::StrAppend(&body, "  aa", k, " = ", type, shape, " broadcast(a", k, "), dimensions={}\n");
    absl::StrAppend(&body, "  bb", k, " = ", type, shape, " broadcast(b", k, "), dimensions={}\n");
    absl::StrAppend(&body, "  m", k, " = ", type, shape, " multiply(i", k, ", aa", k, ")\n");
    absl::StrAppend(&body, "  s", k, " = ", type, shape, " add(m", k, ", bb", k, ")\n");
    absl::StrAppend(&body, "  v", k, " = ", type, vector_shape, " reshape(s", k, ")\n");
    components.push_back(absl::StrCat("v", k));
  }
  std::vector<int64_t> with_vector = result;
  with_vector.push_back(rank);
  absl::StrAppend(&body, "  indices = ", type, "[", absl::StrJoin(with_vector, ","),
                  "] concatenate(", absl::StrJoin(components, ", "), "), dimensions={",
                  result.size(), "}\n");
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const std::string dims = absl::StrJoin(all, ",");
  const std::string operand = absl::StrCat("s32[", absl::StrJoin(sizes, ","), "]");
  if (!is_scatter) {
    made.text = absl::StrCat(
        "HloModule m\nENTRY e {\n  p = ", operand, " parameter(0)\n", body, "  ROOT r = s32", shape,
        " gather(p, indices), offset_dims={}, collapsed_slice_dims={", dims, "}, start_index_map={",
        dims, "}, index_vector_dim=", result.size(), ", slice_sizes={",
        absl::StrJoin(std::vector<int>(rank, 1), ","), "}\n}\n");
    if (made.parts.empty()) made.parts = {"copy"};
    return made;
  }
  const bool replaces = random.OneIn(2);
  made.parts = {replaces ? "dynamic-update-slice" : "accumulation over disjoint windows"};
  made.text = absl::StrCat(
      "HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] ",
      replaces ? "add(b, z)" : "add(a, b)", " }\nENTRY e {\n  p = ", operand,
      " parameter(0)\n  u = s32", shape, " parameter(1)\n", body, "  ROOT r = ", operand,
      " scatter(p, indices, u), update_window_dims={}, inserted_window_dims={", dims,
      "}, scatter_dims_to_operand_dims={", dims, "}, index_vector_dim=", result.size(),
      ", to_apply=f\n}\n");
  if (replaces) {
    made.text.replace(made.text.find("ROOT c = s32[] add(b, z)"), 24, "");
    made.text.replace(made.text.find("b = s32[] parameter(1)"), 22, "ROOT b = s32[] parameter(1)");
  }
  return made;
}

MadeClass MakeClass(uint64_t seed) {
  using Maker = MadeClass (*)(Random*);
  static constexpr Maker kMakers[] = {MakeStencil, MakeConcatenation, MakeRotation, MakeTable,
                                      MakeScatter, MakeScatter,       MakeBatch,    MakeStart};
  Random random(seed);
  return kMakers[seed % std::size(kMakers)](&random);
}

}  // namespace xla_indexing::reference
