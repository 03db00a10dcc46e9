from .blocks import Chunks
from .table import Stream, stream

__all__ = ["Chunks", "Stream", "stream"]
