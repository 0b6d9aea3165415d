// Random operations across replicas, on the devices of the module that is being written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// Which ids groups are of: their number, how many devices there are for each in a group, and the
// attributes that say so.
struct Ids {
  int64_t count = 1;
  int64_t devices_per_id = 1;
  std::string attributes;
};

Ids RandomIds(bool has_global_ids, RandomComputation* c) {
  const int64_t replicas = c->module()->replica_count;
  const int64_t partitions = c->module()->partition_count;
  if (!has_global_ids) {
    if (c->random().OneIn(2)) return {replicas, 1, ""};
    return {partitions, 1, ", channel_id=1"};
  }
  switch (c->random().Between(0, 2)) {
    case 0:
      return {replicas, 1, ""};
    case 1:
      return {replicas, partitions, ", channel_id=1"};
    default:
      return {replicas * partitions, 1, ", channel_id=1, use_global_device_ids=true"};
  }
}

std::string Lists(const std::vector<std::vector<int64_t>>& lists) {
  return absl::StrCat("{",
                      absl::StrJoin(lists, ",",
                                    [](std::string* text, const std::vector<int64_t>& list) {
                                      absl::StrAppend(text, "{", absl::StrJoin(list, ","), "}");
                                    }),
                      "}");
}

// Sizes with that product, without ones but for 1 itself.
std::vector<int64_t> Factors(int64_t count, RandomComputation* c) {
  std::vector<int64_t> factors;
  for (const int64_t size : c->RandomSizesOf(count)) {
    if (size > 1) factors.push_back(size);
  }
  if (factors.empty()) factors.push_back(count);
  return factors;
}

int64_t RandomDivisor(int64_t count, RandomComputation* c) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= count; ++d) {
    if (count % d == 0) divisors.push_back(d);
  }
  return std::max(c->random().Pick(divisors), c->random().Pick(divisors));
}

struct Groups {
  int64_t size = 1;  // of every group, in ids
  std::string attribute;
};

// Groups of equal size, in one of the ways in which they can be written.
Groups RandomGroups(const Ids& ids, RandomComputation* c) {
  Random& random = c->random();
  switch (random.Between(0, 4)) {
    case 0: {
      static constexpr absl::string_view kEmpty[] = {"", ", replica_groups={}",
                                                     ", replica_groups={{}}"};
      return {ids.count, std::string(random.Pick(kEmpty))};
    }
    case 1: {
      const int64_t size = RandomDivisor(ids.count, c);
      const std::vector<int64_t> sizes = Factors(ids.count, c);
      std::string permutation;
      if (random.OneIn(2)) {
        const auto order = c->RandomPermutation(static_cast<int64_t>(sizes.size()));
        permutation = absl::StrCat("T(", absl::StrJoin(order, ","), ")");
      }
      return {size, absl::StrCat(", replica_groups=[", ids.count / size, ",", size, "]<=[",
                                 absl::StrJoin(sizes, ","), "]", permutation)};
    }
    case 2: {
      const std::vector<int64_t> sizes = Factors(ids.count, c);
      std::vector<std::string> axes;
      for (size_t i = 0; i < sizes.size(); ++i) {
        axes.push_back(absl::StrCat("'a", i, "'=", sizes[i]));
      }
      std::vector<std::string> taken;
      int64_t size = 1;
      for (const int64_t i : c->RandomPermutation(static_cast<int64_t>(sizes.size()))) {
        if (random.OneIn(3)) continue;
        const int64_t part = RandomDivisor(sizes[i], c);
        const int64_t before = RandomDivisor(sizes[i] / part, c);
        if (part == sizes[i]) {
          taken.push_back(absl::StrCat("'a", i, "'"));
        } else {
          taken.push_back(absl::StrCat("'a", i, "':(", before, ")", part));
        }
        size *= part;
      }
      std::string devices;
      if (random.OneIn(3)) {
        const std::vector<int64_t> order = Factors(ids.count, c);
        const auto permutation = c->RandomPermutation(static_cast<int64_t>(order.size()));
        devices = absl::StrCat(", device_ids=([", absl::StrJoin(order, ","), "]T(",
                               absl::StrJoin(permutation, ","), "))");
      } else if (random.OneIn(4)) {
        devices = absl::StrCat(", device_ids=(",
                               absl::StrJoin(c->RandomPermutation(ids.count), ","), ")");
      }
      return {size, absl::StrCat(", replica_groups=mesh[", absl::StrJoin(axes, ","), "]", devices,
                                 " {", absl::StrJoin(taken, ","), "}")};
    }
    default: {
      const int64_t size = RandomDivisor(ids.count, c);
      std::vector<int64_t> order(ids.count);
      for (int64_t i = 0; i < ids.count; ++i) order[i] = i;
      if (random.OneIn(2)) random.Shuffle(&order);
      std::vector<std::vector<int64_t>> lists;
      for (int64_t i = 0; i < ids.count; ++i) {
        if (i % size == 0) lists.emplace_back();
        lists.back().push_back(order[i]);
      }
      return {size, absl::StrCat(", replica_groups=", Lists(lists))};
    }
  }
}

// Lists of any sizes of all ids, or of some of them.
std::string RandomUnequalGroups(const Ids& ids, bool all, RandomComputation* c) {
  std::vector<int64_t> order(ids.count);
  for (int64_t i = 0; i < ids.count; ++i) order[i] = i;
  c->random().Shuffle(&order);
  if (!all && ids.count > 1) order.resize(c->random().Between(1, ids.count));
  std::vector<std::vector<int64_t>> lists;
  for (const int64_t id : order) {
    if (lists.empty() || c->random().OneIn(3)) lists.emplace_back();
    lists.back().push_back(id);
  }
  return absl::StrCat(", replica_groups=", Lists(lists));
}

std::string RandomPairs(const Ids& ids, RandomComputation* c) {
  std::vector<std::vector<int64_t>> pairs;
  const int64_t shift = c->random().Between(1, ids.count);
  std::vector<int64_t> targets = c->RandomPermutation(ids.count);
  const bool shifts = c->random().OneIn(2);
  for (int64_t id = 0; id < ids.count; ++id) {
    if (c->random().OneIn(5)) continue;
    pairs.push_back({id, shifts ? (id + shift) % ids.count : targets[id]});
  }
  c->random().Shuffle(&pairs);
  return absl::StrCat(", source_target_pairs=", Lists(pairs));
}

Shape DropLayout(Shape shape) {
  shape.ClearLayout();
  return shape;
}

// An array with at most so many elements.
RandomValue SmallOperand(int64_t min_rank, int64_t max_count, RandomComputation* c) {
  const auto fits = [&](const Shape& shape) {
    return shape.IsArray() && shape.rank() >= min_rank &&
           ElementCountOf(shape.dimensions()) <= max_count;
  };
  return c->Operand(fits, [&] {
    const int64_t rank = c->random().Between(min_rank, std::max<int64_t>(min_rank, 3));
    return Shape::Array(c->RandomType(), c->RandomSizes(rank, max_count));
  });
}

// What operands have become: the result, or the pair of operands and result.
RandomValue AddWithResults(absl::string_view opcode, const std::vector<RandomValue>& operands,
                           const std::vector<Shape>& results, std::string attributes, bool is_start,
                           bool context, RandomComputation* c) {
  const Shape result = results.size() == 1 ? results[0] : Shape::Tuple(results);
  if (!is_start) return c->Add(result, opcode, operands, attributes);
  std::vector<Shape> shapes;
  shapes.reserve(operands.size());
  for (const RandomValue& operand : operands) shapes.push_back(operand.shape);
  std::vector<Shape> pair = {shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes), result};
  if (context) pair.push_back(Shape::Scalar(ElementType::kU32));
  const bool only_result = c->random().OneIn(4);
  return c->Add(only_result ? result : Shape::Tuple(pair), opcode, operands, attributes);
}

RandomValue AddDone(absl::string_view opcode, const RandomValue& start, const Shape& result,
                    RandomComputation* c) {
  return c->Add(result, opcode, {start});
}

// A function of two scalars of any type for `to_apply`.
std::string AddSumReducer(RandomComputation* c) {
  RandomComputation body(c->module(), &c->random(), /*reuse_percent=*/0, c->depth() + 1);
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  const RandomValue a = body.AddParameter(scalar);
  const RandomValue b = body.AddParameter(scalar);
  return body.Finish(body.Add(scalar, "add", {a, b}), /*is_entry=*/false);
}

bool IsDone(HloOpcode opcode) {
  return opcode == HloOpcode::kAllGatherDone || opcode == HloOpcode::kAllReduceDone ||
         opcode == HloOpcode::kCollectivePermuteDone;
}

RandomValue AddGather(HloOpcode opcode, RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/true, c);
  const Groups groups = RandomGroups(ids, c);
  const int64_t shards = groups.size * ids.devices_per_id;
  std::vector<RandomValue> operands = {SmallOperand(1, kMaxRandomElements / shards, c)};
  if (!IsDone(opcode) && c->random().OneIn(4)) {
    operands.push_back(SmallOperand(operands[0].shape.rank(), kMaxRandomElements / shards, c));
  }
  int64_t dim = operands[0].shape.rank() - 1;
  dim = c->random().Between(0, dim);
  std::vector<Shape> results;
  for (const RandomValue& operand : operands) {
    results.push_back(DropLayout(operand.shape));
    results.back().SetDimension(dim, operand.shape.dimension(dim) * shards);
  }
  const std::string attributes =
      absl::StrCat(ListAttribute("dimensions", {dim}), ids.attributes, groups.attribute);
  const bool splits = opcode != HloOpcode::kAllGather;
  const RandomValue value = AddWithResults(splits ? "all-gather-start" : "all-gather", operands,
                                           results, attributes, splits, false, c);
  if (!IsDone(opcode)) return value;
  return AddDone("all-gather-done", value, results[0], c);
}

RandomValue AddReduceScatter(RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/true, c);
  const Groups groups = RandomGroups(ids, c);
  const int64_t shards = groups.size * ids.devices_per_id;
  Shape result = DropLayout(Shape::Array(
      c->RandomType(), c->RandomSizes(c->random().Between(1, 3), kMaxRandomElements / shards)));
  const int64_t dim = c->random().Between(0, result.rank() - 1);
  Shape operand = result;
  operand.SetDimension(dim, result.dimension(dim) * shards);
  return c->Add(result, "reduce-scatter", {c->OperandLike(operand)},
                absl::StrCat(ListAttribute("dimensions", {dim}), ids.attributes, groups.attribute,
                             ", to_apply=", AddSumReducer(c)));
}

std::vector<RandomValue> OneOrTwo(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(0)};
  if (c->random().OneIn(4)) operands.push_back(c->ArrayOperand(0));
  return operands;
}

std::vector<Shape> ShapesOf(const std::vector<RandomValue>& values) {
  std::vector<Shape> shapes;
  shapes.reserve(values.size());
  for (const RandomValue& value : values) shapes.push_back(value.shape);
  return shapes;
}

RandomValue AddAllReduce(HloOpcode opcode, RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/true, c);
  const std::vector<RandomValue> operands =
      IsDone(opcode) ? std::vector<RandomValue>{c->ArrayOperand(0)} : OneOrTwo(c);
  const std::string groups = c->random().OneIn(3) ? RandomUnequalGroups(ids, /*all=*/true, c)
                                                  : RandomGroups(ids, c).attribute;
  const std::string attributes =
      absl::StrCat(ids.attributes, groups, ", to_apply=", AddSumReducer(c));
  const bool splits = opcode != HloOpcode::kAllReduce;
  const RandomValue value = AddWithResults(splits ? "all-reduce-start" : "all-reduce", operands,
                                           ShapesOf(operands), attributes, splits, false, c);
  if (!IsDone(opcode)) return value;
  return AddDone("all-reduce-done", value, operands[0].shape, c);
}

RandomValue AddPermute(HloOpcode opcode, RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/false, c);
  const std::vector<RandomValue> operands =
      IsDone(opcode) ? std::vector<RandomValue>{c->ArrayOperand(0)} : OneOrTwo(c);
  const std::string attributes = absl::StrCat(ids.attributes, RandomPairs(ids, c));
  const bool splits = opcode != HloOpcode::kCollectivePermute;
  const RandomValue value =
      AddWithResults(splits ? "collective-permute-start" : "collective-permute", operands,
                     ShapesOf(operands), attributes, splits, c->random().OneIn(2), c);
  if (!IsDone(opcode)) return value;
  return AddDone("collective-permute-done", value, operands[0].shape, c);
}

// From the root of each group, or to it.
RandomValue AddWithRoot(bool reduces, RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/false, c);
  std::vector<RandomValue> operands = OneOrTwo(c);
  const std::vector<Shape> results = ShapesOf(operands);
  std::string attributes = ids.attributes;
  absl::StrAppend(&attributes, c->random().OneIn(2) ? RandomUnequalGroups(ids, /*all=*/false, c)
                                                    : RandomGroups(ids, c).attribute);
  if (reduces) absl::StrAppend(&attributes, ", to_apply=", AddSumReducer(c));
  if (c->random().OneIn(3)) {
    const int64_t count = c->random().OneIn(2) ? 1 : static_cast<int64_t>(operands.size());
    operands.push_back(c->Integers(Shape::Array(ElementType::kS32, {count})));
    absl::StrAppend(&attributes, ", has_dynamic_root=true");
  }
  return AddWithResults(reduces ? "collective-reduce" : "collective-broadcast", operands, results,
                        attributes, false, false, c);
}

RandomValue AddAllToAll(RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/false, c);
  const Groups groups = RandomGroups(ids, c);
  const std::string attributes = absl::StrCat(ids.attributes, groups.attribute);
  if (c->random().OneIn(3)) {
    // All operands have one shape and one layout.
    std::vector<RandomValue> operands = {c->ArrayOperand(0)};
    const Shape shape = operands[0].shape;
    while (static_cast<int64_t>(operands.size()) < groups.size) {
      operands.push_back(
          c->Operand([&](const Shape& other) { return other == shape; }, [&] { return shape; }));
    }
    return c->Add(Shape::Tuple(ShapesOf(operands)), "all-to-all", operands, attributes);
  }
  Shape shape = Shape::Array(
      c->RandomType(), c->RandomSizes(c->random().Between(1, 3), kMaxRandomElements / groups.size));
  const int64_t dim = c->random().Between(0, shape.rank() - 1);
  shape.SetDimension(dim, shape.dimension(dim) * groups.size);
  return c->Add(shape, "all-to-all", {c->OperandLike(shape)},
                absl::StrCat(ListAttribute("dimensions", {dim}), attributes));
}

// All sizes are one constant, so that senders and receivers agree on them.
RandomValue AddRaggedAllToAll(RandomComputation* c) {
  const Ids ids = RandomIds(/*has_global_ids=*/false, c);
  const Groups groups = RandomGroups(ids, c);
  const DimensionVector row = c->RandomSizes(c->random().Between(0, 1), 4);
  const auto rows = [&](int64_t count) {
    DimensionVector sizes = {count};
    sizes.insert(sizes.end(), row.begin(), row.end());
    return Shape::Array(ElementType::kF32, sizes);
  };
  const Shape output = rows(c->random().Between(0, 9));
  const Shape places =
      Shape::Array(ElementType::kS32, {groups.size * (c->random().OneIn(4) ? 2 : 1)});
  const RandomValue input = c->OperandLike(rows(c->random().Between(0, 6)));
  const RandomValue into = c->OperandLike(output);
  const RandomValue size = c->AddConstant(Shape::Scalar(ElementType::kS32));
  const RandomValue sizes = c->Add(places, "broadcast", {size}, ", dimensions={}");
  const RandomValue from = c->Integers(places);
  const RandomValue to = c->Integers(places);
  return c->Add(output, "ragged-all-to-all", {input, into, from, sizes, to, sizes},
                absl::StrCat(ids.attributes, groups.attribute));
}

}  // namespace

RandomValue AddRandomCollective(HloOpcode opcode, RandomComputation* c) {
  switch (opcode) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kAllGatherStart:
      return AddGather(opcode, c);
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kAllReduceStart:
      return AddAllReduce(opcode, c);
    case HloOpcode::kAllToAll:
      return AddAllToAll(c);
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectiveReduce:
      return AddWithRoot(opcode == HloOpcode::kCollectiveReduce, c);
    case HloOpcode::kRaggedAllToAll:
      return AddRaggedAllToAll(c);
    case HloOpcode::kReduceScatter:
      return AddReduceScatter(c);
    default:
      return AddPermute(opcode, c);
  }
}

}  // namespace xla_indexing
