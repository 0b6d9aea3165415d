"""Prints a module of 300 functions with chains of maps, which differ in their numbers, and 100 with a matmul."""

for n in range(300):
    a, b = 2 + n % 7, 3 + n % 11
    print(f"""func.func @f{n}(%i: index, %m: memref<?xf32>, %x: f32) -> (index, f32) {{
  %0:2 = indexing.apply #indexing.map<"(d0) -> (d0 floordiv {a}, d0 mod {a}), domain: d0 in [0, {a * b - 1}]">(%i)
  %1 = indexing.apply #indexing.map<"(d0, d1) -> (d1 * {b} + d0), domain: d0 in [0, {b - 1}], d1 in [0, {a - 1}]">(%0#0, %0#1)
  %2:2 = indexing.apply #indexing.map<"(d0) -> (d0 floordiv {b}, d0 mod {b} + {n}), domain: d0 in [0, {a * b - 1}]">(%1)
  %3 = indexing.apply #indexing.map<"(d0, d1) -> ((d0 * {b} + d1) mod {n + 5}), domain: d0 in [0, 99], d1 in [0, 999]">(%2#0, %2#1)
  %4 = indexing.loop #indexing.map<"(d0)[s0, s1] -> (d0 + s0 * {a} + s1), domain: d0 in [0, 999], s0 in [0, {b}], \
s1 in [0, {a}], s0 + s1 in [0, {a}]">(%3) iter_args(%x : f32) {{
  ^bb0(%s0: index, %s1: index, %at: index, %carried: f32):
    %v = memref.load %m[%at] : memref<?xf32>
    %sum = arith.addf %carried, %v : f32
    indexing.yield %sum : f32
  }}
  return %3, %4 : index, f32
}}""")

for n in range(100):
    m, k, p = 1 + n % 5, 2 + n % 7, 3 + n % 11
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{p}xf32>", f"tensor<{m}x{p}xf32>"
    print(f"""func.func @g{n}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %0 = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  %1 = arith.addf %0, %c : {c}
  return %1 : {c}
}}""")
