/* The peer of benchmarks/blas: OpenBLAS behind a line protocol on stdin.
 *
 *   gemm d|s M N K   make operands of C = A*B (double or single)
 *   syrk d N P 0     make operands of C += A'A, A of N x P, upper triangle
 *   threads T        what openblas_set_num_threads is told
 *   run R            answer the seconds that R calls took
 *   dump             answer the result's bytes
 *   version          answer the library's version and core
 *
 * Values are those of the Go side: see fill.
 */
#include <cblas.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long threads = 1;

/* One thread is timed by its processor time, several by the wall clock. */
static double seconds(void) {
	struct timespec t;
	clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* fill writes numbers in [-0.5, 0.5), rounded to the precision. */
static void fill(void *v, long n, int single, uint64_t state) {
	for (long i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		double x = (double)(state >> 11) / 9007199254740992.0 - 0.5;
		if (single) ((float *)v)[i] = (float)x;
		else ((double *)v)[i] = x;
	}
}

static void *array(size_t bytes) {
	void *p = NULL;
	if (posix_memalign(&p, 64, bytes ? bytes : 64)) { fprintf(stderr, "openblas: out of memory\n"); exit(1); }
	memset(p, 0, bytes);
	return p;
}

int main(void) {
	char line[256], type;
	int gemm = 0, single = 0;
	long m = 0, n = 0, k = 0, r;
	void *a = NULL, *b = NULL, *c = NULL;
	size_t bytes = 0;
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "gemm %c %ld %ld %ld", &type, &m, &n, &k) == 4 || sscanf(line, "syrk %c %ld %ld %ld", &type, &m, &n, &k) == 4) {
			gemm = line[0] == 'g', single = type == 's';
			size_t size = single ? 4 : 8;
			long an = gemm ? m * k : m * n, bn = gemm ? k * n : 0;
			bytes = size * (gemm ? m * n : n * n);
			free(a), free(b), free(c);
			a = array(size * an), b = array(size * bn), c = array(bytes);
			fill(a, an, single, 1), fill(b, bn, single, 2);
			puts("ok");
		} else if (sscanf(line, "threads %ld", &r) == 1) {
			threads = r;
			openblas_set_num_threads((int)r);
			puts("ok");
		} else if (sscanf(line, "run %ld", &r) == 1) {
			double start = seconds();
			for (long i = 0; i < r; i++) {
				if (!gemm) cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, m, 1, a, n, 0, c, n);
				else if (single) cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
				else cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
			}
			printf("%.9f\n", seconds() - start);
		} else if (!strncmp(line, "dump", 4)) {
			fwrite(c, 1, bytes, stdout);
		} else if (!strncmp(line, "version", 7)) {
			printf("%s core %s\n", openblas_get_config(), openblas_get_corename());
		} else {
			fprintf(stderr, "openblas: cannot read %s", line);
			return 1;
		}
		fflush(stdout);
	}
	return 0;
}
