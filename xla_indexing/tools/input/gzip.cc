#include "xla_indexing/tools/input/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

constexpr absl::string_view kMagic = "\x1f\x8b";

// What zlib counts bytes with is narrower than a size.
uInt AtOnce(size_t size) {
  return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

bool IsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t max_bytes) {
  z_stream stream = {};
  // The largest window, and a header of gzip's.
  constexpr int kWindowBits = 15 + 16;
  if (inflateInit2(&stream, kWindowBits) != Z_OK) {
    return absl::ResourceExhaustedError("zlib could not be started");
  }
  const auto end = absl::MakeCleanup([&] { inflateEnd(&stream); });
  constexpr size_t kLeast = size_t{1} << 16;
  std::string text;
  size_t size = 0;
  size_t read = 0;
  while (true) {
    if (size == text.size()) {
      if (size > max_bytes) {
        return absl::InvalidArgumentError(
            absl::StrCat("it has more than ", max_bytes, " bytes when it is decompressed"));
      }
      // One byte more than may be there, so that more is noticed.
      text.resize(std::min(std::max(2 * size, kLeast), max_bytes + 1));
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = AtOnce(bytes.size() - read);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = AtOnce(text.size() - size);
    const uInt given = stream.avail_in;
    const uInt room = stream.avail_out;
    const int result = inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    size += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (read == bytes.size()) break;
      if (inflateReset(&stream) != Z_OK) return absl::InternalError("zlib could not be reset");
    } else if (result == Z_BUF_ERROR && stream.avail_out != 0) {
      return absl::InvalidArgumentError("its gzip data is cut off");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its gzip data is damaged", stream.msg == nullptr ? "" : absl::StrCat(": ", stream.msg)));
    }
  }
  text.resize(size);
  return text;
}

}  // namespace xla_indexing
