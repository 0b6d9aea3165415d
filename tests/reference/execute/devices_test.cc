// Execution on several devices, and that the comparison notices devices that are wrong.

#include "tests/reference/execute/devices.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::reference {
namespace {

using internal::Mod;
using internal::Sub;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class DevicesTest : public ::testing::Test {
 protected:
  // The relation between the root, `instruction` on p = f32[2] or q = f32[4], and its operand 0 in
  // a module of two replicas of two partitions.
  Relation RelationOfRoot(absl::string_view instruction) {
    auto module = ParseModule(absl::StrCat(
        "HloModule m, replica_count=2, num_partitions=2\n"
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
        "ENTRY e { p = f32[2] parameter(0) q = f32[4] parameter(1) ROOT r = ",
        instruction, " }"));
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    const HloComputation& entry = *module_->entry_computation();
    arguments_ = RandomArguments(entry, 0);
    auto executions =
        ExecuteOnDevices(entry, DeviceOperands(4, Pointers(arguments_)), {0, 1, 2, 3});
    EXPECT_TRUE(executions.ok()) << executions.status();
    executions_ = *std::move(executions);
    const auto truth = DependenceOfInstruction(*entry.root_instruction(), Devices(executions_));
    EXPECT_TRUE(truth.ok()) << truth.status();
    return truth->at({0, 0, 0});
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
  std::vector<Value> arguments_;
  std::vector<Execution> executions_;
};

// Element i of device p is number p * size + i.
TEST_F(DevicesTest, APermuteOfPartitions) {
  EXPECT_THAT(
      RelationOfRoot("f32[2] collective-permute(p), channel_id=1, source_target_pairs={{0,1}}"),
      ElementsAre(Pair(2, 0), Pair(3, 1), Pair(6, 4), Pair(7, 5)));
}

// Replica 0 has the devices 0 and 1, replica 1 the devices 2 and 3.
TEST_F(DevicesTest, AGatherOfReplicas) {
  EXPECT_THAT(RelationOfRoot("f32[4] all-gather(p), dimensions={0}, replica_groups={{1,0}}"),
              ElementsAre(Pair(0, 4), Pair(1, 5), Pair(2, 0), Pair(3, 1),        // device 0: 2, 0
                          Pair(4, 6), Pair(5, 7), Pair(6, 2), Pair(7, 3),        // device 1: 3, 1
                          Pair(8, 4), Pair(9, 5), Pair(10, 0), Pair(11, 1),      // device 2: 2, 0
                          Pair(12, 6), Pair(13, 7), Pair(14, 2), Pair(15, 3)));  // device 3: 3, 1
}

TEST_F(DevicesTest, AScatterOfASum) {
  EXPECT_THAT(RelationOfRoot("f32[2] reduce-scatter(q), dimensions={0}, to_apply=add, "
                             "channel_id=1, use_global_device_ids=true, "
                             "replica_groups={{0,3},{1,2}}"),
              ElementsAre(Pair(0, 0), Pair(0, 12), Pair(1, 1), Pair(1, 13),    // device 0
                          Pair(2, 4), Pair(2, 8), Pair(3, 5), Pair(3, 9),      // device 1
                          Pair(4, 6), Pair(4, 10), Pair(5, 7), Pair(5, 11),    // device 2
                          Pair(6, 2), Pair(6, 14), Pair(7, 3), Pair(7, 15)));  // device 3
}

TEST_F(DevicesTest, WrongDevicesAreNoticed) {
  const Relation truth =
      RelationOfRoot("f32[2] collective-permute(p), channel_id=1, source_target_pairs={{0,1}}");
  const Shape& shape = module_->entry_computation()->root_instruction()->shape();
  const auto check = [&](const Interval& readers, mlir::AffineExpr device,
                         Constraints constraints) {
    OperandIndexing map(kPartsFit,
                        ParseIndexingMap("(d0) -> (d0), domain: d0 in [0, 1]", &context_).value());
    if (device) map.SetReplicaMap(kPartsFit, {readers, device, std::move(constraints)});
    return std::string(
        CheckMaps(OperandIndexingSet(map), truth, {shape, shape}, Devices(executions_)).message());
  };
  const mlir::AffineExpr reader = mlir::getAffineDimExpr(1, &context_);
  const mlir::AffineExpr before = Sub(reader, internal::Constant(1, &context_));
  const Constraint is_second = {Mod(reader, 2), Interval::Point(1)};
  EXPECT_EQ(check(Interval::OfSize(4), before, {is_second}), "");
  EXPECT_THAT(check(Interval::OfSize(4), {}, {}), HasSubstr("is not so"));
  EXPECT_THAT(check(Interval::OfSize(4), reader, {is_second}), HasSubstr("is not so"));
  EXPECT_THAT(check(Interval::OfSize(3), before, {is_second}), HasSubstr("is missing"));
  EXPECT_THAT(check(Interval::OfSize(4), before, {}), HasSubstr("or the devices"));
}

}  // namespace
}  // namespace xla_indexing::reference
