# SPDX-License-Identifier: Apache-2.0
"""The largest files of this machine: of the loader's cache, of the toolchains in PATH, of the debug packages."""
import glob
import os
import re
import shutil
import subprocess

# Programs that come with large libraries, and how to ask them where they are at home.
TOOLCHAINS = (("clang", ()), ("node", ()), ("java", ()), ("rustc", ("--print", "sysroot")),
              ("python3", ("-c", "import sys; print(sys.base_prefix)")))
INSIDE = ("lib/*.so*", "lib/server/*.so", "lib64/*.so*", "bin/*")
DEBUG_FILES = "/usr/lib/debug/.build-id/*/*.debug"
ENOUGH = 2000000	# bytes of debug information that make a file a large one
N_ASKED = 60		# readelf is asked about no more than the largest


def home_of(name, question):
    """The folder with bin and lib of a program in PATH; None: it is not there."""
    path = shutil.which(name)
    if not path:
        return None
    if not question:
        return os.path.dirname(os.path.dirname(os.path.realpath(path)))
    done = subprocess.run([path, *question], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def of_loader():
    loader = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    text = subprocess.run([loader, "-p"], capture_output=True, text=True, check=False).stdout if loader else ""
    return re.findall(r"=> (/.*)$", text, re.M)


def of_toolchains():
    found = []
    for home in (home_of(*toolchain) for toolchain in TOOLCHAINS):
        for pattern in INSIDE if home else ():
            found += glob.glob(os.path.join(home, pattern))
    return found


def by_size(paths):
    """Regular files, each once, the largest first."""
    real = {os.path.realpath(p) for p in paths}
    return sorted((p for p in real if os.path.isfile(p)), key=os.path.getsize, reverse=True)


def largest_libraries(n):
    return [p for p in by_size(of_loader() + of_toolchains()) if ".so" in os.path.basename(p)][:n]


def debug_information_size(path):
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False).stdout
    size = re.search(r" \.z?debug_info +\w+ +\w+ +\w+ +(\w+)", sections)
    return int(size.group(1), 16) if size else 0


def most_debug_information():
    """The file with most of it; None: none has enough to be called large."""
    asked = by_size(of_loader() + of_toolchains() + glob.glob(DEBUG_FILES))[:N_ASKED]
    size, path = max(((debug_information_size(p), p) for p in asked), default=(0, None))
    return path if size >= ENOUGH else None
