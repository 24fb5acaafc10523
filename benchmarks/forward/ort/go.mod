module github.com/pho-go/pho/benchmarks/forward/ort

go 1.26

require github.com/yalue/onnxruntime_go v1.27.0
