// The corpora: directories of real HLO files, any of which may be missing.
//
// The environment variable XLA_INDEXING_CORPUS_FILES says how much of them is read: `all`, or `short`, the
// files of short_list.txt, which are small and of all kinds. Where it is not set, the effort of the tests
// decides (tests/testing/effort.h): the short list for `quick`, otherwise all.
#ifndef XLA_INDEXING_TESTS_CORPUS_CORPORA_H_
#define XLA_INDEXING_TESTS_CORPUS_CORPORA_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace xla_indexing {

enum class CorpusId { kXla, kJax, kModels };

struct Corpus {
  CorpusId id;
  std::string name;      // as in short_list.txt
  std::string variable;  // of CMake, which names the directory
  std::string directory;

  bool IsThere() const;
};

// XLA's own tests and benchmarks; programs as JAX, TensorFlow and PyTorch/XLA print them; dumps of models.
const std::vector<Corpus>& AllCorpora();

struct CorpusFile {
  const Corpus* corpus;
  std::string path;  // below the directory of the corpus
};
// For messages and names of GoogleTest.
void PrintTo(const CorpusFile& file, std::ostream* os);
void PrintTo(const Corpus& corpus, std::ostream* os);

bool AreAllFilesRead();
// The files of a corpus that are read, the longest first; files of the short list also where they are not there.
std::vector<CorpusFile> FilesToRead(const Corpus& corpus);
// The text of the file, or nullopt if it cannot be read.
std::optional<std::string> TextOf(const CorpusFile& file);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_CORPUS_CORPORA_H_
