"""How models are found: one package a kind of model."""
