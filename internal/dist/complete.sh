#!/bin/sh
# kubectl runs this to complete the command line of its plugin.
exec "$(dirname "$(command -v kubectl-preemptcheck || echo "$0")")/kubectl-preemptcheck" __complete "$@"
