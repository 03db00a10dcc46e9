"""Rows as users pass them, read and checked once: columns, labels, groups, splits and batches."""
