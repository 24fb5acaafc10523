package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
)

// inputColumns reads the values of --input: each is NAME=col,col,... in order, with
// ranges x0..x9.
func inputColumns(g *onnx.Graph, schema data.Schema, flags []string) (map[string][]string, error) {
	columns := map[string][]string{}
	var faults []error
	for _, flag := range flags {
		name, list, err := splitInput(g, flag)
		if err == nil && columns[name] != nil {
			err = fmt.Errorf("onnx: --input %q: input %q is bound twice", flag, name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if columns[name], err = columnList(schema, flag, list); err != nil {
			faults = append(faults, err)
		}
	}
	return columns, errors.Join(faults...)
}

// splitInput finds the input of NAME=list; the longest name wins, since names may
// contain an equals sign.
func splitInput(g *onnx.Graph, flag string) (name, list string, err error) {
	var names []string
	found := false
	for _, in := range g.Inputs() {
		names = append(names, in.Name)
		if strings.HasPrefix(flag, in.Name+"=") && (!found || len(in.Name) > len(name)) {
			name, found = in.Name, true
		}
	}
	if found {
		list := flag[len(name)+1:]
		if strings.HasPrefix(list, "@") {
			return "", "", fmt.Errorf("onnx: --input %q: a file (%s) is no list of columns: join it to the data as columns %s[0], %s[1], ..., which bind by their names", flag, list, name, name)
		}
		return name, list, nil
	}
	name, _, ok := strings.Cut(flag, "=")
	if !ok {
		return "", "", fmt.Errorf("onnx: --input %q: want NAME=column,column", flag)
	}
	return "", "", fmt.Errorf("onnx: --input %q: the network has no input %q; it has %s", flag, name, quotedNames(names))
}

// columnLists reads --predictions: of each model col,col,"a column, with a comma".
func columnLists(flags []string) (lists [][]string, err error) {
	for _, flag := range flags {
		r := csv.NewReader(strings.NewReader(flag))
		r.TrimLeadingSpace = true
		list, err := r.Read()
		if err != nil {
			return nil, usagef("--predictions %q: want COLUMN,COLUMN, and names with commas in double quotes", flag)
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// columnList reads col,col,first..last (data.Schema.Range). A column whose name looks like a
// range is that column.
func columnList(schema data.Schema, flag, list string) ([]string, error) {
	var names []string
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("onnx: --input %q: empty column name", flag)
		}
		columns, isRange, err := schema.Range(item)
		if err != nil {
			return nil, fmt.Errorf("onnx: --input %q: %w", flag, err)
		}
		if !isRange {
			if _, ok := schema.Lookup(item); !ok {
				return nil, fmt.Errorf("onnx: --input %q: the data have no column %q; they have %s", flag, item, quotedNames(schema.Names()))
			}
			columns = []string{item}
		}
		names = append(names, columns...)
	}
	return names, nil
}

// quotedNames writes names in a message, forty at most.
func quotedNames(names []string) string {
	const most = 40
	if len(names) == 0 {
		return "none"
	}
	var q []string
	for i, n := range names {
		if i == most {
			q = append(q, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		q = append(q, strconv.Quote(n))
	}
	return strings.Join(q, ", ")
}
