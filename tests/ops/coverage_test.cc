// Every opcode has all that an operation of this library has: builders, random modules that are
// checked against the reference, golden cases and a row in the documentation. Parsing, printing and
// the verifier come with the random modules and the golden cases.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// All files below a directory of the project.
std::string ReadFiles(const std::string& directory) {
  std::string text;
  const std::filesystem::path root = std::filesystem::path(XLA_INDEXING_SOURCE_DIR) / directory;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) text += ReadFile(entry.path());
  }
  return text;
}

class EveryOpcode : public ::testing::TestWithParam<int> {
 protected:
  HloOpcode opcode() const { return static_cast<HloOpcode>(GetParam()); }
};

TEST_P(EveryOpcode, HasItsOwnIndexing) {
  const OpcodeIndexing indexing = IndexingOfOpcode(opcode());
  const bool is_unanalysed = indexing.output_to_input == &UnanalysedOutputToInput ||
                             indexing.input_to_output == &UnanalysedInputToOutput;
  const bool has_builders =
      indexing.output_to_input != nullptr && indexing.input_to_output != nullptr;
  EXPECT_TRUE(indexing.routes != nullptr || indexing.nests != nullptr || has_builders);
  EXPECT_EQ(is_unanalysed, opcode() == HloOpcode::kUnknown);
}

TEST_P(EveryOpcode, HasRandomModulesForTheReference) {
  if (opcode() == HloOpcode::kUnknown) GTEST_SKIP() << "nobody knows what it does";
  EXPECT_TRUE(absl::c_linear_search(RandomOpcodes(), opcode()));
}

TEST_P(EveryOpcode, HasGoldenCases) {
  static const std::string* const cases = new std::string(
      absl::StrCat(ReadFiles("tests/ops"), ReadFiles("tests/fusion"), ReadFiles("tests/tools")));
  EXPECT_TRUE(absl::StrContains(*cases, absl::StrCat(" ", OpcodeName(opcode()), "(")));
}

TEST_P(EveryOpcode, HasARowInTheDocumentation) {
  static const std::string* const text = new std::string(
      ReadFile(std::filesystem::path(XLA_INDEXING_SOURCE_DIR) / "docs" / "operations.md"));
  EXPECT_TRUE(absl::StrContains(*text, absl::StrCat("`", OpcodeName(opcode()), "`")));
}

INSTANTIATE_TEST_SUITE_P(All, EveryOpcode, ::testing::Range(0, kOpcodeCount),
                         [](const ::testing::TestParamInfo<int>& info) {
                           std::string name(OpcodeName(static_cast<HloOpcode>(info.param)));
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace xla_indexing::internal
