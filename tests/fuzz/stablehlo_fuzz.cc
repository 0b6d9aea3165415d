// Whatever the text, the reader of StableHLO gives a module or an error with its place; a module that it gives
// prints as HLO text that reads back as an equal module, and can be verified and asked what its entry reads.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/text_mutator.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing::fuzz {
namespace {

void CheckStableHlo(const std::string& text) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ReadStableHlo({"input", text});
  if (!module.ok()) {
    if (!absl::StartsWith(module.status().message(), "input:")) {
      std::fprintf(stderr, "%s\n", std::string(module.status().message()).c_str());
      std::abort();
    }
    return;
  }
  if (!VerifyModule(**module).ok()) return;
  const std::string printed = (*module)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseModule(printed, "printed");
  std::string difference;
  if (!again.ok()) {
    difference = std::string(again.status().message());
  } else if (ModulesEqual(**module, **again, &difference)) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    HloIndexer indexer(&context);
    if (indexer.Index(*(*module)->entry_computation(), Direction::kOutputToInput).ok()) return;
    difference = "the entry cannot be asked about";
  }
  std::fprintf(stderr, "%s\nprinted text:\n%s\n", difference.c_str(), printed.c_str());
  std::abort();
}

}  // namespace
}  // namespace xla_indexing::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return xla_indexing::fuzz::MutateInPlace(data, size, max_size, seed, {});
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b,
                                            size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return xla_indexing::fuzz::CrossInPlace(a, a_size, b, b_size, out, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xla_indexing::fuzz::CheckStableHlo(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
