// RUN: %opt --pass-pipeline='builtin.module(func.func(indexing-narrow,canonicalize))' %s | FileCheck %s
// RUN: %opt --int-range-optimizations --canonicalize %s | FileCheck %s --check-prefix=RANGES

// Ranges through arithmetic: %r is in [0, 3].
// CHECK-LABEL: func.func @through_arithmetic
// CHECK: %[[R:.*]] = arith.remui
// CHECK-NEXT: return %[[R]]
func.func @through_arithmetic(%i: index) -> index {
  %c4 = arith.constant 4 : index
  %r = arith.remui %i, %c4 : index
  %0 = indexing.apply #indexing.map<"(d0) -> (d0 mod 8), domain: d0 in [0, 100]">(%r)
  return %0 : index
}

// MLIR's own passes know the range of an apply.
// RANGES-LABEL: func.func @known
// RANGES: %[[TRUE:.*]] = arith.constant true
// RANGES: return %[[TRUE]]
func.func @known(%i: index) -> i1 {
  %c16 = arith.constant 16 : index
  %0 = indexing.apply #indexing.map<"(d0) -> (d0 floordiv 2), domain: d0 in [0, 31]">(%i)
  %1 = arith.cmpi slt, %0, %c16 : index
  return %1 : i1
}
