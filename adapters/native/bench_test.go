package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// benchTable has ten features on 10,000 rows.
func benchTable(b *testing.B) (*data.Table, []string) {
	b.Helper()
	small := simulated(b, 10000, 1)
	batch := whole(b, small)
	tab := data.NewTable(10000)
	var names []string
	for j := range 10 {
		v, err := batch.Numeric([]string{"x1", "x2", "x3"}[j%3])
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, fmt.Sprintf("z%d", j))
		if err := tab.AddNumeric(names[j], v); err != nil {
			b.Fatal(err)
		}
	}
	y, err := batch.Numeric("y")
	if err != nil {
		b.Fatal(err)
	}
	if err := tab.AddNumeric("y", y); err != nil {
		b.Fatal(err)
	}
	return tab, names
}

// BenchmarkEpoch is one epoch of each task of benchmarks/native, and of some smaller
// ones, with one worker and with two, float32.
func BenchmarkEpoch(b *testing.B) {
	tab, names := benchTable(b)
	splines := []string{`y ~ s(z0, bs="ps", k=21) + s(z1, bs="ps", k=21) + s(z2, bs="ps", k=21)`}
	ssn := func(batch int) Config {
		return Config{Structured: Structured{Formulas: splines}, Deep: Deep{Columns: names, Hidden: []int{200, 200}}, Training: Training{BatchSize: batch}}
	}
	nam := func(batch int) Config {
		return Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: names, Hidden: []int{64, 64, 32}}, Training: Training{BatchSize: batch}}
	}
	mlp := func(batch int, hidden ...int) Config {
		return Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: names, Hidden: hidden}, Training: Training{BatchSize: batch}}
	}
	activated := func(f Activation) Config {
		c := mlp(256, 64, 32)
		c.Deep.Activation = f
		return c
	}
	normed := mlp(256, 64, 32)
	normed.Deep.BatchNorm = true
	for name, c := range map[string]Config{
		"gelu": activated(GELU), "softplus": activated(Softplus), "tanh": activated(Tanh), "norm": normed,
		"ssn1024": ssn(1024), "ssn32": ssn(32), "nam1024": nam(1024), "small32": mlp(32, 16, 8),
		// Around the work below which a step has one worker.
		"ssn256": ssn(256), "ssn128": ssn(128), "nam256": nam(256), "mlp1024": mlp(1024, 64, 32), "mlp256": mlp(256, 128, 64),
		// Of compare_workers.py, and wider.
		"wide256": mlp(256, 256, 256), "wide512": mlp(256, 512, 512), "wide1024": mlp(256, 1024, 1024),
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers%d", name, workers), func(b *testing.B) { benchEpoch(b, c, tab, workers) })
		}
	}
}

func benchEpoch(b *testing.B, c Config, tab *data.Table, workers int) {
	c.Training.ValidationShare, c.Training.Workers = -1, workers
	c = c.withDefaults()
	j, err := prepare(context.Background(), &c, tab)
	if err != nil {
		b.Fatal(err)
	}
	net := atAdditive[float32](j, 1)
	net.Init(rand.New(rand.NewPCG(1, 1)))
	t, err := newTrainer(j, net)
	if err != nil {
		b.Fatal(err)
	}
	// Other work on the machine lengthens some steps: the fastest of each batch says what
	// the code takes.
	order := rand.New(rand.NewPCG(1, 1)).Perm(t.train.N)
	var batches [][]int
	for i := 0; i < len(order); i += c.Training.BatchSize {
		batches = append(batches, order[i:min(i+c.Training.BatchSize, len(order))])
	}
	fastest := make([]time.Duration, len(batches))
	t.pool = taskpool.New(workers)
	defer t.pool.Close()
	for b.Loop() {
		for i, rows := range batches {
			t.after = batches[(i+1)%len(batches)]
			began := time.Now()
			t.step(rows, float64(len(rows)), 0.001)
			if took := time.Since(began); fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
	}
	sum := time.Duration(0)
	for _, d := range fastest {
		sum += d
	}
	b.ReportMetric(float64(sum.Microseconds()), "fastest-us/epoch")
}

// BenchmarkSmallFit is a fit of the paper's size from beginning to end: 500 rows, a
// net 20/20 beside two splines, 300 epochs of batches of 32 with early stopping off.
func BenchmarkSmallFit(b *testing.B) {
	tab := simulated(b, 500, 1)
	for b.Loop() {
		_, _, err := Train(context.Background(), Config{
			Structured: Structured{Formulas: []string{`y ~ s(x1, bs="ps", k=9) + s(x2, bs="ps", k=9)`}},
			Deep:       Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{20, 20}},
			Training:   Training{Epochs: 300, BatchSize: 32, Patience: -1, Workers: 1},
		}, tab)
		if err != nil {
			b.Fatal(err)
		}
	}
}
