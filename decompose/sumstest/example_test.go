package sumstest_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

// weight adds up the weights of rows. If short, it writes its sum as a float32.
type weight struct {
	sum   float64
	short bool
}

func (w *weight) Kind() string { return "weight/1" }

func (w *weight) Add(next decompose.Sums) error {
	w.sum += next.(*weight).sum
	return nil
}

func (w *weight) MarshalBinary() ([]byte, error) {
	sum := w.sum
	if w.short {
		sum = float64(float32(sum))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(sum)), nil
}

// printed is a testing.TB that prints why a test fails.
type printed struct{}

func (printed) Helper()                        {}
func (printed) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (printed) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// Sums that lose digits when they are written depend on how rows are shared out.
func ExampleAnyOrder() {
	check := func(short bool) (failure any) {
		defer func() { failure = recover() }()
		decode := func(kind string, raw []byte) (decompose.Sums, error) {
			if kind != "weight/1" || len(raw) != 8 {
				return nil, fmt.Errorf("%d bytes of the kind %q are no weight", len(raw), kind)
			}
			return &weight{math.Float64frombits(binary.LittleEndian.Uint64(raw)), short}, nil
		}
		sumstest.AnyOrder(printed{}, 9, 20, func(i int) decompose.Sums { return &weight{1 / float64(3+i), short} }, decode)
		return nil
	}
	fmt.Println(check(false))
	fmt.Println(check(true))
	// Output:
	// <nil>
	// seed 0: shards add up to other bytes than one process: byte 3 of 8 and 8
}
