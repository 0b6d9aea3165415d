// RUN: %opt --pass-pipeline='builtin.module(indexing-lower,canonicalize)' %s | FileCheck %s
// RUN: %opt --canonicalize %s | FileCheck %s --check-prefix=CANONICAL

// The sum of a window of 3 along an array of 8, padded by 1.
// CHECK-LABEL: func.func @window
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[FROM:.*]] = arith.maxsi
// CHECK: %[[TO:.*]] = arith.minsi
// CHECK: scf.for %[[S:.*]] = %[[FROM]] to %[[TO]] step %{{.*}} iter_args
// CHECK-NOT: indexing.
// CANONICAL-LABEL: func.func @window
// CANONICAL: indexing.loop
func.func @window(%x: memref<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = indexing.loop #indexing.map<"(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]">(%i)
        iter_args(%zero : f32) {
    ^bb0(%s: index, %at: index, %carried: f32):
      %v = memref.load %x[%at] : memref<8xf32>
      %next = arith.addf %carried, %v : f32
      indexing.yield %next : f32
    }
    memref.store %sum, %out[%i] : memref<8xf32>
  }
  return
}

// CANONICAL-LABEL: func.func @never
// CANONICAL-SAME: (%[[X:.*]]: f32)
// CANONICAL: return %[[X]]
func.func @never(%x: f32) -> f32 {
  %0 = indexing.loop #indexing.map<"()[s0] -> (), domain: s0 in [3, 2]">() iter_args(%x : f32) {
  ^bb0(%s: index, %carried: f32):
    indexing.yield %carried : f32
  }
  return %0 : f32
}
