// Command native trains the networks of compare_torch.py and compare_workers.py with
// adapters/native and prints seconds per epoch as JSON; with -save it writes ONNX files,
// inputs and predictions for check_ort.py.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

func main() {
	var (
		rows    = flag.Int("rows", 10000, "rows")
		epochs  = flag.Int("epochs", 12, "epochs; the first two do not count")
		workers = flag.Int("workers", 2, "workers")
		double  = flag.Bool("double", false, "float64")
		only    = flag.String("only", "", "one task")
		save    = flag.String("save", "", "directory for ONNX files instead of timing")
		curves  = flag.String("curves", "", "file for the data, to print loss curves of several seeds instead of timing")
	)
	flag.Parse()
	table, names, err := simulate(*rows, 1)
	if err != nil {
		log.Fatal(err)
	}
	switch {
	case *save != "":
		err = saveModels(table, names, *save)
	case *curves != "":
		err = printCurves(*rows, *epochs, *curves)
	default:
		err = timeTasks(table, names, *epochs, *workers, *double, *only)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// simulate has ten features and a smooth additive response with an interaction.
func simulate(n int, seed uint64) (*data.Table, []string, error) {
	rng := rand.New(rand.NewPCG(1, seed))
	table := data.NewTable(n)
	x := make([][]float64, 10)
	var names []string
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = 4*rng.Float64() - 2
		}
		names = append(names, fmt.Sprintf("x%d", j))
		if err := table.AddNumeric(names[j], x[j]); err != nil {
			return nil, nil, err
		}
	}
	y, above := make([]float64, n), make([]float64, n)
	for i := range y {
		f := math.Cos(2*x[0][i]) + math.Tanh(3*x[1][i]) - x[2][i]*x[2][i]/2 + x[3][i]*x[4][i]
		y[i] = f + 0.5*rng.NormFloat64()
		if f+rng.NormFloat64() > 0 {
			above[i] = 1
		}
	}
	if err := table.AddNumeric("y", y); err != nil {
		return nil, nil, err
	}
	return table, names, table.AddNumeric("above", above)
}

const splines = `y ~ s(x0, bs="ps", k=21) + s(x1, bs="ps", k=21) + s(x2, bs="ps", k=21)`

// task is a network and how it is trained.
type task struct {
	config native.Config
	shape  shape
}

func tasks(names []string) map[string]task {
	all := map[string]task{}
	add := func(kind string, batches []int, s shape, c native.Config) {
		for _, size := range batches {
			c.Training.BatchSize = size
			all[fmt.Sprintf("%s batch %d", kind, size)] = task{c, s}
		}
	}
	add("ssn", []int{1024, 256, 32}, shape{groups: 1, sizes: []int{10, 200, 200, 1}, columns: 60}, native.Config{
		Structured: native.Structured{Formulas: []string{splines}},
		Deep:       native.Deep{Columns: names, Hidden: []int{200, 200}},
	})
	add("nam", []int{1024, 256}, shape{groups: 10, sizes: []int{1, 64, 64, 32, 1}}, native.Config{
		Architecture: native.NAM, Response: "y", FeatureNetworks: native.FeatureNetworks{Columns: names, Hidden: []int{64, 64, 32}},
	})
	mlp := func(kind string, batches []int, hidden ...int) {
		sizes := append(append([]int{10}, hidden...), 1)
		add(kind, batches, shape{groups: 1, sizes: sizes}, native.Config{
			Architecture: native.MLP, Response: "y", Deep: native.Deep{Columns: names, Hidden: hidden},
		})
	}
	mlp("small", []int{32}, 16, 8)
	mlp("mlp 64", []int{1024, 256}, 64, 32)
	for _, units := range []int{256, 512, 1024} {
		mlp(fmt.Sprint("mlp ", units), []int{1024, 256}, units, units)
	}
	return all
}

func timeTasks(table *data.Table, names []string, epochs, workers int, double bool, only string) error {
	result := map[string]map[string]float64{}
	for name, task := range tasks(names) {
		if only != "" && name != only {
			continue
		}
		cfg := task.config
		var ends []time.Time
		cfg.Training.Epochs, cfg.Training.Workers, cfg.Training.Single = epochs, workers, !double
		cfg.Training.ValidationShare, cfg.Training.LearningRate = -1, 0.001
		cfg.Training.WithoutWarmStart = true
		cfg.Training.Progress = func(native.Progress) { ends = append(ends, time.Now()) }
		_, fit, err := native.Train(context.Background(), cfg, table)
		if err != nil {
			return err
		}
		var each []float64
		for i := 2; i < len(ends); i++ {
			each = append(each, ends[i].Sub(ends[i-1]).Seconds())
		}
		slices.Sort(each)
		last := fit.Epochs[len(fit.Epochs)-1]
		result[name] = map[string]float64{
			"seconds": each[len(each)/2], "fastest": each[0],
			// The loss is half the squared error plus log(2 pi)/2 of a standardised response.
			"mse":   2*last.Train - math.Log(2*math.Pi),
			"limit": task.shape.limit(table.Rows(), cfg.Training.BatchSize, double),
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// saveModels trains briefly what has different operators.
func saveModels(table *data.Table, names []string, dir string) error {
	brief := native.Training{Epochs: 2}
	models := map[string]native.Config{
		"ssn": {Structured: native.Structured{Formulas: []string{`y ~ x5 + s(x0, bs="ps", k=12) + s(x1, bs="cr") + s(x2, k=8)`}},
			Deep: native.Deep{Columns: names, Activation: native.GELU, BatchNorm: true}, Training: brief},
		"nam": {Architecture: native.NAM, Response: "above", Family: family.Binomial{}, FeatureNetworks: native.FeatureNetworks{Columns: names, Hidden: []int{16, 8}, ExU: true,
			Activation: native.ReLUN, Pairs: [][2]string{{"x3", "x4"}}, Products: [][2]string{{"x0", "x1"}}}, Deep: native.Deep{Columns: names, Activation: native.Softplus}, Training: brief},
		"scale": {Family: family.GaussianLS{}, Structured: native.Structured{Formulas: []string{"y ~ x0", "sigma = ~ x1"}},
			Deep: native.Deep{Columns: names, Separate: true, Activation: native.Tanh}, Training: brief},
	}
	for name, cfg := range models {
		m, _, err := native.Train(context.Background(), cfg, table)
		if err != nil {
			return err
		}
		for suffix, o := range map[string]*native.ExportOptions{"": nil, "_double": {Double: true}} {
			f, err := os.Create(filepath.Join(dir, name+suffix+".onnx"))
			if err != nil {
				return err
			}
			if err := m.WriteONNX(f, o); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		if err := savePredictions(m, table, filepath.Join(dir, name+".csv")); err != nil {
			return err
		}
	}
	return nil
}

func savePredictions(m *native.Model, table *data.Table, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	columns := m.Columns()
	if err := w.Write(append(slices.Clone(columns), m.Predictors()...)); err != nil {
		return err
	}
	for b, err := range table.Batches(context.Background(), columns) {
		if err != nil {
			return err
		}
		eta, err := m.Predict(context.Background(), b)
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			var cells []string
			for _, name := range columns {
				v, err := b.Numeric(name)
				if err != nil {
					return err
				}
				cells = append(cells, strconv.FormatFloat(v[i], 'g', -1, 64))
			}
			for _, v := range eta.RawRowView(i) {
				cells = append(cells, strconv.FormatFloat(v, 'g', -1, 64))
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}
