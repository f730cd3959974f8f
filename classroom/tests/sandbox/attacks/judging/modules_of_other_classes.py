"""Ask for modules of classes that are not on the list, and of names that lead elsewhere.

Harm: a class is made that runs code, opens files or starts processes.
"""

from classroom.tests.sandbox.forging import PASS, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)
CLASSES = ("DataParallel", "LSTM", "MultiheadAttention", "TransformerEncoder", "LazyLinear", "ParameterList", "CTCLoss")
CLASSES += (
    "functional",
    "init",
    "utils",
    "Parameter",
    "modules.module.Module",
    "functional.os.system",
    "Buffer",
    "factory_kwargs",
)
CLASSES += (
    "",
    ".",
    "..",
    "Linear\0",
    "\u202eLinear",
    "Linear.__class__",
    "__builtins__",
    "parallel.DistributedDataParallel",
)
OTHERS = (
    "torch.jit.ScriptModule",
    "torch.fx.GraphModule",
    "os._wrap_close",
    "subprocess.Popen",
    "torch.package.PackageImporter",
)
OTHERS += ("builtins.type", "torch.nn", "nn.Linear", "Linear", "torch.ao.nn.quantized.Linear", "torch.Tensor")


def forged(observation):
    nodes = placeholder(), node("call_module", "evil", ref(0)), output(ref(1))
    root = full(**{"class": "torch.fx.GraphModule"}, children={"evil": 1})
    for name in (*(f"torch.nn.{one}" for one in CLASSES), *OTHERS):
        settings = {"args": "touch /tmp/by-an-attack", "shell": True, "in_features": 10**18, "out_features": 10**18}
        evil = full(**{"class": name}, settings=settings)
        yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=[])
