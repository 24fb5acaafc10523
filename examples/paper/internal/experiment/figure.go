package experiment

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is panels in rows of Columns, with one legend for all of them.
type Figure struct {
	Title   string
	Note    []string // lines below the panels
	Columns int      // panels side by side; 0: all
	Panels  []Panel
	// Width and Height of a panel with its labels, in pixels; 0: 420 and 300.
	Width, Height float64
	// SharedY gives all panels the same vertical axis.
	SharedY bool
}

// Panel is one system of axes. Its x axis is numeric, or has Categories, at whose
// places boxes stand.
type Panel struct {
	Title, X, Y string // labels name what is shown and its unit
	LogX, LogY  bool
	// MinY and MaxY bound the vertical axis if they differ: boxes and lines are cut
	// there, and the count of points beyond is written at the edge.
	MinY, MaxY float64
	Categories []string
	Boxes      []Boxes
	Lines      []Line
	Levels     []Level
	Heat       *Heat
}

// Boxes is a series of box plots: median, quartiles (medians of the halves), whiskers to the last point
// within 1.5 times their distance, and the points beyond.
type Boxes struct {
	Name   string
	Color  string      // "": by the series' name; see Color
	Values [][]float64 // of each category
}

// Line is a curve; points where Y is NaN break it.
type Line struct {
	Name       string
	Color      string // "": by the series' name
	X, Y       []float64
	Lo, Hi     []float64 // a band around it; nil: none
	Dashed     bool
	Dots       bool // marks each point
	Translucid bool // one of many
}

// Level is a horizontal line, with its name in the legend.
type Level struct {
	Name string
	Y    float64
}

// Heat is a map of values on a grid, X varying slowest, on a scale from -Limit to
// Limit: blue below zero, orange above. NaN cells are left out.
type Heat struct {
	X, Y  []float64 // centres of cells, increasing
	Z     []float64
	Limit float64 // 0: the largest |Z|
}

const (
	ink  = "#1b1f24"
	soft = "#57606a"
	rule = "#e7ebef"
)

// pixel is a 96th of an inch, the unit of widths and heights here.
const pixel = vg.Inch / 96

// palette of Okabe and Ito, which people with colour blindness can tell apart.
func palette(i int) color.Color {
	all := []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6e7781", "#f0e442"}
	return hex(all[i%len(all)])
}

// hex is a colour written as "#1b1f24"; black if it is not.
func hex(s string) color.NRGBA {
	c := color.NRGBA{A: 255}
	_, _ = fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

func faint(c color.Color, alpha float64) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(math.Round(255 * alpha))
	return n
}

// style is a sans serif text of so many pixels.
func style(c color.Color, size float64, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size) * pixel}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

// WriteFigure draws f as a file of the results.
func (e *Experiment) WriteFigure(name string, f *Figure) error {
	svg, err := f.SVG()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return e.WriteFile(name, func(w io.Writer) error {
		_, err := w.Write(svg)
		return err
	})
}

// SVG draws the figure: equal figures are equal bytes.
func (f *Figure) SVG() ([]byte, error) {
	const margin = 14 * pixel
	columns := cmp.Or(f.Columns, max(1, len(f.Panels)))
	rows := (len(f.Panels) + columns - 1) / columns
	panelWidth, panelHeight := vg.Length(cmp.Or(f.Width, 420))*pixel, vg.Length(cmp.Or(f.Height, 300))*pixel
	title, note := style(hex(ink), 16, true), style(hex(soft), 12, false)
	entries, colors := f.legend()
	width := max(2*margin+vg.Length(columns)*panelWidth, 2*margin+title.Width(f.Title))
	lines := wrapped(note, f.Note, width-2*margin)
	keys := rowsOf(entries, width-2*margin)
	top := margin + 24*pixel + vg.Length(len(keys))*20*pixel
	bottom := margin + vg.Length(len(lines))*16*pixel
	height := top + vg.Length(rows)*panelHeight + bottom

	svg := vgsvg.NewWith(vgsvg.UseWH(width, height))
	c := draw.New(svg)
	c.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	c.FillText(title, vg.Point{X: margin, Y: height - margin - 12*pixel}, f.Title)
	for i, row := range keys {
		at := vg.Point{X: margin, Y: height - margin - 34*pixel - vg.Length(i)*20*pixel}
		for _, e := range row {
			e.draw(c, at)
			at.X += e.width()
		}
	}
	for i, l := range lines {
		c.FillText(note, vg.Point{X: margin, Y: bottom - 12*pixel - vg.Length(i)*16*pixel}, l)
	}
	if err := f.drawPanels(draw.Crop(c, margin, -margin, bottom, -top), rows, columns, panelWidth, colors); err != nil {
		return nil, err
	}
	rendering := "auto"
	if slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Heat != nil }) {
		rendering = "crispEdges"
	}
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return nil, err
	}
	// Few machines have the font; these are as wide. Crisp edges leave no seams between
	// the cells of a map.
	drawn := bytes.Replace(out.Bytes(), []byte("<svg "), fmt.Appendf(nil, `<svg role="img" aria-label="%s" shape-rendering="%s" `, html.EscapeString(f.Title), rendering), 1)
	return bytes.ReplaceAll(drawn, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// drawPanels draws rows of panels with their data areas below and beside one another.
func (f *Figure) drawPanels(c draw.Canvas, rows, columns int, width vg.Length, colors map[string]color.Color) error {
	if len(f.Panels) == 0 {
		return nil
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 12 * pixel, PadY: 10 * pixel}
	if slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Heat != nil }) {
		tiles.PadX, tiles.PadRight = 70*pixel, 70*pixel // for the scales of colours
	}
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range f.Panels {
		p, err := f.Panels[i].plot(width, colors)
		if err != nil {
			return fmt.Errorf("panel %q: %w", f.Panels[i].Title, err)
		}
		plots[i/columns][i%columns] = p
		lo, hi = min(lo, p.Y.Min), max(hi, p.Y.Max)
	}
	if f.SharedY {
		for i := range f.Panels {
			y := &plots[i/columns][i%columns].Y
			y.Min, y.Max = lo, hi
		}
	}
	places := plot.Align(plots, tiles, c)
	for i := range f.Panels {
		f.Panels[i].draw(places[i/columns][i%columns], plots[i/columns][i%columns])
	}
	return nil
}

// entry is a series in the legend.
type entry struct {
	name        string
	color       color.Color
	dashed, box bool
}

// legend lists the series of all panels once, in the order of their appearance, and
// their colours by name.
func (f *Figure) legend() ([]entry, map[string]color.Color) {
	var out []entry
	colors := map[string]color.Color{}
	add := func(name, given string, dashed, box bool) {
		if _, seen := colors[name]; name == "" || seen {
			return
		}
		c := palette(len(out))
		if given != "" {
			c = hex(given)
		}
		colors[name] = c
		out = append(out, entry{name, c, dashed, box})
	}
	for _, p := range f.Panels {
		for _, b := range p.Boxes {
			add(b.Name, b.Color, false, true)
		}
		for _, l := range p.Lines {
			add(l.Name, l.Color, l.Dashed, false)
		}
		for _, l := range p.Levels {
			add(l.Name, ink, true, false)
		}
	}
	return out, colors
}

// width of an entry with its sign and the gap to the next one.
func (e entry) width() vg.Length { return 42*pixel + 1.1*style(nil, 13, false).Width(e.name) } // fonts differ

func (e entry) draw(c draw.Canvas, at vg.Point) {
	if e.box {
		sign := []vg.Point{{X: at.X, Y: at.Y - 1*pixel}, {X: at.X + 18*pixel, Y: at.Y - 1*pixel}, {X: at.X + 18*pixel, Y: at.Y + 10*pixel}, {X: at.X, Y: at.Y + 10*pixel}}
		c.FillPolygon(faint(e.color, 0.35), sign)
		c.StrokeLines(draw.LineStyle{Color: e.color, Width: pixel}, append(sign, sign[0]))
	} else {
		c.StrokeLine2(stroke(e.color, 2.2, e.dashed), at.X, at.Y+4*pixel, at.X+18*pixel, at.Y+4*pixel)
	}
	c.FillText(style(hex(ink), 13, false), vg.Point{X: at.X + 24*pixel, Y: at.Y}, e.name)
}

// rowsOf breaks the legend's entries into rows that fit the width.
func rowsOf(entries []entry, width vg.Length) (rows [][]entry) {
	used := width
	for _, e := range entries {
		if used+e.width() > width {
			rows, used = append(rows, nil), 0
		}
		last := len(rows) - 1
		rows[last], used = append(rows[last], e), used+e.width()
	}
	return rows
}

// wrapped breaks lines of notes at spaces so that they fit the width.
func wrapped(s text.Style, lines []string, width vg.Length) []string {
	var out []string
	for _, l := range lines {
		line := ""
		for _, word := range strings.Fields(l) {
			if line != "" && s.Width(line+" "+word) > width {
				out, line = append(out, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		out = append(out, line)
	}
	return out
}

func stroke(c color.Color, width float64, dashed bool) draw.LineStyle {
	s := draw.LineStyle{Color: c, Width: vg.Length(width) * pixel}
	if dashed {
		s.Dashes = []vg.Length{5 * pixel, 3 * pixel}
	}
	return s
}
