# SPDX-License-Identifier: Apache-2.0
"""A process that says what it is: for state_check.c, which looks for the same in its memory. Runs on
CPython 3.6 and later. Lines of words on standard output; text is in hexadecimal."""
import collections
import ctypes
import functools
import sys
import threading
import types

try:
    import contextvars
except ImportError:
    contextvars = None

api = ctypes.pythonapi
api.PyThreadState_Get.restype = ctypes.c_void_p
try:
    # From the C library: the interpreter may be linked against another one than this name finds.
    getspecific = api.pthread_getspecific
    getspecific.restype = ctypes.c_void_p
    getspecific.argtypes = [ctypes.c_uint]
except AttributeError:
    getspecific = None


said = []


def say(*words):
    said.append(" ".join(str(w) for w in words) + "\n")


def taken():
    """What was said, to be written at once by a function that then waits on the same line: who has
    read the end of it finds every frame in its place."""
    everything = "".join(said)
    del said[:]
    return everything


def text(s):
    data = s.encode("utf-8", "surrogateescape") if isinstance(s, str) else bytes(s)
    return "=" + "".join("%02x" % b for b in data)


def name_of(code):
    return code.co_qualname if sys.version_info >= (3, 11) else code.co_name


def say_code(code):
    table = code.co_lnotab if sys.version_info < (3, 10) else code.co_linetable
    say("code", id(code), text(name_of(code)), text(code.co_filename), code.co_firstlineno,
        code.co_flags, text(table))


def say_frames():
    frame = sys._getframe(1)
    while frame:
        line = frame.f_lineno
        if frame.f_code is wait.__code__:
            line = frame.f_code.co_firstlineno + 4  # where it will wait
        say("frame", text(name_of(frame.f_code)), line)
        frame = frame.f_back


class Path(str):
    """Text of an object that is no plain str is somewhere else."""


def codes():
    """Code objects with names and files of every form of text."""
    yield codes.__code__
    names = ["plain", "caf\u00e9", "\u0438\u043c\u044f", "\U00020000\U0002070e", "n" * 3000]
    files = ["/srv/app.py", "/srv/caf\u00e9.py", "/srv/\u65e5\u672c.py", "/srv/\U0001f40d.py",
             "/srv/bad\udcff.py", "", "<string>", "/" + "f" * 5000, Path("/srv/derived.py"),
             Path("/srv/d\u00e9riv\u00e9.py")]
    for i, path in enumerate(files):
        name = names[i % len(names)]
        source = "\n" * i + "class C:\n  def %s(self, a=1):\n    return [x for x in a]\n" % name
        module = compile(source, path, "exec")
        if type(path) is Path and hasattr(module, "replace"):
            module = module.replace(co_filename=path)
        todo = [module]
        while todo:
            code = todo.pop()
            yield code
            todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]


def wait():
    say_frames()
    say("end")
    everything = taken()
    sys.stdout.write(everything); sys.stdout.flush(); return sys.stdin.readline()


def generate():
    yield (
        wait())


class Shop:
    def buy(self, n):
        if n:
            return self.buy(n - 1)
        return list(map(lambda generator: next(generator), [generate()]))[0]


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


class Named:
    """Functions whose qualified names are certain."""
    class Inner:
        def deep(self):
            pass

    def plain(self):
        pass

    @staticmethod
    def static():
        pass

    @classmethod
    def of_class(cls):
        pass

    @property
    def value(self):
        pass

    @value.setter
    def value(self, value):
        pass

    @decorated
    def kept(self):
        pass

    def lent(self):
        pass


Other = collections.namedtuple("Other", "a b")
Pair = collections.namedtuple("Pair", "a b")
Named.lent.__qualname__ = "Somebody.else_"


def say_names():
    """The code objects that get a name, and "=" for those that must not."""
    kept = Named.kept.__closure__[0].cell_contents
    for function in (say_names, Named.plain, Named.static, Named.of_class.__func__, Named.value.fget,
                     Named.value.fset, kept, Named.Inner.deep):
        say("name", id(function.__code__), text(function.__code__.co_name), text(function.__qualname__))
    for function in (Named.kept, Named.lent, Pair._replace, Other._replace):
        say("name", id(function.__code__), text(function.__code__.co_name), "=")


def objects():
    big = tuple(range(1000, 1007))
    say("type", id(types.CodeType))
    say("tuple", id(big), len(big), id(big[6]))
    say("int", id(big[6]), big[6])
    say("modules", id(sys.modules))
    return big


def reuse():
    """Functions that die, each at the place of the one before, until nobody asks any more."""
    i = 0
    while sys.stdin.readline().strip():
        i += 1
        namespace = {}
        exec(compile("def f%05d(x):\n  return x + %d\n" % (i, i % 7), "gen.py", "exec"), namespace)
        say_code(namespace["f%05d" % i].__code__)
        say("end")
        sys.stdout.write(taken())
        sys.stdout.flush()
        namespace.clear()


def main():
    try:
        runtime = ctypes.addressof(ctypes.c_char.in_dll(api, "_PyRuntime"))
    except ValueError:
        runtime = 0
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    say("runtime", sys.hexversion, int(free_threaded), runtime)
    say("thread", api.PyThreadState_Get(), threading.get_ident(),
        threading.get_native_id() if sys.version_info >= (3, 8) else 0)
    keep = [objects()]
    for code in codes():
        keep.append(code)
        say_code(code)
    if (3, 7) <= sys.version_info < (3, 11):
        say_names()
    if contextvars:
        context = contextvars.copy_context()
        say("context", id(context))
        answer = context.run(Shop().buy, 3)
    else:
        answer = Shop().buy(3)
    key = int(answer)
    say("specific", getspecific(key) if key >= 0 and getspecific else 0)
    say("end")
    sys.stdout.write(taken())
    sys.stdout.flush()
    reuse()


main()
