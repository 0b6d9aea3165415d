// RUN: %opt --canonicalize %s | FileCheck %s --check-prefix=CANONICAL
// RUN: %opt --pass-pipeline='builtin.module(indexing-lower)' %s | FileCheck %s --check-prefix=ARITH
// RUN: %opt --emit-bytecode %s | %opt --canonicalize | FileCheck %s --check-prefix=CANONICAL

// A split of an index, put together again: in [0, 31] both are the index itself.
// CANONICAL-LABEL: func.func @split
// CANONICAL-SAME: (%[[I:.*]]: index)
// CANONICAL-NEXT: return %[[I]] : index
// ARITH-LABEL: func.func @split
// ARITH: arith.divui
// ARITH: arith.remui
// ARITH-NOT: indexing.
func.func @split(%i: index) -> index {
  %0:2 = indexing.apply #indexing.map<"(x) -> (x floordiv 4, x mod 4), domain: x in [0, 31]">(%i)
  %1 = indexing.apply #indexing.map<"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]">(%0#0, %0#1)
  return %1 : index
}

// What a loop's bounds say makes the mod needless.
// CANONICAL-LABEL: func.func @loop
// CANONICAL-SAME: (%[[M:.*]]: memref<8xindex>)
// CANONICAL: scf.for %[[I:.*]] =
// CANONICAL-NEXT: memref.store %[[I]], %[[M]][%[[I]]]
func.func @loop(%m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = indexing.apply #indexing.map<"(d0) -> (d0 mod 8), domain: d0 in [0, 100]">(%i)
    memref.store %0, %m[%i] : memref<8xindex>
  }
  return
}

// CANONICAL-LABEL: func.func @constant
// CANONICAL-DAG: %[[C7:.*]] = arith.constant 7 : index
// CANONICAL: return %[[C7]]
func.func @constant() -> index {
  %c3 = arith.constant 3 : index
  %0 = indexing.apply #indexing.map<"(d0) -> (d0 * 2 + 1), domain: d0 in [0, 9]">(%c3)
  return %0 : index
}

// An argument that nothing depends on is no argument.
// CANONICAL-LABEL: func.func @unused
// CANONICAL-SAME: (%{{.*}}: index, %[[J:.*]]: index)
// CANONICAL: indexing.apply #{{.*}}(%[[J]])
func.func @unused(%i: index, %j: index) -> index {
  %0 = indexing.apply #indexing.map<"(d0, d1) -> (d1 * 2), domain: d0 in [0, 3], d1 in [0, 9]">(%i, %j)
  return %0 : index
}
