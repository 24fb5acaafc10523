package decompose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/wire"
)

// LinearTerm is the identity basis of one numeric column: d = 1.
type LinearTerm struct{ Column string }

// Name is the column's.
func (t *LinearTerm) Name() string { return t.Column }

// Kind is Linear.
func (t *LinearTerm) Kind() Kind { return Linear }

// Columns is the column alone.
func (t *LinearTerm) Columns() []string { return []string{t.Column} }

// Dim is 1.
func (t *LinearTerm) Dim() int { return 1 }

// Eval copies the column into dst (n x 1).
func (t *LinearTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	x, err := b.Numeric(t.Column)
	if err != nil {
		return fmt.Errorf("term %s: %w", t.Name(), err)
	}
	dst.SetCol(0, x)
	return nil
}

// EvalSparse is the column itself, in b's memory.
func (t *LinearTerm) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse; old is overwritten if it is what an earlier call
// returned, its numbers are not.
func (t *LinearTerm) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	x, err := b.Numeric(t.Column)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", t.Name(), err)
	}
	view, ok := old.(design.Dense)
	if !ok {
		view = design.Dense{Dense: &mat.Dense{}}
	}
	view.SetRawMatrix(blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x})
	return view, nil
}

// MarshalJSON writes the term's spec.
func (t *LinearTerm) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"column": t.Column})
}

// Tap is a basis the network learned: the columns of a tensor that the model
// adds to each batch. Its values depend on the features through the network.
type Tap struct {
	Tensor   string   // name in Model.Taps
	Features []string // the data columns it depends on
	Width    int
	// Means are those over all features but one, if features were independent of each other: by the name of a term of that one,
	// the coefficients (columns of that term x Width) of its functions nearest to the means of each of t's columns, but for
	// constants (WithMeans). nil: they are not known.
	Means map[string]*mat.Dense
	// Pieces, if not nil, are the columns as functions of one number, and the tensor holds that number (n x 1) in
	// their place: what a network computes of one column, if its activations rectify. They are no part of the artifact,
	// but the model's, whose blocks have them.
	Pieces *design.Pieces
}

// Name is f(x1,x2) of its features.
func (t *Tap) Name() string { return "f(" + strings.Join(t.Features, ",") + ")" }

// Kind is Learned.
func (t *Tap) Kind() Kind { return Learned }

// Columns are the features, shared with t: the values come from the tensor.
func (t *Tap) Columns() []string { return t.Features }

// Dim is the number of columns.
func (t *Tap) Dim() int { return t.Width }

// Eval copies the tensor, or its Pieces, into dst (n x Width).
func (t *Tap) Eval(dst *mat.Dense, b *data.Batch) error {
	m, err := t.tensor(b)
	if err != nil {
		return err
	}
	if t.Pieces != nil {
		raw := m.RawMatrix()
		t.Pieces.Eval(dst, raw.Data, raw.Stride, raw.Rows)
		return nil
	}
	dst.Copy(m)
	return nil
}

// EvalSparse is the tensor itself, in b's memory, or its Pieces.
func (t *Tap) EvalSparse(b *data.Batch) (design.Columns, error) { return t.EvalSparseInto(nil, b) }

// EvalSparseInto is EvalSparse; old is overwritten if it is what an earlier call returned of Pieces.
func (t *Tap) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	m, err := t.tensor(b)
	if err != nil {
		return nil, err
	}
	if t.Pieces != nil {
		raw := m.RawMatrix()
		return t.Pieces.Rows(old, raw.Data, raw.Stride, raw.Rows), nil
	}
	return design.Dense{Dense: m}, nil
}

// Numbers is how many the tensor has in a row: Width, or 1 of Pieces.
func (t *Tap) Numbers() int {
	if t.Pieces != nil {
		return 1
	}
	return t.Width
}

func (t *Tap) tensor(b *data.Batch) (*mat.Dense, error) {
	m, err := b.Tensor(t.Tensor)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", t.Name(), err)
	}
	if _, w := m.Dims(); w != t.Numbers() {
		return nil, fmt.Errorf("term %s: tensor %q is %d wide, want %d: is this the model it was made for?", t.Name(), t.Tensor, w, t.Numbers())
	}
	return m, nil
}

// MarshalJSON writes the term's spec.
func (t *Tap) MarshalJSON() ([]byte, error) {
	return json.Marshal(tapSpec{t.Tensor, t.Features, t.Width, t.Means})
}

// tapSpec is a Tap in JSON.
type tapSpec struct {
	Tensor   string   `json:"tensor"`
	Features []string `json:"features"`
	Width    int      `json:"width"`
	Means    means    `json:"means,omitempty"`
}

// UnmarshalJSON reads what MarshalJSON wrote. Errors: an unknown field, means of another width.
func (t *Tap) UnmarshalJSON(spec []byte) error {
	var j tapSpec
	if err := wire.JSON(spec, &j); err != nil {
		return err
	}
	for of, m := range j.Means {
		if _, width := m.Dims(); width != j.Width {
			return fmt.Errorf("means over %s of %d columns, the basis has %d", of, width, j.Width)
		}
	}
	*t = Tap{Tensor: j.Tensor, Features: j.Features, Width: j.Width, Means: j.Means}
	return nil
}

// means are Tap.Means in JSON: matrices as mat.Dense writes them, in base64.
type means map[string]*mat.Dense

// MarshalJSON writes an object.
func (m means) MarshalJSON() ([]byte, error) {
	out := map[string][]byte{}
	for of, v := range m {
		raw, err := v.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out[of] = raw
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *means) UnmarshalJSON(text []byte) error {
	var raw map[string][]byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	for of, b := range raw {
		v := new(mat.Dense)
		if err := v.UnmarshalBinary(b); err != nil {
			return fmt.Errorf("means over %s: %w", of, err)
		}
		for _, x := range v.RawMatrix().Data {
			if x-x != 0 {
				return fmt.Errorf("means over %s: %g", of, x)
			}
		}
		if *m == nil {
			*m = means{}
		}
		(*m)[of] = v
	}
	return nil
}

// tapsOf are the taps of m's blocks that are Pieces, by tensor.
func tapsOf(m Model) map[string]*Tap {
	taps := map[string]*Tap{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if t, ok := b.Term.(*Tap); ok && t.Pieces != nil {
				taps[t.Tensor] = t
			}
		}
	}
	return taps
}

// of is r with m's own taps in place of taps without Pieces, as they are read from an artifact; r itself if there
// are none.
func (r *Result) of(m Model) *Result {
	taps := tapsOf(m)
	with := map[*Tap]*Tap{}
	for k := range r.Predictors {
		for _, t := range r.Predictors[k].Terms {
			tap, ok := t.term.(*Tap)
			if !ok || tap.Pieces != nil || taps[tap.Tensor] == nil || taps[tap.Tensor].Width != tap.Width {
				continue
			}
			whole := *taps[tap.Tensor]
			whole.Means = tap.Means
			with[tap] = &whole
		}
	}
	if len(with) == 0 {
		return r
	}
	own := *r
	own.Predictors = slices.Clone(r.Predictors)
	for k := range own.Predictors {
		terms := slices.Clone(own.Predictors[k].Terms)
		for j := range terms {
			if tap, ok := terms[j].term.(*Tap); ok && with[tap] != nil {
				terms[j].term = with[tap]
			}
		}
		own.Predictors[k].Terms = terms
	}
	return &own
}
