"""One look a method, and figures that keep their legend."""

import numpy as np

from experiments.style import LOOKS, figure, legend, letter, level, line


def test_no_two_methods_differ_by_colour_alone():
    shapes = [(look.marker, str(look.dashes)) for look in LOOKS.values()]
    assert len(set(shapes)) == len(shapes)


def test_a_legend_names_every_method_once(tmp_path):
    path = tmp_path / "deep" / "x.png"
    with figure(path, 1, 2) as (drawn, panels):
        for ax in panels.flat:
            line(ax, "shadow", [3.0, 4.0], [1.0, 2.0], [0.1, 0.1])
            level(ax, "kpca", 1.5)
        letter(panels, ["first", "second"])
        legend(drawn, panels, note="a note")
    texts = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert texts == [LOOKS["shadow"].text, LOOKS["kpca"].text]
    assert panels[0][1].get_title(loc="left") == "(b) second"
    assert path.stat().st_size > 1000


def test_bands_lie_about_the_line(tmp_path):
    with figure(tmp_path / "x.png", 1, 1) as (_, panels):
        line(panels[0][0], "shadow", [3.0, 4.0], [1.0, 2.0], [0.25, 0.5])
        heights = panels[0][0].collections[0].get_paths()[0].vertices[:, 1]
    assert set(np.round(heights, 12)) == {0.75, 1.25, 1.5, 2.5}
