// Package serve keeps a decomposition and its network open, and splits rows that come one
// request after the other: for one client on a pipe (Stdio), or for a service that has a
// transport of its own (Explainer).
package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// Options say how a decomposition is opened. nil means the zero value.
type Options struct {
	Model     string // the network's file, or the folder of several; "": where it was
	MaxMemory int64  // bound on a network's tensors in bytes; 0: that of onnx.LoadOptions
	Engine    string // go or onnxruntime; "": that of the decomposition
	Precision string // float64 or float32; "": that of the decomposition
	// Unseen is what becomes of rows with a level that training did not have, where who asks does not say.
	Unseen data.UnseenPolicy
}

// Explainer is a decomposition opened with its network. It is safe for concurrent use.
type Explainer struct {
	result  *decompose.Result
	network *onnx.Model
	opened  *wiring.Opened
	labels  *onnx.Labels
	plain   *decompose.Applier
	withSE  *decompose.Applier
	columns []Column
	names   []string // of the columns
	texts   []string // those of them that are text
	parts   []string // of a row
	partsSE []string
	digest  string
	unseen  data.UnseenPolicy
	idle    sync.Pool // of *decompose.Parts
}

// Column is a data column that the network or a term reads.
type Column struct {
	Name string `json:"name"`
	Text bool   `json:"text"` // its cells are texts; else numbers
	// Shape is that of a row, where the network takes arrays, pictures say; nil: a row is one value.
	Shape []int `json:"shape,omitempty"`
}

// Width is how many values a row of the column has.
func (c Column) Width() int {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// fits refuses rows of another shape, nil being that of single values. All numbers of an array on one axis are
// its shape, too.
func (c Column) fits(shape []int) error {
	if slices.Equal(shape, c.Shape) || len(shape) == 1 && c.Shape != nil && shape[0] == c.Width() {
		return nil
	}
	if c.Shape == nil {
		return fmt.Errorf("column %q: its rows have the shape %v, and are single values", c.Name, shape)
	}
	return fmt.Errorf("column %q: its rows have the shape %v, and the network takes %v, or all %d numbers as one axis", c.Name, shape, c.Shape, c.Width())
}

// Open reads the decomposition in dir and its network.
func Open(dir string, o *Options) (*Explainer, error) {
	if o == nil {
		o = &Options{}
	}
	doc, err := resultdir.ReadFile(dir, resultdir.Decomposition)
	if err != nil {
		return nil, err
	}
	r, err := resultdir.Decode(dir, doc)
	if err != nil {
		return nil, err
	}
	opened, err := wiring.ReopenAll(r, dir, o.Model, o.MaxMemory, wiring.Computing{Engine: o.Engine, Precision: o.Precision})
	if err != nil {
		return nil, err
	}
	e := &Explainer{result: r, network: opened.Networks[0], opened: opened, unseen: o.Unseen}
	sum := sha256.Sum256(doc)
	e.digest = hex.EncodeToString(sum[:])
	if e.labels, err = e.network.Graph().Labels(); err != nil {
		return nil, err
	}
	if e.plain, err = r.Applier(opened.Model); err != nil {
		return nil, err
	}
	e.withSE = e.plain.WithErrors()
	texts, err := opened.Texts(r)
	if err != nil {
		return nil, err
	}
	for _, name := range e.plain.Columns() {
		c := Column{name, e.readsText(name, texts), e.shapeOf(name)}
		e.columns, e.names = append(e.columns, c), append(e.names, name)
		if c.Text {
			e.texts = append(e.texts, name)
		}
	}
	e.parts, e.partsSE = report.ContributionColumns(r), report.ContributionColumnsSE(r)
	return e, nil
}

// readsText tells whether the column held text when the network was decomposed: it is among texts,
// or a factor that nobody said was one and that the network does not take as a number.
func (e *Explainer) readsText(column string, texts []string) bool {
	if slices.Contains(e.opened.Factors, column) {
		return false
	}
	if slices.Contains(texts, column) {
		return true
	}
	if slices.Contains(e.network.Columns(), column) {
		return false
	}
	if at := slices.IndexFunc(e.result.Features, func(f decompose.Feature) bool { return f.Name == column }); at >= 0 && len(e.result.Features[at].Levels) == 0 {
		return false
	}
	return e.factor(column) != nil
}

// shapeOf is the shape of a row of the column where the network takes it as an array; nil: it does not.
func (e *Explainer) shapeOf(column string) []int {
	if decompose.TensorsOf(e.network)[column] == 0 {
		return nil
	}
	at := slices.IndexFunc(e.network.Binding(), func(in onnx.BoundInput) bool { return slices.Contains(in.Columns, column) })
	return e.network.Graph().Inputs()[at].RowShape()
}

// Warnings are what must be known of its answers: another engine computes the network than when it was decomposed.
func (e *Explainer) Warnings() []string { return e.opened.Notes }

// Columns lists the data columns that rows need.
func (e *Explainer) Columns() []Column { return slices.Clone(e.columns) }

// Result is the decomposition, which is shared: read it, and no more.
func (e *Explainer) Result() *decompose.Result { return e.result }

// Digest is the SHA-256 of decomposition.json, which holds those of the moments and of the
// network: equal digests give equal answers.
func (e *Explainer) Digest() string { return e.digest }

// Inputs are the network's inputs, each with the columns that it takes as the numbers of a
// row, in order. Of several networks, which take the same, those of the first.
func (e *Explainer) Inputs() []Input {
	var out []Input
	if form := e.opened.Form; form != nil { // a model behind an address: the network is that of its answers
		for _, in := range form.Inputs {
			if in.Datatype != "" {
				out = append(out, Input{in.Name, slices.Clone(in.Columns)})
			}
		}
		return out
	}
	for i, in := range e.network.Graph().Inputs() {
		out = append(out, Input{in.Name, slices.Clone(e.network.Binding()[i].Columns)})
	}
	return out
}

// Input is an input of the network.
type Input struct {
	Name    string
	Columns []string
}

// Predictors names the network's predictors.
func (e *Explainer) Predictors() []string {
	names := make([]string, len(e.result.Predictors))
	for k := range e.result.Predictors {
		names[k] = e.result.Predictors[k].Name
	}
	return names
}

// Parts names what Explain computes of a row, in order: the columns of contributions.csv,
// with TERM.se behind each term's if se. It is shared.
func (e *Explainer) Parts(se bool) []string {
	if !se {
		return e.parts
	}
	return e.partsSE
}

// Unseen is Options.Unseen.
func (e *Explainer) Unseen() data.UnseenPolicy { return e.unseen }

// How says how rows are split. The zero value: without standard errors, and what is missing or was not
// seen in training is an error.
type How struct {
	SE     bool
	NA     data.NAPolicy
	Unseen data.UnseenPolicy
}

// Split are rows that were split.
type Split struct {
	// Parts are the values of each of Explainer.Parts, by row, on the scale of the predictors. Those of
	// rows that are left out are NaN, and so is a standard error that there is none of.
	Parts   [][]float64
	Dropped int                // rows that are left out
	Unseen  []data.UnseenLevel // levels that training did not have; of rows that are not left out for a missing value
}

// Explain is Split by what Options say of unseen levels.
func (e *Explainer) Explain(ctx context.Context, rows *Rows, se bool, na data.NAPolicy) (parts [][]float64, dropped int, err error) {
	s, err := e.Split(ctx, rows, How{se, na, e.unseen})
	if err != nil {
		return nil, 0, err
	}
	return s.Parts, s.Dropped, nil
}

// Split splits rows. Errors name rows from 1: a column that is not there
// (*data.MissingColumnError), a missing value that how.NA does not allow (data.ErrMissingValue),
// a level that did not occur (*data.UnseenLevelError).
func (e *Explainer) Split(ctx context.Context, rows *Rows, how How) (*Split, error) {
	var tally data.UnseenLevels
	b, dropped, err := e.batch(ctx, rows, how, &tally)
	if err != nil {
		return nil, err
	}
	parts := columnsOf(len(e.Parts(how.SE)), rows.Len(), dropped > 0)
	applier := e.applier(how, &tally)
	own, _ := e.idle.Get().(*decompose.Parts)
	if own == nil {
		own = new(decompose.Parts)
	}
	for i := 0; i < b.Rows(); i += atOnce {
		chunk := b
		if b.Rows() > atOnce {
			chunk = b.Slice(i, min(i+atOnce, b.Rows()))
		}
		if err := applier.PartsInto(ctx, own, chunk); err != nil {
			return nil, err
		}
		fill(parts, own)
	}
	own.Batch = nil
	e.idle.Put(own)
	return &Split{parts, dropped, tally.Levels()}, nil
}

// batch holds the rows that are not left out, as the network and the terms see them, and tells how
// many are.
func (e *Explainer) batch(ctx context.Context, rows *Rows, how How, tally *data.UnseenLevels) (*data.Batch, int, error) {
	b, dropped, err := rows.batch(e.columns, e.opened.Factors, e.texts, how.NA)
	if err != nil {
		return nil, 0, err
	}
	n := b.Rows()
	if b, err = e.seen(ctx, b, how, tally); err != nil {
		return nil, 0, err
	}
	return b, dropped + n - b.Rows(), nil
}

// applier is the one that splits rows as it is asked.
func (e *Explainer) applier(how How, tally *data.UnseenLevels) *decompose.Applier {
	applier := e.plain
	if how.SE {
		applier = e.withSE
	}
	if how.Unseen == data.UnseenZero {
		applier = applier.ZeroUnseen(tally)
	}
	return applier
}

// atOnce is how many rows are split at a time, shared out to goroutines: their parts take
// some megabytes.
const atOnce = 1 << 14

// seen is the batch as the network and the terms see it.
func (e *Explainer) seen(ctx context.Context, b *data.Batch, how How, tally *data.UnseenLevels) (*data.Batch, error) {
	if e.labels == nil && how.NA != data.NAKeep && how.Unseen != data.UnseenDrop && e.opened.Kind != wiring.Columns { // what else could change the numbers, or be refused
		return e.network.Rounding(b, e.opened.Rounded)
	}
	src := wiring.CodedBy(wiring.FilesOf(&single{b, schemaOf(b, e.names)}), e.labels)
	if how.Unseen == data.UnseenDrop {
		var err error
		if src, err = e.opened.KnownRows(e.result, src, tally); err != nil {
			return nil, err
		}
	}
	for own, err := range e.opened.Seen(e.result, src).Batches(ctx, e.names) {
		return own, err
	}
	return b, nil // no rows
}

// fill copies the parts of a chunk to the rows that they are of.
func fill(to [][]float64, p *decompose.Parts) {
	n, at := p.Batch.Rows(), 0
	rows := make([]int, n)
	for i := range rows {
		rows[i] = int(p.Batch.Row(i))
	}
	column := func(v []float64, stride int) {
		own := to[at]
		at++
		for i, row := range rows {
			own[row] = v[i*stride]
		}
	}
	for k := range p.Predictors {
		d := &p.Predictors[k]
		for _, row := range rows {
			to[at][row] = d.Intercept
		}
		at++
		_, terms := d.Terms.Dims()
		for j := range terms {
			raw := d.Terms.RawMatrix()
			column(raw.Data[j:], raw.Stride)
			if d.SE != nil {
				raw := d.SE.RawMatrix()
				column(raw.Data[j:], raw.Stride)
			}
		}
		column(d.Unstructured, 1)
		column(d.Eta, 1)
	}
}

// SumErrors are the standard errors of the sum of some terms of predictor k, by row; NaN where
// there is none, and of rows that are left out. With several networks they include the differences
// between the networks. Errors: as of Explain.
func (e *Explainer) SumErrors(ctx context.Context, rows *Rows, how How, k int, terms []int) ([]float64, error) {
	var tally data.UnseenLevels
	b, dropped, err := e.batch(ctx, rows, how, &tally)
	if err != nil {
		return nil, err
	}
	out := columnsOf(1, rows.Len(), dropped > 0)[0]
	effect, err := e.applier(How{Unseen: how.Unseen}, &tally).SumEffect(ctx, k, terms, b)
	if err != nil {
		return nil, err
	}
	for i, se := range effect.SE {
		if n := effect.Networks; n != nil {
			se = math.Hypot(se, n.SD[i])
		}
		out[b.Row(i)] = se
	}
	return out, nil
}
