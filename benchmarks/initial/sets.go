package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/data"
)

// set is a regression task: a file of numbers, or rows that are simulated.
type set struct {
	name, file string
	response   string
	columns    []string
	logs       []string                                      // columns whose logarithm is taken: a few extreme rows would decide the test error
	simulate   func(rng *rand.Rand) (x []float64, y float64) // one row; nil: it is read from file
}

// sets are none of the paper's benchmark, on which everything else here was tuned.
func sets() []set {
	return []set{
		{name: "bike_hour", file: "bike_hour.csv.gz", response: "cnt",
			columns: []string{"day_index", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "atemp", "hum", "windspeed"}},
		{name: "california_housing", file: "california_housing.csv.gz", response: "med_house_value",
			columns: []string{"med_inc", "house_age", "ave_rooms", "ave_bedrms", "population", "ave_occup", "latitude", "longitude"},
			logs:    []string{"ave_rooms", "ave_bedrms", "population", "ave_occup"}},
		{name: "covid_us_county", file: "covid_us_county.csv.gz", response: "log_prevalence_total",
			columns: []string{"day", "latitude", "longitude", "temp_clim_c", "rh_clim_pct", "log_population"}},
		{name: "covid_us_state", file: "covid_us_state_weather.csv", response: "log_prevalence_total",
			columns: []string{"day", "latitude", "longitude", "temp_c", "relative_humidity", "log_population"}},
		{name: "nmes1988", file: "nmes1988.csv", response: "visits",
			columns: []string{"health", "chronic", "adl", "region", "age", "afam", "gender", "married", "school", "income", "employed", "insurance", "medicaid"}},
		{name: "power_plant", file: "power_plant.csv", response: "energy_output",
			columns: []string{"temperature", "exhaust_vacuum", "ambient_pressure", "relative_humidity"}},
		{name: "friedman1", columns: numbered(10), simulate: friedman1},
		{name: "friedman2", columns: numbered(4), simulate: friedman2},
	}
}

func numbered(p int) []string {
	var names []string
	for j := range p {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	return names
}

// friedman1 is the first function of Friedman (1991) with noise of standard deviation 1;
// five of the ten features have no effect.
func friedman1(rng *rand.Rand) ([]float64, float64) {
	x := make([]float64, 10)
	for j := range x {
		x[j] = rng.Float64()
	}
	f := 10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4]
	return x, f + rng.NormFloat64()
}

// friedman2 is the impedance of a circuit (Friedman 1991); the noise has a third of its
// standard deviation.
func friedman2(rng *rand.Rand) ([]float64, float64) {
	x := []float64{100 * rng.Float64(), 2 * math.Pi * (20 + 260*rng.Float64()), rng.Float64(), 1 + 10*rng.Float64()}
	reactance := x[1]*x[2] - 1/(x[1]*x[3])
	return x, math.Hypot(x[0], reactance) + 125*rng.NormFloat64()
}

// table holds all rows of a set, by row.
type table struct {
	x [][]float64
	y []float64
}

// simulated is how many rows a simulated set has.
const simulated = 20000

// read returns the rows; the error is fs.ErrNotExist if the file is not there.
func (s *set) read(ctx context.Context, dir string) (*table, error) {
	t := &table{}
	if s.simulate != nil {
		rng := rand.New(rand.NewPCG(uint64(len(s.columns)), 0xf1ed))
		for range simulated {
			x, y := s.simulate(rng)
			t.x, t.y = append(t.x, x), append(t.y, y)
		}
		return t, nil
	}
	path := filepath.Join(dir, s.file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	src, err := data.OpenCSV([]string{path}, nil)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	for b, err := range src.Batches(ctx, append([]string{s.response}, s.columns...)) {
		if err != nil {
			return nil, err
		}
		at := len(t.y)
		y, err := b.Numeric(s.response)
		if err != nil {
			return nil, err
		}
		t.y = append(t.y, y...)
		for range y {
			t.x = append(t.x, make([]float64, 0, len(s.columns)))
		}
		for _, name := range s.columns {
			v, err := b.Numeric(name)
			if err != nil {
				return nil, err
			}
			for i := range v {
				x := v[i]
				if slices.Contains(s.logs, name) {
					x = math.Log(x)
				}
				t.x[at+i] = append(t.x[at+i], x)
			}
		}
	}
	return t, nil
}
