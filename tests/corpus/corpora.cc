#include "tests/corpus/corpora.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/effort.h"

namespace xla_indexing {
namespace {

// Under sanitizers longer files are left out, in bytes.
constexpr int64_t kLongestSanitizedText = 50'000;

int64_t SizeOf(const CorpusFile& file) {
  std::error_code error;
  const auto size =
      std::filesystem::file_size(absl::StrCat(file.corpus->directory, "/", file.path), error);
  return error ? 0 : static_cast<int64_t>(size);
}

// The paths of a corpus in the short list, whose lines are CORPUS PATH.
std::set<std::string> ShortListOf(const Corpus& corpus) {
  const std::string path = absl::StrCat(XLA_INDEXING_SOURCE_DIR, "/tests/corpus/short_list.txt");
  std::ifstream stream(path);
  if (!stream) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(1);
  }
  std::set<std::string> paths;
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipWhitespace());
    if (words.size() == 2 && words[0] == corpus.name) paths.insert(words[1]);
  }
  return paths;
}

}  // namespace

bool Corpus::IsThere() const { return std::filesystem::is_directory(directory); }

const std::vector<Corpus>& AllCorpora() {
  static const auto& corpora = *new std::vector<Corpus>{
      {CorpusId::kXla, "xla", "XLA_INDEXING_CORPUS", XLA_INDEXING_CORPUS},
      {CorpusId::kJax, "jax", "XLA_INDEXING_CORPUS_JAX", XLA_INDEXING_CORPUS_JAX},
      {CorpusId::kModels, "models", "XLA_INDEXING_CORPUS_MODELS", XLA_INDEXING_CORPUS_MODELS}};
  return corpora;
}

void PrintTo(const CorpusFile& file, std::ostream* os) {
  *os << file.corpus->name << " " << file.path;
}
void PrintTo(const Corpus& corpus, std::ostream* os) { *os << corpus.name; }

bool AreAllFilesRead() {
  const char* const text = std::getenv("XLA_INDEXING_CORPUS_FILES");
  const std::string asked = text == nullptr ? "" : text;
  if (asked.empty()) return AskedEffort() != "quick";
  if (asked != "all" && asked != "short") {
    std::cerr << "XLA_INDEXING_CORPUS_FILES is '" << asked << "': neither all nor short\n";
    std::exit(1);
  }
  return asked == "all";
}

std::vector<CorpusFile> FilesToRead(const Corpus& corpus) {
  if (!corpus.IsThere()) return {};
  std::set<std::string> paths = ShortListOf(corpus);
  if (AreAllFilesRead()) {
    const std::filesystem::path directory = corpus.directory;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
      if (file.path().extension() == ".hlo") {
        paths.insert(file.path().lexically_relative(directory).string());
      }
    }
  }
  std::vector<std::pair<int64_t, CorpusFile>> by_size;
  for (const std::string& path : paths) {
    CorpusFile file{&corpus, path};
    const int64_t size = SizeOf(file);
    if (!kIsSanitized || size <= kLongestSanitizedText)
      by_size.emplace_back(-size, std::move(file));
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CorpusFile> files;
  files.reserve(by_size.size());
  for (auto& [size, file] : by_size) files.push_back(std::move(file));
  return files;
}

std::optional<std::string> TextOf(const CorpusFile& file) {
  std::ifstream stream(absl::StrCat(file.corpus->directory, "/", file.path));
  if (!stream) return std::nullopt;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace xla_indexing
