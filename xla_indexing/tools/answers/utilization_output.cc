#include "xla_indexing/tools/answers/utilization_output.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/tools/answers/count_output.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

absl::string_view WhichRuntimeValues(const Utilization& utilization) {
  if (!utilization.has_runtime_values) return "none";
  return utilization.IsExact() ? "any" : "bounds";
}

}  // namespace

std::string UtilizationText(const Utilization& utilization) {
  std::string text = absl::StrCat(CountText(utilization.elements_read), " of ",
                                  CountText(utilization.elements), " elements");
  if (const auto used = utilization.UsedFraction()) {
    absl::StrAppendFormat(&text, " (%.2f%%)", 100 * *used);
  }
  absl::StrAppend(&text, ", ", CountText(utilization.reads), " reads");
  if (const auto each = utilization.ReadsPerElement()) {
    absl::StrAppendFormat(&text, " (%.2f an element)", *each);
  }
  absl::StrAppend(&text, "; ", CountText(utilization.bytes_read), " of ",
                  CountText(utilization.bytes), " bytes, ", CountText(utilization.bytes_of_reads),
                  " in reads");
  if (utilization.buffer_bytes && utilization.buffer_bytes != utilization.bytes) {
    absl::StrAppend(&text, "; the buffer has ", CountText(*utilization.buffer_bytes), " bytes");
    if (const auto factor = utilization.PaddingFactor()) {
      absl::StrAppendFormat(&text, ", %.2f times those of its elements", *factor);
    }
  }
  if (!utilization.IsExact()) absl::StrAppend(&text, "; bounds");
  if (utilization.has_runtime_values) absl::StrAppend(&text, "; for any runtime values");
  return text;
}

std::string TrafficText(const Traffic& traffic) {
  return absl::StrCat(CountText(traffic.bytes_of_reads), " bytes in reads, ",
                      CountText(traffic.bytes_read), " with a perfect cache, ",
                      CountText(traffic.bytes_written), " written");
}

void WriteUtilization(const Utilization& utilization, JsonWriter* json) {
  json->Field("elements_read", utilization.elements_read);
  json->Field("elements", utilization.elements);
  json->Field("reads", utilization.reads);
  json->Field("bytes_read", utilization.bytes_read);
  json->Field("bytes", utilization.bytes);
  json->Field("bytes_of_reads", utilization.bytes_of_reads);
  json->Field("buffer_bytes", utilization.buffer_bytes);
  json->Field("used_fraction", utilization.UsedFraction());
  json->Field("reads_per_element", utilization.ReadsPerElement());
  json->Field("runtime_values", WhichRuntimeValues(utilization));
  json->Field("exact", utilization.IsExact());
}

void WriteTraffic(const Traffic& traffic, JsonWriter* json) {
  json->Field("bytes_of_reads", traffic.bytes_of_reads);
  json->Field("bytes_read", traffic.bytes_read);
  json->Field("bytes_written", traffic.bytes_written);
  json->Field("exact", traffic.IsExact());
}

}  // namespace xla_indexing
