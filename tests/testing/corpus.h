// The real HLO files for tests that need them: those below the directory XLA_INDEXING_CORPUS, and
// programs as JAX prints them, below XLA_INDEXING_CORPUS_JAX. Either may be missing.
//
//   TEST(X, Y) {
//     XLA_INDEXING_SKIP_WITHOUT_CORPUS();
//     ForEachCorpusFile([&](const std::string& name, const std::string& text) { .. });
//   }
#ifndef XLA_INDEXING_TESTS_TESTING_CORPUS_H_
#define XLA_INDEXING_TESTS_TESTING_CORPUS_H_

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

// Ends the test, and says so, where there is no directory as the definition `name` says.
#define XLA_INDEXING_SKIP_WITHOUT(name)                                                      \
  if (!std::filesystem::is_directory(name)) {                                                \
    GTEST_SKIP() << "NOT TESTED: no directory of HLO files at " << (name) << "; set " #name; \
  }                                                                                          \
  static_assert(true)
#define XLA_INDEXING_SKIP_WITHOUT_CORPUS() XLA_INDEXING_SKIP_WITHOUT(XLA_INDEXING_CORPUS)

namespace xla_indexing {

// Calls visit(name, text) for each file, or for one in `one_of`, in the order of their paths.
template <typename Visit>
void ForEachCorpusFile(Visit visit, const std::string& directory = XLA_INDEXING_CORPUS,
                       int one_of = 1) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (file.path().extension() == ".hlo") paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  for (size_t i = 0; i < paths.size(); i += one_of) {
    const std::filesystem::path& path = paths[i];
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    visit(path.filename().string(), text.str());
  }
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_CORPUS_H_
