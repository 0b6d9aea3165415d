// A kernel's drawing as JSON.
#ifndef XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_
#define XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "llvm/Support/JSON.h"
#include "xla_indexing/report/kernel_drawing.h"

namespace xla_indexing::internal {

// Text as a JSON value: what is no UTF-8 becomes U+FFFD.
std::string JsonText(absl::string_view text);

// An object; lists that are empty and texts that are empty are left out.
void WriteDrawing(const KernelDrawing& drawing, llvm::json::OStream* json);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_
