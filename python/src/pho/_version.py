"""The version, that of the command it comes with."""

__version__ = "0.1.0"
