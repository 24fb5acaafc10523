# Settings of OpenBLAS that peers are tried with; to be sourced by bash.

# blas_cores prints the values of OPENBLAS_CORETYPE that are worth a try: OpenBLAS may
# not know a new processor and fall back to slow code, so the code of those that this
# one resembles is tried as well. "-" leaves the choice to it.
blas_cores() {
	if grep -qw avx512f /proc/cpuinfo 2>/dev/null; then
		echo - Haswell SkylakeX Cooperlake
	elif grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
		echo - Haswell Zen
	else
		echo -
	fi
}

# with_blas CORE THREADS COMMAND... runs the command with that setting.
with_blas() {
	local core=$1 threads=$2
	shift 2
	if [ "$core" = - ]; then
		env -u OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS="$threads" "$@"
	else
		OPENBLAS_CORETYPE=$core OPENBLAS_NUM_THREADS=$threads "$@"
	fi
}

# each_blas COMMAND... runs the command with every setting, and puts the setting, with
# a tab, before each of its lines of output.
each_blas() {
	local core threads
	for core in $(blas_cores); do
		for threads in 1 2; do
			with_blas "$core" "$threads" "$@" | sed "s/^/$core $threads\t/"
		done
	done
}

# blas_name CORE THREADS says it for people.
blas_name() {
	echo "OpenBLAS with $2 $([ "$2" = 1 ] && echo thread || echo threads)$([ "$1" = - ] || echo " and code of $1")"
}

# best_of_ways FILE: of lines `CORE THREADS, seconds, way` between tabs, the fastest for
# each way.
best_of_ways() {
	sort -t "$(printf '\t')" -k 2,2g "$1" | awk -F '\t' '!seen[$3]++'
}

# fastest_way SMALL LARGE: which setting of OpenBLAS suits a way to call the peer is decided
# by SMALL, a command that prints seconds and way, between tabs, for all ways, and run
# with every setting; which way is the fastest by LARGE, the same with the way as a last
# argument, on all rows. Prints CORE, THREADS, seconds and way, and on stderr what was tried.
fastest_way() {
	local small=$1 large=$2 core threads seconds way tried
	tried=$(mktemp)
	each_blas $small >"$tried"
	sort -t "$(printf '\t')" -k 2,2g "$tried" | sed 's/^/  few rows: /' >&2
	best_of_ways "$tried" | while IFS=$'\t' read -r core seconds way; do
		read -r core threads <<<"$core"
		with_blas "$core" "$threads" $large "$way" </dev/null | sed "s/^/$core $threads\t/"
	done >"$tried.all"
	sort -t "$(printf '\t')" -k 2,2g "$tried.all" | sed 's/^/  all rows: /' >&2
	best_of_ways "$tried.all" | head -n 1 | tr '\t' ' '
	rm -f "$tried" "$tried.all"
}
