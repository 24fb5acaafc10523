package decompose

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// bandsMagic begins moments.bin: what bands of terms and standard errors of coefficients need stands before all else, so that it
// can be read alone. There follow the number of bytes of the rest and whether it is complete (1; 0: a term has many columns,
// fewColumns). For each predictor: p means of columns (p = 0: nothing follows) and the intercept's variance; m and, on and above the
// diagonal, the covariance of its m Coefficients; the number of sums of terms, and of each its terms and those of the n
// coefficients of their pieces, on and above the diagonal, and with the intercept.
const bandsMagic = "bands/1\n"

// keptBands are the covariances of a predictor that was read without the whole one.
type keptBands struct {
	coefficients *mat.SymDense
	sums         []keptSum
}

// keptSum is the uncertainty of a sum of terms.
type keptSum struct {
	terms []int
	of    uncertainty
}

// writeBands writes the section and notes its hash.
func (r *Result) writeBands(w io.Writer) error {
	var body bytes.Buffer
	to := newNumberWriter(&body)
	complete := 1
	for k := range r.Predictors {
		d := &r.Predictors[k]
		c := d.covariance()
		if c == nil {
			to.count(0)
			continue
		}
		to.count(len(d.mean))
		to.numbers(d.mean...)
		to.numbers(c.variance)
		if !r.writeCoefficients(to, k) {
			complete = 0
		}
		sums, all := d.keptSums()
		if !all {
			complete = 0
		}
		to.count(len(sums))
		for _, s := range sums {
			to.count(len(s.terms))
			for _, j := range s.terms {
				to.count(j)
			}
			to.triangle(linalg.Dense(s.of.cov))
			to.numbers(s.of.intercept...)
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	hash := sha256.New()
	head := newNumberWriter(io.MultiWriter(w, hash))
	head.WriteString(bandsMagic)
	head.count(8 + body.Len())
	head.count(complete)
	head.Write(body.Bytes())
	if err := head.Flush(); err != nil {
		return err
	}
	r.BandsSHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// writeCoefficients reports whether the covariance of the coefficients is there.
func (r *Result) writeCoefficients(to *numberWriter, k int) bool {
	if names, _ := r.Predictors[k].coefficients(); len(names) < manyColumns {
		if v, err := r.CoefficientCovariance(k); err == nil {
			s := mat.NewSymDense(len(v), nil)
			for i, row := range v {
				for j := i; j < len(v); j++ {
					s.SetSym(i, j, row[j])
				}
			}
			to.triangle(s)
			return true
		}
	}
	to.count(0)
	return false
}

// keptSums are the terms and the groups of which only the sum is determined, as far as they have a covariance of few columns; all:
// that is every one that has any.
func (d *Predictor) keptSums() (sums []keptSum, all bool) {
	all = true
	for _, terms := range d.sumsOfTerms() {
		if !d.identified(terms) {
			continue
		}
		n := 0
		for _, p := range d.pieces(terms) {
			n += len(d.Terms[p.term].Alpha)
		}
		if !fewColumns(n, len(d.mean)) {
			all = false
			continue
		}
		u, err := d.uncertainty(terms...)
		if err != nil {
			all = false
			continue
		}
		sums = append(sums, keptSum{terms, *u})
	}
	return sums, all
}

// fewColumns tells whether covariances of n of p coefficients are kept apart from the others: those of all terms are a quarter of all
// covariances at most then, or few numbers.
func fewColumns(n, p int) bool { return n < manyColumns || 4*n <= p }

// sumsOfTerms are each term, and those that are entangled.
func (d *Predictor) sumsOfTerms() (sums [][]int) {
	for j := range d.Terms {
		sums = append(sums, []int{j})
	}
	for _, terms := range d.groups() {
		if len(terms) > 1 {
			sums = append(sums, terms)
		}
	}
	return sums
}

// uncertainty is the kept one of a sum of terms of d.
func (b *keptBands) uncertainty(d *Predictor, terms []int) (*uncertainty, error) {
	if !d.identified(terms) {
		return &uncertainty{}, nil
	}
	i := slices.IndexFunc(b.sums, func(s keptSum) bool { return slices.Equal(s.terms, terms) })
	if i < 0 {
		return nil, fmt.Errorf("decompose: predictor %q: the result was read for bands of its terms (ReadBands), which do not tell those of other sums of them: Read has all", d.Name)
	}
	return &b.sums[i].of, nil
}

// ReadBands is Read of what standard errors and bands of terms, of sums that are entangled and of Coefficients need: of moments
// only the beginning is read where that is enough, as it is unless a term has hundreds of columns. The result has the same
// numbers, but cannot be merged or written with its moments, and other sums of terms have no Effect.
func ReadBands(doc, moments io.Reader, decode func(Kind, json.RawMessage) (Term, error)) (*Result, error) {
	r, err := Read(doc, nil, decode)
	if err != nil {
		return nil, err
	}
	var seen bytes.Buffer
	complete, err := r.readBands(io.TeeReader(moments, &seen))
	if err == nil && !complete {
		err = r.readMoments(io.MultiReader(&seen, moments), moments)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// readBands reads the section; false: it is not there, as in files of earlier versions, or not complete, and nothing is set.
func (r *Result) readBands(from io.Reader) (complete bool, err error) {
	head := make([]byte, len(bandsMagic)+16)
	if _, err := io.ReadFull(from, head); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("decompose: reading the moments: %w", err)
	}
	numbers, ok := bytes.CutPrefix(head, []byte(bandsMagic))
	if !ok || r.BandsSHA256 == "" || binary.LittleEndian.Uint64(numbers[8:]) != 1 {
		return false, nil
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, from, int64(binary.LittleEndian.Uint64(numbers)&math.MaxInt64)-8); err != nil && err != io.EOF {
		return false, fmt.Errorf("decompose: reading the moments: %w", err)
	}
	hash := sha256.New()
	hash.Write(head)
	hash.Write(body.Bytes())
	if got := hex.EncodeToString(hash.Sum(nil)); got != r.BandsSHA256 {
		return false, fmt.Errorf("decompose: the bands that the moments begin with have sha256 %s, the decomposition was written with %q: they do not belong together", got, r.BandsSHA256)
	}
	short := errors.New("decompose: the moments file is cut short, or damaged")
	in := numberReader{rest: body.Bytes()}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		p := in.count()
		if p == 0 {
			continue
		}
		d.mean, d.kept = in.numbers(p), new(keptBands)
		variance := in.numbers(1)
		d.kept.coefficients = in.triangle()
		for range in.count() {
			var s keptSum
			for range in.count() {
				s.terms = append(s.terms, in.position(len(d.Terms)))
			}
			n := 0
			if cov := in.triangle(); cov != nil {
				s.of.cov, n = cov, cov.SymmetricDim()
			}
			s.of.intercept = in.numbers(n)
			if in.short {
				return false, short
			}
			s.of.variance = variance[0]
			for _, p := range d.pieces(s.terms) {
				lo := d.first(p.term)
				s.of.pieces = append(s.of.pieces, p.term)
				if hi := lo + len(d.Terms[p.term].Alpha); hi <= len(d.mean) {
					s.of.mean = append(s.of.mean, d.mean[lo:hi]...)
				}
			}
			if len(s.of.mean) != n {
				return false, fmt.Errorf("decompose: predictor %q: bands of %d columns, the terms have %d: they do not belong together", d.Name, n, len(s.of.mean))
			}
			d.kept.sums = append(d.kept.sums, s)
		}
	}
	if in.short || len(in.rest) > 0 {
		return false, short
	}
	return true, nil
}

// numberReader reads what a numberWriter wrote. Short: there was too little, and zeros are in its place.
type numberReader struct {
	rest  []byte
	short bool
}

// count is of what follows, of which each takes a byte or more.
func (in *numberReader) count() int { return in.below(max(len(in.rest)-8, 0) + 1) }

// position is one of n, which may be larger than what follows is long.
func (in *numberReader) position(n int) int { return in.below(n) }

// below is a whole number below n.
func (in *numberReader) below(n int) int {
	if len(in.rest) < 8 {
		in.short = true
		return 0
	}
	v := binary.LittleEndian.Uint64(in.rest)
	if in.rest = in.rest[8:]; v >= uint64(n) {
		in.short = true
		return 0
	}
	return int(v)
}

func (in *numberReader) numbers(n int) []float64 {
	out := make([]float64, n)
	in.into(out)
	return out
}

// into reads as many numbers as dst has.
func (in *numberReader) into(dst []float64) {
	n := len(dst)
	if n > len(in.rest)/8 {
		in.short = true
		return
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(in.rest[8*i:]))
	}
	in.rest = in.rest[8*n:]
}

// triangle is nil if there is none.
func (in *numberReader) triangle() *mat.SymDense {
	n := in.count()
	if n == 0 || n*(n+1)/2 > len(in.rest)/8 {
		in.short = in.short || n > 0
		return nil
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		in.into(upperRow(s, i))
	}
	return s
}
