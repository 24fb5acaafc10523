package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/npy"
	"github.com/pho-go/pho/data/pictures"
	"github.com/pho-go/pho/internal/app/wiring"
)

// tensorInput is an input of a network that a NumPy file fills, NAME=@FILE, or NAME=@FILE:nhwc if channels
// come last there; or pictures that a column of the data names, NAME=@FOLDER/{COLUMN}, whose samples are 0 to 1, or
// 0 to 255 with :255 behind it.
type tensorInput struct {
	name, path   string
	channelsLast bool
	columns      []string // that the input is bound to already; nil: those of onnx.Unbound
}

// channelsLast is the mark of arrays by height, width and colour.
const channelsLast = ":nhwc"

// asBytes is the mark of pictures whose samples are numbers from 0 to 255.
const asBytes = ":255"

// isFolder reports whether the input is pictures that a column names.
func (t tensorInput) isFolder() bool { return strings.Contains(t.path, "{") }

// tensorInputs takes NAME=@FILE out of the values of --input.
func tensorInputs(inputs []string) (tensors []tensorInput, columns []string) {
	for _, input := range inputs {
		if name, path, ok := strings.Cut(input, "=@"); ok {
			path, last := strings.CutSuffix(path, channelsLast)
			tensors = append(tensors, tensorInput{name: name, path: path, channelsLast: last})
			continue
		}
		columns = append(columns, input)
	}
	return tensors, columns
}

// openRows opens the data files and joins the tensors to them, row by row. Without
// data files the tensors are all the data. Texts that the network knows are coded.
func openRows(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	src, err := openJoined(paths, o, tensors, g)
	if err != nil {
		return nil, err
	}
	return wiring.CodedBy(src, labels), nil
}

func openJoined(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	var src files.Source
	var parts []data.Part
	if len(paths) > 0 {
		var err error
		if src, err = files.Open(paths, o); err != nil {
			return nil, err
		}
		if len(tensors) == 0 {
			return src, nil
		}
		parts = append(parts, data.Part{Name: strings.Join(paths, ", "), Source: src})
	}
	joined, err := joinTensors(parts, o, tensors, g)
	if err != nil {
		if src != nil {
			src.Close()
		}
		return nil, err
	}
	return &joinedRows{joined, src}, nil
}

// addArrays defines --input of commands that read new rows.
func addArrays(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "input", nil, "`NAME=@FILE.npy`: an array for a network's input, joined to the data row by row; FILE.npy:nhwc if channels come last; NAME=@FOLDER/{COLUMN} for PNG files that a column names, samples 0 to 1, with :255 behind it 0 to 255 (repeatable)")
}

// arrays are those that the values of --input name for new rows.
func (d *dataFlags) arrays(inputs []string) ([]tensorInput, error) {
	tensors, columns := tensorInputs(inputs)
	if len(columns) > 0 {
		return nil, usagef("--input %q: new rows have the columns that decompose was given; NAME=@FILE.npy names new arrays", columns[0])
	}
	d.tensors = len(tensors) > 0
	return tensors, nil
}

// bindArrays gives arrays the columns that a decomposition has for their inputs.
func bindArrays(tensors []tensorInput, opened *wiring.Opened) {
	for i, t := range tensors {
		tensors[i].columns = opened.Inputs[t.name]
	}
}

func joinTensors(parts []data.Part, o *files.Options, tensors []tensorInput, g *onnx.Graph) (joined data.Source, err error) {
	var folders []tensorInput
	for _, t := range tensors {
		at := slices.IndexFunc(g.Inputs(), func(v onnx.Tensor) bool { return v.Name == t.name })
		if at < 0 {
			var names []string
			for _, v := range g.Inputs() {
				names = append(names, v.Name)
			}
			return nil, fmt.Errorf("--input %q: the network has no input %q; it has %q", t.name+"=@"+t.path, t.name, names)
		}
		if t.columns == nil {
			t.columns = onnx.Unbound(g)[at].Columns
		}
		if t.isFolder() {
			folders = append(folders, t)
			continue
		}
		from, err := t.open(g.Inputs()[at], o)
		if err != nil {
			return nil, err
		}
		parts = append(parts, data.Part{Name: t.path, Source: from})
	}
	if len(folders) > 0 && len(parts) == 0 {
		return nil, fmt.Errorf("--input %q: a column of the data names the pictures: name the data's files", folders[0].name+"=@"+folders[0].path)
	}
	for _, p := range parts[1:] { // where both are known beforehand
		a, b := wiring.Len(parts[0].Source), wiring.Len(p.Source)
		if a >= 0 && b >= 0 && a != b {
			return nil, fmt.Errorf("%q has %d rows, %q has %d: they are joined row by row and need equally many", parts[0].Name, a, p.Name, b)
		}
	}
	if joined, err = data.Zip(parts...); err != nil {
		return nil, err
	}
	for _, t := range folders {
		if joined, err = t.pictures(joined, g); err != nil {
			return nil, fmt.Errorf("--input %q: %w", t.name+"=@"+t.path, err)
		}
	}
	return joined, nil
}

// joinedRows is what data files and tensors are together.
type joinedRows struct {
	data.Source
	files files.Source // nil: tensors alone
}

// Rows counts the rows of all that are joined.
func (j *joinedRows) Rows() (total, dropped int64) {
	return j.Source.(interface{ Rows() (int64, int64) }).Rows()
}

// Close closes the data files; arrays are open only while they are read.
func (j *joinedRows) Close() error {
	if j.files == nil {
		return nil
	}
	return j.files.Close()
}

// open reads the array as the input takes it: as one tensor or, of a row of a table, as its columns.
func (t tensorInput) open(input onnx.Tensor, o *files.Options) (*npy.Source, error) {
	flag := fmt.Sprintf("--input %q", t.name+"=@"+t.path)
	options := &npy.Options{BatchRows: o.BatchRows, NA: o.NA, ChannelsLast: t.channelsLast}
	from, err := npy.OpenTensor(t.columns[0], []string{t.path}, options)
	if err != nil {
		return nil, err
	}
	column, _ := from.Schema().Lookup(t.columns[0])
	if width := max(column.Width, 1); width != input.Width() {
		return nil, fmt.Errorf("%s: the array holds %d numbers a row, input %q takes %d", flag, width, t.name, input.Width())
	}
	if turned := input.Turned(from.RowShape()); turned != "" {
		if !t.channelsLast && input.Turned(turnedLast(from.RowShape())) == "" {
			turned += ", or name the file " + t.path + channelsLast
		}
		return nil, fmt.Errorf("%s: %s", flag, turned)
	}
	if len(t.columns) > 1 || input.Width() == 1 {
		return npy.OpenColumns(t.columns, []string{t.path}, options)
	}
	return from, nil
}

// turnedLast is a shape with its last axis first.
func turnedLast(shape []int) []int {
	n := len(shape) - 1
	return append([]int{shape[n]}, shape[:n]...)
}

func (t tensorInput) pictures(rows data.Source, g *onnx.Graph) (data.Source, error) {
	at := slices.IndexFunc(g.Inputs(), func(v onnx.Tensor) bool { return v.Name == t.name })
	height, width, channels, last, ok := g.Inputs()[at].Picture()
	if !ok {
		return nil, fmt.Errorf("input %q takes no pictures: its rows have the shape %v", t.name, g.Inputs()[at].Shape)
	}
	o := pictures.Options{Height: height, Width: width, Channels: channels, ChannelsLast: last}
	pattern, whole := strings.CutSuffix(t.path, asBytes)
	if whole {
		o.White = 255
	}
	return pictures.Join(t.columns[0], rows, pattern, o)
}
