"""What a decomposition found, as tables: for frames, LaTeX, HTML and a model card."""

from __future__ import annotations

import json
import math
import re
from html import escape
from typing import Any, Optional

from . import _command
from ._labels import Words
from ._result import Result

TERMS = ["predictor", "term", "edf", "ref_df", "share", "sd_before", "sd_after", "verdict"]
COEFFICIENTS = ["predictor", "name", "estimate", "se", "lower", "upper", "before"]

# What verdicts mean (docs/verdicts.md).
_VERDICTS = {
    "identified": "the rows determine it",
    "sum": "only the sum is determined",
    "weak": "the rows hardly determine it",
    "convention": "determined by a convention: how effects that overlap are shared",
}


_ERRORS = (
    "Standard errors are of the model, given its training: they say how far other rows of the same kind would move "
    "an effect, not whether it is causal."
)


class Html(str):
    """Text that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        return str(self)


class Summary:
    """The document of ``pho summary --json``."""

    def __init__(self, d: Result) -> None:
        self.document: dict[str, Any] = json.loads(_command.run(["summary", d.result, "--json"]))
        self._artifact = d.artifact
        self._words = Words(d.artifact)

    def terms(self) -> list[dict[str, Any]]:
        """A record for each term, or sum of terms of which only that is identified; shares are of
        the variance of the predictor, unknown numbers None.
        """
        out = []
        for p in self.document["predictors"]:
            for t in p["terms"]:
                known = {k: t.get(k) for k in TERMS}
                out.append({**known, "weak": t.get("weak", False), "predictor": p["name"], "term": " + ".join(t["terms"])})
        return out

    def coefficients(self) -> list[dict[str, Any]]:
        """A record for each parametric coefficient, with its standard error and interval of 95 %."""
        return [{**{k: c.get(k) for k in COEFFICIENTS}, "predictor": p["name"]} for p in self.document["predictors"] for c in p["coefficients"]]

    def facts(self) -> list[tuple[str, str]]:
        """What stands above the tables."""
        doc = self.document
        model = doc.get("family") or "no response was named"
        out = [("Family", f"{model}, link {doc['link']}" if doc.get("family") and doc.get("link") else model), ("Rows", f"{doc['rows']:,}")]
        if doc.get("response"):
            out.insert(0, ("Response", self._words.feature(doc["response"])))
        for p in doc["predictors"]:
            of = "" if len(doc["predictors"]) == 1 else f" of {self._words.predictor(p['name'])}"
            after = p["after"]
            out.append((f"Explained by terms{of}", percent(after["structured"])))
            out.append((f"Explained by no term{of}", percent(after["unstructured"])))
        fit = doc.get("prediction") or {}
        for key, name in (("r2", "R-squared of the model"), ("rmse", "RMSE of the model"), ("concordance", "C-index of the model")):
            if fit.get(key) is not None:
                out.append((name, f"{fit[key]:.4g}"))
        for key, name in (("accuracy", "Right class"), ("deviance_explained", "Deviance explained")):
            if fit.get(key) is not None:
                out.append((name, percent(fit[key])))
        return out

    def named(self, name: str) -> str:
        """A term, or a sum of terms, as people call it."""
        features = {t["name"]: t["features"] for p in self._artifact["predictors"] for t in p["terms"]}
        return " + ".join(self._words.term(n, features.get(n, [])) for n in name.split(" + "))

    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Titles, heads and cells of the tables to be shown, the first column text."""
        several = len(self.document["predictors"]) > 1
        coefficients, terms = self.coefficients(), self.terms()
        first = [""] if not several else ["predictor", ""]

        def lead(record: dict[str, Any], name: str) -> list[str]:
            return [self._words.predictor(record["predictor"]), name] if several else [name]

        out = []
        if coefficients:
            cells = [lead(c, c["name"]) + [number(c[k]) for k in ("estimate", "se", "lower", "upper")] for c in coefficients]
            out.append(("Parametric coefficients", [*first, "estimate", "std. error", "2.5 %", "97.5 %"], cells))
        if terms:
            cells = [[*lead(t, self.named(t["term"])), number(t["edf"]), percent(t["share"]), number(t["sd_after"]), _both(t)] for t in terms]
            out.append(("Terms", [*first, "edf", "share of variance", "sd", "verdict"], cells))
        return out

    def html(self) -> Html:
        """Tables for a notebook."""
        facts = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td style='text-align:left'>{escape(v)}</td></tr>" for k, v in self.facts())
        out = [f"<table>{facts}</table>"]
        for title, head, cells in self.tables():
            row = "".join(f"<th>{escape(h)}</th>" for h in head)
            body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in line) + "</tr>" for line in cells)
            out.append(f"<table><caption style='text-align:left'>{escape(title)}</caption><thead><tr>{row}</tr></thead><tbody>{body}</tbody></table>")
        warnings = "".join(f"<li>{escape(w)}</li>" for w in self.document["warnings"])
        return Html("\n".join(out) + (f"<p>To be taken with care:</p><ul>{warnings}</ul>" if warnings else ""))

    def card(self) -> str:
        """A section of a model card, in Markdown."""
        out = ["## What the model has learned", ""]
        out += [
            "The model's predictions were split, without changing any of them, into effects of its columns that the rows determine and a "
            "remainder that no such effect explains (post-hoc orthogonalization).",
            "",
        ]
        out += [f"- {k}: {_markdown(v)}" for k, v in self.facts()]
        for title, head, cells in self.tables():
            out += ["", f"### {title}", "", _line(head), "|" + "---|" * len(head), *[_line(line) for line in cells]]
        said = {t["verdict"] for t in self.terms()}
        if said:
            out += [
                "",
                "Shares are of the variance of the model's predictor. " + "; ".join(f"*{v}*: {_VERDICTS[v]}" for v in _VERDICTS if v in said) + ".",
            ]
        out += ["", _ERRORS]
        if self.document["warnings"]:
            out += ["", "### To be taken with care", "", *[f"- {_markdown(w)}" for w in self.document["warnings"]]]
        return "\n".join(out) + "\n"


def number(v: Optional[float]) -> str:
    """Four digits; nothing for what is not known."""
    return "" if v is None or math.isnan(v) else f"{v:.4g}"


def percent(v: Optional[float]) -> str:
    """A share."""
    return "" if v is None or math.isnan(v) else f"{round(100 * v, 1) + 0.0:.1f} %"  # no -0.0


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_markdown(c).replace("|", "\\|") for c in cells) + " |"


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", text.replace("\n", " "))


def _both(term: dict[str, Any]) -> str:
    """The verdict of a term and, of a sum that the rows hardly tell, that as well."""
    return "sum, weak" if term["verdict"] == "sum" and term["weak"] else term["verdict"]
