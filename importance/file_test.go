package importance_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// summed are decompositions of every kind of sums.
func summed(t testing.TB, n int) map[string]func() (decompose.Model, data.Source, *decompose.Options) {
	one, two := oneHead(), oneHead()
	two.predictors, two.coef = []string{"mu", "sigma"}, []map[string]float64{{"a": 0.7, "b": -0.4}, {"a": 0.1}}
	three := oneHead()
	three.predictors, three.coef = []string{"x", "y", "z"}, []map[string]float64{{"a": 0.7}, {"b": -0.4}, {}}
	return map[string]func() (decompose.Model, data.Source, *decompose.Options){
		"none": func() (decompose.Model, data.Source, *decompose.Options) {
			return one, rows(t, one, n, 1, gaussianNoise), &decompose.Options{}
		},
		"poisson with offset": func() (decompose.Model, data.Source, *decompose.Options) {
			return one, rows(t, one, n, 2, poissonDraw), options(family.Poisson{})
		},
		"two predictors": func() (decompose.Model, data.Source, *decompose.Options) {
			return two, rows(t, two, n, 3, gaussianNoise), options(family.GaussianLS{})
		},
		"classes": func() (decompose.Model, data.Source, *decompose.Options) {
			f, err := family.NewCategorical(3, -1)
			must(t, err)
			return three, rows(t, three, n, 4, func(r *rand.Rand, _ []float64) float64 { return float64(r.IntN(3)) }), options(f)
		},
		"censored": func() (decompose.Model, data.Source, *decompose.Options) {
			return one, censored(t, rows(t, one, n, 5, positiveNoise), n), withEvents(mustParse("weibull(scale=0.8)"))
		},
		"held": func() (decompose.Model, data.Source, *decompose.Options) {
			return one, rows(t, one, n, 6, positiveNoise), options(mustParse("tweedie(p=1.5)"))
		},
		"cox": func() (decompose.Model, data.Source, *decompose.Options) {
			src := censored(t, rows(t, one, n, 7, positiveNoise), n)
			o := withEvents(mustParse("cox(intervals=12)"))
			fam, err := decompose.EstimateFamily(context.Background(), one, src, o)
			must(t, err)
			o.Family = fam
			return one, src, o
		},
	}
}

// TestAnyOrder: sums of chunks, an empty and a missing one among them, have the same bytes in
// any order and grouping, and say what one pass over the rows in order says.
func TestAnyOrder(t *testing.T) {
	for name, of := range summed(t, 2500) {
		t.Run(name, func(t *testing.T) {
			m, src, o := of()
			r, parts := measure(t, m, src, o)
			v := importance.New(o.Family)
			must(t, v.Begin(r))
			chunks := sumstest.Chunks(t, parts, 150)
			chunks = append(chunks[:3:3], append([]*decompose.Parts{sumstest.Empty(t, parts[0]), nil}, chunks[3:]...)...)
			sums := func(i int) decompose.Sums {
				if chunks[i] == nil {
					return nil
				}
				s, err := v.Map(chunks[i])
				must(t, err)
				return s.(decompose.Sums)
			}
			sumstest.AnyOrder(t, len(chunks), 12, sums, importance.DecodeSums)

			total := sumstest.Total(t, len(chunks), sums)
			raw := sumstest.Bytes(t, total)
			if len(parts) != 1 {
				t.Fatalf("%d chunks, not one", len(parts))
			}
			whole, err := v.Map(parts[0])
			must(t, err)
			if diff := cmp.Diff(numbers(sumstest.Bytes(t, whole.(decompose.Sums))), numbers(raw), cmpopts.EquateApprox(1e-11, 1e-12), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("sums over all rows are otherwise: %s", diff)
			}
			for i := 4; i < len(chunks); i++ {
				if chunks[i] == nil {
					continue
				}
				s := sums(3) // of no rows
				must(t, s.Add(sums(i)))
				if !bytes.Equal(sumstest.Bytes(t, s), sumstest.Bytes(t, sums(i))) {
					t.Errorf("an empty chunk shows in the sums beside chunk %d", i)
				}
			}
			sumstest.Damaged(t, total.Kind(), raw, importance.DecodeSums)
			one := judged(t, r, o, []decompose.Sums{total})
			var inOrder []decompose.Sums
			for i := range chunks {
				if s := sums(i); s != nil {
					inOrder = append(inOrder, s)
				}
			}
			for what, want := range map[string]any{"in one pass": entries(t, r), "in order of rows": judged(t, r, o, inOrder)} {
				if diff := cmp.Diff(want, one, cmpopts.EquateApprox(1e-10, 1e-12)); diff != "" {
					t.Errorf("%s otherwise: %s", what, diff)
				}
			}
		})
	}
}

// numbers are raw's, of which all, counts too, take 8 bytes.
func numbers(raw []byte) []float64 {
	v := make([]float64, len(raw)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return v
}

// judged are the figures of r when the parts are added.
func judged(t testing.TB, r *decompose.Result, o *decompose.Options, parts []decompose.Sums) any {
	t.Helper()
	v, out := importance.New(o.Family), *r
	out.Prediction, out.Predictors = nil, append([]decompose.Predictor(nil), r.Predictors...)
	must(t, v.Begin(&out))
	for _, s := range parts {
		must(t, v.Reduce(s))
	}
	must(t, v.End(&out))
	return entries(t, &out)
}

// entries are all that a Visitor writes.
func entries(t testing.TB, r *decompose.Result) any {
	t.Helper()
	all := []any{r.Prediction}
	for _, d := range r.Predictors {
		all = append(all, d.Importance)
	}
	raw, err := json.Marshal(all)
	must(t, err)
	var plain any
	must(t, json.Unmarshal(raw, &plain))
	return plain
}

// Sums of other terms, families and kinds do not add up.
func TestOtherSumsAreRefused(t *testing.T) {
	all := map[string]decompose.Sums{}
	for name, of := range summed(t, 2500) {
		m, src, o := of()
		r, parts := measure(t, m, src, o)
		v := importance.New(o.Family)
		must(t, v.Begin(r))
		s, err := v.Map(parts[0])
		must(t, err)
		all[name] = s.(decompose.Sums)
	}
	for a, s := range all {
		before := string(sumstest.Bytes(t, s))
		for b, other := range all {
			if a == b || a == "held" || b == "held" { // which has the shape of poisson with offset
				continue
			}
			if err := s.Add(other); err == nil {
				t.Errorf("%s and %s were added", a, b)
			}
		}
		if err := s.Add(foreign{}); err == nil || string(sumstest.Bytes(t, s)) != before {
			t.Errorf("%s: sums of another package were added, or left traces: %v", a, err)
		}
	}
}

// foreign are sums of another package.
type foreign struct{}

func (foreign) Kind() string                   { return "foreign/1" }
func (foreign) Add(decompose.Sums) error       { return nil }
func (foreign) MarshalBinary() ([]byte, error) { return nil, nil }

func FuzzDecodeSums(f *testing.F) {
	for _, of := range summed(f, 100) {
		m, src, o := of()
		r, parts := measure(f, m, src, o)
		v := importance.New(o.Family)
		must(f, v.Begin(r))
		s, err := v.Map(parts[0])
		must(f, err)
		f.Add(sumstest.Bytes(f, s.(decompose.Sums)))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, "importance/1", raw, importance.DecodeSums) })
}
