// Indexers that keep what they have found say of an instruction what it has for itself.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "tests/fusion/own_answers.h"

namespace xla_indexing {
namespace {

class OwnAnswersCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& file, const HloModule& module,
                   HloIndexers& indexers) override {
    // By itself, an instruction in the loops of a model takes a hundred times as long.
    if (file.corpus->id == CorpusId::kModels) return;
    shared_ += xla_indexing::CheckModule(module, indexers.usual(), indexers.context(), {});
  }

  void CheckCounts(const Corpus& corpus) override {
    if (corpus.id == CorpusId::kXla) {
      EXPECT_GT(shared_, 10000);
    }
  }

 private:
  int64_t shared_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeOwnAnswersCheck() { return std::make_unique<OwnAnswersCheck>(); }

}  // namespace xla_indexing
