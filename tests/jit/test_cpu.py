"""Which library fits the CPU."""

import platform

import pytest

from spinney.jit import cpu

V2 = "fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
V3 = V2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
WITH_AVX512 = V3 + " avx512f avx512bw avx512cd avx512dq avx512vl"
ALL = ("x86-64-v2", "x86-64-v3")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A function that sets the kind of machine and what its CPU can do."""

    def become(kind, flags=None):
        monkeypatch.setattr(platform, "machine", lambda: kind)
        monkeypatch.setattr(cpu, "INFO", tmp_path / "cpuinfo")
        if flags is not None:
            (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: none\n")
        cpu.supported.cache_clear()

    yield become
    cpu.supported.cache_clear()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (WITH_AVX512, ALL),
        (V3, ALL),
        (V2, ALL[:1]),
        (V3.replace("fma", ""), ALL[:1]),
        (WITH_AVX512.replace("avx2 ", ""), ALL[:1]),
        (V2.replace("popcnt", ""), ()),
    ],
)
def test_a_level_needs_every_instruction_set_of_it(machine, flags, expected):
    machine("x86_64", flags)
    assert cpu.supported() == expected


@pytest.mark.parametrize("kind", ["x86_64", "AMD64"])
def test_a_system_that_does_not_tell_gets_the_lowest_level(machine, kind):
    machine(kind)
    assert cpu.levels() == ALL
    assert cpu.supported() == ALL[:1]


@pytest.mark.parametrize("kind", ["aarch64", "arm64", "ppc64le", "riscv64"])
def test_other_architectures_have_one_level_that_every_such_cpu_runs(machine, kind):
    machine(kind)
    assert cpu.levels() == cpu.supported() == ("generic",)
