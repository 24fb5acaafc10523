package lineareffects

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// TestRun: runs that are there are read, not trained again, and those of another
// seed or study are not taken for them.
func TestRun(t *testing.T) {
	s := Study{Settings: []Setting{{N: 60, P: 2, Noise: 1, Repetitions: 2}}, Epochs: 3, Hidden: []int{4}}
	e := &experiment.Experiment{Name: "test", Out: t.TempDir(), Seed: 2}
	first, err := s.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 1 || len(first[0]) != 2 || len(first[0][0].Runs) != len(Trainings()) || first[0][0].Runs[0].Epochs != 3 || !first[0][0].Runs[0].Limit {
		t.Errorf("runs %+v", first)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	again, err := s.Run(stopped, e)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("read: %+v, want %+v (%v)", again, first, err)
	}
	more := s // a study that was interrupted goes on
	more.Settings = append(more.Settings, Setting{N: 60, P: 1, Repetitions: 1})
	file := filepath.Join(e.Out, runsFile)
	if err := os.WriteFile(file, mustJSON(t, runs{Seed: e.Seed, Study: more, Repetitions: first}), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := more.Run(t.Context(), e); err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], first[0]) || len(all[1]) != 1 {
		t.Errorf("gone on: %+v (%v)", all, err)
	}
	other := *e
	other.Seed = 3
	if _, err := s.Run(stopped, &other); err == nil {
		t.Error("the runs of another seed")
	}
	s.Epochs = 4
	if _, err := s.Run(stopped, e); err == nil {
		t.Error("the runs of another study")
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), e); err == nil {
		t.Error("a damaged file is read")
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestFull(t *testing.T) {
	s := Full()
	var ratios []string
	for _, at := range s.Settings[:6] {
		ratios = append(ratios, at.Ratio())
	}
	if want := []string{"1/1", "3/3", "10/10", "1/31", "3/33", "10/40"}; !reflect.DeepEqual(ratios, want) || !reflect.DeepEqual(s.Sizes(), []int{100, 1000}) {
		t.Errorf("%v at %v, want %v", ratios, s.Sizes(), want)
	}
}
