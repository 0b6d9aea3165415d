// Whatever the bytes, the map parser gives a map or an error with its place; a map that it gives is
// valid, and its text reads back as an equal map.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Uniqued expressions are never freed: a context for each input.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  xla_indexing::MapParseError error;
  const absl::StatusOr<xla_indexing::IndexingMap> map =
      xla_indexing::ParseIndexingMap(text, &context, &error);
  if (!map.ok()) {
    if (error.offset > size || error.message.empty()) std::abort();
    xla_indexing::FormatDiagnostic("input", text, error.offset, error.message);
    return 0;
  }
  if (!map->Verify().ok()) std::abort();
  const std::string printed = map->ToString();
  const absl::StatusOr<xla_indexing::IndexingMap> again =
      xla_indexing::ParseIndexingMap(printed, &context);
  if (!again.ok() || !(*again == *map) || again->ToString() != printed) std::abort();
  return 0;
}
