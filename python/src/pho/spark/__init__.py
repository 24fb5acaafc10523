"""Decompose a network over a Spark DataFrame, which no machine reads as a whole.

Every task gives the rows of its partition to the program ``pho`` and has their sums back as bytes;
these are added up as a tree, and the driver solves. See docs/spark.md::

    import pho.spark

    d = pho.spark.decompose("net.onnx", df, "~ s(age) + region", response="y", order_by="id")
    d.summary()
    d.apply(df).show()        # the frame with a column for each part
"""

from ._decompose import decompose
from ._decomposition import Decomposition

__all__ = ["Decomposition", "decompose"]
