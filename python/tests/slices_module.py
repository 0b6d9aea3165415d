"""A module of three kernels, one of which wastes half of what it reads."""

# Every other element of 4 bytes is read: 64 * 256 elements are in sectors of 64 * 512 * 4 bytes, half of which
# nobody asked for.
MODULE = """\
HloModule slices, is_scheduled=true

doubled {
  p = f32[64,256]{1,0} parameter(0)
  ROOT s = f32[64,256]{1,0} add(p, p)
}

ENTRY main {
  x = f32[64,512]{1,0} parameter(0)
  every_other = f32[64,256]{1,0} slice(x), slice={[0:64], [0:512:2]}
  twice = f32[64,256]{1,0} fusion(every_other), kind=kLoop, calls=doubled
  w = f32[256,8]{1,0} parameter(1)
  ROOT d = f32[64,8]{1,0} dot(twice, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
