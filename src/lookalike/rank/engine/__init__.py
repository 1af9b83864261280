"""The rank engine: blocks of scores, compiled counting, GPUs, vectors larger than memory."""
