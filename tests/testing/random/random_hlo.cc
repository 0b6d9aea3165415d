#include "tests/testing/random/random_hlo.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

using internal::IsCollective;

constexpr int kMaxDepth = 2;

// The operations that are not elementwise.
constexpr HloOpcode kOpcodes[] = {
    HloOpcode::kAddDependency,
    HloOpcode::kAfterAll,
    HloOpcode::kAllGather,
    HloOpcode::kAllGatherDone,
    HloOpcode::kAllGatherStart,
    HloOpcode::kAllReduce,
    HloOpcode::kAllReduceDone,
    HloOpcode::kAllReduceStart,
    HloOpcode::kAllToAll,
    HloOpcode::kAsyncDone,
    HloOpcode::kAsyncStart,
    HloOpcode::kAsyncUpdate,
    HloOpcode::kBatchNormGrad,
    HloOpcode::kBatchNormInference,
    HloOpcode::kBatchNormTraining,
    HloOpcode::kBitcast,
    HloOpcode::kBitcastConvert,
    HloOpcode::kBroadcast,
    HloOpcode::kCall,
    HloOpcode::kCholesky,
    HloOpcode::kCollectiveBroadcast,
    HloOpcode::kCollectivePermute,
    HloOpcode::kCollectivePermuteDone,
    HloOpcode::kCollectivePermuteStart,
    HloOpcode::kCollectiveReduce,
    HloOpcode::kConcatenate,
    HloOpcode::kConditional,
    HloOpcode::kConstant,
    HloOpcode::kConvolution,
    HloOpcode::kCopyDone,
    HloOpcode::kCopyStart,
    HloOpcode::kCustomCall,
    HloOpcode::kDomain,
    HloOpcode::kDot,
    HloOpcode::kDynamicReshape,
    HloOpcode::kDynamicSlice,
    HloOpcode::kDynamicUpdateSlice,
    HloOpcode::kFft,
    HloOpcode::kFusion,
    HloOpcode::kGather,
    HloOpcode::kGetDimensionSize,
    HloOpcode::kGetTupleElement,
    HloOpcode::kInfeed,
    HloOpcode::kIota,
    HloOpcode::kMap,
    HloOpcode::kOptBarrier,
    HloOpcode::kOutfeed,
    HloOpcode::kPad,
    HloOpcode::kParameter,
    HloOpcode::kPartitionId,
    HloOpcode::kRaggedDot,
    HloOpcode::kRaggedAllToAll,
    HloOpcode::kRecv,
    HloOpcode::kRecvDone,
    HloOpcode::kReduce,
    HloOpcode::kReduceScatter,
    HloOpcode::kReduceWindow,
    HloOpcode::kReplicaId,
    HloOpcode::kReshape,
    HloOpcode::kReverse,
    HloOpcode::kRng,
    HloOpcode::kRngBitGenerator,
    HloOpcode::kRngGetAndUpdateState,
    HloOpcode::kScaledDot,
    HloOpcode::kScan,
    HloOpcode::kScatter,
    HloOpcode::kSelectAndScatter,
    HloOpcode::kSend,
    HloOpcode::kSendDone,
    HloOpcode::kSetDimensionSize,
    HloOpcode::kSlice,
    HloOpcode::kSort,
    HloOpcode::kTopk,
    HloOpcode::kTranspose,
    HloOpcode::kTriangularSolve,
    HloOpcode::kTuple,
    HloOpcode::kWhile,
};

Shape RandomIntegerArray(RandomComputation* c) {
  Shape shape = c->RandomArray(1);
  shape.ClearLayout();
  shape.SetElementType(c->RandomIntegerType());
  return shape;
}

RandomValue AddRandomConstant(RandomComputation* c) {
  return c->AddConstant(c->random().OneIn(2) ? Shape::Scalar(c->RandomIntegerType())
                                             : RandomIntegerArray(c));
}

RandomValue AddRandomIota(RandomComputation* c) {
  const Shape shape = RandomIntegerArray(c);
  return c->Add(shape, "iota", {},
                absl::StrCat(", iota_dimension=", c->random().Between(0, shape.rank() - 1)));
}

RandomValue AddTuple(const std::vector<RandomValue>& elements, RandomComputation* c) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const RandomValue& element : elements) shapes.push_back(element.shape);
  return c->Add(Shape::Tuple(shapes), "tuple", elements);
}

RandomValue AddRandomTuple(RandomComputation* c) {
  std::vector<RandomValue> elements;
  for (int64_t i = c->random().Between(0, 3); i > 0; --i) {
    elements.push_back(c->random().OneIn(4) ? c->Operand([](const Shape&) { return true; },
                                                         [&] { return c->RandomTuple(); })
                                            : c->ArrayOperand());
  }
  return AddTuple(elements, c);
}

RandomValue AddRandomGetTupleElement(RandomComputation* c) {
  const RandomValue tuple = c->Operand(
      [](const Shape& shape) { return shape.IsTuple() && !shape.tuple_elements().empty(); },
      [&] {
        Shape shape = c->RandomTuple();
        return shape.tuple_elements().empty() ? Shape::Tuple({c->RandomArray(0)}) : shape;
      });
  const int64_t index =
      c->random().Between(0, static_cast<int64_t>(tuple.shape.tuple_elements().size()) - 1);
  return c->Add(tuple.shape.tuple_element(index), "get-tuple-element", {tuple},
                absl::StrCat(", index=", index));
}

bool CallsComputations(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAsyncDone:
    case HloOpcode::kAsyncStart:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kFusion:
    case HloOpcode::kScan:
    case HloOpcode::kWhile:
      return true;
    default:
      return false;
  }
}

std::string ModuleText(absl::string_view name, const RandomModuleText& text) {
  std::string header = absl::StrCat("HloModule ", name);
  if (text.replica_count > 1) absl::StrAppend(&header, ", replica_count=", text.replica_count);
  if (text.partition_count > 1) {
    absl::StrAppend(&header, ", num_partitions=", text.partition_count);
  }
  return absl::StrCat(header, "\n\n", text.computations);
}

// Two to eight devices, replicas or partitions or both.
void SetRandomDevices(Random* random, RandomModuleText* text) {
  text->replica_count = random->Between(1, 4);
  text->partition_count =
      random->Between(text->replica_count == 1 ? 2 : 1, text->replica_count <= 2 ? 4 : 2);
}

}  // namespace

HloOpcode RandomOpcode(RandomComputation* c) {
  static const std::vector<HloOpcode>* const all = new std::vector<HloOpcode>(RandomOpcodes());
  while (true) {
    const absl::Span<const HloOpcode> called = c->module()->called_opcodes;
    // Elementwise operations are many and alike.
    const HloOpcode opcode = !called.empty()        ? c->random().Pick(called)
                             : c->random().OneIn(4) ? c->random().Pick(*all)
                                                    : c->random().Pick(kOpcodes);
    if (CallsComputations(opcode) && c->depth() >= kMaxDepth) continue;
    // Other operations are made for sizes that are known.
    if (opcode == HloOpcode::kSetDimensionSize) continue;
    // They are many, and there is something to them on several devices only.
    if (IsCollective(opcode) &&
        (!c->is_synchronous() || (c->module()->replica_count * c->module()->partition_count == 1 &&
                                  !c->random().OneIn(8)))) {
      continue;
    }
    return opcode;
  }
}

RandomValue RandomRoot(RandomComputation* c) {
  if (c->random().OneIn(2)) return c->values().back();
  std::vector<RandomValue> elements = {c->values().back()};
  for (int64_t i = c->random().Between(0, 2); i > 0; --i) {
    elements.push_back(c->random().Pick(c->values()));
  }
  c->random().Shuffle(&elements);
  return AddTuple(elements, c);
}

RandomValue AddRandomInstruction(HloOpcode opcode, RandomComputation* c) {
  switch (opcode) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kAfterAll:
    case HloOpcode::kCopyDone:
    case HloOpcode::kCopyStart:
    case HloOpcode::kDomain:
    case HloOpcode::kInfeed:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kOutfeed:
    case HloOpcode::kPartitionId:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kSend:
    case HloOpcode::kSendDone:
      return AddRandomTransfer(opcode, c);
    case HloOpcode::kAsyncDone:
    case HloOpcode::kAsyncStart:
    case HloOpcode::kAsyncUpdate:
      return AddRandomAsync(opcode, c);
    case HloOpcode::kBatchNormGrad:
    case HloOpcode::kBatchNormInference:
    case HloOpcode::kBatchNormTraining:
      return AddRandomBatchNorm(opcode, c);
    case HloOpcode::kBitcast:
      return AddRandomBitcast(c);
    case HloOpcode::kBitcastConvert:
      return AddRandomBitcastConvert(c);
    case HloOpcode::kBroadcast:
      return AddRandomBroadcast(c);
    case HloOpcode::kCall:
      return AddRandomCall("call", ", to_apply=", c);
      return AddRandomCall("call", ", to_apply=", c);
    case HloOpcode::kCholesky:
      return AddRandomCholesky(c);
    case HloOpcode::kConcatenate:
      return AddRandomConcatenate(c);
    case HloOpcode::kConditional:
      return AddRandomConditional(c);
    case HloOpcode::kConstant:
      return AddRandomConstant(c);
    case HloOpcode::kCustomCall:
      return AddRandomCustomCall(c);
    case HloOpcode::kConvolution:
      return AddRandomConvolution(c);
    case HloOpcode::kDot:
      return AddRandomDot(c);
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kSetDimensionSize:
      return AddRandomDynamicSize(opcode, c);
    case HloOpcode::kDynamicSlice:
      return AddRandomDynamicSlice(c);
    case HloOpcode::kDynamicUpdateSlice:
      return AddRandomDynamicUpdateSlice(c);
    case HloOpcode::kFft:
      return AddRandomFft(c);
    case HloOpcode::kFusion:
      return AddRandomCall("fusion", ", kind=kLoop, calls=", c);
    case HloOpcode::kGather:
      return AddRandomGather(c);
    case HloOpcode::kGetDimensionSize:
      return AddRandomGetDimensionSize(c);
    case HloOpcode::kGetTupleElement:
      return AddRandomGetTupleElement(c);
    case HloOpcode::kIota:
      return AddRandomIota(c);
    case HloOpcode::kMap:
      return AddRandomMap(c);
    case HloOpcode::kPad:
      return AddRandomPad(c);
    case HloOpcode::kParameter:
      return c->AddParameter(c->random().OneIn(4) ? c->RandomTuple() : c->RandomArray(0));
    case HloOpcode::kRaggedDot:
      return AddRandomRaggedDot(c);
    case HloOpcode::kReduce:
      return AddRandomReduce(c);
    case HloOpcode::kReduceWindow:
      return AddRandomReduceWindow(c);
    case HloOpcode::kReshape:
      return AddRandomReshape(c);
    case HloOpcode::kReverse:
      return AddRandomReverse(c);
    case HloOpcode::kRng:
      return AddRandomRng(c);
    case HloOpcode::kRngBitGenerator:
      return AddRandomRngBitGenerator(c);
    case HloOpcode::kScaledDot:
      return AddRandomScaledDot(c);
    case HloOpcode::kScan:
      return AddRandomScan(c);
    case HloOpcode::kScatter:
      return AddRandomScatter(c);
    case HloOpcode::kSelectAndScatter:
      return AddRandomSelectAndScatter(c);
    case HloOpcode::kSlice:
      return AddRandomSlice(c);
    case HloOpcode::kSort:
      return AddRandomSort(c);
    case HloOpcode::kTopk:
      return AddRandomTopk(c);
    case HloOpcode::kTranspose:
      return AddRandomTranspose(c);
    case HloOpcode::kTriangularSolve:
      return AddRandomTriangularSolve(c);
    case HloOpcode::kTuple:
      return AddRandomTuple(c);
    case HloOpcode::kWhile:
      return AddRandomWhile(c);
    default:
      if (IsCollective(opcode)) return AddRandomCollective(opcode, c);
      return AddRandomElementwise(opcode, c);
  }
}

std::vector<HloOpcode> RandomOpcodes() {
  std::vector<HloOpcode> opcodes(std::begin(kOpcodes), std::end(kOpcodes));
  for (int i = 0; i < kOpcodeCount; ++i) {
    if (IsElementwise(static_cast<HloOpcode>(i))) opcodes.push_back(static_cast<HloOpcode>(i));
  }
  return opcodes;
}

std::string RandomOperationModule(HloOpcode opcode, uint64_t seed,
                                  absl::Span<const HloOpcode> called) {
  Random random(MixBits(seed) + static_cast<uint64_t>(opcode));
  RandomModuleText text;
  text.called_opcodes = called;
  if (IsCollective(opcode) && !random.OneIn(8)) SetRandomDevices(&random, &text);
  RandomComputation main(&text, &random, /*reuse_percent=*/15, /*depth=*/0);
  main.set_is_synchronous(true);
  main.Finish(AddRandomInstruction(opcode, &main), /*is_entry=*/true);
  return ModuleText("random_operation", text);
}

std::string RandomFusionModule(uint64_t seed) {
  Random random(MixBits(seed) ^ 0x5a5a5a5a);
  RandomModuleText text;
  if (random.OneIn(4)) SetRandomDevices(&random, &text);
  RandomComputation main(&text, &random, /*reuse_percent=*/85, /*depth=*/0);
  main.set_is_synchronous(true);
  for (int64_t i = random.Between(2, 10); i > 0; --i) {
    AddRandomInstruction(RandomOpcode(&main), &main);
  }
  main.Finish(RandomRoot(&main), /*is_entry=*/true);
  return ModuleText("random_fusion", text);
}

std::string RandomFusionModule(absl::Span<const HloOpcode> opcodes, uint64_t seed,
                               absl::Span<const HloOpcode> called) {
  Random random(MixBits(seed) ^ 0x7171717171);
  RandomModuleText text;
  text.called_opcodes = called;
  RandomComputation main(&text, &random, /*reuse_percent=*/85, /*depth=*/0);
  for (int64_t i = random.Between(2, 8); i > 0; --i) {
    AddRandomInstruction(random.Pick(opcodes), &main);
  }
  main.Finish(RandomRoot(&main), /*is_entry=*/true);
  return ModuleText("random_fusion", text);
}

}  // namespace xla_indexing
