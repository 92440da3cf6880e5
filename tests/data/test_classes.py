"""Class numbers of labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data.classes import class_codes, fit_classes
from spinney.errors import DataError


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=30))
def test_codes_lead_back_to_the_labels(labels):
    classes, codes = fit_classes(labels, len(labels))
    assert classes[codes.astype(int)].tolist() == labels
    assert class_codes(labels[::-1], len(labels), classes).tolist() == codes.tolist()[::-1]


def test_an_unknown_label_is_named_with_the_known_ones():
    with pytest.raises(
        DataError, match="the label 'elm', which no training row has; the classes are 'ash', 'oak'"
    ):
        class_codes(["oak", "elm"], 2, np.array(["ash", "oak"]))


def test_a_long_list_of_classes_is_shortened():
    with pytest.raises(DataError, match=r"8, 9 and 90 more$"):
        class_codes([100], 1, np.arange(100))
