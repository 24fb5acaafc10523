// Package boosters opens gradient boosted models from the files of their libraries: XGBoost's JSON and UBJSON, LightGBM's
// text, CatBoost's binary files and JSON, and the JSON of InterpretML's explainable boosting machines. What is opened is
// a network as package onnx has it, an ensemble of trees between the library's own treatment of columns and its response
// function, so that all that holds for networks holds for boosters: predictors, structure, forward passes. It predicts what
// the library predicts, in the library's arithmetic; what is not known to be so is refused.
//
// Formats: XGBoost's model schema, https://xgboost.readthedocs.io/en/stable/tutorials/saving_model.html; LightGBM's
// src/boosting/gbdt_model_text.cpp and src/io/tree.cpp; CatBoost's catboost/libs/model/flatbuffers/model.fbs; InterpretML's
// interpret/glassbox/_ebm/_json.py. Trees of libraries that write no files have a format of their own, pho.trees/1.
package boosters

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"

	"github.com/pho-go/pho/adapters/boosters/internal/catboost"
	"github.com/pho-go/pho/adapters/boosters/internal/ebm"
	"github.com/pho-go/pho/adapters/onnx"
)

// format is a kind of file.
type format struct {
	library string
	is      func(head []byte) bool                        // whether a file that begins with head is one
	read    func(file []byte, whole bool) (*model, error) // whole: see model
}

func formats() []format {
	return []format{
		{"XGBoost", isXGBoost, readXGBoost},
		{"LightGBM", isLightGBM, readLightGBM},
		{"CatBoost", catboost.Is, readCatBoost},
		{"InterpretML", ebm.Is, readEBM},
		{"trees", isTrees, readTrees},
	}
}

// HeadSize is how many bytes of a file Library looks at.
const HeadSize = 1 << 16

// Library is the library whose file begins with head, the first HeadSize bytes or the whole of it; "": none of
// those that are known.
func Library(head []byte) string {
	head = head[:min(len(head), HeadSize)]
	for _, f := range formats() {
		if f.is(head) {
			return f.library
		}
	}
	return ""
}

// Load reads a booster, to whose kind its content tells, and checks it. The inputs of the network are called as
// the features in the file; where that has no names, it is one input of all features. Numbers are rounded where
// the library rounds them. The outputs are what the library predicts on the scale of the response: one, or one for each
// target, or the probabilities of classes. nil o holds the defaults; of it the bounds count.
// Errors: a file of no kind that is known, a damaged file, and a model with what is not supported, which they name.
func Load(r io.Reader, o *onnx.LoadOptions) (*onnx.Graph, error) {
	m, sum, err := read(r, o, false)
	if err != nil {
		return nil, err
	}
	return m.load(sum, o)
}

// read is the model of a file and the file's SHA-256; whole: see model.
func read(r io.Reader, o *onnx.LoadOptions, whole bool) (*model, string, error) {
	var limit int64 = 1<<31 - 1
	if o != nil && o.MaxFileSize > 0 {
		limit = o.MaxFileSize
	}
	file, err := contents(r, limit)
	if err != nil {
		return nil, "", fmt.Errorf("boosters: reading the model: %w", err)
	}
	if int64(len(file)) > limit {
		return nil, "", fmt.Errorf("boosters: the model is larger than %d bytes (MaxFileSize)", limit)
	}
	for _, f := range formats() {
		if !f.is(file[:min(len(file), HeadSize)]) {
			continue
		}
		sum := sha256.Sum256(file) // first, so that the file goes before its trees are laid out
		m, err := f.read(file, whole)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return nil, "", fmt.Errorf("boosters: %s: %w", f.library, err)
		}
		return m, hex.EncodeToString(sum[:]), nil
	}
	return nil, "", errors.New("boosters: the file is none of XGBoost (JSON or UBJSON), LightGBM (text), CatBoost (binary or JSON) and InterpretML (JSON of to_json)")
}

// release lets go of a large file that has been read, before memory is asked for to lay its trees out. Left to itself the
// collector would wait until as much again has been used.
func release(size int) {
	if size >= 1<<22 {
		runtime.GC()
	}
}

// contents reads r, up to limit bytes and one more. A file, whose size is known, takes no more memory than its bytes.
func contents(r io.Reader, limit int64) ([]byte, error) {
	var file bytes.Buffer
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			file.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
		}
	}
	_, err := file.ReadFrom(io.LimitReader(r, limit+1))
	return file.Bytes(), err
}
