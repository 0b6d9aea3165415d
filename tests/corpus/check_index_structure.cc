// What the indices of gathers and scatters are; and the module is rewritten by it into one that verifies. The
// table of docs/queries.md is made of the counts that are printed.

#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/index_structure/index_structure.h"

namespace xla_indexing {
namespace {

// How often an opcode occurs, and what its instructions were found to be.
struct StructureCounts {
  std::map<std::string, int> forms;
  int count = 0;
  int sorted = 0;
  int unique = 0;
  int in_bounds = 0;
  int replaced = 0;
};

std::string FormText(const IndexStructure& structure) {
  const std::string form = structure.name.substr(0, structure.name.find(':'));
  const size_t where = form.find(" where ");
  return where == std::string::npos ? form
                                    : absl::StrCat(form.substr(0, where), " under a condition");
}

class IndexStructureCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& indexers) override {
    for (const HloComputation* computation : module.computations()) {
      const auto structures = IndexStructuresOf(*computation, indexers);
      ASSERT_TRUE(structures.ok()) << structures.status();
      for (const auto& [instruction, structure] : *structures) {
        const bool is_replaced = structure.replacement.gather || structure.replacement.scatter;
        // What has a name is rewritten, or there is a reason why not.
        const bool is_named = structure.name != "unrecognised";
        EXPECT_EQ(is_named && !is_replaced, !structure.not_replaced.empty())
            << structure.name << structure.not_replaced;
        StructureCounts& counts = counts_[std::string(OpcodeName(instruction->opcode()))];
        ++counts.count;
        ++counts.forms[FormText(structure)];
        counts.sorted += structure.sorted.holds == Answer::kYes ? 1 : 0;
        counts.unique += structure.unique.holds == Answer::kYes ? 1 : 0;
        counts.in_bounds += structure.in_bounds.holds == Answer::kYes ? 1 : 0;
        counts.replaced += is_replaced ? 1 : 0;
      }
    }
    const auto rewritten = RewriteIndices(module, indexers.context());
    EXPECT_TRUE(rewritten.ok()) << rewritten.status();
  }

  void CheckCounts(const Corpus& corpus) override {
    EXPECT_FALSE(counts_.empty());
    for (const auto& [opcode, counts] : counts_) {
      std::cout << "indices, " << corpus.name << ": " << opcode << " " << counts.count
                << ", sorted " << counts.sorted << ", unique " << counts.unique << ", in bounds "
                << counts.in_bounds << ", rewritten " << counts.replaced;
      for (const auto& [name, count] : counts.forms) std::cout << "; " << name << " " << count;
      std::cout << "\n";
    }
  }

 private:
  std::map<std::string, StructureCounts> counts_;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeIndexStructureCheck() {
  return std::make_unique<IndexStructureCheck>();
}

}  // namespace xla_indexing
