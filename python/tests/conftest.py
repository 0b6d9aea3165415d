"""What has to stand in the environment before jax is imported: eight devices, all of them this processor."""

import os

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"


def pytest_configure(config: pytest.Config) -> None:
    # A plugin that runs tests in several processes (pytest-xdist -n 2 --dist loadgroup) keeps those of a program
    # together, which is compiled once then. The tests do not need it.
    config.addinivalue_line("markers", "xdist_group(name): tests that share what is costly to make")
