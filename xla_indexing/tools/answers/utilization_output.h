// Utilization as text and as JSON. docs/command-line.md describes both.
//
//   utilization: 8 of 24 elements (33.33%), 16 reads (2.00 an element); 32 of 96 bytes, 64 in reads

#ifndef XLA_INDEXING_TOOLS_ANSWERS_UTILIZATION_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_UTILIZATION_OUTPUT_H_

#include <string>

#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/write/json_writer.h"

namespace xla_indexing {

// What stands after `utilization: `.
std::string UtilizationText(const Utilization& utilization);
// What stands after `Total of NAME: `.
std::string TrafficText(const Traffic& traffic);

// The fields of an object.
void WriteUtilization(const Utilization& utilization, internal::JsonWriter* json);
void WriteTraffic(const Traffic& traffic, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_UTILIZATION_OUTPUT_H_
