// The dialect `indexing`: attributes are the maps of their text, folding and canonical forms keep values, and what is
// lowered does what the map says.

#include "xla_indexing/lowering/dialect/indexing_dialect.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tests/lowering/support/small_maps.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/lowering/dialect/indexing_passes.h"
#include "xla_indexing/lowering/run/run_mlir.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

namespace arith = mlir::arith;
using dialect::ApplyOp;
using dialect::IndexingMapAttr;
using dialect::LoopOp;
using dialect::YieldOp;
using ::testing::HasSubstr;

class IndexingDialectTest : public ::testing::Test {
 protected:
  IndexingDialectTest() {
    context_->loadDialect<dialect::IndexingDialect, arith::ArithDialect, mlir::func::FuncDialect,
                          mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
    context_->allowUnregisteredDialects();
  }

  // The attribute of a text; null, with what is said of it in `error`, where it is none.
  mlir::Attribute Parse(const std::string& text, std::string* error) {
    const mlir::ScopedDiagnosticHandler handler(context_.get(), [&](mlir::Diagnostic& diagnostic) {
      llvm::raw_string_ostream stream(*error);
      const auto loc = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
      if (loc) stream << loc.getLine() << ':' << loc.getColumn() << ": ";
      stream << diagnostic;
      return mlir::success();
    });
    return mlir::parseAttribute(text, context_.get());
  }

  // A function of indices and a memref of numbers that is stored to.
  mlir::OwningOpRef<mlir::ModuleOp> Function(int num_args) {
    builder_.emplace(context_.get());
    const mlir::Location loc = builder_->getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder_->setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<mlir::Type, 8> types(num_args, builder_->getIndexType());
    types.push_back(mlir::MemRefType::get({mlir::ShapedType::kDynamic}, builder_->getI64Type()));
    auto function =
        mlir::func::FuncOp::create(*builder_, loc, "f", builder_->getFunctionType(types, {}));
    mlir::Block* block = function.addEntryBlock();
    builder_->setInsertionPointToEnd(block);
    mlir::func::ReturnOp::create(*builder_, loc);
    builder_->setInsertionPointToStart(block);
    arguments_.assign(block->args_begin(), block->args_end());
    return module;
  }

  static mlir::LogicalResult Run(mlir::ModuleOp module,
                                 std::vector<std::unique_ptr<mlir::Pass>> passes) {
    mlir::PassManager manager(module.getContext());
    for (auto& pass : passes) manager.addPass(std::move(pass));
    return manager.run(module);
  }

  static std::string TextOf(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  mlir::Value Constant(int64_t value) {
    return arith::ConstantIndexOp::create(*builder_, builder_->getUnknownLoc(), value);
  }

  std::unique_ptr<mlir::MLIRContext> context_ = MakeLoweringContext();
  std::optional<mlir::OpBuilder> builder_;
  std::vector<mlir::Value> arguments_;
};

TEST_F(IndexingDialectTest, AttributesOfRandomMapsReadBack) {
  RandomMaps random(31, context_.get());
  for (int i = 0; i < Cases(5000); ++i) {
    const IndexingMap map = random.Map();
    const IndexingMapAttr attribute = IndexingMapAttr::get(map);
    EXPECT_EQ(attribute.getMap(), map);
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    std::string error;
    EXPECT_EQ(Parse(text, &error), attribute) << text << error;
  }
}

TEST_F(IndexingDialectTest, WhatIsNoMapIsAnErrorAtItsPlace) {
  std::string error;
  EXPECT_FALSE(Parse("#indexing.map<\"(d0) -> (d1), domain: d0 in [0, 1]\">", &error));
  EXPECT_THAT(error, HasSubstr("1:25: no indexing map: "));
  error.clear();
  EXPECT_FALSE(Parse("#indexing.map<\"(d0) \\0A -> (\">", &error));
  EXPECT_THAT(error, HasSubstr("1:15: no indexing map: "));
  for (const char* text : {"#indexing.map", "#indexing.map<", "#indexing.map<1>",
                           "#indexing.map<\"() -> ()\"", "#indexing.map<\"() -> ()>"}) {
    EXPECT_FALSE(Parse(text, &error)) << text;
  }
  // Texts with characters changed, left out and doubled are maps, or errors.
  RandomMaps random(32, context_.get());
  int64_t errors = 0;
  for (int i = 0; i < Cases(5000); ++i) {
    std::string text = random.Map().ToString();
    for (int64_t changes = random.Int(1, 3); changes > 0; --changes) {
      const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(text.size()) - 1));
      const char c = "()[]{}<>,:\"\\ds0159+-* \n"[random.Int(0, 22)];
      if (random.Chance(40)) {
        text[at] = c;
      } else if (random.Chance(50)) {
        text.insert(at, 1, c);
      } else {
        text.erase(at, text.size() > 1 ? 1 : 0);
      }
    }
    errors += Parse(absl::StrCat("#indexing.map<\"", text, "\">"), &error) ? 0 : 1;
  }
  EXPECT_GT(errors, Cases(2000));
}

TEST_F(IndexingDialectTest, EmptyMapsKeepTheirNumbersOfVariables) {
  std::string error;
  const mlir::Attribute one =
      Parse("#indexing.map<\"KNOWN EMPTY (d0)[s0]{rt0} -> 2 results\">", &error);
  const mlir::Attribute other = Parse("#indexing.map<\"KNOWN EMPTY (d0) -> 2 results\">", &error);
  ASSERT_TRUE(one && other) << error;
  EXPECT_NE(one, other);
  EXPECT_EQ(mlir::cast<IndexingMapAttr>(one).getMap().num_symbols(), 2);
}

// The number that a value is, given those of arguments; nothing if it is poison.
class ValuesOfApplies {
 public:
  explicit ValuesOfApplies(llvm::DenseMap<mlir::Value, int64_t> arguments)
      : arguments_(std::move(arguments)) {}

  std::optional<int64_t> ValueOf(mlir::Value value) {
    if (const auto known = arguments_.find(value); known != arguments_.end()) return known->second;
    llvm::APInt constant;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant))) return constant.getSExtValue();
    auto apply = value.getDefiningOp<ApplyOp>();
    EXPECT_TRUE(apply);
    std::vector<int64_t> numbers;
    for (const mlir::Value argument : apply.getArgs()) {
      const std::optional<int64_t> number = ValueOf(argument);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    const IndexingMap& map = apply.getMap().getMap();
    const llvm::ArrayRef<int64_t> all(numbers);
    const auto dims = all.take_front(map.num_dims());
    const auto symbols = all.drop_front(map.num_dims());
    if (!map.Contains(dims, symbols).value()) return std::nullopt;
    return map.Evaluate(dims, symbols).value()[mlir::cast<mlir::OpResult>(value).getResultNumber()];
  }

 private:
  llvm::DenseMap<mlir::Value, int64_t> arguments_;
};

// A map of small numbers with results.
IndexingMap SmallMap(RandomMaps& random, mlir::MLIRContext* context) {
  const IndexingMap loops = SmallLoops(random, context);
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (int64_t i = random.Int(1, 3); i > 0; --i) {
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(random.Int(-3, 3), context);
    for (int v = 0; v < loops.num_dims() + loops.num_symbols(); ++v) {
      const mlir::AffineExpr variable =
          v < loops.num_dims() ? mlir::getAffineDimExpr(v, context)
                               : mlir::getAffineSymbolExpr(v - loops.num_dims(), context);
      if (random.Chance(50)) sum = internal::Add(sum, internal::Scale(variable, random.Int(-2, 2)));
    }
    if (random.Chance(20)) sum = internal::FloorDiv(sum, random.Int(1, 4));
    if (random.Chance(20)) sum = internal::Mod(sum, random.Int(1, 5));
    if (random.Chance(20)) sum = mlir::getAffineConstantExpr(random.Int(-3, 3), context);
    results.push_back(sum);
  }
  // Domains as they come leave chains hardly a point.
  Variables dims(loops.dims());
  Variables ranges(loops.ranges());
  Variables runtimes(loops.runtimes());
  for (Variables* variables : {&dims, &ranges, &runtimes}) {
    for (Variable& variable : *variables) {
      if (random.Chance(70)) variable.bounds = Interval::Closed(-20, 20);
    }
  }
  return IndexingMap::Create(
             mlir::AffineMap::get(loops.num_dims(), loops.num_symbols(), results, context), dims,
             ranges, runtimes, random.Chance(70) ? Constraints() : Constraints(loops.constraints()))
      .value();
}

TEST_F(IndexingDialectTest, CanonicalFormsKeepTheValuesOfChains) {
  RandomMaps random(33, context_.get());
  int64_t compared = 0;
  int64_t fewer = 0;
  for (int i = 0; i < Cases(2000); ++i) {
    mlir::OwningOpRef<mlir::ModuleOp> module = Function(2);
    const mlir::Location loc = builder_->getUnknownLoc();
    const int64_t from = random.Int(-2, 1);
    const int64_t to = from + random.Int(0, 4);
    const mlir::Value constant = Constant(random.Int(-3, 3));
    auto loop = mlir::scf::ForOp::create(*builder_, loc, Constant(from), Constant(to), Constant(1));
    std::vector<mlir::Value> values = {arguments_[0], arguments_[1], loop.getInductionVar(),
                                       constant};
    builder_->setInsertionPointToStart(loop.getBody());
    for (int64_t applies = random.Int(1, 5); applies > 0; --applies) {
      const IndexingMap map = SmallMap(random, context_.get());
      MlirValues args;
      for (int v = 0; v < map.num_dims() + map.num_symbols(); ++v) {
        // Mostly of the last ones, which makes chains.
        const auto last = static_cast<int64_t>(values.size()) - 1;
        args.push_back(values[random.Chance(60) ? std::max<int64_t>(0, last - random.Int(0, 2))
                                                : random.Int(0, last)]);
      }
      auto apply = ApplyOp::create(*builder_, loc, IndexingMapAttr::get(map), args);
      values.insert(values.end(), apply->result_begin(), apply->result_end());
    }
    mlir::OperationState state(loc, "test.use");
    state.addOperands(llvm::ArrayRef<mlir::Value>(values).drop_front(4));
    mlir::Operation* use = builder_->create(state);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    const auto values_at = [&](int64_t a, int64_t b, int64_t iteration) {
      ValuesOfApplies evaluator(
          {{arguments_[0], a}, {arguments_[1], b}, {loop.getInductionVar(), iteration}});
      std::vector<std::optional<int64_t>> results;
      for (const mlir::Value value : use->getOperands()) {
        results.push_back(evaluator.ValueOf(value));
      }
      return results;
    };
    std::map<std::vector<int64_t>, std::vector<std::optional<int64_t>>> before;
    for (int64_t a = -3; a <= 3; ++a) {
      for (int64_t b = -3; b <= 3; ++b) {
        for (int64_t c = from; c < to; ++c) before[{a, b, c}] = values_at(a, b, c);
      }
    }
    const std::string text = TextOf(*module);
    const auto count = [&] {
      int64_t ops = 0;
      module->walk([&](ApplyOp) { ++ops; });
      return ops;
    };
    const int64_t applies_before = count();
    std::vector<std::unique_ptr<mlir::Pass>> passes;
    if (random.Chance(50)) passes.push_back(CreateIndexingNarrowPass());
    // Without regions that never run being removed, so that what is compared stays.
    auto canonicalize = [&] {
      mlir::RewritePatternSet patterns(context_.get());
      ApplyOp::getCanonicalizationPatterns(patterns, context_.get());
      mlir::GreedyRewriteConfig config;
      config.enableFolding(true);
      bool changed = false;
      return mlir::applyPatternsGreedily(loop.getBody()->getParent()[0], std::move(patterns),
                                         config, &changed);
    };
    ASSERT_TRUE(mlir::succeeded(Run(*module, std::move(passes)))) << text;
    ASSERT_TRUE(mlir::succeeded(canonicalize())) << "does not end:\n" << text;
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module))) << text;
    fewer += count() < applies_before ? 1 : 0;
    for (const auto& [point, expected] : before) {
      const auto got = values_at(point[0], point[1], point[2]);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t k = 0; k < got.size(); ++k) {
        if (!expected[k]) continue;
        ASSERT_EQ(got[k], expected[k]) << text << TextOf(*module);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, Cases(100000));
  EXPECT_GT(fewer, Cases(500));
}

TEST_F(IndexingDialectTest, ConstantsFoldToWhatTheMapSays) {
  RandomMaps random(34, context_.get());
  for (int i = 0; i < Cases(2000); ++i) {
    const IndexingMap map = SmallMap(random, context_.get());
    mlir::OwningOpRef<mlir::ModuleOp> module = Function(0);
    std::vector<int64_t> numbers;
    MlirValues args;
    for (int v = 0; v < map.num_dims() + map.num_symbols(); ++v) {
      numbers.push_back(random.Int(-4, 4));
      args.push_back(Constant(numbers.back()));
    }
    const auto apply =
        ApplyOp::create(*builder_, builder_->getUnknownLoc(), IndexingMapAttr::get(map), args);
    llvm::SmallVector<mlir::Value> folded;
    ASSERT_TRUE(mlir::succeeded(builder_->tryFold(apply, folded)));
    const llvm::ArrayRef<int64_t> all(numbers);
    if (!map.Contains(all.take_front(map.num_dims()), all.drop_front(map.num_dims())).value()) {
      continue;
    }
    const auto expected =
        map.Evaluate(all.take_front(map.num_dims()), all.drop_front(map.num_dims())).value();
    for (const auto& [value, number] : llvm::zip(folded, expected)) {
      EXPECT_EQ(ValuesOfApplies(llvm::DenseMap<mlir::Value, int64_t>()).ValueOf(value), number)
          << map.ToString();
    }
  }
}

// A loop over a domain that stores a number of the points and results that were seen, and how many these are.
TEST_F(IndexingDialectTest, LoopsAndAppliesAreLoweredToWhatTheySay) {
  constexpr int64_t kFactor = 1000003;
  RandomMaps random(35, context_.get());
  int64_t visited = 0;
  for (int i = 0; i < Cases(1000); ++i) {
    const IndexingMap loops = SmallLoops(random, context_.get());
    const IndexingMap some = SmallMap(random, context_.get());
    // The domain of one with results of the other where these are of its variables.
    const bool fits =
        some.num_dims() <= loops.num_dims() && some.num_symbols() <= loops.num_symbols();
    const IndexingMap map =
        IndexingMap::Create(
            mlir::AffineMap::get(loops.num_dims(), loops.num_symbols(),
                                 fits ? some.results() : llvm::ArrayRef<mlir::AffineExpr>(),
                                 context_.get()),
            Variables(loops.dims()), Variables(loops.ranges()), Variables(loops.runtimes()),
            Constraints(loops.constraints()))
            .value();
    mlir::OwningOpRef<mlir::ModuleOp> module = Function(map.num_dims() + map.num_runtimes());
    const mlir::Location loc = builder_->getUnknownLoc();
    const llvm::ArrayRef<mlir::Value> all_arguments(arguments_);
    const MlirValues inits = {Constant(1), Constant(0)};
    auto loop =
        LoopOp::create(*builder_, loc, IndexingMapAttr::get(map), all_arguments.drop_back(), inits);
    llvm::SmallVector<mlir::Type> types(map.num_ranges() + map.num_results() + 2,
                                        builder_->getIndexType());
    mlir::Block* body = &loop.getBody().emplaceBlock();
    body->addArguments(types, llvm::SmallVector<mlir::Location>(types.size(), loc));
    {
      const mlir::OpBuilder::InsertionGuard back(*builder_);
      builder_->setInsertionPointToEnd(body);
      mlir::Value hash = body->getArgument(types.size() - 2);
      for (const mlir::Value seen : body->getArguments().drop_back(2)) {
        hash = arith::MulIOp::create(*builder_, loc, hash, Constant(kFactor));
        hash = arith::AddIOp::create(*builder_, loc, hash, seen);
      }
      const mlir::Value count =
          arith::AddIOp::create(*builder_, loc, body->getArgument(types.size() - 1), Constant(1));
      YieldOp::create(*builder_, loc, mlir::ValueRange{hash, count});
    }
    for (const int k : {0, 1}) {
      const mlir::Value number =
          arith::IndexCastOp::create(*builder_, loc, builder_->getI64Type(), loop.getCarried()[k]);
      mlir::memref::StoreOp::create(*builder_, loc, number, arguments_.back(), Constant(k));
    }
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    const std::string text = TextOf(*module);
    std::vector<std::unique_ptr<mlir::Pass>> passes;
    if (random.Chance(30)) passes.push_back(CreateIndexingNarrowPass());
    if (random.Chance(50)) passes.push_back(mlir::createCanonicalizerPass());
    passes.push_back(CreateIndexingLowerPass());
    ASSERT_TRUE(mlir::succeeded(Run(*module, std::move(passes)))) << text;
    auto compiled = CompiledModule::Compile(*module);
    ASSERT_TRUE(compiled.ok()) << compiled.status() << text;
    Variables outer(map.dims());
    outer.append(map.runtimes().begin(), map.runtimes().end());
    for (Variable& variable : outer) {
      variable.bounds = variable.bounds.Add(Interval::Closed(-1, 1));
    }
    for (const std::vector<int64_t>& arguments : PointsIn(outer)) {
      uint64_t hash = 1;
      int64_t count = 0;
      const auto dims = llvm::ArrayRef<int64_t>(arguments).take_front(map.num_dims());
      for (const std::vector<int64_t>& ranges : PointsIn(map.ranges())) {
        std::vector<int64_t> symbols = ranges;
        symbols.insert(symbols.end(), arguments.begin() + map.num_dims(), arguments.end());
        if (!map.Contains(dims, symbols).value()) continue;
        for (const int64_t x : ranges) hash = hash * kFactor + static_cast<uint64_t>(x);
        for (const int64_t x : map.Evaluate(dims, symbols).value()) {
          hash = hash * kFactor + static_cast<uint64_t>(x);
        }
        ++count;
      }
      std::vector<int64_t> got(2);
      const absl::Status status = compiled->RunIntegers("f", arguments, &got);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(got, (std::vector<int64_t>{static_cast<int64_t>(hash), count})) << text;
      visited += count;
    }
  }
  EXPECT_GT(visited, Cases(10000));
}

}  // namespace
}  // namespace xla_indexing
