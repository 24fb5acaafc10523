package recipe_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/wiring"
)

// product is a function of two columns.
type product struct{}

func (product) Predictors() []string         { return []string{"eta"} }
func (product) Columns() []string            { return []string{"a", "b"} }
func (product) Intercept(int) float64        { return 0 }
func (product) Blocks(int) []decompose.Block { return nil }
func (product) Taps() map[string]int         { return nil }

func (product) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, errX := b.Numeric("a")
	y, errY := b.Numeric("b")
	for i := range min(len(x), len(y)) {
		dst.Eta.Set(i, 0, math.Sin(x[i])+x[i]*y[i])
		dst.Zeta.Set(i, 0, math.Sin(x[i])+x[i]*y[i])
	}
	return errors.Join(errX, errY)
}

// request asks for terms of the columns, and for one pair of them.
func request(t *testing.T) *wiring.Request {
	t.Helper()
	const n = 1500
	a, b := make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = float64(i*37%401)/100-2, float64(i*101%499)/100-2.5
	}
	rows := data.NewTable(n)
	if err := errors.Join(rows.AddNumeric("a", a), rows.AddNumeric("b", b)); err != nil {
		t.Fatal(err)
	}
	return &wiring.Request{
		Model: product{}, Rows: wiring.FilesOf(rows), Formulas: []string{"~ s(a) + s(b)"}, Interactions: 1,
		Cache: wiring.MaxCached, Options: new(decompose.Options),
	}
}

// blocks are the terms of a model.
func blocks(m decompose.Model) (names []string) {
	for _, b := range m.Blocks(0) {
		names = append(names, b.Term.Name())
	}
	return names
}

// The steps come in order, and each caller's own steps come in their places.
func TestOrder(t *testing.T) {
	var steps []string
	said := func(what string, m decompose.Model) { steps = append(steps, what+": "+strings.Join(blocks(m), " ")) }
	q := recipe.Recipe{Request: request(t), Target: t.TempDir()}
	q.Fit = func(m decompose.Model, ready *wiring.Ready) error {
		said("fit", m)
		ready.Rows.Limit(1 << 20)
		return nil
	}
	q.Decompose = func(ctx context.Context, m decompose.Model, rows *wiring.CachedRows, o *decompose.Options) (*decompose.Result, error) {
		said("passes", m)
		if len(o.Visitors) != 5 { // importance, k-check, lack of fit, pairs, examples
			t.Errorf("%d visitors", len(o.Visitors))
		}
		return decompose.Decompose(ctx, m, rows, o)
	}
	made, err := q.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := "s(a) s(b) ti(a,b)"
	if want := []string{"fit: s(a) s(b)", "fit: " + all, "passes: " + all}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	r := made.Result
	if !slices.Equal(made.Added, []string{"ti(a, b)"}) || r.CreatedBy == "" || !strings.Contains(string(r.Model), wiring.Function) || r.Examples == nil || r.Features[0].Sample == nil {
		t.Errorf("added %q, made by %q of %s, examples %v", made.Added, r.CreatedBy, r.Model, r.Examples)
	}
}

// Without rows a result holds no value of a single one.
func TestNoRows(t *testing.T) {
	q := recipe.Recipe{Request: request(t), NoRows: true}
	q.Interactions = 0
	made, err := q.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if made.Result.Examples != nil || made.Result.Features[0].Sample != nil {
		t.Errorf("examples %v, features %+v", made.Result.Examples, made.Result.Features)
	}
}

// A step that fails is the last one, and what was made by then is there.
func TestFailure(t *testing.T) {
	fault := errors.New("no room")
	q := recipe.Recipe{Request: request(t)}
	q.Fit = func(m decompose.Model, _ *wiring.Ready) error {
		if len(m.Blocks(0)) == 3 {
			return fault
		}
		return nil
	}
	q.Decompose = func(context.Context, decompose.Model, *wiring.CachedRows, *decompose.Options) (*decompose.Result, error) {
		t.Error("there were passes")
		return nil, nil
	}
	made, err := q.Make(t.Context())
	if !errors.Is(err, fault) || len(made.Added) != 1 || made.Result != nil {
		t.Errorf("%v; added %q", err, made.Added)
	}
	q.Request = request(t)
	q.ID = "c"
	var option *wiring.OptionError
	if made, err = q.Make(t.Context()); !errors.As(err, &option) || made.Ready != nil {
		t.Errorf("after the first step: %v, %v", err, made.Ready)
	}
}

// A column that names rows is one of the data, and none of the contributions.
func TestCheckID(t *testing.T) {
	schema := data.Schema{{Name: "a", Numeric: true}, {Name: "unstructured", Numeric: true}}
	for id, want := range map[string]string{
		"": "", "a": "", "c": `id: data: no column "c" in the data`, "unstructured": `id: report: the column "unstructured", which is to name rows, is called like one of the contributions`,
	} {
		var option *wiring.OptionError
		if err := recipe.CheckID(id, schema, product{}); (err != nil || want != "") && (!errors.As(err, &option) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("rows named by %q: %v, want %q", id, err, want)
		}
	}
}
