// What parses verifies, but for five pieces whose shapes contradict their operations. What JAX and the models
// print is right, all of it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"

namespace xla_indexing {
namespace {

// - generate_hlo_test_checks_test_input.hlo calls functions of scalars with vectors;
// - invalid_concat.hlo puts side by side matrices of 2 and of 3 rows, and is named for it;
// - operand_upcaster.hlo multiplies two vectors without contracting them, into a vector;
// - print_indexing_test.hlo gives a fusion a vector for its scalar parameter;
// - rewrite_bf16_conv_to_onednn.hlo has a convolution that changes the size of the batch.
std::string ExpectedMessage(const CorpusFile& file) {
  static const auto& expected = *new std::map<std::string, std::string>{
      {"hlo/tools/tests/generate_hlo_test_checks_test_input.hlo",
       "parameter 0 of computation 'foo.bar.baz.0' is f32[] and is given f32[4]"},
      {"tools/tests/data/invalid_concat.hlo", "operands 0 and 1 differ in dimension 0"},
      {"hlo/transforms/tests/operand_upcaster.hlo",
       "has shape s32[8] but its operands and attributes give s16[8,8]"},
      {"tools/print_indexing_test.hlo",
       "parameter 1 of computation 'fused_computation' is s32[] and is given s32[1024]"},
      {"hlo/transforms/tests/rewrite_bf16_conv_to_onednn.hlo",
       "has shape bf16[4,4,5,5,32] but its operands and attributes give bf16[8,0,5,5,32]"}};
  const auto found = expected.find(file.path);
  return file.corpus->id == CorpusId::kXla && found != expected.end() ? found->second : "";
}

class VerificationCheck : public CorpusCheck {
 public:
  void CheckPiece(const CorpusFile& /*file*/,
                  const absl::StatusOr<std::unique_ptr<HloModule>>& piece,
                  const absl::Status& verified) override {
    if (!piece.ok()) return;
    if (verified.ok()) {
      ++right_;
    } else {
      messages_of_file_ += std::string(verified.message());
    }
  }

  void CheckFile(const CorpusFile& file) override {
    const std::string expected = ExpectedMessage(file);
    EXPECT_EQ(messages_of_file_.empty(), expected.empty()) << messages_of_file_;
    EXPECT_THAT(messages_of_file_, ::testing::HasSubstr(expected));
    wrong_ += messages_of_file_.empty() ? 0 : 1;
    messages_of_file_.clear();
  }

  void CheckCounts(const Corpus& corpus) override {
    EXPECT_GT(right_, 0);
    if (corpus.id != CorpusId::kXla) return;
    EXPECT_EQ(right_, 393);
    EXPECT_EQ(wrong_, 5);
  }

 private:
  std::string messages_of_file_;
  int64_t right_ = 0;
  int64_t wrong_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeVerificationCheck() {
  return std::make_unique<VerificationCheck>();
}

}  // namespace xla_indexing
