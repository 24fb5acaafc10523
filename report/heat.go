package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
)

// heat is a function of two features, before and after the projection.
type heat struct {
	Panels       []panel
	XName, YName string
	Key          []swatch // the colours' scale
	KeyTicks     []tick
	caption      []string
}

// panel is one map.
type panel struct {
	Title          string
	X, Y, W, H     string
	Middle         string
	Image          template.URL // a PNG made here, as a data URI
	XTicks, YTicks []tick
}

type swatch struct{ X, W, Color string }

func (d *drawing) heat(e *Effect) (*heat, error) {
	const side, gap, y0 = 134, 34, 22
	limit := math.Max(largest(e.After), largest(e.Before))
	if limit == 0 {
		limit = 1
	}
	h := &heat{XName: clip(e.X.Title(), 26), YName: clip(e.X2.Title(), 14)}
	for i, v := range [][]float64{e.Before, e.After} {
		img, err := colours(v, e.X.Len(), e.X2.Len(), limit)
		if err != nil {
			return nil, fmt.Errorf("drawing %q: %w", e.Term, err)
		}
		x := float64(left + i*(side+gap))
		p := panel{
			Title: []string{"before", "after"}[i], Image: img,
			X: px(x), Y: px(y0), W: px(side), H: px(side), Middle: px(x + side/2),
			XTicks: e.X.marks(x, x+side, 4),
		}
		if i == 0 {
			p.YTicks = e.X2.marks(y0+side, y0, 4)
		}
		h.Panels = append(h.Panels, p)
	}
	const keyFrom, keyTo, steps = 120.0, 300.0, 30
	w := (keyTo - keyFrom) / steps
	for i := range steps {
		c := diverging((float64(i)+0.5)/steps*2 - 1)
		h.Key = append(h.Key, swatch{px(keyFrom + float64(i)*w), px(w + 0.3), fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)})
	}
	for _, v := range []float64{-limit, 0, limit} {
		h.KeyTicks = append(h.KeyTicks, tick{At: px(keyFrom + (v/limit+1)/2*(keyTo-keyFrom)), Label: num(v)})
	}
	if e.Networks != nil {
		h.caption = append(h.caption, "Median standard deviation between networks: "+num(median(e.Networks.SD))+".")
	}
	if se := median(e.SE); !notFinite(se) {
		h.caption = append(h.caption, "Median standard error: "+num(se)+".")
	}
	if slices.ContainsFunc(e.After, math.IsNaN) {
		h.caption = append(h.caption, "Combinations that did not occur are left blank.")
	} else {
		h.caption = append(h.caption, "Corners may hold no data.")
	}
	return h, nil
}

func largest(v []float64) float64 {
	var m float64
	for _, v := range v {
		if !math.IsNaN(v) {
			m = math.Max(m, math.Abs(v))
		}
	}
	return m
}

func median(v []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(v), notFinite)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// marks are the ticks of an axis between two positions.
func (a *Axis) marks(from, to float64, n int) []tick {
	if a.Levels == nil {
		cell := (a.Values[len(a.Values)-1] - a.Values[0]) / float64(max(len(a.Values)-1, 1)) / 2
		s := span{a.Values[0] - cell, a.Values[len(a.Values)-1] + cell} // a value is the middle of its cell
		return a.shownTicks(axis{s.drawable(), from, to}, n)
	}
	var out []tick
	every := (len(a.Levels) + n) / (n + 1) // at most n + 1 labels
	for i := 0; i < len(a.Levels); i += every {
		out = append(out, tick{
			At:    px(from + (float64(i)+0.5)/float64(len(a.Levels))*(to-from)),
			Label: clip(a.Levels[i], 6),
		})
	}
	return out
}

// colours paints v (nx x ny, the first index across, the second upwards), one
// pixel a value.
func colours(v []float64, nx, ny int, limit float64) (template.URL, error) {
	img := image.NewRGBA(image.Rect(0, 0, nx, ny))
	for i := range nx {
		for j := range ny {
			if at := v[i*ny+j]; !math.IsNaN(at) { // else transparent
				img.SetRGBA(i, ny-1-j, diverging(at/limit))
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// diverging is blue for -1, near white for 0, orange for 1: lightness alone
// tells the size, and no form of colour blindness mixes the two hues up.
func diverging(v float64) color.RGBA {
	stops := [][3]float64{{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {224, 130, 20}, {127, 59, 8}}
	at := (math.Min(math.Max(v, -1), 1) + 1) / 2 * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	w := at - float64(i)
	mix := func(c int) uint8 { return uint8(math.Round((1-w)*stops[i][c] + w*stops[i+1][c])) }
	return color.RGBA{mix(0), mix(1), mix(2), 255}
}
