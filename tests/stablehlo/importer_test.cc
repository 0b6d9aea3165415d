// Operations that are in memory, in a context without the reader's dialects.
#include "xla_indexing/stablehlo/importer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Imports a module in generic form, which MLIR reads without any dialect.
std::string ImportedText(const std::string& text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  llvm::SourceMgr manager;
  manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "memory"), llvm::SMLoc());
  mlir::Block block;
  if (mlir::failed(mlir::parseAsmSourceFile(
          manager, &block, mlir::ParserConfig(&context, /*verifyAfterParse=*/false)))) {
    return "not parsed";
  }
  const auto module = ImportStableHlo(&block.front());
  if (!module.ok()) return std::string(module.status().message());
  EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module);
  EXPECT_EQ((*module)->source(), nullptr);
  return (*module)->ToString();
}

TEST(StableHloImporter, TakesWhatIsInMemory) {
  EXPECT_EQ(ImportedText(R"(
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<5x7xf32>, tensor<3x1xi32>) -> tensor<3x7xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<5x7xf32> loc("x"), %arg1: tensor<3x1xi32> loc("i")):
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<5x7xf32>, tensor<3x1xi32>) -> tensor<3x7xf32> loc("jit(f)/take"("f.py":3:1))
    %1 = "stablehlo.negate"(%0) : (tensor<3x7xf32>) -> tensor<3x7xf32> loc(unknown)
    "func.return"(%1) : (tensor<3x7xf32>) -> ()
  }) : () -> ()
}) : () -> ()
)"),
            R"(HloModule jit_f

ENTRY %main {
  %arg0 = f32[5,7] parameter(0), metadata={op_name="x"}
  %arg1 = s32[3,1] parameter(1), metadata={op_name="i"}
  %take = f32[3,7] gather(%arg0, %arg1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,7}, metadata={op_name="jit(f)/take" source_file="f.py" source_line=3}
  ROOT %negate = f32[3,7] negate(%take)
}
)");
}

TEST(StableHloImporter, ErrorsNameTheOperationAndItsLocation) {
  EXPECT_THAT(ImportedText(R"(
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "stablehlo.add"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("f.py":3:1)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
)"),
              AllOf(HasSubstr("f.py"), HasSubstr("'stablehlo.add': it has 1 operands")));
  EXPECT_THAT(ImportedText("\"builtin.module\"() ({\n}) : () -> ()"), HasSubstr("function"));
}

// A value that comes later in its block, which MLIR's parser allows where nothing is verified.
TEST(StableHloImporter, UsesBeforeDefinitionsAreErrors) {
  EXPECT_THAT(ImportedText(R"(
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "main"}> ({
    %0 = "stablehlo.negate"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.negate"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
)"),
              HasSubstr("is not defined before this operation"));
}

}  // namespace
}  // namespace xla_indexing
