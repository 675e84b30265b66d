#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""type_line.py SCRIPT LINE: the arguments of the command weft, each ended by a zero byte, when LINE
and a tab are typed into a bash that completes by SCRIPT."""
import os
import pty
import shlex
import signal
import sys
import tempfile

SECONDS = 20  # a machine may be busy


def main():
    script, line = sys.argv[1:]
    with tempfile.NamedTemporaryFile() as got:
        setup = ". %s; weft() { printf '%%s\\0' \"$@\" >%s; exit; }\n" % (
            shlex.quote(os.path.abspath(script)), got.name)
        pid, terminal = pty.fork()
        if not pid:
            os.environ["INPUTRC"] = "/dev/null"
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        signal.alarm(SECONDS)
        os.write(terminal, (setup + line + "\t\n").encode())
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass  # the terminal's other end was closed
        os.waitpid(pid, 0)
        sys.stdout.buffer.write(got.read())


main()
