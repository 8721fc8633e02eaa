"""Hypothesis settings for the whole test suite."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "rskpca",
    deadline=None,  # the first call triggers compilation
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rskpca")
