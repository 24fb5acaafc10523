package basis_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

func withFourier() basis.Classes {
	return basis.Classes{"fourier": {New: newFourier, Decode: decodeWaves, Cyclic: true}}
}

func classRows(t *testing.T, n int) *data.Batch {
	r := rand.New(rand.NewPCG(31, 1))
	b := data.NewBatch(n, 0)
	levels := data.Codes{Levels: []string{"low", "mid", "high"}}
	x, z := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = 24*r.Float64(), r.NormFloat64()
		levels.Index = append(levels.Index, int32(i%3))
	}
	for name, v := range map[string][]float64{"x": x, "z": z} {
		if err := b.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.SetCodes("g", levels); err != nil {
		t.Fatal(err)
	}
	return b
}

func classSchema() data.Schema {
	return data.Schema{{Name: "x", Numeric: true}, {Name: "z", Numeric: true}, {Name: "g", Categorical: true}}
}

// TestOtherClassesKeepTheLaws: a smooth class of another package has all that smooths of
// this one have, from the scan to the artifact.
func TestOtherClassesKeepTheLaws(t *testing.T) {
	classes, b := withFourier(), classRows(t, 60)
	for _, text := range []string{
		`~ s(x, bs="fourier")`, `~ s(x, bs="fourier", k=9, period=c(0,24))`, `~ s(x, bs="fourier", by=z)`, `~ s(x, bs="fourier", by=g, id="a")`,
		`~ s(x, bs="fourier", pc=3)`, `~ s(x, bs="fourier", sp=2)`, `~ s(x, bs="fourier", fx=TRUE)`,
		`~ te(x, z, bs=c("fourier","cr"), k=c(5,4), period=c(0,24))`, `~ ti(x, z, bs="fourier", k=3, by=g)`, `~ ti(x, z, bs=c("cr","fourier"), k=3)`,
		`~ te(x, z, bs=c("rbf","cr"), k=4)`,
	} {
		for _, selected := range []bool{false, true} {
			f, err := basis.Parse(text, &basis.Options{Schema: classSchema(), Classes: classes, Select: selected})
			if err != nil {
				t.Fatal(err)
			}
			if err := decomposetest.Spec(f.Specs[0], classes.Decode, b); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestOtherClassesRefuse(t *testing.T) {
	good := withFourier()["fourier"]
	for _, c := range []struct {
		classes    basis.Classes
		text, want string
	}{
		{basis.Classes{"tp": good}, `~ s(x)`, `basis: the smooth class "tp" is this package's own: give yours another name`},
		{basis.Classes{"re": good}, `~ s(x)`, `basis: the smooth class "re" is this package's own: give yours another name`},
		{basis.Classes{"": good}, `~ s(x)`, `basis: the name "" of a smooth class is empty or not UTF-8`},
		{basis.Classes{"a": {New: newFourier}}, `~ s(x)`, `basis: the smooth class "a" needs both New, for formulas, and Decode, for artifacts`},
		{basis.Classes{"a": good}, `~ s(x, bs="a")`, `s(x, bs = "a"): the smooth class "a" gives a smooth that calls itself "fourier", by which artifacts could not be read`},
		{basis.Classes{"a": {New: func(*basis.Arguments) (basis.Multivariate, error) { return nil, nil }, Decode: decodeWaves}}, `~ s(x, bs="a")`, `the smooth class "a" gives no smooth`},
		{withFourier(), `~ s(x, bs="fourier", k=4)`, `s(x, bs = "fourier", k = 4): k = 4: fourier takes an odd number, 3 or more`},
		{withFourier(), `~ s(x, z, bs="fourier")`, `s(x,z): fourier takes one column`},
		{withFourier(), `~ s(x, bs="fourier", period=3)`, `s(x): period is two numbers that increase, as in period = c(0, 24)`},
		{withFourier(), `~ s(x, z, bs="cr")`, `cr is a basis of one column; of several there are tp, ts, rbf and fourier`},
		{withFourier(), `~ te(x, z, bs="furier")`, `"furier" is no basis for a margin: there are tp, ts, ps, cr, cs, cc, cp, bs, rbf, fourier and re`},
		{withFourier(), `~ s(x, g, bs="fs", xt="fourier")`, `fs takes smooth classes of package basis, which "fourier" is not`},
		{withFourier(), `~ s(x, xt="fourier")`, `xt has no meaning for bs = "tp": of the bases here only "fs" has it, for that of each level`},
	} {
		_, err := basis.Parse(c.text, &basis.Options{Schema: classSchema(), Classes: c.classes})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestOtherClassesGetTheirArguments, xt among them, and what the scan has found.
func TestOtherClassesGetTheirArguments(t *testing.T) {
	var got basis.Arguments
	probe := &probe{limit: 5}
	classes := basis.Classes{"probe": {Decode: decodeWaves, New: func(a *basis.Arguments) (basis.Multivariate, error) {
		got = *a
		return probe, nil
	}}}
	f, err := basis.Parse(`~ s(x, z, bs="probe", k=7, m=c(2,1), knots=c(1,2), xt=c("haar", 3), sp=c(1,2))`, &basis.Options{Schema: classSchema(), Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Columns) != 2 || got.K != 7 || len(got.M) != 2 || len(got.Knots) != 2 || got.Period != nil || got.XT == nil || got.XT.Items[0].Text != "haar" {
		t.Errorf("arguments: %+v", got)
	}
	scan := f.Specs[0].Scanner()
	if err := scan.Scan(classRows(t, 60)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		e         basis.Evaluator
		penalties []*mat.SymDense
		want      string
	}{
		{waves{Harmonics: 1, Period: 1}, nil, `term s(x,z): 2 smoothing parameters for 0 penalties: give one for each, negative to have it chosen`},
		{waves{Harmonics: 1, Period: 1}, []*mat.SymDense{mat.NewSymDense(2, nil)}, `term s(x,z): penalty 1 of probe is 2 x 2 for 3 functions`},
		{waves{Harmonics: 1, Period: 1}, []*mat.SymDense{nil}, `term s(x,z): penalty 1 of probe is nil`},
		{waves{Harmonics: 1000, Period: 1}, nil, `term s(x,z): a basis of 2001 functions: 1 to 1000 are possible`},
		{nil, nil, `term s(x,z): the smooth class gives no basis`},
	} {
		probe.e, probe.penalties = c.e, c.penalties
		if _, err := scan.Build(); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	s := probe.seen
	if s.Rows != 60 || len(s.Points) != 2*len(s.Count) || len(s.Count) != 5 || len(s.Min) != 2 || !(s.Min[0] < s.Points[0]) {
		t.Errorf("the sample: %+v", s)
	}
}

// TestRangeAlone: a smooth that asks for no points gets none, and no note tells of a sample.
func TestRangeAlone(t *testing.T) {
	p := &probe{e: waves{Harmonics: 1, Period: 1}}
	scan := basis.Surface([]string{"x"}, p, nil).Scanner()
	if err := scan.Scan(classRows(t, 60)); err != nil {
		t.Fatal(err)
	}
	if _, err := scan.Build(); err != nil {
		t.Fatal(err)
	}
	if s := p.seen; s.Rows != 60 || len(s.Points) != 0 || len(s.Count) != 0 || !(s.Min[0] < s.Max[0]) {
		t.Errorf("the sample: %+v", s)
	}
	if notes := scan.(decompose.Noter).Notes(); len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
}

// probe keeps the sample that it is given, of limit points.
type probe struct {
	seen      *basis.Sample
	limit     int
	e         basis.Evaluator
	penalties []*mat.SymDense
}

func (*probe) Class() string   { return "probe" }
func (*probe) Check(int) error { return nil }
func (p *probe) Limit() int    { return p.limit }
func (p *probe) Build(s *basis.Sample) (basis.Evaluator, []*mat.SymDense, error) {
	p.seen = s
	return p.e, p.penalties, nil
}

// TestDecodeNeedsTheClass: an artifact of another package's class is read with that class
// alone, and by its Decode.
func TestDecodeNeedsTheClass(t *testing.T) {
	spec := json.RawMessage(`{"bs":"fourier","columns":["x"],"basis":{"from":0,"period":24,"harmonics":2}}`)
	if _, err := basis.Decode(decompose.Smooth, spec); err == nil || err.Error() != `basis: the spec of a smooth term: basis "fourier" is not known to this version: a smooth class of another package is known to the Decode of its basis.Classes` {
		t.Error(err)
	}
	term, err := withFourier().Decode(decompose.Smooth, spec)
	if err != nil || term.Dim() != 5 {
		t.Fatalf("%v, %v", term, err)
	}
	broken := basis.Classes{"fourier": {New: newFourier, Decode: func(json.RawMessage, int) (basis.Evaluator, error) { return nil, errors.New("broken") }}}
	if _, err := broken.Decode(decompose.Smooth, spec); err == nil || err.Error() != "basis: the spec of a smooth term: broken" {
		t.Error(err)
	}
}
