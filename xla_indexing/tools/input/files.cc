#include "xla_indexing/tools/input/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "xla_indexing/tools/input/gzip.h"

namespace xla_indexing {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;
// Doubled, it comes to just past the most: an input that is too large is held one and a half times
// at most.
constexpr size_t kLeastRead = (size_t{1} << 16) + 1;

absl::Status ReadError(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": error: cannot read it: ", why));
}

// Everything that can be read from `descriptor`.
absl::StatusOr<std::string> ReadAll(int descriptor, absl::string_view name) {
  std::string text;
  struct stat file;
  if (fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0) {
    // One byte more, so that the end of the file is seen without growing.
    text.resize(std::min(static_cast<size_t>(file.st_size), kMaxBytes) + 1);
  }
  size_t size = 0;
  while (true) {
    if (size > kMaxBytes) return ReadError(name, "it has more than 2^30 bytes");
    if (size == text.size()) text.resize(std::clamp(2 * size, kLeastRead, kMaxBytes + 1));
    const ssize_t count = read(descriptor, text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count > 0) {
      size += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return ReadError(name, std::strerror(errno));
    }
  }
  text.resize(size);
  return text;
}

}  // namespace

absl::StatusOr<SourceText> ReadSource(const std::string& file) {
  const bool is_stdin = file == "-";
  const std::string name = is_stdin ? "<stdin>" : file;
  const int descriptor = is_stdin ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ReadError(name, std::strerror(errno));
  absl::StatusOr<std::string> text = ReadAll(descriptor, name);
  if (!is_stdin) close(descriptor);
  if (text.ok() && IsGzip(*text)) {
    text = Gunzip(*text, kMaxBytes);
    if (!text.ok()) return ReadError(name, text.status().message());
  }
  if (!text.ok()) return text.status();
  return SourceText{name, *std::move(text)};
}

void WriteOutput(absl::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

absl::Status FlushOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return absl::InternalError("the output could not be written");
  }
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& name, absl::string_view text) {
  std::FILE* file = std::fopen(name.c_str(), "wb");
  if (file == nullptr)
    return absl::UnavailableError(absl::StrCat(name, ": error: cannot be written"));
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_closed = std::fclose(file) == 0;
  if (is_written && is_closed) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(name, ": error: not all of it could be written"));
}

void WriteError(absl::string_view message) {
  std::fflush(stdout);
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::fputc('\n', stderr);
}

int FailWith(absl::string_view why, int exit_code) {
  WriteError(absl::StrCat("print-indexing: error: ", why));
  return exit_code;
}

}  // namespace xla_indexing
