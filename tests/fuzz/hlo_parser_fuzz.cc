// Whatever the bytes, the HLO parser gives modules or errors; a module that it gives prints as text
// that reads back as an equal module.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using xla_indexing::HloModule;
  std::string text(reinterpret_cast<const char*>(data), size);
  for (const absl::StatusOr<std::unique_ptr<HloModule>>& module :
       xla_indexing::ParseModules({"input", std::move(text)})) {
    if (!module.ok()) {
      if (module.status().message().empty()) std::abort();
      continue;
    }
    const std::string printed = (*module)->ToString();
    const absl::StatusOr<std::unique_ptr<HloModule>> again =
        xla_indexing::ParseModule(printed, "printed");
    std::string difference;
    if (!again.ok()) {
      difference = std::string(again.status().message());
    } else if (xla_indexing::ModulesEqual(**module, **again, &difference)) {
      continue;
    }
    std::fprintf(stderr, "%s\nprinted text:\n%s\n", difference.c_str(), printed.c_str());
    std::abort();
  }
  return 0;
}
