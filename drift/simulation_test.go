package drift_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/drift"
)

var repetitions = flag.Int("drift.repetitions", 0, "pairs of periods for each line of the simulation (0: 400)")

// draw is how rows of a period are drawn: parts that are correlated, of a shape, with weights,
// and dependent over time.
type draw struct {
	shape    func(r *rand.Rand) float64 // mean 0; nil: normal
	weights  bool
	memory   float64 // of an autoregression of order 1 that each part follows
	shift    float64 // added to the first term
	scale    float64 // of the second term; 0: 1
	settings drift.Settings
}

const simulatedTerms = 10

// parts draws n rows with 10 terms.
func (d draw) parts(r *rand.Rand, n int) (*decompose.Parts, drift.Rows) {
	shape := d.shape
	if shape == nil {
		shape = (*rand.Rand).NormFloat64
	}
	terms, rest, eta := mat.NewDense(n, simulatedTerms, nil), make([]float64, n), make([]float64, n)
	rows := drift.Rows{Period: "a"}
	if d.weights {
		rows.Weights = make([]float64, n)
	}
	before := make([]float64, simulatedTerms+1)
	if d.memory > 0 {
		for j := range before {
			before[j] = shape(r) / math.Sqrt(1-d.memory*d.memory)
		}
	}
	for i := range n {
		row := terms.RawRowView(i)
		for j := range before {
			before[j] = d.memory*before[j] + shape(r)
		}
		for j := range row {
			row[j] = before[j]
			if j > 0 { // neighbours share something
				row[j] = 0.8*before[j] + 0.6*before[j-1]
			}
		}
		row[0] += d.shift
		if d.scale != 0 {
			row[1] *= d.scale
		}
		rest[i] = before[simulatedTerms]
		eta[i] = 2 + rest[i]
		for _, v := range row {
			eta[i] += v
		}
		if d.weights {
			rows.Weights[i] = r.ExpFloat64()
		}
	}
	return &decompose.Parts{Batch: data.NewBatch(n, 0), Predictors: []decompose.PredictorParts{{Intercept: 2, Terms: terms, Unstructured: rest, Eta: eta}}}, rows
}

// described is the decomposition of those parts.
func described(terms int) drift.Decomposition {
	d := drift.Decomposition{SHA256: "x", Predictors: []drift.Predictor{{Name: "eta", Intercept: 2}}, Features: []drift.Bins{}}
	for j := range terms {
		d.Predictors[0].Terms = append(d.Predictors[0].Terms, drift.Term{Name: fmt.Sprintf("s(x%d)", j), Features: []string{fmt.Sprintf("x%d", j)}})
	}
	return d
}

func newState(t testing.TB, terms int, settings drift.Settings) *drift.State {
	t.Helper()
	s, err := drift.New(described(terms), settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add adds parts as a source.
func add(t testing.TB, s *drift.State, id string, parts *decompose.Parts, rows drift.Rows) {
	t.Helper()
	a, err := s.Begin(drift.Source{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Add(parts, rows); err != nil {
		t.Fatal(err)
	}
	if err := a.End(); err != nil {
		t.Fatal(err)
	}
}

// compared draws a reference of n rows and a period of m, and compares them.
func compared(t testing.TB, r *rand.Rand, reference, period draw, n, m int) *drift.Change {
	s := newState(t, simulatedTerms, reference.settings)
	parts, rows := reference.parts(r, n)
	add(t, s, "a", parts, rows)
	parts, rows = period.parts(r, m)
	rows.Period = "b"
	add(t, s, "b", parts, rows)
	report, err := s.Report("a")
	if err != nil {
		t.Fatal(err)
	}
	return report.Changes[0]
}

// share is a number of events of a number of trials.
type share struct{ of, trials int }

func (s *share) count(p float64) {
	s.trials++
	if p < drift.Level {
		s.of++
	}
}

func (s share) rate() float64 { return float64(s.of) / float64(s.trials) }
func (s share) String() string {
	return fmt.Sprintf("%5.1f %% ± %.1f", 100*s.rate(), 100*math.Sqrt(s.rate()*(1-s.rate())/float64(s.trials)))
}

// rates are those of single tests, and of anything marked between two periods.
type rates struct{ mean, variance, means, shares, any share }

func simulate(t testing.TB, seed uint64, reference, period draw, n, m, pairs int) (out rates) {
	for i := range pairs {
		c := compared(t, rand.New(rand.NewPCG(seed, uint64(i))), reference, period, n, m)
		p := &c.Predictors[0]
		out.mean.count(*p.Mean.P)
		out.variance.count(*p.Variance.P)
		// The first part alone, since those of a pair depend on each other.
		out.means.count(*p.Parts[0].Mean.P)
		out.shares.count(*p.Parts[1].Share.P)
		smallest := 1.0
		if c.Drift() {
			smallest = 0
		}
		out.any.count(smallest)
	}
	return out
}

func student(df float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		var chi float64
		for range int(df) {
			z := r.NormFloat64()
			chi += z * z
		}
		return r.NormFloat64() / math.Sqrt(chi/df)
	}
}

func skewed(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }

// Without drift tests are false as often as they say, and anything is marked in one pair of periods of twenty at
// most: in small periods, with heavy and skewed tails, weights, and rows that depend on each
// other if they are in blocks. Taken as independent, such rows are not; the last line shows it.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("draws some million rows")
	}
	pairs := *repetitions
	if pairs == 0 {
		pairs = 400
	}
	blocks := drift.Settings{Block: 25}
	for i, line := range []struct {
		name  string
		of    draw
		n, m  int
		wrong bool // rates are not nominal
	}{
		{"normal, 1000 and 1000 rows", draw{}, 1000, 1000, false},
		{"normal, 1000 and 50 rows", draw{}, 1000, 50, false},
		{"normal, 50 and 50 rows", draw{}, 50, 50, false},
		{"Student's t with 5 df, 1000 and 200", draw{shape: student(5)}, 1000, 200, false},
		{"Student's t with 3 df, 1000 and 50", draw{shape: student(3)}, 1000, 50, false},
		{"exponential, 1000 and 50", draw{shape: skewed}, 1000, 50, false},
		{"weights, 1000 and 200", draw{weights: true}, 1000, 200, false},
		{"weights, 1000 and 50", draw{weights: true, shape: skewed}, 1000, 50, false},
		{"autocorrelated (0.7), blocks of 25, 2000 and 500", draw{memory: 0.7, settings: blocks}, 2000, 500, false},
		{"autocorrelated (0.7), blocks of 50, 2000 and 2000", draw{memory: 0.7, settings: drift.Settings{Block: 50}}, 2000, 2000, false},
		{"autocorrelated (0.7), taken as independent", draw{memory: 0.7}, 2000, 500, true},
	} {
		r := simulate(t, uint64(i), line.of, line.of, line.n, line.m, pairs)
		t.Logf("%-52s mean %v  variance %v  one mean %v  one share %v  anything %v", line.name, r.mean, r.variance, r.means, r.shares, r.any)
		for _, s := range []share{r.mean, r.variance, r.means, r.shares, r.any} {
			// Blocks cut a little of the dependence off: 2 % more.
			bound := drift.Level + 3*math.Sqrt(0.05*0.95/float64(pairs))
			if line.of.memory > 0 {
				bound += 0.02
			}
			if s.rate() > bound && !line.wrong {
				t.Errorf("%s: %v false alarms, where %.1f %% are allowed", line.name, s, 100*bound)
			}
		}
		if line.wrong && r.mean.rate() < 0.2 {
			t.Errorf("%s: %v false alarms: blocks are not needed?", line.name, r.mean)
		}
	}
}

// What drifts is found, and in the part where it is.
func TestPlantedDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("draws some million rows")
	}
	pairs := max(*repetitions/4, 100)
	for i, line := range []struct {
		name       string
		n, m       int
		shift      float64 // of a term of standard deviation 1
		scale      float64
		mean, vary float64 // how often they have to be found
	}{
		{"a term moves by 0.2, 1000 and 1000 rows", 1000, 1000, 0.2, 0, 0.8, 0},
		{"a term moves by 0.6, 1000 and 50", 1000, 50, 0.6, 0, 0.7, 0},
		{"a term varies 1.5 times as much, 1000 and 1000", 1000, 1000, 0, 1.5, 0, 0.9},
	} {
		mean, vary, elsewhere := share{}, share{}, share{}
		for k := range pairs {
			c := compared(t, rand.New(rand.NewPCG(100+uint64(i), uint64(k))), draw{}, draw{shift: line.shift, scale: line.scale}, line.n, line.m)
			parts := c.Predictors[0].Parts
			mean.count(*parts[0].Mean.Adjusted)
			vary.count(*parts[1].Share.Adjusted)
			for j := 5; j < len(parts); j++ {
				elsewhere.count(*parts[j].Mean.Adjusted)
			}
		}
		t.Logf("%-48s its mean %v  its share of the variance %v  other means %v", line.name, mean, vary, elsewhere)
		if mean.rate() < line.mean || vary.rate() < line.vary || elsewhere.rate() > 0.02 {
			t.Errorf("%s: mean found %v, variance %v, elsewhere %v", line.name, mean, vary, elsewhere)
		}
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
