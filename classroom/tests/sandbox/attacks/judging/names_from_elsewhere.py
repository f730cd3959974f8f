"""Name functions of Python and torch that read files, start programs or run code.

Harm: one of them is called.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

NAMES = (
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.getoutput",
    "builtins.eval",
    "builtins.exec",
    "builtins.open",
)
NAMES += ("builtins.__import__", "builtins.compile", "builtins.input", "builtins.breakpoint", "importlib.import_module")
NAMES += (
    "runpy.run_path",
    "pickle.loads",
    "marshal.loads",
    "ctypes.CDLL",
    "socket.socket",
    "pty.spawn",
    "code.interact",
)
NAMES += (
    "torch.load",
    "torch.save",
    "torch.hub.load",
    "torch.jit.load",
    "torch.from_file",
    "torch.package.PackageImporter",
)
NAMES += (
    "torch.ops.load_library",
    "torch.classes.load_library",
    "torch.utils.cpp_extension.load_inline",
    "torch.compile",
)
NAMES += (
    "torch.ops.aten.from_file.default",
    "torch._C._jit_pass_inline",
    "torch._C._load_for_mobile",
    "torch._dynamo.run",
)
NAMES += ("torch.fx.symbolic_trace", "torch.fx.wrap", "torch.utils.data.DataLoader", "torch.multiprocessing.spawn")
NAMES += (
    "torch.export.load",
    "torch.utils.model_zoo.load_url",
    "torch.storage._load_from_bytes",
    "torch._utils._rebuild",
)
NAMES += ("builtins.getattr.__self__.eval", "builtins.abs.__self__.eval", "math.ceil.__self__", "operator.add.__self__")
NAMES += (
    "torch.relu.__globals__",
    "torch.nn.functional.relu.__globals__",
    "torch.nn.functional.os.system",
    "torch.sys.exit",
)
NAMES += (
    "torch.os.system",
    "torch.builtins.eval",
    "torch.importlib.import_module",
    "torch.ctypes.CDLL",
    "torch.inspect",
)


def forged(observation):
    for name in NAMES:
        for argument in ("touch /tmp/by-an-attack", "/etc/passwd", ref(0)):
            yield computing(observation, call(name, argument))
        yield computing(observation, method(name.rpartition(".")[2], ref(0), "touch /tmp/by-an-attack"))
