// Fusions that are emitted whole and tile by tile.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_PROGRAMS_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_PROGRAMS_H_

namespace xla_indexing {

inline constexpr char kMatmulBiasGelu[] = R"(
    ENTRY e {
      x = f32[7,10] parameter(0)
      w = f32[10,6] parameter(1)
      b = f32[6] parameter(2)
      m = f32[7,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      bb = f32[7,6] broadcast(b), dimensions={1}
      a = f32[7,6] add(m, bb)
      h = f32[] constant(0.5)
      hb = f32[7,6] broadcast(h), dimensions={}
      s = f32[] constant(0.70710678)
      sb = f32[7,6] broadcast(s), dimensions={}
      as = f32[7,6] multiply(a, sb)
      er = f32[7,6] erf(as)
      o = f32[] constant(1)
      ob = f32[7,6] broadcast(o), dimensions={}
      p = f32[7,6] add(er, ob)
      ha = f32[7,6] multiply(a, hb)
      ROOT g = f32[7,6] multiply(ha, p)
    })";

// To be followed by an entry.
inline constexpr char kSoftmaxOfRows[] = R"(
    max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }
    softmax {
      x = f32[5,6] parameter(0)
      least = f32[] constant(-inf)
      zero = f32[] constant(0)
      m = f32[5] reduce(x, least), dimensions={1}, to_apply=max
      mb = f32[5,6] broadcast(m), dimensions={0}
      d = f32[5,6] subtract(x, mb)
      e = f32[5,6] exponential(d)
      s = f32[5] reduce(e, zero), dimensions={1}, to_apply=add
      sb = f32[5,6] broadcast(s), dimensions={0}
      ROOT r = f32[5,6] divide(e, sb)
    })";

inline constexpr char kEntryOfSoftmax[] = R"(
    ENTRY e { x = f32[5,6] parameter(0) ROOT s = f32[5,6] fusion(x), kind=kLoop, calls=softmax })";

inline constexpr char kEntryOfAttention[] = R"(
    ENTRY e {
      q = f32[5,3] parameter(0)
      k = f32[6,3] parameter(1)
      v = f32[6,4]{0,1} parameter(2)
      qk = f32[5,6] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      p = f32[5,6] call(qk), to_apply=softmax
      ROOT o = f32[5,4] dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })";

inline constexpr char kConvolutionWithEpilogue[] = R"(
    ENTRY e {
      x = f32[2,5,6,4] parameter(0)
      w = f32[3,2,4,6] parameter(1)
      b = f32[6] parameter(2)
      c = f32[2,3,6,6] convolution(x, w), window={size=3x2 stride=2x1 pad=1_1x0_1}, dim_labels=b01f_01io->b01f
      bb = f32[2,3,6,6] broadcast(b), dimensions={3}
      a = f32[2,3,6,6] add(c, bb)
      z = f32[] constant(0)
      zb = f32[2,3,6,6] broadcast(z), dimensions={}
      ROOT r = f32[2,3,6,6] maximum(a, zb)
    })";

inline constexpr char kComplexSums[] = R"(
    add { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] add(a, b) }
    mul { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] multiply(a, b) }
    ENTRY e {
      x = c64[5,4] parameter(0)
      y = c64[4,3] parameter(1)
      zero = c64[] constant((0, 0))
      d = c64[5,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      e = c64[5,3] exponential(d)
      s = c64[5] reduce(x, zero), dimensions={1}, to_apply=add
      one = c64[] constant((1, 0))
      p = c64[5] reduce(x, one), dimensions={1}, to_apply=mul
      ROOT t = (c64[5,3], c64[5], c64[5]) tuple(d, s, p)
    })";

// A reduce of two results.
inline constexpr char kArgmax[] = R"(
    best {
      a = s32[] parameter(0)
      i = s32[] parameter(1)
      b = s32[] parameter(2)
      j = s32[] parameter(3)
      c = pred[] compare(a, b), direction=GE
      v = s32[] select(c, a, b)
      k = s32[] select(c, i, j)
      ROOT t = (s32[], s32[]) tuple(v, k)
    }
    ENTRY e {
      x = s32[4,5] parameter(0)
      n = s32[4,5] iota(), iota_dimension=1
      least = s32[] constant(-2147483648)
      zero = s32[] constant(0)
      r = (s32[4], s32[4]) reduce(x, n, least, zero), dimensions={1}, to_apply=best
      i = s32[4] get-tuple-element(r), index=1
      ROOT d = s32[4] add(i, i)
    })";

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_PROGRAMS_H_
