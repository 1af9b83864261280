"""The sources of encoders: descriptors, network libraries, checkpoints, files of vectors."""
