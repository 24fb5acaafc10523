// Package resultdir writes and reads the directory of a decomposition: its data
// (decomposition.json, moments.bin) and its presentation (effects.csv, report.html).
// Contributions and run.json are the command's.
package resultdir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/report"
)

// The files of the directory.
const (
	Decomposition = "decomposition.json"
	Moments       = "moments.bin"
	Contributions = "contributions.csv"
	Parquet       = "contributions.parquet" // in place of Contributions
	Effects       = "effects.csv"
	Report        = "report.html"
	Run           = "run.json"
	Adapted       = "adapted.onnx"   // on request: the model as ONNX with the parts as outputs
	Surrogate     = "surrogate.onnx" // on request, of a model that is no file: its structured part
)

// Files are the names of all of them: a directory that holds others is no result.
func Files() durable.Files {
	return durable.Files{Decomposition, Moments, Contributions, Parquet, Effects, Report, Run, Adapted, Surrogate}
}

// Exported is the file that is written on request, of a model that is a file or of another.
func Exported(hasFile bool) string {
	if hasFile {
		return Adapted
	}
	return Surrogate
}

// Write writes the decomposition, its moments, the effects and the report of r, which
// was made with m, and reads back what is needed to apply it. Effects and report are
// made meanwhile: they do not use the moments' hash, which writing them notes in r.
func Write(ctx context.Context, dir *durable.Dir, m decompose.Model, r *decompose.Result) error {
	reported := make(chan error, 1)
	go func() { reported <- WriteReport(ctx, nil, dir.Path, m, r) }()
	err := writeDecomposition(dir, r)
	if other := <-reported; err == nil {
		err = other
	}
	return err
}

// writeDecomposition writes the moments and the decomposition, and reads both: of the moments, which may be large, their digest.
func writeDecomposition(dir *durable.Dir, r *decompose.Result) error {
	if err := durable.WriteFile(dir.Path(Moments), func(f *os.File) error { return r.EncodeMoments(f) }); err != nil {
		return err
	}
	if err := durable.WriteFile(dir.Path(Decomposition), func(f *os.File) error { return r.Encode(f) }); err != nil {
		return err
	}
	written, err := ReadDocument(dir.Path(""))
	if err == nil {
		err = checkMoments(dir.Path(""), written)
	}
	if err != nil {
		return fmt.Errorf("the result cannot be read back and was not kept: %w", err)
	}
	return nil
}

// checkMoments refuses moments in dir that are not those of r.
func checkMoments(dir string, r *decompose.Result) error {
	f, err := open(dir, Moments)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("decomposition %q: %s: %w", dir, Moments, durable.Reason(err))
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.MomentsSHA256 {
		return fmt.Errorf("decomposition %q: %s has sha256 %s, the decomposition was written with %q", dir, Moments, got, r.MomentsSHA256)
	}
	return nil
}

// WriteReport writes the effects and the report, each in the place that path gives for
// its name, and further files: all of them or none. u may be nil.
func WriteReport(ctx context.Context, u *durable.Unfinished, path func(string) string, m decompose.Model, r *decompose.Result, further ...durable.File) error {
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	effects, err := report.Effects(ctx, r, a)
	if err != nil {
		return err
	}
	return u.WriteFiles(append(further,
		durable.File{Path: path(Effects), Write: func(f *os.File) error { return report.WriteEffects(f, effects) }},
		durable.File{Path: path(Report), Write: func(f *os.File) error { return report.Write(f, r, effects) }},
	)...)
}

// runDigest is what run.json knows of the contributions.
type runDigest struct {
	SHA256 string `json:"contributions_sha256"`
}

// DigestContributions is the SHA-256, in hex, of the contributions in dir, a file of either format; "" if there is none.
func DigestContributions(dir string) (string, error) {
	for _, name := range []string{Contributions, Parquet} {
		f, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("decomposition %q: %s: %w", dir, name, durable.Reason(err))
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return "", fmt.Errorf("decomposition %q: %s: %w", dir, name, durable.Reason(err))
		}
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	return "", nil
}

// CheckContributions refuses contributions in dir that are not as they were written, by the digest in run.json. known
// is false if that has none: of a result without contributions, or of an earlier version.
func CheckContributions(dir string) (known bool, err error) {
	var run runDigest
	raw, err := os.ReadFile(filepath.Join(dir, Run))
	if err != nil || json.Unmarshal(raw, &run) != nil || run.SHA256 == "" {
		return false, nil
	}
	sum, err := DigestContributions(dir)
	if err == nil && sum != run.SHA256 && sum != "" {
		err = fmt.Errorf("decomposition %q: the contributions of its rows are not as they were written, but damaged or edited: sha256 %s, and %s in %s: decompose again, or apply it to the rows", dir, sum, run.SHA256, Run)
	}
	return sum != "", err
}

// Read reads the decomposition in dir. One that is not as it was written is an error
// that wraps decompose.ErrDigest.
func Read(dir string) (*decompose.Result, error) {
	doc, err := ReadFile(dir, Decomposition)
	if err != nil {
		return nil, err
	}
	return Decode(dir, doc)
}

// ReadBands is Read for standard errors and bands alone, decompose.ReadBands.
func ReadBands(dir string) (*decompose.Result, error) {
	doc, err := ReadFile(dir, Decomposition)
	if err != nil {
		return nil, err
	}
	return decode(dir, doc, decompose.ReadBands)
}

// ReadDocument is Read without moments, and so without covariances: for what reads neither.
func ReadDocument(dir string) (*decompose.Result, error) {
	doc, err := ReadFile(dir, Decomposition)
	if err != nil {
		return nil, err
	}
	r, err := decompose.Read(bytes.NewReader(doc), nil, basis.Decode)
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %w", dir, err)
	}
	return r, nil
}

// Decode reads doc, the text of a decomposition.json, with the moments in dir.
func Decode(dir string, doc []byte) (*decompose.Result, error) {
	return decode(dir, doc, decompose.Read)
}

type decoder = func(doc, moments io.Reader, term func(decompose.Kind, json.RawMessage) (decompose.Term, error)) (*decompose.Result, error)

func decode(dir string, doc []byte, read decoder) (*decompose.Result, error) {
	moments, err := open(dir, Moments)
	if err != nil {
		return nil, err
	}
	defer moments.Close()
	r, err := read(bytes.NewReader(doc), moments, basis.Decode)
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %w", dir, err)
	}
	return r, nil
}

// ReadFile is what the file of that name in dir holds.
func ReadFile(dir, name string) ([]byte, error) {
	f, err := open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %s: %w", dir, name, durable.Reason(err))
	}
	return raw, nil
}

func open(dir, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("%q is not a directory that decompose wrote: %s: %w", dir, name, durable.Reason(err))
	}
	return f, nil
}
