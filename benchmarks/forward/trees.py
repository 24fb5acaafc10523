"""Random complete trees, as attributes of ONNX and as the text that LightGBM loads."""

import numpy as np


def trees(rng, count, depth, features):
    leaves = 2**depth
    first = leaves - 1  # the inner nodes come first, level by level
    nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
    targets = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    texts = []
    for t in range(count):
        column = rng.integers(features, size=first)
        threshold = rng.uniform(-1, 1, first).astype(np.float32)
        value = (rng.standard_normal(leaves) / count).astype(np.float32)
        for i in range(2 * leaves - 1):
            leaf = i >= first
            nodes["treeids"].append(t)
            nodes["nodeids"].append(i)
            nodes["featureids"].append(0 if leaf else int(column[i]))
            nodes["modes"].append("LEAF" if leaf else "BRANCH_LEQ")
            nodes["values"].append(0.0 if leaf else float(threshold[i]))
            nodes["truenodeids"].append(0 if leaf else 2 * i + 1)
            nodes["falsenodeids"].append(0 if leaf else 2 * i + 2)
            if leaf:
                targets["treeids"].append(t)
                targets["nodeids"].append(i)
                targets["ids"].append(0)
                targets["weights"].append(float(value[i - first]))
        texts.append(lightgbm(t, column, threshold, value))
    attributes = {f"nodes_{k}": v for k, v in nodes.items()} | {f"target_{k}": v for k, v in targets.items()}
    head = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0", f"max_feature_idx={features - 1}", "objective=regression",
            "feature_names=" + " ".join(f"x{j}" for j in range(features)), "feature_infos=" + " ".join(["[-1:1]"] * features),
            "tree_sizes=" + " ".join(str(len(t)) for t in texts), "", ""]
    return attributes, "\n".join(head) + "".join(texts) + "end of trees\n\nparameters:\nend of parameters\n\npandas_categorical:null\n"


def lightgbm(number, column, threshold, value):
    first, leaves = len(column), len(value)

    def child(k):  # leaf l is ~l
        return k if k < first else ~(k - first)

    fields = {
        "num_leaves": [leaves], "num_cat": [0], "split_feature": column, "split_gain": [1] * first, "threshold": [repr(float(v)) for v in threshold],
        "decision_type": [0] * first, "left_child": [child(2 * i + 1) for i in range(first)], "right_child": [child(2 * i + 2) for i in range(first)],
        "leaf_value": [repr(float(v)) for v in value], "leaf_weight": [1] * leaves, "leaf_count": [1] * leaves, "internal_value": [0] * first,
        "internal_weight": [1] * first, "internal_count": [2] * first, "is_linear": [0], "shrinkage": [1],
    }
    return f"Tree={number}\n" + "".join(f"{k}={' '.join(map(str, v))}\n" for k, v in fields.items()) + "\n\n"
