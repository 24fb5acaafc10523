package command

import "runtime"

// useProcessors keeps all work, large matrix products and checks included, to as many
// processors as there are workers (0: all), until the function returned is called. No
// result depends on it.
func useProcessors(workers int) (restore func()) {
	before := runtime.GOMAXPROCS(0)
	if workers == 0 || workers >= before {
		return func() {}
	}
	runtime.GOMAXPROCS(workers)
	return func() { runtime.GOMAXPROCS(before) }
}
