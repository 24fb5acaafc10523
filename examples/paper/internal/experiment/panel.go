package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// spanY is the range of what the panel shows.
func (p *Panel) spanY() span {
	if p.MinY != p.MaxY {
		return span{p.MinY, p.MaxY}
	}
	s := newSpan()
	add := func(v []float64) {
		for _, y := range v {
			if !p.LogY || y > 0 {
				s.add(y)
			}
		}
	}
	for _, b := range p.Boxes {
		for _, v := range b.Values {
			add(v)
		}
	}
	for _, l := range p.Lines {
		add(l.Y)
		add(l.Lo)
		add(l.Hi)
	}
	for _, l := range p.Levels {
		add([]float64{l.Y})
	}
	if h := p.Heat; h != nil {
		s.add(h.Y...)
	}
	return s
}

func (p *Panel) spanX() span {
	if len(p.Categories) > 0 {
		return span{0.4, float64(len(p.Categories)) + 0.6}
	}
	s := newSpan()
	for _, l := range p.Lines {
		s.add(l.X...)
	}
	if p.Heat != nil {
		s.add(p.Heat.X...)
	}
	return s
}

// panel draws p into the box at (x0, y0).
func (d *drawing) panel(b *strings.Builder, p *Panel, x0, y0, width, height float64, y span) {
	left, right, top, bottom := x0+58, x0+width-14, y0+26, y0+height-46
	if p.Heat != nil {
		right -= 56 // for the scale of colours
		p.Heat.bar(b, right+10, top, bottom)
	}
	ax := newAxis(p.spanX(), p.LogX, left, right)
	ay := newAxis(y, p.LogY, bottom, top)
	if p.MinY != p.MaxY {
		ay.lo, ay.hi = ay.scale(p.MinY), ay.scale(p.MaxY)
	}
	b.WriteString(text(left, y0+17, p.Title, ink, 13, "start", ` font-weight="600"`))
	for _, t := range ay.ticks(5) {
		v := ay.at(t)
		fmt.Fprintf(b, `<path d="M%s %sH%s" stroke="%s"/>`+"\n", num(left), num(v), num(right), grid)
		b.WriteString(text(left-6, v+4, label(t), soft, 12, "end", ""))
	}
	if n := len(p.Categories); n > 0 {
		ax.lo, ax.hi = 0.5, float64(n)+0.5
		for i, c := range p.Categories {
			b.WriteString(text(ax.at(float64(i+1)), bottom+17, c, soft, 12, "middle", ""))
			if i > 0 {
				fmt.Fprintf(b, `<path d="M%s %sV%s" stroke="%s"/>`+"\n", num(ax.at(float64(i)+0.5)), num(top), num(bottom), grid)
			}
		}
	} else {
		for _, t := range ax.ticks(6) {
			v := ax.at(t)
			fmt.Fprintf(b, `<path d="M%s %sV%s" stroke="%s"/>`+"\n", num(v), num(top), num(bottom), grid)
			b.WriteString(text(v, bottom+17, label(t), soft, 12, "middle", ""))
		}
	}
	b.WriteString(text((left+right)/2, bottom+37, p.X, ink, 12.5, "middle", ""))
	b.WriteString(text(x0+13, (top+bottom)/2, p.Y, ink, 12.5, "middle", fmt.Sprintf(` transform="rotate(-90 %s %s)"`, num(x0+13), num((top+bottom)/2))))
	clip := fmt.Sprintf("c%s-%s", num(x0), num(y0))
	fmt.Fprintf(b, `<clipPath id="%s"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath><g clip-path="url(#%s)">`+"\n",
		clip, num(left), num(top), num(right-left), num(bottom-top), clip)
	if p.Heat != nil {
		p.Heat.draw(b, &ax, &ay)
	}
	for _, l := range p.Levels {
		fmt.Fprintf(b, `<path d="M%s %sH%s" stroke="%s" stroke-dasharray="5 3"/>`+"\n", num(left), num(ay.at(l.Y)), num(right), ink)
	}
	for i := range p.Lines {
		p.Lines[i].draw(b, &ax, &ay, d.of(p.Lines[i].Name, p.Lines[i].Color))
	}
	beyond := 0
	for i, s := range p.Boxes {
		beyond += s.draw(b, &ax, &ay, d.of(s.Name, s.Color), i, len(p.Boxes))
	}
	b.WriteString("</g>\n")
	fmt.Fprintf(b, `<path d="M%s %sV%sH%s" stroke="%s" fill="none"/>`+"\n", num(left), num(top), num(bottom), num(right), soft)
	if beyond > 0 {
		b.WriteString(text(right, y0+17, fmt.Sprintf("%d points beyond the axis", beyond), soft, 11, "end", ""))
	}
}

func (l *Line) draw(b *strings.Builder, ax, ay *axis, color string) {
	if l.Lo != nil {
		var path strings.Builder
		for i := range l.X {
			step(&path, i == 0, ax.at(l.X[i]), ay.at(l.Hi[i]))
		}
		for i := len(l.X) - 1; i >= 0; i-- {
			step(&path, false, ax.at(l.X[i]), ay.at(l.Lo[i]))
		}
		fmt.Fprintf(b, `<path d="%sZ" fill="%s" fill-opacity=".18"/>`+"\n", path.String(), color)
	}
	var path, dots strings.Builder
	broken := true
	for i := range l.X {
		x, y := ax.at(l.X[i]), ay.at(l.Y[i])
		if y-y != 0 || x-x != 0 {
			broken = true
			continue
		}
		step(&path, broken, x, y)
		broken = false
		if l.Dots {
			fmt.Fprintf(&dots, `<circle cx="%s" cy="%s" r="3.2" fill="%s"/>`+"\n", num(x), num(y), color)
		}
	}
	style := ` stroke-width="2.2"`
	if l.Translucid {
		style = ` stroke-width="1" stroke-opacity=".35"`
	}
	if l.Dashed {
		style += ` stroke-dasharray="5 3"`
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-linejoin="round"%s/>`+"\n%s", path.String(), color, style, dots.String())
}

func step(path *strings.Builder, first bool, x, y float64) {
	command := "L"
	if first {
		command = "M"
	}
	fmt.Fprintf(path, "%s%s %s", command, num(x), num(y))
}

// draw puts series i of n at its place within each category and counts the values
// that lie outside the axis.
func (s *Boxes) draw(b *strings.Builder, ax, ay *axis, color string, i, n int) (beyond int) {
	slot := (ax.at(2) - ax.at(1)) * 0.84 / float64(n)
	half := math.Min(0.42*slot, 14)
	for c, all := range s.Values {
		v := slices.DeleteFunc(slices.Clone(all), func(x float64) bool { return x-x != 0 })
		if len(v) == 0 {
			continue
		}
		x := ax.at(float64(c+1)) + slot*(float64(i)-float64(n-1)/2)
		q1, median, q3 := Quantile(0.25, v), Median(v), Quantile(0.75, v)
		inner := newSpan()
		var outliers []float64
		for _, y := range v {
			if y < q1-1.5*(q3-q1) || y > q3+1.5*(q3-q1) {
				outliers = append(outliers, y)
			} else {
				inner.add(y)
			}
			if place := ay.scale(y); place > ay.hi+1e-9 || place < ay.lo-1e-9 {
				beyond++
			}
		}
		inner.add(q1, q3) // between which there may be no point
		at := func(y float64) string { return num(clamp(ay.at(y), ay.b-9, ay.a+9)) }
		fmt.Fprintf(b, `<path d="M%s %sV%sM%s %sV%s" stroke="%s"/>`+"\n", num(x), at(inner.lo), at(q1), num(x), at(q3), at(inner.hi), color)
		fmt.Fprintf(b, `<path d="M%s %sH%sV%sH%sZ" fill="%s" fill-opacity=".35" stroke="%s"/>`+"\n", num(x-half), at(q1), num(x+half), at(q3), num(x-half), color, color)
		fmt.Fprintf(b, `<path d="M%s %sH%s" stroke="%s" stroke-width="2.4"/>`+"\n", num(x-half), at(median), num(x+half), color)
		for _, y := range outliers {
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="1.8" fill="none" stroke="%s"/>`+"\n", num(x), at(y), color)
		}
	}
	return beyond
}

func clamp(x, lo, hi float64) float64 {
	if x-x != 0 { // not positive on a logarithmic axis: below it
		return hi
	}
	return math.Max(lo, math.Min(hi, x))
}
