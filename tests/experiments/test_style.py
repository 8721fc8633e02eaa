"""Test the plotting styles, legends and bands."""

import numpy as np

from experiments.style import LOOKS, add_legend, add_titles, draw_level, draw_line, figure


def test_no_two_methods_differ_by_color_alone():
    shapes = [(look.marker, str(look.dashes)) for look in LOOKS.values()]
    assert len(set(shapes)) == len(shapes)


def test_the_legend_names_every_method_once(tmp_path):
    path = tmp_path / "deep" / "x.png"
    with figure(path, 1, 2) as (drawn, panels):
        for ax in panels.flat:
            draw_line(ax, "shadow", [3.0, 4.0], [1.0, 2.0], None)
            draw_level(ax, "kpca", 1.5)
        add_titles(panels, ["first", "second"])
        add_legend(drawn, panels, note="a note")
    texts = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert texts == [LOOKS["shadow"].label, LOOKS["kpca"].label]
    assert panels[0][1].get_title(loc="left") == "(b) second"
    assert path.stat().st_size > 1000


def test_a_band_lies_between_its_curves(tmp_path):
    with figure(tmp_path / "x.png", 1, 1) as (_, panels):
        draw_line(panels[0][0], "shadow", [3.0, 4.0], [1.0, 2.0], ([0.75, 1.5], [1.25, 2.5]))
        heights = panels[0][0].collections[0].get_paths()[0].vertices[:, 1]
    assert set(np.round(heights, 12)) == {0.75, 1.25, 1.5, 2.5}
