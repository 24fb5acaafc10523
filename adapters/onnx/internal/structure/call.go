package structure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// call writes a declared term as a formula would, as far as its spec tells:
// s(x2, bs="ps", k=9), with what restricts its coefficients.
func call(b decompose.Block) string {
	type part struct {
		BS      string
		Columns []string
	}
	var spec struct {
		BS      string
		By      *struct{ Column string }
		Margins []part
	}
	if enc, ok := b.Term.(json.Marshaler); ok {
		if raw, err := enc.MarshalJSON(); err == nil {
			_ = json.Unmarshal(raw, &spec) // specs of terms without these fields leave them empty
		}
	}
	name, by := b.Term.Name(), ""
	if spec.By != nil {
		by = ", by=" + spec.By.Column
	}
	base, _, _ := strings.Cut(name, ")")
	text := name
	switch {
	case spec.BS != "":
		text = fmt.Sprintf("%s, bs=%q, k=%d%s)", base, spec.BS, b.Term.Dim(), by)
	case len(spec.Margins) > 0:
		var each []string
		for _, m := range spec.Margins {
			each = append(each, fmt.Sprintf("%q", m.BS))
		}
		text = fmt.Sprintf("%s, bs=c(%s)%s), %d columns", base, strings.Join(each, ","), by, b.Term.Dim())
	}
	if n := len(b.Penalty.S); n > 0 {
		text += "; " + penalties(n)
		var rank []string
		for _, s := range b.Penalty.S {
			rank = append(rank, fmt.Sprint(rankOf(s)))
		}
		text += " of rank " + strings.Join(rank, ", ")
	}
	if !b.Constraint.Equal(decompose.Free()) {
		text += "; " + b.Constraint.String()
	}
	return text
}

func penalties(n int) string {
	if n == 1 {
		return "a quadratic penalty"
	}
	return fmt.Sprintf("%d quadratic penalties", n)
}

// rankOf counts the eigenvalues above 1e-8 of the largest.
func rankOf(s mat.Symmetric) int {
	var values []float64
	if diagonal, ok := s.(*mat.DiagDense); ok {
		for i := range diagonal.Diag() {
			values = append(values, diagonal.At(i, i))
		}
	} else {
		var e mat.EigenSym
		if !e.Factorize(s, false) {
			return 0
		}
		values = e.Values(nil)
	}
	n, largest := 0, slices.Max(values)
	for _, v := range values {
		if v > 1e-8*largest {
			n++
		}
	}
	return n
}
