"""Pictures: what is filled is what the maps say, and anybody can read them."""

from __future__ import annotations

import itertools
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import xla_indexing as xi
from xla_indexing import picture

SVG = "{http://www.w3.org/2000/svg}"


def squares(drawn: picture.Picture, kinds: str) -> list[set[tuple[int, int]]]:
    """Returns the rows and columns of the squares whose classes match `kinds`, for each grid."""
    root = ElementTree.fromstring(str(drawn))
    rectangles = [r.attrib for r in root.iter(f"{SVG}rect")]
    grids = [r for r in rectangles if r["class"] == "g"]
    lines = [p.attrib["d"] for p in root.iter(f"{SVG}path") if p.attrib["class"] == "l"]
    found = []
    for grid in grids:
        x, y, width, height = (float(grid[name]) for name in ("x", "y", "width", "height"))
        side = side_of(x, y, width, height, lines)
        inside = [r for r in rectangles if re.fullmatch(kinds, r["class"]) and r["class"] != "g"]
        cells = set()
        for r in inside:
            column, row = (float(r["x"]) - x) / side, (float(r["y"]) - y) / side
            if 0 <= column < width / side and 0 <= row < height / side:
                cells.add((int(row), int(column)))
        found.append(cells)
    return found


def side_of(x: float, y: float, width: float, height: float, lines: list[str]) -> float:
    """Returns the side of the squares of a grid, of the first line that is drawn in it."""
    for d in lines:
        first = re.match(r"M([\d.]+) ([\d.]+)([vh])([\d.]+)", d)
        assert first is not None
        inside = x <= float(first[1]) <= x + width and y <= float(first[2]) <= y + height
        if inside and first[3] == "v" and float(first[4]) == height:
            return float(first[1]) - x
        if inside and first[3] == "h" and float(first[4]) == width:
            return float(first[2]) - y
    return width


def texts(drawn: picture.Picture) -> list[str]:
    return ["".join(t.itertext()) for t in ElementTree.fromstring(str(drawn)).iter(f"{SVG}text")]


TRANSPOSE = "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 7]"


@pytest.mark.parametrize("element", list(itertools.product(range(5), range(8))))
def test_a_map_of_two_dimensions_shows_the_element_and_what_it_leads_to(element: tuple[int, int]) -> None:
    drawn = xi.IndexingMap(TRANSPOSE).picture(element)
    assert squares(drawn, "c")[0] == {element}
    assert squares(drawn, r"s\d")[1] == {element[::-1]}


def test_range_variables_are_swept() -> None:
    window = xi.IndexingMap(
        "(d0, d1)[s0, s1] -> (d0 + s0, d1 * 2 + s1), domain: d0 in [0, 3], d1 in [0, 3], "
        "s0 in [0, 2], s1 in [0, 1]"
    )
    expected = set(itertools.product(range(1, 4), range(4, 6)))
    assert squares(window.picture((1, 2)), r"s\d")[1] == expected


def test_constraints_cut_what_is_shown() -> None:
    padded = xi.IndexingMap(
        "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]"
    )
    assert squares(padded.picture((0,)), r"s\d")[1] == {(0, 0), (0, 1)}
    assert squares(padded.picture((7,)), r"s\d")[1] == {(0, 6), (0, 7)}


def test_runtime_variables_have_the_value_that_is_asked_for_or_the_middle_and_it_is_said() -> None:
    sliced = xi.IndexingMap("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]")
    assert squares(sliced.picture((1,), runtime=[5]), r"s\d")[1] == {(0, 6)}
    assert any("rt0 = 5 of [0, 6]" in text for text in texts(sliced.picture((1,), runtime=[5])))
    assert squares(sliced.picture((1,)), r"s\d")[1] == {(0, 4)}
    assert any("rt0 = 3 of [0, 6]" in text for text in texts(sliced.picture((1,))))


def test_of_more_dimensions_two_are_shown_and_the_others_said() -> None:
    batched = xi.IndexingMap(
        "(d0, d1, d2)[s0] -> (s0, d0, d2, d1), domain: d0 in [0, 2], d1 in [0, 3], d2 in [0, 4], s0 in [0, 5]"
    )
    drawn = batched.picture((1, 2, 3))
    assert squares(drawn, "c")[0] == {(2, 3)}
    assert "d0 at 1 of 3" in texts(drawn)
    # Along dimension 0 all of it is read; with it the last one is shown.
    assert squares(drawn, r"s\d")[1] == {(row, 2) for row in range(6)}
    assert "dimension 1 at 1 of 2" in texts(drawn) or "dimension 1 at 1 of 3" in texts(drawn)
    assert "dimension 2 at 3 of 5" in texts(drawn)


def test_what_is_read_outside_of_the_plane_that_is_shown_is_said() -> None:
    cube = xi.IndexingMap(
        "(d0)[s0, s1, s2] -> (s0, s1, s2), domain: d0 in [0, 1], s0 in [0, 2], s1 in [0, 3], s2 in [0, 4]"
    )
    assert "dimension 0 at 0 of 3, also at 2 others" in texts(cube.picture((0,)))


def test_large_arrays_are_binned_and_the_size_of_a_bin_is_said() -> None:
    wide = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 99], d1 in [0, 1000]")
    drawn = wide.picture((50, 700))
    assert squares(drawn, "c")[0] == {(50 // 4, 700 // 32)}
    assert squares(drawn, r"s\d")[1] == {(700 // 32, 50 // 4)}
    assert "a square is 4 x 32 elements," in texts(drawn)
    assert "a square is 32 x 4 elements," in texts(drawn)


def test_bins_that_are_read_as_a_whole_are_larger_than_others() -> None:
    rows = xi.IndexingMap("(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 95]")
    widths = [r.attrib["width"] for r in svg_rects(rows.picture((0,), sizes=((2,), (128,))), "s0")]
    assert len(widths) == 24
    assert len(set(widths)) == 1
    some = xi.IndexingMap("(d0)[s0] -> (s0 * 2), domain: d0 in [0, 1], s0 in [0, 47]")
    narrow = [r.attrib["width"] for r in svg_rects(some.picture((0,), sizes=((2,), (128,))), "s0")]
    assert len(narrow) == 24
    assert float(narrow[0]) < float(widths[0])


def svg_rects(drawn: picture.Picture, kind: str) -> list[Any]:
    """Returns the rectangles of a class, without the samples of colours in the legend."""
    root = ElementTree.fromstring(str(drawn))
    return [r for r in root.iter(f"{SVG}rect") if r.attrib["class"] == kind and r.attrib["height"] != "9"]


def test_scalars_are_one_square() -> None:
    drawn = xi.IndexingMap("(d0) -> (), domain: d0 in [0, 3]").picture((2,))
    assert squares(drawn, r"s\d")[1] == {(0, 0)}


def test_the_size_of_the_operand_is_that_of_all_results() -> None:
    drawn = xi.IndexingMap("(d0) -> (d0 * 3), domain: d0 in [0, 3]").picture((0,))
    grids = [r for r in svg_rects(drawn, "g")]
    assert float(grids[1].attrib["width"]) / float(grids[1].attrib["height"]) == 10


def test_an_indexing_shows_the_maps_of_every_operand_each_in_a_colour() -> None:
    module = xi.load(
        "ENTRY e { p = f32[6,6] parameter(0)  q = f32[6] parameter(1)"
        "  t = f32[6,6] transpose(p), dimensions={1,0}"
        "  b = f32[6,6] broadcast(q), dimensions={1}  s = f32[6,6] add(p, t)  ROOT r = f32[6,6] add(s, b) }"
    )
    drawn = module.entry.indexing().picture((2, 5))
    assert squares(drawn, "c")[0] == {(2, 5)}
    assert squares(drawn, "s0")[1] == {(2, 5)}
    assert squares(drawn, "s1")[1] == {(5, 2)}
    assert squares(drawn, "s0")[2] == {(0, 5)}
    back = module.entry.indexing(xi.INPUT_TO_OUTPUT).picture((2, 5))
    assert squares(back, r"s\d")[1] == {(2, 5), (5, 2)}
    column = module.entry.indexing(xi.INPUT_TO_OUTPUT).picture((4,), operand=1)
    assert squares(column, r"s\d")[1] == {(row, 4) for row in range(6)}


def test_an_element_that_two_maps_lead_to_has_both_colours() -> None:
    module = xi.load(
        "ENTRY e { p = f32[3,3] parameter(0)  t = f32[3,3] transpose(p), dimensions={1,0}"
        "  ROOT s = f32[3,3] add(p, t) }"
    )
    drawn = module.entry.indexing().picture((1, 1))
    assert squares(drawn, "s0")[1] == squares(drawn, "s1")[1] == {(1, 1)}


def test_answers_that_are_not_exact_say_so() -> None:
    module = xi.load(
        "ENTRY e { p = f32[4,4] parameter(0)  u = f32[2,2] parameter(1)  i = s32[] parameter(2)"
        "  ROOT d = f32[4,4] dynamic-update-slice(p, u, i, i) }"
    )
    assert any(text.startswith("over-approximate: ") for text in texts(module.entry.indexing().picture()))


def test_what_leads_to_too_many_elements_is_not_drawn_and_the_rest_is() -> None:
    module = xi.load(
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"
        "ENTRY e { p = f32[5000,5000] parameter(0)  q = f32[8] parameter(1)  zero = f32[] constant(0)"
        "  sum = f32[] reduce(p, zero), dimensions={0,1}, to_apply=add"
        "  b = f32[8] broadcast(sum), dimensions={}  ROOT r = f32[8] add(q, b) }"
    )
    drawn = module.entry.indexing().picture((3,))
    assert any(text.startswith("not drawn: (d0)[s0, s1] -> (s0, s1)") for text in texts(drawn))
    assert "nothing is read" not in texts(drawn)
    assert squares(drawn, "s0")[2] == {(0, 3)}


def test_an_element_is_chosen_whatever_number_of_elements_it_leads_to() -> None:
    # 2^30 values of the range variables for each element; the first two elements map to nothing.
    wide = "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 32767], s1 in [0, 32767], d0 in [2, 3]"
    assert xi.IndexingMap(wide).in_domain([[0], [1], [2], [3]]).tolist() == [False, False, True, True]
    # What constraints name is tried; empty and infinite intervals are what they are.
    assert xi.IndexingMap(
        "(d0)[s0, s1] -> (s1), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1073741823], d0 + s0 in [3, 9]"
    ).in_domain([[1], [2], [3]]).tolist() == [False, True, True]
    assert xi.IndexingMap("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, inf]").in_domain([[1]]).all()


def test_arguments_with_strange_names_are_drawn() -> None:
    pytest.importorskip("jax")
    key = '<img src="x">&'
    module = xi.analyze(lambda tree: tree[key] * 2, {key: np.ones(3, np.float32)})
    assert any(key in text for text in texts(module.entry.indexing().picture()))


def test_pictures_have_no_scripts_and_need_nothing_from_elsewhere() -> None:
    svg = str(xi.IndexingMap(TRANSPOSE).picture())
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    for word in ("script", "href", "url(", "@import", "onload", "foreignObject"):
        assert word not in svg


def test_a_picture_says_in_words_what_it_shows() -> None:
    root = ElementTree.fromstring(str(xi.IndexingMap(TRANSPOSE).picture((1, 2))))
    described = root.find(f"{SVG}desc")
    assert described is not None
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"] == described.attrib["id"]
    assert described.text is not None
    assert "element (1, 2)" in described.text


def test_the_same_picture_has_the_same_text_and_two_pictures_have_other_styles() -> None:
    map_ = xi.IndexingMap(TRANSPOSE)
    assert str(map_.picture((1, 2))) == str(map_.picture((1, 2)))
    ids = [re.search(r'id="(\w+)"', str(map_.picture(element))) for element in ((1, 2), (2, 1))]
    assert len({found[1] for found in ids if found}) == 2


def test_a_picture_is_saved(tmp_path: pathlib.Path) -> None:
    drawn = xi.IndexingMap(TRANSPOSE).picture()
    drawn.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == str(drawn) == drawn._repr_svg_()


def test_notebooks_show_a_map_as_its_picture_or_where_there_is_none_as_text() -> None:
    map_ = xi.IndexingMap(TRANSPOSE)
    assert map_._repr_svg_() == str(map_.picture())
    assert xi.IndexingMap("(d0) -> (d0), domain: d0 in [0, inf]")._repr_svg_() is None
    assert xi.IndexingMap("(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 99999999]")._repr_svg_() is None


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (TRANSPOSE, {"element": (5, 0)}, "not one of an array of"),
        (TRANSPOSE, {"element": (1,)}, "not one of an array of"),
        (TRANSPOSE, {"element": (-1, 0)}, "not one of an array of"),
        ("(d0) -> (d0), domain: d0 in [0, inf]", {}, "interval without end"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(text: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(xi.Error, match=message):
        xi.IndexingMap(text).picture(**arguments)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_contrast_is_that_of_the_web_content_accessibility_guidelines(is_dark: bool) -> None:
    style = ElementTree.fromstring(str(xi.IndexingMap(TRANSPOSE).picture())).find(f"{SVG}style")
    assert style is not None
    assert style.text is not None
    rules = style.text.split("@media(prefers-color-scheme:dark)")[is_dark]
    fill = dict(re.findall(r"\.(\w+)\{fill:(#\w+)", rules))
    line = re.search(r"\.p\{[^}]*stroke:(#\w+)", rules)
    assert line is not None
    for text in ("t", "f"):
        assert contrast(fill[text], fill["p"]) >= 4.5
    for graphic in ("c", "s0", "s1", "s2", "s3"):
        assert contrast(fill[graphic], fill["g"]) >= 3
    assert contrast(line[1], fill["p"]) >= 3
