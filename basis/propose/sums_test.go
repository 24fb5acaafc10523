package propose

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

var (
	proposed = []string{"x", "z", "id", "many", "on", "off", "half", "flag", "g", "names", "code"}
	factors  = []string{"code"}
)

// rows are columns of every sort: rows with the numbers given.
func rows(t testing.TB, numbers []int64) *data.Batch {
	b := data.NewBatch(len(numbers), 0)
	columns := map[string][]float64{}
	var g, names []string
	for _, n := range numbers {
		r := rand.New(rand.NewPCG(uint64(n), 3))
		level := r.IntN(3)
		half := 0.0
		if n == 4000 {
			half = 0.5 // a column that is 0 and 1 for long
		}
		for name, v := range map[string]float64{
			"x": math.Round(r.NormFloat64() * 5), "z": r.NormFloat64(), "id": float64(n + 1), "many": float64(r.IntN(30)), "on": is(level == 0), "off": is(level == 1), "half": half + is(level == 2 && half == 0),
			"flag": math.Copysign(is(r.IntN(2) == 0), -0.5+is(r.IntN(2) == 0)), "code": float64(r.IntN(5)),
		} {
			if name == "flag" {
				v = math.Abs(v)
			}
			columns[name] = append(columns[name], v)
		}
		g, names = append(g, []string{"a", "b", "c"}[r.IntN(3)]), append(names, fmt.Sprint("name ", n))
	}
	fault := b.SetRows(numbers)
	for name, x := range columns {
		if err := b.SetNumeric(name, x); err != nil {
			fault = err
		}
	}
	for name, texts := range map[string][]string{"g": g, "names": names} {
		place, codes := map[string]int32{}, data.Codes{}
		for _, s := range texts {
			if _, ok := place[s]; !ok {
				place[s] = int32(len(codes.Levels))
				codes.Levels = append(codes.Levels, s)
			}
			codes.Index = append(codes.Index, place[s])
		}
		if err := b.SetCodes(name, codes); err != nil {
			fault = err
		}
	}
	if fault != nil {
		t.Fatal(fault)
	}
	return b
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seen(t testing.TB, numbers []int64) *scan {
	var schema data.Schema
	for _, name := range proposed {
		text := name == "g" || name == "names"
		schema = append(schema, data.Column{Name: name, Numeric: !text, Categorical: text})
	}
	s, err := newScan(schema, proposed, factors)
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) > 0 {
		if err := s.Scan(rows(t, numbers)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func encoded(t testing.TB, s decompose.Sums) []byte {
	raw, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSumsOfPieces: sums of pieces, cut anywhere and added in any order, equal the sums of all rows.
func TestSumsOfPieces(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		var all []int64
		for n := range int64(6000) {
			if r.IntN(4) > 0 || seed == 0 || n == 4000 {
				all = append(all, n)
			}
		}
		var shares [][]byte
		for at := 0; at < len(all); {
			next := min(at+r.IntN(2500), len(all))
			shares = append(shares, encoded(t, seen(t, all[at:next])))
			at = next
		}
		for len(shares) > 1 {
			r.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
			a, err := DecodeSums("propose/1", shares[0])
			if err != nil {
				t.Fatal(err)
			}
			b, err := DecodeSums("propose/1", shares[1])
			if err == nil {
				err = a.Add(b)
			}
			if err != nil {
				t.Fatal(err)
			}
			shares = append(shares[2:], encoded(t, a))
		}
		whole := seen(t, all)
		if !bytes.Equal(shares[0], encoded(t, whole)) {
			t.Fatalf("seed %d: the sums of pieces are others than those of all rows", seed)
		}
		total, err := DecodeSums("propose/1", shares[0])
		if err != nil {
			t.Fatal(err)
		}
		restored := seen(t, nil)
		if err := restored.Restore(total); err != nil {
			t.Fatal(err)
		}
		if got, want := restored.groups(), whole.groups(); !reflect.DeepEqual(got, want) {
			t.Errorf("groups %v, want %v", got, want)
		}
		for i, c := range whole.columns {
			got, gotWhy := restored.choose(restored.columns[i])
			want, wantWhy := whole.choose(c)
			if !reflect.DeepEqual(got, want) || gotWhy != wantWhy {
				t.Errorf("column %s: %+v %s, want %+v %s", c.name, got, gotWhy, want, wantWhy)
			}
			if _, why := whole.choose(c); c.name == "id" && why != "it counts the rows" {
				t.Errorf("id: %q", why)
			}
		}
	}
}

// TestForeignSums: sums of other columns are refused.
func TestForeignSums(t *testing.T) {
	s, err := newScan(data.Schema{{Name: "x", Numeric: true}}, []string{"x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(seen(t, nil)); err == nil {
		t.Error("sums of other columns were added")
	}
}

// FuzzDecodeSums: damaged sums are errors.
func FuzzDecodeSums(f *testing.F) {
	f.Add(encoded(f, seen(f, []int64{1, 2, 3, 9})))
	f.Add(encoded(f, seen(f, nil)))
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, sumsKind, raw, DecodeSums) })
}

// TestLenient: missing and infinite values are errors, but where terms are not asked for: their columns get none.
func TestLenient(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		b := rows(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
		x, err := b.Numeric("x")
		if err != nil {
			t.Fatal(err)
		}
		gap := append([]float64{}, x...)
		gap[4] = bad
		if err := b.SetNumeric("x", gap); err != nil {
			t.Fatal(err)
		}
		for _, lenient := range []bool{false, true} {
			s, err := newScan(data.Schema{{Name: "x", Numeric: true}, {Name: "z", Numeric: true}}, []string{"x", "z"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.lenient = lenient
			if err := s.Scan(b); (err == nil) != lenient {
				t.Fatalf("%g, lenient %t: %v", bad, lenient, err)
			}
			if _, why := s.choose(s.columns[0]); lenient && why != "missing or infinite values" {
				t.Errorf("%g: x is left out for %q", bad, why)
			}
			if _, why := s.choose(s.columns[1]); lenient && why != "" {
				t.Errorf("%g: z is left out for %q", bad, why)
			}
		}
	}
}

// TestMissingSaysWhichFormula: the formula of the message, which nobody may have written yet, leaves out the column.
func TestMissingSaysWhichFormula(t *testing.T) {
	for _, name := range []string{"x", "a b", "it`s"} {
		err := (&column{name: name}).bad(3, math.NaN())
		_, text, _ := strings.Cut(err.Error(), `by the formula "`)
		text, _, _ = strings.Cut(text, `", fill`)
		f, parsed := formula.Parse(text)
		if parsed != nil || f.Others == nil || len(f.Others.Without) != 1 || f.Others.Without[0].Text != name {
			t.Errorf("%v: %+v, %v", err, f, parsed)
		}
	}
}
