"""What holds for every test, also for the examples in docstrings and pages. The plug-ins are in `tests/`."""

pytest_plugins = ["isolation", "cpu_times", "skip_summary", "loopback", "short_search"]
