// Shorthand of the tests that parse HLO text.

#ifndef XLA_INDEXING_TESTS_HLO_TEXT_PARSE_HELPERS_H_
#define XLA_INDEXING_TESTS_HLO_TEXT_PARSE_HELPERS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// Parses `text`, prints the module, parses that and expects an equal module and equal text. Null,
// and a failed expectation, if anything of this fails.
inline std::unique_ptr<HloModule> RoundTrip(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text, "test");
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return nullptr;
  const std::string printed = (*module)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseModule(printed, "printed");
  EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << printed;
  if (!again.ok()) return nullptr;
  std::string difference;
  EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << difference << "\n" << printed;
  EXPECT_EQ((*again)->ToString(), printed);
  return *std::move(module);
}

// The text of a module whose entry computation has these lines.
inline std::string Entry(absl::string_view lines) {
  return "HloModule m\n\nENTRY e {\n" + std::string(lines) + "\n}\n";
}

// The message of the error that parsing `text` as one module ends in; empty if there is none.
inline std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text, "f.hlo");
  return module.ok() ? "" : std::string(module.status().message());
}

// The shape that `text` spells; the empty tuple, and a failed expectation, if it spells none.
inline Shape ShapeOf(absl::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
  return shape.ok() ? *std::move(shape) : Shape();
}

// The root of the entry computation.
inline const HloInstruction& Root(const HloModule& module) {
  return *module.entry_computation()->root_instruction();
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_HLO_TEXT_PARSE_HELPERS_H_
