// Runs one instruction, written as HLO text, through the parser, shape inference and the verifier.

#ifndef XLA_INDEXING_TESTS_HLO_VERIFY_CHECK_INSTRUCTION_H_
#define XLA_INDEXING_TESTS_HLO_VERIFY_CHECK_INSTRUCTION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {

// The shape of `r = <instruction>`, without layout, in a computation whose parameters p0, p1, ...
// have the shapes `parameters`; or `error: ` and the message where it does not parse or verify.
// `computations` stand before. Where the instruction has no shape in the text, it is inferred.
//
// Example: CheckInstruction({"f32[2,3]"}, "transpose(p0), dimensions={1,0}") is "f32[3,2]".
inline std::string CheckInstruction(const std::vector<std::string>& parameters,
                                    absl::string_view instruction,
                                    absl::string_view computations = "") {
  std::string text = absl::StrCat("HloModule m\n", computations, "\nENTRY e {\n");
  for (size_t p = 0; p < parameters.size(); ++p) {
    absl::StrAppend(&text, "p", p, " = ", parameters[p], " parameter(", p, ")\n");
  }
  absl::StrAppend(&text, "ROOT r = ", instruction, "\n}\n");
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
  absl::Status status = module.status();
  if (status.ok()) status = VerifyModule(**module);
  if (status.ok()) {
    return (*module)->entry_computation()->root_instruction()->shape().ToStringWithoutLayout();
  }
  // The message is `<string>:9:6: error: message`, the source line and the caret.
  const std::vector<absl::string_view> lines = absl::StrSplit(status.message(), '\n');
  const size_t error = lines[0].find("error: ");
  return std::string(error == absl::string_view::npos ? lines[0] : lines[0].substr(error));
}

// Scalar functions for `to_apply` and the like.
inline constexpr absl::string_view kFunctions = R"(
  add_f32 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
  add_s32 { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
  add_bf16 { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT r = bf16[] add(a, b) }
  less_f32 { a = f32[] parameter(0)  b = f32[] parameter(1)
             ROOT r = pred[] compare(a, b), direction=LT }
  negate_f32 { a = f32[] parameter(0)  ROOT r = f32[] negate(a) }
  to_s32 { a = f32[] parameter(0)  b = f32[] parameter(1)  s = f32[] add(a, b)
           ROOT r = s32[] convert(s) }
  pair { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)
         d = s32[] parameter(3)  x = f32[] add(a, c)  y = s32[] add(b, d)
         ROOT r = (f32[], s32[]) tuple(x, y) }
  add_vectors { a = f32[2] parameter(0)  b = f32[2] parameter(1)  ROOT r = f32[2] add(a, b) }
)";

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_HLO_VERIFY_CHECK_INSTRUCTION_H_
