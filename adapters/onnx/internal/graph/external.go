package graph

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// External is the content of a file that holds the data of tensors. location is a path
// of slashes that leads down from the folder of the model.
type External func(location string) ([]byte, error)

// errNoExternal says what a reader of bytes alone can do.
var errNoExternal = errors.New("files beside the model cannot be read from here: open the model as a file, give the folder (LoadOptions.External), or save the model with its data inside")

// TakeIn gives the tensors of a file that keep their data in others that data, as if it
// had been inside: those of subgraphs and functions, too. It shares the memory of what
// external returns.
func TakeIn(m *onnxpb.ModelProto, external External) error {
	t := &takerIn{external, map[string]bool{}}
	if err := t.graph(m.GetGraph()); err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	for _, f := range m.GetFunctions() {
		if err := t.function(f); err != nil {
			return fmt.Errorf("onnx: function %q: %w", f.Name, err)
		}
	}
	return nil
}

// takerIn walks a file. Each of its errors begins with where something is.
type takerIn struct {
	external External
	checked  map[string]bool // the checksums that were found right
}

func (t *takerIn) function(f *onnxpb.FunctionProto) error {
	if err := t.attributes(f.AttributeProto); err != nil {
		return err
	}
	return t.nodes(f.Node)
}

func (t *takerIn) graph(g *onnxpb.GraphProto) error {
	for _, p := range g.GetInitializer() {
		if err := t.tensor(p); err != nil {
			return fmt.Errorf("initializer %q %w", p.Name, err)
		}
	}
	return t.nodes(g.GetNode())
}

func (t *takerIn) nodes(nodes []*onnxpb.NodeProto) error {
	for _, n := range nodes {
		if err := t.attributes(n.Attribute); err != nil {
			return fmt.Errorf("node %q (%s): %w", n.Name, n.OpType, err)
		}
	}
	return nil
}

// attributes goes into the graphs that attributes hold: scanWire bounds how deep.
func (t *takerIn) attributes(attributes []*onnxpb.AttributeProto) error {
	for _, a := range attributes {
		if err := t.tensor(a.T); err != nil {
			return fmt.Errorf("attribute %q %w", a.Name, err)
		}
		if err := t.graph(a.G); err != nil {
			return fmt.Errorf("attribute %q: %w", a.Name, err)
		}
	}
	return nil
}

func (t *takerIn) tensor(p *onnxpb.TensorProto) error {
	if p == nil || p.DataLocation == onnxpb.TensorProto_DEFAULT && len(p.ExternalData) == 0 {
		return nil
	}
	if err := externalBytes(p, t.external, t.checked); err != nil {
		return fmt.Errorf("stores its data in an external file: %w", err)
	}
	p.DataLocation, p.ExternalData = onnxpb.TensorProto_DEFAULT, nil
	return nil
}

// externalBytes finds the bytes of p. checked are the checksums that were found right.
func externalBytes(p *onnxpb.TensorProto, external External, checked map[string]bool) error {
	e, err := parseExternal(p)
	if err != nil {
		return err
	}
	size, err := externalSize(p)
	if err != nil {
		return err
	}
	if e.length >= 0 && e.length != size {
		return fmt.Errorf("%d bytes of %q, but its shape and type need %d", e.length, e.location, size)
	}
	if external == nil {
		return errNoExternal
	}
	file, err := external(e.location)
	if err != nil {
		return err
	}
	if e.offset > int64(len(file)) || size > int64(len(file))-e.offset {
		return fmt.Errorf("bytes %d to %d of %q, which has %d: the file is truncated, or belongs to another model", e.offset, e.offset+size, e.location, len(file))
	}
	if e.checksum != "" && !checked[e.location+"\x00"+e.checksum] {
		if sum := sha1.Sum(file); !strings.EqualFold(e.checksum, hex.EncodeToString(sum[:])) {
			return fmt.Errorf("%q has another SHA-1 than the model says: the file was changed, or belongs to another model", e.location)
		}
		checked[e.location+"\x00"+e.checksum] = true
	}
	p.RawData = file[e.offset : e.offset+size : e.offset+size]
	return nil
}

// externalSize is how many bytes the shape and type of p need.
func externalSize(p *onnxpb.TensorProto) (int64, error) {
	if len(p.RawData)+len(p.FloatData)+len(p.DoubleData)+len(p.Int32Data)+len(p.Int64Data)+len(p.Uint64Data)+len(p.StringData) > 0 {
		return 0, errors.New("and has data inside, too")
	}
	t, err := TypeOf(p.DataType)
	if err != nil {
		return 0, err
	}
	_, n, err := shapeOf(p.Dims)
	return int64(bytesOf(t, n)), err
}

// external is where a tensor has its data: length bytes of a file, < 0 if that is not
// said, from offset on.
type external struct {
	location, checksum string
	offset, length     int64
}

func parseExternal(p *onnxpb.TensorProto) (*external, error) {
	e := &external{length: -1}
	var seen []string
	for _, kv := range p.ExternalData {
		if slices.Contains(seen, kv.Key) {
			return nil, fmt.Errorf("its %q is given twice", kv.Key)
		}
		seen = append(seen, kv.Key)
		var err error
		switch kv.Key {
		case "location":
			e.location, err = inside(kv.Value)
		case "offset":
			e.offset, err = count(kv)
		case "length":
			e.length, err = count(kv)
		case "checksum":
			e.checksum = kv.Value
		}
		if err != nil {
			return nil, err
		}
	}
	if e.location == "" {
		return nil, errors.New("which it does not name")
	}
	return e, nil
}

func count(kv *onnxpb.StringStringEntryProto) (int64, error) {
	k, err := strconv.ParseInt(kv.Value, 10, 64)
	if err != nil || k < 0 {
		return 0, fmt.Errorf("its %s %q is no number of bytes", kv.Key, kv.Value)
	}
	return k, nil
}

// inside is location as a path of fs.FS; one that leads up or elsewhere is an error.
func inside(location string) (string, error) {
	clean := path.Clean(location)
	if location == "" || clean == "." || !fs.ValidPath(clean) || slices.Contains(strings.Split(location, "/"), "..") {
		return "", fmt.Errorf("%q is not in the folder of the model, which alone is read: move the file there and save the model again, or save it with its data inside", location)
	}
	return clean, nil
}
