#include "xla_indexing/tools/input/command_line.h"

#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<CommandLine> Parse(std::initializer_list<absl::string_view> arguments) {
  return ParseCommandLine(absl::MakeConstSpan(arguments.begin(), arguments.size()));
}

std::string Error(std::initializer_list<absl::string_view> arguments) {
  return std::string(Parse(arguments).status().message());
}

TEST(CommandLine, DefaultsAreTheRootOfTheEntryOutputToInputAsText) {
  const auto line = Parse({"m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->action, CommandLine::Action::kPrintIndexing);
  EXPECT_THAT(line->files, ElementsAre("m.hlo"));
  EXPECT_FALSE(line->instruction || line->computation || line->fuse || line->exact);
  EXPECT_TRUE(line->output_to_input);
  EXPECT_FALSE(line->input_to_output);
  EXPECT_EQ(line->simplify, SimplifyMode::kAuto);
  EXPECT_EQ(line->format, OutputFormat::kText);
  EXPECT_GE(line->jobs, 1);
}

TEST(CommandLine, FlagsStandBeforeAndBehindFiles) {
  const auto line =
      Parse({"a.hlo", "--direction=both", "-", "--simplify", "never", "b.hlo", "--output_id=2",
             "--operand_id", "0", "--exact", "--format=json", "--jobs=3"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->files, ElementsAre("a.hlo", "-", "b.hlo"));
  EXPECT_TRUE(line->output_to_input && line->input_to_output && line->exact);
  EXPECT_EQ(line->simplify, SimplifyMode::kNever);
  EXPECT_EQ(line->output_id, 2);
  EXPECT_EQ(line->operand_id, 0);
  EXPECT_EQ(line->format, OutputFormat::kJson);
  EXPECT_EQ(line->jobs, 3);
}

TEST(CommandLine, TheLastOfTwoEqualFlagsCounts) {
  const auto line = Parse({"--direction=both", "--direction=input-to-output", "--fuse",
                           "--fuse=false", "--instruction=all", "--instruction=x", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_FALSE(line->output_to_input || line->fuse || line->all_instructions);
  EXPECT_EQ(line->instruction, "x");
}

TEST(CommandLine, NamesLoseTheirPercentSign) {
  EXPECT_EQ(Parse({"--instruction=%add.1", "m.hlo"})->instruction, "add.1");
  EXPECT_EQ(Parse({"--computation=%f", "m.hlo"})->computation, "f");
  EXPECT_TRUE(Parse({"--instruction=all", "m.hlo"})->all_instructions);
  EXPECT_FALSE(Parse({"--instruction=%all", "m.hlo"})->all_instructions);
  EXPECT_THAT(Error({"--computation=%", "m.hlo"}), HasSubstr("the value is a name"));
}

TEST(CommandLine, NothingBehindTwoDashesIsAFlag) {
  EXPECT_THAT(Parse({"--", "--fuse", "-x"})->files, ElementsAre("--fuse", "-x"));
}

TEST(CommandLine, HelpAndVersionStandAlone) {
  EXPECT_EQ(Parse({"--help"})->action, CommandLine::Action::kShowHelp);
  EXPECT_EQ(Parse({"m.hlo", "--version"})->action, CommandLine::Action::kShowVersion);
}

TEST(CommandLine, MapsGoWithoutHlo) {
  const auto line = Parse({"--map=maps.txt", "--jobs=2"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->action, CommandLine::Action::kPrintMaps);
  EXPECT_EQ(line->map_file, "maps.txt");
  for (const absl::string_view other :
       {"m.hlo", "--instruction=x", "--fuse", "--direction=both", "--direction=input-to-output",
        "--simplify=always", "--format=json", "--exact", "--operand_id=0"}) {
    EXPECT_THAT(Error({"--map=maps.txt", other}), HasSubstr("--map")) << other;
  }
}

TEST(CommandLine, BroadcastTakesShapesForFiles) {
  const auto line = Parse({"--broadcast", "f32[10,1]", "--format=json", "f32[]", "--jobs=2"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->action, CommandLine::Action::kBroadcast);
  EXPECT_THAT(line->shapes, ElementsAre("f32[10,1]", "f32[]"));
  EXPECT_TRUE(line->files.empty());
  EXPECT_EQ(line->emit, EmitMode::kNothing);
  EXPECT_EQ(Parse({"f32[]", "--emit=hlo", "--broadcast"})->emit, EmitMode::kHlo);
  EXPECT_EQ(Parse({"--broadcast", "f32[]", "--emit=promoted-hlo"})->emit, EmitMode::kPromotedHlo);
  EXPECT_EQ(Parse({"--broadcast", "--broadcast=false", "m.hlo"})->action,
            CommandLine::Action::kPrintIndexing);
  EXPECT_THAT(Error({"--broadcast"}), HasSubstr("--broadcast needs a SHAPE"));
  EXPECT_EQ(Parse({"m.hlo", "--emit=hlo"})->action, CommandLine::Action::kRewrite);
  EXPECT_THAT(Error({"m.hlo", "--emit=promoted-hlo"}), HasSubstr("prints what --broadcast builds"));
  for (const absl::string_view other : {"--instruction=x", "--direction=both", "--simplify=always",
                                        "--map=-", "--summary", "--exact", "--operand_id=0"}) {
    EXPECT_THAT(Error({"--broadcast", "f32[]", other}), HasSubstr("--broadcast says how")) << other;
  }
}

TEST(CommandLine, ReportsAreATableOrAFile) {
  const auto table = Parse({"--report", "m.hlo", "--top=3", "--sort=moved"});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->action, CommandLine::Action::kReport);
  EXPECT_THAT(table->files, ElementsAre("m.hlo"));
  EXPECT_EQ(table->report_file, "");
  EXPECT_EQ(table->report_top, 3);
  EXPECT_EQ(Parse({"--report=r.json", "m.hlo"})->report_file, "r.json");
  EXPECT_TRUE(Parse({"--report", "--warp_size=64", "--sector_bytes=64", "m.hlo"}).ok());
  const auto machine = Parse({"--report", "--machine=mi300x", "--sector_bytes=32", "m.hlo"});
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->machine->name, "mi300x");
  EXPECT_EQ(machine->launch.options.warp_size, 64);
  EXPECT_EQ(machine->launch.options.sector_bytes, 32);
  EXPECT_EQ(machine->launch.options.line_bytes, 128);
  EXPECT_THAT(Error({"--report", "--machine=abacus", "m.hlo"}), HasSubstr("h100, h200, a100"));
  EXPECT_THAT(Error({"--machine=cpu", "m.hlo"}), HasSubstr("--report and of --query=tiling"));
  const auto tiles = Parse({"--query=tiling", "--budget=64KiB", "--machine=mi300x", "m.hlo"});
  ASSERT_TRUE(tiles.ok()) << tiles.status();
  EXPECT_EQ(tiles->machine->name, "mi300x");
  EXPECT_THAT(Error({"--report=r.txt", "m.hlo"}), HasSubstr("a file that ends in"));
  EXPECT_THAT(Error({"--report"}), HasSubstr("no FILE"));
  EXPECT_THAT(Error({"--report", "--sort=size", "m.hlo"}), HasSubstr("wasted, moved"));
  EXPECT_THAT(Error({"--report=r.json", "--top=2", "m.hlo"}), HasSubstr("--top"));
  EXPECT_THAT(Error({"--report", "--warp_size=7", "m.hlo"}), HasSubstr("warp"));
  EXPECT_THAT(Error({"--top=2", "m.hlo"}), HasSubstr("--report, which is not given"));
  EXPECT_EQ(Parse({"--report", "m.hlo"})->assume, AssumeMode::kAuto);
  EXPECT_EQ(Parse({"--report", "--assume=unfused", "m.hlo"})->assume, AssumeMode::kUnfused);
  EXPECT_EQ(Parse({"--emit=hlo", "--assume=fused", "m.hlo"})->assume, AssumeMode::kFused);
  EXPECT_THAT(Error({"--report", "--assume=never", "m.hlo"}), HasSubstr("auto, fused or unfused"));
  EXPECT_THAT(Error({"--assume=fused", "m.hlo"}), HasSubstr("of which none is given"));
  for (const absl::string_view other :
       {"--fuse", "--instruction=x", "--query=tiling", "--format=json", "--exact",
        "--vector_width=4", "--mapping=emitter", "--keep_variables", "--explain"}) {
    EXPECT_THAT(Error({"--report", other, "m.hlo"}), HasSubstr("--report is of whole modules"))
        << other;
  }
}

TEST(CommandLine, APictureIsOfOneThing) {
  const auto line = Parse({"--picture=p.svg", "--instruction=x", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->action, CommandLine::Action::kPicture);
  EXPECT_EQ(line->picture_file, "p.svg");
  EXPECT_TRUE(Parse({"--picture=p.svg", "--fuse", "m.hlo"}).ok());
  EXPECT_TRUE(Parse({"--picture=p.svg", "--output_id=1", "m.hlo"}).ok());
  EXPECT_THAT(Error({"--picture=p.png", "m.hlo"}), HasSubstr(".svg"));
  EXPECT_THAT(Error({"--picture=p.svg"}), HasSubstr("one FILE"));
  for (const absl::string_view other :
       {"--instruction=all", "--query=tiling", "--report", "--format=json", "--exact"}) {
    EXPECT_THAT(Error({"--picture=p.svg", other, "m.hlo"}), HasSubstr("--picture is of one"))
        << other;
  }
}

TEST(CommandLine, UnknownFlagsComeWithTheNearestOneIfThatIsNear) {
  EXPECT_THAT(Error({"--directon=both"}), HasSubstr("did you mean '--direction'?"));
  EXPECT_THAT(Error({"--output-id=0"}), HasSubstr("did you mean '--output_id'?"));
  EXPECT_THAT(Error({"--job=2"}), HasSubstr("did you mean '--jobs'?"));
  EXPECT_THAT(Error({"--nothing_like_it"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(Error({"---"}), HasSubstr("unknown flag '---'"));
  EXPECT_THAT(Error({std::string(100000, '-')}), HasSubstr("unknown flag"));
}

TEST(CommandLine, NumbersAreChecked) {
  EXPECT_THAT(Error({"--jobs=two", "m.hlo"}), HasSubstr("--jobs=two"));
  EXPECT_THAT(Error({"--jobs=100000", "m.hlo"}), HasSubstr("1 to 1024"));
  EXPECT_THAT(Error({"--output_id=9223372036854775808", "m.hlo"}), HasSubstr("--output_id"));
  EXPECT_THAT(Error({"--operand_id", "m.hlo"}), HasSubstr("--operand_id=m.hlo"));
}

TEST(CommandLine, QueriesAreAListOfNames) {
  const auto line = Parse({"--query=utilization", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->queries.utilization);
  EXPECT_FALSE(Parse({"m.hlo"})->queries.Any());
  EXPECT_THAT(Error({"--query=utilisation", "m.hlo"}), HasSubstr("utilization"));
  EXPECT_FALSE(line->queries.coalescing);
  EXPECT_THAT(Error({"--query=utilization,", "m.hlo"}), HasSubstr("utilization"));
  EXPECT_THAT(Error({"--query=utilization", "--summary", "m.hlo"}), HasSubstr("--summary"));
  EXPECT_THAT(Error({"--query=utilization", "--direction=input-to-output", "m.hlo"}),
              HasSubstr("--direction=output-to-input"));
}

TEST(CommandLine, QueriesForPlacesAndIndicesAreOfWhatIsRead) {
  const auto line = Parse({"--query=in-place,indices", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->queries.in_place && line->queries.indices);
  for (const absl::string_view query : {"--query=in-place", "--query=indices"}) {
    EXPECT_THAT(Error({query, "--direction=input-to-output", "m.hlo"}), HasSubstr(query));
  }
}

TEST(CommandLine, ThreadsAreGivenForPlacesToo) {
  EXPECT_EQ(Parse({"--query=in-place", "--one_buffer=x,mid", "m.hlo"})->one_buffer, "x,mid");
  EXPECT_THAT(Error({"--query=indices", "--one_buffer=x,mid", "m.hlo"}),
              HasSubstr("--one_buffer is what --query=in-place, which is not given"));
  const auto line = Parse({"--query=in-place", "--vector_width=4", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->launch.GivesThreads());
  EXPECT_TRUE(
      Parse({"--query=in-place", "--thread_map=(d0) -> (d0), domain: d0 in [0, 3]", "m.hlo"}).ok());
  EXPECT_THAT(Error({"--query=in-place", "--warp_size=64", "m.hlo"}),
              HasSubstr("--query=coalescing"));
  EXPECT_THAT(Error({"--query=indices", "--vector_width=4", "m.hlo"}),
              HasSubstr("--query=coalescing"));
}

TEST(CommandLine, RewrittenModulesArePrintedWhole) {
  const auto line = Parse({"--query=indices", "--emit=hlo", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->action, CommandLine::Action::kRewrite);
  EXPECT_EQ(Parse({"--emit=hlo", "m.mlir"})->action, CommandLine::Action::kRewrite);
  EXPECT_EQ(Parse({"--emit=mlir", "m.hlo"})->action, CommandLine::Action::kEmitMlir);
  EXPECT_EQ(Parse({"--emit=mlir", "--computation=a", "m.hlo"})->action,
            CommandLine::Action::kEmitMlir);
  EXPECT_EQ(Parse({"--emit=mlir", "--tile_sizes=4,k=2", "m.hlo"})->action,
            CommandLine::Action::kEmitMlir);
  EXPECT_THAT(Error({"--emit=mlir", "--exact", "m.hlo"}), HasSubstr("no other flag but"));
  EXPECT_THAT(Error({"--query=indices", "--emit=promoted-hlo", "m.hlo"}), HasSubstr("--broadcast"));
  for (const absl::string_view flag :
       {"--fuse", "--instruction=a", "--format=json", "--query=indices,tiling"}) {
    EXPECT_THAT(Error({"--query=indices", "--emit=hlo", flag, "m.hlo"}),
                HasSubstr("whole modules"));
  }
  EXPECT_THAT(Error({"--query=indices", "--emit=hlo"}), HasSubstr("FILE"));
}

TEST(CommandLine, TileSizesAreOfTiling) {
  const auto line = Parse({"--query=tiling", "--tile_sizes=4,1,128", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->queries.tiling);
  EXPECT_EQ(line->tile_sizes, "4,1,128");
  EXPECT_EQ(Parse({"--query=tiling", "--tile_sizes=d0=64,k=32", "m.hlo"})->tile_sizes,
            "d0=64,k=32");
  EXPECT_TRUE(Parse({"--query=tiling", "--direction=input-to-output", "m.hlo"}).ok());
  EXPECT_FALSE(Parse({"--query=tiling", "m.hlo"})->tile_sizes.has_value());
  // A scalar has no tile sizes.
  EXPECT_TRUE(Parse({"--query=tiling", "--tile_sizes=", "m.hlo"})->tile_sizes->empty());
  EXPECT_THAT(Error({"--tile_sizes=4", "m.hlo"}), HasSubstr("--query=tiling"));
  for (const char* sizes :
       {"0", "4,-1", "4,,1", "4,", "x", "9223372036854775808", "=4", "d0=", "d0=0", "d0=1=2"}) {
    EXPECT_THAT(Error({"--query=tiling", absl::StrCat("--tile_sizes=", sizes), "m.hlo"}),
                HasSubstr("at least 1"))
        << sizes;
  }
}

TEST(CommandLine, ABudgetIsANumberOfBytesOrOfAUnitOfThem) {
  EXPECT_EQ(Parse({"--query=tiling", "--budget=1000", "m.hlo"})->tile_budget, 1000);
  EXPECT_EQ(Parse({"--query=tiling", "--budget=48KiB", "m.hlo"})->tile_budget, 48 * 1024);
  EXPECT_EQ(Parse({"--query=tiling", "--budget=3MiB", "m.hlo"})->tile_budget, 3 << 20);
  EXPECT_EQ(Parse({"--query=tiling", "--budget=2GiB", "m.hlo"})->tile_budget, int64_t{2} << 30);
  EXPECT_THAT(Error({"--budget=48KiB", "m.hlo"}), HasSubstr("--query=tiling"));
  for (const char* budget : {"", "0", "-1", "KiB", "48KB", "48 MiBs", "9223372036854775807KiB"}) {
    EXPECT_THAT(Error({"--query=tiling", absl::StrCat("--budget=", budget), "m.hlo"}),
                HasSubstr("a number of bytes"))
        << budget;
  }
}

TEST(CommandLine, CompareTakesTwoFilesOrTwoComputationsOfOne) {
  const auto files = Parse({"--compare", "a.hlo", "b.hlo"});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->action, CommandLine::Action::kCompare);
  EXPECT_THAT(files->files, ElementsAre("a.hlo", "b.hlo"));
  EXPECT_TRUE(Parse({"--compare", "--computation=f,g", "m.hlo"}).ok());
  EXPECT_TRUE(Parse({"--compare", "--computation=f", "a.hlo", "b.hlo"}).ok());
  EXPECT_THAT(Error({"--compare", "a.hlo"}), HasSubstr("two FILEs"));
  EXPECT_THAT(Error({"--compare", "--computation=f", "a.hlo"}), HasSubstr("two FILEs"));
  EXPECT_THAT(Error({"--compare", "--computation=f,g,h", "a.hlo"}), HasSubstr("two computations"));
  EXPECT_THAT(Error({"--compare", "--exact", "a.hlo", "b.hlo"}), HasSubstr("--compare"));
}

TEST(CommandLine, TheLaunchOfCoalescingIsChecked) {
  const auto line =
      Parse({"--query=coalescing,utilization", "--threads_per_block=64", "--vector_width=4",
             "--warp_size=64", "--sector_bytes=64", "--line_bytes=256", "--alignment=16",
             "--coalescing_factor=1.5", "m.hlo"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->queries.coalescing);
  EXPECT_TRUE(line->queries.utilization);
  EXPECT_EQ(line->launch.Loop().threads_per_block, 64);
  EXPECT_EQ(line->launch.Loop().elements_per_thread, 4);
  EXPECT_EQ(line->launch.Loop().vector_width, 4);
  EXPECT_EQ(line->launch.options.warp_size, 64);
  EXPECT_EQ(line->launch.options.sector_bytes, 64);
  EXPECT_EQ(line->launch.options.line_bytes, 256);
  EXPECT_EQ(line->launch.options.alignment_bytes, 16);
  EXPECT_EQ(line->launch.options.factor, 1.5);

  const auto error = [](absl::string_view flag) {
    return Error({"--query=coalescing", flag, "m.hlo"});
  };
  EXPECT_THAT(error("--warp_size=48"), HasSubstr("warp size is 48"));
  EXPECT_THAT(error("--warp_size=many"), HasSubstr("32 or 64"));
  EXPECT_THAT(error("--sector_bytes=3"), HasSubstr("a sector is 3 bytes"));
  EXPECT_THAT(error("--line_bytes=16"), HasSubstr("a line of 16 bytes"));
  EXPECT_THAT(error("--alignment=-4"), HasSubstr("the alignment is -4"));
  EXPECT_THAT(error("--coalescing_factor=0.9"), HasSubstr("a decimal number from 1 to 1e308"));
  EXPECT_THAT(error("--threads_per_block=0"), HasSubstr("threads a block is 0"));
  EXPECT_THAT(error("--elements_per_thread=0"), HasSubstr("elements a thread is 0"));
  EXPECT_THAT(Error({"--query=coalescing", "--elements_per_thread=3", "--vector_width=2", "m.hlo"}),
              HasSubstr("accesses of 2 elements do not make 3"));
  EXPECT_THAT(error("--thread_map=(th_x"), HasSubstr("--thread_map: 1:6"));
  EXPECT_THAT(error("--thread_map=(i) -> (i), domain: i in [0, 3]"), HasSubstr("th_x, th_y, th_z"));
  EXPECT_THAT(Error({"--query=coalescing", "--thread_map=(d0) -> (d0), domain: d0 in [0, 31]",
                     "--vector_width=2", "m.hlo"}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(Error({"--warp_size=32", "m.hlo"}), HasSubstr("--query=coalescing"));
  EXPECT_THAT(Error({"--mapping=emitter", "m.hlo"}), HasSubstr("--query=coalescing"));
  EXPECT_THAT(error("--mapping=warp"), HasSubstr("loop or emitter"));
  EXPECT_THAT(Error({"--query=coalescing", "--mapping=emitter", "--vector_width=2", "m.hlo"}),
              HasSubstr("--mapping=emitter finds the threads"));
  EXPECT_THAT(Error({"--query=coalescing", "--direction=input-to-output", "m.hlo"}),
              HasSubstr("--query=coalescing is of what is read"));
  EXPECT_THAT(Error({"--query=coalescing", "--summary", "m.hlo"}), HasSubstr("--summary"));
}

}  // namespace
}  // namespace xla_indexing
