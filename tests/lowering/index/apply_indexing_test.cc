// Index arithmetic against evaluation of the map: executed operation by operation, with nsw and nuw
// checked in 128 bits, and by LLVM.

#include "xla_indexing/lowering/index/apply_indexing.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/lowering/run/run_mlir.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

namespace arith = mlir::arith;
using ::testing::HasSubstr;
using Wide = absl::int128;

// A function of integers of one type, whose body is what is tested.
class IntegerFunction {
 public:
  IntegerFunction(mlir::MLIRContext* context, mlir::Type type, int arguments)
      : builder_(context), loc_(builder_.getUnknownLoc()) {
    context->loadDialect<mlir::affine::AffineDialect, arith::ArithDialect, mlir::func::FuncDialect,
                         mlir::memref::MemRefDialect>();
    module_ = mlir::ModuleOp::create(loc_);
    builder_.setInsertionPointToEnd(module_->getBody());
    llvm::SmallVector<mlir::Type, 8> types(arguments, type);
    types.push_back(mlir::MemRefType::get({mlir::ShapedType::kDynamic}, builder_.getI64Type()));
    auto function =
        mlir::func::FuncOp::create(builder_, loc_, "f", builder_.getFunctionType(types, {}));
    body_ = function.addEntryBlock();
    builder_.setInsertionPointToEnd(body_);
  }

  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location loc() const { return loc_; }
  mlir::ValueRange arguments() const { return body_->getArguments().drop_back(); }
  mlir::ModuleOp module() const { return *module_; }

  // Ends the function, which stores its results.
  void Store(llvm::ArrayRef<mlir::Value> results) {
    results_.assign(results.begin(), results.end());
    for (size_t i = 0; i < results.size(); ++i) {
      mlir::Value value = results[i];
      const mlir::Type wide = builder_.getI64Type();
      if (value.getType().isIndex()) {
        value = arith::IndexCastOp::create(builder_, loc_, wide, value);
      } else if (value.getType().isInteger(1)) {
        value = arith::ExtUIOp::create(builder_, loc_, wide, value);
      } else if (value.getType() != wide) {
        value = arith::ExtSIOp::create(builder_, loc_, wide, value);
      }
      const mlir::Value at =
          arith::ConstantIndexOp::create(builder_, loc_, static_cast<int64_t>(i));
      mlir::memref::StoreOp::create(builder_, loc_, value, body_->getArguments().back(), at);
    }
    mlir::func::ReturnOp::create(builder_, loc_);
  }

  // The results, operation by operation. Nothing if nsw or nuw is wrong, or an operation is undefined.
  std::optional<std::vector<int64_t>> Interpret(llvm::ArrayRef<int64_t> arguments) {
    llvm::DenseMap<mlir::Value, Wide> values;
    for (size_t i = 0; i < arguments.size(); ++i) values[body_->getArgument(i)] = arguments[i];
    for (mlir::Operation& operation : *body_) {
      if (llvm::isa<mlir::memref::StoreOp, mlir::func::ReturnOp>(operation)) continue;
      const std::optional<Wide> value = ValueOf(operation, values);
      if (!value) return std::nullopt;
      values[operation.getResult(0)] = *value;
    }
    std::vector<int64_t> results;
    for (const mlir::Value result : results_)
      results.push_back(static_cast<int64_t>(values[result]));
    return results;
  }

 private:
  static int WidthOf(mlir::Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

  static Wide Unsigned(Wide value, int width) { return value & ((Wide(1) << width) - 1); }

  // The value of `width` bits, where no flag forbids it.
  static std::optional<Wide> Wrapped(Wide exact, Wide exact_unsigned, int width,
                                     arith::IntegerOverflowFlags flags) {
    const Wide modulus = Wide(1) << width;
    Wide value = exact & (modulus - 1);
    if (width > 1 && value >= modulus / 2) value -= modulus;
    const bool has_nsw = arith::bitEnumContainsAll(flags, arith::IntegerOverflowFlags::nsw);
    const bool has_nuw = arith::bitEnumContainsAll(flags, arith::IntegerOverflowFlags::nuw);
    if (has_nsw && value != exact) return std::nullopt;
    if (has_nuw && (exact_unsigned < 0 || exact_unsigned >= modulus)) return std::nullopt;
    return value;
  }

  static std::optional<Wide> ValueOf(mlir::Operation& operation,
                                     llvm::DenseMap<mlir::Value, Wide>& values) {
    const auto operand = [&](int i) { return values[operation.getOperand(i)]; };
    const int width = WidthOf(operation.getResult(0).getType());
    const auto bits = [&](int i) { return Unsigned(operand(i), width); };
    const auto signed_of = [&](Wide value) {
      return *Wrapped(value, value, width, arith::IntegerOverflowFlags::none);
    };
    using Result = std::optional<Wide>;
    return llvm::TypeSwitch<mlir::Operation*, Result>(&operation)
        .Case([&](arith::ConstantOp op) -> Result {
          const auto value = llvm::cast<mlir::IntegerAttr>(op.getValue()).getValue();
          return width == 1 ? Wide(value.getZExtValue()) : Wide(value.getSExtValue());
        })
        .Case([&](arith::AddIOp op) {
          return Wrapped(operand(0) + operand(1), bits(0) + bits(1), width, op.getOverflowFlags());
        })
        .Case([&](arith::SubIOp op) {
          return Wrapped(operand(0) - operand(1), bits(0) - bits(1), width, op.getOverflowFlags());
        })
        .Case([&](arith::MulIOp op) {
          // Numbers of 64 bits: the exact product fits 128.
          const bool is_small = operand(0) >= 0 && operand(1) >= 0;
          return Wrapped(operand(0) * operand(1), is_small ? operand(0) * operand(1) : Wide(-1),
                         width, op.getOverflowFlags());
        })
        .Case([&](arith::DivUIOp) -> Result {
          if (bits(1) == 0) return std::nullopt;
          return signed_of(bits(0) / bits(1));
        })
        .Case([&](arith::RemUIOp) -> Result {
          if (bits(1) == 0) return std::nullopt;
          return signed_of(bits(0) % bits(1));
        })
        .Case([&](arith::RemSIOp) -> Result {
          if (operand(1) == 0 || operand(1) == -1) return std::nullopt;
          return operand(0) % operand(1);
        })
        .Case([&](arith::MaxSIOp) -> Result { return std::max(operand(0), operand(1)); })
        .Case([&](arith::MinSIOp) -> Result { return std::min(operand(0), operand(1)); })
        .Case([&](arith::AndIOp) -> Result { return operand(0) & operand(1); })
        .Case([&](arith::SelectOp) -> Result { return operand(0) != 0 ? operand(1) : operand(2); })
        .Case([&](arith::IndexCastOp) -> Result { return operand(0); })
        .Case([&](arith::ExtSIOp) -> Result { return operand(0); })
        .Case([&](arith::ExtUIOp) -> Result { return operand(0); })
        .Case([&](arith::CmpIOp op) -> Result {
          switch (op.getPredicate()) {
            case arith::CmpIPredicate::slt:
              return operand(0) < operand(1);
            case arith::CmpIPredicate::sle:
              return operand(0) <= operand(1);
            case arith::CmpIPredicate::sge:
              return operand(0) >= operand(1);
            case arith::CmpIPredicate::sgt:
              return operand(0) > operand(1);
            case arith::CmpIPredicate::eq:
              return operand(0) == operand(1);
            default:
              return std::nullopt;
          }
        })
        .Default([](mlir::Operation*) { return std::nullopt; });
  }

  mlir::OpBuilder builder_;
  mlir::Location loc_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::Block* body_ = nullptr;
  std::vector<mlir::Value> results_;
};

class ApplyIndexingTest : public ::testing::Test {
 protected:
  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, context_.get());
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *map : IndexingMap(context_.get());
  }

  mlir::Type Type(int width) {
    return width == 0 ? mlir::Type(mlir::IndexType::get(context_.get()))
                      : mlir::Type(mlir::IntegerType::get(context_.get(), width));
  }

  // Points of the map's intervals that a type of that width holds.
  static std::vector<llvm::SmallVector<int64_t, 8>> Points(const IndexingMap& map, int width) {
    std::vector<llvm::SmallVector<int64_t, 8>> points;
    for (const auto& point : SamplePoints(map, 40)) {
      const bool fits = llvm::all_of(
          point, [&](int64_t x) { return width != 32 || (x >= INT32_MIN && x <= INT32_MAX); });
      if (fits) points.push_back(point);
    }
    return points;
  }

  std::unique_ptr<mlir::MLIRContext> context_ = MakeLoweringContext();
};

TEST_F(ApplyIndexingTest, RandomMapsHaveTheValuesThatEvaluationGives) {
  RandomMaps random(11, context_.get());
  int emitted = 0;
  int points = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    const IndexingMap map = random.Map();
    const int width = i % 3 == 0 ? 0 : (i % 3 == 1 ? 32 : 64);
    IntegerFunction function(context_.get(), Type(width), map.num_dims() + map.num_symbols());
    const mlir::ValueRange arguments = function.arguments();
    const auto values =
        ApplyIndexing(function.builder(), function.loc(), map, arguments.take_front(map.num_dims()),
                      arguments.drop_front(map.num_dims()));
    if (!values.ok()) {
      EXPECT_TRUE(absl::IsOutOfRange(values.status())) << values.status();
      continue;
    }
    ++emitted;
    function.Store(*values);
    for (const auto& point : Points(map, map.num_dims() + map.num_symbols() == 0 ? 0 : width)) {
      const llvm::ArrayRef<int64_t> all(point);
      const auto dims = all.take_front(map.num_dims());
      const auto symbols = all.drop_front(map.num_dims());
      const auto inside = map.Contains(dims, symbols);
      if (!inside.ok() || !*inside) continue;
      ++points;
      const auto expected = map.Evaluate(dims, symbols);
      ASSERT_TRUE(expected.ok()) << expected.status() << map.ToString();
      const auto got = function.Interpret(point);
      ASSERT_TRUE(got.has_value()) << map.ToString();
      ASSERT_EQ(*got, std::vector<int64_t>(expected->begin(), expected->end())) << map.ToString();
    }
  }
  EXPECT_GT(emitted, Cases(8000));
  EXPECT_GT(points, Cases(40000));
}

TEST_F(ApplyIndexingTest, DomainsOfRandomMapsAreThoseThatContainsGives) {
  RandomMaps random(12, context_.get());
  int emitted = 0;
  int inside = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    const IndexingMap map = random.Map();
    const int count = map.num_dims() + map.num_symbols();
    IntegerFunction function(context_.get(), Type(i % 2 == 0 ? 0 : 64), count);
    const mlir::ValueRange arguments = function.arguments();
    // What is known: nothing, or other intervals.
    std::optional<IndexingMap> known;
    if (i % 4 >= 2) {
      known = map;
      for (int d = 0; d < map.num_dims(); ++d) known->mutable_dim(d).bounds = random.Bounds();
      if (known->IsKnownEmpty()) continue;
    }
    const auto holds =
        CheckDomain(function.builder(), function.loc(), map, arguments.take_front(map.num_dims()),
                    arguments.drop_front(map.num_dims()), known ? &*known : nullptr);
    if (!holds.ok()) {
      EXPECT_TRUE(absl::IsOutOfRange(holds.status())) << holds.status();
      continue;
    }
    ++emitted;
    function.Store(*holds);
    std::vector<llvm::SmallVector<int64_t, 8>> points = Points(map, 0);
    for (llvm::SmallVector<int64_t, 8> point : Points(map, 0)) {
      for (int64_t& x : point) x = random.Chance(30) ? random.Number() : x;
      points.push_back(point);
    }
    for (const auto& point : points) {
      const llvm::ArrayRef<int64_t> all(point);
      const auto dims = all.take_front(map.num_dims());
      const auto symbols = all.drop_front(map.num_dims());
      if (known) {
        const auto is_known = known->Contains(dims, symbols);
        if (!is_known.ok() || !*is_known) continue;
      }
      const auto expected = map.Contains(dims, symbols);
      if (!expected.ok()) continue;
      const auto got = function.Interpret(point);
      ASSERT_TRUE(got.has_value()) << map.ToString();
      ASSERT_EQ(got->front() != 0, *expected) << map.ToString();
      inside += *expected ? 1 : 0;
    }
  }
  EXPECT_GT(emitted, Cases(8000));
  EXPECT_GT(inside, Cases(20000));
}

TEST_F(ApplyIndexingTest, ExecutedByLlvm) {
  RandomMaps random(13, context_.get());
  int run = 0;
  while (run < Cases(300)) {
    const IndexingMap map = random.Map();
    const int count = map.num_dims() + map.num_symbols();
    if (count == 0) continue;
    IntegerFunction function(context_.get(), Type(0), count);
    const auto dims = function.arguments().take_front(map.num_dims());
    const auto symbols = function.arguments().drop_front(map.num_dims());
    const auto arithmetic = run % 2 == 0 ? IndexArithmetic::kArith : IndexArithmetic::kAffine;
    auto values = ApplyIndexing(function.builder(), function.loc(), map, dims, symbols, arithmetic);
    if (!values.ok()) continue;
    const auto holds = CheckDomain(function.builder(), function.loc(), map, dims, symbols);
    if (!holds.ok()) continue;
    values->push_back(*holds);
    function.Store(*values);
    auto compiled = CompiledModule::Compile(function.module());
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    ++run;
    for (const auto& point : Points(map, 0)) {
      const llvm::ArrayRef<int64_t> all(point);
      const auto expected =
          map.Contains(all.take_front(map.num_dims()), all.drop_front(map.num_dims()));
      if (!expected.ok()) continue;
      std::vector<int64_t> got(values->size(), -7);
      const absl::Status status =
          compiled->RunIntegers("f", std::vector<int64_t>(point.begin(), point.end()), &got);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(got.back() != 0, *expected) << map.ToString();
      if (!*expected) continue;
      got.pop_back();
      const auto results =
          map.Evaluate(all.take_front(map.num_dims()), all.drop_front(map.num_dims()));
      ASSERT_EQ(got, std::vector<int64_t>(results->begin(), results->end())) << map.ToString();
    }
  }
}

TEST_F(ApplyIndexingTest, WhatIntervalsDecideIsNotCompared) {
  const IndexingMap map =
      Parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 3], d0 + d1 in [2, 9]");
  IntegerFunction function(context_.get(), Type(0), 2);
  const auto holds =
      CheckDomain(function.builder(), function.loc(), map, function.arguments(), {}, &map);
  ASSERT_TRUE(holds.ok()) << holds.status();
  EXPECT_TRUE(mlir::matchPattern(*holds, mlir::m_One()));
  IndexingMap known = Parse("(d0, d1) -> (d0), domain: d0 in [0, 6], d1 in [0, 3]");
  const auto compared =
      CheckDomain(function.builder(), function.loc(), map, function.arguments(), {}, &known);
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_TRUE(llvm::isa<arith::CmpIOp>(compared->getDefiningOp()));
}

TEST_F(ApplyIndexingTest, NarrowestTypes) {
  EXPECT_EQ(NarrowestIndexType(Parse("(d0) -> (d0 * 4), domain: d0 in [0, 536870911]")).value(),
            Type(32));
  EXPECT_EQ(NarrowestIndexType(Parse("(d0) -> (d0 * 4), domain: d0 in [0, 536870912]")).value(),
            Type(64));
  EXPECT_EQ(NarrowestIndexType(Parse("(d0) -> ((d0 * 4) floordiv 8), domain: d0 in [0, 536870912]"))
                .value(),
            Type(64));
  const auto none = NarrowestIndexType(Parse("(d0) -> (d0 * 4), domain: d0 in [0, inf]"));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("which i64 does not hold"));
}

TEST_F(ApplyIndexingTest, ErrorsSayWhatIsWrong) {
  const IndexingMap map = Parse("(d0) -> (d0 * 4), domain: d0 in [0, 1073741824]");
  IntegerFunction function(context_.get(), Type(32), 2);
  const auto too_many =
      ApplyIndexing(function.builder(), function.loc(), map, function.arguments(), {});
  EXPECT_THAT(std::string(too_many.status().message()),
              HasSubstr("2 dimensions and 0 symbols for a map of 1 and 0"));
  const auto too_large = ApplyIndexing(function.builder(), function.loc(), map,
                                       function.arguments().take_front(1), {});
  EXPECT_THAT(std::string(too_large.status().message()),
              HasSubstr("d0 * 4 is in [0, 4294967296], which i32 does not hold"));
}

}  // namespace
}  // namespace xla_indexing
