// RUN: %opt --pass-pipeline='builtin.module(func.func(indexing-lower{arithmetic=affine}))' %s | FileCheck %s

// CHECK-LABEL: func.func @in_loops
// CHECK: affine.for %[[I:.*]] = 0 to 32
// CHECK: affine.apply #{{.*}}(%[[I]])
// CHECK-NOT: indexing.
func.func @in_loops(%m: memref<8xf32>) {
  affine.for %i = 0 to 32 {
    %0 = indexing.apply #indexing.map<"(d0) -> (d0 floordiv 4), domain: d0 in [0, 31]">(%i)
    %v = memref.load %m[%0] : memref<8xf32>
    memref.store %v, %m[%0] : memref<8xf32>
  }
  return
}
