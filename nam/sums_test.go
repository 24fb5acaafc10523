package nam

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/sumstest"
)

// counted is what a scan sees of rows i of a column of few values, one of many, and one of texts.
func counted(t testing.TB, rows []int) *valueScan {
	s := &valueScan{most: 10}
	for _, name := range []string{"few", "many", "text"} {
		s.columns = append(s.columns, &valueCount{name: name, values: map[float64]bool{}})
	}
	b := data.NewBatch(len(rows), 0)
	few, many, text := make([]float64, len(rows)), make([]float64, len(rows)), make([]int32, len(rows))
	for i, row := range rows {
		few[i], many[i] = []float64{0, math.Copysign(0, -1), 3, math.NaN()}[row%4], float64(row)
	}
	for _, err := range []error{b.SetNumeric("few", few), b.SetNumeric("many", many), b.SetCodes("text", data.Codes{Index: text, Levels: []string{"a"}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(rows) > 0 {
		if err := s.Scan(b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func encoded(t testing.TB, s *valueScan) []byte {
	raw, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestValueSums: counts of pieces are those of all rows, in any order.
func TestValueSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 30 {
		rows := r.Perm(n)
		whole := counted(t, rows)
		cut := r.IntN(n + 1)
		b, err := DecodeSums("nam/1", encoded(t, counted(t, rows[:cut])))
		if err != nil {
			t.Fatal(err)
		}
		a := counted(t, rows[cut:])
		if err := a.Add(b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, a), encoded(t, whole)) {
			t.Errorf("%d rows cut at %d: %x, want %x", n, cut, encoded(t, a), encoded(t, whole))
		}
		if n == 29 && (a.columns[0].count(10) != 2 || a.columns[1].count(10) != 10 || a.columns[2].count(10) != 0) {
			t.Errorf("%+v", a.columns)
		}
	}
}

// FuzzDecodeSums: damaged counts are errors.
func FuzzDecodeSums(f *testing.F) {
	f.Add(encoded(f, counted(f, []int{1, 2, 3, 4, 5})))
	f.Add(encoded(f, counted(f, nil)))
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, sumsKind, raw, DecodeSums) })
}
