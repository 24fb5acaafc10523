package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/kernel"
)

// work is what a network has to do for a row.
type work struct {
	adds     int    // multiplications with an addition
	function string // of the hidden values
	values   int    // that go through it
	spelled  bool   // as nodes of their own
}

// dense is the work of layers of these widths, with a function between them.
func dense(function string, widths ...int) (w work) {
	for i, n := range widths[1:] {
		w.adds += widths[i] * n
		if i < len(widths)-2 {
			w.values += n
		}
	}
	w.function = function
	return w
}

// times is the work of n such networks.
func (w work) times(n int) work {
	return work{adds: n * w.adds, function: w.function, values: n * w.values}
}

// bound prints, for each network, what a row costs one processor at least: its products at the
// rate of multiply-adds of registers, its functions at that of their kernels on numbers in the
// first cache, and its bytes, of float64, at the rate that memory is read with. Products and
// functions need the same units, memory is read meanwhile. Products with zeros behind a Relu count,
// though our layers may leave them out. Then what a row takes here.
func (s *settings) bound() error {
	rate := readRate()
	fmt.Printf("one processor: %.1f multiply-adds/ns in float32, %.1f in float64, memory read at %.1f GB/s\n", peak[float32](), peak[float64](), rate)
	fmt.Printf("%-58s %9s %9s %9s %9s %9s %6s\n", "ns a row, 65536 rows, one goroutine", "products", "functions", "memory", "at least", "ours", "share")
	for _, c := range cases {
		if c.work.adds == 0 || !s.cases.MatchString(c.name) {
			continue
		}
		for _, k := range []kind{f32, f64} {
			if !slices.Contains(s.types, k.name) {
				continue
			}
			products, functions := c.work.least(k)
			memory := 8 * float64(c.columns) / rate
			ours, err := s.alone(c, k)
			if err != nil {
				return err
			}
			least := max(products+functions, memory)
			fmt.Printf("%-58s %9.1f %9.1f %9.1f %9.1f %9.1f %6.2f\n", c.name+", "+k.name, products, functions, memory, least, ours, least/ours)
		}
	}
	return nil
}

// alone is the ns that a row takes one goroutine, by the fastest tenth of pieces of all rows: what
// else runs on the machine lengthens the others.
func (s *settings) alone(c network, k kind) (float64, error) {
	g, err := onnx.LoadFile(filepath.Join(s.dir, c.file+k.suffix+".onnx"), nil)
	if err != nil {
		return 0, err
	}
	us, err := newOurs(g, k, 1<<16, c)
	if err != nil {
		return 0, err
	}
	const piece = 4 * blockRows
	var took []time.Duration
	for end := time.Now().Add(time.Duration(float64(s.rounds) * s.seconds * 1e9)); len(took) == 0 || time.Now().Before(end); {
		for i := 0; i < us.rows; i += piece {
			began := time.Now()
			for j := i; j < i+piece; j += blockRows {
				if err := us.block(j); err != nil {
					return 0, err
				}
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return float64(took[len(took)/10]) / piece, nil
}

func (w work) least(k kind) (products, functions float64) {
	if w.spelled && k.precision == onnx.Double {
		w.function = "erf" // GELU is joined in float32 only
	}
	if k.precision == onnx.Double {
		return float64(w.adds) / peak[float64](), float64(w.values) * functionTime[float64](w.function)
	}
	return float64(w.adds) / peak[float32](), float64(w.values) * functionTime[float32](w.function)
}

// peak is how many multiply-adds a processor does in a ns; where there is no loop of registers
// for it, those of a product in the first caches.
func peak[T kernel.Float]() float64 {
	size := 4
	if _, double := any(T(0)).(float64); double {
		size = 8
	}
	if run, many, bytes := registerAdds(); run != nil {
		const turns = 1000
		return float64(turns*many*bytes/size) / shortest(func() { run(turns) })
	}
	const n = 128
	a, c := make([]T, n*n), make([]T, n*n)
	w := kernel.Pack(n, n, a, false)
	return n * n * n / shortest(func() { w.Mul(c, n, a, n, n, nil) })
}

// functionTime is the ns of a value.
func functionTime[T kernel.Float](name string) float64 {
	f := map[string]func(dst, src []T){"tanh": kernel.Tanh[T], "SiLU": kernel.SiLU[T], "GELU": kernel.Gelu[T], "GELU by tanh": kernel.GeluTanh[T], "exp": kernel.Exp[T], "erf": kernel.Erf[T]}[name]
	if f == nil {
		return 0 // Relu, with the product
	}
	src, dst := make([]T, 2048), make([]T, 2048)
	for i := range src {
		src[i] = T(wave(i, 1))
	}
	return shortest(func() { f(dst, src) }) / float64(len(src))
}

// readRate is how many GB/s one processor reads from memory.
func readRate() float64 {
	a := make([]float64, 32<<20)
	for i := range a {
		a[i] = 1
	}
	best := math.Inf(1)
	for range 10 {
		began := time.Now()
		kernel.Dot(a[:len(a)/2], a[len(a)/2:])
		best = min(best, float64(time.Since(began)))
	}
	return 8 * float64(len(a)) / best
}

// shortest is the ns of the fastest of many calls.
func shortest(run func()) float64 {
	best := time.Hour
	for range 3000 {
		began := time.Now()
		run()
		best = min(best, time.Since(began))
	}
	return float64(best)
}
