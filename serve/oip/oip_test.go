package oip_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/serve/oip"
)

// plain is a request as encoding/json reads it.
type plain struct {
	ID     string
	Inputs []struct {
		Name, Datatype string
		Shape          []int
		Data           any
	}
}

// flat are the elements of nested arrays, truth values as numbers.
func flat(v any) []any {
	if yes, ok := v.(bool); ok {
		v = map[bool]float64{true: 1}[yes]
	}
	list, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	out := []any{}
	for _, e := range list {
		out = append(out, flat(e)...)
	}
	return out
}

// elements are a tensor's as encoding/json has them.
func elements(t *oip.Tensor) []any {
	out := []any{}
	for _, c := range t.Codes {
		if c < 0 {
			out = append(out, nil)
		} else {
			out = append(out, t.Levels[c])
		}
	}
	for _, v := range t.Numbers {
		if v != v {
			out = append(out, nil)
		} else {
			out = append(out, v)
		}
	}
	return out
}

const good = `{"id": "a\u00e4\ud83d\ude00\n", "parameters": {"se": true, "k": 3.5, "w": "x", "o": {"deep": [1, {}]}},
 "inputs": [{"name": "x", "datatype": "FP64", "shape": [2, 2], "data": [[1, -2.5e-3], [null, 12345678901234567]]},
  {"data": ["a", "b\"c", "a", null], "name": "g", "shape": [4], "datatype": "BYTES", "parameters": {"content_type": "str"}},
  {"name": "i", "datatype": "INT8", "shape": [1], "data": [-128]}, {"name": "b", "datatype": "BOOL", "shape": [2], "data": [true, false]}],
 "outputs": [{"name": "eta", "parameters": {"binary_data": true}}, {"name": "s"}], "unknown": [null, false, {"a": []}]}`

func TestParse(t *testing.T) {
	var r oip.Request
	for range 2 { // the second time in the memory of the first
		if err := r.Parse([]byte(good), -1); err != nil {
			t.Fatal(err)
		}
		if r.ID != "aä😀\n" || len(r.Inputs) != 4 || len(r.Outputs) != 2 || r.Outputs[0].Binary != oip.Yes || r.Outputs[1] != (oip.Output{Name: "s"}) {
			t.Errorf("%+v", r)
		}
		if want := []oip.Parameter{{Name: "se", Value: true}, {Name: "k", Value: 3.5}, {Name: "w", Value: "x"}}; !reflect.DeepEqual(r.Parameters, want) {
			t.Errorf("%+v", r.Parameters)
		}
		for i, want := range [][]any{{1.0, -2.5e-3, nil, 12345678901234567.0}, {"a", `b"c`, "a", nil}, {-128.0}, {1.0, 0.0}} {
			if got := elements(&r.Inputs[i]); !reflect.DeepEqual(got, want) {
				t.Errorf("input %d: %v, want %v", i, got, want)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	input := func(fields string) string {
		return `{"inputs": [{"name": "x", "datatype": "FP64", "shape": [2], ` + fields + `}]}`
	}
	for text, says := range map[string]string{
		``:                             "ends where an object",
		`[]`:                           "an object, the request",
		`{}`:                           "no inputs",
		`{"inputs": []} x`:             "its end",
		`{"inputs": [], "inputs": []}`: `two fields "inputs"`,
		`{"inputs": [{"name": "x"}]}`:  "no datatype",
		input(`"data": [1]`):           "1 elements, shape [2] has 2",
		input(`"data": [1, "a"]`):      "one kind",
		input(`"data": ["a", "b"]`):    "datatype BYTES",
		input(`"data": [1, 1e999]`):    "beyond float64",
		input(`"data": [1, 01]`):       "leading zeros",
		input(`"data": [1, NaN]`):      "a number",
		input(`"parameters": {"binary_data_size": 16}`):      "0 bytes are left",
		input(`"shape": [2], "data": [1, 2]`):                `two fields "shape"`,
		strings.Replace(good, "-128]", "-129]", 1):           "-129 is no INT8",
		strings.Replace(good, `"BYTES"`, `"STRING"`, 1):      "none of BOOL",
		strings.Replace(good, "[4]", "[1099511627776,9]", 1): "not possible",
		`{"inputs": ` + strings.Repeat("[", 100):             "object",
		`{"q": ` + strings.Repeat("[", 100):                  "deep",
	} {
		var r oip.Request
		if err := r.Parse([]byte(text), -1); err == nil || !errors.As(err, new(*oip.Error)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}

// Integers of 64 bits out of range, and those that would be rounded, are refused in JSON and as bytes; others are exact.
func TestWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		datatype, text string
		ok             bool
	}{
		{"INT64", "9007199254740992", true}, {"INT64", "-9007199254740991", true}, {"INT64", "9007199254740993", false}, {"FP64", "9007199254740993", true},
		{"INT64", "-9223372036854775808", true}, {"INT64", "9223372036854775807", false}, {"INT64", "9223372036854775808", false}, {"INT64", "-9223372036854775809", false},
		{"UINT64", "9223372036854775808", true}, {"UINT64", "18446744073709551615", false}, {"UINT64", "18446744073709551616", false}, {"UINT64", "-1", false}, {"INT64", "1e18", true},
	} {
		var r oip.Request
		err := r.Parse([]byte(`{"inputs":[{"name":"y","datatype":"FP64","shape":[1],"data":[1]},{"name":"x","datatype":"`+c.datatype+`","shape":[2],"data":[[ 7, `+c.text+` ]]}]}`), -1)
		if (err == nil) != c.ok || err != nil && !errors.As(err, new(*oip.Error)) {
			t.Errorf("%s %s: %v", c.datatype, c.text, err)
		}
	}
	for _, c := range []struct {
		datatype string
		bits     uint64
		ok       bool
	}{{"INT64", 1 << 62, true}, {"INT64", 1<<62 + 1, false}, {"INT64", math.MaxInt64, false}, {"INT64", 1 << 63, true}, {"UINT64", math.MaxUint64, false}, {"UINT64", math.MaxUint64 - 2047, true}, {"FP64", math.MaxInt64, true}} {
		head := `{"inputs":[{"name":"x","datatype":"` + c.datatype + `","shape":[1],"parameters":{"binary_data_size":8}}]}`
		var r oip.Request
		if err := r.Parse(binary.LittleEndian.AppendUint64([]byte(head), c.bits), len(head)); (err == nil) != c.ok {
			t.Errorf("%s %#x: %v", c.datatype, c.bits, err)
		}
	}
}

// TestBinary: elements of every type behind the JSON, and sizes that lie.
func TestBinary(t *testing.T) {
	le := binary.LittleEndian
	var raw []byte
	var inputs []string
	add := func(datatype string, n int, own []byte) {
		inputs = append(inputs, fmt.Sprintf(`{"name": %q, "datatype": %q, "shape": [%d], "parameters": {"binary_data_size": %d}}`, datatype, datatype, n, len(own)))
		raw = append(raw, own...)
	}
	add("FP64", 2, le.AppendUint64(le.AppendUint64(nil, math.Float64bits(-1.5)), math.Float64bits(math.NaN())))
	add("FP32", 1, le.AppendUint32(nil, math.Float32bits(0.1)))
	add("FP16", 3, []byte{0x00, 0x3c, 0x01, 0x00, 0x55, 0xb5})
	add("INT64", 1, le.AppendUint64(nil, math.MaxUint64))
	add("UINT64", 1, le.AppendUint64(nil, 1<<63))
	add("INT32", 1, le.AppendUint32(nil, 1<<31))
	add("UINT32", 1, le.AppendUint32(nil, 1<<31))
	add("INT16", 1, le.AppendUint16(nil, 1<<15))
	add("UINT16", 1, le.AppendUint16(nil, 1<<15))
	add("INT8", 1, []byte{128})
	add("UINT8", 1, []byte{128})
	add("BOOL", 2, []byte{1, 0})
	add("BYTES", 3, []byte("\x01\x00\x00\x00a\x00\x00\x00\x00\x01\x00\x00\x00a"))
	head := `{"inputs": [` + strings.Join(inputs, ", ") + `]}`
	var r oip.Request
	if err := r.Parse(append([]byte(head), raw...), len(head)); err != nil {
		t.Fatal(err)
	}
	want := [][]any{{-1.5, nil}, {float64(float32(0.1))}, {1.0, math.Exp2(-24), -0.33325195312}, {-1.0}, {math.Exp2(63)}, {-math.Exp2(31)}, {math.Exp2(31)},
		{-32768.0}, {32768.0}, {-128.0}, {128.0}, {1.0, 0.0}, {"a", "", "a"}}
	want[2][2] = -0.333251953125
	for i := range want {
		if got := elements(&r.Inputs[i]); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: %v, want %v", r.Inputs[i].Name, got, want[i])
		}
	}
	for name, c := range map[string]struct {
		body   string
		header int
	}{
		"header beyond the body": {head, len(head) + 1},
		"too few bytes":          {head + string(raw[:len(raw)-1]), len(head)},
		"too many bytes":         {head + string(raw) + "x", len(head)},
		"size of other shape":    {`{"inputs":[{"name":"x","datatype":"FP64","shape":[2],"parameters":{"binary_data_size":8}}]}12345678`, 88},
		"text beyond the end":    {`{"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":8}}]}` + "\xff\xff\xff\xff1234", 89},
		"as many texts as atoms": {`{"inputs":[{"name":"x","datatype":"BYTES","shape":[99999999999],"parameters":{"binary_data_size":4}}]}` + "\x00\x00\x00\x00", 99},
		"negative size":          {`{"inputs":[{"name":"x","datatype":"FP64","shape":[0],"parameters":{"binary_data_size":-8}}]}`, 88},
	} {
		if err := r.Parse([]byte(c.body), c.header); !errors.As(err, new(*oip.Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParse: accepted requests give the values of encoding/json, and a request that it
// refuses is refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good), -1)
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"FP64","shape":[1],"parameters":{"binary_data_size":8}}]}12345678`), 88)
	f.Add([]byte(plainRows), -1)
	f.Add([]byte(`{"inputs":[{"name":"x\ud800","datatype":"BYTES","shape":[1,1],"data":[["\uD83D\uDE00\/"]]}]}`), -1)
	f.Fuzz(func(t *testing.T, body []byte, header int) {
		var r oip.Request
		body = slices.Clone(body)
		err := r.Parse(body, header)
		if err != nil {
			if !errors.As(err, new(*oip.Error)) {
				t.Fatal(err)
			}
			return
		}
		text := body
		if header >= 0 {
			text = body[:header]
		}
		var want plain
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q is taken: %v", text, err)
		}
		if bytes.Contains(bytes.ToLower(text), []byte(`binary_data_size`)) || strings.Contains(string(text), `\u`) {
			return // names of fields may be written in other ways
		}
		if want.ID != r.ID && !differs(text) {
			t.Errorf("id %q, want %q", r.ID, want.ID)
		}
		if r.Rows >= 0 && !differs(text) {
			sameRows(t, &r, text)
			return
		}
		for i := range r.Inputs {
			if differs(text) {
				return
			}
			own := flat(want.Inputs[i].Data)
			if d := want.Inputs[i].Datatype; d == "FP64" || d == "BYTES" {
				if got := elements(&r.Inputs[i]); !reflect.DeepEqual(got, own) {
					t.Errorf("%v, want %v", got, own)
				}
			}
		}
	})
}

// differs tells whether encoding/json may take a field for another: it does not mind case,
// and takes the last of two.
func differs(text []byte) bool {
	for _, name := range []string{`"id"`, `"inputs"`, `"rows"`, `"data"`, `"name"`, `"shape"`, `"datatype"`} {
		if strings.Count(string(text), name) != strings.Count(strings.ToLower(string(text)), name) {
			return true
		}
	}
	return bytes.ContainsAny(text, "\u017f\u212a") // letters that are s and k in other case
}

// TestAppend: an answer is JSON that says what it holds, and reads back to the bit.
func TestAppend(t *testing.T) {
	v := []float64{0.1, math.NaN(), -1e-300, 5e-324, 1e21, math.Copysign(0, -1)}
	r := oip.Response{Model: "m\"\\\n\x01é\xff", Version: "1", ID: "7", Outputs: []oip.Result{
		{Name: "a", Columns: [][]float64{v}}, {Name: "b", Columns: [][]float64{v, v}, Matrix: true, Binary: true}}}
	b, header := r.Append(nil)
	var got struct {
		Model   string `json:"model_name"`
		Outputs []struct {
			Shape []int
			Data  []*float64
		}
	}
	if err := json.Unmarshal(b[:header], &got); err != nil || got.Model != "m\"\\\n\x01é\ufffd" {
		t.Fatalf("%s: %v", b[:header], err)
	}
	if !slices.Equal(got.Outputs[0].Shape, []int{6}) || !slices.Equal(got.Outputs[1].Shape, []int{6, 2}) || len(b)-header != 96 {
		t.Errorf("%+v", got)
	}
	for i, x := range got.Outputs[0].Data {
		if own := math.Float64frombits(binary.LittleEndian.Uint64(b[header+16*i:])); math.Float64bits(own) != math.Float64bits(v[i]) || x == nil != math.IsNaN(v[i]) || x != nil && *x != v[i] {
			t.Errorf("%v and %v, want %v", x, own, v[i])
		}
	}
}
