// A kernel's drawing as JSON.
#ifndef XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_
#define XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_

#include "xla_indexing/report/kernel_drawing.h"
#include "xla_indexing/report/write/json_writer.h"

namespace xla_indexing::internal {

// The fields of an object; lists that are empty and texts that are empty are left out.
void WriteDrawing(const KernelDrawing& drawing, JsonWriter* json);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_WRITE_DRAWING_JSON_H_
