"""Settings that all tests share."""

from hypothesis import settings

# A first call loads models and compiles; how long an example takes says nothing here. Under CI
# Hypothesis takes its own profile (the same examples each time), which this one inherits.
settings.register_profile("eunoe", parent=settings.default, deadline=None, print_blob=True)
settings.load_profile("eunoe")
