"""Many threads ask at the same time: of one module, of many, and of maps; and others go on meanwhile."""

import concurrent.futures
import signal
import sys
import threading
import time

import numpy as np
import pytest

import xla_indexing as xi


def chain(length, name="m"):
    lines = ["p0 = f32[64,96] parameter(0)"]
    for i in range(length):
        lines.append(f"t{i} = f32[96,64] transpose(p{i}), dimensions={{1,0}}")
        lines.append(f"r{i} = f32[64,96] reshape(t{i})")
        lines.append(f"p{i + 1} = f32[64,96] add(r{i}, p{i})")
    lines.append(f"ROOT n = f32[64,96] negate(p{length})")
    return f"HloModule {name}\n\nENTRY e {{\n" + "\n".join(lines) + "\n}\n"


@pytest.fixture(autouse=True)
def switch_often():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def together(work, count=8):
    """The results of `work(i)` on as many threads, which begin at the same moment."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait()
        return work(i)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_one_module():
    module = xi.load(chain(5))
    alone = str(xi.load(chain(5)).entry.indexing())
    utilization = xi.load(chain(5)).entry.utilization().rows()

    def ask(i):
        if i % 2:
            return [str(module.entry.indexing()) for _ in range(3)]
        return [module.entry.utilization().rows() for _ in range(3)]

    for i, answers in enumerate(together(ask)):
        assert answers == [alone if i % 2 else utilization] * 3


def test_all_instructions_of_one_module():
    module = xi.load(chain(8))
    names = [i.name for i in module.instructions]
    alone = {name: str(xi.load(chain(8))[name].indexing()) for name in names[:6]}
    for answers in together(lambda i: {n: str(module[n].indexing(exact=i % 2 == 0)) for n in names}):
        assert {name: answers[name] for name in alone} == alone


def test_many_modules():
    def ask(i):
        module = xi.load(chain(3, f"m{i}"))
        return module.name, str(module.entry.indexing())

    answers = together(ask)
    assert [name for name, _ in answers] == [f"m{i}" for i in range(8)]
    assert len({text for _, text in answers}) == 1


def test_one_map_and_maps_of_several_contexts():
    text = "(d0, d1) -> (d1 * 8 + d0 floordiv 4, d0 mod 4), domain: d0 in [0, 31], d1 in [0, 7]"
    shared = xi.IndexingMap(text)
    points = np.random.default_rng(0).integers(0, 8, (5000, 2))
    expected = shared(points)

    def ask(i):
        other = xi.IndexingMap(text)
        for _ in range(20):
            assert shared == other
            assert other.same_relation(shared)
            assert hash(shared) == hash(other)
            assert str(shared.simplify()) == str(other.simplify())
            np.testing.assert_array_equal(shared(points), expected)
            assert str(shared.compose(other.inverse()).simplify()) == str(
                other.compose(shared.inverse()).simplify()
            )
        return True

    assert all(together(ask))


def test_errors_on_many_threads():
    def ask(i):
        for _ in range(50):
            with pytest.raises(xi.ParseError):
                xi.IndexingMap("(d0) -> (d1)")
            with pytest.raises(xi.ParseError):
                xi.load("ENTRY e {")
        return True

    assert all(together(ask))


def test_other_threads_go_on_while_it_computes():
    m = xi.IndexingMap("(d0, d1) -> (d1 * 2000 + d0), domain: d0 in [0, 1999], d1 in [0, 1999]")
    done = threading.Event()
    turns = []

    def count():
        while not done.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.perf_counter()
    m.to_numpy()
    end = time.perf_counter()
    done.set()
    counter.join()
    # With the lock held all the time the other thread would have a turn at the beginning and at the end alone.
    assert sum(begin < t < end for t in turns) > 5


def test_objects_may_end_on_another_thread():
    def ask(i):
        module = xi.load(chain(2))
        return module.entry.indexing().maps()[0].map

    for m in together(ask):
        assert m.num_dimensions == 2
        del m


def test_an_interrupt_ends_a_question():
    # A square whose every element is read by every other one: 2^40 points.
    square = xi.IndexingMap(
        "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 1023], d1 in [0, 1023], s0 in [0, 1023], s1 in [0, 1023],"
        " d0 * 3 + s0 * 7 + s1 in [1, 20000]"
    )
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            square.in_domain([[1, 2]] * (1 << 20), max_points=1 << 62)
        assert time.monotonic() - start < 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # Nothing is left of it.
    assert square.in_domain([[1, 2], [1024, 0]]).tolist() == [True, False]
