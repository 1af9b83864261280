#!/bin/bash
# All shards of a plan as one job array: sbatch --array=0-63 deploy/slurm-shards.sh /shared/plans/resnet50
#SBATCH --job-name=lookalike-shards
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail
lookalike work "$1" --shard "$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))/$SLURM_ARRAY_TASK_COUNT"
