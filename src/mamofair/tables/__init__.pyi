from ._batches import read_batches
from ._check import check
from ._encoder import TableEncoder, encoder
from ._encoder_file import load_encoder, read_encoder, save_encoder, write_encoder
from ._new_rows import read_attributes, read_labels_and_groups, read_new_rows
from ._open import open_source
from ._read import Table, read_features, read_table
from .attributes import parse_attribute
from .data_check import DataCheck
from .file_format import FileFormat

__all__ = [
    "DataCheck",
    "FileFormat",
    "Table",
    "TableEncoder",
    "check",
    "encoder",
    "load_encoder",
    "open_source",
    "parse_attribute",
    "read_attributes",
    "read_batches",
    "read_encoder",
    "read_features",
    "read_labels_and_groups",
    "read_new_rows",
    "read_table",
    "save_encoder",
    "write_encoder",
]
