package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
)

// Note is a warning, and of what else it is said in the same words.
type Note struct {
	Text string
	// Same are the names, in order, of which further warnings say the same: those that
	// stand where this one has its own.
	Same []string
}

// Also says in words of what else the note is, naming at most so many; "" if of nothing.
func (n Note) Also(most int) string {
	if len(n.Same) == 0 {
		return ""
	}
	names := n.Same
	if len(names) > most+1 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	return "the same of " + strings.Join(names, ", ")
}

// Grouped are warnings with those in one that differ in names alone, of predictors, terms
// and columns of r: in the order of the first of each. r.Warnings keeps every one.
func Grouped(warnings []string, r *decompose.Result) []Note { return grouped(warnings, namesOf(r)) }

// grouped are warnings with those in one that differ in known names alone.
func grouped(warnings []string, known *names) []Note {
	var out []Note
	var first [][]string
	at := map[string]int{}
	for _, text := range warnings {
		shape, names := shapeOf(text, known)
		i, ok := at[shape]
		if !ok {
			at[shape] = len(out)
			out, first = append(out, Note{Text: text}), append(first, names)
			continue
		}
		if same := differing(first[i], names, strings.HasPrefix(shape, "\x00\x01")); !slices.Contains(out[i].Same, same) {
			out[i].Same = append(out[i].Same, same)
		}
	}
	return out
}

// differing names what stands where others stood: the first name that differs, behind the
// predictor's if warnings begin with one and that differs too.
func differing(first, names []string, predictors bool) string {
	var out []string
	for i := range names {
		if i < len(first) && names[i] != first[i] && !slices.Contains(out, names[i]) {
			out = append(out, names[i])
		}
	}
	switch {
	case len(out) == 0:
		return strings.Join(names[:min(len(names), 1)], "")
	case predictors && names[0] == out[0] && len(out) > 1:
		return out[0] + ": " + out[1]
	}
	return out[0]
}

// names are known names by kind: 1 predictors, 2 terms, 3 columns.
type names struct {
	kind   map[string]byte
	spaced []string // terms and columns with white space in them, longest first
}

// spacedAt is the longest name with white space in it that text begins with; "": none.
func (n *names) spacedAt(text string) string {
	for _, name := range n.spaced {
		if strings.HasPrefix(text, name) {
			return name
		}
	}
	return ""
}

// letter tells whether text ends in a letter, so that no name begins behind it.
func letter(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r)
}

func namesOf(r *decompose.Result) *names {
	out := map[string]byte{}
	for i := range r.Predictors {
		p := &r.Predictors[i]
		for j := range p.Terms {
			for _, f := range p.Terms[j].Features {
				out[f] = 3
			}
		}
	}
	for _, f := range r.Features {
		out[f.Name] = 3
	}
	for i := range r.Predictors {
		p := &r.Predictors[i]
		for j := range p.Terms {
			if name := p.Terms[j].Name; out[name] == 0 {
				out[name] = 2
			}
		}
	}
	for i := range r.Predictors {
		out[r.Predictors[i].Name] = 1
	}
	return newNames(out)
}

// newNames are names of these kinds.
func newNames(kind map[string]byte) *names {
	delete(kind, "")
	n := &names{kind: kind}
	for name, kind := range kind {
		if kind > 1 && strings.ContainsFunc(name, unicode.IsSpace) {
			n.spaced = append(n.spaced, name)
		}
	}
	slices.SortFunc(n.spaced, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return n
}

// shapeOf is a warning with marks in place of names, and these names: the predictor that it
// begins with, names in quotes, and words that are names (with the number of a column
// behind them, as s(x).9).
func shapeOf(text string, known *names) (shape string, found []string) {
	var b strings.Builder
	mark := func(name string, kind byte) {
		found = append(found, name)
		b.WriteByte(0)
		b.WriteByte(kind)
	}
	if i := strings.Index(text, ": "); i > 0 && known.kind[text[:i]] == 1 {
		mark(text[:i], 1)
		text = text[i:]
	}
	for text != "" {
		if name, rest, ok := quoted(text); ok {
			mark(name, 3)
			text = rest
			continue
		}
		if name := known.spacedAt(text); name != "" && (b.Len() == 0 || !letter(b.String())) {
			mark(name, known.kind[name])
			text = text[len(name):]
			continue
		}
		word := wordOf(text)
		name := strings.TrimRight(word, ",;:.")
		core := withoutNumber(name)
		switch {
		case word == "":
			_, n := utf8.DecodeRuneInString(text)
			b.WriteString(text[:n])
			text = text[n:]
			continue
		case known.kind[name] > 1:
			mark(name, known.kind[name])
			b.WriteString(word[len(name):])
		case core != name && known.kind[core] > 1:
			mark(core, known.kind[core])
			b.WriteString(word[len(core):])
		default:
			b.WriteString(word)
		}
		text = text[len(word):]
	}
	return b.String(), found
}

// quoted is the name in quotes that text begins with.
func quoted(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	end := strings.Index(text[1:], `"`)
	if end < 0 {
		return "", "", false
	}
	return text[1 : 1+end], text[end+2:], true
}

// wordOf is what text begins with up to white space or a quote.
func wordOf(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); end >= 0 {
		return text[:end]
	}
	return text
}

// withoutNumber is a column of a term without its number: s(x) of s(x).9.
func withoutNumber(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}
