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
