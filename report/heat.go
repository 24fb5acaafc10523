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

// heat is a function of two features: maps before and after the projection and of the
// standard error, side by side.
type heat struct {
	Panels       []panel
	Height, KeyY string
	KeyText      string // height of the colours' labels
	TickY, NameY string
	XName, YName string
	XScale       string
	YScale       string
	caption      []string
}

// panel is one map.
type panel struct {
	Title          string
	X, Y, W, H     string
	Middle         string
	X0, X1, Y0, Y1 string       // ranges of the axes
	Image          template.URL // a PNG made here, as a data URI
	Contours       string       // path
	Labels         []contourLabel
	Points         string // path: places of some rows
	XTicks, YTicks []tick
	Key            []swatch // the colours' scale
	KeyTicks       []tick
}

type contourLabel struct {
	X, Y, Text string
	at         point
}

type swatch struct{ X, W, Color string }

// Sizes of a surface's picture in its own units; pixels are those of a map's side.
const (
	heatWidth = 760
	heatTop   = 22
	heatGap   = 36
	pixels    = 90
)

// surface is a map to be drawn.
type surface struct {
	title  string
	v      []float64
	limit  float64
	colour func(share float64) color.RGBA
	signed bool
}

func (d *drawing) heat(e *Effect) (*heat, error) {
	maps := d.surfaces(e)
	size := math.Min((heatWidth-left-14-heatGap*float64(len(maps)-1))/float64(len(maps)), 332)
	bottom := heatTop + size
	h := &heat{
		XName: clip(e.X.Title(), 40), YName: clip(e.X2.Title(), 24),
		TickY: px(bottom + 14), NameY: px(bottom + 30), KeyY: px(bottom + 42), KeyText: px(bottom + 66), Height: px(bottom + 74),
	}
	y := newSide(e.X2, d.quantiles(e.X2.Feature, e), bottom, heatTop)
	for i, s := range maps {
		from := left + float64(i)*(size+heatGap)
		x := newSide(e.X, d.quantiles(e.X.Feature, e), from, from+size)
		p, err := s.panel(x, y)
		if err != nil {
			return nil, fmt.Errorf("drawing %q: %w", e.Term, err)
		}
		if i == 0 {
			p.YTicks = y.ticks(6)
		}
		if s.title != "before" {
			p.Points = d.points(e, x, y)
		}
		h.Panels = append(h.Panels, *p)
		if i == 0 {
			h.XScale, h.YScale = x.scale(), y.scale()
			h.caption = append(x.words(), y.words()...)
		}
	}
	h.caption = append(h.caption, d.heatWords(e, maps)...)
	return h, nil
}

// surfaces are the maps of e: before, unless the network has no such effect, and after on
// one scale of colours, and the standard error.
func (d *drawing) surfaces(e *Effect) []surface {
	limit := d.limit(e, e.After)
	before := d.both || e.hasBefore()
	if before {
		limit = math.Max(limit, d.limit(e, e.Before))
	}
	if limit == 0 {
		limit = 1
	}
	var out []surface
	if before {
		out = append(out, surface{"before", e.Before, limit, diverging, true})
	}
	out = append(out, surface{"after", e.After, limit, diverging, true})
	if se := d.limit(e, e.SE); se > 0 {
		out = append(out, surface{"standard error", e.SE, se, sequential, false})
	}
	return out
}

// limit is where the colours of v end: at its size where rows lie, if that is known, or
// farther out where a fifth of the map would be of the last colour, up to twice as far.
func (d *drawing) limit(e *Effect, v []float64) float64 {
	x, y := newSide(e.X, nil, 0, 1), newSide(e.X2, nil, 0, 1)
	var at []float64
	for _, row := range d.sample(e) {
		at = append(at, between(v, e.X2.Len(), x.locate(row.x), y.locate(row.y)))
	}
	if limit := within(at, 0.995); limit > 0 {
		return math.Min(math.Max(limit, within(v, 0.8)), 2*limit)
	}
	return within(v, 0.995)
}

// panel draws one map.
func (s *surface) panel(x, y *side) (*panel, error) {
	r := newRaster(s.v, x, y, pixels)
	img, err := r.image(s.limit, s.signed, s.colour)
	if err != nil {
		return nil, err
	}
	p := &panel{
		Title: s.title, Image: img, X: px(x.from), Y: px(y.to), W: px(x.to - x.from), H: px(y.from - y.to),
		Middle: px((x.from + x.to) / 2), XTicks: x.ticks(5),
	}
	p.X0, p.X1 = x.ends()
	p.Y0, p.Y1 = y.ends()
	if x.continuous() && y.continuous() {
		var all path
		for _, c := range r.contours(int((x.to-x.from)/26), s.limit, x.from, x.to, y.from, y.to) {
			p.draw(c, &all)
		}
		p.Contours = all.String()
	}
	p.key(s, x.from, x.to)
	return p, nil
}

// draw adds the lines to a path, and labels the longest where there is room.
func (p *panel) draw(c contourLine, all *path) {
	var longest []point
	for _, line := range c.lines {
		if length(line) > length(longest) {
			longest = line
		}
		if length(line) > 4 { // shorter ones are specks
			all.trace(line)
		}
	}
	if length(longest) < 60 {
		return
	}
	for _, share := range []float64{0.5, 0.35, 0.65, 0.2, 0.8} {
		at := longest[int(share*float64(len(longest)-1))]
		l := contourLabel{px(at.x), px(at.y + 3), c.label, at}
		if !slices.ContainsFunc(p.Labels, l.covers) {
			p.Labels = append(p.Labels, l)
			return
		}
	}
}

// covers tells whether two labels overlap.
func (l contourLabel) covers(o contourLabel) bool {
	return math.Abs(l.at.y-o.at.y) < 15 && math.Abs(l.at.x-o.at.x) < 2.7*float64(len(l.Text)+len(o.Text))+4
}

// key draws the scale of the colours below a map.
func (p *panel) key(s *surface, from, to float64) {
	from, to = from+18, to-18 // room for the outer labels
	const steps = 20
	w := (to - from) / steps
	least := 0.0
	if s.signed {
		least = -1
	}
	for i := range steps {
		c := s.colour(least + (float64(i)+0.5)/steps*(1-least))
		p.Key = append(p.Key, swatch{px(from + float64(i)*w), px(w + 0.3), fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)})
	}
	for _, v := range []float64{least, (least + 1) / 2, 1} {
		p.KeyTicks = append(p.KeyTicks, tick{At: px(from + (v-least)/(1-least)*(to-from)), Label: num(v * s.limit)})
	}
}

// continuous: not levels, nor whole numbers that are drawn apart.
func (s *side) continuous() bool { return s.frame != nil && !s.bands }

// ends are the limits of what is drawn, empty of levels.
func (s *side) ends() (from, to string) {
	if s.frame == nil {
		return "", ""
	}
	return exact(s.frame.lo), exact(s.frame.hi)
}

func (s *side) scale() string {
	if s.frame == nil {
		return "levels"
	}
	return s.frame.warp.String()
}

func (s *side) words() []string {
	if s.frame == nil {
		return nil
	}
	return s.frame.caption
}

// points are the places of the sampled rows.
func (d *drawing) points(e *Effect, x, y *side) string {
	var p path
	if x.frame == nil || y.frame == nil {
		return ""
	}
	for _, row := range d.sample(e) {
		if x.within(row.x) && y.within(row.y) {
			p.dot(x.at(row.x), y.at(row.y))
		}
	}
	return p.String()
}

// heatWords are what the maps do not say.
func (d *drawing) heatWords(e *Effect, maps []surface) []string {
	var out []string
	if e.Networks != nil {
		out = append(out, "Median standard deviation between networks: "+num(median(e.Networks.SD))+".")
	}
	if se := median(e.SE); !notFinite(se) {
		out = append(out, "Median standard error: "+num(se)+".")
	}
	s := emptySpan()
	for _, v := range slices.Concat(e.After, e.Before) {
		s.add(v)
	}
	if i := slices.IndexFunc(maps, func(m surface) bool { return m.title == "after" }); math.Max(s.hi, -s.lo) > 1.05*maps[i].limit {
		out = append(out, fmt.Sprintf("Colours end at ±%s, beyond which hardly any row lies; in all the effect runs from %s to %s.", num(maps[i].limit), num(s.lo), num(s.hi)))
	}
	if last := maps[len(maps)-1]; !last.signed && largest(last.v) > 1.05*last.limit {
		out = append(out, "The standard error is up to "+num(largest(last.v))+" elsewhere.")
	}
	blank := slices.ContainsFunc(e.After, math.IsNaN)
	switch known := d.supportOf(e) != nil; {
	case blank && known:
		out = append(out, "Blank: farther from every row than a tenth of the ranges.")
	case blank:
		out = append(out, "Combinations that did not occur are left blank.")
	case !known && !d.both:
		out = append(out, "Corners may hold no data.")
	}
	return out
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

// image paints r, one pixel a value, in 64 colours at most.
func (r *raster) image(limit float64, signed bool, colour func(float64) color.RGBA) (template.URL, error) {
	const shades = 63
	palette := color.Palette{color.RGBA{}} // without a value: transparent
	for i := range shades {
		share := float64(i) / (shades - 1)
		if signed {
			share = 2*share - 1
		}
		palette = append(palette, colour(share))
	}
	img := image.NewPaletted(image.Rect(0, 0, r.nx, r.ny), palette)
	for i := range r.nx {
		for j := range r.ny {
			share := r.v[i*r.ny+j] / limit
			if math.IsNaN(share) {
				continue
			}
			if signed {
				share = (share + 1) / 2
			}
			img.SetColorIndex(i, r.ny-1-j, 1+uint8(math.Round(math.Min(math.Max(share, 0), 1)*(shades-1))))
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// diverging is blue for -1, near white for 0, orange for 1: lightness alone
// tells the size, and no form of colour blindness mixes the two hues up.
func diverging(v float64) color.RGBA {
	return blend([][3]float64{{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {224, 130, 20}, {127, 59, 8}}, (v+1)/2)
}

// sequential is near white for 0, green for 1.
func sequential(v float64) color.RGBA {
	return blend([][3]float64{{250, 250, 250}, {205, 230, 210}, {140, 196, 158}, {62, 145, 104}}, v)
}

// blend mixes neighbouring colours; at runs from 0, the first, to 1, the last.
func blend(stops [][3]float64, at float64) color.RGBA {
	at = math.Min(math.Max(at, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	w := at - float64(i)
	mix := func(c int) uint8 { return uint8(math.Round((1-w)*stops[i][c] + w*stops[i+1][c])) }
	return color.RGBA{mix(0), mix(1), mix(2), 255}
}
