"""The script library on disk: made once, never believed when damaged, never missed where it cannot be kept."""

from importlib.metadata import version

import pytest
import vl_convert

from textsignal.report.page.library import library


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Every library that was put together rather than read."""
    scripts = []

    def bundle(snippet):
        scripts.append(f"/* {snippet} é */\nnew Vega();\r\n")
        return scripts[-1]

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library.cache_clear()
    yield scripts
    library.cache_clear()


def fresh():
    """The library as another process would get it."""
    library.cache_clear()
    return library()


def test_it_is_put_together_once_and_read_as_it_was(made, tmp_path):
    assert fresh() == fresh() == made[0]
    assert len(made) == 1
    (file,) = (tmp_path / "cache" / "textsignal").iterdir()
    assert file.name.startswith(f"vega-{version('vl-convert-python')}-")


def test_another_version_has_another(made, monkeypatch):
    fresh()
    monkeypatch.setattr("textsignal.report.page.library.version", lambda name: "99.0")
    fresh()
    assert len(made) == 2


def test_other_parts_make_another(made, monkeypatch):
    fresh()
    monkeypatch.setattr("textsignal.report.page.library.SNIPPET", "window.textsignalVega = {};")
    fresh()
    assert len(made) == 2


@pytest.mark.parametrize("damage", [lambda kept: kept[:-5], lambda kept: b"", lambda kept: kept.replace(b"V", b"\xff")])
def test_a_damaged_file_is_made_anew(made, tmp_path, damage):
    whole = fresh()
    (file,) = (tmp_path / "cache" / "textsignal").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert fresh() == whole
    assert fresh() == whole
    assert len(made) == 2


def test_without_a_place_to_keep_it_it_is_made_every_time(made, tmp_path, capfd):
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert fresh() == fresh() == made[0]
    assert len(made) == 2
    assert capfd.readouterr() == ("", "")


def test_nobodys_home_is_no_obstacle(made, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert fresh() == made[0]
