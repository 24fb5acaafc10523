package operator

import (
	"reflect"
	"slices"
	"testing"
)

// opaqueOperators are the operators with an opaque rule, each with its reason.
var opaqueOperators = map[string]string{
	"Constant":                            "folded",
	"ConstantOfShape":                     "folded",
	"Range":                               "folded",
	"Shape":                               "followed as sizes",
	"Size":                                "followed as sizes",
	"EyeLike":                             "folded",
	"NonZero":                             "folded",
	"NonMaxSuppression":                   "folded",
	"Unique":                              "folded",
	"DynamicQuantizeLinear":               "the range is that of all elements of a row",
	"com.microsoft.DynamicQuantizeMatMul": "the range is that of all elements of a row",
	"com.microsoft.DynamicQuantizeLSTM":   "the range is that of all steps of a row",
	"InstanceNormalization":               "mixes a whole channel",
	"HannWindow":                          "folded",
	"HammingWindow":                       "folded",
	"BlackmanWindow":                      "folded",
	"MelWeightMatrix":                     "folded",
	"DeformConv":                          "its taps may lie anywhere in the image",
}

// Every operator has all of its parts, in both precisions: who adds one finds here what
// is missing.
func TestEveryEntryIsWhole(t *testing.T) {
	single := New[float32]()
	if double := New[float64](); !slices.Equal(single.Keys(), double.Keys()) {
		t.Errorf("the precisions have different operators")
	}
	stated := reflect.ValueOf(opaque).Pointer()
	for key, e := range New[float64]() {
		if e.Name == "" || e.Key() != key {
			t.Errorf("%s is entered as %q", key, e.Key())
		}
		if e.Check == nil || e.Rule == nil || e.Compile == nil {
			t.Errorf("%s lacks its check (%v), rule (%v) or step (%v)", key, e.Check == nil, e.Rule == nil, e.Compile == nil)
			continue
		}
		if len(e.Versions) == 0 || e.Versions[0] < 1 || !slices.IsSorted(e.Versions) || len(slices.Compact(slices.Clone(e.Versions))) != len(e.Versions) {
			t.Errorf("%s begins or changes at opsets %v: want at least one, ascending", key, e.Versions)
		}
		if e.Min < 0 || e.Max >= 0 && e.Max < e.Min || e.Outputs == 0 {
			t.Errorf("%s takes %d to %d inputs and has %d outputs", key, e.Min, e.Max, e.Outputs)
		}
		for _, i := range slices.Concat(e.SizeInputs, e.TypeInputs) {
			if e.Max >= 0 && i >= e.Max {
				t.Errorf("%s has no input %d", key, i)
			}
		}
		if why := opaqueOperators[key]; (why != "") != (reflect.ValueOf(e.Rule).Pointer() == stated) {
			t.Errorf("%s: opaque without a reason here, or the reason %q without being opaque", key, why)
		}
	}
	count := 0
	for _, family := range families[float64]() {
		count += len(family)
	}
	if count != len(single) {
		t.Errorf("%d entries have %d names: one is there twice", count, len(single))
	}
}
