package wiring

import (
	"slices"
	"testing"
)

// TestMemberNames: what tells paths apart, with numbers for files that are there twice.
func TestMemberNames(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{[]string{"nets/001/model.onnx", "nets/002/model.onnx"}, []string{"001", "002"}},
		{[]string{"a.onnx", "b.onnx"}, []string{"a", "b"}},
		{[]string{"/x/y/a.onnx", "/x/z/a.onnx"}, []string{"y", "z"}},
		{[]string{"x/a.onnx", "x/a.onnx"}, []string{"a", "a#2"}},
		{[]string{"run1/net.onnx", "run2/deep/net.onnx"}, []string{"run1", "run2/deep"}},
	} {
		if got := memberNames(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.paths, got, c.want)
		}
	}
}
