// Package onnxpb holds the messages of the ONNX file format that pho needs and
// a builder that writes small valid models.
package onnxpb

//go:generate sh -c "cd ../../.. && go build -modfile=tools/go.mod -o bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go && protoc --plugin=bin/protoc-gen-go --proto_path=internal/base/onnxpb --go_out=internal/base/onnxpb --go_opt=paths=source_relative onnx.proto"
