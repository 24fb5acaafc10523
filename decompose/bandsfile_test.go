package decompose_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// countedReader counts what is read.
type countedReader struct {
	from io.Reader
	n    int
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.n += n
	return n, err
}

// told are standard errors and bands of all terms and entangled sums, and the coefficients, as text.
func told(t *testing.T, r *decompose.Result, m decompose.Model, rows *data.Batch) string {
	t.Helper()
	ctx, out := context.Background(), ""
	a, err := r.Applier(m)
	must(t, err)
	parts, err := a.WithErrors().Parts(ctx, rows)
	must(t, err)
	for k := range r.Predictors {
		out += fmt.Sprintln(parts.Predictors[k].SE.RawMatrix().Data)
		for _, terms := range r.SumsOfTerms(k) {
			e, err := a.SimultaneousEffect(ctx, k, terms, rows, 1)
			must(t, err)
			out += fmt.Sprintln(terms, *e)
		}
		coefficients, err := r.Coefficients(k)
		must(t, err)
		covariance, err := r.CoefficientCovariance(k)
		must(t, err)
		out += fmt.Sprintln(coefficients, covariance, r.Predictors[k].Hierarchy)
		for j := range r.Predictors[k].Terms {
			out += fmt.Sprintln(r.Predictors[k].Means(j))
		}
	}
	return out
}

// TestReadBands: bands that are read alone are those that are read with everything, of a small part of the file; where a term
// has too many columns, all of it is read.
func TestReadBands(t *testing.T) {
	tab := sandwichTable(t, 900)
	texts := make([]string, 900)
	for i := range texts {
		texts[i] = fmt.Sprintf("l%d", i%300)
	}
	must(t, tab.AddTexts("many", texts))
	var lines []string // of so many terms that the positions of the last are larger than what is left of the file
	for j := range 40 {
		lines = append(lines, fmt.Sprintf("z%d", j))
		z := make([]float64, 900)
		for i := range z {
			z[i] = math.Sin(float64((j + 1) * i * i))
		}
		must(t, tab.AddNumeric(lines[j], z))
	}
	var crossed []string // each with many columns, and a small part of all
	for j := range 5 {
		for i := range texts {
			texts[i] = fmt.Sprintf("l%d", (i*(j+1)+i/258)%258)
		}
		name := fmt.Sprintf("c%d", j)
		must(t, tab.AddTexts(name, slices.Clone(texts)))
		crossed = append(crossed, fmt.Sprintf(`s(%s,bs="re")`, name))
	}
	rows := all(t, tab, 60).Slice(0, 60)
	for formula, want := range map[string]struct {
		bands    decompose.Bands
		complete bool
	}{
		`~ s(x0,k=6) + x1 + g + te(x0,x1,k=4)`: {decompose.RobustBands, true},
		`~ s(x0,k=5) + x0 + x1 + g:x1 + e`:     {decompose.RowsBands, true}, // x0 and s(x0) are entangled
		`~ 0 + s(x2,k=6) + x1`:                 {decompose.ProjectionBands, true},
		`~ x1 + x2`:                            {decompose.NoBands, true},
		"~ " + strings.Join(lines, " + "):      {decompose.RobustBands, true},
		"~ " + strings.Join(crossed, " + "):    {decompose.RobustBands, true},
		`~ x1 + many`:                          {decompose.RobustBands, false},
	} {
		t.Run(formula, func(t *testing.T) {
			m := formulaModel(t, formula, tab, 2)
			r := decomposed(t, m, tab, &decompose.Options{Bands: want.bands})
			doc, moments := encode(t, r)
			whole, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
			must(t, err)
			from := &countedReader{from: bytes.NewReader(moments)}
			some, err := decompose.ReadBands(bytes.NewReader(doc), from, basis.Decode)
			must(t, err)
			if complete := 2*from.n < len(moments); complete != want.complete {
				t.Errorf("%d of %d bytes were read", from.n, len(moments))
			}
			if got, want := told(t, some, m, rows), told(t, whole, m, rows); got != want {
				t.Errorf("bands read alone:\n%s\nwith everything:\n%s", got, want)
			}
			if d, b := encode(t, whole); !bytes.Equal(d, doc) || !bytes.Equal(b, moments) {
				t.Error("what was read is not what was written")
			}
			if !want.complete || want.bands == decompose.NoBands {
				return
			}
			a, err := some.Applier(m)
			must(t, err)
			if _, err := a.SumEffect(context.Background(), 0, []int{1, 0}, rows); err == nil {
				t.Error("a sum of terms that was not kept has an effect")
			}
			for _, at := range []int{0, 20, from.n / 2, from.n - 1} {
				damaged := bytes.Clone(moments)
				damaged[at] ^= 1
				if got, err := decompose.ReadBands(bytes.NewReader(doc), bytes.NewReader(damaged), basis.Decode); err == nil {
					t.Errorf("byte %d is another one: accepted, %v", at, reflect.TypeOf(got))
				}
			}
			if _, err := decompose.ReadBands(bytes.NewReader(doc), bytes.NewReader(moments[:from.n/2]), basis.Decode); err == nil {
				t.Error("a file cut short is accepted")
			}
		})
	}
}
