package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// rowsFile stands for the file of rows, which inspect does not know, and response for the
// column of the response where the network's file does not name it. Of several predictors
// the first two get a formula.
const (
	rowsFile = "rows.csv"
	response = "y"
)

// mostTerms is how many columns a suggested formula names. A dot stands for more.
const mostTerms = 5

// suggest is a command that decomposes the network, with the names of its file: something to
// begin with.
func suggest(path string, g *onnx.Graph, s *onnx.Structure, n *networkFlags) (string, error) {
	words := []string{"pho", "decompose", "--model", shellWord(path), "--data", rowsFile}
	columns := map[string][]string{}
	for _, in := range s.Inputs {
		columns[in.Name] = in.Columns
		if in.Whole != "" {
			words = append(words, "--input", shellWord(in.Name+"=@"+in.Name+".npy"))
		}
		if len(in.Columns) > 1 {
			columns[in.Name] = stems(s, in)
			words = append(words, "--input", shellWord(in.Name+"="+columns[in.Name][0]+".."+columns[in.Name][len(in.Columns)-1]))
		}
	}
	for _, name := range n.predictor {
		words = append(words, "--predictor", shellWord(name))
	}
	for _, flag := range n.constants {
		words = append(words, "--constant", shellWord(flag))
	}
	if n.clip > 0 {
		words = append(words, "--clip", strconv.FormatFloat(n.clip, 'g', -1, 64))
	}
	if n.noStructure {
		words = append(words, "--no-structure")
	}
	declared, err := g.Response()
	if err != nil {
		return "", err
	}
	y := response
	if declared != nil {
		y = declared.Column
	} else if l, err := g.Labels(); err == nil && l != nil && l.Response != "" {
		y = l.Response
	}
	for _, own := range columns {
		if declared == nil && slices.Contains(own, y) {
			y = "RESPONSE" // y is an input
		}
	}
	terms, err := suggestedTerms(g, s, columns)
	if err != nil {
		return "", err
	}
	classes := len(s.Softmaxes) == 1 && len(s.Softmaxes[0].Predictors) == len(s.Predictors)
	several := len(s.Predictors) > 1 && declared == nil && !classes
	var heads []string
	for _, p := range s.Predictors {
		heads = append(heads, p.Head)
	}
	f := family.Suggested(heads)
	_, unknown := family.Parse(f, heads)
	switch {
	case declared == nil && !classes && !several && unknown != nil && terms != "": // no family fits, so no response
		words = append(words, "--formula", shellWord("~ "+terms))
	case declared == nil && !classes && !several && unknown != nil:
	case several && terms == "": // whatever they are predictors of
	case several:
		for _, p := range s.Predictors[:2] {
			words = append(words, "--formula", shellWord(quoteColumn(p.Name)+" = ~ "+terms))
		}
	case terms == "":
		words = append(words, "--response", shellWord(y))
	default:
		words = append(words, "--formula", shellWord(quoteColumn(y)+" ~ "+terms))
	}
	if unknown == nil && declared == nil && !several && !classes && f != "gaussian" {
		words = append(words, "--family", f)
	}
	return strings.Join(append(words, "--out", "result"), " "), nil
}

// stems are names for the columns of an input that holds several: it does not tell them.
func stems(s *onnx.Structure, in onnx.InputInfo) []string {
	stem := "x"
	if len(s.Inputs) > 1 {
		stem = strings.Map(func(r rune) rune {
			if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '_'
		}, in.Name)
	}
	var names []string
	for i := range in.Columns {
		names = append(names, stem+strconv.Itoa(i))
	}
	return names
}

// suggestedTerms are what a formula could add: a smooth, or a factor, of each column that acts
// in the deep part and has no learned term; "." for many. "": there is none.
func suggestedTerms(g *onnx.Graph, s *onnx.Structure, columns map[string][]string) (string, error) {
	labels, err := g.Labels()
	if err != nil {
		return "", err
	}
	var deep []string
	some := false // columns have learned terms of their own, which need no further curve
	for _, p := range s.Predictors {
		var learned []string
		for _, t := range p.Terms {
			if t.Kind != string(decompose.Linear) && len(t.Columns) == 1 {
				learned, some = append(learned, t.Columns...), true
			}
		}
		if p.Deep != nil {
			for _, c := range p.Deep.Columns {
				if !slices.Contains(learned, c) {
					deep = append(deep, c)
				}
			}
		}
	}
	var terms []string
	for _, in := range s.Inputs {
		for i, c := range in.Columns {
			if in.Whole != "" || !slices.Contains(deep, c) {
				continue
			}
			name := quoteColumn(columns[in.Name][i])
			switch text := labels != nil && labels.Columns[c] != nil; {
			case text || in.Type == "string":
				terms = append(terms, name)
			case in.Type == "bool":
				terms = append(terms, "factor("+name+")")
			default:
				terms = append(terms, "s("+name+")")
			}
		}
	}
	if terms = slices.Compact(terms); len(terms) > mostTerms && !some {
		return ".", nil // decompose looks at what the columns hold
	}
	return strings.Join(terms, " + "), nil
}

// quoteColumn is a column's name as formulas have it.
func quoteColumn(name string) string {
	for i, r := range name {
		letter := r == '_' || r == '.' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && !(i > 0 && '0' <= r && r <= '9') {
			return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
		}
	}
	return name
}

// shellWord is a word as a POSIX shell reads it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("_./=-+:@%,", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// familyLine says what the network's file was trained for; "": it does not say.
func familyLine(g *onnx.Graph, heads []string) (string, error) {
	r, err := g.Response()
	if err != nil || r == nil {
		return "", err
	}
	column := fmt.Sprintf("%q", r.Column)
	if r.Event != "" {
		column += fmt.Sprintf(" with events %q", r.Event)
	}
	line := fmt.Sprintf("response %s, family %s: what the file says it was trained for (%s)\n", column, r.Family, onnx.MetadataResponse)
	if _, err := family.Parse(r.Family, heads); err != nil {
		line += fmt.Sprintf("  decompose will refuse that: %v; name another with --family\n", err)
	}
	return line, nil
}
