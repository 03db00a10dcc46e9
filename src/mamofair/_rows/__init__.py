"""Rows as users hand them over, read and checked once: columns, labels, groups, splits and batches."""
