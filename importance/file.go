package importance

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/wire"
)

// kind is that of sums.
const kind = "importance/1"

// Kind names the type and its encoding.
func (s *sums) Kind() string { return kind }

// Add adds the sums of rows that follow. Those of another kind, other terms or another
// family are an error and leave s as it was.
func (s *sums) Add(next decompose.Sums) error {
	o, ok := next.(*sums)
	if !ok {
		return fmt.Errorf("importance: sums of the kind %q do not add up with %q", next.Kind(), kind)
	}
	if err := s.match(o); err != nil {
		return fmt.Errorf("importance: sums of different decompositions do not add up: %w", err)
	}
	for j := range s.refit {
		if err := s.refit[j].Merge(o.refit[j]); err != nil {
			return err
		}
	}
	s.w += o.w
	s.full.merge(o.full)
	s.prediction.merge(o.prediction)
	s.classes.merge(o.classes)
	s.constant.merge(o.constant)
	s.timed = s.timed.merge(o.timed)
	for k := range s.shares {
		s.shares[k].merge(&o.shares[k])
	}
	for j := range s.without {
		s.without[j].merge(o.without[j])
	}
	return nil
}

// match is an error if o is about other predictors, terms, drops, classes, constants or intervals.
func (s *sums) match(o *sums) error {
	terms := func(a, b shares) bool { return len(a.f) == len(b.f) }
	intervals := func(a, b *family.Exposure) bool { return a.New().Merge(b.New()) == nil }
	switch {
	case !slices.EqualFunc(s.shares, o.shares, terms):
		return fmt.Errorf("predictors of %d and of %d terms", s.terms(), o.terms())
	case len(s.without) != len(o.without):
		return fmt.Errorf("%d and %d features and terms to leave out", len(s.without), len(o.without))
	case len(s.classes.of) != len(o.classes.of):
		return fmt.Errorf("%d and %d classes", len(s.classes.of), len(o.classes.of))
	case !slices.EqualFunc(s.refit, o.refit, intervals):
		return fmt.Errorf("%d and %d baselines, or other intervals", len(s.refit), len(o.refit))
	case (s.constant == nil) != (o.constant == nil) || s.constant != nil && !slices.Equal(s.constant.points, o.constant.points):
		return fmt.Errorf("constants at %v and %v", s.constant.positions(), o.constant.positions())
	}
	return nil
}

// terms are the numbers of terms by predictor.
func (s *sums) terms() []int {
	n := make([]int, len(s.shares))
	for k := range n {
		n[k] = len(s.shares[k].f)
	}
	return n
}

// positions are the points, none if there is no constant.
func (c *constant) positions() []float64 {
	if c == nil {
		return nil
	}
	return c.points
}

// MarshalBinary writes s for DecodeSums.
func (s *sums) MarshalBinary() ([]byte, error) {
	b := wire.AppendNumbers(nil, []float64{s.w, s.full.loglik, s.full.deviance})
	b = wire.AppendNumbers(b, s.prediction.numbers())
	b = wire.AppendFloats(wire.AppendNumbers(b, []float64{s.classes.w, s.classes.right}), s.classes.of)
	b = wire.AppendFloats(b, s.constant.positions())
	if s.constant != nil {
		b = wire.AppendNumbers(b, s.constant.values)
	}
	b = wire.AppendInt(b, len(s.shares))
	for _, k := range s.shares {
		b = wire.AppendNumbers(wire.AppendFloats(b, k.f), k.fd)
		b = wire.AppendNumbers(b, []float64{k.d, k.dd})
	}
	b = wire.AppendInt(b, len(s.without))
	for _, f := range s.without {
		b = wire.AppendNumbers(b, []float64{f.loglik, f.deviance})
	}
	b = wire.AppendInt(b, len(s.refit))
	for _, e := range s.refit {
		raw, err := e.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("importance: %w", err)
		}
		b = wire.AppendText(b, raw)
	}
	if len(s.timed) > 0 {
		b = appendTimed(b, s.timed)
	}
	return b, nil
}

func (p *prediction) numbers() []float64 { return []float64{p.w, p.mean, p.ss, p.miss, p.base} }

// DecodeSums makes sums of what Visitor.Map returned and MarshalBinary wrote: it is a
// decompose.DecodeSums of the kind "importance/1". Other kinds and damaged bytes are errors.
func DecodeSums(of string, raw []byte) (decompose.Sums, error) {
	if of != kind {
		return nil, fmt.Errorf("importance: sums of the kind %q are none of this package", of)
	}
	r := wire.NewReader(raw)
	s := &sums{w: r.Float(), full: readFit(r)}
	s.prediction = prediction{r.Float(), r.Float(), r.Float(), r.Float(), r.Float()}
	s.classes = classes{r.Float(), r.Float(), r.Floats()}
	s.constant = readConstant(r)
	s.shares = make([]shares, r.Count(24))
	for k := range s.shares {
		s.shares[k] = readShares(r)
	}
	s.without = make([]fit, r.Count(16))
	for j := range s.without {
		s.without[j] = readFit(r)
	}
	for range r.Count(40) {
		e, err := family.DecodeExposure(r.Bytes())
		if err != nil {
			r.Fail("%w", err)
			break
		}
		s.refit = append(s.refit, e)
	}
	if len(s.refit) > 0 && len(s.refit) != dropped+len(s.without) {
		r.Fail("%d baselines for %d features and terms to leave out", len(s.refit), len(s.without))
	}
	s.timed = readTimed(r)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("importance: damaged sums: %w", err)
	}
	return s, nil
}

func readFit(r *wire.Reader) fit { return fit{r.Float(), r.Float()} }

func readConstant(r *wire.Reader) *constant {
	points := r.Floats()
	if len(points) == 0 || r.Left() < 8*len(points) {
		if len(points) > 0 {
			r.Fail("%d constants lack their fits", len(points))
		}
		return nil
	}
	c := &constant{points: points, values: make([]float64, len(points))}
	r.Numbers(c.values)
	return c
}

func readShares(r *wire.Reader) shares {
	s := shares{f: []float64{}, fd: []float64{}}
	if f := r.Floats(); len(f) > 0 && r.Left() >= 8*len(f) {
		s.f, s.fd = f, make([]float64, len(f))
		r.Numbers(s.fd)
	} else if len(f) > 0 {
		r.Fail("%d terms lack sums of products", len(f))
	}
	s.d, s.dd = r.Float(), r.Float()
	return s
}
