package decomposetest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/penalty"
)

// powerSpec makes power terms, with faults to order.
type powerSpec struct {
	fault string
	rows  int // of all scans, which no spec may know
}

func (s *powerSpec) Columns() []string          { return []string{"x"} }
func (s *powerSpec) Scanner() decompose.Scanner { return &power{Exponent: 2, fault: s.fault, spec: s} }

// power is x^Exponent, the scanner that builds it, too.
type power struct {
	Exponent float64
	fault    string
	spec     *powerSpec
}

func (p *power) Name() string         { return "power" }
func (p *power) Kind() decompose.Kind { return "power" }
func (p *power) Columns() []string    { return []string{"x"} }
func (p *power) NeedsScan() bool      { return true }
func (p *power) Dim() int             { return 1 }
func (p *power) Scan(b *data.Batch) error {
	_, err := b.Numeric("x")
	switch p.spec.rows += b.Rows(); p.fault {
	case "batches":
		p.Exponent = float64(b.Rows())
	case "memory":
		p.Exponent = float64(p.spec.rows)
	}
	return err
}

func (p *power) Build() ([]decompose.Block, error) {
	b := decompose.Block{Term: p, Penalty: penalty.Penalty{S: []mat.Symmetric{mat.NewSymDense(1, []float64{1})}}}
	switch p.fault {
	case "penalty":
		b.Penalty.S[0].(*mat.SymDense).SetSym(0, 0, -1)
	case "size":
		b.Penalty.S[0] = mat.NewSymDense(2, []float64{1, 0, 0, 1})
	case "twice":
		return []decompose.Block{b, b}, nil
	}
	return []decompose.Block{b}, nil
}

func (p *power) Eval(dst *mat.Dense, b *data.Batch) error {
	x, err := b.Numeric("x")
	for i, v := range x {
		dst.Set(i, 0, v*p.Exponent)
	}
	return err
}

func (p *power) MarshalJSON() ([]byte, error) { return json.Marshal(p.Exponent) }

func TestSpecFindsFaults(t *testing.T) {
	b := data.NewBatch(9, 0)
	if err := b.SetNumeric("x", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}); err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]string{
		"":        "",
		"batches": "scanned in parts: row",
		"memory":  "after other rows",
		"penalty": "positive semi-definite",
		"size":    "penalty 1 is 2 x 2",
		"twice":   "two blocks named",
		"decode":  "not the same bits",
	} {
		decode := func(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
			p := &power{}
			err := json.Unmarshal(spec, &p.Exponent)
			if fault == "decode" {
				p.Exponent += 1e-15
			}
			return p, err
		}
		err := decomposetest.Spec(&powerSpec{fault: fault}, decode, b)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("fault %q: %v, want %q", fault, err, want)
		}
	}
}
