package experiment

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plot is the panel as gonum/plot draws it; it will be about so wide.
func (p *Panel) plot(width vg.Length, colors map[string]color.Color) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.Title.Padding = p.Title, 6*pixel
	dress(&out.Title.TextStyle, ink, 13, true)
	x, y := p.spanX(), p.spanY()
	dressAxis(&out.X, p.X, p.LogX)
	dressAxis(&out.Y, p.Y, p.LogY)
	if p.Heat != nil {
		out.Add(p.Heat.plotter())
	} else {
		lines := plotter.NewGrid()
		lines.Vertical.Color, lines.Horizontal.Color = hex(rule), hex(rule)
		out.Add(lines)
	}
	for _, l := range p.Levels {
		if err := addLine(out, plotter.XYs{{X: x.lo, Y: l.Y}, {X: x.hi, Y: l.Y}}, stroke(hex(ink), 1, true)); err != nil {
			return nil, err
		}
	}
	of := func(name, given string) color.Color {
		if given != "" {
			return hex(given)
		}
		if c := colors[name]; c != nil {
			return c
		}
		return palette(0)
	}
	for i := range p.Lines {
		if err := p.Lines[i].add(out, p, of(p.Lines[i].Name, p.Lines[i].Color)); err != nil {
			return nil, err
		}
	}
	if n := len(p.Categories); n > 0 {
		out.NominalX(p.Categories...)
		slot := vg.Length(0.84) * (width - 80*pixel) / vg.Length(n*max(1, len(p.Boxes)))
		for i := range p.Boxes {
			b := &p.Boxes[i]
			if err := b.add(out, y, of(b.Name, b.Color), slot, vg.Length(i)-vg.Length(len(p.Boxes)-1)/2); err != nil {
				return nil, err
			}
		}
	}
	out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = x.lo, x.hi, y.lo, y.hi
	return out, nil
}

// draw puts the panel on its place, with its scale of colours and the count of points
// that lie beyond the axis.
func (p *Panel) draw(c draw.Canvas, as *plot.Plot) {
	as.Draw(c)
	inner := as.DataCanvas(c)
	if p.Heat != nil {
		bar := p.Heat.bar()
		bar.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: inner.Max.X + 10*pixel, Y: inner.Min.Y - 5*pixel}, Max: vg.Point{X: inner.Max.X + 68*pixel, Y: inner.Max.Y + 5*pixel}}})
	}
	beyond := 0
	for _, b := range p.Boxes {
		for _, v := range b.Values {
			for _, x := range v {
				if x-x == 0 && (x < as.Y.Min || x > as.Y.Max) {
					beyond++
				}
			}
		}
	}
	if beyond > 0 {
		s := style(hex(soft), 11, false)
		s.XAlign, s.YAlign = text.XRight, text.YTop
		c.FillText(s, vg.Point{X: inner.Max.X, Y: inner.Max.Y}, fmt.Sprintf("%d points beyond the axis", beyond))
	}
}

// dress gives a text a colour, and a size in pixels.
func dress(s *text.Style, c string, size float64, bold bool) {
	s.Color, s.Font = hex(c), style(hex(c), size, bold).Font
}

func dressAxis(a *plot.Axis, label string, log bool) {
	a.Label.Text, a.Label.Padding = label, 4*pixel
	dress(&a.Label.TextStyle, ink, 12.5, false)
	dress(&a.Tick.Label, soft, 12, false)
	a.Color, a.Tick.Color, a.Tick.Length = hex(soft), hex(soft), 4*pixel
	a.Padding, a.Tick.Marker = 0, plot.TickerFunc(linearTicks)
	if log {
		a.Scale, a.Tick.Marker = logScale{}, plot.TickerFunc(logTicks)
	}
}

// add draws the line, which is broken where it has no value, and its band below it.
func (l *Line) add(to *plot.Plot, p *Panel, c color.Color) error {
	placed := func(i int, y float64) bool {
		return l.X[i]-l.X[i] == 0 && y-y == 0 && (!p.LogX || l.X[i] > 0) && (!p.LogY || y > 0)
	}
	if l.Lo != nil {
		var upper, lower plotter.XYs
		for i := range l.X {
			if placed(i, l.Lo[i]) && placed(i, l.Hi[i]) {
				upper, lower = append(upper, plotter.XY{X: l.X[i], Y: l.Hi[i]}), append(lower, plotter.XY{X: l.X[i], Y: l.Lo[i]})
			}
		}
		slices.Reverse(lower)
		if len(upper) > 0 {
			band, err := plotter.NewPolygon(append(upper, lower...))
			if err != nil {
				return err
			}
			band.Color, band.LineStyle.Width = faint(c, 0.18), 0
			to.Add(band)
		}
	}
	pen := stroke(c, 2.2, l.Dashed)
	if l.Translucid {
		pen = stroke(faint(c, 0.35), 1, l.Dashed)
	}
	var run, points plotter.XYs
	for i := range l.X {
		if placed(i, l.Y[i]) {
			run = append(run, plotter.XY{X: l.X[i], Y: l.Y[i]})
			points = append(points, run[len(run)-1])
			continue
		}
		if err := addLine(to, run, pen); err != nil {
			return err
		}
		run = nil
	}
	if err := addLine(to, run, pen); err != nil || !l.Dots || len(points) == 0 {
		return err
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 3.2 * pixel, Shape: draw.CircleGlyph{}}
	to.Add(dots)
	return nil
}

func addLine(to *plot.Plot, points plotter.XYs, pen draw.LineStyle) error {
	if len(points) == 0 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.LineStyle = pen
	to.Add(line)
	return nil
}

// add draws the boxes of a series beside those of others: place slots to the right of
// each category's centre. Values beyond the axis are drawn at its end.
func (s *Boxes) add(to *plot.Plot, axis span, c color.Color, slot, place vg.Length) error {
	for category, all := range s.Values {
		var v plotter.Values
		for _, x := range all {
			if x-x == 0 {
				v = append(v, math.Max(axis.lo, math.Min(axis.hi, x)))
			}
		}
		if len(v) == 0 {
			continue
		}
		b, err := plotter.NewBoxPlot(min(0.84*slot, 28*pixel), float64(category), v)
		if err != nil {
			return err
		}
		b.Offset, b.CapWidth, b.FillColor = place*slot, 0, faint(c, 0.35)
		b.BoxStyle, b.WhiskerStyle, b.MedianStyle = stroke(c, 1, false), stroke(c, 1, false), stroke(c, 2.4, false)
		b.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 1.8 * pixel, Shape: draw.RingGlyph{}}
		to.Add(b)
	}
	return nil
}
