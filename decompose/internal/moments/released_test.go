package moments_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

var writeSums = flag.String("write-formats", "", "`VERSION` whose sums to write into testdata/formats, if they are not there")

const formats = "../../../testdata/formats"

// sumOf is a sum of two blocks, written as version v of the format: odd versions hold
// products, even ones a factor, those above 2 IDs of the bases, and 5 has a basis of many levels.
func sumOf(t *testing.T, v int) *moments.Sum {
	if v == 5 {
		return levelled(t)
	}
	s := awkward(40, false, 50+uint64(v))
	s.layout.Factor = v%2 == 0
	for i := range s.layout.Bases {
		s.layout.Bases[i].ID = ""
		if v > 2 {
			s.layout.Bases[i].ID = fmt.Sprint("knots ", i)
		}
	}
	return sum(t, s.layout, s.leaves(t, 20), 0, 2)
}

// levelled is a sum of 600 levels, of which a row has one, and a column of numbers, in two chunks.
func levelled(t *testing.T) *moments.Sum {
	l := moments.Layout{Bases: []moments.Basis{{Name: "g", Dim: 600}, {Name: "x", Dim: 2}}, Predictors: [][]int{{0, 1}}, Responses: 1}
	r, s := rand.New(rand.NewPCG(5, 6)), moments.NewSum(l, 0)
	for range 2 {
		const rows = 20
		g, x, z := &design.Codes{D: 600}, mat.NewDense(rows, 2, nil), mat.NewDense(rows, 1, nil)
		for i := range rows {
			g.Code = append(g.Code, int32(r.IntN(600)))
			x.SetRow(i, []float64{r.NormFloat64(), 1e3 + r.Float64()})
			z.Set(i, 0, r.NormFloat64())
		}
		c := moments.NewChunk(l)
		if err := c.Add([]design.Columns{g, design.Dense{Dense: x}}, nil, z); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(c.Moments()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Products of many levels take room for few numbers of each, and are the same in a view and after they were written.
func TestLevelled(t *testing.T) {
	s := levelled(t)
	raw := marshal(t, s)
	if len(raw) > 8*600*12 {
		t.Errorf("600 levels take %d bytes", len(raw))
	}
	read := new(moments.Sum)
	if err := read.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, read), raw) {
		t.Error("other bytes once they were read")
	}
	many, ok := read.Total().Predictor(0).XX.(*linalg.Structured)
	if !ok {
		t.Fatalf("the products are a %T", read.Total().Predictor(0).XX)
	}
	whole := moments.New(s.Layout()) // merged, it holds all products
	if err := whole.Merge(s.Total()); err != nil {
		t.Fatal(err)
	}
	var apart mat.Dense
	apart.Sub(many.Dense(), whole.XX)
	if d, norm := mat.Norm(&apart, 2), mat.Norm(whole.XX, 2); !(d <= 1e-14*norm) {
		t.Errorf("differs by %g of %g", d, norm)
	}
}

// TestReleasedSumsAreRead: sums of every version of the format that this program reads
// are there, from each release that wrote it, and have the rows that were summed.
func TestReleasedSumsAreRead(t *testing.T) {
	least, last := versionsRead(t)
	if *writeSums != "" {
		for v := least; v <= last; v++ {
			path := filepath.Join(formats, *writeSums, fmt.Sprint("sum-", v))
			if _, err := os.Stat(path); err == nil {
				continue // what a release wrote does not change
			}
			if err := os.WriteFile(path, marshal(t, sumOf(t, v)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for v := least; v <= last; v++ {
		files, err := filepath.Glob(filepath.Join(formats, "*.*.*", fmt.Sprint("sum-", v)))
		if err != nil || len(files) == 0 {
			t.Errorf("no release wrote version %d of the moments, which this program reads: %v", v, err)
		}
		want := sumOf(t, v).Total()
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := int(binary.LittleEndian.Uint16(data[4:])); got != v {
				t.Errorf("%s is of version %d", path, got)
			}
			var s moments.Sum
			if err := s.UnmarshalBinary(data); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if got := s.Total(); got.Rows != want.Rows || got.SumW != want.SumW || !got.Layout.Equal(want.Layout) {
				t.Errorf("%s: %d rows of weight %g, want %d of %g", path, got.Rows, got.SumW, want.Rows, want.SumW)
			}
		}
	}
}

// versionsRead are the first and the last version that this program reads, in its own
// words.
func versionsRead(t *testing.T) (first, last int) {
	data := marshal(t, sumOf(t, 1))
	binary.LittleEndian.PutUint16(data[4:], 0xffff)
	err := new(moments.Sum).UnmarshalBinary(data)
	if err == nil {
		t.Fatal("version 65535 is read")
	}
	_, told, _ := strings.Cut(err.Error(), "reads versions ")
	if n, _ := fmt.Sscanf(told, "%d to %d", &first, &last); n != 2 {
		t.Fatalf("no versions in %q", err)
	}
	return first, last
}
