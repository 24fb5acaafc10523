package nam_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
)

func background() context.Context { return context.Background() }

// drawn is n rows of ten standard normal features, for which the network of the
// demo was trained.
func drawn(n int) (*data.Table, error) {
	random := rand.New(rand.NewPCG(1, 0))
	tab := data.NewTable(n)
	for j := range 10 {
		x := make([]float64, n)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		if err := tab.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			return nil, err
		}
	}
	return tab, nil
}

// demo opens the neural additive model of the demo.
func demo(src data.Source) (*onnx.Model, error) {
	g, err := onnx.LoadFile(filepath.Join("..", "internal", "command", "demo", "nam.onnx"), nil)
	if err != nil {
		return nil, err
	}
	bind, err := onnx.Bind(g, src.Schema(), nil)
	if err != nil {
		return nil, err
	}
	return onnx.NewModel(g, bind, nil)
}
