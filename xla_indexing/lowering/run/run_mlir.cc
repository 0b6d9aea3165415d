#include "xla_indexing/lowering/run/run_mlir.h"

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
#include "llvm/Support/Error.h"
#include "llvm/Support/TargetSelect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
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

llvm::orc::SymbolMap FunctionsOfNarrowFloats(llvm::orc::MangleAndInterner name) {
  const auto symbol = [](auto* function) {
    return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(function),
                                        llvm::JITSymbolFlags::Exported);
  };
  return {{name("__extendhfsf2"), symbol(&HalfToFloat)},
          {name("__truncdfbf2"), symbol(&DoubleToBfloat)},
          {name("__truncdfhf2"), symbol(&DoubleToHalf)},
          {name("__truncsfbf2"), symbol(&FloatToBfloat)},
          {name("__truncsfhf2"), symbol(&FloatToHalf)}};
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
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    function->setAttr(mlir::LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                      mlir::UnitAttr::get(context));
  }
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
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (mlir::failed(passes.run(module))) return absl::InternalError("lowering to LLVM failed");
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

absl::Status CompiledModule::Run(const std::string& function, std::vector<RunArray>& arrays) {
  std::vector<std::vector<int64_t>> descriptors(arrays.size());
  std::vector<void*> pointers(arrays.size());
  std::vector<void*> arguments(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    descriptors[i] = DescriptorOf(arrays[i]);
    pointers[i] = descriptors[i].data();
    arguments[i] = static_cast<void*>(&pointers[i]);
  }
  return Done(engine_->invokePacked("_mlir_ciface_" + function, arguments));
}

absl::Status CompiledModule::RunIntegers(const std::string& function,
                                         std::vector<int64_t> arguments,
                                         std::vector<int64_t>* results) {
  std::vector<int64_t> descriptor = {reinterpret_cast<int64_t>(results->data()),
                                     reinterpret_cast<int64_t>(results->data()), 0,
                                     static_cast<int64_t>(results->size()), 1};
  void* pointer = descriptor.data();
  std::vector<void*> packed;
  packed.reserve(arguments.size() + 1);
  for (int64_t& argument : arguments) packed.push_back(&argument);
  packed.push_back(static_cast<void*>(&pointer));
  return Done(engine_->invokePacked("_mlir_ciface_" + function, packed));
}

}  // namespace xla_indexing
