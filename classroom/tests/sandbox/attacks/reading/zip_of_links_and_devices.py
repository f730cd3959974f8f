"""Say in a zip that files are links, folders, pipes and devices.

Harm: what they name is read.
"""

import io
import stat
import zipfile


def handed_in():
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR, 0xF000, 0x1000):
        for target in (b"/etc/passwd", b"../../secret.txt", b"@FOLDER@/secret.txt"):
            held = io.BytesIO()
            with zipfile.ZipFile(held, "w") as archive:
                info = zipfile.ZipInfo("x.ipynb")
                info.create_system, info.external_attr = 3, (kind | 0o777) << 16
                archive.writestr(info, target)
            yield "x.zip", held.getvalue()
