// Whole modules as XLA's printers write them today: each is read, verifies, and reads back from
// what is printed of it.

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

void ExpectReadAndVerified(absl::string_view text) {
  const std::unique_ptr<HloModule> module = RoundTrip(text);
  ASSERT_NE(module, nullptr);
  const absl::Status status = VerifyModule(*module);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PrintedModules, HeaderTablesMetadataAndShardings) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }, buffer_donor={ (2, {}), (3, {0}) }, entry_computation_layout={(f32[4]{0}, f32[4]{0}, s32[], (f32[2]{0}, pred[]))->(f32[4]{0}, f32[4]{0})}, allow_spmd_sharding_propagation_to_parameters={true,true,false,false}, allow_spmd_sharding_propagation_to_output={true,true}, num_partitions=4, frontend_attributes={fingerprint_before_lhs="a1b2",xla.sdy.meshes={mesh = #sdy.mesh<["x"=4]>}}

FileNames
1 "/home/user/train.py"
2 "/usr/lib/python3/jax/_src/api.py"

FunctionNames
1 "<module>"
2 "step.<locals>.loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=22}
2 {file_name_id=2 function_name_id=2 line=7 end_line=9 column=11 end_column=30}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

ENTRY %main.9 (Arg_0.1: f32[4], Arg_1.2: f32[4], Arg_2.3: s32[], Arg_3.4: (f32[2], pred[])) -> (f32[4], f32[4]) {
  %Arg_0.1 = f32[4]{0} parameter(0), sharding={devices=[4]<=[4]}, metadata={op_name="params[\'w\']"}
  %Arg_1.2 = f32[4]{0} parameter(1), sharding={replicated}, metadata={op_name="params[\'b\']"}
  %Arg_2.3 = s32[] parameter(2), metadata={op_name="i" source_file="a.py" source_line=3 source_end_line=3 source_column=1 source_end_column=9 stack_frame_id=2}
  %Arg_3.4 = (f32[2]{0}, pred[]) parameter(3), sharding={{devices=[2,2]<=[4] last_tile_dim_replicate}, {replicated}}, parameter_replication={true,false}
  %add.5 = f32[4]{0} add(%Arg_0.1, %Arg_1.2), metadata={op_type="add" op_name="jit(step)/add" deduplicated_name="add.1" scheduling_name="add.5" profile_type={1} size_of_generated_code_in_bytes=12 size_of_memory_working_set_in_bytes=13 preserve_layout=true stack_frame_id=1}, origin={{"add.5"}}, frontend_attributes={_scheduling_group_id="0",a.b={x = dense<1> : tensor<i32>}}
  %multiply.6 = f32[4]{0} multiply(%add.5, %Arg_1.2), control-predecessors={%add.5}, backend_config={"outer_dimension_partitions":["4"],"note":"} brace"}
  ROOT %tuple.7 = (f32[4]{0}, f32[4]{0}) tuple(%add.5, /*index=1*/%multiply.6), origin={({"add.5"}, {"m" {0}})}
}
)hlo");
}

TEST(PrintedModules, LiteralsOfAllTypes) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_f, entry_computation_layout={()->(pred[2]{0}, s8[2]{0}, u4[2]{0:E(4)}, f16[2]{0}, bf16[2]{0}, /*index=5*/f8e4m3fn[2]{0}, c64[2]{0}, s64[], u64[], f64[2]{0})}

ENTRY %main () -> (pred[2], s8[2], u4[2], f16[2], bf16[2], /*index=5*/f8e4m3fn[2], c64[2], s64[], u64[], f64[2]) {
  %c0 = pred[2]{0} constant({true, false})
  %c1 = s8[2]{0} constant({-128, 127})
  %c2 = u4[2]{0:E(4)} constant({0, 15})
  %c3 = f16[2]{0} constant({65504, -inf})
  %c4 = bf16[2]{0} constant({1.5, nan})
  %c5 = f8e4m3fn[2]{0} constant({448, -nan})
  %c6 = c64[2]{0} constant({(1, -2), (inf, 1e-05)})
  %c7 = s64[] constant(-9223372036854775808)
  %c8 = u64[] constant(18446744073709551615)
  %c9 = f64[2]{0} constant({1.7976931348623157e+308, 4.9406564584124654e-324})
  %c10 = f32[2,3]{1,0} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
  %c11 = s32[0,3]{1,0} constant({})
  %c12 = f32[1000]{0} constant({...})
  %c13 = f4e2m1fn[2]{0:E(4)} constant({6, -0.5})
  %c14 = f8e8m0fnu[1]{0} constant({2})
  %c15 = f8e5m2[2]{0} constant({inf, 1})
  %c16 = f8e3m4[1]{0} constant({1})
  %c17 = c128[] constant((1, 0))
  %c18 = s2[2]{0} constant({-2, 1})
  %c19 = f32[] constant(nan(0x7fffff))
  ROOT %t = (pred[2]{0}, s8[2]{0}, u4[2]{0:E(4)}, f16[2]{0}, bf16[2]{0}, /*index=5*/f8e4m3fn[2]{0}, c64[2]{0}, s64[], u64[], f64[2]{0}) tuple(%c0, %c1, %c2, %c3, %c4, /*index=5*/%c5, %c6, %c7, %c8, %c9)
}
)hlo");
}

TEST(PrintedModules, AsynchronousOperations) {
  ExpectReadAndVerified(
      R"hlo(HloModule async, entry_computation_layout={(f32[8]{0})->f32[16]{0}}, num_partitions=2, replica_count=1

%async_computation (p: f32[8]) -> f32[16] {
  %p = f32[8]{0} parameter(0)
  ROOT %ag = f32[16]{0} all-gather(%p), channel_id=1, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true
}, execution_thread="parallel"

%wrapped (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%q)
}, execution_thread="sc"

ENTRY %main (x: f32[8]) -> f32[16] {
  %x = f32[8]{0} parameter(0)
  %call-start = ((f32[8]{0}), f32[8]{0}, u32[]) call-start(%x), to_apply=%wrapped, async_execution_thread="sc"
  %call-done = f32[8]{0} call-done(%call-start)
  %async-start = ((f32[8]{0}), f32[16]{0}, u32[], u32[]) async-start(%call-done), calls=%async_computation, async_execution_thread="parallel"
  %async-update = ((f32[8]{0}), f32[16]{0}, u32[], u32[]) async-update(%async-start)
  %async-done = f32[16]{0} async-done(%async-update)
  %ar = f32[16]{0} all-reduce-start(%async-done), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply={ %a = f32[] parameter(0)  %b = f32[] parameter(1)  ROOT %s = f32[] add(%a, %b) }, backend_config={"collective_backend_config":{"is_sync":true}}
  ROOT %d = f32[16]{0} all-reduce-done(%ar)
}
)hlo");
}

TEST(PrintedModules, FusionsAndCustomCallsOfGpus) {
  ExpectReadAndVerified(
      R"hlo(HloModule gpu, is_scheduled=true, entry_computation_layout={(f32[16,32]{1,0}, f32[32,8]{1,0})->f32[16,8]{1,0}}, frontend_attributes={fingerprint_before_lhs="3f2a"}

%fused_add (p0: f32[16,8], p1: f32[]) -> f32[16,8] {
  %p0 = f32[16,8]{1,0} parameter(0)
  %p1 = f32[] parameter(1)
  %b = f32[16,8]{1,0} broadcast(%p1), dimensions={}
  ROOT %a = f32[16,8]{1,0} add(%p0, %b)
}

%gemm_fusion_dot_computation (a: f32[16,32], b: f32[32,8]) -> f32[16,8] {
  %a = f32[16,32]{1,0} parameter(0)
  %b = f32[32,8]{1,0} parameter(1)
  ROOT %dot = f32[16,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}, algorithm=dot_tf32_tf32_f32
}

%command_buffer (x: f32[16,8], y: f32[]) -> f32[16,8] {
  %x = f32[16,8]{1,0} parameter(0)
  %y = f32[] parameter(1)
  ROOT %f = f32[16,8]{1,0} fusion(%x, %y), kind=kLoop, calls=%fused_add
}

ENTRY %main (l: f32[16,32], r: f32[32,8]) -> f32[16,8] {
  %l = f32[16,32]{1,0} parameter(0)
  %r = f32[32,8]{1,0} parameter(1)
  %c = f32[] constant(1)
  %gemm = f32[16,8]{1,0} fusion(%l, %r), kind=kCustom, calls=%gemm_fusion_dot_computation, backend_config={"operation_queue_id":"0","wait_on_operation_queues":[],"fusion_backend_config":{"kind":"__triton_gemm","triton_gemm_config":{"block_m":"16","block_n":"16","block_k":"32","split_k":"1","num_stages":"1","num_warps":"2","num_ctas":"1"}},"force_earliest_schedule":false,"reification_cost":[]}
  %custom-call.1 = (f32[16,8]{1,0}, s8[4096]{0}) custom-call(%l, %r), custom_call_target="__cublas$gemm", api_version=API_VERSION_STATUS_RETURNING_UNIFIED, operand_layout_constraints={f32[16,32]{1,0}, f32[32,8]{1,0}}, output_to_operand_aliasing={}, backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]},"epilogue":"DEFAULT"}}
  %g = f32[16,8]{1,0} get-tuple-element(%custom-call.1), index=0
  %cc2 = f32[16,8]{1,0} custom-call(%g), custom_call_target="foo", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, output_to_operand_aliasing={{}: (0, {})}, custom_call_schedule=SCHEDULE_LATEST, backend_config={a = 1 : i32, b = "x"}
  %s = f32[16,8]{1,0} add(%gemm, %cc2)
  ROOT %call = f32[16,8]{1,0} call(%s, %c), to_apply=%command_buffer, is_composite=true, frontend_attributes={composite.name="foo.bar",composite.attributes={n = 1 : i64, t = dense<1> : tensor<2xi64>},composite.version="1"}
}
)hlo");
}

TEST(PrintedModules, OperationsOfManyKinds) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_ops, entry_computation_layout={(f32[8,16]{1,0}, s32[4,1]{1,0}, f32[4,16]{1,0}, pred[])->f32[8,16]{1,0}}

%region_0.1 (Arg_0.2: f32[], Arg_1.3: f32[]) -> f32[] {
  %Arg_0.2 = f32[] parameter(0), metadata={op_name="jit(f)/scatter-add"}
  %Arg_1.3 = f32[] parameter(1)
  ROOT %add.4 = f32[] add(%Arg_0.2, %Arg_1.3)
}

%cmp (a: f32[], b: f32[], c: s32[], d: s32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %c = s32[] parameter(2)
  %d = s32[] parameter(3)
  ROOT %lt = pred[] compare(%a, %b), direction=LT, type=TOTALORDER
}

ENTRY %main.1 (p0: f32[8,16], p1: s32[4,1], p2: f32[4,16], p3: pred[]) -> f32[8,16] {
  %p0 = f32[8,16]{1,0} parameter(0)
  %p1 = s32[4,1]{1,0} parameter(1)
  %p2 = f32[4,16]{1,0} parameter(2)
  %p3 = pred[] parameter(3)
  %scatter.1 = f32[8,16]{1,0} scatter(%p0, %p1, %p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=false, unique_indices=false, to_apply=%region_0.1
  %gather.1 = f32[4,16]{1,0} gather(%p0, %p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}, indices_are_sorted=true
  %iota = s32[8,16]{1,0} iota(), iota_dimension=1
  %sort = (f32[8,16]{1,0}, s32[8,16]{1,0}) sort(%p0, %iota), dimensions={1}, is_stable=true, to_apply=%cmp
  %topk = (f32[8,2]{1,0}, s32[8,2]{1,0}) topk(%p0), k=2, largest=true
  %rng = (u64[2]{0}, u32[4]{0}) rng-bit-generator(u64[2]{0} constant({1, 2})), algorithm=rng_default
  %exp = f32[8,16]{1,0} exponential(%scatter.1), result_accuracy={tolerance={atol=0,rtol=0.1,ulps=2}}
  %log = f32[8,16]{1,0} log(%exp), result_accuracy={mode=highest}
  %cvt = bf16[8,16]{1,0} convert(%log)
  %rp = f32[8,16]{1,0} reduce-precision(%log), exponent_bits=8, mantissa_bits=7
  %pad = f32[10,19]{1,0} pad(%rp, f32[] constant(0)), padding=1_1x0_3
  %rw = f32[8,16]{1,0} reduce-window(%pad, f32[] constant(0)), window={size=3x4}, to_apply=%region_0.1
  %fft = c64[8,9]{1,0} fft(%rp), fft_type=RFFT, fft_length={16}
  %stat = f32[8,16]{1,0} copy(%rw), statistics={visualizing_index=1,stat-1=33,stat-2=44.5}
  %dom = f32[8,16]{1,0} domain(%stat), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
  %bar = f32[8,16]{1,0} opt-barrier(%dom)
  ROOT %conditional = f32[8,16]{1,0} conditional(%p3, %bar, %rp), true_computation={ %x = f32[8,16]{1,0} parameter(0)  ROOT %n = f32[8,16]{1,0} negate(%x) }, false_computation={ ROOT %y = f32[8,16]{1,0} parameter(0) }
}
)hlo");
}

TEST(PrintedModules, TiledLayoutsAndMemorySpaces) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_tpu, is_scheduled=true, entry_computation_layout={(bf16[128,256]{1,0:T(8,128)(2,1)}, f32[256,128]{1,0:T(8,128)})->bf16[128,128]{1,0:T(8,128)(2,1)}}, allow_spmd_sharding_propagation_to_output={true}

ENTRY %main (p0: bf16[128,256], p1: f32[256,128]) -> bf16[128,128] {
  %p0 = bf16[128,256]{1,0:T(8,128)(2,1)} parameter(0)
  %p1 = f32[256,128]{1,0:T(8,128)} parameter(1)
  %copy-start = (f32[256,128]{1,0:T(8,128)S(1)}, f32[256,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%p1), cross_program_prefetch_index=0
  %copy-done = f32[256,128]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  %copy.1 = bf16[256,128]{0,1:T(8,128)(2,1)S(1)} copy(%copy-done)
  %conv = bf16[128,128]{1,0:T(8,128)(2,1)} convolution(%p0, %copy.1), dim_labels=bf_io->bf, operand_precision={high,default}, backend_config={"flag_configs":[],"window_config":{"kernel_window_bounds":["1","1"]},"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1024"}]}
  %slice-start = ((bf16[128,128]{1,0:T(8,128)(2,1)}), bf16[64,128]{1,0:T(8,128)(2,1)S(1)}, s32[]) slice-start(%conv), slice={[0:64], [0:128]}
  %slice-done = bf16[64,128]{1,0:T(8,128)(2,1)S(1)} slice-done(%slice-start)
  %rev = bf16[64,128]{1,0:T(8,128)(2,1)} reverse(%slice-done), dimensions={0}
  ROOT %dus = bf16[128,128]{1,0:T(8,128)(2,1)} dynamic-update-slice(%conv, %rev, s32[]{:T(128)} constant(0), s32[]{:T(128)S(6)} constant(0))
}
)hlo");
}

TEST(PrintedModules, CollectivesOnAMesh) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_sharded, num_partitions=8, entry_computation_layout={(f32[4,8]{1,0})->f32[4,8]{1,0}}

%add.clone (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  %pid = u32[] partition-id()
  %rid = u32[] replica-id()
  %ag = f32[4,32]{1,0} all-gather(%p), channel_id=1, replica_groups=mesh['x'=2,'y'=4] {'y'}, dimensions={1}, use_global_device_ids=true
  %ag2 = f32[4,32]{1,0} all-gather(%p), channel_id=2, replica_groups=mesh['x'=2,'y'=4], device_ids=([2,2,2]T(0,2,1)) {'y'}, dimensions={1}, use_global_device_ids=true
  %rs = f32[4,8]{1,0} reduce-scatter(%ag), channel_id=3, replica_groups=mesh['x'=2,'y'=2,'z'=2], device_ids=(0,1,2,3,7,6,5,4) {'x','z'}, use_global_device_ids=true, dimensions={1}, to_apply=%add.clone
  %cp = f32[4,8]{1,0} collective-permute(%rs), channel_id=4, source_target_pairs={{0,1},{1,2},{2,3},{3,0},{4,5},{5,6},{6,7},{7,4}}
  %cps = (f32[4,8]{1,0}, f32[4,8]{1,0}) collective-permute-start(%cp), channel_id=5, source_target_pairs={{0,4},{4,0}}
  %cpd = f32[4,8]{1,0} collective-permute-done(%cps)
  %a2a = f32[4,8]{1,0} all-to-all(%cpd), channel_id=6, replica_groups=[4,2]<=[2,4]T(1,0), dimensions={1}
  %cb = f32[4,8]{1,0} collective-broadcast(%a2a), channel_id=7, replica_groups={{0,1,2,3},{4,5,6,7}}
  ROOT %ar = f32[4,8]{1,0} all-reduce(%cb), channel_id=8, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=%add.clone, frontend_attributes={_xla_compute_type="host"}
}
)hlo");
}

TEST(PrintedModules, ALoopWithItsBackendConfig) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_while, entry_computation_layout={(s32[], f32[10]{0})->f32[10]{0}}

%region_body (arg_tuple: (s32[], f32[10])) -> (s32[], f32[10]) {
  %arg_tuple = (s32[], f32[10]{0}) parameter(0)
  %get-tuple-element.1 = s32[] get-tuple-element(%arg_tuple), index=0
  %constant.1 = s32[] constant(1)
  %add = s32[] add(%get-tuple-element.1, %constant.1)
  %get-tuple-element.2 = f32[10]{0} get-tuple-element(%arg_tuple), index=1
  %ds = f32[1]{0} dynamic-slice(%get-tuple-element.2, %get-tuple-element.1), dynamic_slice_sizes={1}
  %dus = f32[10]{0} dynamic-update-slice(%get-tuple-element.2, %ds, %get-tuple-element.1)
  ROOT %tuple = (s32[], f32[10]{0}) tuple(%add, %dus)
}

%region_cond (arg: (s32[], f32[10])) -> pred[] {
  %arg = (s32[], f32[10]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %n = s32[] constant(10)
  ROOT %compare = pred[] compare(%i, %n), direction=LT
}

ENTRY %main (a: s32[], b: f32[10]) -> f32[10] {
  %a = s32[] parameter(0)
  %b = f32[10]{0} parameter(1)
  %t = (s32[], f32[10]{0}) tuple(%a, %b)
  %w = (s32[], f32[10]{0}) while(%t), condition=%region_cond, body=%region_body, backend_config={"known_trip_count":{"n":"10"},"known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"0"},"dynamic_variable_tuple_indices":[]}
  ROOT %r = f32[10]{0} get-tuple-element(%w), index=1
}
)hlo");
}

TEST(PrintedModules, TransfersToAndFromTheHost) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_host, entry_computation_layout={(f32[4]{0:S(5)}, token[])->(f32[4]{0}, token[])}

ENTRY %main (p: f32[4], tok: token[]) -> (f32[4], token[]) {
  %p = f32[4]{0:S(5)} parameter(0)
  %tok = token[] parameter(1)
  %send = (f32[4]{0}, u32[], token[]) send(%p, %tok), channel_id=1, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="tf_rendezvous",_xla_host_transfer_rendezvous="r"}
  %send-done = token[] send-done(%send), channel_id=1, is_host_transfer=true
  %recv = (f32[4]{0}, u32[], token[]) recv(%send-done), channel_id=2, is_host_transfer=true
  %recv-done = (f32[4]{0}, token[]) recv-done(%recv), channel_id=2, is_host_transfer=true
  %v = f32[4]{0} get-tuple-element(%recv-done), index=0
  %t1 = token[] get-tuple-element(%recv-done), index=1
  %infeed = ((f32[4]{0}, s32[]), token[]) infeed(%t1), infeed_config="cfg"
  %t2 = token[] get-tuple-element(%infeed), index=1
  %outfeed = token[] outfeed(%v, %t2), outfeed_shape=f32[4]{0}, outfeed_config="x"
  %all = token[] after-all(%outfeed, %tok)
  %dep = f32[4]{0} add-dependency(%v, %all)
  ROOT %r = (f32[4]{0}, token[]) tuple(%dep, %all)
}
)hlo");
}

TEST(PrintedModules, DynamicSizes) {
  ExpectReadAndVerified(
      R"hlo(HloModule jit_dyn, entry_computation_layout={(f32[<=16,4]{1,0}, s32[])->f32[<=16,4]{1,0}}

ENTRY %main (p: f32[<=16,4], n: s32[]) -> f32[<=16,4] {
  %p = f32[<=16,4]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %size = s32[] get-dimension-size(%p), dimensions={0}
  %one = s32[] constant(1)
  %less = s32[] subtract(%size, %one)
  %static = f32[16,4]{1,0} custom-call(%p), custom_call_target="PadToStatic"
  %set = f32[<=16,4]{1,0} set-dimension-size(%static, %less), dimensions={0}
  ROOT %negate = f32[<=16,4]{1,0} negate(%set)
}
)hlo");
}

TEST(PrintedModules, NamesWithoutPercentAndCallsInPlace) {
  ExpectReadAndVerified(
      R"hlo(HloModule pmap_f.3, replica_count=4, entry_computation_layout={(f32[1,2]{1,0})->f32[1,2]{1,0}}

region_0.5 {
  Arg_0.6 = f32[] parameter(0)
  Arg_1.7 = f32[] parameter(1)
  ROOT add.8 = f32[] add(Arg_0.6, Arg_1.7)
}

ENTRY main.11 {
  Arg_0.1 = f32[1,2]{1,0} parameter(0), sharding={replicated}
  call.2 = f32[1,2] call(Arg_0.1), to_apply={
    x.1 = f32[1,2] parameter(0)
    ROOT y.2 = f32[1,2] tanh(x.1), metadata={op_name="jit(f)/tanh" source_file="f.py" source_line=3}
  }, metadata={op_name="jit(f)"}
  reshape.3 = f32[2]{0} reshape(call.2)
  psum.9 = f32[2]{0} all-reduce(reshape.3), replica_groups={{0,1,2,3}}, to_apply=region_0.5
  ROOT reshape.10 = f32[1,2]{1,0} reshape(psum.9), shape={f32[1,2]}
}
)hlo");
}

}  // namespace
}  // namespace xla_indexing
