//go:build linux && (amd64 || arm64) && !purego

package kernel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// arena is memory between two pages that nobody may touch.
type arena struct {
	pages  []byte
	lo, hi int // of what may be touched
}

func newArena(t *testing.T) *arena {
	t.Helper()
	page := syscall.Getpagesize()
	const pages = 16
	mem, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	a := &arena{mem, page, page * (pages + 1)}
	for _, guard := range [][]byte{mem[:a.lo], mem[a.hi:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Skipf("no pages to guard with: %v", err)
		}
	}
	return a
}

// guards places operands flush against a guard page: at the end of their memory, or at
// its beginning.
type guards struct {
	arenas []*arena
	atEnd  bool
	used   int // arenas, by the operands of this call
	rng    *rand.Rand
}

// place is memory of n values flush against a guard page; nil for n = 0 must not be
// touched at all.
func place[T any](g *guards, n int) []T {
	if n == 0 {
		return nil
	}
	a := g.arenas[g.used]
	g.used++
	var x T
	size := n * int(unsafe.Sizeof(x))
	if size > a.hi-a.lo {
		panic(fmt.Sprintf("%d bytes do not fit", size))
	}
	from := a.lo
	if g.atEnd {
		from = a.hi - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&a.pages[from])), n)
}

// numbers is place, filled.
func numbers[T Float](g *guards, n int) []T {
	v := place[T](g, n)
	for i := range v {
		v[i] = T(g.rng.Float64() - 0.25)
	}
	return v
}

// indices are numbers below n, and now and then one beyond: it must not be followed.
func indices(g *guards, many, n int) []int32 {
	v := place[int32](g, many)
	for i := range v {
		switch g.rng.IntN(60) {
		case 0:
			v[i] = -1
		case 1:
			v[i] = int32(n)
		default:
			v[i] = int32(g.rng.IntN(max(n, 1)))
		}
	}
	return v
}

// extent is the number of values that rows x cols of them span, ld apart.
func extent(rows, cols, ld int) int { return (rows-1)*ld + cols }

// entryPoint calls one function of the assembly with all small shapes. check runs a call
// whose operands it places, and names it if that touches a guard page.
type entryPoint struct {
	isa  isa
	call func(check func(name string, call func(g *guards)))
}

// TestAssemblyStaysInside calls every function of the assembly with operands that
// end, or begin, where memory does. Go checks the bounds of slices, assembly
// nothing: a vector too many is a crash on somebody's machine some day.
func TestAssemblyStaysInside(t *testing.T) {
	points := entryPoints()
	for _, name := range assemblySymbols(t) {
		if _, ok := points[name]; !ok {
			t.Errorf("%s is called by no case here", name)
		}
	}
	for name := range points {
		if !slices.Contains(assemblySymbols(t), name) {
			t.Errorf("there is no %s in the assembly", name)
		}
	}
	g := newGuards(t)
	for _, name := range slices.Sorted(maps.Keys(points)) {
		p := points[name]
		t.Run(name, func(t *testing.T) {
			if !runs(p.isa) {
				t.Skipf("this machine does not run %v", p.isa)
			}
			calls := 0
			p.call(func(what string, call func(g *guards)) {
				g.check(t, what, call)
				calls += 2
			})
			t.Logf("%d calls", calls)
		})
	}
}

func newGuards(t *testing.T) *guards {
	t.Helper()
	g := &guards{rng: rand.New(rand.NewPCG(1, 11))}
	const operands = 9
	for range operands {
		g.arenas = append(g.arenas, newArena(t))
	}
	return g
}

// check runs call with its operands at both ends of their memory.
func (g *guards) check(t *testing.T, what string, call func(g *guards)) {
	t.Helper()
	for _, g.atEnd = range []bool{true, false} {
		g.used = 0
		if err := touching(g, call); err != nil {
			t.Fatalf("%s, operands at the end %t: %v", what, g.atEnd, err)
		}
	}
}

// touching turns a fault into an error.
func touching(g *guards, call func(g *guards)) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	call(g)
	return nil
}

// TestGuardsGuard: a value too many before or after is seen.
func TestGuardsGuard(t *testing.T) {
	g := newGuards(t)
	for _, g.atEnd = range []bool{true, false} {
		g.used = 0
		err := touching(g, func(g *guards) {
			x, out := numbers[float64](g, 32), numbers[float64](g, 12)
			from := 1
			if !g.atEnd {
				from = -1
			}
			runBounds(&band{a: unsafe.Add(unsafe.Pointer(&x[0]), 8*from), n: 32, b: unsafe.Pointer(&out[0])})
		})
		if best() != plain && err == nil {
			t.Errorf("at the end %t: no fault", g.atEnd)
		}
	}
}

// assemblySymbols are the functions that the assembly defines.
func assemblySymbols(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*_" + runtime.GOARCH + ".s")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	symbol := regexp.MustCompile(`(?m)^TEXT ·(\w+)\(SB\)`)
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range symbol.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}
