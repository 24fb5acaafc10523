package native

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/kernel"
)

// describe fills in what the plans take from the training rows: factors with
// their levels, means and standard deviations of numeric columns.
func (c *Config) describe(plans []*towerPlan, train *frame) error {
	for _, p := range plans {
		if p.of >= 0 {
			continue
		}
		if p.deep {
			c.splitFactors(p, train)
		}
		for i := range p.factors {
			if err := p.factors[i].describe(train); err != nil {
				return err
			}
		}
		for _, group := range p.columns {
			for _, name := range group[:p.numeric] {
				v, err := train.batch.Numeric(name)
				if err != nil {
					return err
				}
				mean, sd := meanSD(v)
				p.mean, p.sd = append(p.mean, mean), append(p.sd, sd)
			}
		}
	}
	return nil
}

// meanSD are mean and standard deviation; 1 for that of a constant.
func meanSD(v []float64) (mean, sd float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / n
	}
	if sd = math.Sqrt(sd); !(sd > 1e-12*math.Abs(mean)) {
		sd = 1
	}
	return mean, sd
}

// splitFactors orders the deep part's columns: numbers, then factors.
func (c *Config) splitFactors(p *towerPlan, train *frame) {
	var numeric, text []string
	for _, name := range p.columns[0] {
		col, _ := train.schema.Lookup(name)
		if col.Numeric && !slices.Contains(c.Deep.Factors, name) {
			numeric = append(numeric, name)
		} else {
			text = append(text, name)
		}
	}
	for _, name := range text {
		p.factors = append(p.factors, factorPlan{column: name, width: c.Deep.EmbeddingWidth})
	}
	p.numeric, p.columns = len(numeric), [][]string{append(numeric, text...)}
}

// describe fills in the levels of the training rows, and the width if it is 0.
func (f *factorPlan) describe(train *frame) error {
	level, err := levels(train.batch, f.column)
	if err != nil {
		return err
	}
	for i := range train.rows() {
		f.levels = append(f.levels, level(i))
	}
	slices.Sort(f.levels)
	f.levels = slices.Compact(f.levels)
	if f.width == 0 {
		f.width = min(8, (len(f.levels)+1)/2)
	}
	return nil
}

// inputs are the standardised numeric columns of a tower (n x inputs) and the
// codes of its factors at the rows of b.
func (p *towerPlan) read(b *data.Batch) (x []float64, codes [][]int32, err error) {
	if p.of >= 0 {
		return nil, nil, nil
	}
	n, w := b.Rows(), p.inputs()
	x = make([]float64, n*w)
	at := 0
	for _, group := range p.columns {
		for _, name := range group[:p.numeric] {
			v, err := b.Numeric(name)
			if err != nil {
				return nil, nil, err
			}
			for i, value := range v {
				if value-value != 0 {
					return nil, nil, fmt.Errorf("native: column %q is %v at data row %d: networks need finite numbers", name, value, b.Row(i)+1)
				}
				x[i*w+at] = (value - p.mean[at]) / p.sd[at]
			}
			at++
		}
	}
	for _, f := range p.factors {
		c, err := f.codes(b)
		if err != nil {
			return nil, nil, err
		}
		codes = append(codes, c)
	}
	return x, codes, nil
}

func (f *factorPlan) codes(b *data.Batch) ([]int32, error) {
	level, err := levels(b, f.column)
	if err != nil {
		return nil, err
	}
	codes := make([]int32, b.Rows())
	for i := range codes {
		at, ok := slices.BinarySearch(f.levels, level(i))
		if !ok {
			return nil, fmt.Errorf("native: column %q, data row %d: level %q was not among the training rows, which have %d: %.80q; leave such rows out or merge the level with another",
				f.column, b.Row(i)+1, level(i), len(f.levels), f.levels)
		}
		codes[i] = int32(at)
	}
	return codes, nil
}

// dataset is rows ready for training: everything the network reads, and what the
// loss compares with.
type dataset[T kernel.Float] struct {
	batch[T]
	*target
}

func newDataset[T kernel.Float](f *frame, t *target, plans []*towerPlan, parts []*structured) (*dataset[T], error) {
	d := &dataset[T]{target: t}
	d.n = f.rows()
	for _, p := range plans {
		x, codes, err := p.read(f.batch)
		if err != nil {
			return nil, err
		}
		d.x, d.codes = append(d.x, convert[T](x)), append(d.codes, codes)
	}
	for _, s := range parts {
		p := s.width()
		x := make([]float64, d.n*p)
		if p > 0 {
			if err := s.eval(x, p, f.batch); err != nil {
				return nil, err
			}
		}
		d.lines = append(d.lines, convert[T](x))
	}
	return d, nil
}

func convert[T kernel.Float](v []float64) []T {
	if w, ok := any(v).([]T); ok {
		return w
	}
	w := make([]T, len(v))
	for i, x := range v {
		w[i] = T(x)
	}
	return w
}

// gather copies the given rows into dst.
func (d *dataset[T]) gather(dst *dataset[T], rows []int) {
	n := len(rows)
	dst.n = n
	if dst.target == nil {
		dst.target = &target{}
		dst.x, dst.lines, dst.codes = make([][]T, len(d.x)), make([][]T, len(d.lines)), make([][][]int32, len(d.codes))
		for i := range d.codes {
			dst.codes[i] = make([][]int32, len(d.codes[i]))
		}
	}
	for i, x := range d.x {
		dst.x[i] = gatherRows(dst.x[i], x, len(x)/d.n, rows)
		for j, c := range d.codes[i] {
			dst.codes[i][j] = gatherRows(dst.codes[i][j], c, 1, rows)
		}
	}
	for k, x := range d.lines {
		dst.lines[k] = gatherRows(dst.lines[k], x, len(x)/d.n, rows)
	}
	dst.y, dst.w = gatherRows(dst.y, d.y, 1, rows), gatherRows(dst.w, d.w, 1, rows)
	if d.offset != nil {
		dst.offset = gatherRows(dst.offset, d.offset, 1, rows)
	}
}

func gatherRows[E any](dst, src []E, width int, rows []int) []E {
	if size := len(rows) * width; cap(dst) < size {
		dst = make([]E, size)
	} else {
		dst = dst[:size]
	}
	if width == 1 {
		for i, r := range rows {
			dst[i] = src[r]
		}
		return dst
	}
	for i, r := range rows {
		copy(dst[i*width:][:width], src[r*width:])
	}
	return dst
}

// part is rows i to j-1 without copying.
func (d *dataset[T]) part(i, j int) *dataset[T] {
	p := &dataset[T]{target: &target{y: d.y[i:j], w: d.w[i:j]}}
	p.n = j - i
	cut := func(x []T) []T {
		w := len(x) / d.n
		return x[i*w : j*w]
	}
	for k, x := range d.x {
		p.x = append(p.x, cut(x))
		var codes [][]int32
		for _, c := range d.codes[k] {
			codes = append(codes, c[i:j])
		}
		p.codes = append(p.codes, codes)
	}
	for _, x := range d.lines {
		p.lines = append(p.lines, cut(x))
	}
	if d.offset != nil {
		p.offset = d.offset[i:j]
	}
	return p
}
