"""Whether a program was built with the address sanitizer."""


def is_sanitized(program):
    """Under it everything takes ten times as long and more, and terabytes of address space are reserved."""
    with open(program, "rb") as binary:
        return b"__asan_init" in binary.read()
