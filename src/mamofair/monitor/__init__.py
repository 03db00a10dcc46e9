"""Monitoring of decisions as they arrive, with alarms that are valid however often you look, and a small state file."""

from mamofair.monitor._answer import Drift, PairAnswer, WatchAnswer, WatchedGap
from mamofair.monitor._clock import Place, read_ticks, show_tick
from mamofair.monitor._files import load_monitor, own_state, save_monitor
from mamofair.monitor._history import confusion_cells
from mamofair.monitor._monitor import Monitor
from mamofair.monitor._prometheus import to_prometheus
from mamofair.monitor._switch import OtherPoint, find_other_points

__all__ = [
    "Drift",
    "Monitor",
    "OtherPoint",
    "PairAnswer",
    "Place",
    "WatchAnswer",
    "WatchedGap",
    "confusion_cells",
    "find_other_points",
    "load_monitor",
    "own_state",
    "read_ticks",
    "save_monitor",
    "show_tick",
    "to_prometheus",
]
