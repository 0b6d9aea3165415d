// What parses is printed as text that reads back as the same module; what does not gets an error that names its
// file.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

// The number of pieces that are no valid HLO, by file: those cut off from their modules, those that
// begin with a stray line, and a text protocol buffer.
int ExpectedErrors(const CorpusFile& file) {
  static const auto& expected = *new std::map<std::string, int>{
      {"hlo/translate/hlo_to_mhlo/tests/case_conditional.hlo", 1},
      {"hlo/translate/hlo_to_mhlo/tests/if_conditional.hlo", 1},
      {"hlo/translate/hlo_to_mhlo/tests/module_attributes.hlo", 1},
      {"hlo/translate/hlo_to_mhlo/tests/spmd_module_sharding.hlo", 1},
      {"hlo/translate/hlo_to_mhlo/tests/simple.hlo", 1}};
  const auto found = expected.find(file.path);
  return file.corpus->id == CorpusId::kXla && found != expected.end() ? found->second : 0;
}

class TextCheck : public CorpusCheck {
 public:
  void CheckPiece(const CorpusFile& file, const absl::StatusOr<std::unique_ptr<HloModule>>& piece,
                  const absl::Status& /*verified*/) override {
    if (!piece.ok()) {
      ++errors_of_file_;
      EXPECT_EQ(piece.status().message().find(file.path + ":"), 0U) << piece.status().message();
      EXPECT_GT(ExpectedErrors(file), 0) << piece.status().message();
      return;
    }
    ++valid_;
    const auto again = ParseModule((*piece)->ToString(), file.path);
    ASSERT_TRUE(again.ok()) << again.status().message();
    std::string difference;
    EXPECT_TRUE(ModulesEqual(**piece, **again, &difference)) << difference;
  }

  void CheckFile(const CorpusFile& file) override {
    EXPECT_EQ(errors_of_file_, ExpectedErrors(file)) << "pieces that are no valid HLO";
    errors_ += errors_of_file_;
    errors_of_file_ = 0;
  }

  void CheckCounts(const Corpus& corpus) override {
    EXPECT_GT(valid_, 0);
    if (corpus.id != CorpusId::kXla) return;
    EXPECT_EQ(valid_, 398);
    EXPECT_EQ(errors_, 5);
  }

 private:
  int errors_of_file_ = 0;
  int errors_ = 0;
  int64_t valid_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeTextCheck() { return std::make_unique<TextCheck>(); }

}  // namespace xla_indexing
