// Building the indexing maps of single operations, all operands and leaves, in each direction, as
// print-indexing shows them by default: a fusion or call is looked into, nothing else is
// simplified.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing {
namespace {

BENCHMARK(IdentityMap);

struct Operation {
  const char* name;
  const char* text;  // of a module; its entry's root is the operation
};

constexpr Operation kOperations[] = {
    {"add", R"(
      p0 = f32[10,20] parameter(0)
      p1 = f32[10,20] parameter(1)
      ROOT r = f32[10,20] add(p0, p1))"},
    {"add_of_rank_4", R"(
      p0 = f32[8,16,32,64] parameter(0)
      p1 = f32[8,16,32,64] parameter(1)
      ROOT r = f32[8,16,32,64] add(p0, p1))"},
    {"broadcast", R"(
      p0 = f32[20] parameter(0)
      ROOT r = f32[10,20,30] broadcast(p0), dimensions={1})"},
    {"constant", "ROOT r = f32[4] constant({1, 2, 3, 4})"},
    {"iota", "ROOT r = s32[2,4] iota(), iota_dimension=1"},
    {"parameter", "ROOT r = f32[10,20] parameter(0)"},
    {"copy", R"(
      p0 = f32[10,20] parameter(0)
      ROOT r = f32[10,20]{0,1} copy(p0))"},
    {"dynamic_slice", R"(
      p0 = s32[2,2,258] parameter(0)
      o1 = s32[] parameter(1)
      o2 = s32[] parameter(2)
      o3 = s32[] parameter(3)
      ROOT r = s32[1,2,32] dynamic-slice(p0, o1, o2, o3), dynamic_slice_sizes={1,2,32})"},
    {"dynamic_update_slice", R"(
      p0 = s32[20,30] parameter(0)
      p1 = s32[5,10] parameter(1)
      o1 = s32[] parameter(2)
      o2 = s32[] parameter(3)
      ROOT r = s32[20,30] dynamic-update-slice(p0, p1, o1, o2))"},
    {"gather_simplified", R"(
      p0 = f32[33,76,70] parameter(0)
      p1 = s32[1806,2] parameter(1)
      ROOT r = f32[1806,7,8,4] gather(p0, p1), offset_dims={1,2,3}, collapsed_slice_dims={},
          start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,4})"},
    {"gather_general", R"(
      p0 = f32[16,33,76,70] parameter(0)
      p1 = s32[2,16,9] parameter(1)
      ROOT r = f32[16,7,9,70] gather(p0, p1), offset_dims={1,3}, collapsed_slice_dims={2},
          operand_batching_dims={0}, start_indices_batching_dims={1}, start_index_map={2,1},
          index_vector_dim=0, slice_sizes={1,7,1,70})"},
    {"transpose", R"(
      p0 = f32[3,12288,6,128] parameter(0)
      ROOT r = f32[3,6,128,12288] transpose(p0), dimensions={0,2,3,1})"},
    {"reverse", R"(
      p0 = f32[1,17,9,9] parameter(0)
      ROOT r = f32[1,17,9,9] reverse(p0), dimensions={1,2})"},
    {"reduce", R"(
      p0 = f32[256,10] parameter(0)
      zero = f32[] constant(0)
      ROOT r = f32[10] reduce(p0, zero), dimensions={0}, to_apply=add)"},
    {"variadic_reduce", R"(
      p0 = f32[256,10] parameter(0)
      p1 = s32[256,10] parameter(1)
      i0 = f32[] parameter(2)
      i1 = s32[] parameter(3)
      ROOT r = (f32[10], s32[10]) reduce(p0, p1, i0, i1), dimensions={0}, to_apply=both)"},
    {"slice", R"(
      p0 = f32[10,20,50] parameter(0)
      ROOT r = f32[5,3,25] slice(p0), slice={[5:10:1], [3:20:7], [0:50:2]})"},
    {"reshape_collapse", R"(
      p0 = f32[4,8] parameter(0)
      ROOT r = f32[32] reshape(p0))"},
    {"reshape_expand", R"(
      p0 = f32[32] parameter(0)
      ROOT r = f32[4,8] reshape(p0))"},
    {"reshape_generic", R"(
      p0 = f32[4,8,12] parameter(0)
      ROOT r = f32[32,3,4] reshape(p0))"},
    {"bitcast", R"(
      p0 = f32[4,8,12]{0,1,2} parameter(0)
      ROOT r = f32[32,3,4]{2,1,0} bitcast(p0))"},
    {"concatenate", R"(
      p0 = f32[2,5,7] parameter(0)
      p1 = f32[2,11,7] parameter(1)
      p2 = f32[2,17,7] parameter(2)
      ROOT r = f32[2,33,7] concatenate(p0, p1, p2), dimensions={1})"},
    {"dot", R"(
      p0 = f32[4,128,256] parameter(0)
      p1 = f32[4,256,64] parameter(1)
      ROOT r = f32[4,128,64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0},
          lhs_contracting_dims={2}, rhs_contracting_dims={1})"},
    {"pad", R"(
      p0 = f32[4,4] parameter(0)
      p1 = f32[] parameter(1)
      ROOT r = f32[12,16] pad(p0, p1), padding=1_4_1x4_8_0)"},
    {"reduce_window", R"(
      p0 = f32[1024,514] parameter(0)
      zero = f32[] constant(0)
      ROOT r = f32[1024,3] reduce-window(p0, zero), window={size=1x512 pad=0_0x0_0},
          to_apply=add)"},
    {"reduce_window_dilated", R"(
      p0 = f32[128,64] parameter(0)
      zero = f32[] constant(0)
      ROOT r = f32[65,126] reduce-window(p0, zero),
          window={size=3x2 stride=2x1 pad=1_2x0_1 lhs_dilate=1x2 rhs_dilate=1x2}, to_apply=add)"},
    {"tuple", R"(
      p0 = f32[10,20] parameter(0)
      p1 = s32[7] parameter(1)
      ROOT r = (f32[10,20], s32[7]) tuple(p0, p1))"},
    {"get_tuple_element", R"(
      p0 = (f32[10,20], s32[7]) parameter(0)
      ROOT r = s32[7] get-tuple-element(p0), index=1)"},
    {"scatter", R"(
      p0 = f32[100,64] parameter(0)
      p1 = s32[2,50,1] parameter(1)
      p2 = f32[2,50,8,64] parameter(2)
      ROOT r = f32[100,64] scatter(p0, p1, p2), update_window_dims={2,3}, inserted_window_dims={},
          scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=add)"},
    {"convolution", R"(
      p0 = f32[8,56,56,64] parameter(0)
      p1 = f32[3,3,64,128] parameter(1)
      ROOT r = f32[8,28,28,128] convolution(p0, p1), window={size=3x3 stride=2x2 pad=0_1x0_1},
          dim_labels=b01f_01io->b01f)"},
    {"select_and_scatter", R"(
      p0 = f32[8,112,112,64] parameter(0)
      p1 = f32[8,56,56,64] parameter(1)
      p2 = f32[] parameter(2)
      ROOT r = f32[8,112,112,64] select-and-scatter(p0, p1, p2),
          window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, select=at_least, scatter=add)"},
    {"sort", R"(
      p0 = f32[16,128] parameter(0)
      ROOT r = f32[16,128] sort(p0), dimensions={1}, to_apply=at_least)"},
    {"triangular_solve", R"(
      p0 = f32[4,16,16] parameter(0)
      p1 = f32[4,16,8] parameter(1)
      ROOT r = f32[4,16,8] triangular-solve(p0, p1), left_side=true, lower=true,
          transpose_a=NO_TRANSPOSE)"},
    {"all_gather", R"(
      p0 = f32[16,32] parameter(0)
      ROOT r = f32[128,32] all-gather(p0), dimensions={0}, channel_id=1,
          replica_groups=[4,8]<=[8,4]T(1,0), use_global_device_ids=true)"},
    {"while", R"(
      p0 = (s32[], f32[64,32]) parameter(0)
      x = f32[64,32] get-tuple-element(p0), index=1
      zero = s32[] constant(0)
      init = (s32[], f32[64,32]) tuple(zero, x)
      ROOT r = (s32[], f32[64,32]) while(init), condition=ten_times, body=next)"},
    {"scan", R"(
      p0 = f32[100,64] parameter(0)
      p1 = f32[64] parameter(1)
      ROOT r = (f32[100,64], f32[64]) scan(p0, p1), dimensions={0}, num_carries=1,
          to_apply=running_sum)"},
    {"fusion", R"(
      p0 = f32[1000,1000] parameter(0)
      ROOT r = f32[1000,1000] fusion(p0), kind=kLoop, calls=add_transpose)"},
    {"call", R"(
      p0 = f32[1000,1000] parameter(0)
      ROOT r = f32[1000,1000] call(p0), to_apply=add_transpose)"},
    {"softmax_fusion", R"(
      p0 = f32[2,65,125] parameter(0)
      ROOT r = f32[2,65,125] fusion(p0), kind=kInput, calls=softmax)"},
};

// The computations that the operations call.
constexpr char kCalled[] = R"(
  add {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT sum = f32[] add(a, b)
  }
  both {
    a = f32[] parameter(0)
    b = s32[] parameter(1)
    c = f32[] parameter(2)
    d = s32[] parameter(3)
    ac = f32[] maximum(a, c)
    bd = s32[] maximum(b, d)
    ROOT pair = (f32[], s32[]) tuple(ac, bd)
  }
  at_least {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = pred[] compare(a, b), direction=GE
  }
  ten_times {
    state = (s32[], f32[64,32]) parameter(0)
    i = s32[] get-tuple-element(state), index=0
    ten = s32[] constant(10)
    ROOT c = pred[] compare(i, ten), direction=LT
  }
  next {
    state = (s32[], f32[64,32]) parameter(0)
    i = s32[] get-tuple-element(state), index=0
    x = f32[64,32] get-tuple-element(state), index=1
    one = s32[] constant(1)
    j = s32[] add(i, one)
    y = f32[64,32] reverse(x), dimensions={1}
    ROOT t = (s32[], f32[64,32]) tuple(j, y)
  }
  running_sum {
    x = f32[64] parameter(0)
    carry = f32[64] parameter(1)
    sum = f32[64] add(x, carry)
    ROOT t = (f32[64], f32[64]) tuple(sum, sum)
  }
  add_transpose {
    p0 = f32[1000,1000] parameter(0)
    transposed = f32[1000,1000] transpose(p0), dimensions={1,0}
    ROOT sum = f32[1000,1000] add(p0, transposed)
  }
  softmax {
    p0 = f32[2,65,125] parameter(0)
    zero = f32[] constant(0)
    row_max = f32[2,65] reduce(p0, zero), dimensions={2}, to_apply=add
    row_max_of_all = f32[2,65,125] broadcast(row_max), dimensions={0,1}
    shifted = f32[2,65,125] subtract(p0, row_max_of_all)
    exponential = f32[2,65,125] exponential(shifted)
    row_sum = f32[2,65] reduce(exponential, zero), dimensions={2}, to_apply=add
    row_sum_of_all = f32[2,65,125] broadcast(row_sum), dimensions={0,1}
    ROOT divide = f32[2,65,125] divide(exponential, row_sum_of_all)
  }
)";

void BuildMaps(benchmark::State& state, const char* text, bool output_to_input) {
  const std::unique_ptr<HloModule> module =
      ParseOrSkip(state, absl::StrCat("HloModule m\n", kCalled, "ENTRY e {\n", text, "\n}\n"));
  if (module == nullptr) return;
  const HloInstruction& root = *module->entry_computation()->root_instruction();
  mlir::MLIRContext context(kNoThreading);
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    const absl::StatusOr<SharedIndexing> entries = HloIndexer(&context).Index(
        root, output_to_input ? Direction::kOutputToInput : Direction::kInputToOutput);
    if (!entries.ok()) return Skip(state, entries.status());
    benchmark::DoNotOptimize(entries->get());
  }
  meter.Report();
}

const bool registered = [] {
  for (const Operation& operation : kOperations) {
    for (const bool output_to_input : {true, false}) {
      benchmark::RegisterBenchmark(
          absl::StrCat(output_to_input ? "OutputToInput/" : "InputToOutput/", operation.name)
              .c_str(),
          BuildMaps, operation.text, output_to_input);
    }
  }
  return true;
}();

}  // namespace
}  // namespace xla_indexing
