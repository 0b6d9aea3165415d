// An index that is taken apart and put together, and the sum of a window of 3 along an array, padded by 1.
func.func @window(%x: memref<8xf32>, %i: index, %zero: f32) -> f32 {
  %0:2 = indexing.apply #indexing.map<"(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 7]">(%i)
  %1 = indexing.apply #indexing.map<"(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 1], d1 in [0, 3]">(%0#0, %0#1)
  %sum = indexing.loop #indexing.map<"(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]">(%1)
      iter_args(%zero : f32) {
  ^bb0(%s: index, %at: index, %carried: f32):
    %value = memref.load %x[%at] : memref<8xf32>
    %next = arith.addf %carried, %value : f32
    indexing.yield %next : f32
  }
  return %sum : f32
}
