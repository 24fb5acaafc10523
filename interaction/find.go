package interaction

import (
	"slices"

	"github.com/pho-go/pho/decompose"
)

// look is what exact products are formed of.
type look struct {
	functions *functions
	tested    int  // pairs of columns
	leftOver  bool // pairs that pass the test of tables and matter are not among the candidates
}

// finding is what exact products say.
type finding struct {
	steps   []step
	single  float64   // what functions of single columns explain of sum w r^2
	of      []int     // scales whose own functions were looked at,
	singles []float64 // and what each one's explain alone; 0 where noise may do so
	weight  float64   // of the rows
	tested  int
	fit     *fit // nil: it explains nothing
}

// find chooses the pairs of predictor k, nil: none can be told. The first candidates are the best
// by the tables of all rows. Where more pairs pass the test of tables than can be compared, which echoes
// of a strong one among many columns that correlate do, or where curves of single columns
// passed for noise, tables of what the choice leaves of the rows kept name the next ones.
func (v *Ranking) find(r *decompose.Result, k int) *finding {
	rows := v.sums.kept
	if !v.asked[k] || rows == nil {
		return nil
	}
	var f *finding
	t, left := v.sums.tables.of(k), rows.r[k]
	for round := range maxRounds {
		l := v.candidates(r, k, t, f)
		if l == nil {
			break
		}
		p := rows.products(l.functions, k, left, v.inflation(r, k, f))
		workers := v.goroutines(len(l.functions.pairs))
		s := newSelection(l.functions, p, workers)
		steps := s.choose(level/float64(l.tested), workers)
		f = &finding{steps: steps, of: l.functions.of, singles: l.functions.singleGains(p), weight: p.weight, tested: l.tested}
		if slices.ContainsFunc(f.singles, func(gain float64) bool { return gain > 0 }) {
			f.single = s.single
		}
		if len(f.steps) == 0 && f.single <= 0 {
			return nil
		}
		curves := f.single > muchSingle*p.square // noise was taken to be as large as them
		told, unsure := len(f.steps) > 0 || curves, l.leftOver || curves && round == 0
		full := len(f.steps) >= most(r) // so that there is no room for others
		if !told || !unsure || full || round+1 == maxRounds {
			break
		}
		f.fit = fitOf(l.functions, p, f.steps)
		left = f.fit.leaves(&rows.values, rows.r[k])
		t = newTables(len(v.scales)*(len(v.scales)-1)/2, 1, rows.w != nil)
		t.rows(rows.codes, rows.w, [][]float64{left}, make([]sum, rows.rows()))
	}
	return f
}

// inflation makes up for what fits took of the noise in these rows, as HC1 does: n/(n - p)
// for the columns of the terms, or of the fit whose residuals say how large the noise is.
func (v *Ranking) inflation(r *decompose.Result, k int, f *finding) float64 {
	taken := r.Predictors[k].EDF / float64(r.Rows)
	if f != nil && f.fit != nil {
		taken = max(taken, float64(len(f.fit.coef))/float64(v.rows))
	}
	return 1 / (1 - min(taken, maxSpent))
}
