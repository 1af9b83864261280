"""The few frozen types, the error tree and the checks everything else is written in. numpy only."""
