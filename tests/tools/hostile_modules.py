"""HLO modules under 100 kB that ask for as much work, or memory, as their size allows.

    hostile_modules.py                              lists their names
    hostile_modules.py NAME                         prints one
    hostile_modules.py --measure PROGRAM [NAME..]   runs print-indexing on each, in every way of WAYS, and
                                                    prints seconds of processor time, MB, exit code, and
                                                    how large the answer is, those that took longest last

MODULES is a list of (name, text). Each is valid HLO; what is hostile is how much of it there is.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

SCALAR_ADD = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
HUGE = 2**31

# What is asked of each module.
WAYS = [
    ("root", ["--direction=both"]),
    ("all", ["--instruction=all", "--direction=both"]),
    ("fuse", ["--fuse", "--direction=both"]),
    ("fuse-exact", ["--fuse", "--direction=both", "--exact", "--simplify=always", "--format=json"]),
    ("all-always", ["--instruction=all", "--direction=both", "--simplify=always", "--exact",
                    "--format=json"]),
    ("summary", ["--instruction=all", "--direction=both", "--summary"]),
    ("utilization", ["--query=utilization"]),
    ("utilization-fuse", ["--fuse", "--query=utilization"]),
    ("utilization-both", ["--fuse", "--query=utilization", "--direction=both"]),
    ("in-place", ["--query=in-place"]),
    ("in-place-fuse", ["--fuse", "--query=in-place"]),
    ("indices", ["--instruction=all", "--query=indices"]),
    ("emitter", ["--instruction=all", "--query=coalescing", "--mapping=emitter"]),
    ("coalescing", ["--query=coalescing"]),
    ("coalescing-fuse", ["--fuse", "--query=coalescing", "--format=json"]),
    ("tiling", ["--query=tiling", "--direction=both"]),
    ("tiling-fuse", ["--fuse", "--query=tiling"]),
    ("tiling-budget", ["--fuse", "--query=tiling", "--budget=48KiB"]),
    ("report", ["--report", "--top=1000"]),
    ("never", ["--instruction=all", "--direction=both", "--simplify=never"]),
]
# With the same module twice.
COMPARE = ("compare", ["--compare"])


def dims(sizes):
    return ",".join(str(size) for size in sizes)


def entry(lines):
    return "ENTRY main {\n" + "\n".join("  " + line for line in lines) + "\n}\n"


def primes(count):
    found = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def cholesky():
    shape = f"f32[{HUGE},{HUGE}]"
    return f"p = {shape} parameter(0)\nROOT n = {shape} cholesky(p)\n"


def triangular_solve():
    shape = f"f32[{HUGE},{HUGE}]"
    return (f"p = {shape} parameter(0)\nq = {shape} parameter(1)\nROOT n = {shape} triangular-solve(p, q), "
            "left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=false\n")


def doubled_calls(count):
    lines = ["c0 { x = f32[8,8] parameter(0) ROOT n = f32[8,8] transpose(x), dimensions={1,0} }"]
    for i in range(1, count):
        lines.append(f"c{i} {{ x = f32[8,8] parameter(0) a = f32[8,8] call(x), to_apply=c{i - 1} "
                     f"b = f32[8,8] call(a), to_apply=c{i - 1} ROOT n = f32[8,8] add(a, b) }}")
    lines.append(f"ENTRY e {{ p = f32[8,8] parameter(0) ROOT r = f32[8,8] call(p), to_apply=c{count - 1} }}")
    return "\n".join(lines) + "\n"


def branching_calls(count, bottom, join="add"):
    """Each computation calls the one before twice, on shifted operands, so that no two paths are one."""
    lines = [f"c0 {{ x = f32[4096] parameter(0) {bottom} }}"]
    for i in range(1, count):
        start = 2**((i - 1) % 12)
        lines.append(
            f"c{i} {{ x = f32[4096] parameter(0) z = f32[] constant(0) "
            f"s = f32[{4096 - start}] slice(x), slice={{[{start}:4096]}} "
            f"p = f32[4096] pad(s, z), padding=0_{start} "
            f"a = f32[4096] call(x), to_apply=c{i - 1} b = f32[4096] call(p), to_apply=c{i - 1} "
            f"ROOT n = f32[4096] {join}(a, b) }}")
    lines.append(f"ENTRY e {{ p = f32[4096] parameter(0) ROOT r = f32[4096] call(p), to_apply=c{count - 1} }}")
    return "\n".join(lines) + "\n"


def concatenate(count, size=1):
    """Without spaces, so that there are as many operands as there can be."""
    return entry([f"p = f32[{size}] parameter(0)",
                  f"ROOT c = f32[{count * size}] concatenate({','.join(['p'] * count)}), dimensions={{0}}"])


def concatenate_of_many(count):
    lines = [f"p{i} = f32[1] parameter({i})" for i in range(count)]
    names = ", ".join(f"p{i}" for i in range(count))
    return entry([*lines, f"ROOT c = f32[{count}] concatenate({names}), dimensions={{0}}"])


def concatenate_of_slices(count):
    lines = ["p = f32[65536,7] parameter(0)"]
    lines += [f"s{i} = f32[1,7] slice(p), slice={{[{(i * 7919) % 65536}:{(i * 7919) % 65536 + 1}], [0:7]}}"
              for i in range(count)]
    names = ", ".join(f"s{i}" for i in range(count))
    return entry([*lines, f"ROOT c = f32[{count},7] concatenate({names}), dimensions={{0}}"])


def wide_tuple(count):
    return entry(["p = f32[4] parameter(0)",
                  f"ROOT t = ({', '.join(['f32[4]'] * count)}) tuple({', '.join(['p'] * count)})"])


def wide_tuple_of_slices(count):
    lines = ["p = f32[4096,4096] parameter(0)"]
    for i in range(count):
        lines.append(f"s{i} = f32[1,9] slice(p), slice={{[{i}:{i + 1}], [{i}:{i + 9}]}}")
    shapes = ", ".join(["f32[1,9]"] * count)
    names = ", ".join(f"s{i}" for i in range(count))
    return entry([*lines, f"ROOT t = ({shapes}) tuple({names})"])


def deep_tuple(depth, width):
    """Tuples of `width` arrays and a tuple, `depth` deep, taken apart again at every level."""
    shape = "f32[3]"
    lines = ["p = f32[3] parameter(0)", "t0 = f32[3] negate(p)"]
    for i in range(1, depth + 1):
        shape = f"({', '.join(['f32[3]'] * width)}, {shape})"
        lines.append(f"t{i} = {shape} tuple({', '.join(['p'] * width)}, t{i - 1})")
    lines.append(f"ROOT r = {shape} copy(t{depth})")
    return entry(lines)


def custom_call(operands, results, target="none"):
    lines = [f"p = ({', '.join(['f32[8,16]'] * operands)}) parameter(0)"]
    lines.append(f"ROOT c = ({', '.join(['f32[8,16]'] * results)}) custom-call(p), custom_call_target=\"{target}\"")
    return entry(lines)


def custom_call_of_arrays(operands, results):
    names = ", ".join(["p"] * operands)
    return entry(["p = f32[8,16] parameter(0)",
                  f"ROOT c = ({', '.join(['f32[8,16]'] * results)}) custom-call({names}), custom_call_target=\"none\""])


def chain_of_custom_calls(count, width):
    shape = f"({', '.join(['f32[2]'] * width)})"
    lines = [f"c0 = {shape} parameter(0)"]
    for i in range(1, count):
        lines.append(f"c{i} = {shape} custom-call(c{i - 1}), custom_call_target=\"f\"")
    return entry(lines)


def variadic_sort(count):
    parameters = "".join(f"a{i} = f32[] parameter({2 * i}) b{i} = f32[] parameter({2 * i + 1}) "
                         for i in range(count))
    shape = f"({', '.join(['f32[64]'] * count)})"
    return (f"less {{ {parameters} ROOT l = pred[] compare(a0, b0), direction=LT }}\n" +
            entry(["p = f32[64] parameter(0)",
                   f"ROOT s = {shape} sort({', '.join(['p'] * count)}), dimensions={{0}}, to_apply=less"]))


def variadic_reduce(count, mixed):
    """Reduces `count` arrays together; `mixed`: each result is computed from all of them."""
    body = [f"a{i} = f32[] parameter({i})" for i in range(count)]
    body += [f"b{i} = f32[] parameter({count + i})" for i in range(count)]
    if mixed:
        last = "a0"
        for i in range(count):
            body.append(f"m{i} = f32[] add({last}, b{i})")
            last = f"m{i}"
        results = [last] * count
    else:
        body += [f"m{i} = f32[] add(a{i}, b{i})" for i in range(count)]
        results = [f"m{i}" for i in range(count)]
    of_scalars = f"({', '.join(['f32[]'] * count)})"
    body.append(f"ROOT t = {of_scalars} tuple({', '.join(results)})")
    shape = f"({', '.join(['f32[3]'] * count)})"
    names = ", ".join(["p"] * count + ["z"] * count)
    return ("reducer {\n" + "\n".join(body) + "\n}\n" +
            entry(["p = f32[3,9] parameter(0)", "z = f32[] constant(0)",
                   f"ROOT r = {shape} reduce({names}), dimensions={{1}}, to_apply=reducer"]))


def variadic_all_reduce(count):
    shape = f"({', '.join(['f32[6]'] * count)})"
    return SCALAR_ADD + entry(["p = f32[6] parameter(0)",
                               f"ROOT r = {shape} all-reduce({', '.join(['p'] * count)}), replica_groups={{}}, to_apply=add"])


def replica_groups(lists, opcode):
    groups = ",".join("{%d,%d}" % (i, 2 * lists - 1 - i) for i in range(lists))
    if opcode == "all-reduce":
        return SCALAR_ADD + entry(["p = f32[6] parameter(0)",
                                   f"ROOT r = f32[6] all-reduce(p), replica_groups={{{groups}}}, to_apply=add"])
    return entry(["p = f32[6] parameter(0)",
                  f"ROOT r = f32[12] all-gather(p), dimensions={{0}}, replica_groups={{{groups}}}"])


def shuffled_groups(count):
    """One group of devices in an order without a formula."""
    order = sorted(range(count), key=lambda i: (i * 7919) % 104729)
    return entry(["p = f32[6] parameter(0)",
                  f"ROOT r = f32[{6 * count}] all-gather(p), dimensions={{0}}, replica_groups={{{{{dims(order)}}}}}"])


def iota_groups(opcode):
    if opcode == "all-reduce":
        return SCALAR_ADD + entry(["p = f32[1000] parameter(0)",
                                   "ROOT r = f32[1000] all-reduce(p), replica_groups=[32768,32768]<=[32768,32768]T(1,0), "
                                   "to_apply=add"])
    return entry(["p = f32[1000] parameter(0)",
                  "ROOT r = f32[32768000] all-gather(p), dimensions={0}, "
                  "replica_groups=[32768,32768]<=[1024,32,32768]T(2,0,1)"])


def permute(count):
    pairs = ",".join("{%d,%d}" % (i, (i * 7919 + 11) % count) for i in range(count))
    return entry(["p = f32[6] parameter(0)",
                  f"ROOT r = f32[6] collective-permute(p), source_target_pairs={{{pairs}}}"])


def chain_of_collectives(count):
    groups = ",".join("{%d,%d}" % (i, i + 64) for i in range(64))
    lines = ["x0 = f32[128] parameter(0)"]
    for i in range(1, count):
        pairs = ",".join("{%d,%d}" % (j, (j * 37 + i) % 128) for j in range(128))
        lines.append(f"x{i} = f32[128] collective-permute(x{i - 1}), source_target_pairs={{{pairs}}}"
                     if i % 2 else f"x{i} = f32[128] all-reduce(x{i - 1}), replica_groups={{{groups}}}, to_apply=add")
    return SCALAR_ADD + entry(lines)


def conditional(branches, body):
    lines = [f"b{i} {{ x = f32[8,8] parameter(0) ROOT n = f32[8,8] {body(i)} }}" for i in range(branches)]
    names = ", ".join(f"b{i}" for i in range(branches))
    return ("\n".join(lines) + "\n" +
            entry(["c = s32[] parameter(0)", "p = f32[8,8] parameter(1)",
                   f"ROOT r = f32[8,8] conditional(c, {', '.join(['p'] * branches)}), branch_computations={{{names}}}"]))


def one_branch_often(branches):
    names = ", ".join(["b"] * branches)
    return ("b { x = f32[8,8] parameter(0) ROOT n = f32[8,8] transpose(x), dimensions={1,0} }\n" +
            entry(["c = s32[] parameter(0)", "p = f32[8,8] parameter(1)",
                   f"ROOT r = f32[8,8] conditional(c, {', '.join(['p'] * branches)}), branch_computations={{{names}}}"]))


def nested_conditionals(depth):
    lines = ["c0 { x = f32[8,8] parameter(0) ROOT n = f32[8,8] transpose(x), dimensions={1,0} }"]
    for i in range(1, depth):
        lines.append(f"c{i} {{ x = f32[8,8] parameter(0) i = s32[] constant({i}) f = f32[1,1] slice(x), slice={{[{i % 8}:{i % 8 + 1}], [0:1]}} "
                     f"g = f32[] reshape(f) j = s32[] convert(g) "
                     f"ROOT n = f32[8,8] conditional(j, x, x), branch_computations={{c{i - 1}, c{i - 1}}} }}")
    lines.append(f"ENTRY e {{ p = f32[8,8] parameter(0) ROOT r = f32[8,8] call(p), to_apply=c{depth - 1} }}")
    return "\n".join(lines) + "\n"


def while_body(name, condition, shape, lines, count):
    return (f"{condition} {{ s = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(s), index=0 "
            f"n = s32[] constant({count}) ROOT l = pred[] compare(i, n), direction=LT }}\n"
            f"{name} {{ s = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(s), index=0 "
            f"x = {shape} get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one) "
            f"{lines} ROOT t = (s32[], {shape}) tuple(j, y) }}\n")


def nested_whiles(depth, count, bottom):
    """A loop of `count` iterations of a loop of as many, `depth` deep."""
    text = while_body("body0", "condition0", "f32[8,8]", bottom, count)
    for i in range(1, depth):
        inner = (f"z = s32[] constant(0) a = (s32[], f32[8,8]) tuple(z, x) "
                 f"w = (s32[], f32[8,8]) while(a), condition=condition{i - 1}, body=body{i - 1} "
                 f"v = f32[8,8] get-tuple-element(w), index=1 y = f32[8,8] transpose(v), dimensions={{1,0}}")
        text += while_body(f"body{i}", f"condition{i}", "f32[8,8]", inner, count)
    return text + entry(["p = f32[8,8] parameter(0)", "z = s32[] constant(0)",
                         "a = (s32[], f32[8,8]) tuple(z, p)",
                         f"w = (s32[], f32[8,8]) while(a), condition=condition{depth - 1}, body=body{depth - 1}",
                         "ROOT r = f32[8,8] get-tuple-element(w), index=1"])


def whiles_in_chain(count):
    text = ""
    lines = ["p = f32[8,8] parameter(0)", "z = s32[] constant(0)", "x0 = f32[8,8] copy(p)"]
    for i in range(count):
        text += while_body(f"body{i}", f"condition{i}", "f32[8,8]",
                           "u = f32[7,8] slice(x), slice={[1:8], [0:8]} v = f32[1,8] slice(x), slice={[0:1], [0:8]} "
                           "y = f32[8,8] concatenate(u, v), dimensions={0}", 10**9)
        lines.append(f"a{i} = (s32[], f32[8,8]) tuple(z, x{i})")
        lines.append(f"w{i} = (s32[], f32[8,8]) while(a{i}), condition=condition{i}, body=body{i}")
        lines.append(f"x{i + 1} = f32[8,8] get-tuple-element(w{i}), index=1")
    return text + entry(lines)


def wide_while(width):
    """A loop whose state's arrays change places."""
    shape = f"(s32[], {', '.join(['f32[2,3]'] * width)})"
    gets = " ".join(f"x{i} = f32[2,3] get-tuple-element(s), index={i + 1}" for i in range(width))
    names = ", ".join(f"x{(i + 1) % width}" for i in range(width))
    return (f"condition {{ s = {shape} parameter(0) i = s32[] get-tuple-element(s), index=0 "
            "n = s32[] constant(1000000000) ROOT l = pred[] compare(i, n), direction=LT }\n"
            f"body {{ s = {shape} parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) "
            f"j = s32[] add(i, one) {gets} ROOT t = {shape} tuple(j, {names}) }}\n" +
            entry([f"p = {shape} parameter(0)", f"ROOT w = {shape} while(p), condition=condition, body=body"]))


def mixing_while(width):
    """A loop in which each array of the state becomes the sum of two."""
    shape = f"(s32[], {', '.join(['f32[5,5]'] * width)})"
    gets = " ".join(f"x{i} = f32[5,5] get-tuple-element(s), index={i + 1} "
                    f"t{i} = f32[5,5] transpose(x{i}), dimensions={{1,0}}" for i in range(width))
    adds = " ".join(f"y{i} = f32[5,5] add(x{(i + 1) % width}, t{(i * 3 + 1) % width})" for i in range(width))
    names = ", ".join(f"y{i}" for i in range(width))
    return (f"condition {{ s = {shape} parameter(0) i = s32[] get-tuple-element(s), index=0 "
            "n = s32[] constant(1000000000) ROOT l = pred[] compare(i, n), direction=LT }\n"
            f"body {{ s = {shape} parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) "
            f"j = s32[] add(i, one) {gets} {adds} ROOT t = {shape} tuple(j, {names}) }}\n" +
            entry([f"p = {shape} parameter(0)", f"ROOT w = {shape} while(p), condition=condition, body=body"]))


def convolution(rank, size, window):
    spatial = range(rank)
    letters = "".join(str(i) for i in spatial) if rank < 10 else ""
    labels = f"b{letters}f_{letters}io->b{letters}f"
    out = size - (window - 1)
    return entry([f"p = f32[7,{dims([size] * rank)},5] parameter(0)", f"k = f32[{dims([window] * rank)},5,3] parameter(1)",
                  f"ROOT c = f32[7,{dims([out] * rank)},3] convolution(p, k), window={{size={'x'.join([str(window)] * rank)}}}, "
                  f"dim_labels={labels}"])


def dilated_convolution(rank, size):
    letters = "".join(str(i) for i in range(rank))
    window = "x".join(["3"] * rank)
    out = (size - 1) * 3 + 1 + 5 + 4 - ((3 - 1) * 2 + 1) + 1
    return entry([f"p = f32[7,{dims([size] * rank)},6] parameter(0)", f"k = f32[{dims([3] * rank)},6,4] parameter(1)",
                  f"ROOT c = f32[7,{dims([out] * rank)},4] convolution(p, k), window={{size={window} "
                  f"pad={'x'.join(['5_4'] * rank)} lhs_dilate={'x'.join(['3'] * rank)} rhs_dilate={'x'.join(['2'] * rank)} "
                  f"rhs_reversal={'x'.join(['1'] * rank)}}}, dim_labels=b{letters}f_{letters}io->b{letters}f"])


def reduce_window(rank, size, window, dilate):
    base = (size - 1) * dilate + 1
    out = base + 2 - (window - 1) * 1 - 1 + 1
    return SCALAR_ADD + entry([
        f"p = f32[{dims([size] * rank)}] parameter(0)", "z = f32[] constant(0)",
        f"ROOT r = f32[{dims([out] * rank)}] reduce-window(p, z), window={{size={'x'.join([str(window)] * rank)} "
        f"pad={'x'.join(['1_1'] * rank)} lhs_dilate={'x'.join([str(dilate)] * rank)}}}, to_apply=add"])


def pad(rank, size):
    out = 3 + (size - 1) * 3 + 1 - 2
    return entry([f"p = f32[{dims([size] * rank)}] parameter(0)", "z = f32[] constant(0)",
                  f"ROOT r = f32[{dims([out] * rank)}] pad(p, z), padding={'x'.join(['3_-2_2'] * rank)}"])


def dot(batch, contracting, size):
    left = [size] * (batch + contracting + 1)
    return entry([f"p = f32[{dims(left)}] parameter(0)", f"q = f32[{dims(left)}] parameter(1)",
                  f"ROOT r = f32[{dims([size] * (batch + 2))}] dot(p, q), "
                  f"lhs_batch_dims={{{dims(range(batch))}}}, rhs_batch_dims={{{dims(range(batch))}}}, "
                  f"lhs_contracting_dims={{{dims(range(batch, batch + contracting))}}}, "
                  f"rhs_contracting_dims={{{dims(range(batch, batch + contracting))}}}"])


def gather(rank):
    sizes = [9] * rank
    windows = [4] * rank
    return entry([f"p = f32[{dims(sizes)}] parameter(0)", f"i = s32[5,{rank}] parameter(1)",
                  f"ROOT g = f32[5,{dims(windows)}] gather(p, i), offset_dims={{{dims(range(1, rank + 1))}}}, "
                  f"collapsed_slice_dims={{}}, start_index_map={{{dims(range(rank))}}}, index_vector_dim=1, "
                  f"slice_sizes={{{dims(windows)}}}"])


def scatter(rank, operands):
    sizes = dims([9] * rank)
    updates = dims([4] * rank)
    parameters = " ".join(f"a{i} = f32[] parameter({i})" for i in range(2 * operands))
    results = " ".join(f"s{i} = f32[] add(a{i}, a{operands + i})" for i in range(operands))
    root = ("ROOT n = f32[] add(a0, a1)" if operands == 1 else
            f"{results} ROOT t = ({', '.join(['f32[]'] * operands)}) tuple({', '.join(f's{i}' for i in range(operands))})")
    result = f"f32[{sizes}]" if operands == 1 else "(" + ", ".join([f"f32[{sizes}]"] * operands) + ")"
    return (f"combine {{ {parameters} {root} }}\n" +
            entry([f"p = f32[{sizes}] parameter(0)", f"i = s32[5,{rank}] parameter(1)", f"u = f32[5,{updates}] parameter(2)",
                   f"ROOT g = {result} scatter({', '.join(['p'] * operands)}, i, {', '.join(['u'] * operands)}), "
                   f"update_window_dims={{{dims(range(1, rank + 1))}}}, inserted_window_dims={{}}, "
                   f"scatter_dims_to_operand_dims={{{dims(range(rank))}}}, index_vector_dim=1, to_apply=combine"]))


def chain_of_scatters(count):
    lines = ["x0 = f32[9,8] parameter(0)", "i = s32[5,2] parameter(1)", "u = f32[5,4,3] parameter(2)"]
    for n in range(1, count):
        lines.append(f"x{n} = f32[9,8] scatter(x{n - 1}, i, u), update_window_dims={{1,2}}, inserted_window_dims={{}}, "
                     "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add")
    return SCALAR_ADD + entry(lines)


def chain_of_gathers(count):
    lines = ["x0 = f32[9,8] parameter(0)", "i = s32[9,2] parameter(1)"]
    for n in range(1, count):
        lines.append(f"x{n} = f32[9,8] gather(x{n - 1}, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                     "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,8}")
    return entry(lines)


def chain_of_dynamic_slices(count):
    lines = [f"x0 = f32[{8 + count},{8 + count}] parameter(0)", "i = s32[] parameter(1)", "j = s32[] parameter(2)"]
    for n in range(1, count):
        size = 8 + count - n
        lines.append(f"x{n} = f32[{size},{size}] dynamic-slice(x{n - 1}, i, j), dynamic_slice_sizes={{{size},{size}}}")
    return entry(lines)


def chain_of_dynamic_update_slices(count):
    lines = ["x0 = f32[90,80] parameter(0)", "i = s32[] parameter(1)", "u = f32[4,3] parameter(2)"]
    for n in range(1, count):
        lines.append(f"x{n} = f32[90,80] dynamic-update-slice(x{n - 1}, u, i, i)")
    return entry(lines)


def chain_of_reshapes(count, rank):
    """Reshapes and transposes of factors that do not divide one another."""
    factors = primes(rank)
    while True:
        product = 1
        for factor in factors:
            product *= factor
        if product < 2**62:
            break
        factors[factors.index(max(factors))] = 2
    lines = [f"x0 = f32[{dims(factors)}] parameter(0)"]
    order = list(range(rank))
    name = "x0"
    for n in range(1, count):
        moved = order[n % rank:] + order[:n % rank]
        shape = [factors[i] for i in moved]
        lines.append(f"t{n} = f32[{dims(shape)}] transpose({name}), dimensions={{{dims(moved)}}}")
        merged = shape[:rank // 2]
        rest = 1
        for factor in shape[rank // 2:]:
            rest *= factor
        lines.append(f"m{n} = f32[{dims(merged + [rest])}] reshape(t{n})")
        lines.append(f"x{n} = f32[{dims(factors)}] reshape(m{n})")
        name = f"x{n}"
    return entry(lines)


def coprime_reshapes(count):
    """Reshapes between sizes whose boundaries never meet."""
    pairs = [(2**a * 3**(7 - a) * 5**3, 5**3 * 2**(7 - a) * 3**a) for a in range(8)]
    total = pairs[0][0] * pairs[0][1]
    lines = [f"x0 = f32[{total}] parameter(0)"]
    name = "x0"
    n = 0
    while n < count:
        left, right = pairs[n % 8]
        lines.append(f"r{n} = f32[{left},{right}] reshape({name})")
        lines.append(f"t{n} = f32[{right},{left}] transpose(r{n}), dimensions={{1,0}}")
        name = f"t{n}"
        n += 1
    lines.append(f"ROOT r = f32[{total}] reshape({name})")
    return entry(lines)


def chain_of_concatenates(count, apart):
    """Each concatenates the one before with itself (or parts of it)."""
    lines = ["x0 = f32[64] parameter(0)"]
    for n in range(1, count):
        if apart:
            lines.append(f"a{n} = f32[{32 + n % 5}] slice(x{n - 1}), slice={{[0:{32 + n % 5}]}}")
            lines.append(f"b{n} = f32[{32 - n % 5}] slice(x{n - 1}), slice={{[{32 + n % 5}:64]}}")
            lines.append(f"x{n} = f32[64] concatenate(b{n}, a{n}), dimensions={{0}}")
        else:
            lines.append(f"a{n} = f32[128] concatenate(x{n - 1}, x{n - 1}), dimensions={{0}}")
            lines.append(f"x{n} = f32[64] slice(a{n}), slice={{[{n % 64}:{n % 64 + 64}]}}")
    return entry(lines)


def chain_of_pads(count):
    lines = ["x0 = f32[64,64] parameter(0)", "z = f32[] constant(0)"]
    for n in range(1, count):
        lines.append(f"a{n} = f32[{64 + n % 7},{64 * 2 - 1}] pad(x{n - 1}, z), padding={n % 7}_0x0_0_1")
        lines.append(f"x{n} = f32[64,64] slice(a{n}), slice={{[0:64], [{n % 2}:{63 + n % 2 + 1}]}}")
    return entry(lines)


def diamonds(count, step):
    """2^count paths from the root to the parameter."""
    lines = ["x0 = f32[64,64] parameter(0)", "z = f32[] constant(0)"]
    for n in range(1, count):
        lines.append(step(n))
        lines.append(f"x{n} = f32[64,64] add(x{n - 1}, s{n})")
    return entry(lines)


def shift_step(n):
    return (f"q{n} = f32[{64 - n % 9},64] slice(x{n - 1}), slice={{[{n % 9}:64], [0:64]}}\n"
            f"  s{n} = f32[64,64] pad(q{n}, z), padding=0_{n % 9}x0_0")


def product_step(n):
    return f"s{n} = f32[64,64] dot(x{n - 1}, x{n - 1}), lhs_contracting_dims={{{n % 2}}}, rhs_contracting_dims={{{n % 2}}}"


def window_step(n):
    return (f"s{n} = f32[64,64] reduce-window(x{n - 1}, z), window={{size={n % 5 + 2}x{n % 3 + 2} "
            f"pad={n % 5 + 1}_0x0_{n % 3 + 1}}}, to_apply=add")


def mixed_step(n):
    return [f"s{n} = f32[64,64] transpose(x{n - 1}), dimensions={{1,0}}",
            f"q{n} = f32[{4096}] reshape(x{n - 1})\n  v{n} = f32[4096] reverse(q{n}), dimensions={{0}}\n"
            f"  s{n} = f32[64,64] reshape(v{n})",
            shift_step(n),
            f"q{n} = f32[16,256] reshape(x{n - 1})\n  v{n} = f32[256,16] transpose(q{n}), dimensions={{1,0}}\n"
            f"  s{n} = f32[64,64] reshape(v{n})"][n % 4]


def computations(count, instruction_count):
    lines = []
    for i in range(count):
        lines.append(f"c{i} {{ x = f32[8,8] parameter(0) " +
                     " ".join(f"y{j} = f32[8,8] negate(x)" for j in range(instruction_count)) + " ROOT n = f32[8,8] copy(x) }")
    calls = "x0 = f32[8,8] parameter(0)"
    return "\n".join(lines) + "\n" + entry([calls, f"ROOT r = f32[8,8] call(x0), to_apply=c{count - 1}"])


def fusions_of_diamonds(count):
    """Fusions that use one another's results twice, each a diamond of transposed and shifted reads."""
    lines = []
    for i in range(count):
        lines.append(f"f{i} {{ x = f32[8,8] parameter(0) t = f32[8,8] transpose(x), dimensions={{1,0}} "
                     f"r = f32[8,8] reverse(x), dimensions={{{i % 2}}} a = f32[8,8] add(t, r) ROOT n = f32[8,8] add(a, x) }}")
    body = ["x0 = f32[8,8] parameter(0)"]
    for i in range(count):
        body.append(f"x{i + 1} = f32[8,8] fusion(x{i}), kind=kLoop, calls=f{i}")
    return "\n".join(lines) + "\n" + entry(body)


def calls_of_wide_tuples(count, width):
    shape = f"({', '.join(['f32[3]'] * width)})"
    lines = [f"c0 {{ ROOT x = {shape} parameter(0) }}"]
    for i in range(1, count):
        lines.append(f"c{i} {{ x = {shape} parameter(0) ROOT n = {shape} call(x), to_apply=c{i - 1} }}")
    return "\n".join(lines) + "\n" + entry([f"p = {shape} parameter(0)", f"ROOT r = {shape} call(p), to_apply=c{count - 1}"])


def elements_of_wide_tuple(width):
    shape = f"({', '.join(['f32[3]'] * width)})"
    lines = [f"p = {shape} parameter(0)"]
    lines += [f"g{i} = f32[3] get-tuple-element(p), index={i}" for i in range(width)]
    lines.append(f"ROOT t = {shape} tuple({', '.join(f'g{(i * 7) % width}' for i in range(width))})")
    return entry(lines)


def copies_of_wide_tuple(width, count):
    shape = f"({', '.join(['f32[3]'] * width)})"
    lines = [f"x0 = {shape} parameter(0)"]
    lines += [f"x{i} = {shape} copy(x{i - 1})" for i in range(1, count)]
    return entry(lines)


def huge_elementwise(rank):
    size = {1: 2**62, 2: HUGE, 3: 2**20}.get(rank, 2)
    shape = f"f32[{dims([size] * rank)}]"
    return entry([f"p = {shape} parameter(0)", f"t = {shape} transpose(p), dimensions={{{dims(reversed(range(rank)))}}}",
                  f"r = {shape} reverse(p), dimensions={{0}}", f"a = {shape} add(t, r)", f"ROOT n = {shape} multiply(a, p)"])


def huge_slices():
    return entry(["p = f32[4611686018427387904] parameter(0)",
                  "s = f32[658812288346769701] slice(p), slice={[3:4611686018427387904:7]}",
                  "r = f32[658812288346769701] reverse(s), dimensions={0}", "q = f32[94116041192395672] slice(r), slice={[0:658812288346769701:7]}",
                  "ROOT n = f32[94116041192395672] negate(q)"])


def reduce_of_all(rank, size):
    shape = f"f32[{dims([size] * rank)}]"
    return SCALAR_ADD + entry([f"p = {shape} parameter(0)", "z = f32[] constant(0)",
                               f"ROOT r = f32[] reduce(p, z), dimensions={{{dims(range(rank))}}}, to_apply=add"])


def sums_of_windows(count):
    lines = ["x0 = f32[1000000000] parameter(0)", "z = f32[] constant(0)"]
    for n in range(1, count):
        lines.append(f"x{n} = f32[1000000000] reduce-window(x{n - 1}, z), window={{size={n % 7 + 2} pad={n % 7 + 1}_0}}, to_apply=add")
    return SCALAR_ADD + entry(lines)


def fft():
    return entry([f"p = c64[{HUGE},{HUGE}] parameter(0)", f"ROOT r = c64[{HUGE},{HUGE}] fft(p), fft_type=FFT, fft_length={{{HUGE}}}"])


def bitcasts(count):
    layouts = ["{2,1,0}", "{0,1,2}", "{1,2,0}", "{2,0,1}"]
    lines = ["x0 = f32[30,42,70]{2,1,0} parameter(0)"]
    shapes = ["30,42,70", "42,30,70", "70,42,30", "35,36,70"]
    for n in range(1, count):
        lines.append(f"x{n} = f32[{shapes[n % 4]}]{layouts[(n * 3) % 4]} bitcast(x{n - 1})")
    return entry(lines)


MODULES = [
    ("cholesky", cholesky()),
    ("triangular_solve", triangular_solve()),
    ("doubled_calls_60", doubled_calls(60)),
    ("doubled_calls_300", doubled_calls(300)),
    ("doubled_calls_700", doubled_calls(700)),
    ("branching_calls", branching_calls(250, "ROOT n = f32[4096] reverse(x), dimensions={0}")),
    ("branching_calls_reduced", branching_calls(250, "ROOT n = f32[4096] cosine(x)", join="divide")),
    ("concatenate_45000", concatenate(45000)),
    ("concatenate_45000_of_2", concatenate(45000, 2)),
    ("concatenate_of_many", concatenate_of_many(2400)),
    ("concatenate_of_unit_rows", concatenate_of_slices(700)),
    ("concatenate_of_slices", concatenate_of_slices(1500)),
    ("wide_tuple_10000", wide_tuple(9000)),
    ("wide_tuple_of_slices", wide_tuple_of_slices(1300)),
    ("deep_tuple", deep_tuple(100, 1)),
    ("deep_tuple_wide", deep_tuple(30, 15)),
    ("custom_call_500", custom_call(500, 500)),
    ("custom_call_1500", custom_call(1500, 1500)),
    ("custom_call_4500", custom_call(4500, 4500)),
    ("custom_call_of_arrays", custom_call_of_arrays(4500, 4500)),
    ("chain_of_custom_calls", chain_of_custom_calls(60, 150)),
    ("variadic_sort", variadic_sort(1500)),
    ("variadic_reduce", variadic_reduce(900, False)),
    ("variadic_reduce_mixed", variadic_reduce(900, True)),
    ("variadic_all_reduce", variadic_all_reduce(6000)),
    ("replica_groups", replica_groups(6500, "all-reduce")),
    ("replica_groups_gather", replica_groups(6500, "all-gather")),
    ("shuffled_groups", shuffled_groups(15000)),
    ("iota_groups", iota_groups("all-reduce")),
    ("iota_groups_gather", iota_groups("all-gather")),
    ("permute", permute(7000)),
    ("chain_of_collectives", chain_of_collectives(60)),
    ("conditional", conditional(1000, lambda i: f"reverse(x), dimensions={{{i % 2}}}")),
    ("one_branch_often", one_branch_often(10000)),
    ("nested_conditionals", nested_conditionals(300)),
    ("nested_whiles", nested_whiles(60, 10**9, "y = f32[8,8] transpose(x), dimensions={1,0}")),
    ("nested_whiles_shift", nested_whiles(
        60, 10**9, "u = f32[7,8] slice(x), slice={[1:8], [0:8]} v = f32[1,8] slice(x), slice={[0:1], [0:8]} "
        "y = f32[8,8] concatenate(u, v), dimensions={0}")),
    ("nested_whiles_dynamic", nested_whiles(
        60, 10**9, "u = f32[2,2] dynamic-slice(x, i, i), dynamic_slice_sizes={2,2} y = f32[8,8] dynamic-update-slice(x, u, j, i)")),
    ("whiles_in_chain", whiles_in_chain(120)),
    ("wide_while", wide_while(1300)),
    ("mixing_while", mixing_while(450)),
    ("convolution", convolution(9, 5, 3)),
    ("convolution_huge", convolution(2, 2**28, 2**27)),
    ("dilated_convolution", dilated_convolution(9, 4)),
    ("reduce_window_38", reduce_window(38, 2, 2, 1)),
    ("reduce_window_dilated", reduce_window(18, 5, 3, 2)),
    ("reduce_window_huge", reduce_window(2, 2**30, 2**29, 2)),
    ("pad_20", pad(20, 3)),
    ("pad_huge", pad(2, 2**29)),
    ("dot_40", dot(20, 20, 2)),
    ("dot_huge", dot(0, 1, HUGE)),
    ("dot_wide", dot(1, 1, 2**20)),
    ("gather_15", gather(15)),
    ("gather_60", gather(18)),
    ("scatter_15", scatter(15, 1)),
    ("scatter_variadic", scatter(4, 400)),
    ("chain_of_scatters", chain_of_scatters(400)),
    ("chain_of_gathers", chain_of_gathers(400)),
    ("chain_of_dynamic_slices", chain_of_dynamic_slices(600)),
    ("chain_of_dynamic_update_slices", chain_of_dynamic_update_slices(1000)),
    ("chain_of_reshapes", chain_of_reshapes(120, 15)),
    ("chain_of_reshapes_40", chain_of_reshapes(70, 40)),
    ("coprime_reshapes", coprime_reshapes(500)),
    ("chain_of_concatenates", chain_of_concatenates(700, apart=True)),
    ("doubling_concatenates", chain_of_concatenates(700, apart=False)),
    ("chain_of_pads", chain_of_pads(700)),
    ("diamonds_of_shifts", diamonds(500, shift_step)),
    ("diamonds_of_products", diamonds(500, product_step)),
    ("diamonds_of_windows", SCALAR_ADD + diamonds(400, window_step)),
    ("diamonds_mixed", diamonds(400, mixed_step)),
    ("computations", computations(1000, 1)),
    ("fusions_of_diamonds", fusions_of_diamonds(350)),
    ("calls_of_wide_tuples", calls_of_wide_tuples(40, 120)),
    ("elements_of_wide_tuple", elements_of_wide_tuple(1200)),
    ("copies_of_wide_tuple", copies_of_wide_tuple(400, 28)),
    ("huge_elementwise_2", huge_elementwise(2)),
    ("huge_elementwise_60", huge_elementwise(60)),
    ("huge_slices", huge_slices()),
    ("reduce_of_all", reduce_of_all(60, 2)),
    ("sums_of_windows", sums_of_windows(900)),
    ("fft", fft()),
    ("bitcasts", bitcasts(900)),
]


def run(program, arguments, seconds, megabytes):
    """(seconds of processor time, MB, exit code or -signal, bytes written, errors)"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=limit) as process:
        written = 0
        while block := process.stdout.read(1 << 20):
            written += len(block)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, written, errors)


def measure(program, names, ways, seconds, megabytes, folder):
    rows = []
    for name, text in MODULES:
        if names and name not in names:
            continue
        file = os.path.join(folder, name + ".hlo")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        for way, flags in [*WAYS, COMPARE]:
            if ways and way not in ways:
                continue
            files = [file, file] if way == "compare" else [file]
            row = run(program, ["--jobs=1", *flags, *files], seconds, megabytes)
            rows.append((row, name, way))
            print(f"{row[0]:7.2f} s {row[1]:7.0f} MB  exit {row[2]:3d} {row[3]:11d} bytes  {name} {way}"
                  + (f"  {row[4][:200].strip()}" if row[4] else ""), flush=True)
    print("\nThe longest:")
    for row, name, way in sorted(rows)[-30:]:
        print(f"{row[0]:7.2f} s {row[1]:7.0f} MB  exit {row[2]:3d}  {name} {way}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--measure")
    parser.add_argument("--ways", default="")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=8000)
    parser.add_argument("--folder", default="/tmp")
    arguments = parser.parse_args()
    if arguments.measure:
        ways = arguments.ways.split(",") if arguments.ways else []
        measure(arguments.measure, arguments.names, ways, arguments.seconds, arguments.megabytes, arguments.folder)
        return
    for name, text in MODULES:
        if not arguments.names:
            print(f"{name} {len(text)}")
        elif name in arguments.names:
            sys.stdout.write(text)


if __name__ == "__main__":
    main()
