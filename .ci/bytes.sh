#!/usr/bin/env bash
# bytes.sh BASE [HEAD]: builds two commits (HEAD: the working tree) and compares what
# they write on this machine: the demo, networks trained on two real tables and
# decomposed there, contributions of new rows, and the paper's quick runs. For changes
# that must not change an answer. Files that hold times are left out by name. Tables are
# looked for in PHO_DATA (../shared/data); without them their part is skipped, said so.
set -euo pipefail
base=$1 head=${2:-}
go=${GO:-go}
export GOWORK=off
root=$(git rev-parse --show-toplevel)
tables=${PHO_DATA:-$root/../shared/data}
export PHO_DATA=$tables
dir=$(mktemp -d)
made=() # worktrees of ours: the caller's own tree may be a linked worktree, too
trap 'for t in "${made[@]}"; do git -C "$root" worktree remove --force "$t" 2>/dev/null || true; done; rm -rf "$dir"' EXIT
git -C "$root" worktree add -q --detach "$dir/base" "$base" && made+=("$dir/base")
if [ -n "$head" ]; then
	git -C "$root" worktree add -q --detach "$dir/head" "$head" && made+=("$dir/head")
else
	ln -s "$root" "$dir/head"
fi

# paper PROGRAM OUT: a quick run, from whichever module holds the programs.
paper() {
	if [ -f examples/paper/go.mod ]; then
		(cd examples/paper && "$go" run "./$1" -quick -out "$2")
	else
		"$go" run "./examples/paper/$1" -quick -out "$2"
	fi
}

# work TREE OUT: everything that is compared. Both trees write into a directory of the
# same name in turn, so that no path differs.
work() {
	local out=$dir/out
	mkdir "$out"
	cd "$dir/$1"
	"$go" build -o "$dir/pho" ./cmd/pho
	local pho=$dir/pho
	"$pho" demo --out "$out/demo" >"$out/demo.txt" 2>/dev/null
	if [ -f "$tables/california_housing.csv.gz" ]; then
		"$pho" train --data "$tables/california_housing.csv.gz" --formula 'med_house_value ~ med_inc + s(house_age, bs="ps")' \
			--deep med_inc,house_age,ave_rooms,ave_bedrms,population,ave_occup,latitude,longitude --epochs 3 --out "$out/housing"
		"$pho" decompose --model "$out/housing/model.onnx" --data "$tables/california_housing.csv.gz" --response med_house_value \
			--family gaussian --formula '~ s(ave_rooms) + te(latitude, longitude, k=c(5,5))' --out "$out/housing-pho" >"$out/housing.txt"
		"$pho" apply --decomposition "$out/housing-pho" --data "$tables/california_housing.csv.gz" --se --out "$out/housing-new.csv"
		"$pho" inspect "$out/housing/model.onnx" --json >"$out/housing.json"
		"$pho" train --data "$tables/bike_hour.csv.gz" --kind nam --response cnt --family poisson --features hr,temp,hum,windspeed,mnth --epochs 2 --out "$out/bike"
		"$pho" decompose --model "$out/bike/model.onnx" --data "$tables/bike_hour.csv.gz" --response cnt --family poisson \
			--formula '~ s(hr, bs="cc") + factor(weekday) + s(temp, by=factor(season))' --contributions parquet --out "$out/bike-pho" >"$out/bike.txt"
	else
		echo "bytes: SKIPPED: no real tables in $tables (PHO_DATA)"
	fi
	for p in linear convergence onoerror nonlinear benchmark; do
		paper "$p" "$out/$p" >"$out/$p.txt" 2>/dev/null
	done
	cd "$out"
	# Times, hosts and versions; and the lines of a program that say how long it took.
	find . -name run.json -o -name training.json -prune | xargs -r rm -f
	sed -i -E '/[0-9.]+ ?(s|ms|seconds)\b/d' ./*.txt
	find . -name '*.json' -path './[lcnob]*' -exec sed -i -E '/"([a-z_]*seconds|started|commit|go)"/d' {} +
	find . -type f -exec sha256sum {} + | sort -k 2 >"$dir/$1.sums"
	mv "$out" "$dir/$1.out"
}
for tree in base head; do (work "$tree") || exit 1; done
if diff -u "$dir/base.sums" "$dir/head.sums"; then
	echo "bytes: $(wc -l <"$dir/head.sums") files are equal"
else
	(cd "$dir" && diff -rq base.out head.out | head -20)
	echo "bytes: the two commits do not write the same files"
	exit 1
fi
