"""Training networks by common descent: populations, pullbacks, Gramians, ranks and the training loop."""
