package decompose

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
)

// Support says where rows lie for the terms of two features, and of one level of a factor
// by, so that curves and surfaces can end where there are none. nil sides, or no Support:
// the terms are of all rows and the range of each feature says all.
type Support struct {
	Sides []Side `json:"sides"`        // one or two, without by
	By    string `json:"by,omitempty"` // rows of By = Level only; "": all rows
	Level string `json:"level,omitempty"`
	Rows  int64  `json:"rows"`
	// Cells has a bit for each cell of two sides, set if a row lies in it: that of bin i of
	// the first side and j of the second is bit i*n+j, n being the bins of the second, in
	// byte (i*n+j)/8 from its lowest bit. The bins are SupportBins equal parts of the
	// feature's range (Feature.Min to Max, not the side's), or its levels. nil for one side.
	Cells []byte `json:"cells,omitempty"`
}

// Side is a feature on the rows of a Support; 0 and nil of a categorical one, and 0 without
// rows.
type Side struct {
	Feature   string    `json:"feature"`
	Min       float64   `json:"min"`
	Max       float64   `json:"max"`
	Quantiles []float64 `json:"quantiles,omitempty"` // as Feature.Quantiles, of these rows
}

// SupportBins is into how many equal parts Support.Cells divides a numeric feature.
const SupportBins = 64

// SupportOf is where the rows of t lie; nil if the ranges of its features say all, or
// nobody has looked (results of earlier versions, or before the last pass).
func (r *Result) SupportOf(t *TermResult) *Support {
	if r.labelled { // Support is in the data's names
		return t.rows
	}
	features, by, level := t.support()
	at := slices.IndexFunc(r.Support, func(s Support) bool {
		return s.By == by && s.Level == level && slices.EqualFunc(s.Sides, features, func(s Side, f string) bool { return s.Feature == f })
	})
	if at < 0 {
		return nil
	}
	return &r.Support[at]
}

// support names what a term's Support depends on; no features: it needs none.
func (t *TermResult) support() (features []string, by, level string) {
	for _, f := range t.Features {
		if !slices.Contains(features, f) {
			features = append(features, f)
		}
	}
	if s, ok := t.term.(interface{ By() (column, level string) }); ok {
		by, level = s.By()
	}
	if by != "" && len(features) > 1 {
		features = slices.DeleteFunc(features, func(f string) bool { return f == by })
	}
	if level == "" {
		by = ""
	}
	if len(features) > 2 || len(features) == 1 && level == "" {
		return nil, "", ""
	}
	return features, by, level
}

// supportPlan is what to look at in the last pass: terms that differ only in the level of
// their by are one area.
type supportPlan []supportArea

type supportArea struct {
	sides  []Feature
	by     string
	levels []string // of by; one "" without
}

func (r *Result) supportPlan() supportPlan {
	var plan supportPlan
	for k := range r.Predictors {
		for j := range r.Predictors[k].Terms {
			plan = plan.add(r, &r.Predictors[k].Terms[j])
		}
	}
	return plan
}

func (p supportPlan) add(r *Result, t *TermResult) supportPlan {
	const mostCells = 1 << 16 // of two sides: 8 kB
	names, by, level := t.support()
	var a supportArea
	cells, numeric := 1, false
	if by != "" && !slices.ContainsFunc(r.Features, func(f Feature) bool { return f.Name == by }) {
		return p
	}
	for _, name := range names {
		at := slices.IndexFunc(r.Features, func(f Feature) bool { return f.Name == name })
		if at < 0 {
			return p
		}
		a.sides = append(a.sides, r.Features[at])
		numeric = numeric || r.Features[at].Levels == nil
		cells *= r.Features[at].bins()
	}
	if !numeric || cells > mostCells {
		return p
	}
	at := slices.IndexFunc(p, func(o supportArea) bool {
		return o.by == by && slices.EqualFunc(o.sides, a.sides, func(s, t Feature) bool { return s.Name == t.Name })
	})
	if at < 0 {
		a.by = by
		p, at = append(p, a), len(p)
	}
	if !slices.Contains(p[at].levels, level) {
		p[at].levels = append(p[at].levels, level)
	}
	return p
}

// bins of Support.Cells.
func (f *Feature) bins() int {
	if f.Levels != nil {
		return len(f.Levels)
	}
	return SupportBins
}

// bin is the place of value v, or of level v, among them.
func (f *Feature) bin(v float64) int {
	if f.Levels != nil {
		return int(v)
	}
	if !(f.Max > f.Min) {
		return 0
	}
	return max(0, min(int((v-f.Min)*min(SupportBins/(f.Max-f.Min), math.MaxFloat64)), SupportBins-1))
}

// supportSums is what rows show of an area, by its levels.
type supportSums struct {
	rows     []int64
	min, max [][]float64 // by level, by side
	cells    [][]byte    // nil for one side
}

func (a *supportArea) sums() supportSums {
	n := len(a.levels)
	s := supportSums{rows: make([]int64, n), min: make([][]float64, n), max: make([][]float64, n)}
	for l := range n {
		s.min[l] = slices.Repeat([]float64{math.Inf(1)}, len(a.sides))
		s.max[l] = slices.Repeat([]float64{math.Inf(-1)}, len(a.sides))
		if len(a.sides) == 2 {
			s.cells = append(s.cells, make([]byte, (a.sides[0].bins()*a.sides[1].bins()+7)/8))
		}
	}
	return s
}

// count adds the rows of b.
func (s *supportSums) count(a *supportArea, b *data.Batch) error {
	level, err := a.levelOf(b)
	if err != nil {
		return err
	}
	x := make([][]float64, len(a.sides))
	for i := range a.sides {
		if x[i], err = a.sides[i].values(b); err != nil {
			return err
		}
	}
	for row := range b.Rows() {
		l := 0
		if level != nil {
			if l = int(level[row]); l < 0 {
				continue
			}
		}
		s.rows[l]++
		lo, hi := s.min[l], s.max[l]
		for i := range x {
			v := x[i][row]
			if v < lo[i] {
				lo[i] = v
			}
			if v > hi[i] {
				hi[i] = v
			}
		}
		if s.cells != nil && x[0][row] == x[0][row] && x[1][row] == x[1][row] {
			at := a.sides[0].bin(x[0][row])*a.sides[1].bins() + a.sides[1].bin(x[1][row])
			s.cells[l][at>>3] |= 1 << (at & 7)
		}
	}
	return nil
}

// levelOf gives each row's place among the area's levels, -1: none of them; nil without by.
func (a *supportArea) levelOf(b *data.Batch) ([]int32, error) {
	if a.by == "" {
		return nil, nil
	}
	if b.Categorical(a.by) {
		c, err := b.Codes(a.by)
		if err != nil {
			return nil, err
		}
		place, out := make([]int32, len(c.Levels)), make([]int32, len(c.Index))
		for i, level := range c.Levels {
			place[i] = int32(slices.Index(a.levels, level))
		}
		for i, code := range c.Index {
			out[i] = place[code]
		}
		return out, nil
	}
	x, err := b.Numeric(a.by)
	if err != nil {
		return nil, err
	}
	place, out := map[float64]int32{}, make([]int32, len(x))
	for i, level := range a.levels {
		if v, err := strconv.ParseFloat(level, 64); err == nil {
			place[v] = int32(i)
		}
	}
	for i, v := range x {
		at, ok := place[v]
		if !ok {
			at = -1
		}
		out[i] = at
	}
	return out, nil
}

// values are the numbers of a feature in the rows of b, or the places of their levels.
func (f *Feature) values(b *data.Batch) ([]float64, error) {
	if f.Levels == nil {
		return b.Numeric(f.Name)
	}
	c, err := b.Codes(f.Name)
	if err != nil {
		return nil, err
	}
	place, out := make([]float64, len(c.Levels)), make([]float64, len(c.Index))
	for i, level := range c.Levels {
		at, ok := slices.BinarySearch(f.Levels, level)
		if place[i] = float64(at); !ok {
			place[i] = math.NaN()
		}
	}
	for i, code := range c.Index {
		out[i] = place[code]
	}
	return out, nil
}

func (s *supportSums) merge(o supportSums) {
	for l := range s.rows {
		s.rows[l] += o.rows[l]
		for i := range s.min[l] {
			s.min[l][i], s.max[l][i] = min(s.min[l][i], o.min[l][i]), max(s.max[l][i], o.max[l][i])
		}
		if s.cells != nil {
			for i, bits := range o.cells[l] {
				s.cells[l][i] |= bits
			}
		}
	}
}

// supports are the results of an area; quantiles gives those of a side at a level.
func (s *supportSums) supports(a *supportArea, quantiles func(l, side int, lo, hi float64) []float64) []Support {
	var out []Support
	for l, level := range a.levels {
		u := Support{By: a.by, Level: level, Rows: s.rows[l]}
		for i, f := range a.sides {
			side := Side{Feature: f.Name}
			if f.Levels == nil && s.min[l][i] <= s.max[l][i] {
				side.Min, side.Max = s.min[l][i], s.max[l][i]
				if a.by != "" { // else they are the feature's
					side.Quantiles = quantiles(l, i, side.Min, side.Max)
				}
			}
			u.Sides = append(u.Sides, side)
		}
		if s.cells != nil {
			u.Cells = s.cells[l]
		}
		out = append(out, u)
	}
	return out
}

// checkSupport finds what a file says of where rows lie that cannot be.
func (r *Result) checkSupport() error {
	bins, sample := map[string]int{}, -1
	for i := range r.Features {
		f := &r.Features[i]
		bins[f.Name] = f.bins()
		if err := checkQuantiles(f.Quantiles, f.Min, f.Max); err != nil {
			return fmt.Errorf("decompose: feature %q: %w", f.Name, err)
		}
		if f.Sample == nil {
			continue
		}
		if sample >= 0 && len(f.Sample) != sample {
			return fmt.Errorf("decompose: feature %q: its sample has %d rows, that of another feature %d", f.Name, len(f.Sample), sample)
		}
		sample = len(f.Sample)
		for _, v := range f.Sample {
			if f.Levels != nil && (v < 0 || v >= float64(len(f.Levels)) || v != math.Trunc(v)) {
				return fmt.Errorf("decompose: feature %q: its sample has level %v of %d", f.Name, v, len(f.Levels))
			}
		}
	}
	for _, s := range r.Support {
		cells := 1
		for _, side := range s.Sides {
			if bins[side.Feature] == 0 {
				return fmt.Errorf("decompose: the support names feature %q, of which nothing is known", side.Feature)
			}
			cells *= bins[side.Feature]
			if err := checkQuantiles(side.Quantiles, side.Min, side.Max); err != nil {
				return fmt.Errorf("decompose: support of %q: %w", side.Feature, err)
			}
		}
		if len(s.Sides) != 1 && len(s.Sides) != 2 || s.Cells != nil && len(s.Cells) != (cells+7)/8 || (len(s.Sides) == 2) != (s.Cells != nil) {
			return fmt.Errorf("decompose: a support of %d features has %d bytes of cells", len(s.Sides), len(s.Cells))
		}
	}
	return nil
}

func checkQuantiles(q []float64, lo, hi float64) error {
	if q == nil {
		return nil
	}
	if len(q) < 2 || !slices.IsSorted(q) || q[0] != lo || q[len(q)-1] != hi {
		return fmt.Errorf("%d quantiles that do not ascend from %v to %v", len(q), lo, hi)
	}
	return nil
}

// Means are the weighted means over the training rows of term j's own columns (length Dim);
// nil: they are not known.
func (d *Predictor) Means(j int) []float64 {
	if d.mean == nil {
		return nil
	}
	lo := d.first(j)
	return slices.Clone(d.mean[lo : lo+len(d.Terms[j].Alpha)])
}

// Occurred tells for each row of b whether the training rows had its level, or its
// combination of levels, of term j, a factor: where they had not, the network alone says
// what the term is. nil: term j is no factor.
func (d *Predictor) Occurred(j int, b *data.Batch) ([]bool, error) {
	t := &d.Terms[j]
	factor, ok := t.term.(SparseTerm)
	if !ok || t.Kind != Factor {
		return nil, nil
	}
	x, err := factor.EvalSparse(b)
	if err != nil {
		return nil, err
	}
	codes, ok := x.(*design.Codes)
	if !ok {
		return nil, nil
	}
	out, lo := make([]bool, len(codes.Code)), d.first(j)
	for i, code := range codes.Code {
		out[i] = code >= 0 && (d.mean == nil || d.mean[lo+int(code)] > 0)
	}
	return out, nil
}
