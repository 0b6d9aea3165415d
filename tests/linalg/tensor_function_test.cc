// Operations of linalg, tensor and affine: their maps against what their definitions say, point by point.

#include "xla_indexing/linalg/tensor_function.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/advice/report_module.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {
namespace {

using Point = std::vector<int64_t>;
using Pairs = std::set<std::pair<Point, Point>>;

class TensorFunctionTest : public ::testing::Test {
 protected:
  TensorFunctionTest() {
    context_
        .loadDialect<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                     mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                     mlir::memref::MemRefDialect, mlir::tensor::TensorDialect>();
  }

  mlir::ModuleOp Parse(const std::string& text) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module_);
    return *module_;
  }

  template <typename Op>
  Op First() {
    Op found;
    module_->walk([&](Op op) {
      if (!found) found = op;
    });
    EXPECT_TRUE(found);
    return found;
  }

  // The pairs of an element of a result and one of an operand, by the maps in one direction.
  static Pairs PairsOf(const OpIndexing& indexing, int64_t leaf, mlir::Value operand,
                       Direction direction) {
    Pairs pairs;
    for (const IndexingEntry& entry : *indexing.entries) {
      if (entry.output_leaf != leaf || indexing.OperandOf(entry) != operand) continue;
      for (const OperandIndexing& map : entry.indexing) {
        EXPECT_TRUE(map.IsExact()) << map.ToString();
        const absl::Status status = map.map().ForEachPoint(
            1 << 20,
            [&](llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> to) {
              Point a(from.begin(), from.end());
              Point b(to.begin(), to.end());
              if (direction == Direction::kInputToOutput) std::swap(a, b);
              pairs.emplace(a, b);
            });
        EXPECT_TRUE(status.ok()) << status << map.ToString();
      }
    }
    return pairs;
  }

  void ExpectPairs(mlir::Operation* op, int64_t leaf, mlir::Value operand, const Pairs& expected) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const auto indexing = IndexingOf(op, direction);
      ASSERT_TRUE(indexing.ok()) << indexing.status();
      EXPECT_EQ(PairsOf(*indexing, leaf, operand, direction), expected)
          << op->getName().getStringRef().str() << " result " << leaf << ", direction "
          << static_cast<int>(direction) << "\n"
          << indexing->function.module().ToString();
    }
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

// All points of a box.
void ForEach(llvm::ArrayRef<int64_t> sizes, const std::function<void(const Point&)>& visit) {
  Point point(sizes.size(), 0);
  for (const int64_t size : sizes) {
    if (size == 0) return;
  }
  for (;;) {
    visit(point);
    size_t d = sizes.size();
    while (d > 0 && ++point[d - 1] == sizes[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

Point Compose(mlir::AffineMap map, const Point& point) {
  const llvm::SmallVector<int64_t, 4> values = map.compose(point);
  return Point(values.begin(), values.end());
}

constexpr char kLinalgOps[] = R"(
func.func @matmul(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
func.func @square(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @batch_matmul(%a: tensor<2x3x4xf16>, %b: tensor<2x4x2xf16>, %c: tensor<2x3x2xf16>) -> tensor<2x3x2xf16> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf16>, tensor<2x4x2xf16>) outs(%c : tensor<2x3x2xf16>) -> tensor<2x3x2xf16>
  return %0 : tensor<2x3x2xf16>
}
func.func @matvec(%a: tensor<3x4xi32>, %b: tensor<4xi32>, %c: tensor<3xi32>) -> tensor<3xi32> {
  %0 = linalg.matvec ins(%a, %b : tensor<3x4xi32>, tensor<4xi32>) outs(%c : tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @dot(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @conv(%x: tensor<1x7x6x2xf32>, %k: tensor<3x2x2x3xf32>, %c: tensor<1x3x5x3xf32>) -> tensor<1x3x5x3xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%x, %k : tensor<1x7x6x2xf32>, tensor<3x2x2x3xf32>) outs(%c : tensor<1x3x5x3xf32>) -> tensor<1x3x5x3xf32>
  return %0 : tensor<1x3x5x3xf32>
}
func.func @depthwise(%x: tensor<1x5x5x2xf32>, %k: tensor<2x2x2xf32>, %c: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %k : tensor<1x5x5x2xf32>, tensor<2x2x2xf32>) outs(%c : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
}
func.func @pooling(%x: tensor<1x6x6x2xf32>, %k: tensor<2x3xf32>, %c: tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> {
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>}
    ins(%x, %k : tensor<1x6x6x2xf32>, tensor<2x3xf32>) outs(%c : tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %0 : tensor<1x3x2x2xf32>
}
// A contraction over two loops, between them a batch, of numbers that are converted; its result is transposed.
func.func @contraction(%x: tensor<3x2x4x5xf16>, %y: tensor<5x6x3x2xf16>, %c: tensor<6x2x4xf32>) -> tensor<6x2x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d)>, affine_map<(a, b, c, d, e) -> (d, e, a, b)>,
      affine_map<(a, b, c, d, e) -> (e, b, c)>], iterator_types = ["reduction", "parallel", "parallel", "reduction", "parallel"]}
    ins(%x, %y : tensor<3x2x4x5xf16>, tensor<5x6x3x2xf16>) outs(%c : tensor<6x2x4xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %1 = arith.extf %a : f16 to f32
    %2 = arith.extf %b : f16 to f32
    %3 = arith.mulf %2, %1 : f32
    %4 = arith.addf %3, %s : f32
    linalg.yield %4 : f32
  } -> tensor<6x2x4xf32>
  return %0 : tensor<6x2x4xf32>
}
// Sums of products that are no dots: over a loop of one operand alone, and of a diagonal.
func.func @one_sided(%x: tensor<3x4xf32>, %y: tensor<3x2xf32>, %z: tensor<3x3xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, c)>,
      affine_map<(a, b, c) -> (a)>], iterator_types = ["parallel", "reduction", "reduction"]}
    ins(%x, %y : tensor<3x4xf32>, tensor<3x2xf32>) outs(%c : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b, b)>,
      affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]}
    ins(%z, %z : tensor<3x3xf32>, tensor<3x3xf32>) outs(%0 : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func @transpose(%x: tensor<2x3x4xf32>, %c: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%c : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %0 : tensor<4x2x3xf32>
}
func.func @broadcast(%x: tensor<2x4xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = linalg.broadcast ins(%x : tensor<2x4xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [1]
  return %0 : tensor<2x3x4xf32>
}
func.func @fill(%x: f32, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%x : f32) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.add ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @reduce(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<2x3x4xf32>) outs(%c : tensor<3xf32>) dimensions = [0, 2]
  return %0 : tensor<3xf32>
}
// A result of transposed dimensions, a diagonal, a constant and a sum of loops.
func.func @generic(%x: tensor<5x4xf32>, %y: tensor<4x4xf32>, %z: tensor<2x2xf32>, %c: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k * 2, j)>, affine_map<(i, j, k) -> (j, j)>,
      affine_map<(i, j, k) -> (k, 0)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y, %z : tensor<5x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>) outs(%c : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %e: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.addf %2, %e : f32
    linalg.yield %3 : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
)";

TEST_F(TensorFunctionTest, LinalgOperationsReadWhatTheirMapsSay) {
  Parse(kLinalgOps);
  int64_t compared = 0;
  module_->walk([&](mlir::linalg::LinalgOp op) {
    for (unsigned r = 0; r < op->getNumResults(); ++r) {
      mlir::OpOperand* init = op.getDpsInitOperand(r);
      std::set<void*> seen;
      for (const mlir::OpOperand& first : op->getOpOperands()) {
        const mlir::Value value = first.get();
        if (!seen.insert(value.getAsOpaquePointer()).second) continue;
        Pairs expected;
        for (mlir::OpOperand& operand : op->getOpOperands()) {
          if (operand.get() != value || !op.payloadUsesValueFromOperand(&operand)) continue;
          ForEach(op.getStaticLoopRanges(), [&](const Point& loops) {
            expected.emplace(Compose(op.getMatchingIndexingMap(init), loops),
                             Compose(op.getMatchingIndexingMap(&operand), loops));
          });
        }
        ExpectPairs(op, r, value, expected);
        compared += static_cast<int64_t>(expected.size());
      }
    }
  });
  EXPECT_GT(compared, 1900);
}

// Whether an operation is a dot, with what it starts from added.
TEST_F(TensorFunctionTest, ContractionsAreDots) {
  Parse(kLinalgOps);
  std::map<std::string, int> dots;
  module_->walk([&](mlir::linalg::LinalgOp op) {
    const auto function = TensorFunction::OfOperation(op);
    ASSERT_TRUE(function.ok()) << function.status();
    const HloComputation& steps = *function->InstructionOf(op)->calls();
    const std::string name = op->getParentOfType<mlir::func::FuncOp>().getName().str();
    for (const HloInstruction* step : steps.instructions()) {
      dots[name] += step->opcode() == HloOpcode::kDot ? 1 : 0;
    }
    if (dots[name] > 0) {
      EXPECT_EQ(steps.root_instruction()->opcode(), HloOpcode::kAdd);
    }
  });
  for (const auto& [name, count] : dots) {
    const bool is_dot = name == "matmul" || name == "square" || name == "batch_matmul" ||
                        name == "matvec" || name == "dot" || name == "contraction";
    EXPECT_EQ(count, is_dot ? 1 : 0) << name;
  }
}

// The steps of a dot are a dimension that tiles are cut along.
TEST_F(TensorFunctionTest, AContractionHasTilesOfItsSteps) {
  Parse(kLinalgOps);
  const auto function = TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f");
  ASSERT_TRUE(function.ok()) << function.status();
  const auto view = FusionView::OfComputation(function->computation());
  ASSERT_TRUE(view.ok()) << view.status();
  const auto tiled = TiledComputation::Create(view->computation(), &context_, WithGivenMaps());
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  const auto graph = tiled->Instantiate({2, 2, 3});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->IsExact());
  // Two steps for each of 6 programs; bytes of the operands, for each row and column of programs, and of
  // what is added to and stored.
  EXPECT_EQ(graph->Cost().num_programs, 6);
  EXPECT_EQ(graph->Cost().moved_bytes, 4 * (3 * 4 * 3 + 4 * 5 * 2 + 2 * 3 * 5));
}

// Questions about functions of MLIR as about other modules.
TEST_F(TensorFunctionTest, FunctionsAreCompared) {
  const auto function_of = [&](const std::string& op, const std::string& c) {
    Parse(absl::StrCat(
        "func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> "
        "tensor<4x4xf32> {\n%0 = ",
        op, " ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(", c,
        " : tensor<4x4xf32>) -> tensor<4x4xf32>\nreturn %0 : tensor<4x4xf32>\n}"));
    auto function = TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f");
    EXPECT_TRUE(function.ok()) << function.status();
    return *std::move(function);
  };
  const TensorFunction matmul = function_of("linalg.matmul", "%c");
  const TensorFunction same = function_of("linalg.matmul", "%c");
  const TensorFunction transposed = function_of(
      "linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, "
      "j)>, "
      "affine_map<(i, j, k) -> (i, j)>]",
      "%c");
  const FusionOptions options = WithGivenMaps();
  const auto equal = CompareReads(matmul.computation(), same.computation(), &context_, options);
  ASSERT_TRUE(equal.ok()) << equal.status();
  EXPECT_EQ(equal->same, Answer::kYes);
  const auto differs =
      CompareReads(matmul.computation(), transposed.computation(), &context_, options);
  ASSERT_TRUE(differs.ok()) << differs.status();
  EXPECT_EQ(differs->reads, Answer::kNo);
}

// The sum may take the place of what is added to, and of nothing that a later element reads.
TEST_F(TensorFunctionTest, AContractionMayTakeThePlaceOfWhatItAddsTo) {
  Parse(kLinalgOps);
  auto square = First<mlir::linalg::MatmulOp>();
  module_->walk([&](mlir::linalg::MatmulOp op) { square = op; });
  const auto function =
      TensorFunction::Create(square->getParentOfType<mlir::func::FuncOp>().getBody(), "square");
  ASSERT_TRUE(function.ok()) << function.status();
  HloIndexers indexers(&context_, WithGivenMaps());
  auto analysis = InPlaceAnalysis::OfComputation(function->computation(), indexers);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const auto sum = analysis->Safety({0, {1, 0}});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->answer, InPlaceAnswer::kAnyOrder);
  const auto factor = analysis->Safety({0, {0, 0}});
  ASSERT_TRUE(factor.ok()) << factor.status();
  EXPECT_EQ(factor->answer, InPlaceAnswer::kUnsafe);
}

// A kernel for each operation, one of which does the work of a dot.
TEST_F(TensorFunctionTest, AFunctionHasAReport) {
  Parse(R"(
func.func @f(%a: tensor<64x128xf32>, %b: tensor<128x32xf32>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x128xf32>, tensor<128x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = linalg.exp ins(%0 : tensor<64x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
})");
  const auto function = TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f");
  ASSERT_TRUE(function.ok()) << function.status();
  ModuleReportOptions how;
  how.copy = false;
  how.advise = false;
  const auto reported = ReportModule(function->module(), how);
  ASSERT_TRUE(reported.ok()) << reported.status();
  EXPECT_EQ(reported->report.analyses.size(), 2u);
  double flops = 0;
  for (const KernelAnalysis& analysis : reported->report.analyses) flops += analysis.flops;
  EXPECT_EQ(flops, 2.0 * 64 * 128 * 32);
}

// Random generics: permutations and sums of loops, reductions.
TEST_F(TensorFunctionTest, RandomGenericsReadWhatTheirMapsSay) {
  uint32_t state = 7;
  const auto random = [&](uint32_t n) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % n;
  };
  for (int i = 0; i < 150; ++i) {
    const uint32_t num_loops = 1 + random(3);
    std::vector<int64_t> sizes;
    std::string loops;
    std::string iterators;
    std::vector<uint32_t> order;
    std::vector<bool> is_reduced;
    for (uint32_t l = 0; l < num_loops; ++l) {
      sizes.push_back(1 + random(4));
      is_reduced.push_back(random(3) == 0);
      loops += (l ? ", d" : "d") + std::to_string(l);
      iterators +=
          std::string(l ? ", " : "") + (is_reduced.back() ? "\"reduction\"" : "\"parallel\"");
      order.insert(order.begin() + random(l + 1), l);
    }
    std::string result_map;
    std::string result_type = "tensor<";
    for (const uint32_t l : order) {
      if (is_reduced[l]) continue;
      result_map += (result_map.empty() ? "d" : ", d") + std::to_string(l);
      result_type += std::to_string(sizes[l]) + "x";
    }
    result_type += "f32>";
    // One operand that fixes the loops' sizes, another with sums.
    std::string sum_map;
    std::string sum_type = "tensor<";
    for (uint32_t d = random(3); d > 0; --d) {
      const uint32_t a = random(num_loops);
      const uint32_t b = random(num_loops);
      const uint32_t factor = 1 + random(3);
      sum_map += absl::StrCat(sum_map.empty() ? "" : ", ", "d", a, " + d", b, " * ", factor);
      sum_type += std::to_string(sizes[a] - 1 + (sizes[b] - 1) * factor + 1) + "x";
    }
    sum_type += "f32>";
    std::string loop_type = "tensor<";
    for (const int64_t size : sizes) loop_type += std::to_string(size) + "x";
    loop_type += "f32>";
    const auto map = [&](const std::string& results) {
      return "affine_map<(" + loops + ") -> (" + results + ")>";
    };
    Parse("func.func @f(%x: " + loop_type + ", %y: " + sum_type + ", %c: " + result_type + ") -> " +
          result_type + " {\n%0 = linalg.generic {indexing_maps = [" + map(loops) + ", " +
          map(sum_map) + ", " + map(result_map) + "], iterator_types = [" + iterators +
          "]} ins(%x, %y : " + loop_type + ", " + sum_type + ") outs(%c : " + result_type +
          ") {\n^bb0(%a: f32, %b: f32, %d: f32):\n%1 = arith.addf %a, %b : f32\n"
          "%2 = arith.addf %1, %d : f32\nlinalg.yield %2 : f32 } -> " +
          result_type + "\nreturn %0 : " + result_type + "}");
    auto op = First<mlir::linalg::GenericOp>();
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      Pairs expected;
      ForEach(sizes, [&](const Point& point) {
        expected.emplace(Compose(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), point),
                         Compose(op.getMatchingIndexingMap(&operand), point));
      });
      ExpectPairs(op, 0, operand.get(), expected);
    }
  }
}

TEST_F(TensorFunctionTest, AResultReadsWhatItsYieldedValueIsComputedFrom) {
  // The second result carries the first on: it reads what that reads, too.
  Parse(R"(
func.func @two(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%x, %y : tensor<3x4xf32>, tensor<3x4xf32>) outs(%c, %d : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %t: f32):
    %1 = arith.addf %a, %s : f32
    %2 = arith.addf %b, %t : f32
    %3 = arith.addf %2, %s : f32
    linalg.yield %1, %3 : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
})");
  auto op = First<mlir::linalg::GenericOp>();
  Pairs rows;
  Pairs same;
  ForEach({3, 4}, [&](const Point& point) { rows.emplace(Point{point[0]}, point); });
  ForEach({3}, [&](const Point& point) { same.emplace(point, point); });
  ExpectPairs(op, 0, op->getOperand(0), rows);
  ExpectPairs(op, 0, op->getOperand(1), {});
  ExpectPairs(op, 0, op->getOperand(2), same);
  ExpectPairs(op, 0, op->getOperand(3), {});
  ExpectPairs(op, 1, op->getOperand(0), rows);
  ExpectPairs(op, 1, op->getOperand(1), rows);
  ExpectPairs(op, 1, op->getOperand(2), same);
  ExpectPairs(op, 1, op->getOperand(3), same);
}

TEST_F(TensorFunctionTest, TensorOperationsMoveElements) {
  Parse(R"(
func.func @f(%x: tensor<8x6xf32>, %y: tensor<3x6xf32>, %v: f32, %i: tensor<5x1xindex>) {
  %0 = tensor.extract_slice %x[1, 2] [3, 1] [2, 1] : tensor<8x6xf32> to tensor<3xf32>
  %1 = tensor.insert_slice %y into %x[4, 0] [3, 6] [1, 1] : tensor<3x6xf32> into tensor<8x6xf32>
  %2 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  %3 = tensor.collapse_shape %x [[0, 1]] : tensor<8x6xf32> into tensor<48xf32>
  %4 = tensor.pad %y low[1, 0] high[0, 2] { ^bb0(%a: index, %b: index): tensor.yield %v : f32 } : tensor<3x6xf32> to tensor<4x8xf32>
  %5 = tensor.concat dim(0) %y, %x : (tensor<3x6xf32>, tensor<8x6xf32>) -> tensor<11x6xf32>
  %6 = arith.addf %x, %x : tensor<8x6xf32>
  return
})");
  const auto expect = [&](mlir::Operation* op, int operand, llvm::ArrayRef<int64_t> sizes,
                          const std::function<bool(const Point&, Point*)>& reads) {
    Pairs expected;
    ForEach(sizes, [&](const Point& element) {
      Point read;
      if (reads(element, &read)) expected.emplace(element, read);
    });
    ASSERT_FALSE(expected.empty());
    ExpectPairs(op, 0, op->getOperand(operand), expected);
  };
  expect(First<mlir::tensor::ExtractSliceOp>(), 0, {3}, [](const Point& e, Point* read) {
    *read = {1 + 2 * e[0], 2};
    return true;
  });
  auto insert = First<mlir::tensor::InsertSliceOp>();
  expect(insert, 0, {8, 6}, [](const Point& e, Point* read) {
    *read = {e[0] - 4, e[1]};
    return e[0] >= 4 && e[0] < 7;
  });
  expect(insert, 1, {8, 6}, [](const Point& e, Point* read) {
    *read = e;
    return e[0] < 4 || e[0] >= 7;
  });
  expect(First<mlir::tensor::ExpandShapeOp>(), 0, {2, 4, 6}, [](const Point& e, Point* read) {
    *read = {e[0] * 4 + e[1], e[2]};
    return true;
  });
  expect(First<mlir::tensor::CollapseShapeOp>(), 0, {48}, [](const Point& e, Point* read) {
    *read = {e[0] / 6, e[0] % 6};
    return true;
  });
  auto pad = First<mlir::tensor::PadOp>();
  expect(pad, 0, {4, 8}, [](const Point& e, Point* read) {
    *read = {e[0] - 1, e[1]};
    return e[0] >= 1 && e[1] < 6;
  });
  expect(First<mlir::tensor::ConcatOp>(), 0, {11, 6}, [](const Point& e, Point* read) {
    *read = e;
    return e[0] < 3;
  });
  expect(First<mlir::tensor::ConcatOp>(), 1, {11, 6}, [](const Point& e, Point* read) {
    *read = {e[0] - 3, e[1]};
    return e[0] >= 3;
  });
  expect(First<mlir::arith::AddFOp>(), 0, {8, 6}, [](const Point& e, Point* read) {
    *read = e;
    return true;
  });
}

TEST_F(TensorFunctionTest, OffsetsThatAreValuesAreRuntimeVariables) {
  Parse(R"(
func.func @f(%x: tensor<8x6xf32>, %i: index, %t: tensor<5x1xindex>, %m: memref<8x6xf32>, %v: f32) {
  %0 = tensor.extract_slice %x[%i, 2] [3, 4] [2, 1] : tensor<8x6xf32> to tensor<3x4xf32>
  %1 = tensor.gather %x[%t] gather_dims([0]) : (tensor<8x6xf32>, tensor<5x1xindex>) -> tensor<5x6xf32>
  affine.for %k = 0 to 8 {
    %2 = affine.load %m[%k, (%i + 1) mod 6] : memref<8x6xf32>
    affine.store %v, %m[%k, 3] : memref<8x6xf32>
  }
  return
})");
  struct Case {
    mlir::Operation* op;
    int operand;
    const char* map;
    std::vector<mlir::Value> bindings;
  };
  mlir::func::FuncOp function = First<mlir::func::FuncOp>();
  auto loop = First<mlir::affine::AffineForOp>();
  const mlir::Value i = function.getArgument(1);
  const std::vector<Case> cases = {
      {First<mlir::tensor::ExtractSliceOp>(),
       0,
       "(d0, d1){rt0} -> (d0 * 2 + rt0, d1 + 2), domain: d0 in [0, 2], d1 in [0, 3], rt0 in [0, 3]",
       {i}},
      {First<mlir::tensor::GatherOp>(),
       0,
       "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 4], d1 in [0, 5], rt0 in [0, 7]",
       {function.getArgument(2)}},
      {First<mlir::affine::AffineLoadOp>(), 0, nullptr, {loop.getInductionVar(), i}},
      {First<mlir::affine::AffineStoreOp>(), 0, nullptr, {loop.getInductionVar()}},
  };
  for (const Case& each : cases) {
    const auto indexing = IndexingOf(each.op, Direction::kOutputToInput);
    ASSERT_TRUE(indexing.ok()) << indexing.status();
    bool found = false;
    for (const IndexingEntry& entry : *indexing->entries) {
      const mlir::Value array = mlir::isa<mlir::affine::AffineLoadOp>(each.op)
                                    ? function.getArgument(3)
                                    : each.op->getOperand(each.operand);
      if (indexing->OperandOf(entry) != array) continue;
      ASSERT_EQ(entry.indexing.size(), 1u);
      const OperandIndexing& map = *entry.indexing.begin();
      EXPECT_TRUE(map.IsExact());
      if (each.map != nullptr) {
        EXPECT_EQ(map.map().ToString(), each.map);
      }
      std::vector<mlir::Value> bound;
      for (const RuntimeVarIndexing& binding : map.bindings()) {
        bound.push_back(indexing->function.ValueOf(*binding.instruction));
      }
      EXPECT_THAT(bound, ::testing::UnorderedElementsAreArray(each.bindings)) << map.ToString();
      found = true;
    }
    EXPECT_TRUE(found) << each.op->getName().getStringRef().str();
  }
}

// Values of an element of a load's memory, for all values of the loop variables, and what a store leaves.
TEST_F(TensorFunctionTest, AccessesOfMemoryAreThoseOfTheirMaps) {
  Parse(R"(
func.func @f(%m: memref<3x4xf32>, %v: f32) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 8 {
      %2 = affine.load %m[%i, %j floordiv 2] : memref<3x4xf32>
      affine.store %v, %m[%i, %j floordiv 2] : memref<3x4xf32>
    }
  }
  return
})");
  const auto with_values = [&](const OperandIndexing& map, const TensorFunction& function,
                               int64_t i, int64_t j) {
    std::vector<int64_t> numbers;
    for (const RuntimeVarIndexing& binding : map.bindings()) {
      const mlir::Value value = function.ValueOf(*binding.instruction);
      const auto argument = mlir::cast<mlir::BlockArgument>(value);
      auto loop = mlir::cast<mlir::affine::AffineForOp>(argument.getOwner()->getParentOp());
      numbers.push_back(loop->getParentOfType<mlir::affine::AffineForOp>() ? j : i);
    }
    return RuntimesToConstants(map.map(), numbers).value();
  };
  auto load = First<mlir::affine::AffineLoadOp>();
  auto store = First<mlir::affine::AffineStoreOp>();
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      for (mlir::Operation* op : {load.getOperation(), store.getOperation()}) {
        const auto indexing = IndexingOf(op, Direction::kOutputToInput);
        ASSERT_TRUE(indexing.ok()) << indexing.status();
        Pairs of_memory;
        Pairs of_value;
        for (const IndexingEntry& entry : *indexing->entries) {
          const mlir::Value operand = indexing->OperandOf(entry);
          if (mlir::isa<mlir::IndexType>(operand.getType())) continue;
          Pairs& pairs = mlir::isa<mlir::MemRefType>(operand.getType()) ? of_memory : of_value;
          for (const OperandIndexing& map : entry.indexing) {
            ASSERT_TRUE(with_values(map, indexing->function, i, j)
                            .ForEachPoint(1 << 20,
                                          [&](auto from, auto, auto to) {
                                            pairs.emplace(Point(from.begin(), from.end()),
                                                          Point(to.begin(), to.end()));
                                          })
                            .ok());
          }
        }
        const Point element = {i, j / 2};
        Pairs others;
        ForEach({3, 4}, [&](const Point& other) { others.emplace(other, other); });
        others.erase({element, element});
        const Pairs loaded = {{{}, element}};
        const Pairs stored = {{element, {}}};
        EXPECT_EQ(of_memory, op == load ? loaded : others);
        EXPECT_EQ(of_value, op == load ? Pairs() : stored);
      }
    }
  }
}

TEST_F(TensorFunctionTest, AFunctionIsAModuleOfFusions) {
  Parse(R"(
func.func @f(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %bias : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %unused: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %sum : tensor<8x4xf32>
})");
  auto function = TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f");
  ASSERT_TRUE(function.ok()) << function.status();
  HloIndexer indexer(&context_, WithGivenMaps());
  const auto reads = indexer.IndexSimplified(function->computation(), Direction::kOutputToInput);
  ASSERT_TRUE(reads.ok()) << reads.status();
  std::string text;
  for (const IndexingEntry& entry : **reads) {
    for (const OperandIndexing& map : entry.indexing) {
      text += std::to_string(entry.operand) + " " + map.ToString() + "\n";
    }
  }
  EXPECT_EQ(text,
            "0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], d1 in [0, 3], s0 in [0, 15]\n"
            "1 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 7], d1 in [0, 3], s0 in [0, 15]\n"
            "2 (d0, d1) -> (d1), domain: d0 in [0, 7], d1 in [0, 3]\n");
  auto matmul = First<mlir::linalg::MatmulOp>();
  const HloInstruction* product = function->InstructionOf(matmul);
  ASSERT_NE(product, nullptr);
  HloIndexers indexers(&context_, WithGivenMaps());
  const auto utilization = ComputeUtilization(*product, indexers);
  ASSERT_TRUE(utilization.ok());
  EXPECT_EQ(utilization->operands[0].utilization.reads, Interval::Point(8 * 4 * 16));
  EXPECT_EQ(function->ValueOf(*product), matmul.getResult(0));
}

// What is at the borders: arguments that nothing reads, no elements, several results, an operation that is not known.
TEST_F(TensorFunctionTest, UnusualFunctionsAreModulesToo) {
  Parse(R"(
func.func @f(%a: tensor<4xf32>, %m: memref<?xf32>, %b: tensor<4xi32>, %e: tensor<0x4xf32>, %z: f32)
    -> (tensor<4xf32>, tensor<4xi1>, tensor<0x4xf32>, tensor<4xf32>) {
  %0:2 = arith.addui_extended %b, %b : tensor<4xi32>, tensor<4xi1>
  %1 = linalg.fill ins(%z : f32) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  %2 = tensor.generate { ^bb0(%i: index): %v = tensor.extract %a[%i] : tensor<4xf32> tensor.yield %v : f32 } : tensor<4xf32>
  return %a, %0#1, %1, %2 : tensor<4xf32>, tensor<4xi1>, tensor<0x4xf32>, tensor<4xf32>
})");
  const auto function = TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f");
  ASSERT_TRUE(function.ok()) << function.status();
  HloIndexer indexer(&context_, WithGivenMaps());
  const auto reads = indexer.IndexSimplified(function->computation(), Direction::kOutputToInput);
  ASSERT_TRUE(reads.ok()) << reads.status();
  std::string text;
  for (const IndexingEntry& entry : **reads) {
    for (const OperandIndexing& map : entry.indexing) {
      text += std::to_string(entry.output_leaf) + " " + std::to_string(entry.operand) + " " +
              map.map().ToString() + (map.IsExact() ? "\n" : " or less\n");
    }
  }
  // The memory is no parameter.
  EXPECT_EQ(text,
            "0 0 (d0) -> (d0), domain: d0 in [0, 3]\n"
            "1 1 (d0) -> (d0), domain: d0 in [0, 3]\n"
            "3 0 (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3] or less\n");
}

TEST_F(TensorFunctionTest, ErrorsNameTheOperation) {
  const auto error_of = [&](const std::string& text) {
    Parse(text);
    return std::string(
        TensorFunction::Create(First<mlir::func::FuncOp>().getBody(), "f").status().message());
  };
  EXPECT_EQ(error_of("func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
                     "%0 = arith.negf %a : tensor<?xf32>\nreturn %0 : tensor<?xf32>}"),
            "arith.negf: an array whose sizes are not static");
  EXPECT_EQ(
      error_of("func.func @f(%a: tensor<4xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {\n"
               "%0 = tensor.insert_slice %a into %x[0] [4] [2] : tensor<4xf32> into tensor<8xf32>\n"
               "return %0 : tensor<8xf32>}"),
      "tensor.insert_slice: sizes that are not constants, or strides other than 1");
}

}  // namespace
}  // namespace xla_indexing
