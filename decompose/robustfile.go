package decompose

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// robustMagic begins what moments.bin holds of robust bands, behind the covariances of the
// projection, so that programs that do not know it read the rest. Its version is its last
// number. For each predictor follow p and, on and above the diagonal, the covariance (p x p),
// its p covariances with the intercept, and the intercept's variance; p is 0 without them. In files of version 2
// covariances have their kind (wholeCovariance).
const robustMagic = "robust/1\n"

// splitsMagic begins what follows the last predictor of the section if a predictor's terms are split from margins
// (splitCovariance): for each predictor m (0: nothing follows), with (p x m), own on and above the diagonal, and
// the intercept's (m).
const splitsMagic = "splits/1\n"

// writeRobust writes the section; nothing without robust bands.
func (r *Result) writeRobust(to *numberWriter, levelled bool) {
	if !r.Bands.Robust() {
		return
	}
	to.WriteString(robustMagic)
	for k := range r.Predictors {
		c := r.Predictors[k].robust
		if c == nil {
			to.count(0)
			continue
		}
		n := len(c.intercept)
		to.count(n)
		to.covariance(c.cov, r.Predictors[k].cov, levelled)
		to.numbers(c.intercept...)
		to.numbers(c.variance)
	}
	if !slices.ContainsFunc(r.Predictors, func(d Predictor) bool { return d.robust != nil && d.robust.splits != nil }) {
		return
	}
	to.WriteString(splitsMagic)
	for k := range r.Predictors {
		var c *splitCovariance
		if robust := r.Predictors[k].robust; robust != nil {
			c = robust.splits
		}
		if c == nil {
			to.count(0)
			continue
		}
		p, m := c.with.Dims()
		to.count(m)
		for i := range p {
			to.numbers(c.with.RawRowView(i)...)
		}
		for i := range m {
			to.numbers(upperRow(c.own, i)...)
		}
		to.numbers(c.intercept...)
	}
}

// readSplits reads what follows splitsMagic.
func (r *Result) readSplits(rest []byte) ([]byte, error) {
	short := errShortMoments
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if len(rest) < 8 {
			return nil, short
		}
		n := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		if n == 0 {
			continue
		}
		p := len(d.mean)
		if d.robust == nil || n > uint64(len(rest)/8/max(p, 1)) || n*uint64(p)+n*(n+3)/2 > uint64(len(rest)/8) {
			return nil, short
		}
		m := int(n)
		next := func() float64 {
			v := math.Float64frombits(binary.LittleEndian.Uint64(rest))
			rest = rest[8:]
			return v
		}
		c := &splitCovariance{with: mat.NewDense(p, m, nil), own: mat.NewSymDense(m, nil), intercept: make([]float64, m)}
		for i := range p {
			for j := range m {
				c.with.Set(i, j, next())
			}
		}
		for i := range m {
			for j := i; j < m; j++ {
				c.own.SetSym(i, j, next())
			}
		}
		for i := range m {
			c.intercept[i] = next()
		}
		d.robust.splits = c
	}
	return rest, nil
}

// readRobust reads the section, which raw is, whole or empty.
func (r *Result) readRobust(raw []byte, levelled bool) error {
	rest, ok := bytes.CutPrefix(raw, []byte(robustMagic))
	if len(raw) == 0 || !ok {
		if r.Bands.Robust() {
			return errors.New("decompose: the moments hold no robust bands, or of a later version, and the decomposition has some: they do not belong together")
		}
		return nil
	}
	if !r.Bands.Robust() {
		return errors.New("decompose: the moments hold robust bands, the decomposition has none: they do not belong together")
	}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if len(rest) < 8 {
			return errShortMoments
		}
		n := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		if n == 0 {
			continue
		}
		if n != uint64(len(d.mean)) {
			return fmt.Errorf("decompose: predictor %q: robust bands of %d columns, the covariance is of %d", d.Name, n, len(d.mean))
		}
		from, p := &numberReader{rest: rest}, len(d.mean)
		c := &robustCovariance{cov: from.covariance(p, d.cov, levelled), intercept: from.numbers(p)}
		c.variance = from.numbers(1)[0]
		if rest = from.rest; from.short {
			return errShortMoments
		}
		d.robust = c
	}
	if splits, ok := bytes.CutPrefix(rest, []byte(splitsMagic)); ok {
		var err error
		if rest, err = r.readSplits(splits); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("decompose: %d bytes follow the moments: the file is damaged", len(rest))
	}
	return nil
}
