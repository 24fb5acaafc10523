package kernel

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// generatorConstants are the constants of package gen, by name.
func generatorConstants(t *testing.T) map[string]int64 {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	paths, err := filepath.Glob("gen/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no generator: %v", err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// What it imports is not needed for its constants, so errors do not matter.
	c := types.Config{Importer: importer.Default(), Error: func(error) {}}
	pkg, _ := c.Check("gen", set, files, nil)
	out := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		k, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		if v, exact := constant.Int64Val(constant.ToInt(k.Val())); exact {
			out[name] = v
		}
	}
	return out
}

// TestOffsets: the assembly finds the fields of its arguments where Go puts them. The
// generator counts the offsets by hand.
func TestOffsets(t *testing.T) {
	offsets := generatorConstants(t)
	seen := map[string]bool{}
	for _, c := range []struct {
		prefix   string
		argument any
		other    map[string]string // constants of other names, by field
	}{
		{"tile", tile{}, nil},
		{"pack", pack{}, nil},
		{"loop", loop[float64]{}, map[string]string{"second": "loopScalar+1"}},
		{"loop", loop[float32]{}, map[string]string{"second": "loopScalar+1"}},
		{"column", column[float64]{}, map[string]string{"least": "columnBias+1"}},
		{"column", column[float32]{}, map[string]string{"least": "columnBias+1"}},
		{"rankOne", rankOne[float64]{}, map[string]string{"least": "rankOneFloor"}},
		{"rankOne", rankOne[float32]{}, map[string]string{"least": "rankOneFloor"}},
		{"squares", squares{}, nil},
		{"line", line{}, nil},
		{"sparse", sparse{}, nil},
		{"nonzeros", nonzeros{}, nil},
		{"conversion", conversion{}, nil},
		{"decimals", decimalTexts{}, nil},
		{"band", band{}, nil},
		{"spline", spline{}, nil},
		{"scatter", scatter{}, nil},
		{"sum", sumRows{}, nil},
		{"lookUpSum", lookUpSum{}, nil},
		{"unit", unitTile{}, nil},
		{"turn", turning{}, nil},
		{"dot", unitDot{}, nil},
		{"prefetch", prefetch{}, nil},
		{"amx", unitBlock{}, nil},
		{"split", splitRows{}, nil},
		{"adam", adam[float64]{}, adamConstants()},
		{"adam", adam[float32]{}, adamConstants()},
	} {
		typ := reflect.TypeOf(c.argument)
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, steps, _ := strings.Cut(c.other[f.Name], "+")
			if name == "" {
				name = c.prefix + f.Name
			}
			want, found := int64(0), false
			for have, v := range offsets {
				if strings.EqualFold(have, name) {
					want, found, seen[have] = v, true, true
				}
			}
			if steps != "" { // constants in the precision of the values
				want += int64(steps[0]-'0') * int64(f.Type.Size())
			}
			if !found || int64(f.Offset) != want {
				t.Errorf("%v: field %s is at byte %d, for the assembly at %d (%t)", typ, f.Name, f.Offset, want, found)
			}
		}
	}
	for name := range offsets {
		for _, prefix := range []string{"tile", "pack", "loop", "column", "rankOne", "squares", "line", "sparse", "nonzeros", "conversion", "band", "spline", "scatter", "grad", "split", "adam", "lookUpSum"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok && rest[0] >= 'A' && rest[0] <= 'Z' && !seen[name] {
				t.Errorf("the generator's %s is no field", name)
			}
		}
	}
}

// TestDecimalScratch: the memory for texts in the making is as large as what the assembly uses, from wherever a line of the cache begins.
func TestDecimalScratch(t *testing.T) {
	c := generatorConstants(t)
	if have, want := len(decimalTexts{}.scratch), int(c["decimalsAlign"]+2*c["decimalsEight"]); have != want {
		t.Errorf("%d bytes, the assembly uses %d", have, want)
	}
}

// adamConstants are the places of the constants of type adam.
func adamConstants() map[string]string {
	out := map[string]string{}
	for i, name := range []string{"beta1", "c1", "beta2", "c2", "keep", "rate", "eps", "tiny"} {
		out[name] = "adamConstants+" + string(rune('0'+i))
	}
	return out
}
