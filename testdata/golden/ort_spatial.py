#!/usr/bin/env python3
"""Writes testdata/golden/ort_spatial.json: single spatial operators with options that the
onnx package's own tests leave out, and what ONNX Runtime computes for two rows.

    python3 testdata/golden/ort_spatial.py

Needs numpy, onnx and onnxruntime. Models are in base64. Where ONNX Runtime is known to
differ from the definition, there is no case (see the comments).
"""
import base64
import json
import os
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort_spatial.json")
ROWS = 2


def numbers(name, shape):
    """Numbers that are multiples of 1/8, so that they are short."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return np.round(rng.uniform(-4, 4, shape) * 8) / 8


def f32(name, values):
    return numpy_helper.from_array(np.array(values, np.float32), name)


def i64(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def case(name, op, inputs, shapes, constants=(), opset=19, **attributes):
    """shapes: of the rows of each input that holds rows. Constants: the others."""
    return name, op, inputs.split(","), shapes, constants, opset, attributes


def pools():
    for op in ("AveragePool", "MaxPool", "LpPool"):
        for k, options in enumerate([
            dict(kernel_shape=[2], strides=[3], pads=[1, 0]),
            dict(kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 2, 0]),
            dict(kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], ceil_mode=1),
            dict(kernel_shape=[2, 3], dilations=[2, 2], pads=[0, 1, 1, 1]),
            dict(kernel_shape=[2, 2, 2], strides=[1, 2, 2], pads=[0, 1, 0, 1, 0, 1]),
            dict(kernel_shape=[3, 3], strides=[2, 3], auto_pad="SAME_UPPER"),
            dict(kernel_shape=[4, 2], strides=[3, 2], auto_pad="SAME_LOWER"),
            dict(kernel_shape=[2, 3], strides=[2, 2], auto_pad="VALID"),
            dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER", ceil_mode=1),
            # Refused: auto_pad with dilations, and VALID rounded up, are not as they are defined.
        ]):
            d = len(options["kernel_shape"])
            if op == "LpPool" and ("ceil_mode" in options or "dilations" in options or d != 2):
                continue  # ONNX Runtime has no ceil_mode, and only images
            shape = [(2, 7), (2, 7, 6), (1, 4, 5, 4)][d - 1]
            yield case(f"{op} {k}", op, "x", [shape], **options)
            if op == "AveragePool":
                yield case(f"{op} {k}, padding counted", op, "x", [shape], count_include_pad=1, **options)
            if op == "LpPool":
                yield case(f"{op} {k}, p 3", op, "x", [shape], p=3, **options)
    yield case("GlobalLpPool", "GlobalLpPool", "x", [(2, 3, 4)], p=3)


def transposed():
    for k, (shape, w, bias, options) in enumerate([
        ((2, 5), (2, 3, 3), True, dict(strides=[2], pads=[1, 0], output_padding=[1])),
        ((4, 3, 4), (4, 2, 2, 3), True, dict(group=2, strides=[2, 3], dilations=[2, 1], pads=[1, 0, 0, 2])),
        ((2, 3, 4), (2, 1, 3, 3), False, dict(strides=[2, 2], auto_pad="SAME_UPPER")),
        ((2, 3, 4), (2, 1, 4, 2), False, dict(strides=[3, 1], auto_pad="SAME_LOWER")),
        ((2, 3, 4), (2, 1, 3, 3), True, dict(strides=[2, 2], output_shape=[6, 9])),
        ((2, 3, 4), (2, 2, 3, 3), False, dict(strides=[2, 2], output_shape=[7, 8], auto_pad="SAME_UPPER")),
        ((2, 2, 3, 2), (2, 1, 2, 2, 2), True, dict(strides=[1, 2, 2])),
    ]):
        constants = [f32("w", numbers(f"w{k}", w))]
        if bias:
            constants.append(f32("b", numbers(f"b{k}", (w[1] * options.get("group", 1),))))
        yield case(f"ConvTranspose {k}", "ConvTranspose", "x,w,b" if bias else "x,w", [shape], constants, **options)


def convolutions():
    for k, (shape, w, bias, options) in enumerate([
        ((2, 6), (3, 2, 3), True, dict(strides=[2], pads=[2, 1])),
        ((4, 5, 6), (6, 2, 2, 3), True, dict(group=2, strides=[2, 1], dilations=[2, 2], pads=[1, 0, 2, 1])),
        ((2, 5, 7), (1, 2, 4, 2), False, dict(strides=[3, 2], auto_pad="SAME_LOWER")),
        ((2, 5, 7), (1, 2, 3, 3), False, dict(strides=[2, 2], auto_pad="SAME_UPPER")),
        ((2, 5, 7), (1, 2, 3, 3), False, dict(strides=[2, 3], auto_pad="VALID")),
        ((2, 4, 3, 5), (2, 1, 2, 2, 3), True, dict(group=2, strides=[1, 1, 2], pads=[1, 0, 1, 0, 1, 0])),
    ]):
        constants = [f32("w", numbers(f"cw{k}", w))] + ([f32("b", numbers(f"cb{k}", w[:1]))] if bias else [])
        yield case(f"Conv {k}", "Conv", "x,w,b" if bias else "x,w", [shape], constants, **options)


COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]


def resizes():
    for coordinate in COORDINATES:
        for sizes in ([5, 9], [2, 3], [1, 7], [3, 1], [8, 2]):
            for mode, options in [("linear", {}), ("cubic", dict(cubic_coeff_a=-0.5)), ("cubic", dict(exclude_outside=1))] + [
                    ("nearest", dict(nearest_mode=m)) for m in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")]:
                if coordinate == "half_pixel_symmetric" and options.get("nearest_mode") in ("floor", "ceil"):
                    continue  # ONNX Runtime's floats fall short of whole numbers there
                yield case(f"Resize {coordinate} {mode} {options} to {sizes}", "Resize", "x,,,sizes", [(1, 4, 6)], [i64("sizes", sizes)],
                           axes=[2, 3], mode=mode, coordinate_transformation_mode=coordinate, **options)
        if coordinate == "align_corners":
            continue  # refused: the definition's tests differ from ONNX Runtime
        for scales in ([1.3, 0.7], [0.6, 2.5]):
            for mode in ("linear", "nearest", "cubic"):
                yield case(f"Resize {coordinate} {mode} by {scales}", "Resize", "x,,scales", [(1, 4, 6)], [f32("scales", [1, 1] + scales)],
                           mode=mode, coordinate_transformation_mode=coordinate)
    for mode in ("linear", "cubic"):
        for sizes in ([2, 3], [3, 9], [1, 1]):
            for outside in (0, 1):
                yield case(f"Resize antialias {mode} to {sizes}, outside excluded {outside}", "Resize", "x,,,sizes", [(1, 7, 8)], [i64("sizes", sizes)],
                           axes=[2, 3], mode=mode, antialias=1, exclude_outside=outside)
    for mode in ("linear", "nearest"):
        yield case(f"Resize crop {mode}", "Resize", "x,roi,,sizes", [(1, 4, 6)], [f32("roi", [0.3, -0.25, 1.4, 0.75]), i64("sizes", [5, 4])],
                   axes=[2, 3], mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
    for policy in ("not_larger", "not_smaller"):
        yield case(f"Resize {policy}", "Resize", "x,,,sizes", [(1, 4, 6)], [i64("sizes", [7, 8])], axes=[2, 3], mode="linear", keep_aspect_ratio_policy=policy)
    yield case("Resize a volume", "Resize", "x,,scales", [(1, 3, 2, 4)], [f32("scales", [1, 1, 2, 1.5, 0.5])], mode="linear")
    for opset, op in ((9, "Upsample"), (10, "Resize")):
        for mode in ("nearest", "linear"):
            yield case(f"{op} {opset} {mode}", op, "x,scales", [(1, 3, 4)], [f32("scales", [1, 1, 2, 1.5])], opset, mode=mode)
    yield case("Resize 10 down", "Resize", "x,scales", [(1, 5, 4)], [f32("scales", [1, 1, 0.6, 0.5])], 10)


def grids():
    for mode in ("nearest", "linear", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                yield case(f"GridSample {mode} {padding} {align}", "GridSample", "x,grid", [(2, 3, 4), (3, 5, 2)], opset=20, mode=mode, padding_mode=padding, align_corners=align)
                if mode != "cubic":
                    yield case(f"GridSample volume {mode} {padding} {align}", "GridSample", "x,grid", [(1, 3, 4, 2), (2, 2, 3, 3)], opset=20, mode=mode, padding_mode=padding, align_corners=align)


def others():
    for mode in ("reflect", "edge", "wrap"):
        yield case(f"Pad {mode}", "Pad", "x,p", [(1, 4, 5)], [i64("p", [0, 0, 2, 3, 0, 0, 3, 1])], mode=mode)
    yield case("Pad negative", "Pad", "x,p,v", [(1, 4, 5)], [i64("p", [0, 0, -1, 3, 0, 0, 2, -2]), f32("v", 7)])
    yield case("LRN", "LRN", "x", [(6, 2, 2)], size=5, alpha=0.5, beta=0.6, bias=1.5)
    yield case("LpNormalization 1", "LpNormalization", "x", [(3, 4)], axis=1, p=1)
    yield case("MeanVarianceNormalization", "MeanVarianceNormalization", "x", [(2, 3, 4)], axes=[2, 3])
    yield case("Det", "Det", "x", [(2, 4, 4)])
    for options in (dict(), dict(onesided=1), dict(inverse=1)):
        yield case(f"DFT {options}", "DFT", "x,n", [(6, 3, 1 if "onesided" in options else 2)], [i64("n", 8)], 17, axis=1, **options)
        yield case(f"DFT short {options}", "DFT", "x,n", [(6, 3, 1 if "onesided" in options else 2)], [i64("n", 5)], 17, axis=1, **options)
    yield case("STFT", "STFT", "x,step,window", [(11, 1)], [i64("step", 3), f32("window", [0.5, 1, 1, 0.25])], 17)
    yield case("STFT both sides", "STFT", "x,step,,n", [(11, 1)], [i64("step", 2), i64("n", 5)], 17, onesided=0)
    yield case("Col2Im", "Col2Im", "x,size,block", [(12, 6)], [i64("size", [5, 6]), i64("block", [2, 3])], 18, dilations=[1, 2], pads=[1, 0, 0, 1], strides=[2, 2])
    yield case("DepthToSpace", "DepthToSpace", "x", [(8, 2, 3)], blocksize=2, mode="CRD")
    yield case("SpaceToDepth", "SpaceToDepth", "x", [(2, 4, 6)], blocksize=2)
    yield case("CenterCropPad", "CenterCropPad", "x,to", [(5, 4)], [i64("to", [2, 7])], 18, axes=[1, 2])
    # Corners of regions are in order in each row: x1 < x2, y1 < y2.
    for mode in ("avg", "max"):
        for how in ("half_pixel", "output_half_pixel"):
            for ratio in (0, 2):
                yield case(f"RoiAlign {mode} {how} {ratio}", "RoiAlign", "images,roi,k", [None, (4,), ()], [f32("images", numbers("images", (1, 2, 6, 7)))], 16,
                           mode=mode, coordinate_transformation_mode=how, sampling_ratio=ratio, output_height=2, output_width=3, spatial_scale=0.75)
    yield case("DeformConv", "DeformConv", "x,w,offset,b,mask", [(4, 4, 5), None, (24, 3, 3), None, (12, 3, 3)],
               [f32("w", numbers("dw", (2, 2, 2, 3))), f32("b", [0.5, -1])], 19, group=2, offset_group=2, strides=[1, 2], pads=[0, 1, 0, 1])


def run(name, op, inputs, shapes, constants, opset, attributes):
    known = {c.name for c in constants}
    feeds, declared = {}, []
    rows = iter([s for s in shapes if s is not None])
    for i in inputs:
        if i and i not in known:
            shape = next(rows)
            values = numbers(name + i, (ROWS,) + tuple(shape))
            kind, as_type = T.FLOAT, np.float32
            if i == "grid":
                values /= 3
            if i == "roi":
                values = np.sort(np.abs(values).reshape(ROWS, 2, 2), axis=1).reshape(ROWS, 4)
            if i == "k":
                values, kind, as_type = np.zeros(ROWS), T.INT64, np.int64
            feeds[i] = values.astype(as_type)
            declared.append(h.make_tensor_value_info(i, kind, ["N"] + list(shape)))
    graph = h.make_graph([h.make_node(op, inputs, ["y"], **attributes)], "g", declared, [h.make_empty_tensor_value_info("y")], constants)
    graph.output[0].CopyFrom(h.make_tensor_value_info("y", T.FLOAT, None))
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    y = session.run(None, feeds)[0]
    short = lambda a: [float(f"{v:.8g}") for v in a.astype(float).ravel()]
    return {"name": name, "model": base64.b64encode(model.SerializeToString()).decode(), "rows": ROWS,
            "inputs": {k: short(v) for k, v in feeds.items()}, "shape": list(y.shape), "want": short(y)}


def main():
    found = []
    for group in (pools, convolutions, transposed, resizes, grids, others):
        for c in group():
            try:
                found.append(run(*c))
            except Exception as e:  # what ONNX Runtime does not have is no case
                print(f"{c[0]}: {str(e).splitlines()[0][:160]}")
    versions = f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}"
    with open(OUT, "w") as f:
        f.write('{"versions": ' + json.dumps(versions) + ', "cases": [\n')
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in found) + "\n]}\n")
    print(len(found), "cases")


if __name__ == "__main__":
    main()
