package decompose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
)

// identify gives the bases of the terms their IDs. Terms of one name in two processes
// are the same columns only if all their numbers are, to the last bit: each process
// that finds knots, levels or eigenvectors in rows of its own has other columns.
// The ID is a hash for each field of the term's JSON, so that a refusal can name the field that
// differs. Processes that share the JSON need no tolerance.
func (p *plan) identify() error {
	faults, found := make([]error, len(p.terms)), make([]identity, len(p.terms))
	linalg.Each(len(p.terms), func(i int) {
		t, ok := p.terms[i], false
		if found[i], ok = p.known[t]; !ok {
			found[i], faults[i] = identify(t)
		}
	})
	p.known = map[Term]identity{}
	for i, t := range p.terms {
		if faults[i] != nil {
			return fmt.Errorf("decompose: term %q: %w", t.Name(), faults[i])
		}
		p.known[t] = found[i]
		p.layout.Bases[i].ID = found[i].text
	}
	return nil
}

// identity is how a term is written, and what tells it from others: a JSON object with a hash
// for each field of its spec, by the field's path (knots, basis.points), so that a message can tell
// which of them differ. A term that cannot be written has none.
type identity struct {
	spec json.RawMessage
	text string
}

func identify(t Term) (identity, error) {
	enc, ok := t.(json.Marshaler)
	if !ok {
		return identity{}, nil
	}
	spec, err := enc.MarshalJSON()
	if err != nil {
		return identity{}, err
	}
	if !validJSON(spec) {
		return identity{}, fmt.Errorf("its spec is no JSON: %w", json.Unmarshal(spec, new(any)))
	}
	hashes := map[string]string{"kind": hash([]byte(t.Kind()))}
	hashFields(hashes, nil, trimmed(spec))
	id, err := json.Marshal(hashes)
	return identity{spec, string(id)}, err
}

// hash is half of a SHA-256, which is enough to tell specs apart.
func hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}

// hashFields notes the hash of each value below path that is no object and no short
// list of objects (such as margins of a tensor product). text is known to be JSON, without spaces around it.
func hashFields(into map[string]string, path []string, text []byte) {
	const deepest, longest = 5, 20
	below := func(name string, value []byte) { hashFields(into, append(slices.Clone(path), name), value) }
	switch {
	case len(path) == deepest:
	case text[0] == '{':
		for field := range slices.Chunk(partsOf(text), 2) {
			var name string
			_ = json.Unmarshal(field[0], &name) // a string, as all of it is JSON
			below(name, field[1])
		}
		return
	case text[0] == '[' && bytes.HasPrefix(trimmed(text[1:]), []byte("{")):
		if items := partsOf(text); len(items) <= longest {
			for i, item := range items {
				below(strconv.Itoa(i+1), item)
			}
			return
		}
	}
	into[strings.Join(path, ".")] = hash(text)
}

const shareTerms = "terms that each process finds in its own rows are other ones, and eigenvectors (tp, fs) may differ in their last digits between machines: " +
	"build the terms once and hand the others their JSON (EncodeBlocks, DecodeBlocks)"

// sameBases refuses bases that are not the same columns in two places, which here and
// there name. The terms' bases come first.
func sameBases(a, b []moments.Basis, here, there string) error {
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x.Name != y.Name || x.Dim != y.Dim:
			return fmt.Errorf("basis %d is %q with %d columns in %s, %q with %d in %s", i+1, x.Name, x.Dim, here, y.Name, y.Dim, there)
		case x.ID != y.ID:
			return fmt.Errorf("term %q is not the same in %s and %s: it differs in %s; %s", x.Name, here, there, differing(x.ID, y.ID), shareTerms)
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("there are %d bases in %s and %d in %s", len(a), here, len(b), there)
	}
	return nil
}

// differing lists the fields whose hashes differ.
func differing(a, b string) string {
	var x, y map[string]string
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return "its definition"
	}
	var paths []string
	for path, h := range x {
		if y[path] != h {
			paths = append(paths, path)
		}
	}
	for path := range y {
		if _, ok := x[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return listed(paths)
}

// networkIdentity is what a model says of itself. The weights of its deep part are
// not among it.
type networkIdentity struct {
	Predictors []string       `json:"predictors"`
	Columns    []string       `json:"columns"`
	Taps       map[string]int `json:"taps,omitempty"`
	Intercepts []float64      `json:"intercepts"`
	// Coefficients of all terms of a predictor that have some, one after the other.
	Coefficients [][]float64 `json:"coefficients"`
}

func identityOf(m Model) networkIdentity {
	n := networkIdentity{Predictors: slices.Clone(m.Predictors()), Columns: slices.Clone(m.Columns()), Taps: maps.Clone(m.Taps())}
	for k := range n.Predictors {
		n.Intercepts = append(n.Intercepts, m.Intercept(k))
		own := []float64{}
		for _, b := range m.Blocks(k) {
			own = append(own, b.Coef...)
		}
		n.Coefficients = append(n.Coefficients, own)
	}
	return n
}

// same refuses another network.
func (n networkIdentity) same(o networkIdentity, here, there string) error {
	var what string
	var a, b any
	switch {
	case !slices.Equal(n.Predictors, o.Predictors):
		what, a, b = "predictors", n.Predictors, o.Predictors
	case !slices.Equal(n.Columns, o.Columns):
		what, a, b = "columns", n.Columns, o.Columns
	case !maps.Equal(n.Taps, o.Taps):
		what, a, b = "taps", n.Taps, o.Taps
	case !slices.EqualFunc(n.Intercepts, o.Intercepts, nearly):
		what, a, b = "intercepts", n.Intercepts, o.Intercepts
	case !slices.EqualFunc(n.Coefficients, o.Coefficients, func(x, y []float64) bool { return slices.EqualFunc(x, y, nearly) }):
		what, a, b = "coefficients", n.Coefficients, o.Coefficients
	default:
		return nil
	}
	return fmt.Errorf("the network is not the same in %s and %s: its %s are %.100s and %.100s", here, there, what, fmt.Sprint(a), fmt.Sprint(b))
}

// nearly compares numbers of a network, which may come out of arithmetic and so differ
// by rounding between machines.
func nearly(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(x)) }

// check refuses what MarshalBinary cannot have written.
func (n networkIdentity) check() error {
	if k := len(n.Predictors); len(n.Intercepts) != k || len(n.Coefficients) != k {
		return fmt.Errorf("%d intercepts and %d lists of coefficients of %d predictors", len(n.Intercepts), len(n.Coefficients), k)
	}
	return nil
}

func (n networkIdentity) texts() []string {
	return slices.Concat(n.Predictors, n.Columns, slices.Sorted(maps.Keys(n.Taps)))
}
