"""IndexingMap: text, algebra, and evaluation at many points, against plain Python."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import xla_indexing as xi

# Maps and what they say, as plain Python: results at (d, s, rt), and whether a point within the intervals is in
# the domain.
CASES = [
    ("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 4]", lambda d, s, rt: (d[1], d[0]), None),
    (
        "(d0) -> (d0 floordiv 3, d0 mod 3, d0 * -2 + 7), domain: d0 in [-7, 9]",
        lambda d, s, rt: (d[0] // 3, d[0] % 3, 7 - 2 * d[0]),
        None,
    ),
    (
        "(d0) -> ((d0 - 5) floordiv 4, (d0 - 5) mod 8), domain: d0 in [-9, 9], d0 mod 2 in [1, 1]",
        lambda d, s, rt: ((d[0] - 5) // 4, (d[0] - 5) % 8),
        lambda d, s, rt: d[0] % 2 == 1,
    ),
    (
        "(d0)[s0, s1] -> (d0 * 2 + s0, s1), domain: d0 in [0, 4], s0 in [0, 2], s1 in [1, 2], d0 + s1 in [2, 5]",
        lambda d, s, rt: (d[0] * 2 + s[0], s[1]),
        lambda d, s, rt: 2 <= d[0] + s[1] <= 5,
    ),
    (
        "(d0)[s0]{rt0, rt1} -> (d0 + rt0, s0 - rt1 * 3), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 6], "
        "rt1 in [-1, 1]",
        lambda d, s, rt: (d[0] + rt[0], s[0] - rt[1] * 3),
        None,
    ),
    ("() -> (), domain:", lambda d, s, rt: (), None),
]
CASES[-1] = ("() -> ()", CASES[-1][1], None)


def interval(variables):
    return [range(v.lower, v.upper + 1) for v in variables]


def plain_pairs(m, results, inside, runtime=()):
    """All (d, r), by the definition."""
    return sorted(
        {
            (*d, *results(d, s, runtime))
            for d in itertools.product(*interval(m.dimensions))
            for s in itertools.product(*interval(m.range_variables))
            if inside is None or inside(d, s, runtime)
        }
    )


def runtimes(m):
    return itertools.product(*interval(m.runtime_variables))


@pytest.mark.parametrize(("text", "results", "inside"), CASES)
def test_text_is_read_and_written(text, results, inside):
    m = xi.IndexingMap(text)
    assert str(m) == text
    assert eval(repr(m), {"IndexingMap": xi.IndexingMap}) == m
    assert xi.IndexingMap.parse(text) == m


@pytest.mark.parametrize(("text", "results", "inside"), CASES)
def test_a_point(text, results, inside):
    m = xi.IndexingMap(text)
    variables = (m.dimensions, m.range_variables, m.runtime_variables)
    for d, s, rt in itertools.product(*(list(itertools.product(*interval(v))) for v in variables)):
        assert m.evaluate(d, s, rt) == results(d, s, rt)
        assert m.contains(d, s, rt) == (inside is None or inside(d, s, rt))


@pytest.mark.parametrize(("text", "results", "inside"), CASES)
def test_all_pairs(text, results, inside):
    m = xi.IndexingMap(text)
    for rt in runtimes(m):
        pairs = m.to_numpy(runtime=rt if rt else None)
        assert pairs.dtype == np.int64
        if m.num_dimensions + m.num_results > 0:
            assert [tuple(row) for row in pairs.tolist()] == plain_pairs(m, results, inside, rt)


@pytest.mark.parametrize(("text", "results", "inside"), CASES)
def test_reads_of_many_points(text, results, inside):
    m = xi.IndexingMap(text)
    # Points one further than the intervals too: those lead to nothing.
    points = list(itertools.product(*[range(v.lower - 1, v.upper + 2) for v in m.dimensions]))
    indices = np.array(points, dtype=np.int64).reshape(len(points), m.num_dimensions)
    for rt in runtimes(m):
        expected = [
            (row, *results(d, s, rt))
            for row, d in enumerate(points)
            for s in itertools.product(*interval(m.range_variables))
            if all(v.lower <= x <= v.upper for v, x in zip(m.dimensions, d))
            and (inside is None or inside(d, s, rt))
        ]
        rows, elements = m.reads(indices, rt if rt else None)
        assert elements.shape == (len(expected), m.num_results)
        assert [(row, *e) for row, e in zip(rows.tolist(), elements.tolist())] == expected
        flags = m.in_domain(indices, rt if rt else None)
        assert flags.dtype == np.bool_
        assert set(np.flatnonzero(flags).tolist()) == {row for row, *_ in expected}


def test_a_function_at_millions_of_points():
    m = xi.IndexingMap(
        "(d0, d1) -> (d1 floordiv 7, (d0 * 3 + d1) mod 5, d0 - d1 * 2), domain: d0 in [0, 9999], d1 in [0, 9999]"
    )
    points = np.random.default_rng(0).integers(0, 10_000, (2_000_000, 2))
    results = m(points)
    d0, d1 = points.T
    np.testing.assert_array_equal(results, np.stack([d1 // 7, (d0 * 3 + d1) % 5, d0 - d1 * 2], axis=1))


def test_a_row_outside_of_the_domain_is_named():
    m = xi.IndexingMap("(d0) -> (d0 - 1), domain: d0 in [1, 3]")
    with pytest.raises(xi.Error, match=r"row 2 of indices is outside of the domain"):
        m([[1], [3], [4], [0]])
    assert m([[1], [3], [4], [0]], check=False).tolist() == [[0], [2], [3], [-1]]


def test_runtime_values_for_all_points_and_for_each():
    m = xi.IndexingMap(
        "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 9]"
    )
    assert m([[0], [2]], [5, 9]).tolist() == [[5, 9], [7, 9]]
    assert m([[0], [2]], [[5, 9], [1, 0]]).tolist() == [[5, 9], [3, 0]]
    with pytest.raises(xi.Error, match="needs their values as `runtime`"):
        m([[0]])
    with pytest.raises(xi.Error, match=r"runtime has shape \[3\], and has to have \[2\] or \[2, 2\]"):
        m([[0], [2]], [1, 2, 3])
    # A value that leaves the interval leaves the domain.
    assert m.in_domain([[0], [0]], [[7, 0], [6, 0]]).tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", ">i4", "int64", "uint64"])
def test_integers_of_every_kind(dtype):
    m = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 99], d1 in [0, 99]")
    points = np.array([[1, 2], [3, 4], [99, 0]], dtype=dtype)
    assert m(points).tolist() == [[2, 1], [4, 3], [0, 99]]


def test_arrays_that_are_not_contiguous():
    m = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 99], d1 in [0, 99]")
    points = np.arange(60).reshape(10, 6)
    for view in (points[:, 1:3], points[::-1, ::3], points[::2, 4:2:-1], np.asfortranarray(points[:, :2])):
        np.testing.assert_array_equal(m(view), view[:, ::-1])


def test_no_points():
    m = xi.IndexingMap("(d0, d1) -> (d1), domain: d0 in [0, 9], d1 in [0, 9]")
    assert m(np.zeros((0, 2), dtype=int)).shape == (0, 1)
    assert m.in_domain(np.zeros((0, 2), dtype=int)).shape == (0,)
    assert xi.IndexingMap("() -> (3)")(np.zeros((4, 0), dtype=int)).tolist() == [[3]] * 4


def test_the_mask_of_a_map():
    m = xi.IndexingMap("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 2], s0 in [0, 1]")
    mask = m.to_numpy("mask")
    assert mask.dtype == np.bool_
    assert mask.astype(int).tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert m.to_numpy("mask", shape=(3, 6)).sum() == 6
    with pytest.raises(xi.Error, match="size 1 of shape is 3, and has to be at least 4"):
        m.to_numpy("mask", shape=(3, 3))
    with pytest.raises(xi.Error, match="has no place"):
        xi.IndexingMap("(d0) -> (d0 - 1), domain: d0 in [0, 2]").to_numpy("mask")


def test_parts():
    m = xi.IndexingMap(
        "(d0)[s0]{rt0} -> (d0 + s0, rt0), domain: d0 in [0, 4], s0 in [1, 2], rt0 in [0, inf], "
        "d0 + s0 in [-inf, 5]"
    )
    assert [(v.name, v.lower, v.upper, v.size) for v in m.dimensions] == [("d0", 0, 4, 5)]
    assert [(v.name, v.lower, v.upper) for v in m.range_variables] == [("s0", 1, 2)]
    assert [(v.name, v.lower, v.upper, v.size) for v in m.runtime_variables] == [("rt0", 0, None, None)]
    assert m.results == ["d0 + s0", "rt0"]
    assert [(c.expression, c.bounds) for c in m.constraints] == [("d0 + s0", xi.Interval(None, 5))]
    assert (m.num_dimensions, m.num_range_variables, m.num_runtime_variables, m.num_results) == (1, 1, 1, 2)
    assert m.domain.results == []


def test_equality_and_hash_ignore_names_and_contexts():
    a = xi.IndexingMap("(d0) -> (d0), domain: d0 in [0, 9]")
    b = xi.IndexingMap("(row) -> (row), domain: row in [0, 9]")
    assert a == b
    assert hash(a) == hash(b)
    assert a != xi.IndexingMap("(d0) -> (d0), domain: d0 in [0, 8]")
    assert a != str(a)
    assert a != None  # noqa: E711
    empty = [
        xi.IndexingMap("(d0) -> (d0), domain: d0 in [1, 0]"),
        xi.IndexingMap("KNOWN EMPTY (d0) -> 1 results"),
    ]
    assert empty[0] == empty[1]
    assert len(set(empty)) == 1
    assert {a: 1}[b] == 1


def test_copies_and_pickles():
    m = xi.IndexingMap("(d0)[k] -> (d0 + k), domain: d0 in [0, 9], k in [0, 3]")
    for again in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert str(again) == str(m)


def test_simplify_keeps_range_variables_only_when_told():
    given = xi.IndexingMap(
        "(d0)[s0, s1, s2] -> (d0 + s0 * 4 + s1), "
        "domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3], s2 in [0, 1]"
    )
    relation = given.simplify()
    assert relation == xi.IndexingMap("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 39]")
    assert relation.same_relation(given)
    function = given.simplify(keep_variables=True)
    assert function == given


def test_algebra_across_contexts():
    reshape = xi.IndexingMap("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 19]")
    transpose = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 3]")
    both = reshape.compose(transpose).simplify()
    np.testing.assert_array_equal(both.to_numpy(), [[i, i % 4, i // 4] for i in range(20)])
    back = both.inverse()
    assert both.compose(back).simplify() == xi.IndexingMap("(d0) -> (d0), domain: d0 in [0, 19]")
    with pytest.raises(xi.Error, match=r"1.*2|2.*1"):
        transpose.compose(reshape)


def test_decisions():
    a = xi.IndexingMap("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]")
    b = xi.IndexingMap("(d0)[s0, s1] -> (d0, s0 + s1 * 2), domain: d0 in [0, 9], s0 in [0, 1], s1 in [0, 3]")
    c = xi.IndexingMap("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 6]")
    assert a.same_relation(b) is True
    assert a.same_relation(c) is False
    assert c.is_subrelation_of(a) is True
    assert a.is_subrelation_of(c) is False
    assert a.is_empty() is False
    assert xi.IndexingMap("(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 in [3, 3]").is_empty() is True
    flat = xi.IndexingMap("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 9], d1 in [0, 7]")
    assert flat.is_injective() is True
    assert flat.is_bijection_onto([80]) is True
    assert flat.is_bijection_onto([81]) is False
    assert flat.same_function(flat) is True
    with pytest.raises(xi.Error):
        flat.same_function(a)


def test_images_and_counts():
    m = xi.IndexingMap("(d0)[s0] -> (d0 * 4 + s0 * 2 + 1), domain: d0 in [0, 9], s0 in [0, 1]")
    image = m.image()
    assert image.is_box is True
    assert image.ranges == (range(1, 41, 2),)
    assert int(m.count_image()) == 20
    assert int(m.count_pairs()) == 20
    diagonal = xi.IndexingMap("(d0) -> (d0, d0), domain: d0 in [0, 3]").image()
    assert (diagonal.is_box, diagonal.ranges) == (False, ())


ISL_CASES = [case[0] for case in CASES] + [
    "(d0) -> (d0 * -1 - 3, -d0 floordiv 2), domain: d0 in [-4, 4]",
    "(d0, d1) -> ((d0 * 5 + d1) mod 7, ((d0 - d1) floordiv 3) mod 4), domain: d0 in [0, 6], d1 in [0, 4]",
    "KNOWN EMPTY (d0)[s0] -> 2 results",
    "()[s0] -> (s0), domain: s0 in [0, 3]",
    "()[s0] -> (), domain: s0 in [0, 3]",
]


@pytest.mark.parametrize("text", ISL_CASES)
def test_isl_reads_the_same_relation(text):
    isl = pytest.importorskip("islpy")
    m = xi.IndexingMap(text)
    for rt in runtimes(m):
        relation = isl.Map(m.to_isl())
        for i, value in enumerate(rt):
            relation = relation.fix_val(isl.dim_type.param, i, isl.Val(value))
        if m.is_empty():
            assert relation.is_empty()
            continue
        found = set()
        relation.wrap().project_out_all_params().foreach_point(
            lambda point, found=found: found.add(
                tuple(
                    point.get_coordinate_val(isl.dim_type.set, i).to_python()
                    for i in range(m.num_dimensions + m.num_results)
                )
            )
        )
        assert sorted(found) == sorted(
            {tuple(row) for row in m.to_numpy(runtime=rt if rt else None).tolist()} or {()}
        )
