package command

import (
	"reflect"
	"testing"
)

// A name given once holds for all networks, given once for each it has values for each.
func TestConstantValuesOfNetworks(t *testing.T) {
	got, err := constantValues([]string{"mean=1,2", "scale=3", "mean=4,5"}, 2)
	want := []map[string][]float64{{"mean": {1, 2}, "scale": {3}}, {"mean": {4, 5}, "scale": {3}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, flags := range [][]string{{"mean"}, {"mean=x"}, {"mean=1", "mean=2", "mean=3"}} {
		if _, err := constantValues(flags, 2); err == nil {
			t.Errorf("%q is taken", flags)
		}
	}
}
