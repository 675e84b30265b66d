# SPDX-License-Identifier: Apache-2.0
"""A copy of a CPython (or of its library) that says to be another one: it runs as before, as it never reads what it
says of itself.

    future.py FILE OUT VERSION [COOKIE]    VERSION: as sys.hexversion; COOKIE: 8 characters in place of "xdebugpy" """
import os
import struct
import sys

COOKIE = b"xdebugpy"


def main():
    path, out, version = sys.argv[1], sys.argv[2], int(sys.argv[3], 16)
    cookie = sys.argv[4].encode() if len(sys.argv) > 4 else COOKIE
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = data.find(COOKIE)
    while at >= 0:  # code that compares with it has it too
        if struct.unpack_from("<Q", data, at + 8)[0] >> 24 == 3:
            break
        at = data.find(COOKIE, at + 1)
    if at < 0:
        sys.exit("it does not describe itself")
    data[at:at + 8] = cookie
    struct.pack_into("<Q", data, at + 8, version)
    with open(out, "wb") as f:
        f.write(data)
    os.chmod(out, 0o755)


main()
