package decompose

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHashFields: parts of JSON are found as by decoding it.
func TestHashFields(t *testing.T) {
	text := rapid.StringMatching(`[a-c"\\{}\[\],: é<]{0,4}`)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-9, 9).AsAny(), text.AsAny())
		if depth == 0 {
			return leaf
		}
		below := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		objects := rapid.SliceOfN(rapid.MapOfN(text, below, 0, 2), 0, 22)
		return rapid.OneOf(leaf, rapid.SliceOfN(below, 0, 3).AsAny(), rapid.MapOfN(text, below, 0, 3).AsAny(), objects.AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		spec, err := json.Marshal(value(6).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "spaces") {
			var spaced bytes.Buffer
			_ = json.Indent(&spaced, spec, "\t", " \r")
			spec = spaced.Bytes()
		}
		got, want := map[string]string{}, map[string]string{}
		hashFields(got, nil, spec)
		if hashDecoded(want, nil, spec); !maps.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", spec, got, want)
		}
	})
}

// TestValidJSON: what is in strings without escapes can be left out.
func TestValidJSON(t *testing.T) {
	piece := rapid.SampledFrom([]string{`"`, `"abc"`, `\`, `\"`, "a", "\x01", "{", "}", "[", "]", ":", ",", "1", " ", "\n", `{"a":"b<"}`, `"a":1`, "é", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "text"), ""))
		if got, want := validJSON(text), json.Valid(text); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}

// hashDecoded is hashFields by decoding.
func hashDecoded(into map[string]string, path []string, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case len(path) == 5:
	case json.Unmarshal(raw, &fields) == nil && fields != nil:
		for name, field := range fields {
			hashDecoded(into, append(slices.Clone(path), name), field)
		}
		return
	case json.Unmarshal(raw, &items) == nil && len(items) > 0 && len(items) <= 20 && items[0][0] == '{':
		for i, item := range items {
			hashDecoded(into, append(slices.Clone(path), strconv.Itoa(i+1)), item)
		}
		return
	}
	into[strings.Join(path, ".")] = hash(raw)
}
