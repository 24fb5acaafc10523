package decompose

import (
	"cmp"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
)

// How many rows quantiles are taken from, how many quantiles there are, and how many rows
// are kept in the artifact. 2048 rows tell the share of rows below a value to 1.1 %, one
// standard deviation, and cost a pass some 0.2 ms for each feature, whatever the rows.
const (
	quantileRows  = 2048
	quantileSteps = 50
	keptRows      = 400
)

// rowSample are the features' values in the rows whose numbers have the least hashes: the
// same rows in whatever order and parts the rows come.
type rowSample struct {
	hash  []uint64
	value [][]float64 // by sampled row, by feature
}

// sampleBelow is a hash that some more than quantileRows of n rows lie below.
func sampleBelow(n int64) uint64 {
	if share := 1.25 * quantileRows / float64(n); share < 1 {
		return uint64(share * math.MaxUint64)
	}
	return math.MaxUint64
}

// rowHash is SplitMix64 of the number.
func rowHash(row int64) uint64 {
	z := uint64(row)*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// add takes in the rows of b whose hash is below the bound.
func (s *rowSample) add(features []Feature, b *data.Batch, below uint64) error {
	var rows []int
	for i := range b.Rows() {
		if h := rowHash(b.Row(i)); h <= below {
			rows, s.hash = append(rows, i), append(s.hash, h)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	first := len(s.value)
	all := make([]float64, len(rows)*len(features))
	for i := range rows {
		s.value = append(s.value, all[i*len(features):(i+1)*len(features)])
	}
	for j := range features {
		f := &features[j]
		if f.Levels != nil {
			c, err := b.Codes(f.Name)
			if err != nil {
				return err
			}
			for i, row := range rows {
				s.value[first+i][j] = f.Position(c.Levels[c.Index[row]])
			}
			continue
		}
		x, err := b.Numeric(f.Name)
		if err != nil {
			return err
		}
		for i, row := range rows {
			s.value[first+i][j] = x[row]
		}
	}
	return nil
}

func (s *rowSample) merge(o rowSample) {
	s.hash, s.value = append(s.hash, o.hash...), append(s.value, o.value...)
	if len(s.hash) > 4*quantileRows {
		s.trim()
	}
}

// trim leaves the rows of the least hashes, in their order.
func (s *rowSample) trim() {
	type sampled struct {
		hash  uint64 // another for every row number
		value []float64
	}
	all := make([]sampled, len(s.hash))
	for i := range all {
		all[i] = sampled{s.hash[i], s.value[i]}
	}
	slices.SortFunc(all, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), slices.Compare(a.value, b.value)) // a row that is there twice
	})
	all = all[:min(len(all), quantileRows)]
	s.hash, s.value = s.hash[:0], s.value[:0]
	for _, row := range all {
		s.hash, s.value = append(s.hash, row.hash), append(s.value, row.value)
	}
}

// quantiles are values of feature j at equal steps of the sampled rows for which in holds
// (nil: all), from lo to hi; nil if there is none.
func (s *rowSample) quantiles(j int, lo, hi float64, in func(row []float64) bool) []float64 {
	var x []float64
	for _, row := range s.value {
		if v := row[j]; v == v && (in == nil || in(row)) {
			x = append(x, v)
		}
	}
	if len(x) == 0 || !(lo < hi) {
		return nil
	}
	slices.Sort(x)
	q := make([]float64, quantileSteps+1)
	for i := range q {
		q[i] = x[int(math.Round(float64(i)/quantileSteps*float64(len(x)-1)))]
	}
	q[0], q[quantileSteps] = lo, hi
	return q
}

// placed writes into r where the rows of its features and terms lie.
func (s *rowSums) placed(r *Result) {
	s.sample.trim()
	column := map[string]int{}
	for j := range r.Features {
		f := &r.Features[j]
		column[f.Name], f.Sample, f.Quantiles = j, nil, nil
		if f.Levels == nil {
			f.Quantiles = s.sample.quantiles(j, f.Min, f.Max, nil)
		}
	}
	r.Support = nil
	for i := range s.support {
		a := &s.areas[i]
		by := column[a.by]
		r.Support = append(r.Support, s.support[i].supports(a, func(l, side int, lo, hi float64) []float64 {
			is := r.Features[by].Position(a.levels[l])
			return s.sample.quantiles(column[a.sides[side].Name], lo, hi, func(row []float64) bool { return row[by] == is })
		})...)
		if len(a.sides) == 2 {
			for _, name := range append([]string{a.by}, a.sides[0].Name, a.sides[1].Name) {
				if j, ok := column[name]; ok && r.Features[j].Sample == nil {
					r.Features[j].Sample = s.sample.kept(j)
				}
			}
		}
	}
}

// kept are the first values of feature j, nil if one is missing.
func (s *rowSample) kept(j int) []float64 {
	out := make([]float64, min(len(s.value), keptRows))
	for i := range out {
		if out[i] = s.value[i][j]; out[i] != out[i] {
			return nil
		}
	}
	return out
}
