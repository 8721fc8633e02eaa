"""Test that files are written atomically, and that only regular files are replaced."""

import os
import stat

import pytest

from rskpca._core.atomic import atomic_write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="requires POSIX permissions")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666, 0o444])
def test_a_replaced_file_keeps_its_mode_and_is_never_more_readable(tmp_path, bits):
    path = tmp_path / "secret.txt"
    path.write_text("old")
    path.chmod(bits)
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert mode(temporary) & 0o077 & ~bits == 0
    assert path.read_text() == "new"
    assert mode(path) == bits


def test_a_new_file_has_the_default_mode(tmp_path):
    (tmp_path / "other").touch()
    with atomic_write(tmp_path / "new") as temporary:
        temporary.write_text("new")
    assert mode(tmp_path / "new") == mode(tmp_path / "other")


def test_a_pipe_and_a_device_are_refused_before_anything_is_written(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(OSError, match="Not a regular file"), atomic_write(path):
            raise AssertionError("nothing may be written")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert len(list(tmp_path.iterdir())) == 2
