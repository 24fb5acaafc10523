package files

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// folder is a column that the names of folders hold, as Hive, Spark and DuckDB write partitions:
// year=2024/month=7/part-0.parquet.
type folder struct {
	name   string
	cells  []string // of each file
	levels []string // of the cells, in the order of files
	number bool
}

// noValue is what Hive calls a partition of missing values.
const noValue = "__HIVE_DEFAULT_PARTITION__"

// foldersOf are the columns that all paths have in their folders.
func foldersOf(paths []string) (folders []folder) {
	for i, path := range paths {
		var own []folder
		for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
			name, cell, is := strings.Cut(part, "=")
			if !is || name == "" {
				continue
			}
			if plain, err := url.PathUnescape(cell); err == nil {
				cell = plain
			}
			own = append(own, folder{name: name, cells: []string{cell}})
		}
		if i == 0 {
			folders = own
			continue
		}
		if !slices.EqualFunc(folders, own, func(a, b folder) bool { return a.name == b.name }) {
			return nil
		}
		for k := range own {
			folders[k].cells = append(folders[k].cells, own[k].cells[0])
		}
	}
	return folders
}

// withoutFolders is o for files that do not hold the columns.
func withoutFolders(o *Options, folders []folder) *Options {
	isFolder := func(name string) bool {
		return slices.ContainsFunc(folders, func(f folder) bool { return f.name == name })
	}
	own := *o
	own.Factors = slices.DeleteFunc(slices.Clone(o.Factors), isFolder)
	own.Texts = slices.DeleteFunc(slices.Clone(o.Texts), isFolder)
	return &own
}

// notIn are the columns that no file of the schema holds.
func notIn(schema data.Schema, folders []folder) []folder {
	return slices.DeleteFunc(slices.Clone(folders), func(f folder) bool {
		return slices.ContainsFunc(schema, func(c data.Column) bool { return c.Name == f.name })
	})
}

// folderRows are rows of files with the columns that their folders' names hold: of numbers, if all are
// written as levels write them, else of text.
type folderRows struct {
	typed
	folders []folder
	factors []string
	ends    []int64 // behind the last row of each file
}

// inFolders adds the columns to s.
func inFolders(s typed, folders []folder, o *Options) (Source, error) {
	f := &folderRows{typed: s, folders: folders, factors: o.Factors}
	end := o.FirstRow
	for _, file := range s.Describe() {
		end += file.Rows
		f.ends = append(f.ends, end)
	}
	for k := range folders {
		own := &folders[k]
		own.number = !slices.Contains(o.Texts, own.name)
		for _, cell := range own.cells {
			if cell == noValue {
				return nil, fmt.Errorf("data: a folder holds the rows without a value of %q (%s): leave its files out", own.name, noValue)
			}
			v, err := strconv.ParseFloat(cell, 64)
			own.number = own.number && err == nil && data.LevelText(v) == cell
			if !slices.Contains(own.levels, cell) {
				own.levels = append(own.levels, cell)
			}
		}
	}
	return f, nil
}

// Schema lists the columns of the files, then those of the folders.
func (f *folderRows) Schema() data.Schema {
	s := f.typed.Schema()
	for _, own := range f.folders {
		c := data.Column{Name: own.name, Numeric: own.number, Categorical: !own.number || slices.Contains(f.factors, own.name)}
		if !own.number {
			c.Text = "in the names of folders"
		}
		s = append(s, c)
	}
	return s
}

// Len is the number of rows.
func (f *folderRows) Len() int64 { return f.typed.(interface{ Len() int64 }).Len() }

// Batches adds the columns to the files' rows.
func (f *folderRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if err := f.Schema().Require("the files and their folders", columns); err != nil {
			yield(nil, err)
			return
		}
		own := slices.DeleteFunc(slices.Clone(columns), func(name string) bool {
			return slices.ContainsFunc(f.folders, func(f folder) bool { return f.name == name })
		})
		for b, err := range f.typed.Batches(ctx, own) {
			if err == nil && len(own) < len(columns) {
				b, err = f.add(b, columns)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// add adds the columns to a batch.
func (f *folderRows) add(b *data.Batch, columns []string) (*data.Batch, error) {
	n := b.Rows()
	files := make([]int, n)
	for i := range files {
		row := b.Row(i)
		files[i] = sort.Search(len(f.ends), func(k int) bool { return row < f.ends[k] })
	}
	out := b.Slice(0, n)
	for _, own := range f.folders {
		if !slices.Contains(columns, own.name) {
			continue
		}
		cells := make([]string, n)
		for i, file := range files {
			cells[i] = own.cells[file]
		}
		if !own.number || slices.Contains(f.factors, own.name) {
			if _, err := out.SetTexts(own.name, cells, own.levels); err != nil {
				return nil, err
			}
		}
		if !own.number {
			continue
		}
		v := make([]float64, n)
		for i, cell := range cells {
			v[i], _ = strconv.ParseFloat(cell, 64) // inFolders has seen that it is one
		}
		if err := out.SetNumeric(own.name, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
