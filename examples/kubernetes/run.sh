#!/usr/bin/env bash
# run.sh: makes all passes of a decomposition by the Jobs of manifests/ with kubectl, and goes on where it
# was if it is called again after it was interrupted. jq reads what comes next.
set -euo pipefail
cd "$(dirname "$0")/manifests"

# job NAME: runs a Job to its end; one of that name from an earlier pass goes first.
job() {
	kubectl delete job "pho-$1" --ignore-not-found --wait >&2
	kubectl create -f "$1.yaml" >&2
	until kubectl wait --for=condition=complete --timeout=30s "job/pho-$1" >&2 2>/dev/null; do
		if kubectl wait --for=condition=failed --timeout=1s "job/pho-$1" >&2 2>/dev/null; then
			kubectl logs "job/pho-$1" --all-containers --tail=20 >&2
			exit 1
		fi
	done
}

kubectl apply -f storage.yaml >&2
job plan
at=plan
while pass=$(kubectl logs "job/pho-$at" -c next | jq -er .next.pass); do
	job "$pass"
	job "$pass-total"
	at=$pass-total
done
job apply
