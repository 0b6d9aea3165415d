// RUN: %opt --split-input-file --pass-pipeline='builtin.module(func.func(indexing-annotate))' --mlir-print-local-scope --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK: linalg.matmul
// CHECK-SAME: indexing.reads = [{elements = 32 : i64, exact, maps = [#indexing.map<"(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 3]">], of = 32 : i64, operand = 0 : i64, reads = 512 : i64}
// CHECK-SAME: {elements = 64 : i64, exact, maps = [#indexing.map<"(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 3]">], of = 64 : i64, operand = 1 : i64, reads = 512 : i64}
// CHECK-SAME: indexing.sectors =
func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// An addition may be written in either operand's buffer.
// CHECK-LABEL: func.func @add
// CHECK: arith.addf
// CHECK-SAME: indexing.in_place = [array<i64: 0, 0>]
func.func @add(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = arith.addf %a, %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A transpose may not.
// CHECK-LABEL: func.func @transpose
// CHECK-NOT: indexing.in_place
func.func @transpose(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) permutation = [1, 0]
  return %0 : tensor<4x4xf32>
}

// -----

// expected-remark @below {{not annotated: arith.negf: an array whose sizes are not static}}
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.negf %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
