package drift_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/drift"
)

// small is the file of a state of one term.
func small(t testing.TB) string {
	s := newState(t, 1, drift.Settings{})
	for _, id := range []string{"a", "b"} {
		parts, rows := draw{}.parts(newRand(), 5)
		p := &parts.Predictors[0]
		p.Terms = p.Terms.Slice(0, 5, 0, 1).(*mat.Dense)
		add(t, s, id, parts, rows)
	}
	return bytesOf(t, s)
}

// resigned is a state's file with something replaced and a digest that fits.
func resigned(text, old, new string) string {
	text = strings.Replace(text, old, new, 1)
	at := strings.LastIndex(text, ",\n\"sha256\"")
	sum := sha256.Sum256([]byte(text[:at]))
	return text[:at] + ",\n\"sha256\":\"" + hex.EncodeToString(sum[:]) + "\"}\n"
}

// A file that is damaged anywhere is refused; so is one of another version, or that was made up.
func TestDamaged(t *testing.T) {
	text := small(t)
	if _, err := drift.Read(strings.NewReader(resigned(text, "", ""))); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(text); i += 1 + len(text)/300 {
		spoilt := []byte(text)
		spoilt[i] ^= 1
		if _, err := drift.Read(strings.NewReader(string(spoilt))); err == nil {
			t.Fatalf("byte %d may be another one", i)
		}
		if _, err := drift.Read(strings.NewReader(text[:i])); err == nil {
			t.Fatalf("%d bytes are enough", i)
		}
	}
	if _, err := drift.Read(strings.NewReader(text[:len(text)/2])); !errors.Is(err, drift.ErrDamaged) {
		t.Errorf("half a file: %v", err)
	}
	for want, file := range map[string]string{
		`format "pho.monitor/9"`:     strings.Replace(text, "pho.monitor/1", "pho.monitor/9", 1),
		"not the state of a monitor": "time,x\n1,2\n",
		`its format is "pho.plan/1"`: `{"format":"pho.plan/1"}`,
		"sources are not in order":   resigned(text, `{"id":"a"`, `{"id":"c"`),
		"rows, clusters or weights":  resigned(text, `"rows":10,"clusters"`, `"rows":0,"clusters"`),
		"sums, where":                resigned(text, `"sums":[`, `"sums":[1,`),
		"no predictors":              resigned(text, `"predictors":[{`, `"predictors":[],"x":[{`),
		"nearest ones":               resigned(text, `"sums":[10`, `"sums":[[10,5]`),
	} {
		if _, err := drift.Read(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, error %v", want, err)
		}
	}
}

// Whatever is read is written as it was, merges and can be reported on.
func FuzzRead(f *testing.F) {
	text := small(f)
	f.Add(text)
	f.Add(resigned(text, `"sums":[10`, `"sums":[1e300`))
	f.Add(resigned(text, `"settings":{`, `"settings":{"block":3`))
	f.Add(`{"format":"pho.monitor/1","periods":{"a":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, ",\n\"sha256\"") {
			text = resigned(text, "", "") // so that there is something behind the digest
		}
		s, err := drift.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := drift.Read(strings.NewReader(bytesOf(t, s)))
		if err != nil || bytesOf(t, again) != bytesOf(t, s) {
			t.Fatalf("written again it is another one: %v", err)
		}
		_, _ = s.Report("")
		_, _ = s.Rolled(drift.Month)
		_ = s.Merge(again)
	})
}
