#include "xla_indexing/hlo/proto/proto_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/proto/proto_module_reader.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using internal::ProtoModuleReader;
using internal::ProtoSource;
using internal::WireMessage;

constexpr size_t kMaxMessageBytes = size_t{1} << 31;
// The key of field 1 where its value has a length.
constexpr char kFirstKey = '\n';

// No text but that of a name with such a character in it has one.
bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\t' && (c < '\n' || c > '\r');
}

}  // namespace

bool LooksLikeHloModuleProto(absl::string_view bytes) {
  constexpr size_t kBeginning = 4096;
  const absl::string_view beginning = bytes.substr(0, kBeginning);
  return !bytes.empty() && bytes.front() == kFirstKey &&
         std::any_of(beginning.begin(), beginning.end(), IsControl);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadHloModuleProto(absl::string_view bytes,
                                                              absl::string_view filename) {
  if (bytes.size() > kMaxMessageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(filename, ": error: the message is larger than 2^31 bytes"));
  }
  ProtoSource source(bytes, "HloModuleProto");
  std::unique_ptr<HloModule> module;
  const WireMessage message(bytes, source);
  // The first field of an HloModuleProto is its name, in which there is no line feed.
  const absl::string_view first = message.Bytes({1, "hlo_module"});
  if (!first.empty() && first.front() == kFirstKey) {
    message.Message({1, "hlo_module"}, [&](const WireMessage& of_module) {
      module = ProtoModuleReader(of_module).Read();
    });
  } else if (!source.failed()) {
    module = ProtoModuleReader(message).Read();
  }
  if (!source.failed()) return module;
  return absl::InvalidArgumentError(absl::StrCat(filename, ": error: ", source.error()));
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadAndVerifyHloModuleProto(absl::string_view bytes,
                                                                       absl::string_view filename) {
  auto module = ReadHloModuleProto(bytes, filename);
  if (!module.ok()) return module;
  if (const absl::Status status = VerifyModule(**module); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(filename, ": error: ", status.message()));
  }
  return module;
}

}  // namespace xla_indexing
