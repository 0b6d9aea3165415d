// Reading of HLO modules that are serialized as protocol buffers: what XLA writes with
// --xla_dump_hlo_as_proto, and what `as_serialized_hlo_module_proto()` of JAX returns.
//
// The bytes are an HloModuleProto, or an HloProto, which holds one in its field hlo_module. They
// are read without a library of protocol buffers. The module is the one that XLA's text of it would
// give, attribute for attribute and in the order of the text, except that
//   - what text has of the configuration of the compiler, and the message does not, is absent: the
//     numbers of replicas and partitions of a module that is not compiled yet, and how shardings are
//     propagated;
//   - asynchronous operations have the computations that they call under their own names, where
//     text writes `custom-call-start(...)` in their place;
//   - computations stand in the order of the message, and the keys of a backend_config in its order;
//   - the header's table of modules that recompute values (`origin_recovery_table=`) is left out.
// Operands and called computations come before what uses them, parameters are numbered without a
// gap, names are such as HLO text can spell: the module is well formed, but not verified (see
// verifier.h). It has no source text; what `source()` gives is null.
//
// Reading takes time and memory linear in the bytes. Nothing is aborted on: whatever the bytes are,
// the result is a module or an error
//
//   FILE: error: byte 123, computations[2].instructions[5].shape (instruction 'add.1'): what is wrong
//
// Example:
//
//   const auto module = ReadAndVerifyHloModuleProto(bytes, "module.hlo.pb");
//   if (!module.ok()) { std::cerr << module.status().message() << "\n"; return; }
//   (*module)->entry_computation()->root_instruction()->name();
//
// Source: the messages of xla/service/hlo.proto and xla/xla_data.proto.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_READER_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// The module that `bytes` hold; nothing of it refers to them. `filename` begins the messages of
// errors. At most 2^31 bytes are read.
absl::StatusOr<std::unique_ptr<HloModule>> ReadHloModuleProto(
    absl::string_view bytes, absl::string_view filename = "<bytes>");

// The module, if the verifier accepts it: what the analysis asks of a module.
absl::StatusOr<std::unique_ptr<HloModule>> ReadAndVerifyHloModuleProto(
    absl::string_view bytes, absl::string_view filename = "<bytes>");

// Whether bytes are one of these messages and not text: they begin with field 1, as XLA writes it (a
// line feed, and a length), and have a control character near their beginning, as text has none.
bool LooksLikeHloModuleProto(absl::string_view bytes);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_READER_H_
