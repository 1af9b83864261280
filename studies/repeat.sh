#!/bin/sh
# Repeats the training study of docs/research/learning.md: `sh studies/repeat.sh DATA`, with DATA as in examples/human_judgments.py.
# Results are written to `results`. A stopped study resumes from its journal.
set -e
DATA=$1
export OMP_NUM_THREADS=1
small="--data $DATA --epochs 30 --rate 3e-4"
python studies/studio.py --journal studio.jsonl --out results --data "$DATA"
python studies/people.py "$DATA" --journal people.jsonl --out results
python studies/distances.py --out results --data "$DATA"
python studies/softness.py studio --journal studio.jsonl --out results --splits 8
python studies/softness.py people --journal people.jsonl --out results $small --splits 12 --hops 2 3 4 7 --betas 0.3 0.7 2
python studies/flips.py studio --journal studio.jsonl --out results
python studies/flips.py people --journal people.jsonl --out results $small
python studies/flips.py people --journal people.jsonl $small --splits 25 --hops 2 --shares 0 0.1 0.2
python studies/flips.py studio --journal studio.jsonl --splits 10 --hops 2 --shares 0 0.1
python studies/people.py "$DATA" --journal people.jsonl --losses supcon --unjudged ignore --splits 20
python studies/studio.py --journal studio.jsonl --losses supcon --unjudged ignore --splits 20
python studies/people.py "$DATA" --journal people.jsonl --losses supcon --projection 2048 --splits 10
