"""The command's words for callers in Python."""

import pytest

from pho import _words


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ('cell "" is empty; leave such rows out with --na drop', "cell \"\" is empty; leave such rows out with na='drop'"),
        ('--bands "wide": it is robust', 'bands="wide": it is robust'),
        ("--family binomial: it takes 1", "family='binomial': it takes 1"),
        ("name them with --input x=column,...", "name them with inputs='x=column,...'"),
        ("suggest --factor dow", "suggest factor='dow'"),
        ("fewer --workers, or --zeta-cache FILE", "fewer workers=, or zeta_cache=FILE"),
        ("--max-memory sets the bound", "max_memory= sets the bound"),
        ("--batch-size 0 is too few", "batch_size=0 is too few"),
        ("unknown flag --nope (pho decompose has --na)", "unknown option nope= (decompose has na=)"),
        ("if on purpose, pho verify DIR --sign accepts it; or --na keep", "if on purpose, pho verify DIR --sign accepts it; or na='keep'"),
        ('no column "q" in "/tmp/pho-1/rows.arrow"', 'no column "q" in the rows'),
        ("a minus -- b and a--b", "a minus -- b and a--b"),
    ],
)
def test_flags_are_options(said, want):
    assert _words.said(said, {"/tmp/pho-1/rows.arrow": "the rows"}) == want
