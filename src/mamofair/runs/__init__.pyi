from ._alternatives import read_alternatives, save_alternatives
from ._checkpoint import (
    checkpoint_files,
    checkpointed,
    read_checkpoint,
    restore_checkpoint,
    write_checkpoint,
)
from ._judge import assess_run, describe_near_constant, judge
from ._load import is_resumable, load, load_run
from ._locks import own_folder, replaced_file
from ._onnx import to_onnx
from ._questions import StoredQuestion, read_question, write_question
from ._run import Run, describe_rows, versions
from ._save import holds_run, is_current, require_place, save
from ._test_rows import measure_test

__all__ = [
    "Run",
    "StoredQuestion",
    "assess_run",
    "checkpoint_files",
    "checkpointed",
    "describe_near_constant",
    "describe_rows",
    "holds_run",
    "is_current",
    "is_resumable",
    "judge",
    "load",
    "load_run",
    "measure_test",
    "own_folder",
    "read_alternatives",
    "read_checkpoint",
    "read_question",
    "replaced_file",
    "require_place",
    "restore_checkpoint",
    "save",
    "save_alternatives",
    "to_onnx",
    "versions",
    "write_checkpoint",
    "write_question",
]
