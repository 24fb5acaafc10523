package basis

import (
	"slices"
	"strings"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
)

// parametric notes which sets of columns are terms of their own, for R's rule
// about contrasts in products.
func (m *interpreter) parametric(terms []formula.Summand) {
	m.products = map[string]bool{}
	for _, t := range terms {
		var names []string
		for _, c := range t.Calls {
			if c.Func != "" && c.Func != "factor" {
				names = nil
				break
			}
			names = append(names, c.Vars[0].Text)
		}
		if names != nil {
			m.products[setKey(names)] = true
		}
	}
}

// setKey is the same for the same set of columns.
func setKey(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, "\x00")
}

// containsProducts tells whether the formula has all products of these variables without some of the numbers among them.
func (m *interpreter) containsProducts(variables []Variable) bool {
	numbers := 0
	for _, v := range variables {
		if !v.Factor {
			numbers++
		}
	}
	for without := 1; without < 1<<numbers; without++ {
		var names []string
		number := 0
		for _, v := range variables {
			if !v.Factor {
				number++
				if without>>(number-1)&1 == 1 {
					continue
				}
			}
			names = append(names, v.Column)
		}
		if len(names) > 0 && !m.products[setKey(names)] {
			return false
		}
	}
	return numbers > 0
}

// product is an interaction of factors and numbers. A factor in it has contrasts
// if the product of the others is a term too, as in R: then the first level is in
// there.
func (m *interpreter) product(t formula.Summand) (decompose.Spec, string, error) {
	var variables []Variable
	var names, labels []string
	for _, c := range t.Calls {
		if c.Func != "" && c.Func != "factor" {
			return nil, "", m.Errorf(c.Pos, "%s in an interaction: a smooth is multiplied by a column as in s(x, by = z), smooths by each other as in te(x, z)", c)
		}
		col, err := m.explaining(c.Vars[0])
		if err != nil {
			return nil, "", err
		}
		if len(c.Args) > 0 {
			return nil, "", m.Errorf(c.Args[0].Pos, "contr is for a factor on its own, not in an interaction")
		}
		p := Variable{Column: col.Name, Factor: c.Func == "factor" || m.categorical(col)}
		label := col.Name
		if c.Func == "factor" {
			label = "factor(" + col.Name + ")"
		}
		variables, names, labels = append(variables, p), append(names, col.Name), append(labels, label)
	}
	if len(variables) > maxFactors {
		return nil, "", m.Errorf(t.Pos, "a product of %d columns: at most %d are possible", len(variables), maxFactors)
	}
	for i := range variables {
		others := slices.Delete(slices.Clone(names), i, i+1)
		variables[i].Contrast = !m.selected && variables[i].Factor && m.products[setKey(others)]
	}
	spec := Interaction(strings.Join(labels, ":"), variables...).(*cellSpec)
	spec.centred = m.centred && m.Intercept && m.containsProducts(variables)
	spec.selected = m.selected
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(t.Pos, "%s: %v", t, err)
	}
	return spec, "product " + setKey(names), nil
}
