// Whether outputs may overwrite operands, against simulations of every order on a buffer whose bits
// remember whether they still hold the operand.
#include "xla_indexing/query/in_place.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/dependence.h"
#include "tests/reference/devices.h"
#include "tests/reference/execute.h"
#include "tests/reference/tiled_layout.h"
#include "tests/reference/value.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "tests/testing/random_hlo.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing::reference {
namespace {

// --- Random modules in which much is moved within arrays of one size ---

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

// --- Which element of a parameter a value is a copy of ---

// A bit of a value.
struct Copied {
  int64_t parameter = -1;  // -1: it is computed
  int64_t leaf = 0;
  int64_t element = 0;
  int64_t part = 0;  // bits from the beginning of the element

  friend bool operator==(const Copied& a, const Copied& b) = default;
};
constexpr int64_t kPartBits = 1;
// The parts of all elements, one after the other.
using CopiedLeaves = std::vector<std::vector<Copied>>;

int64_t PartsOf(const Shape& array) { return array.IsArray() ? WidthOf(array) / kPartBits : 0; }

// The parts of a bitcast, which are where they are in memory.
std::vector<Copied> BitcastParts(const Shape& from, const std::vector<Copied>& parts,
                                 const Shape& to) {
  std::map<int64_t, Copied> at;
  int64_t next = 0;
  ForEachIndex(from.dimensions(), [&](const Index& index) {
    const int64_t first =
        PositionOf(from, std::vector<int64_t>(index.begin(), index.end())) * PartsOf(from);
    for (int64_t k = 0; k < PartsOf(from); ++k) at[first + k] = parts[next++];
  });
  std::vector<Copied> found;
  ForEachIndex(to.dimensions(), [&](const Index& index) {
    const int64_t first =
        PositionOf(to, std::vector<int64_t>(index.begin(), index.end())) * PartsOf(to);
    for (int64_t k = 0; k < PartsOf(to); ++k) found.push_back(at[first + k]);
  });
  return found;
}

// The operands whose elements become elements of the result; none where it computes.
std::vector<int64_t> MovedOperands(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kCopyDone:
    case HloOpcode::kCopyStart:
    case HloOpcode::kDomain:
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSend:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return {0};
    case HloOpcode::kAsyncStart:
    case HloOpcode::kConcatenate:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kTuple: {
      std::vector<int64_t> all(instruction.operand_count());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    case HloOpcode::kSort: {
      if (instruction.shape().Leaf(0).dimension(instruction.dimensions()[0]) != 1) return {};
      std::vector<int64_t> all(instruction.operand_count());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kPad:
      return {0, 1};
    case HloOpcode::kSelect:
      return {1, 2};
    case HloOpcode::kScatter: {
      std::vector<int64_t> all(instruction.operand_count() / 2);
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    default:
      return {};
  }
}

// Whether a leaf of an async-start has elements of an operand: it is one, or what the computation moves
// of it.
bool IsMovedByAsyncStart(const HloInstruction& start, int64_t leaf, int64_t operand_number) {
  for (const HloInstruction* operand : start.operands()) leaf -= operand->shape().LeafCount();
  if (leaf < 0) return true;
  const HloInstruction* i = start.calls()->root_instruction();
  if (leaf >= i->shape().LeafCount()) return false;
  if (i->opcode() == HloOpcode::kTuple) {
    if (leaf >= i->operand_count()) return false;
    i = i->operand(leaf);
  }
  while (i->opcode() != HloOpcode::kParameter) {
    const std::vector<int64_t> moved = MovedOperands(*i);
    if (moved.size() != 1 || i->operand_count() != 1 || !i->shape().IsArray()) return false;
    i = i->operand(0);
  }
  return i->parameter_number() == operand_number;
}

absl::StatusOr<CopiedLeaves> CopiesOfRoot(const HloComputation& computation,
                                          const Execution& execution) {
  std::map<const HloInstruction*, CopiedLeaves> copied;
  for (const HloInstruction* instruction : computation.instructions()) {
    const Value& value = execution.ValueOf(instruction);
    CopiedLeaves& own = copied[instruction];
    const auto parts_of_leaf = [](const HloInstruction* i, int64_t leaf) {
      return PartsOf(i->shape().Leaf(leaf));
    };
    for (size_t leaf = 0; leaf < value.size(); ++leaf) {
      own.emplace_back(value[leaf].elements().size() *
                       parts_of_leaf(instruction, static_cast<int64_t>(leaf)));
    }
    if (instruction->opcode() == HloOpcode::kParameter) {
      for (size_t leaf = 0; leaf < own.size(); ++leaf) {
        const int64_t parts = parts_of_leaf(instruction, static_cast<int64_t>(leaf));
        for (size_t i = 0; i < own[leaf].size(); ++i) {
          own[leaf][i] = {instruction->parameter_number(), static_cast<int64_t>(leaf),
                          static_cast<int64_t>(i) / parts, static_cast<int64_t>(i) % parts};
        }
      }
      continue;
    }
    if ((instruction->opcode() == HloOpcode::kBitcast ||
         instruction->opcode() == HloOpcode::kBitcastConvert) &&
        PartsOf(instruction->shape()) != PartsOf(instruction->operand(0)->shape())) {
      const std::vector<Copied>& parts = copied.at(instruction->operand(0))[0];
      own[0] = instruction->opcode() == HloOpcode::kBitcastConvert
                   ? parts
                   : BitcastParts(instruction->operand(0)->shape(), parts, instruction->shape());
      continue;
    }
    const std::vector<int64_t> moved = MovedOperands(*instruction);
    if (moved.empty()) continue;
    auto truth = DependenceOfInstruction(*instruction, execution);
    if (!truth.ok()) return truth.status();
    for (const auto& [pair, relation] : *truth) {
      if ((instruction->opcode() == HloOpcode::kScatter ||
           instruction->opcode() == HloOpcode::kSort) &&
          pair.operand != pair.output_leaf) {
        continue;
      }
      if (instruction->opcode() == HloOpcode::kAsyncStart &&
          !IsMovedByAsyncStart(*instruction, pair.output_leaf, pair.operand)) {
        continue;
      }
      if (std::find(moved.begin(), moved.end(), pair.operand) == moved.end()) continue;
      for (const auto& [to, from] : relation) {
        if (instruction->opcode() == HloOpcode::kSelect) {
          const auto& predicate = execution.ValueOf(instruction->operand(0))[0].elements();
          const size_t at = predicate.size() == 1 ? 0 : to;
          if ((*predicate[at].value != 0) != (pair.operand == 1)) continue;
        }
        const int64_t parts = parts_of_leaf(instruction, pair.output_leaf);
        const std::vector<Copied>& of_operand =
            copied.at(instruction->operand(pair.operand))[pair.operand_leaf];
        for (int64_t k = 0; k < parts; ++k) {
          own[pair.output_leaf][to * parts + k] = of_operand[from * parts + k];
        }
      }
    }
    if (instruction->opcode() != HloOpcode::kScatter) continue;
    // What an update reaches is computed, or the update that is assigned.
    const HloInstruction* combined = instruction->to_apply()->root_instruction();
    const bool is_assigned = combined->opcode() == HloOpcode::kParameter &&
                             combined->parameter_number() == 1 && instruction->operand_count() == 3;
    for (const auto& [pair, relation] : *truth) {
      if (pair.operand <= instruction->operand_count() / 2) continue;
      const int64_t parts = parts_of_leaf(instruction, pair.output_leaf);
      const std::vector<Copied>& updates = copied.at(instruction->operand(pair.operand))[0];
      std::set<int64_t> reached;
      for (const auto& [to, from] : relation) {
        const bool is_first = reached.insert(to).second;
        for (int64_t k = 0; k < parts; ++k) {
          Copied& part = own[pair.output_leaf][to * parts + k];
          const Copied update = is_assigned ? updates[from * parts + k] : Copied();
          // Where several reach it, any may be the last.
          part = is_first || part == update ? update : Copied();
        }
      }
    }
  }
  return copied.at(computation.root_instruction());
}

// --- Orders ---

struct Bits {
  int64_t begin = 0;
  int64_t end = 0;

  bool Meets(const Bits& other) const { return begin < other.end && other.begin < end; }
};

std::vector<Bits> PlacesOf(const Shape& array) {
  std::vector<Bits> places;
  ForEachIndex(array.dimensions(), [&](const Index& index) {
    const int64_t begin =
        PositionOf(array, std::vector<int64_t>(index.begin(), index.end())) * WidthOf(array);
    places.push_back({begin, begin + WidthOf(array)});
  });
  return places;
}

// What every element of the output reads of the shared buffer, and which of them change it.
struct Truth {
  Shape output = Shape::Array(ElementType::kF32, {});
  Shape operand_shape = output;
  std::vector<Bits> written;  // by element of the output
  std::vector<bool> changes;  // likewise
  std::vector<std::vector<int64_t>>
      reads;  // by element: elements of the operand, of leaves of equal sizes
  std::set<int64_t> read_from_outside;  // by leaves of other sizes
  std::vector<Bits> operand;
  std::vector<int64_t> iteration;  // of each element: those of one byte are one

  bool AreInConflict(int64_t writer, int64_t reader) const {
    if (iteration[writer] == iteration[reader] || !changes[writer]) return false;
    return std::any_of(reads[reader].begin(), reads[reader].end(),
                       [&](int64_t r) { return operand[r].Meets(written[writer]); });
  }
  bool HasOutsideConflict() const {
    for (size_t e = 0; e < written.size(); ++e) {
      for (const int64_t r : read_from_outside) {
        if (changes[e] && operand[r].Meets(written[e])) return true;
      }
    }
    return false;
  }

  // Whether some element is computed from what was overwritten, when elements are computed in this
  // order, those of one iteration together.
  bool IsCorrupted(const std::vector<int64_t>& order) const {
    std::set<int64_t> overwritten;  // bits
    std::set<int64_t> done;
    for (const int64_t first : order) {
      if (!done.insert(iteration[first]).second) continue;
      std::vector<int64_t> together;
      for (size_t i = 0; i < iteration.size(); ++i) {
        if (iteration[i] == iteration[first]) together.push_back(static_cast<int64_t>(i));
      }
      for (const int64_t f : together) {
        for (const int64_t r : reads[f]) {
          const auto it = overwritten.lower_bound(operand[r].begin);
          if (it != overwritten.end() && *it < operand[r].end) return true;
        }
      }
      for (const int64_t e : together) {
        if (!changes[e]) continue;
        for (int64_t bit = written[e].begin; bit < written[e].end; ++bit) overwritten.insert(bit);
      }
    }
    return false;
  }
};

absl::StatusOr<Truth> TruthOf(const HloComputation& computation, const Execution& execution,
                              const Dependence& dependence, const SharedBuffer& buffer) {
  const auto copied = CopiesOfRoot(computation, execution);
  if (!copied.ok()) return copied.status();
  const Shape& root = computation.root_instruction()->shape();
  Truth truth;
  truth.output = root.Leaf(buffer.output_leaf);
  const Shape& operand =
      computation.parameters()[buffer.operand.operand]->shape().Leaf(buffer.operand.operand_leaf);
  truth.written = PlacesOf(truth.output);
  truth.operand_shape = operand;
  truth.operand = PlacesOf(operand);
  truth.reads.resize(truth.written.size());
  for (size_t e = 0; e < truth.written.size(); ++e) {
    bool is_left = true;
    const auto parts = static_cast<size_t>(PartsOf(truth.output));
    for (size_t k = 0; k < parts; ++k) {
      const Copied& from = (*copied)[buffer.output_leaf][e * parts + k];
      is_left &= from.parameter == buffer.operand.operand &&
                 from.leaf == buffer.operand.operand_leaf &&
                 truth.operand[from.element].begin + from.part * kPartBits ==
                     truth.written[e].begin + static_cast<int64_t>(k) * kPartBits;
    }
    truth.changes.push_back(!is_left);
    const int64_t width = truth.written[e].end - truth.written[e].begin;
    truth.iteration.push_back(width < 8 ? truth.written[e].begin / 8 : static_cast<int64_t>(e));
  }
  for (const auto& [pair, relation] : dependence) {
    if (pair.operand != buffer.operand.operand ||
        pair.operand_leaf != buffer.operand.operand_leaf) {
      continue;
    }
    const bool is_inside = SameDimensions(root.Leaf(pair.output_leaf), truth.output);
    for (const auto& [to, from] : relation) {
      if (is_inside) {
        truth.reads[to].push_back(from);
      } else {
        truth.read_from_outside.insert(from);
      }
    }
  }
  return truth;
}

// The elements in the order of these loops over all dimensions.
std::vector<int64_t> ElementsIn(const LoopOrder& loops, const Shape& array) {
  std::vector<std::pair<std::vector<int64_t>, int64_t>> keyed;
  int64_t position = 0;
  ForEachIndex(array.dimensions(), [&](const Index& index) {
    std::vector<int64_t> key;
    for (const DirectedLoop& loop : loops) {
      key.push_back(loop.is_descending ? -index[loop.dimension] : index[loop.dimension]);
    }
    keyed.emplace_back(std::move(key), position++);
  });
  std::sort(keyed.begin(), keyed.end());
  std::vector<int64_t> order;
  for (const auto& [key, element] : keyed) order.push_back(element);
  return order;
}

// Nests of loops that begin with these.
std::vector<LoopOrder> OrdersThatBeginWith(const LoopOrder& begin, int64_t rank, Random* random) {
  std::vector<LoopOrder> orders;
  std::vector<int> rest;
  for (int i = 0; i < rank; ++i) {
    if (std::none_of(begin.begin(), begin.end(), [&](auto& l) { return l.dimension == i; })) {
      rest.push_back(i);
    }
  }
  do {
    for (int signs = 0; signs < (1 << rest.size()); ++signs) {
      LoopOrder order = begin;
      for (size_t i = 0; i < rest.size(); ++i) order.push_back({rest[i], (signs >> i & 1) != 0});
      orders.push_back(std::move(order));
    }
  } while (std::next_permutation(rest.begin(), rest.end()));
  // All of up to three dimensions, and some of more.
  constexpr size_t kMost = 48;
  if (orders.size() > kMost) {
    random->Shuffle(&orders);
    orders.resize(kMost);
  }
  return orders;
}

struct InPlaceTally {
  int asked = 0;
  int any_order = 0;
  int in_order = 0;
  int is_unsafe = 0;
  int undecided = 0;
  int conflicts_with_values = 0;
  int conditions = 0;
  int conditions_that_hold = 0;
  int simulated = 0;  // orders
  int under_threads = 0;
  int unsafe_under_threads = 0;
  std::map<std::string, int> reasons;  // of undecided ones, without the digits of names

  void AddUndecided(std::string reason) {
    ++undecided;
    std::erase_if(reason, [](unsigned char c) { return absl::ascii_isdigit(c); });
    ++reasons[reason];
  }

  std::string ToString() const {
    std::string text = absl::StrCat(
        asked, " pairs: any order ", any_order, ", in an order ", in_order, ", unsafe ", is_unsafe,
        ", undecided ", undecided, "; conflicts with values ", conflicts_with_values,
        ", conditions ", conditions, ", that hold ", conditions_that_hold, ", orders simulated ",
        simulated, ", under threads ", under_threads, ", unsafe ", unsafe_under_threads);
    for (const auto& [reason, count] : reasons) absl::StrAppend(&text, "\n  ", count, " ", reason);
    return text;
  }
};

class InPlaceChecker {
 public:
  InPlaceChecker(const HloModule& module, uint64_t seed, bool is_moving_module,
                 mlir::MLIRContext* context, InPlaceTally* tally)
      : is_moving_module_(is_moving_module),
        entry_(*module.entry_computation()),
        seed_(seed),
        random_(seed + 1),
        context_(context),
        tally_(*tally) {
    FusionOptions options;
    options.indexing.exact = true;
    const auto entries = Entries(entry_, Direction::kOutputToInput, context, options);
    for (const IndexingEntry& entry : entries.value_or(InstructionIndexing())) {
      for (const OperandIndexing& map : entry.indexing) {
        has_runtime_values_ |= map.map().num_runtimes() > 0;
      }
    }
    for (const HloInstruction* i : entry_.instructions()) {
      has_select_ |= i->opcode() == HloOpcode::kSelect;
      has_calls_ |= i->inlined_computation() != nullptr;
    }
  }

  void Check() {
    auto analysis = InPlaceAnalysis::OfComputation(entry_, context_);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    const std::vector<SharedBuffer> candidates = analysis->Candidates();
    if (candidates.empty() || has_calls_) return;
    arguments_ = RandomArguments(entry_, seed_);
    const auto execution = Execute(entry_, Pointers(arguments_), seed_);
    const auto dependence = DependenceOfComputation(entry_, Pointers(arguments_), seed_);
    if (!execution.ok() || !dependence.ok()) return;
    for (const SharedBuffer& buffer : candidates) {
      const auto truth = TruthOf(entry_, *execution, *dependence, buffer);
      if (!truth.ok()) return;
      CheckPair(*truth, buffer, &*analysis);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "output " << buffer.output_leaf << " operand " << buffer.operand.operand;
        return;
      }
    }
  }

 private:
  void CheckPair(const Truth& truth, const SharedBuffer& buffer, InPlaceAnalysis* analysis) {
    const auto safety = analysis->Safety(buffer);
    ASSERT_TRUE(safety.ok()) << safety.status();
    SCOPED_TRACE(safety->ToString());
    ++tally_.asked;
    const auto count = static_cast<int64_t>(truth.written.size());
    switch (safety->answer) {
      case InPlaceAnswer::kAnyOrder:
        ++tally_.any_order;
        EXPECT_FALSE(truth.HasOutsideConflict());
        // In parallel any element may be written before any other has read.
        for (int64_t e = 0; e < count; ++e) {
          for (int64_t f = 0; f < count; ++f) EXPECT_FALSE(truth.AreInConflict(e, f)) << e << f;
        }
        CheckAllPermutations(truth);
        CheckOrders(truth, {});
        break;
      case InPlaceAnswer::kInOrder:
        ++tally_.in_order;
        EXPECT_FALSE(truth.HasOutsideConflict());
        CheckOrders(truth, safety->order);
        CheckConflict(truth, buffer, *safety);
        break;
      case InPlaceAnswer::kUnsafe:
        ++tally_.is_unsafe;
        ASSERT_TRUE(safety->conflict);
        CheckConflict(truth, buffer, *safety);
        // What runtime values lead to conflicts may differ from order to order.
        if (HasNoContents(*safety) && !has_runtime_values_ && !truth.HasOutsideConflict()) {
          for (const std::vector<int64_t>& order : OrdersOf(truth)) {
            ++tally_.simulated;
            EXPECT_TRUE(truth.IsCorrupted(order));
          }
        }
        break;
      case InPlaceAnswer::kUndecided:
        tally_.AddUndecided(safety->reason);
        EXPECT_NE(safety->reason, "");
        break;
    }
    for (const RuntimeCondition& condition : safety->conditions) CheckCondition(truth, condition);
    CheckWritten(truth, buffer, analysis);
    CheckThreads(truth, buffer, analysis);
  }

  // Whether what was executed is what the conflict is about: it depends on no values.
  bool HasNoContents(const InPlaceSafety& safety) const {
    return !has_select_ && safety.conflict && safety.conflict->runtime_values.empty();
  }

  // The orders that `unsafe` is about: all nests of loops, and where rows are no whole bytes, all bytes
  // upwards and downwards.
  std::vector<std::vector<int64_t>> OrdersOf(const Truth& truth) {
    std::vector<std::vector<int64_t>> orders;
    const int64_t width = WidthOf(truth.output);
    const auto is_in_row = [&](const Bits& a, const Bits& b) { return a.begin / 8 == b.begin / 8; };
    bool has_whole_rows = true;
    std::vector<Index> indices;
    ForEachIndex(truth.output.dimensions(), [&](const Index& index) { indices.push_back(index); });
    // Elements of one byte then differ in one dimension alone.
    for (size_t e = 0; width < 8 && e < indices.size(); ++e) {
      for (size_t f = 0; f < e; ++f) {
        if (!is_in_row(truth.written[e], truth.written[f])) continue;
        int64_t differences = 0;
        for (size_t i = 0; i < indices[e].size(); ++i)
          differences += indices[e][i] != indices[f][i];
        has_whole_rows &= differences == 1;
      }
      // A byte that has fewer elements is cut off at the end of a row.
      int64_t in_byte = 0;
      for (size_t f = 0; f < indices.size(); ++f) {
        in_byte += is_in_row(truth.written[e], truth.written[f]) ? 1 : 0;
      }
      has_whole_rows &= in_byte * width == 8;
    }
    if (has_whole_rows) {
      for (const LoopOrder& order : OrdersThatBeginWith({}, truth.output.rank(), &random_)) {
        orders.push_back(ElementsIn(order, truth.output));
      }
      return orders;
    }
    std::vector<int64_t> upwards(indices.size());
    std::iota(upwards.begin(), upwards.end(), 0);
    std::sort(upwards.begin(), upwards.end(), [&](int64_t a, int64_t b) {
      return truth.written[a].begin < truth.written[b].begin;
    });
    orders.push_back(upwards);
    orders.emplace_back(upwards.rbegin(), upwards.rend());
    return orders;
  }

  void CheckAllPermutations(const Truth& truth) {
    if (truth.written.size() > 4) return;
    std::vector<int64_t> order(truth.written.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      ++tally_.simulated;
      EXPECT_FALSE(truth.IsCorrupted(order));
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void CheckOrders(const Truth& truth, const LoopOrder& begin) {
    for (const LoopOrder& order : OrdersThatBeginWith(begin, truth.output.rank(), &random_)) {
      ++tally_.simulated;
      EXPECT_FALSE(truth.IsCorrupted(ElementsIn(order, truth.output)));
    }
  }

  // The program runs with the values that the conflict names, and with some mask the elements meet as it
  // says.
  void CheckConflict(const Truth& truth, const SharedBuffer& buffer, const InPlaceSafety& safety) {
    if (!safety.conflict) return;
    if (HasNoContents(safety)) return CheckConflictIn(truth, *safety.conflict);
    if (!is_moving_module_) return;
    std::vector<Value> arguments = arguments_;
    for (const auto& [name, value] : safety.conflict->runtime_values) {
      Integer* const place = PlaceOfValue(name, &arguments);
      if (place == nullptr) return;
      *place = value;
    }
    constexpr int64_t kMaskParameter = 3;
    const size_t mask_size = arguments[kMaskParameter][0].elements().size();
    const int64_t num_masks = has_select_ ? int64_t{1} << mask_size : 1;
    for (int64_t bits = 0; bits < num_masks; ++bits) {
      for (size_t i = 0; has_select_ && i < mask_size; ++i) {
        arguments[kMaskParameter][0].elements()[i].value = bits >> i & 1;
      }
      const auto execution = Execute(entry_, Pointers(arguments), seed_);
      const auto dependence = DependenceOfComputation(entry_, Pointers(arguments), seed_);
      if (!execution.ok() || !dependence.ok()) return;
      const auto with_values = TruthOf(entry_, *execution, *dependence, buffer);
      if (!with_values.ok()) return;
      const int64_t writer =
          PositionOf(truth.output.dimensions(),
                     Index(safety.conflict->writer.begin(), safety.conflict->writer.end()));
      if (bits + 1 < num_masks && !with_values->changes[writer]) continue;
      ++tally_.conflicts_with_values;
      return CheckConflictIn(*with_values, *safety.conflict);
    }
  }

  void CheckConflictIn(const Truth& truth, const InPlaceConflict& conflict) {
    const auto at = [](const Shape& array, const std::vector<int64_t>& element) {
      return PositionOf(array.dimensions(), Index(element.begin(), element.end()));
    };
    const int64_t r = at(truth.operand_shape, conflict.operand);
    const int64_t e = at(truth.output, conflict.writer);
    EXPECT_TRUE(truth.operand[r].Meets(truth.written[e]));
    const Bits byte{conflict.byte * 8, conflict.byte * 8 + 8};
    EXPECT_TRUE(byte.Meets(truth.operand[r]) && byte.Meets(truth.written[e]));
    EXPECT_TRUE(truth.changes[e]);
    if (conflict.reader_leaf && truth.read_from_outside.contains(r)) return;
    const int64_t f = at(truth.output, conflict.reader);
    EXPECT_TRUE(std::count(truth.reads[f].begin(), truth.reads[f].end(), r));
    EXPECT_NE(truth.iteration[e], truth.iteration[f]);
    // The order in which the writer comes first.
    std::vector<int64_t> order = {e, f};
    for (size_t i = 0; i < truth.written.size(); ++i) {
      if (static_cast<int64_t>(i) != e && static_cast<int64_t>(i) != f) {
        order.push_back(static_cast<int64_t>(i));
      }
    }
    ++tally_.simulated;
    EXPECT_TRUE(truth.IsCorrupted(order));
  }

  // Where the value of `start` or of `at{1,0}` is.
  Integer* PlaceOfValue(const std::string& name, std::vector<Value>* arguments) const {
    const std::vector<std::string> parts = absl::StrSplit(name, absl::ByAnyChar("{,}"));
    for (const HloInstruction* parameter : entry_.parameters()) {
      if (parameter->name() != parts[0] || !parameter->shape().IsArray()) continue;
      Index index;
      for (int64_t i = 0; i < parameter->shape().rank(); ++i) {
        index.push_back(std::stoll(parts[i + 1]));
      }
      Array& array = (*arguments)[parameter->parameter_number()][0];
      return &*array.elements()[PositionOf(parameter->shape().dimensions(), index)].value;
    }
    return nullptr;
  }

  // The value of what a condition is about, `start` or `start - other`, as operations use it; none
  // where that is not a scalar parameter.
  std::optional<int64_t> ValueOf(const std::string& name, int64_t least, int64_t most) const {
    for (const HloInstruction* parameter : entry_.parameters()) {
      if (parameter->name() != name || !parameter->shape().IsArray() ||
          parameter->shape().rank() != 0) {
        continue;
      }
      const auto& value = arguments_[parameter->parameter_number()][0].elements()[0].value;
      return static_cast<int64_t>(std::clamp<Integer>(*value, least, most));
    }
    return std::nullopt;
  }

  void CheckCondition(const Truth& truth, const RuntimeCondition& condition) {
    ++tally_.conditions;
    const std::optional<int64_t> value =
        ValueOf(condition.runtime, condition.values.lower(), condition.values.upper());
    if (!value || condition.unsafe.Contains(*value)) return;
    SCOPED_TRACE(absl::StrCat(condition.ToString(), ": ", *value));
    ++tally_.conditions_that_hold;
    EXPECT_FALSE(truth.HasOutsideConflict());
    CheckOrders(truth, condition.order);
    if (!condition.order.empty()) return;
    const auto count = static_cast<int64_t>(truth.written.size());
    for (int64_t e = 0; e < count; ++e) {
      for (int64_t f = 0; f < count; ++f) EXPECT_FALSE(truth.AreInConflict(e, f));
    }
  }

  void CheckWritten(const Truth& truth, const SharedBuffer& buffer, InPlaceAnalysis* analysis) {
    const auto written = analysis->Written(buffer);
    ASSERT_TRUE(written.ok()) << written.status();
    const auto changed = std::count(truth.changes.begin(), truth.changes.end(), true);
    EXPECT_TRUE(!written->count.has_upper() || changed <= written->count.upper())
        << changed << " " << written->count.ToString();
    if (has_select_ || !written->count.IsPoint()) return;
    for (const OperandIndexing& map : written->elements) {
      if (map.map().num_runtimes() > 0) return;
    }
    if (is_moving_module_) {
      EXPECT_EQ(changed, written->count.lower());
    }
  }

  // Each dimension is a thread's, a loop's, or is accessed at once.
  void CheckThreads(const Truth& truth, const SharedBuffer& buffer, InPlaceAnalysis* analysis) {
    const auto rank = static_cast<int>(truth.output.rank());
    if (rank == 0 || WidthOf(truth.output) < 8) return;
    std::vector<int> threads;
    std::vector<int> loops;
    llvm::SmallVector<int, 1> together;
    std::vector<bool> is_together(rank, false);
    std::vector<int> shuffled(rank);
    std::iota(shuffled.begin(), shuffled.end(), 0);
    random_.Shuffle(&shuffled);
    for (const int dim : shuffled) {
      if (random_.OneIn(2)) {
        threads.push_back(dim);
      } else {
        if (random_.OneIn(3)) {
          together.push_back(static_cast<int>(loops.size()));
          is_together[dim] = true;
        }
        loops.push_back(dim);
      }
    }
    Variables dims;
    Variables ranges;
    llvm::SmallVector<mlir::AffineExpr, 4> results(rank);
    for (size_t i = 0; i < threads.size(); ++i) {
      dims.push_back({Interval::OfSize(truth.output.dimension(threads[i])), {}});
      results[threads[i]] = mlir::getAffineDimExpr(i, context_);
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      ranges.push_back({Interval::OfSize(truth.output.dimension(loops[i])), {}});
      results[loops[i]] = mlir::getAffineSymbolExpr(i, context_);
    }
    const mlir::AffineMap map =
        mlir::AffineMap::get(threads.size(), loops.size(), results, context_);
    const auto safety = analysis->SafetyUnder(
        buffer, {IndexingMap(kPartsFit, map, std::move(dims), std::move(ranges), {}), together});
    ASSERT_TRUE(safety.ok()) << safety.status();
    if (safety->answer == InPlaceAnswer::kUndecided) return;
    ++tally_.under_threads;
    std::vector<Index> indices;
    ForEachIndex(truth.output.dimensions(), [&](const Index& index) { indices.push_back(index); });
    bool is_wrong = truth.HasOutsideConflict();
    for (size_t e = 0; e < indices.size(); ++e) {
      for (size_t f = 0; f < indices.size(); ++f) {
        if (!truth.AreInConflict(static_cast<int64_t>(e), static_cast<int64_t>(f))) continue;
        const bool is_other_thread = std::any_of(threads.begin(), threads.end(), [&](int dim) {
          return indices[e][dim] != indices[f][dim];
        });
        bool is_before = is_other_thread;
        for (const int dim : loops) {
          if (is_other_thread) break;
          if (is_together[dim] || indices[e][dim] == indices[f][dim]) continue;
          is_before = indices[e][dim] < indices[f][dim];
          break;
        }
        is_wrong |= is_before;
      }
    }
    SCOPED_TRACE(map.getNumResults());
    if (safety->answer == InPlaceAnswer::kAnyOrder) {
      EXPECT_FALSE(is_wrong);
    } else {
      ++tally_.unsafe_under_threads;
      if (HasNoContents(*safety)) {
        EXPECT_TRUE(is_wrong);
      }
    }
  }

  const bool is_moving_module_;
  const HloComputation& entry_;
  const uint64_t seed_;
  Random random_;
  mlir::MLIRContext* context_;
  InPlaceTally& tally_;
  std::vector<Value> arguments_;
  bool has_runtime_values_ = false;
  bool has_select_ = false;
  bool has_calls_ = false;
};

void CheckModulesInPlace(int count, bool are_moving, InPlaceTally* tally) {
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < count; ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const std::string text = are_moving ? MovingModule(i).Text() : RandomFusionModule(i);
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    if (DeviceCount(**module) > 1) continue;
    InPlaceChecker(**module, i, are_moving, context.get(), tally).Check();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i << "\n" << text;
  }
}

TEST(RandomInPlaceTest, AgreesWithSimulationsOfModulesThatMoveElements) {
  InPlaceTally tally;
  CheckModulesInPlace(Cases(12000), /*are_moving=*/true, &tally);
  std::cout << tally.ToString() << "\n";
  EXPECT_GT(tally.any_order, tally.asked / 4);
  EXPECT_GT(tally.in_order, tally.asked / 20);
  EXPECT_GT(tally.is_unsafe, tally.asked / 20);
  EXPECT_LE(tally.undecided, tally.asked / 400 + 5);
  EXPECT_GT(tally.conditions, tally.asked / 100);
  EXPECT_GT(tally.conditions_that_hold, tally.asked / 200);
  // Programs that ran with the values that a conflict names.
  EXPECT_GT(tally.conflicts_with_values, tally.asked / 20);
}

TEST(RandomInPlaceTest, AgreesWithSimulationsOfAnyFusions) {
  InPlaceTally tally;
  CheckModulesInPlace(Cases(8000), /*are_moving=*/false, &tally);
  std::cout << tally.ToString() << "\n";
  int elsewhere = 0;
  for (const auto& [reason, count] : tally.reasons) {
    if (reason == "an element of another device is read") elsewhere = count;
  }
  EXPECT_LT(tally.undecided - elsewhere, tally.asked / 30);
}

}  // namespace
}  // namespace xla_indexing::reference
