package interaction

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// sides are how many nodes columns have, from and to, where so many columns are independent; 0: there is no such array. The more nodes,
// the nearer is the mean of a function over them to that over the rows.
func sides(strength int) (fewest, most int) {
	switch strength {
	case 2:
		return 101, 251
	case 3:
		return 31, 43
	}
	return 0, 0
}

// Independent are G^strength rows with the sample's values, in which the columns do not depend on each other: G nodes stand for the
// values of a column, all of them if they are that many, else quantiles from the least to the largest, and any two (strength 2), or
// three, of the columns named in vary take each combination of nodes once (an orthogonal array; Bush 1952). Of a column with more
// levels, of one with missing values, and of more columns than G, there are no nodes. The sample's other columns have the
// values of one row, tensors zeros of the given widths.
//
// nil: the sample is empty, or there is no such array. Errors: a column to vary is none of the sample.
func (s *Sample) Independent(vary []string, strength int, tensors map[string]int) (*decompose.Independent, error) {
	fewest, most := sides(strength)
	if len(s.kept) == 0 || fewest == 0 {
		return nil, nil
	}
	values := map[string]*spread{}
	side := max(fewest, len(vary))
	for _, name := range vary {
		j := slices.Index(s.columns, name)
		if j < 0 {
			return nil, fmt.Errorf("interaction: the sample has no column %q", name)
		}
		v := s.spread(j)
		if values[name] = v; v.levels && len(v.values) <= most {
			side = max(side, len(v.values))
		}
	}
	side = min(nextPrime(side), most)
	rows := 1
	for range strength {
		rows *= side
	}
	out := &decompose.Independent{Strength: strength, Rows: data.NewBatch(rows, 0), Node: map[string][]int{}, Share: map[string][]float64{}}
	node := map[string][]value{}
	for c, name := range vary {
		if node[name], out.Share[name] = values[name].nodes(side); node[name] == nil || c >= side {
			delete(out.Share, name)
			continue
		}
		// The polynomials i_0 + i_1 c + ... of degree strength-1 over the numbers modulo a prime, at c.
		at := make([]int, rows)
		for i := range at {
			for rest, power := i, 1; rest > 0; rest, power = rest/side, power*c%side {
				at[i] += rest % side * power
			}
			at[i] %= side
		}
		out.Node[name] = at
	}
	for j, name := range s.columns {
		v := make([]value, rows)
		for i := range v {
			if at := out.Node[name]; at != nil {
				v[i] = node[name][at[i]]
			} else {
				v[i] = s.kept[0].values[j]
			}
		}
		if err := setValues(out.Rows, name, v); err != nil {
			return nil, fmt.Errorf("interaction: %w", err)
		}
	}
	for name, width := range tensors {
		if err := out.Rows.SetTensor(name, mat.NewDense(rows, width, nil)); err != nil {
			return nil, fmt.Errorf("interaction: %w", err)
		}
	}
	return out, nil
}

// setValues sets a column of b, which holds numbers or levels.
func setValues(b *data.Batch, name string, v []value) error {
	if v[0].level == nil {
		x := make([]float64, len(v))
		for i := range v {
			x[i] = v[i].number
		}
		return b.SetNumeric(name, x)
	}
	code := map[string]int32{}
	for _, x := range v {
		code[*x.level] = 0
	}
	codes := data.Codes{Index: make([]int32, len(v)), Levels: slices.Sorted(maps.Keys(code))}
	for i, level := range codes.Levels {
		code[level] = int32(i)
	}
	for i, x := range v {
		codes.Index[i] = code[*x.level]
	}
	return b.SetCodes(name, codes)
}

// spread is how often a column takes its values, which increase; it has none if some are missing.
type spread struct {
	levels bool // texts
	values []value
	share  []float64
}

func (s *Sample) spread(j int) *spread {
	weight := slices.Index(s.columns, s.weights) // -1: all are 1
	out := &spread{}
	sum := 0.0
	rows := slices.Clone(s.kept)
	if slices.ContainsFunc(rows, func(r sampledRow) bool { return r.values[j].level == nil && math.IsNaN(r.values[j].number) }) {
		return out
	}
	slices.SortFunc(rows, func(a, b sampledRow) int { return compareValues(a.values[j], b.values[j]) })
	for i, r := range rows {
		if i == 0 || compareValues(rows[i-1].values[j], r.values[j]) != 0 {
			out.values, out.share = append(out.values, r.values[j]), append(out.share, 0)
			out.levels = out.levels || r.values[j].level != nil
		}
		w := 1.0
		if weight >= 0 {
			w = r.values[weight].number
		}
		out.share[len(out.share)-1] += w
		sum += w
	}
	for i := range out.share {
		out.share[i] /= sum
	}
	return out
}

// compareValues orders numbers, and levels by their texts.
func compareValues(a, b value) int {
	if a.level != nil && b.level != nil {
		return cmp.Compare(*a.level, *b.level)
	}
	return cmp.Compare(a.number, b.number)
}

// tailShare is the weight of nodes that are even in the logit of their probability.
const tailShare = 0.3

// nodes are side of them, with the shares of the rows that they stand for; nil: there are none.
func (s *spread) nodes(side int) ([]value, []float64) {
	switch {
	case len(s.values) == 0 || s.levels && len(s.values) > side:
		return nil, nil
	case len(s.values) <= side:
		values, share := slices.Clone(s.values), slices.Clone(s.share)
		for len(values) < side {
			values, share = append(values, s.values[0]), append(share, 0)
		}
		return values, share
	}
	// Quantiles, the least and the largest value among them. They are closer together towards both ends, like the knots of
	// splines (basis.BS.Quantiles), so that each piece of a spline has nodes. Each stands for the rows that are nearest:
	// the trapezoidal rule.
	probability := func(i int) float64 {
		even := float64(i) / float64(side-1)
		logit := math.Log(float64(len(s.values))) * (2*even - 1)
		return (1-tailShare)*even + tailShare/(1+math.Exp(-logit))
	}
	values, share := make([]value, side), make([]float64, side)
	low, high := probability(0), probability(side-1)
	at, below := 0, s.share[0]
	for i := range side {
		u := (probability(i) - low) / (high - low)
		for below < u && at < len(s.values)-1 {
			at++
			below += s.share[at]
		}
		values[i] = s.values[at]
		share[i] = (probability(min(i+1, side-1)) - probability(max(i-1, 0))) / 2 / (high - low)
	}
	values[side-1] = s.values[len(s.values)-1]
	return values, share
}

// nextPrime is the least prime from n on.
func nextPrime(n int) int {
	for ; ; n++ {
		prime := true
		for d := 2; d*d <= n; d++ {
			prime = prime && n%d != 0
		}
		if prime {
			return n
		}
	}
}
