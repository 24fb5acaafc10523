package command

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// The picture is of the column whose curve moved most, over most of the rows, in so many
// lines and characters.
const (
	pictureColumn = "x2"
	pictureReach  = 2.0
	pictureLines  = 13
	pictureWidth  = 61
)

// picture draws a column's curve before and after, and the true one.
func (d *demoFlags) picture(ctx context.Context, w io.Writer, r *decompose.Result, a *decompose.Applier, table *data.Table) error {
	x, b, err := pictureGrid(a.Columns())
	if err != nil {
		return err
	}
	before, after, err := curve(ctx, r, a, b, pictureColumn)
	if err != nil {
		return err
	}
	truth, err := centredTruth(ctx, table, x)
	if err != nil {
		return err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, curve := range [][]float64{before, after, truth} {
		for _, v := range curve {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	canvas := make([][]byte, pictureLines)
	for i := range canvas {
		canvas[i] = []byte(strings.Repeat(" ", pictureWidth))
	}
	draw := func(curve []float64, mark byte) {
		for i, v := range curve {
			canvas[int(math.Round((hi-v)/(hi-lo)*(pictureLines-1)))][i] = mark
		}
	}
	draw(truth, '.')
	draw(before, 'o')
	draw(after, '*')
	fmt.Fprintf(w, "The curve of %s: as trained (o), as pho finds it (*), and the true one (.):\n\n", pictureColumn)
	for i, line := range canvas {
		at := hi - (hi-lo)*float64(i)/(pictureLines-1)
		fmt.Fprintf(w, "  %5.1f |%s\n", at, strings.TrimRight(string(line), " "))
	}
	fmt.Fprintf(w, "        +%s\n", strings.Repeat("-", pictureWidth))
	fmt.Fprintf(w, "        %-*g%*g\n", pictureWidth/2, -pictureReach, pictureWidth/2+2, pictureReach)
	return nil
}

// pictureGrid are values of the column, and rows that have them, with 0 elsewhere.
func pictureGrid(columns []string) (x []float64, b *data.Batch, err error) {
	for i := range pictureWidth {
		x = append(x, pictureReach*(2*float64(i)/(pictureWidth-1)-1))
	}
	b = data.NewBatch(len(x), 0)
	for _, name := range columns {
		values := make([]float64, len(x))
		if name == pictureColumn {
			values = x
		}
		if err := b.SetNumeric(name, values); err != nil {
			return nil, nil, err
		}
	}
	return x, b, nil
}

// centredTruth is the true function at x, less its mean over the rows.
func centredTruth(ctx context.Context, table *data.Table, x []float64) ([]float64, error) {
	f := demoFunctions()[2]
	mean := 0.0
	for b, err := range table.Batches(ctx, []string{pictureColumn}) {
		if err != nil {
			return nil, err
		}
		own, err := b.Numeric(pictureColumn)
		if err != nil {
			return nil, err
		}
		for _, v := range own {
			mean += f(v) / float64(table.Rows())
		}
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v) - mean
	}
	return out, nil
}
