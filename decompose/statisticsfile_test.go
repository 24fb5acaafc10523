package decompose_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// statistics are those of two chunks and a half, by groups if asked for.
func statistics(t testing.TB, tab *data.Table, groups string, first int) (*decompose.Statistics, decompose.Model) {
	t.Helper()
	m := newFake(1).withTap()
	s, err := decompose.Accumulate(context.Background(), m, tab, &decompose.Options{Columns: decompose.Columns{Groups: groups}, Resources: decompose.Resources{FirstChunk: first}})
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func bytesOf(t testing.TB, s interface{ MarshalBinary() ([]byte, error) }) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStatisticsAreReadBackAndMerged sends shards through their bytes: the result
// is that of shards that never left memory, groups and levels included.
func TestStatisticsAreReadBackAndMerged(t *testing.T) {
	for _, groups := range []string{"", "day"} {
		a, m := statistics(t, table(t, 3*4096, 40), groups, 0)
		b, _ := statistics(t, table(t, 5000, 41), groups, 3)
		var read [2]decompose.Statistics
		for i, s := range []*decompose.Statistics{a, b} {
			raw := bytesOf(t, s)
			if err := read[i].UnmarshalBinary(raw); err != nil {
				t.Fatal(err)
			}
			if again := bytesOf(t, &read[i]); !bytes.Equal(again, raw) {
				t.Errorf("groups %q: other bytes after reading back", groups)
			}
		}
		if err := a.Merge(b); err != nil {
			t.Fatal(err)
		}
		if err := read[0].Merge(&read[1]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, a), bytesOf(t, &read[0])) {
			t.Errorf("groups %q: merged statistics differ", groups)
		}
		if groups != "" {
			continue
		}
		want, err := decompose.Solve(t.Context(), m, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decompose.Solve(t.Context(), m, &read[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := encode(t, want)
		two, _ := encode(t, got)
		if !bytes.Equal(one, two) {
			t.Error("other solution after reading back")
		}
	}
}

func TestDamagedStatisticsAreRefused(t *testing.T) {
	s, _ := statistics(t, table(t, 600, 42), "day", 0)
	good := bytesOf(t, s)
	header := bytes.IndexByte(good, '{')
	edit := func(old, new string) []byte {
		if !bytes.Contains(good, []byte(old)) || len(old) != len(new) {
			t.Fatalf("cannot replace %q by %q", old, new)
		}
		return bytes.Replace(bytes.Clone(good), []byte(old), []byte(new), 1)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "no statistics"},
		"other file":    {[]byte("PK\x03\x04 something else entirely"), "no statistics"},
		"short":         {good[:len(good)-1], "end too early"},
		"long":          {append(bytes.Clone(good), 0), "1 bytes follow"},
		"no header":     {good[:header], "end too early"},
		"broken header": {edit(`{"features"`, `["features"`), "header"},
		"feature":       {edit(`"name":"x0"`, `"nami":"x0"`), ""}, // a feature without a name is one of another name
		"range":         {edit(`"min"`, `"mix"`), "no valid range"},
		"flipped":       {flip(good, len(good)-40), "damaged"},
	} {
		var got decompose.Statistics
		err := got.UnmarshalBinary(c.data)
		if c.want == "" {
			if err == nil {
				err = s.Merge(&got)
			}
			if err == nil || !strings.Contains(err.Error(), "do not merge") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x10
	return b
}

// FuzzStatistics: bytes from elsewhere are an error or statistics that have the
// same bytes again; nothing panics.
func FuzzStatistics(f *testing.F) {
	for _, groups := range []string{"", "day"} {
		s, _ := statistics(f, table(f, 50, 43), groups, 0)
		f.Add(bytesOf(f, s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s decompose.Statistics
		if s.UnmarshalBinary(raw) != nil {
			return
		}
		once := bytesOf(t, &s)
		var again decompose.Statistics
		if err := again.UnmarshalBinary(once); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, &again), once) {
			t.Error("other bytes")
		}
	})
}
