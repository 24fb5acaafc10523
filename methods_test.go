package pho_test

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// Go doc shows the methods of a type that are its own. Those that come from an embedded
// type are shown with that type, and where it cannot be seen (it is not exported, or its
// package is internal) nowhere.
func TestDocShowsAllMethods(t *testing.T) {
	h := readHouse(t)
	types := 0
	for _, at := range h.public() {
		for _, f := range h[at].files {
			for _, spec := range typesOf(f) {
				if !spec.Name.IsExported() {
					continue
				}
				types++
				for _, e := range h.embedded(at, f, spec) {
					if e.hidden() && h.hasMethods(e, map[embedding]bool{}) {
						t.Errorf("%s.%s embeds %s.%s, whose methods go doc does not show: give it methods of its own", at, spec.Name.Name, e.at, e.name)
					}
				}
			}
		}
	}
	if types < 50 {
		t.Fatalf("only %d exported types were found", types)
	}
}

// embedding is a type of this module that another one embeds.
type embedding struct{ at, name string }

// hidden tells whether readers of the documentation cannot see the type.
func (e embedding) hidden() bool { return !ast.IsExported(e.name) || isInternal(e.at) }

// typesOf lists the types that a file declares.
func typesOf(f *ast.File) []*ast.TypeSpec {
	var out []*ast.TypeSpec
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok {
					out = append(out, spec)
				}
			}
		}
	}
	return out
}

// embedded lists the types of this module that a struct or interface of package at,
// declared in f, embeds, and the one that any other type is an alias of.
func (h house) embedded(at string, f *ast.File, spec *ast.TypeSpec) []embedding {
	var fields *ast.FieldList
	switch v := spec.Type.(type) {
	case *ast.StructType:
		fields = v.Fields
	case *ast.InterfaceType:
		fields = v.Methods
	default:
		if spec.Assign.IsValid() {
			fields = &ast.FieldList{List: []*ast.Field{{Type: v}}}
		}
	}
	if fields == nil {
		return nil
	}
	var out []embedding
	for _, field := range fields.List {
		if len(field.Names) > 0 {
			continue
		}
		switch v := bare(field.Type).(type) {
		case *ast.Ident:
			out = append(out, embedding{at, v.Name})
		case *ast.SelectorExpr:
			if from := importOf(f, v.X); strings.HasPrefix(from, modulePath+"/") {
				out = append(out, embedding{from, v.Sel.Name})
			}
		}
	}
	return out
}

// bare is the type without pointer, parentheses and type arguments.
func bare(e ast.Expr) ast.Expr {
	for {
		switch v := e.(type) {
		case *ast.StarExpr:
			e = v.X
		case *ast.ParenExpr:
			e = v.X
		case *ast.IndexExpr:
			e = v.X
		case *ast.IndexListExpr:
			e = v.X
		default:
			return e
		}
	}
}

// importOf is the import path that a name stands for in f, "" if it is none.
func importOf(f *ast.File, name ast.Expr) string {
	id, ok := name.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, spec := range f.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == id.Name || spec.Name == nil && from[strings.LastIndex(from, "/")+1:] == id.Name {
			return from
		}
	}
	return ""
}

// hasMethods tells whether a type has exported methods, its own or embedded ones.
func (h house) hasMethods(e embedding, seen map[embedding]bool) bool {
	if h[e.at] == nil || seen[e] {
		return false
	}
	seen[e] = true
	for _, f := range h[e.at].files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			if id, ok := bare(fn.Recv.List[0].Type).(*ast.Ident); ok && id.Name == e.name {
				return true
			}
		}
		for _, spec := range typesOf(f) {
			if spec.Name.Name != e.name {
				continue
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					if len(m.Names) > 0 && m.Names[0].IsExported() {
						return true
					}
				}
			}
			for _, inner := range h.embedded(e.at, f, spec) {
				if h.hasMethods(inner, seen) {
					return true
				}
			}
		}
	}
	return false
}
