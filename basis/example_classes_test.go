package basis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// fourier is a smooth before its data, bs = "fourier": a constant, and sine and cosine of
// the first harmonics of a period.
type fourier struct {
	harmonics int
	period    []float64 // two ends; nil: the range of the data
}

func newFourier(a *basis.Arguments) (basis.Multivariate, error) {
	if a.K != 0 && (a.K < 3 || a.K%2 == 0) {
		return nil, fmt.Errorf("k = %d: fourier takes an odd number, 3 or more", a.K)
	}
	f := fourier{harmonics: 3, period: a.Period}
	if a.K != 0 {
		f.harmonics = a.K / 2
	}
	return f, nil
}

func (f fourier) Class() string { return "fourier" }
func (f fourier) Limit() int    { return 0 } // no points: the range is enough

func (f fourier) Check(columns int) error {
	if columns != 1 {
		return errors.New("fourier takes one column")
	}
	if n := len(f.period); n != 0 && (n != 2 || f.period[0] >= f.period[1]) {
		return errors.New("period is two numbers that increase, as in period = c(0, 24)")
	}
	return nil
}

// Build gives the functions, and the integral of the squared second derivative as their
// penalty: it grows with the fourth power of the frequency and leaves the constant free.
func (f fourier) Build(s *basis.Sample) (basis.Evaluator, []*mat.SymDense, error) {
	from, to := s.Min[0], s.Max[0]
	if len(f.period) == 2 {
		from, to = f.period[0], f.period[1]
	}
	if from == to {
		return nil, nil, fmt.Errorf("column %q has one value", s.Columns[0])
	}
	w := waves{From: from, Period: to - from, Harmonics: f.harmonics}
	penalty := mat.NewSymDense(w.Dim(), nil)
	for j := 1; j <= f.harmonics; j++ {
		penalty.SetSym(2*j-1, 2*j-1, math.Pow(float64(j), 4))
		penalty.SetSym(2*j, 2*j, math.Pow(float64(j), 4))
	}
	return w, []*mat.SymDense{penalty}, nil
}

// waves is the basis that fourier builds.
type waves struct {
	From      float64 `json:"from"`
	Period    float64 `json:"period"`
	Harmonics int     `json:"harmonics"`
}

func (w waves) Dim() int { return 2*w.Harmonics + 1 }

func (w waves) Evaluate(dst []float64, stride int, x []float64) {
	for i, v := range x {
		row := dst[i*stride : i*stride+w.Dim()]
		row[0] = 1
		for j := 1; j <= w.Harmonics; j++ {
			angle := 2 * math.Pi * float64(j) * (v - w.From) / w.Period
			row[2*j-1], row[2*j] = math.Sin(angle), math.Cos(angle)
		}
	}
}

func (w waves) MarshalJSON() ([]byte, error) {
	type plain waves // without this method
	return json.Marshal(plain(w))
}

func decodeWaves(spec json.RawMessage, columns int) (basis.Evaluator, error) {
	var w waves
	if err := json.Unmarshal(spec, &w); err != nil {
		return nil, err
	}
	if columns != 1 || !(w.Period > 0) || w.Harmonics < 1 || w.Harmonics > 100 {
		return nil, errors.New("not a basis of waves")
	}
	return w, nil
}

// tide is the network of the example: what it computes from the hour is all in zeta.
type tide struct{}

func (tide) Predictors() []string         { return []string{"level"} }
func (tide) Columns() []string            { return []string{"hour"} }
func (tide) Intercept(int) float64        { return 0 }
func (tide) Blocks(int) []decompose.Block { return nil }
func (tide) Taps() map[string]int         { return nil }
func (tide) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	hour, err := b.Numeric("hour")
	if err != nil {
		return err
	}
	for i, h := range hour {
		level := 2 + 3*math.Sin(2*math.Pi*h/12)
		dst.Zeta.Set(i, 0, level)
		dst.Eta.Set(i, 0, level)
	}
	return nil
}

// A smooth class of one's own is given to Parse and to whoever reads artifacts; nothing
// is registered. The constraint, by, pc, sp and the rest are those of every smooth.
func ExampleClasses() {
	classes := basis.Classes{"fourier": {New: newFourier, Decode: decodeWaves, Cyclic: true}}
	hours := make([]float64, 48)
	for i := range hours {
		hours[i] = float64(i) / 2
	}
	rows := data.NewTable(len(hours))
	if err := rows.AddNumeric("hour", hours); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	f, err := basis.Parse(`~ s(hour, bs="fourier", k=5, period=c(0, 24))`, &basis.Options{Schema: rows.Schema(), Classes: classes})
	if err != nil {
		fmt.Println(err)
		return
	}
	blocks, err := decompose.Prepare(ctx, rows, f.Specs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := decompose.With(tide{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := decompose.Decompose(ctx, model, rows, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var artifact bytes.Buffer
	if err := result.Encode(&artifact); err != nil {
		fmt.Println(err)
		return
	}
	again, err := decompose.Read(&artifact, nil, classes.Decode)
	if err != nil {
		fmt.Println(err)
		return
	}
	term := again.Predictors[0].Terms[0]
	fmt.Printf("%s has %d columns, the sine of 12 hours is taken %.3f times\n", term.Name, len(term.Alpha), term.Alpha[3])

	_, err = basis.Parse(`~ s(hour, bs="furier")`, &basis.Options{Classes: classes})
	fmt.Println(err)
	// Output:
	// s(hour) has 5 columns, the sine of 12 hours is taken 3.000 times
	// formula, character 14: unknown basis "furier"; did you mean "fourier"? There are tp, ts, ps, cr, cs, cc, cp, bs, rbf, re, fs and fourier
	//   ~ s(hour, bs="furier")
	//                ^
}
