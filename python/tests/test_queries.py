"""Questions that maps answer, with expectations from the definitions in the headers."""

import signal
import time

import pytest

import xla_indexing as xi

SOFTMAX = """
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
ENTRY e {
  p = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  row_max = f32[64] reduce(p, zero), dimensions={1}, to_apply=max
  wide = f32[64,128] broadcast(row_max), dimensions={0}
  ROOT s = f32[64,128] subtract(p, wide)
}
"""
DOT = """
ENTRY e {
  a = f32[64,128] parameter(0)
  b = f32[128,32] parameter(1)
  ROOT d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
TRANSPOSE = (
    "ENTRY e { p = f32[1024,1024] parameter(0)  ROOT t = f32[1024,1024] transpose(p), dimensions={1,0} }"
)


def test_utilization_of_a_dot():
    report = xi.load(DOT)["d"].utilization()
    a, b = report.operands
    assert (int(a.elements), int(a.elements_read), int(a.reads)) == (64 * 128, 64 * 128, 64 * 32 * 128)
    assert a.reads_per_element == 32
    assert b.reads_per_element == 64
    assert b.operand_name == "b"
    assert int(report.bytes_read) == 4 * (64 * 128 + 128 * 32)
    assert int(report.bytes_written) == 4 * 64 * 32
    assert report.rows()[1]["used_fraction"] == 1.0
    assert a.is_exact
    assert not a.has_runtime_values
    assert "<table>" in report._repr_html_()


def test_utilization_of_a_part():
    module = xi.load("ENTRY e { p = f32[10] parameter(0)  ROOT s = f32[3] slice(p), slice={[1:10:3]} }")
    [p] = module.entry.utilization().operands
    assert (int(p.elements_read), p.used_fraction, int(p.bytes_read)) == (3, 0.3, 12)


def test_equivalence():
    a = xi.load(
        "ENTRY e { p = f32[9] parameter(0)  r = f32[9] reverse(p), dimensions={0}  ROOT s = f32[9] add(p, r) }"
    )
    b = xi.load(
        "ENTRY e { p = f32[9] parameter(0)  r = f32[9] reverse(p), dimensions={0}  ROOT s = f32[9] add(r, p) }"
    )
    c = xi.load("ENTRY e { p = f32[9] parameter(0)  ROOT s = f32[9] add(p, p) }")
    assert xi.equivalent(a.entry, b.entry)
    report = xi.equivalent(a.entry, c.entry)
    assert report.same is False
    [leaf] = report.leaves
    assert leaf.difference.is_of_first
    assert (leaf.difference.output_element, leaf.difference.operand_element) == ((0,), (8,))
    assert leaf.difference.runtime_values == {}
    assert report.rows()[0]["same"] is False
    other_shape = xi.equivalent(a.entry, xi.load(TRANSPOSE).entry)
    assert other_shape.same is False
    assert other_shape.difference
    assert xi.equivalent(a["r"], b["r"])


def test_explanation_of_a_dependence():
    module = xi.load(SOFTMAX)
    why = module.entry.explain((3, 5), 0, (3, 7))
    assert why.depends is True
    assert [(step.instruction, step.element) for step in why.steps] == [
        ("s", (3, 5)),
        ("wide", (3, 5)),
        ("row_max", (3,)),
        ("p", (3, 7)),
    ]
    assert str(why).startswith("s {3,5} depends on p {3,7}: 4 instructions")
    assert module.entry.explain((3, 5), 0, (4, 7)).depends is False
    with pytest.raises(ValueError, match="index 128 is outside dimension 1"):
        module.entry.explain((3, 128), 0, (4, 7))


def test_corresponding_dimensions():
    groups = xi.load(DOT)["d"].corresponding_dims()
    assert [str(g) for g in groups] == [
        "size 64: result 0 dim 0, operand 0 dim 0",
        "size 32: result 0 dim 1, operand 1 dim 1",
    ]
    [first, _] = groups
    assert (first.size, first.is_batch) == (64, False)
    assert [(d.operand, d.leaf, d.dimension) for d in first.dims] == [(None, 0, 0), (0, 0, 0)]


def test_coalescing_of_xlas_kernel():
    cost = xi.load(TRANSPOSE)["t"].coalescing()
    assert cost.kind == "transpose"
    # Lanes go along the rows of the operand where it is read, and along those of the result where it is written.
    read, write = cost.accesses
    lanes = [access.threads.evaluate((1, 0, 5), ranges=(0,)) for access in (read, write)]
    firsts = [access.threads.evaluate((0, 0, 5), ranges=(0,)) for access in (read, write)]
    assert lanes == [(row, column + 1) for row, column in firsts]
    assert firsts[0] == firsts[1][::-1] != firsts[1]
    assert cost.hero.opcode == "transpose"
    # Tiles make reads and writes of 32 floats in a row: all bytes, in sectors of 32.
    assert {a.is_write: int(a.maps[0].sectors) for a in cost.accesses} == {
        False: 2**20 // 8,
        True: 2**20 // 8,
    }
    assert int(cost.sectors) == 2 * 2**20 // 8
    assert all(m.coalesced for a in cost.accesses for m in a.maps)
    assert [row["access"] for row in cost.rows()] == ["read", "write"]


def test_coalescing_of_given_threads():
    threads = "(th_x, bl_x) -> (bl_x floordiv 8, (bl_x mod 8) * 128 + th_x), domain: th_x in [0, 127], bl_x in [0, 8191]"
    for subject in (xi.load(TRANSPOSE)["t"], xi.load(TRANSPOSE).entry):
        cost = subject.coalescing(threads)
        read, write = cost.accesses
        assert (cost.kind, cost.hero) == (None, None)
        # Each of 32 lanes reads in a sector of its own.
        assert (int(read.maps[0].requests), int(read.maps[0].sectors)) == (2**20 // 32, 2**20)
        assert read.maps[0].coalesced is False
        assert (write.maps[0].efficiency, write.maps[0].coalesced) == (1.0, True)
    with pytest.raises(xi.Error):
        xi.load(TRANSPOSE)["t"].coalescing("(th_x) -> (th_x), domain: th_x in [0, 127]")
    with pytest.raises(xi.Error):
        xi.load(TRANSPOSE)["t"].coalescing(threads, output_leaf=1)
    with pytest.raises(xi.Error):
        xi.load(TRANSPOSE)["t"].coalescing(warp_size=31)


def test_bank_conflicts():
    column = "(th_x) -> (th_x, 0), domain: th_x in [0, 31]"
    for shape, swizzle, cycles in (
        ("f32[32,32]", None, 32),
        ("f32[32,33]", None, 1),
        ("f32[32,32]", (5, 2, 7), 1),
    ):
        conflicts = xi.bank_conflicts(column, shape, swizzle=swizzle)
        assert (int(conflicts.wavefronts), int(conflicts.least_wavefronts)) == (cycles, 1)
        assert conflicts.is_exact
    tile = xi.load("ENTRY e { ROOT p = f32[32,32] parameter(0) }").entry.root
    assert int(tile.bank_conflicts(column).wavefronts) == 32
    for wrong in ({"banks": 3}, {"warp_size": 0}, {"word_bytes": -4}, {"swizzle": (60, 0, 0)}):
        with pytest.raises(xi.Error):
            xi.bank_conflicts(column, "f32[32,32]", **wrong)
    with pytest.raises(xi.ParseError):
        xi.bank_conflicts(column, "f32[32")


def test_tilings_of_a_computation():
    module = xi.load(DOT)
    tiled = module.entry.tiled()
    assert tiled.dimension_names == ["d0", "d1", "k"]
    graph = tiled.instantiate([16, 16, 32])
    assert graph.num_tiles == [4, 2, 4]
    assert graph.sizes == [16, 16, 32]
    assert graph.is_exact
    # 8 programs load 4 pieces of 16 x 32 and of 32 x 16 each, and store 16 x 16.
    assert (graph.cost.num_programs, graph.cost.num_loads, graph.cost.num_stores) == (8, 64, 8)
    assert graph.cost.moved_bytes == 8 * 4 * (4 * (16 * 32 + 32 * 16) + 16 * 16)
    assert (
        str(graph)
        == str(tiled.instantiate({"d1": 16, "d0": 16, "k": 32}))
        == str(module["d"].tiling("16,16,32"))
    )
    search = tiled.find_tilings(max_resident_bytes=16 << 10)
    assert all(t.cost.resident_bytes <= 16 << 10 for t in search.tilings)
    # A hundredth or two do not count.
    times = [t.microseconds for t in search.tilings]
    assert times[0] <= 1.02 * min(times)
    assert {t.bound for t in search.tilings} <= {"memory", "cache", "products"}
    # Each load is of rows of 16 or 32 floats, 2 or 4 sectors each.
    assert graph.cost.sectors == 8 * (4 * (16 * 4 + 32 * 2) + 16 * 2)
    assert graph.cost.multiply_adds == 64 * 32 * 128
    assert len(search) == len(search.rows()) > 0
    assert module.entry.tiling(max_resident_bytes=16 << 10).rows() == search.rows()
    for wrong in ([16, 16], [0, 16, 16], {"nothing": 3}, "x"):
        with pytest.raises(xi.Error):
            tiled.instantiate(wrong)
    with pytest.raises(xi.Error):
        tiled.instantiate([16, 16, 32], loops=[7])


def test_the_tile_of_a_map():
    [m] = xi.load("ENTRY e { p = f32[32] parameter(0)  ROOT r = f32[4,8] reshape(p) }")["r"].indexing().maps()
    tile = m.tile()
    assert tile.conditions == ["t0 = 1 or t1 = 1 or t1 = 8"]
    assert (len(tile.offsets), len(tile.sizes), len(tile.strides)) == (1, 1, 1)
    assert [tile.is_exact(sizes) for sizes in ([1, 4], [2, 8], [2, 4])] == [True, True, False]
    [r] = tile.tile_at([1, 4], [2, 1]).ranges
    assert (int(r.offset), r.size, r.stride) == (2 * 8 + 4, 4, 1)
    full = tile.full_tile([2, 8])
    assert (full.is_exact, full.is_clipped, full.is_empty) == (True, False, False)
    for wrong in (
        lambda: tile.full_tile([1]),
        lambda: tile.tile_at([1, 4], [9, 9]),
        lambda: tile.is_exact([0, 1]),
    ):
        with pytest.raises(xi.Error):
            wrong()


def test_views():
    module = xi.load(SOFTMAX)
    view = xi.FusionView.of_instructions([module["row_max"], module["wide"], module["s"]])
    maps = {str(m.map) for m in view.computation.indexing().maps(0)}
    assert any("[s0]" in m for m in maps)
    assert view.operands[0] == module["p"]
    [copy] = view.copies_of(module["row_max"])
    assert copy.opcode == "reduce"
    assert view.original_of(copy) == module["row_max"]
    assert view.copies_of(xi.load(SOFTMAX)["row_max"]) == []
    assert view.original_of(module["p"]) is None
    between = xi.FusionView.between([module["row_max"]], [module["s"]])
    assert "reduce" not in {i.opcode for i in between.computation.instructions}
    pair = xi.FusionView.of_producer_consumer(module["row_max"], module["wide"], producer_is_output=True)
    assert len(pair.roots) == 2
    assert xi.FusionView.of_fusion(module["wide"]).computation.root.opcode == "broadcast"
    assert view.computation.utilization().operands
    with pytest.raises(xi.Error, match="different modules"):
        xi.FusionView.of_instructions([module["s"], xi.load(SOFTMAX)["s"]])
    with pytest.raises(xi.Error):
        xi.FusionView.of_instructions([])
    with pytest.raises(xi.Error):
        xi.FusionView.of_producer_consumer(module["p"], module["row_max"])


def test_a_view_of_a_view():
    module = xi.load(SOFTMAX)
    view = xi.FusionView.of_instructions([module["wide"], module["s"]])
    again = xi.FusionView.of_fusion(view.computation.root)
    assert again.computation.root.opcode == "subtract"
    assert again.operands[0].computation == view.computation


PAIRS = """
ENTRY e {
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  i = s32[] parameter(2)
  n = f32[8] negate(q)
  r = f32[8] reverse(p), dimensions={0}
  ROOT t = (f32[8], f32[8]) tuple(r, n)
}
"""


def test_in_place_asks_about_all_pairs_or_some():
    entry = xi.load(PAIRS).entry
    pairs = [(pair.output_leaf, pair.operand) for pair in entry.in_place()]
    assert pairs == [(0, 0), (1, 1), (0, 1), (1, 0)]
    assert [(pair.output_leaf, pair.operand) for pair in entry.in_place(output=1)] == [(1, 1), (1, 0)]
    assert [pair.output_leaf for pair in entry.in_place(operand=0)] == [0, 1]
    assert [pair.output_leaf for pair in entry.in_place(operand="q", output=1)] == [1]
    assert len(entry.in_place(max_pairs=3)) == 3
    assert entry.in_place(output=7) == []
    with pytest.raises(xi.Error, match="there is no operand 'x'"):
        entry.in_place(operand="x")


def test_in_place_answers_more_pairs_than_anybody_reads():
    names = [f"p{i}" for i in range(40)]
    lines = [f"{name} = f32[] parameter({i})" for i, name in enumerate(names)]
    lines += [f"n{i} = f32[] negate({name})" for i, name in enumerate(names)]
    shapes = ", ".join(["f32[]"] * 40)
    root = f"ROOT t = ({shapes}) tuple({', '.join(f'n{i}' for i in range(40))})"
    pairs = xi.load("\n".join(["ENTRY e {", *lines, root, "}"])).entry.in_place()
    assert len(pairs) == 1600


def test_one_buffer():
    module = xi.load(PAIRS)
    [placed] = module.entry.one_buffer(["q", module["n"]])
    assert placed
    assert (placed.value, placed.before, placed.writer) == (module["n"], module["q"], "n")
    [placed] = module.entry.one_buffer(["p", ("r", 0)])
    assert not placed
    assert placed.safety.answer == "unsafe"
    with pytest.raises(xi.Error, match="at least two"):
        module.entry.one_buffer(["p"])
    with pytest.raises(xi.Error, match="there is no instruction 'x'"):
        module.entry.one_buffer(["p", "x"])
    with pytest.raises(xi.Error, match="there is no array that is leaf 2"):
        module.entry.one_buffer(["p", ("r", 2)])
    with pytest.raises(xi.Error, match="another module"):
        module.entry.one_buffer(["p", xi.load(PAIRS)["r"]])


def test_aliases_of_instructions_are_judged_by_who_reads_later():
    text = """HloModule m, is_scheduled=true
    ENTRY e {
      x = f32[16] parameter(0)
      c = f32[16] copy(x)
      y = f32[16] negate(c), output_to_operand_aliasing={{}: (0, {})}
      r = f32[16] reverse(c), dimensions={0}
      ROOT t = (f32[16], f32[16]) tuple(y, r)
    }"""
    [alias] = xi.load(text).aliases()
    assert alias.safety.answer == "unsafe"
    assert alias.safety.reason == "r reads c after y has written it"


def test_a_signal_ends_a_question_within_a_second():
    steps = [
        f"d{i} = f32[64,64] dot({'p0' if i == 1 else f'd{i - 1}'}, p{i}), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        for i in range(1, 300)
    ]
    lines = [f"p{i} = f32[64,64] parameter({i})" for i in range(300)] + steps
    lines += [f"n{i} = f32[64,64] subtract(p{i}, d299)" for i in range(300)]
    shapes = ", ".join(["f32[64,64]"] * 300)
    lines.append(f"ROOT t = ({shapes}) tuple({', '.join(f'n{i}' for i in range(300))})")
    entry = xi.load("\n".join(["ENTRY e {", *lines, "}"])).entry
    raised_at = []

    def raise_interrupt(*_: object) -> None:
        raised_at.append(time.monotonic())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            entry.in_place()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # Python's handler runs once the library looks for signals.
    assert time.monotonic() - raised_at[0] < 1
