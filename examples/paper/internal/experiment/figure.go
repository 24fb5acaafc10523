package experiment

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Figure is panels in rows of Columns, with one legend for all of them.
type Figure struct {
	Title   string
	Note    []string // lines below the panels
	Columns int      // panels side by side; 0: all
	Panels  []Panel
	// Width and Height of a panel with its labels; 0: 420 and 300.
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

// Boxes is a series of box plots: median, quartiles, whiskers to the last point
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

// Palette of Okabe and Ito, which people with colour blindness can tell apart.
var palette = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6e7781", "#f0e442"}

const (
	ink     = "#1b1f24"
	soft    = "#57606a"
	grid    = "#e7ebef"
	fonts   = `system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif`
	margin  = 14.0
	titleAt = 26.0
)

// WriteFigure draws f as a file of the results.
func (e *Experiment) WriteFigure(name string, f *Figure) error {
	return e.WriteFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, f.SVG())
		return err
	})
}

// SVG draws the figure: equal figures are equal bytes.
func (f *Figure) SVG() string {
	g := *f
	if g.Columns == 0 {
		g.Columns = len(g.Panels)
	}
	if g.Width == 0 {
		g.Width = 420
	}
	if g.Height == 0 {
		g.Height = 300
	}
	entries := g.legend()
	d := &drawing{color: map[string]string{}}
	for _, e := range entries {
		d.color[e.name] = e.color
	}
	top := titleAt + 12
	width := math.Max(2*margin+float64(g.Columns)*g.Width, 2*margin+1.08*textWidth(g.Title, 16))
	g.Note = wrapped(g.Note, width-2*margin)
	rows, legendHeight := d.legend(entries, margin, top+6, width-2*margin)
	top += legendHeight
	lines := (len(g.Panels) + g.Columns - 1) / max(1, g.Columns)
	height := top + float64(lines)*g.Height + float64(len(g.Note))*16 + margin
	shared := newSpan()
	if g.SharedY {
		for i := range g.Panels {
			shared.join(g.Panels[i].spanY())
		}
	}
	var body strings.Builder
	for i := range g.Panels {
		p := g.Panels[i]
		y := p.spanY()
		if g.SharedY {
			y = shared
		}
		x0, y0 := margin+float64(i%g.Columns)*g.Width, top+float64(i/g.Columns)*g.Height
		d.panel(&body, &p, x0, y0, g.Width, g.Height, y)
	}
	for i, n := range g.Note {
		body.WriteString(text(margin, top+float64(lines)*g.Height+float64(i)*16+10, n, soft, 12, "start", ""))
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s" font-family="%s">`+"\n",
		num(width), num(height), num(width), num(height), escape(g.Title), fonts)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	out.WriteString(text(margin, titleAt, g.Title, ink, 16, "start", ` font-weight="600"`))
	out.WriteString(rows)
	out.WriteString(body.String())
	out.WriteString("</svg>\n")
	return out.String()
}

// entry is a line of the legend.
type entry struct {
	name, color string
	dashed, box bool
}

// legend lists the series of all panels once, in the order of their appearance.
func (f *Figure) legend() []entry {
	var out []entry
	seen := map[string]bool{}
	add := func(name, color string, dashed, box bool) {
		if name == "" || seen[name] {
			return
		}
		seen[name] = true
		if color == "" {
			color = palette[len(out)%len(palette)]
		}
		out = append(out, entry{name, color, dashed, box})
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
	return out
}

// drawing knows the colours of the series.
type drawing struct{ color map[string]string }

func (d *drawing) of(name, color string) string {
	if color != "" {
		return color
	}
	if c, ok := d.color[name]; ok {
		return c
	}
	return palette[0]
}

// legend draws the entries from (x, y), wrapped to the width, and tells its
// height.
func (d *drawing) legend(entries []entry, x, y, width float64) (string, float64) {
	if len(entries) == 0 {
		return "", 0
	}
	var b strings.Builder
	at, line := x, 0.0
	for _, e := range entries {
		w := 42 + textWidth(e.name, 13)
		if at+w > x+width && at > x {
			at, line = x, line+20
		}
		switch {
		case e.box:
			fmt.Fprintf(&b, `<rect x="%s" y="%s" width="18" height="11" fill="%s" fill-opacity=".35" stroke="%s"/>`+"\n", num(at), num(y+line-5), e.color, e.color)
		default:
			dash := ""
			if e.dashed {
				dash = ` stroke-dasharray="5 3"`
			}
			fmt.Fprintf(&b, `<path d="M%s %sh18" stroke="%s" stroke-width="2.2"%s/>`+"\n", num(at), num(y+line), e.color, dash)
		}
		b.WriteString(text(at+24, y+line+4.5, e.name, ink, 13, "start", ""))
		at += w
	}
	return b.String(), line + 22
}

func text(x, y float64, s, color string, size float64, anchor, more string) string {
	return fmt.Sprintf(`<text x="%s" y="%s" fill="%s" font-size="%s" text-anchor="%s"%s>%s</text>`+"\n", num(x), num(y), color, num(size), anchor, more, escape(s))
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}

// textWidth is about that of s: fonts differ.
func textWidth(s string, size float64) float64 { return 0.58 * size * float64(len([]rune(s))) }

// wrapped breaks lines of notes at spaces so that they fit the width.
func wrapped(lines []string, width float64) []string {
	var out []string
	for _, l := range lines {
		line := ""
		for _, word := range strings.Fields(l) {
			if line != "" && textWidth(line+" "+word, 12) > width {
				out, line = append(out, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		out = append(out, line)
	}
	return out
}

// num writes a coordinate with a tenth of a unit.
func num(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
