package structure

import (
	"math"
	"math/rand/v2"
)

// probeRows is how many rows a declaration is compared with the graph on.
const probeRows = 512

// probes draws values of the columns, the same at every call: some a little
// outside the interval. An order of the columns fixes the draws.
func (d *Declared) probes(columns []string) map[string][]float64 {
	rng := rand.New(rand.NewPCG(0x9e3779b97f4a7c15, 1))
	out := map[string][]float64{}
	for _, name := range columns {
		at := d.Columns[name]
		x := make([]float64, probeRows)
		for i := range x {
			switch {
			case len(at.Values) > 0:
				x[i] = at.Values[rng.IntN(len(at.Values))]
			default:
				x[i] = at.From + (1.2*rng.Float64()-0.1)*(at.To-at.From)
			}
			if math.IsInf(x[i], 0) || math.IsNaN(x[i]) {
				x[i] = at.From
			}
		}
		out[name] = x
	}
	for _, names := range d.Dummies {
		for i := range probeRows {
			one := rng.IntN(len(names))
			for j, name := range names {
				if x := out[name]; x != nil {
					x[i] = 0
					if j == one {
						x[i] = 1
					}
				}
			}
		}
	}
	return out
}
