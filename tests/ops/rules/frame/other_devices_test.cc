#include "xla_indexing/ops/rules/frame/other_devices.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

std::optional<int64_t> DevicesOfEntry(const std::string& text) {
  return DevicesAcrossWhich(*ParseModule(text).value()->entry_computation());
}

TEST(OtherDevicesTest, OperationsAcrossReplicasAreFoundInCalledComputations) {
  EXPECT_EQ(DevicesOfEntry(R"(HloModule m, num_partitions=8
f { p = f32[4] parameter(0)
  ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1}}, channel_id=1 }
ENTRY e { p = f32[4] parameter(0)  ROOT c = f32[4] call(p), to_apply=f })"),
            8);
}

TEST(OtherDevicesTest, ComputationsWithoutThemStayOnTheirDevice) {
  EXPECT_EQ(DevicesOfEntry("HloModule m, num_partitions=8\nENTRY e { p = f32[4] parameter(0) }"),
            std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal
