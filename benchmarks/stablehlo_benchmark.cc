// Reading of StableHLO text, in bytes per second, and beside it what MLIR's parser alone takes of it: a program as
// JAX prints it, a chain, and constants in hexadecimal digits.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/stablehlo/reader_dialects.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

std::string ProgramText(benchmark::State& state) {
  const std::string path = XLA_INDEXING_CORPUS_JAX "/mjx_step.stablehlo.mlir";
  std::ifstream file(path);
  if (!file) state.SkipWithError(absl::StrCat("NOT MEASURED: no file ", path).c_str());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ChainText(benchmark::State& /*state*/) {
  std::string text = "func.func @main(%0: tensor<64xf32>) -> tensor<64xf32> {\n";
  constexpr int kLength = 40000;
  for (int i = 1; i < kLength; ++i) {
    absl::StrAppend(&text, "  %", i, " = stablehlo.add %", i - 1, ", %", i - 1,
                    " : tensor<64xf32>\n");
  }
  return absl::StrCat(text, "  return %", kLength - 1, " : tensor<64xf32>\n}\n");
}

std::string ConstantsText(benchmark::State& /*state*/) {
  std::string text = "func.func @main() {\n";
  for (int i = 0; i < 16; ++i) {
    absl::StrAppend(&text, "  %", i, " = stablehlo.constant dense<\"0x");
    for (uint32_t e = 0; e < 256 * 256; ++e)
      absl::StrAppend(&text, absl::Hex(e * 40503U, absl::kZeroPad8));
    absl::StrAppend(&text, "\"> : tensor<256x256xf32>\n");
  }
  return text + "  return\n}\n";
}

void ReadText(benchmark::State& state, std::string (*make)(benchmark::State&)) {
  const std::string text = make(state);
  for (auto _ : state) {
    const auto module = ReadStableHlo({"benchmark.mlir", text});
    if (!module.ok()) return Skip(state, module.status());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void ParserAlone(benchmark::State& state, std::string (*make)(benchmark::State&)) {
  const std::string text = make(state);
  for (auto _ : state) {
    mlir::DialectRegistry registry;
    internal::RegisterReaderDialects(&registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    llvm::SourceMgr manager;
    manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "benchmark.mlir"),
                               llvm::SMLoc());
    mlir::Block block;
    const mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
    if (mlir::failed(mlir::parseAsmSourceFile(manager, &block, config))) std::abort();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

BENCHMARK_CAPTURE(ReadText, program, ProgramText)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ParserAlone, program, ProgramText)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadText, chain, ChainText)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ParserAlone, chain, ChainText)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadText, constants, ConstantsText)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ParserAlone, constants, ConstantsText)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing
