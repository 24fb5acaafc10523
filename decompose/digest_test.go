package decompose_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// artifact is what Encode and EncodeMoments write of a small decomposition.
func artifact(t *testing.T) (doc, moments []byte) {
	t.Helper()
	r, _ := run(t, newFake(1), table(t, 300, 7), decompose.Options{})
	return encode(t, r)
}

// Whichever bit of an artifact changes, it is refused. PHO_LONG=1 flips all of them.
func TestFlippedBits(t *testing.T) {
	doc, moments := artifact(t)
	step := 101 // a prime: all places in a byte, and all kinds of bytes
	if os.Getenv("PHO_LONG") != "" {
		step = 1
	}
	flips := 0
	for i, file := range [][]byte{doc, moments} {
		name := []string{"decomposition.json", "moments.bin"}[i]
		for bit := 0; bit < 8*len(file); bit++ {
			if tail := 8*len(file) - bit; bit%step != 0 && tail > 8*100 { // the digest is at the end
				continue
			}
			file[bit/8] ^= 1 << (bit % 8)
			if r, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), decodeFake); err == nil {
				t.Errorf("%s, byte %d, bit %d: accepted, %d predictors", name, bit/8, bit%8, len(r.Predictors))
			}
			file[bit/8] ^= 1 << (bit % 8)
			flips++
		}
	}
	t.Logf("%d bits flipped", flips)
	r, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), decodeFake)
	if err != nil {
		t.Fatal(err)
	}
	if d, m := encode(t, r); !bytes.Equal(d, doc) || !bytes.Equal(m, moments) {
		t.Error("what was read is not what was written")
	}
}

// Sign accepts an edit and changes nothing else: how lines end, fields of later
// versions, the digits of numbers.
func TestSign(t *testing.T) {
	doc, _ := artifact(t)
	if again, err := decompose.Sign(doc); err != nil || !bytes.Equal(again, doc) {
		t.Errorf("signing what is signed changes it: %v", err)
	}
	windows := bytes.ReplaceAll(doc, []byte("\n"), []byte("\r\n"))
	if _, err := decompose.Read(bytes.NewReader(windows), nil, decodeFake); err != nil {
		t.Errorf("other line breaks: %v", err)
	}
	edited := strings.Replace(string(doc), `"rows": 300`, `"rows": 3.00e2, "later": [1.0e-0]`, 1)
	if _, err := decompose.Read(strings.NewReader(edited), nil, decodeFake); err == nil {
		t.Error("the edit was accepted")
	}
	signed, err := decompose.Sign([]byte(edited))
	if err != nil || !strings.Contains(string(signed), "1.0e-0") {
		t.Fatalf("%v\n%s", err, signed)
	}
	edited = strings.Replace(string(doc), `"rows": 300`, `"rows": 299`, 1)
	if _, err := decompose.Read(strings.NewReader(edited), nil, decodeFake); !errors.Is(err, decompose.ErrDigest) {
		t.Errorf("the edit was accepted: %v", err)
	}
	if signed, err = decompose.Sign([]byte(edited)); err != nil {
		t.Fatal(err)
	}
	if r, err := decompose.Read(bytes.NewReader(signed), nil, decodeFake); err != nil || r.Rows != 299 {
		t.Errorf("the signed edit: %v", err)
	}
	for _, bad := range []string{"", "{", "[]", `"text"`, "{} {}"} {
		if _, err := decompose.Sign([]byte(bad)); err == nil {
			t.Errorf("%q was signed", bad)
		}
	}
}
