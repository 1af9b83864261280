"""Images to vectors: the encoder string, the sources it names, and the run over a catalog."""
