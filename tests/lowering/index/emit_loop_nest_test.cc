// Loops over random maps, run in this process: they visit the points of the domain, in order.

#include "xla_indexing/lowering/index/emit_loop_nest.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/lowering/support/small_maps.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/lowering/run/run_mlir.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

namespace arith = mlir::arith;
using ::testing::HasSubstr;

class EmitLoopNestTest : public ::testing::Test {
 protected:
  EmitLoopNestTest() {
    context_->loadDialect<arith::ArithDialect, mlir::func::FuncDialect, mlir::memref::MemRefDialect,
                          mlir::scf::SCFDialect>();
  }

  // A function of dimensions and runtime values that stores a number for the points that were visited,
  // and how many these are. The number depends on their order.
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Emit(const IndexingMap& map) {
    mlir::OpBuilder builder(context_.get());
    const mlir::Location loc = builder.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<mlir::Type, 8> types(map.num_dims() + map.num_runtimes(),
                                           builder.getIndexType());
    types.push_back(mlir::MemRefType::get({mlir::ShapedType::kDynamic}, builder.getI64Type()));
    auto function =
        mlir::func::FuncOp::create(builder, loc, "f", builder.getFunctionType(types, {}));
    mlir::Block* block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    const auto constant = [&](int64_t value) -> mlir::Value {
      return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
    };
    const mlir::ValueRange arguments = block->getArguments().drop_back();
    const auto body = [&](mlir::ValueRange ranges,
                          mlir::ValueRange carried) -> absl::StatusOr<MlirValues> {
      mlir::Value hash = carried[0];
      for (const mlir::Value range : ranges) {
        const mlir::Value number =
            arith::IndexCastOp::create(builder, loc, builder.getI64Type(), range);
        hash = arith::MulIOp::create(builder, loc, hash, constant(kFactor));
        hash = arith::AddIOp::create(builder, loc, hash, number);
      }
      return MlirValues({hash, arith::AddIOp::create(builder, loc, carried[1], constant(1))});
    };
    const absl::StatusOr<MlirValues> values =
        EmitLoopNest(builder, loc, map, arguments.take_front(map.num_dims()),
                     arguments.drop_front(map.num_dims()), {constant(1), constant(0)}, body);
    if (!values.ok()) return values.status();
    for (const int i : {0, 1}) {
      const mlir::Value at = arith::ConstantIndexOp::create(builder, loc, i);
      mlir::memref::StoreOp::create(builder, loc, (*values)[i], block->getArguments().back(), at);
    }
    mlir::func::ReturnOp::create(builder, loc);
    return module;
  }

  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, context_.get());
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *map : IndexingMap(context_.get());
  }

  static std::string TextOfLoops(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  static constexpr int64_t kFactor = 1000003;
  std::unique_ptr<mlir::MLIRContext> context_ = MakeLoweringContext();
};

TEST_F(EmitLoopNestTest, VisitsThePointsOfRandomMapsInOrder) {
  RandomMaps random(21, context_.get());
  int64_t visited = 0;
  for (int i = 0; i < Cases(1500); ++i) {
    const IndexingMap map = SmallLoops(random, context_.get());
    auto module = Emit(map);
    ASSERT_TRUE(module.ok()) << module.status() << map.ToString();
    const std::string text = TextOfLoops(**module);
    auto compiled = CompiledModule::Compile(**module);
    ASSERT_TRUE(compiled.ok()) << compiled.status() << text;
    Variables outer(map.dims());
    outer.append(map.runtimes().begin(), map.runtimes().end());
    for (const std::vector<int64_t>& arguments : PointsIn(outer)) {
      uint64_t hash = 1;
      int64_t count = 0;
      const llvm::ArrayRef<int64_t> all(arguments);
      const auto dims = all.take_front(map.num_dims());
      for (const std::vector<int64_t>& ranges : PointsIn(map.ranges())) {
        std::vector<int64_t> symbols = ranges;
        symbols.insert(symbols.end(), arguments.begin() + map.num_dims(), arguments.end());
        if (!map.Contains(dims, symbols).value()) continue;
        for (const int64_t x : ranges) hash = hash * kFactor + static_cast<uint64_t>(x);
        ++count;
      }
      std::vector<int64_t> got(2);
      const absl::Status status = compiled->RunIntegers("f", arguments, &got);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(got, (std::vector<int64_t>{static_cast<int64_t>(hash), count}))
          << map.ToString() << text;
      visited += count;
    }
  }
  EXPECT_GT(visited, Cases(20000));
}

TEST_F(EmitLoopNestTest, BoundsAndGuardsStandFarOut) {
  const auto module = Emit(Parse(
      "(d0)[s0, s1] -> (), domain: d0 in [0, 7], s0 in [0, 2], s1 in [0, 9], d0 + s0 in [1, 8], "
      "d0 mod 2 in [0, 0], (s0 + d0) mod 3 in [0, 1]"));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string text = TextOfLoops(**module);
  // if (d0 mod 2 == 0) for s0 { if (.. mod 3 <= 1) for s1 {} }
  EXPECT_THAT(text,
              ::testing::ContainsRegex("remui(.|\n)*scf.if(.|\n)*maxsi(.|\n)*minsi(.|\n)*scf.for"
                                       "(.|\n)*remui(.|\n)*scf.if(.|\n)*scf.for"));
}

TEST_F(EmitLoopNestTest, LoopsWithoutAnEndAreAnError) {
  const auto module = Emit(Parse("()[s0] -> (), domain: s0 in [0, inf]"));
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("range variable 0 is in [0, inf], over which no loop can go"));
}

}  // namespace
}  // namespace xla_indexing
