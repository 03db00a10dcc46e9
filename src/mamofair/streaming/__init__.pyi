from .blocks import Chunks, RowBlock
from .table import Stream, stream

__all__ = ["Chunks", "RowBlock", "Stream", "stream"]
