// Real HLO files: each is read once, and asked all questions (corpus_check.h).
//
//   build/release/bin/corpus_test                                         the short list
//   XLA_INDEXING_CORPUS_FILES=all build/release/bin/corpus_test           everything
//   .. --gtest_filter='Jax/*'                                             one corpus: Xla, Jax or Models
//   .. --gtest_filter='*mof_reshapes*'                                    one file

#include <cctype>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/corpus/corpora.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct TimedCheck {
  std::string subject;
  std::unique_ptr<CorpusCheck> check;
  double seconds = 0;

  template <typename Ask>
  void Time(Ask ask) {
    const double before = ProcessorSeconds();
    ask(*check);
    seconds += ProcessorSeconds() - before;
  }
};

// The checks of a corpus, and how many of its files they have seen.
struct CorpusInProgress {
  int64_t files = 0;
  int64_t modules = 0;
  std::vector<TimedCheck> checks;
};

std::vector<TimedCheck> MakeChecks() {
  std::vector<TimedCheck> checks;
  const auto add = [&](const char* subject, std::unique_ptr<CorpusCheck> check) {
    checks.push_back({subject, std::move(check)});
  };
  add("text", MakeTextCheck());
  add("verification", MakeVerificationCheck());
  add("builder", MakeBuilderCheck());
  add("views", MakeViewsCheck());
  add("indexing", MakeIndexingCheck());
  add("own answers", MakeOwnAnswersCheck());
  add("utilization", MakeUtilizationCheck());
  add("in place", MakeInPlaceCheck());
  add("index structure", MakeIndexStructureCheck());
  add("fusion mapping", MakeFusionMappingCheck());
  add("report", MakeReportCheck());
  add("leaks", MakeLeaksCheck());
  return checks;
}

CorpusInProgress& InProgress(const Corpus& corpus) {
  static auto& all = *new std::map<CorpusId, CorpusInProgress>();
  CorpusInProgress& found = all[corpus.id];
  if (found.checks.empty()) found.checks = MakeChecks();
  return found;
}

// In the place of the files of a corpus that has none to read: because it is missing, or because all of
// its files are too long for the sanitizers.
constexpr char kNoFile[] = "nothing";

class CorpusFileTest : public ::testing::TestWithParam<CorpusFile> {};

TEST_P(CorpusFileTest, AnswersAllQuestions) {
  const CorpusFile& file = GetParam();
  if (!file.corpus->IsThere()) {
    GTEST_SKIP() << "NOT TESTED: no directory of HLO files at " << file.corpus->directory
                 << "; set " << file.corpus->variable;
  }
  if (file.path == kNoFile) {
    GTEST_SKIP() << "no file of " << file.corpus->name << " is short enough for the sanitizers";
  }
  std::optional<std::string> text = TextOf(file);
  ASSERT_TRUE(text) << "cannot read " << file.path << " in " << file.corpus->directory;
  CorpusInProgress& corpus = InProgress(*file.corpus);
  ++corpus.files;
  for (const auto& piece : ParseModules({file.path, *std::move(text)})) {
    const absl::Status verified = piece.ok() ? VerifyModule(**piece) : piece.status();
    for (TimedCheck& each : corpus.checks) {
      each.Time([&](CorpusCheck& check) { check.CheckPiece(file, piece, verified); });
    }
    if (!verified.ok()) continue;
    ++corpus.modules;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    HloIndexers indexers(&context);
    for (TimedCheck& each : corpus.checks) {
      each.Time([&](CorpusCheck& check) { check.CheckModule(file, **piece, indexers); });
    }
  }
  for (TimedCheck& each : corpus.checks) each.check->CheckFile(file);
}

// After the files, in the order of this file.
class CorpusCountsTest : public ::testing::TestWithParam<Corpus> {};

TEST_P(CorpusCountsTest, AreThoseOfAllFiles) {
  const Corpus& corpus = GetParam();
  if (!corpus.IsThere()) {
    GTEST_SKIP() << "NOT TESTED: no directory of HLO files at " << corpus.directory << "; set "
                 << corpus.variable;
  }
  CorpusInProgress& seen = InProgress(corpus);
  std::cout << corpus.name << ": " << seen.files << " files, " << seen.modules
            << " modules; seconds of the processor:";
  for (const TimedCheck& each : seen.checks) {
    std::cout << absl::StrFormat(" %s %.1f", each.subject, each.seconds);
  }
  std::cout << "\n";
  if (!AreAllFilesRead() || seen.files != static_cast<int64_t>(FilesToRead(corpus).size())) {
    std::cout << "not all of the files were read: counts are not checked\n";
    return;
  }
  for (TimedCheck& each : seen.checks) each.check->CheckCounts(corpus);
}

// The files of a corpus that are read, or kNoFile.
std::vector<CorpusFile> FilesOf(CorpusId id) {
  for (const Corpus& corpus : AllCorpora()) {
    if (corpus.id != id) continue;
    std::vector<CorpusFile> files = FilesToRead(corpus);
    if (files.empty()) files.push_back({&corpus, kNoFile});
    return files;
  }
  return {};
}

std::string NameOf(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

std::string NameOfFile(const ::testing::TestParamInfo<CorpusFile>& info) {
  return NameOf(info.param.path);
}

INSTANTIATE_TEST_SUITE_P(Xla, CorpusFileTest, ::testing::ValuesIn(FilesOf(CorpusId::kXla)),
                         NameOfFile);
INSTANTIATE_TEST_SUITE_P(Jax, CorpusFileTest, ::testing::ValuesIn(FilesOf(CorpusId::kJax)),
                         NameOfFile);
INSTANTIATE_TEST_SUITE_P(Models, CorpusFileTest, ::testing::ValuesIn(FilesOf(CorpusId::kModels)),
                         NameOfFile);

INSTANTIATE_TEST_SUITE_P(Xla, CorpusCountsTest, ::testing::Values(AllCorpora()[0]),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Jax, CorpusCountsTest, ::testing::Values(AllCorpora()[1]),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Models, CorpusCountsTest, ::testing::Values(AllCorpora()[2]),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace xla_indexing
