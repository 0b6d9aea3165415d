#include "xla_indexing/lowering/run/run_mlir.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TargetSelect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace xla_indexing {
namespace {

// What a memref is for a function with a C interface.
std::vector<int64_t> DescriptorOf(RunArray& array) {
  const auto address = reinterpret_cast<int64_t>(array.bytes.data());
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), array.sizes.begin(), array.sizes.end());
  words.insert(words.end(), array.strides.begin(), array.strides.end());
  return words;
}

// What LLVM calls for floats of 16 bits where the processor does not have it, and what few systems
// have in a library. Those floats are the lowest bits of the register of a float.
float Narrow(llvm::APFloat value, const llvm::fltSemantics& format) {
  bool is_inexact = false;
  value.convert(format, llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  return llvm::bit_cast<float>(static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue()));
}
float FloatToHalf(float value) { return Narrow(llvm::APFloat(value), llvm::APFloat::IEEEhalf()); }
float DoubleToHalf(double value) { return Narrow(llvm::APFloat(value), llvm::APFloat::IEEEhalf()); }
float FloatToBfloat(float value) { return Narrow(llvm::APFloat(value), llvm::APFloat::BFloat()); }
float DoubleToBfloat(double value) { return Narrow(llvm::APFloat(value), llvm::APFloat::BFloat()); }
float HalfToFloat(float value) {
  const llvm::APInt bits(16, llvm::bit_cast<uint32_t>(value), /*isSigned=*/false,
                         /*implicitTrunc=*/true);
  return Narrow(llvm::APFloat(llvm::APFloat::IEEEhalf(), bits), llvm::APFloat::IEEEsingle());
}

// Floats of 8 bits, of which LLVM has none: those of a format, by its number, as numbers and back.
double NumberOfBits(int32_t format, int32_t bits) {
  const auto& semantics =
      llvm::APFloat::EnumToSemantics(static_cast<llvm::APFloat::Semantics>(format));
  return llvm::APFloat(semantics, llvm::APInt(8, bits)).convertToDouble();
}
int32_t BitsOfNumber(int32_t format, double number) {
  llvm::APFloat value(number);
  bool is_inexact = false;
  value.convert(llvm::APFloat::EnumToSemantics(static_cast<llvm::APFloat::Semantics>(format)),
                llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  return static_cast<int32_t>(value.bitcastToAPInt().getZExtValue());
}
constexpr char kNumberOfBits[] = "xla_indexing_number_of_bits";
constexpr char kBitsOfNumber[] = "xla_indexing_bits_of_number";

llvm::orc::SymbolMap FunctionsOfNarrowFloats(llvm::orc::MangleAndInterner name) {
  const auto symbol = [](auto* function) {
    return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(function),
                                        llvm::JITSymbolFlags::Exported);
  };
  return {{name("__extendhfsf2"), symbol(&HalfToFloat)},
          {name("__truncdfbf2"), symbol(&DoubleToBfloat)},
          {name("__truncdfhf2"), symbol(&DoubleToHalf)},
          {name("__truncsfbf2"), symbol(&FloatToBfloat)},
          {name("__truncsfhf2"), symbol(&FloatToHalf)},
          {name(kNumberOfBits), symbol(&NumberOfBits)},
          {name(kBitsOfNumber), symbol(&BitsOfNumber)}};
}

// Calls NumberOfBits and BitsOfNumber for what was or becomes a float of 8 bits.
void ConvertByCalls(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getBodyRegion());
  const mlir::Location loc = module.getLoc();
  const mlir::Type i32 = builder.getI32Type();
  const mlir::Type f64 = builder.getF64Type();
  const auto declare = [&](const char* name, mlir::TypeRange from, mlir::Type to) {
    auto function =
        mlir::func::FuncOp::create(builder, loc, name, builder.getFunctionType(from, to));
    function.setPrivate();
    return function;
  };
  auto to_number = declare(kNumberOfBits, {i32, i32}, f64);
  auto to_bits = declare(kBitsOfNumber, {i32, f64}, i32);
  module.walk([&](mlir::Operation* op) {
    if (!llvm::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op)) return;
    const bool widens = llvm::isa<mlir::arith::ExtFOp>(op);
    mlir::Value value = op->getOperand(0);
    const mlir::Type type = op->getResult(0).getType();
    auto narrow = llvm::cast<mlir::FloatType>(widens ? value.getType() : type);
    if (narrow.getWidth() != 8) return;
    builder.setInsertionPoint(op);
    const mlir::Type i8 = builder.getI8Type();
    const auto number = llvm::APFloat::SemanticsToEnum(narrow.getFloatSemantics());
    const mlir::Value format =
        mlir::arith::ConstantIntOp::create(builder, loc, i32, static_cast<int64_t>(number));
    if (widens) {
      value = mlir::arith::BitcastOp::create(builder, loc, i8, value);
      value = mlir::arith::ExtUIOp::create(builder, loc, i32, value);
      value = mlir::func::CallOp::create(builder, loc, to_number, {format, value}).getResult(0);
      if (type != f64) value = mlir::arith::TruncFOp::create(builder, loc, type, value);
    } else {
      if (value.getType() != f64) value = mlir::arith::ExtFOp::create(builder, loc, f64, value);
      value = mlir::func::CallOp::create(builder, loc, to_bits, {format, value}).getResult(0);
      value = mlir::arith::TruncIOp::create(builder, loc, i8, value);
      value = mlir::arith::BitcastOp::create(builder, loc, type, value);
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  });
}

// Makes arithmetic on the parts of operations on complex numbers. It does not fold these, as `complex`
// takes a - b + b to be a.
mlir::LogicalResult ComplexToParts(mlir::ModuleOp module) {
  mlir::MLIRContext* context = module.getContext();
  context->loadDialect<mlir::complex::ComplexDialect, mlir::math::MathDialect>();
  mlir::RewritePatternSet patterns(context);
  mlir::populateComplexToStandardConversionPatterns(patterns);
  mlir::ConversionTarget target(*context);
  target.addLegalDialect<mlir::arith::ArithDialect, mlir::math::MathDialect>();
  target.addIllegalDialect<mlir::complex::ComplexDialect>();
  target.addLegalOp<mlir::complex::ConstantOp, mlir::complex::CreateOp, mlir::complex::ImOp,
                    mlir::complex::ReOp>();
  mlir::ConversionConfig config;
  config.foldingMode = mlir::DialectConversionFoldingMode::Never;
  return mlir::applyPartialConversion(module, target, std::move(patterns), config);
}

// No branch is taken, and so every loop ends, once the byte at the last argument is not 0.
void EndLoopsWhenStopped(mlir::ModuleOp module) {
  namespace llvm_ir = mlir::LLVM;
  module.walk([&](llvm_ir::CondBrOp branch) {
    auto function = branch->getParentOfType<llvm_ir::LLVMFuncOp>();
    mlir::OpBuilder builder(branch);
    const mlir::Location loc = branch.getLoc();
    const mlir::Type i8 = builder.getI8Type();
    const mlir::Value byte = llvm_ir::LoadOp::create(
        builder, loc, i8, function.getArguments().back(), /*alignment=*/1, /*isVolatile=*/true);
    const mlir::Value zero = llvm_ir::ConstantOp::create(builder, loc, i8, 0);
    const mlir::Value goes_on =
        llvm_ir::ICmpOp::create(builder, loc, llvm_ir::ICmpPredicate::eq, byte, zero);
    branch.getConditionMutable().assign(
        llvm_ir::AndOp::create(builder, loc, branch.getCondition(), goes_on));
  });
}

absl::Status Done(llvm::Error error) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(llvm::toString(std::move(error)));
}

}  // namespace

std::unique_ptr<mlir::MLIRContext> MakeLoweringContext() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  return std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
}

absl::StatusOr<CompiledModule> CompiledModule::Compile(mlir::ModuleOp module) {
  static const bool is_ready = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  static_cast<void>(is_ready);
  mlir::MLIRContext* context = module.getContext();
  context->loadDialect<mlir::LLVM::LLVMDialect>();
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    function->setAttr(mlir::LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                      mlir::UnitAttr::get(context));
    const auto pointer = mlir::LLVM::LLVMPointerType::get(context);
    if (mlir::failed(
            function.insertArgument(function.getNumArguments(), pointer, {}, function.getLoc()))) {
      return absl::InternalError("an argument to stop by");
    }
  }
  ConvertByCalls(module);
  if (mlir::failed(ComplexToParts(module))) return absl::InternalError("complex numbers");
  mlir::RewritePatternSet to_libm(context);
  mlir::populateMathToLibmConversionPatterns(to_libm);
  if (mlir::failed(mlir::applyPatternsGreedily(module, std::move(to_libm)))) {
    return absl::InternalError("functions of libm");
  }
  mlir::PassManager passes(context);
  passes.addPass(mlir::createLowerAffinePass());
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertComplexToLLVMPass());
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (mlir::failed(passes.run(module))) return absl::InternalError("lowering to LLVM failed");
  EndLoopsWhenStopped(module);
  mlir::ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = mlir::ExecutionEngine::create(module, options);
  if (!engine) return Done(engine.takeError());
  (*engine)->registerSymbols(FunctionsOfNarrowFloats);
  CompiledModule compiled;
  compiled.engine_ = std::move(*engine);
  return compiled;
}

absl::Status CompiledModule::Run(const std::string& function, std::vector<RunArray>& arrays,
                                 const std::atomic<bool>* stop) {
  std::vector<std::vector<int64_t>> descriptors(arrays.size());
  std::vector<void*> pointers(arrays.size());
  std::vector<void*> arguments;
  arguments.reserve(arrays.size() + 1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    descriptors[i] = DescriptorOf(arrays[i]);
    pointers[i] = descriptors[i].data();
    arguments.push_back(static_cast<void*>(&pointers[i]));
  }
  return Invoke(function, std::move(arguments), stop);
}

absl::Status CompiledModule::RunIntegers(const std::string& function,
                                         std::vector<int64_t> arguments,
                                         std::vector<int64_t>* results) {
  std::vector<int64_t> descriptor = {reinterpret_cast<int64_t>(results->data()),
                                     reinterpret_cast<int64_t>(results->data()), 0,
                                     static_cast<int64_t>(results->size()), 1};
  void* pointer = descriptor.data();
  std::vector<void*> packed;
  packed.reserve(arguments.size() + 2);
  for (int64_t& argument : arguments) packed.push_back(&argument);
  packed.push_back(static_cast<void*>(&pointer));
  return Invoke(function, std::move(packed), nullptr);
}

absl::Status CompiledModule::Invoke(const std::string& function, std::vector<void*> arguments,
                                    const std::atomic<bool>* stop) {
  static_assert(sizeof(std::atomic<bool>) == 1);
  static const std::atomic<bool> never = false;
  if (stop == nullptr) stop = &never;
  arguments.push_back(static_cast<void*>(&stop));
  return Done(engine_->invokePacked("_mlir_ciface_" + function, arguments));
}

}  // namespace xla_indexing
