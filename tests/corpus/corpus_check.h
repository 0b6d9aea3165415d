// What is asked of the files of the corpora: a check for each subject, in a file of its own.
//
// Each file is read once. A check is given its pieces, right or wrong, then each module that verifies,
// with indexers that all checks of the module share. There is one check of a kind for each corpus, which
// may count; when every file of the corpus has been read, the counts are checked.
//
// A new check is a class in a file check_SUBJECT.cc, a function here that makes it, and its line in
// corpus_test.cc.
#ifndef XLA_INDEXING_TESTS_CORPUS_CORPUS_CHECK_H_
#define XLA_INDEXING_TESTS_CORPUS_CORPUS_CHECK_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/corpus/corpora.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

class CorpusCheck {
 public:
  virtual ~CorpusCheck() = default;

  // What the parser makes of a piece of a file, and what the verifier says of it, if it parses.
  virtual void CheckPiece(const CorpusFile& /*file*/,
                          const absl::StatusOr<std::unique_ptr<HloModule>>& /*piece*/,
                          const absl::Status& /*verified*/) {}
  virtual void CheckModule(const CorpusFile& /*file*/, const HloModule& /*module*/,
                           HloIndexers& /*indexers*/) {}
  // After the last piece of a file.
  virtual void CheckFile(const CorpusFile& /*file*/) {}
  // After all files of a corpus.
  virtual void CheckCounts(const Corpus& /*corpus*/) {}
};

std::unique_ptr<CorpusCheck> MakeTextCheck();
std::unique_ptr<CorpusCheck> MakeVerificationCheck();
std::unique_ptr<CorpusCheck> MakeBuilderCheck();
std::unique_ptr<CorpusCheck> MakeViewsCheck();
std::unique_ptr<CorpusCheck> MakeIndexingCheck();
std::unique_ptr<CorpusCheck> MakeOwnAnswersCheck();
std::unique_ptr<CorpusCheck> MakeUtilizationCheck();
std::unique_ptr<CorpusCheck> MakeInPlaceCheck();
std::unique_ptr<CorpusCheck> MakeIndexStructureCheck();
std::unique_ptr<CorpusCheck> MakeFusionMappingCheck();
std::unique_ptr<CorpusCheck> MakeReportCheck();
std::unique_ptr<CorpusCheck> MakeLeaksCheck();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_CORPUS_CORPUS_CHECK_H_
