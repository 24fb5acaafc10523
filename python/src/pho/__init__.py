"""Open trained networks: an additive part that is identified, and a remainder orthogonal to it.

Post-hoc orthogonalization moves what terms can explain out of a trained network's deep part
into those terms, without touching its predictions::

    import pho

    d = pho.decompose("net.onnx", frame, "~ s(age) + region", response="y")
    print(d.summary())
    d.contributions            # a DataFrame: intercept, terms, unstructured, eta
    d.plot("s(age)")
    d.apply(new_rows)
    d.save("result")

The work is done by the program ``pho``, which comes with this package.
"""

from ._decompose import decompose
from ._decomposition import Decomposition, load
from ._session import Session
from ._version import __version__
from .errors import Error, UsageError

__all__ = ["Decomposition", "Error", "Session", "UsageError", "decompose", "load", "__version__"]
