package decompose

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Encode writes the result as indented JSON (decomposition.json), which ends in a
// digest of itself (see Sign). Equal results are equal bytes.
func (r *Result) Encode(w io.Writer) error {
	for _, d := range r.Predictors {
		for _, t := range d.Terms {
			if t.Spec == nil {
				return fmt.Errorf("decompose: term %q cannot be written: its basis does not implement json.Marshaler", t.Name)
			}
		}
	}
	var compact bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("decompose: writing the decomposition: %w", err)
	}
	doc, err := signed(bytes.TrimSpace(compact.Bytes()))
	if err != nil {
		return err
	}
	_, err = w.Write(doc)
	return err
}

// Read reads a document of Encode, and refuses one that was changed and not signed (ErrDigest,
// Sign). decode rebuilds a term from its kind and spec (basis.Decode does for all terms of this
// module). moments holds what EncodeMoments wrote; nil leaves the result without covariance, and so
// without standard errors, and unable to merge.
func Read(doc, moments io.Reader, decode func(Kind, json.RawMessage) (Term, error)) (*Result, error) {
	raw, err := readAll(doc, doc)
	if err != nil {
		return nil, fmt.Errorf("decompose: reading the decomposition: %w", err)
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("decompose: not a decomposition: %w", err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("decompose: format %q is not readable here, this is %q; is the file from a later version?", r.Format, Format)
	}
	if err := checkDigest(raw); err != nil {
		return nil, err
	}
	for k := range r.Predictors {
		r.Predictors[k].fromWords()
	}
	for i := range r.Sets {
		r.Sets[i].fromWords()
	}
	r.findLinks()
	if err := r.decodeTerms(decode); err != nil {
		return nil, err
	}
	if err := r.checkMembers(); err != nil {
		return nil, err
	}
	if err := r.checkReasons(); err != nil {
		return nil, err
	}
	if err := r.checkSupport(); err != nil {
		return nil, err
	}
	if moments != nil {
		if err := r.readMoments(moments, moments); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

func (r *Result) decodeTerms(decode func(Kind, json.RawMessage) (Term, error)) error {
	if len(r.Predictors) == 0 {
		return errors.New("decompose: the decomposition has no predictors")
	}
	made := map[string]Term{} // equal specs are one term, evaluated once
	var faults []error
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for j := range d.Terms {
			t := &d.Terms[j]
			key := string(t.Kind) + string(t.Spec)
			term, ok := made[key]
			if !ok {
				var err error
				if term, err = decode(t.Kind, t.Spec); err != nil {
					faults = append(faults, fmt.Errorf("decompose: term %q: %w", t.Name, err))
					continue
				}
				made[key] = term
			}
			t.term = term
			if dim := term.Dim(); len(t.Alpha) != dim || len(t.Beta) != dim {
				faults = append(faults, fmt.Errorf("decompose: term %q has %d and %d coefficients for %d columns", t.Name, len(t.Beta), len(t.Alpha), dim))
			}
		}
	}
	for k := range r.Predictors {
		faults = append(faults, r.Predictors[k].checkMargins()...)
	}
	return errors.Join(faults...)
}

// momentsMagic begins moments.bin: its version is its last byte, 2 if a covariance is of many levels.
const (
	momentsMagic  = "pho.moments/1\n"
	levelledMagic = "pho.moments/2\n"
)

// EncodeMoments writes what bands need (ReadBands), the moments and the covariances of the coefficients
// (moments.bin), and notes their hashes in r: call it before Encode.
func (r *Result) EncodeMoments(w io.Writer) error {
	if r.sum == nil {
		return errors.New("decompose: the result has no moments: it was read without them")
	}
	sum, err := r.sum.MarshalBinary()
	if err != nil {
		return err
	}
	hash := sha256.New()
	all := io.MultiWriter(w, hash)
	if err := r.writeBands(all); err != nil {
		return err
	}
	to := newNumberWriter(all)
	levelled := r.levelled()
	if levelled {
		to.WriteString(levelledMagic)
	} else {
		to.WriteString(momentsMagic)
	}
	to.count(len(sum))
	to.Write(sum)
	for _, d := range r.Predictors {
		n := len(d.mean)
		if d.cov == nil {
			n = 0
		}
		to.count(n)
		switch {
		case n == 0:
		case levelled:
			to.numbers(d.mean...)
			to.covariance(d.cov, nil, true)
		default:
			for i := range n {
				to.numbers(d.mean[i])
				to.numbers(upperRow(linalg.Dense(d.cov), i)...)
			}
		}
	}
	r.writeRobust(to, levelled)
	if err := to.Flush(); err != nil {
		return err
	}
	r.MomentsSHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// numberWriter writes numbers as eight bytes each, the lowest first. Flush has the error of whatever failed.
type numberWriter struct {
	*bufio.Writer
	row []byte
}

func newNumberWriter(w io.Writer) *numberWriter {
	return &numberWriter{Writer: bufio.NewWriterSize(w, 1<<18)}
}

func (w *numberWriter) count(n int) { w.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

func (w *numberWriter) numbers(v ...float64) {
	w.row = w.row[:0]
	for _, x := range v {
		w.row = binary.LittleEndian.AppendUint64(w.row, math.Float64bits(x))
	}
	w.Write(w.row)
}

// triangle writes the size of s and what is on and above its diagonal, row by row.
func (w *numberWriter) triangle(s *mat.SymDense) {
	n := s.SymmetricDim()
	w.count(n)
	for i := range n {
		w.numbers(upperRow(s, i)...)
	}
}

// upperRow is row i of s from the diagonal on, in its memory.
func upperRow(s *mat.SymDense, i int) []float64 {
	raw := s.RawSymmetric()
	return raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
}

// readMoments reads what from has left of file.
func (r *Result) readMoments(from, file io.Reader) error {
	raw, err := readAll(from, file)
	if err != nil {
		return fmt.Errorf("decompose: reading the moments: %w", err)
	}
	hash := sha256.Sum256(raw)
	if got := hex.EncodeToString(hash[:]); r.MomentsSHA256 != "" && got != r.MomentsSHA256 {
		return fmt.Errorf("decompose: the moments have sha256 %s, the decomposition was written with %q: they do not belong together", got, r.MomentsSHA256)
	}
	if bands, ok := bytes.CutPrefix(raw, []byte(bandsMagic)); ok { // the whole covariances tell as much
		in := numberReader{rest: bands}
		n := in.count()
		raw = in.rest[n:]
	}
	raw, ok := bytes.CutPrefix(raw, []byte(momentsMagic))
	levelled := false
	if !ok {
		raw, levelled = bytes.CutPrefix(raw, []byte(levelledMagic))
	}
	if !ok && !levelled {
		return fmt.Errorf("decompose: not a moments file of this version (it begins %q)", strings.TrimSuffix(momentsMagic, "\n"))
	}
	take := func() (uint64, bool) {
		if len(raw) < 8 {
			return 0, false
		}
		v := binary.LittleEndian.Uint64(raw)
		raw = raw[8:]
		return v, true
	}
	size, ok := take()
	if !ok || size > uint64(len(raw)) {
		return errShortMoments
	}
	r.sum = new(moments.Sum)
	if err := r.sum.UnmarshalBinary(raw[:size]); err != nil {
		return err
	}
	raw = raw[size:]
	weight := r.sum.Weight()
	for k := range r.Predictors {
		d := &r.Predictors[k]
		d.sumW = weight
		n, ok := take()
		if !ok || n > uint64(len(raw)/8) || !levelled && n*(n+3)/2 > uint64(len(raw)/8) {
			return errShortMoments
		}
		want := 0
		for _, t := range d.Terms {
			want += len(t.Alpha)
		}
		if n == 0 {
			continue
		}
		if int(n) != want {
			return fmt.Errorf("decompose: predictor %q: the covariance is of %d columns, the terms have %d", d.Name, n, want)
		}
		from := &numberReader{rest: raw}
		if levelled {
			d.mean = from.numbers(want)
			d.cov = from.covariance(want, nil, true)
		} else {
			cov := mat.NewSymDense(want, nil)
			for i := range want {
				d.mean = append(d.mean, from.numbers(1)...)
				from.into(upperRow(cov, i))
			}
			d.cov = cov
		}
		if raw = from.rest; from.short {
			return errShortMoments
		}
		if d.Hierarchy != nil {
			d.split = r.splitting(k)
		}
	}
	if err := r.readRobust(raw, levelled); err != nil {
		return err
	}
	for k := range r.Predictors {
		r.Predictors[k].tellGiven() // which files of earlier versions do not say
	}
	return nil
}

// readAll is io.ReadAll of from, what is left of file, into memory of the right size if that is one.
func readAll(from, file io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := file.(fs.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(from)
	return b.Bytes(), err
}
