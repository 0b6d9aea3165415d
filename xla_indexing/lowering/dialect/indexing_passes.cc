#include "xla_indexing/lowering/dialect/indexing_passes.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "mlir/Pass/Pass.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/lowering/dialect/indexing_dialect.h"
#include "xla_indexing/lowering/dialect/map_of_values.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using dialect::ApplyOp;
using dialect::IndexingMapAttr;
using dialect::LoopOp;

Interval RangeFound(mlir::DataFlowSolver& solver, mlir::Value value) {
  const auto* found = solver.lookupState<mlir::dataflow::IntegerValueRangeLattice>(value);
  if (found == nullptr || found->getValue().isUninitialized()) return Interval::All();
  const mlir::ConstantIntRanges& range = found->getValue().getValue();
  return Interval::Closed(range.smin().getSExtValue(), range.smax().getSExtValue());
}

class IndexingNarrowPass : public mlir::PassWrapper<IndexingNarrowPass, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IndexingNarrowPass)

  llvm::StringRef getArgument() const override { return "indexing-narrow"; }
  llvm::StringRef getDescription() const override {
    return "Narrows and simplifies indexing maps by the ranges of their arguments";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<dialect::IndexingDialect>();
  }

  void runOnOperation() override {
    mlir::DataFlowSolver solver;
    solver.load<mlir::dataflow::DeadCodeAnalysis>();
    solver.load<mlir::dataflow::SparseConstantPropagation>();
    solver.load<mlir::dataflow::IntegerRangeAnalysis>();
    if (mlir::failed(solver.initializeAndRun(getOperation()))) return signalPassFailure();
    const auto range_of = [&](mlir::Value value) { return RangeFound(solver, value); };
    const auto narrow = [&](auto op) {
      op.setMapAttr(IndexingMapAttr::get(internal::Narrowed(
          op.getMap().getMap(), llvm::map_to_vector<8>(op.getArgs(), range_of))));
    };
    getOperation()->walk([&](ApplyOp op) { narrow(op); });
    getOperation()->walk([&](LoopOp op) { narrow(op); });
  }
};

class IndexingLowerPass : public mlir::PassWrapper<IndexingLowerPass, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IndexingLowerPass)

  IndexingLowerPass() = default;
  IndexingLowerPass(const IndexingLowerPass& other) : PassWrapper(other) {}
  explicit IndexingLowerPass(IndexArithmetic arithmetic) { arithmetic_ = arithmetic; }

  llvm::StringRef getArgument() const override { return "indexing-lower"; }
  llvm::StringRef getDescription() const override {
    return "Makes arithmetic and loops of the operations on indexing maps";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry
        .insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect>();
  }

  void runOnOperation() override {
    // Loops in loops come first. Loops make no applies: those that they contain stay.
    llvm::SmallVector<LoopOp> loops;
    getOperation()->walk([&](LoopOp op) { loops.push_back(op); });
    for (const LoopOp op : loops) LowerOrFail(op);
    llvm::SmallVector<ApplyOp> applies;
    getOperation()->walk([&](ApplyOp op) { applies.push_back(op); });
    for (const ApplyOp op : applies) LowerOrFail(op);
  }

 private:
  template <typename Op>
  void LowerOrFail(Op op) {
    mlir::IRRewriter rewriter(op);
    const absl::StatusOr<MlirValues> values = Lower(op, rewriter);
    if (values.ok()) return rewriter.replaceOp(op, *values);
    op.emitOpError() << "cannot be lowered: " << std::string(values.status().message());
    signalPassFailure();
  }

  absl::StatusOr<MlirValues> Lower(ApplyOp op, mlir::IRRewriter& rewriter) const {
    const IndexingMap& map = op.getMap().getMap();
    if (arithmetic_ == IndexArithmetic::kAffine && !llvm::all_of(op.getArgs(), [](mlir::Value arg) {
          return mlir::affine::isValidDim(arg);
        })) {
      return absl::InvalidArgumentError(
          "an argument is no dimension of the dialect affine (arithmetic=arith takes any)");
    }
    if (arithmetic_ == IndexArithmetic::kArith) {
      return ApplyIndexing(rewriter, op.getLoc(), map, op.getArgs().take_front(map.num_dims()),
                           op.getArgs().drop_front(map.num_dims()));
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap of_dims,
                                  RuntimesToDimensions(map.ConvertRangeVariablesToDimensions()));
    return ApplyIndexing(rewriter, op.getLoc(), of_dims, op.getArgs(), {}, arithmetic_);
  }

  absl::StatusOr<MlirValues> Lower(LoopOp op, mlir::IRRewriter& rewriter) const {
    const IndexingMap& map = op.getMap().getMap();
    const mlir::ValueRange dims = op.getArgs().take_front(map.num_dims());
    const mlir::ValueRange runtimes = op.getArgs().drop_front(map.num_dims());
    const auto body = [&](mlir::ValueRange ranges,
                          mlir::ValueRange carried) -> absl::StatusOr<MlirValues> {
      MlirValues symbols(ranges);
      symbols.append(runtimes.begin(), runtimes.end());
      XLA_INDEXING_ASSIGN_OR_RETURN(MlirValues arguments,
                                    ApplyIndexing(rewriter, op.getLoc(), map, dims, symbols));
      arguments.insert(arguments.begin(), ranges.begin(), ranges.end());
      arguments.append(carried.begin(), carried.end());
      mlir::Operation* yield = op.getBody().front().getTerminator();
      MlirValues next(yield->getOperands());
      // The body becomes that of the innermost loop.
      for (auto& value : next) {
        const auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
        if (argument && argument.getOwner() == &op.getBody().front()) {
          value = arguments[argument.getArgNumber()];
        }
      }
      rewriter.eraseOp(yield);
      rewriter.inlineBlockBefore(&op.getBody().front(), rewriter.getInsertionBlock(),
                                 rewriter.getInsertionPoint(), arguments);
      return next;
    };
    XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Value is_inside, EmitIsInside(op, rewriter));
    return EmitIf(rewriter, op.getLoc(), is_inside, op.getInits(), [&] {
      return EmitLoopNest(rewriter, op.getLoc(), map, dims, runtimes, op.getInits(), body);
    });
  }

  // Whether the arguments of a loop are in the intervals of their variables, as far as that is not known.
  static absl::StatusOr<mlir::Value> EmitIsInside(LoopOp op, mlir::IRRewriter& rewriter) {
    const IndexingMap& map = op.getMap().getMap();
    Variables allowed(map.dims());
    allowed.append(map.runtimes().begin(), map.runtimes().end());
    Variables known;
    for (const mlir::Value arg : op.getArgs()) known.push_back({internal::KnownRange(arg), {}});
    const auto nothing = mlir::AffineMap::get(allowed.size(), 0, map.context());
    const IndexingMap of_allowed(kPartsFit, nothing, std::move(allowed), {}, {});
    const IndexingMap of_known(kPartsFit, nothing, std::move(known), {}, {});
    return CheckDomain(rewriter, op.getLoc(), of_allowed, op.getArgs(), {}, &of_known);
  }

  Option<IndexArithmetic> arithmetic_{
      *this, "arithmetic", llvm::cl::desc("The operations that an apply becomes"),
      llvm::cl::init(IndexArithmetic::kArith),
      llvm::cl::values(clEnumValN(IndexArithmetic::kArith, "arith", "operations of arith"),
                       clEnumValN(IndexArithmetic::kAffine, "affine", "affine.apply"))};
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateIndexingNarrowPass() {
  return std::make_unique<IndexingNarrowPass>();
}

std::unique_ptr<mlir::Pass> CreateIndexingLowerPass(IndexArithmetic arithmetic) {
  return std::make_unique<IndexingLowerPass>(arithmetic);
}

void RegisterIndexingPasses() {
  mlir::PassRegistration<IndexingNarrowPass>();
  mlir::PassRegistration<IndexingLowerPass>();
}

}  // namespace xla_indexing
