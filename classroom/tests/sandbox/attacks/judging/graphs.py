"""Forged observations that attack through the graph: its calls, its names, its contents, and the cost of running it.

Each function changes an observation and yields what is sent to the judge. Its docstring says what the attack tries and
what harm it would do.
"""

import itertools

import torch

from classroom.tests.sandbox.forging import (
    BUILD,
    JSON,
    PASS,
    Forged,
    call,
    computing,
    full,
    method,
    node,
    of,
    output,
    placeholder,
    ref,
    tensor,
    with_graph,
    with_wire,
)
from fxbook import tasks

TOUCH = "touch /tmp/by-an-attack"
FAR = 2**62
NUMBERS = (0, -1, 1, 2**31, FAR, 2**63 - 1)


# ---- calls -----------------------------------------------------------------------------------------------------------

_ELSEWHERE = """
    os.system os.popen subprocess.run builtins.eval builtins.exec builtins.open builtins.__import__ builtins.compile
    builtins.breakpoint importlib.import_module runpy.run_path pickle.loads marshal.loads ctypes.CDLL socket.socket
    pty.spawn torch.load torch.save torch.hub.load torch.jit.load torch.from_file torch.package.PackageImporter
    torch.ops.load_library torch.classes.load_library torch.utils.cpp_extension.load_inline torch.compile
    torch._C._jit_pass_inline torch._C._load_for_mobile torch._dynamo.run torch.fx.symbolic_trace torch.fx.wrap
    torch.utils.data.DataLoader torch.multiprocessing.spawn torch.export.load torch.utils.model_zoo.load_url
    torch.storage._load_from_bytes torch._utils._rebuild builtins.getattr.__self__.eval builtins.abs.__self__.eval
    math.ceil.__self__ operator.add.__self__ torch.relu.__globals__ torch.nn.functional.relu.__globals__
    torch.nn.functional.os.system torch.sys.exit torch.os.system torch.builtins.eval torch.importlib.import_module
    torch.ctypes.CDLL torch.inspect
"""
_NAMESPACES = """
    prim.Print prim.RaiseException prim.NumToTensor.Scalar prims.add.default profiler._record_function_enter
    inductor._reinterpret_tensor inductor.accumulate_grad_ inductor._alloc_from_pool _c10d_functional.all_reduce
    c10d.send quantized.linear_unpack quantized.embedding_bag_byte mkldnn._linear_pointwise static_runtime.dict_unpack
    higher_order.cond higher_order.print rngprims.philox_rand mkl._mkl_linear fsdp.copy_ debugprims.load_tensor.default
    export.foo symm_mem.one_shot_all_reduce aten._print.default aten.warn.default aten.save.default
    aten.from_file.default aten._has_torch_function aten.__class__
"""
_SPELLINGS = (
    *(lambda name, form=form: form.format(name) for form in ("{}\0", "\0{}", " {}", "{}\n", "torch.{}", "operator.{}")),
    *(lambda name, form=form: form.format(name) for form in ("torch.ops.aten.{}", "torch.relu.{}", "torch.Tensor.{}")),
    *(lambda name, form=form: form.format(name) for form in ("{}.__call__", "{}.__wrapped__", "{}.__func__")),
    *(lambda name, pair=pair: name.replace(*pair) for pair in ((".", ".."), ("o", "\u043e"), ("a", "\uff41"))),
    lambda name: name.replace(".", "\u2024"),
    lambda name: "torch.nn.functional." + name.rpartition(".")[2],
    lambda name: "torch.ops.aten.add." + name.rpartition(".")[2],
    lambda name: "\u202e" + name[::-1],
    str.upper,
)


def names_not_on_the_list(observation: JSON) -> Forged:
    """Name functions in any namespace that read files, start programs or run code, in various spellings.

    Harm: one of them is called.
    """
    for name in _ELSEWHERE.split():
        for argument in (TOUCH, "/etc/passwd", ref(0)):
            yield computing(observation, call(name, argument))
    for name in _NAMESPACES.split():
        for spelled in (f"torch.ops.{name}", f"torch.ops.aten.{name}", f"torch._ops.ops.{name}"):
            yield computing(observation, call(spelled, ref(0)))
            yield computing(observation, call(spelled, "/tmp/by-an-attack"))
    for name in ("os.system", "torch.load", "torch.as_strided", "torch.native_batch_norm", "builtins.eval"):
        for spell in _SPELLINGS:
            yield computing(observation, call(spell(name), TOUCH))
            yield computing(observation, call(spell(name), ref(0), [4], [1 << 20]))


# ---- names -----------------------------------------------------------------------------------------------------------

_CODE = (
    "x=__import__('os').system('touch /tmp/by-an-attack')", "x;import os", "x # comment", "x: __import__('os').abort()",
    "x\n    import os; os.system('touch /tmp/by-an-attack')\n    y", "x, y=print()", "*x", "**x", "x\u2028import os",
    "x\rimport os", "x\x0cimport os", "\\\nx", "x\0y", "lambda: 0", "x if 1 else y", '"""', "\uff58", "x\u0301",
    "f'{__import__(\"os\").abort()}'", "yield", "await", "_print_", "'", '"', "'''", "\\", "\\'", "\x85", "\x1a", "{x}",
    "%s", "')\nimport os\n('", "\ud800", "\U0010ffff", "\u202e", "\ufeff", "# type: ignore", "\x1b[2J",
)  # fmt: skip


def names_that_are_code(observation: JSON) -> Forged:
    """Put code into names that torch.fx writes into its program, and give nodes names that the program uses itself.

    Harm: the code runs as the grader, or an allowed name refers to the value of a node.
    """
    for code in _CODE:
        for part, place in itertools.product(("name", "target", "op"), (0, 1, -1)):
            yield with_wire(
                observation, lambda wire, at=place, key=part, said=code: wire["nodes"][at].update({key: said})
            )
        yield computing(observation, call("torch.relu", ref(0), **{code: 1}))
        yield computing(observation, call("torch.relu", {"dict": [[code, ref(0)]]}))
        yield computing(observation, call("torch.relu", code))
        yield computing(observation, call("builtins.len", [code, (code, {"dict": [[code, code]]})]))
        yield computing(observation, call("torch._assert", False, code))
        yield computing(observation, method(code, ref(0)))
        yield computing(observation, node("call_module", code, ref(0)))
        yield computing(observation, node("get_attr", f"weight.{code}"))
        yield computing(observation, call("torch.relu", {"foreign": code, "erased": True}))
        yield computing(observation, node("placeholder", code, name="y"))
        yield computing(observation, {**placeholder("y"), "args": {"tuple": [code]}})

    names = "torch operator math builtins getattr inf nan NoneType device slice Ellipsis len torch_nn_functional_relu"
    names += " _operator_add fx_pytree pytree wrap forward print exec eval __builtins__ __import__ __name__ __debug__ _"
    for name in (*names.split(), "GraphModule", "add", "math_floor", "root", "cls"):
        nodes = [placeholder(), call("torch.neg", ref(0)), call("torch.nn.functional.relu", ref(1))]
        nodes += [call("math.floor", 2.5), call("operator.add", ref(2), ref(1))]
        nodes += [call("builtins.getattr", ref(4), "data"), output(ref(5))]
        for place in range(6):
            named = [{**one, "name": name} if at == place else one for at, one in enumerate(nodes)]
            yield with_graph(observation, *named)
        yield with_graph(observation, *({**one, "name": name} for one in nodes))


# ---- contents --------------------------------------------------------------------------------------------------------

_PATHS = """
    training 0 2 0.weight 0.bias 0.in_features 0.training 1.inplace layers sizes costs 0.__constants__ __constants__
    0.out_features call_super_init T_destination dump_patches _version 0._version
"""
_CHANGES = "zero_ fill_ half double float type requires_grad_ train eval to share_memory mul_"
_WITH_MODELS = {one.id for one in tasks.all_exercises() if one.usage.use != "compute"} - {"05-choose-without-if"}


@of(*sorted(_WITH_MODELS))
def change_what_the_check_holds(observation: JSON) -> Forged:
    """Set the inputs and weights of the model to zero in place, and return the result.

    Harm: the check compares with values that the graph has changed.
    """
    names = [entry["name"] for entry in observation["cases"][0]["wire"]["nodes"] if entry["op"] == "placeholder"]
    inputs = [placeholder(name) for name in names]
    zeroed = [method("zero_", ref(place)) for place in range(len(names))]
    yield with_graph(observation, *inputs, *zeroed, output(ref(len(inputs))))
    filled = [call("operator.setitem", ref(place), ..., 0) for place in range(len(names))]
    yield with_graph(observation, *inputs, *filled, output(ref(0)))
    for name in sorted({held for case in observation["cases"] for held in case["shared"]})[:3]:
        nulled = method("mul_", ref(len(inputs)), 0)
        yield with_graph(observation, *inputs, node("get_attr", name), nulled, output(ref(0)))


@of(PASS, "05-unroll-the-loop", "03-every-relu")
def change_what_is_shared(observation: JSON) -> Forged:
    """Fetch modules, weights, lists and numbers of the model, and change them in place.

    Harm: the expected values and the inputs of the next case change with them, so a wrong graph passes.
    """
    for path in _PATHS.split():
        fetched = node("get_attr", path)
        for change in _CHANGES.split():
            yield computing(observation, fetched, method(change, ref(1)), call("torch.zeros_like", ref(0)))
        for name in ("iadd", "imul", "iconcat", "setitem", "delitem", "ior"):
            yield computing(observation, fetched, call(f"operator.{name}", ref(1), [0]))
            yield computing(observation, fetched, call(f"operator.{name}", ref(1), 0, 0))


@of(PASS)
def weights_of_the_model_replaced(observation: JSON) -> Forged:
    """Claim that weights of the given model have other values, sizes or types, or are the same tensor.

    Harm: the expected values are computed with them, so a wrong graph passes; or a kernel trusts their sizes.
    """
    shapes = {"float32": ([4, 4], [1], [], [0], [1] * 20), "float64": ([4, 4],), "int64": ([4],), "bool": ([16],)}
    for dtype, shape in ((dtype, shape) for dtype, all_ in shapes.items() for shape in all_):
        for name in ("0.weight", "0.bias", "2.weight"):
            entry = {**tensor(*shape, dtype=dtype, parameter=True), "given": name}
            root = full(**{"class": "torch.fx.GraphModule"}, children={"0": 1, "1": 2, "2": 3, "3": 4})
            held = full(given="0", settings={"in_features": 4}, parameters={"weight": 0, "bias": 0})
            modules = [root, held, {"given": "1"}, {"given": "2"}, {"given": "3"}]
            yield with_wire(observation, lambda wire, m=modules, t=[entry]: wire.update(modules=m, tensors=t))


# ---- the cost of running ---------------------------------------------------------------------------------------------


def arguments_that_no_kernel_expects(observation: JSON) -> Forged:
    """Give kernels invalid sizes, equations, devices and indices.

    Harm: memory outside a tensor is read or written, the judge crashes, or a backend is loaded.
    """
    small, aten = call("torch.ones", 1), "torch.ops.aten."
    for one, two in itertools.product(NUMBERS, NUMBERS):
        for calls in (
            (small, call(f"{aten}native_group_norm.default", ref(0), ref(1), ref(1), one, two, one, 3, 1e-5)),
            (small, call(f"{aten}native_layer_norm.default", ref(0), [one], ref(1), ref(1), two)),
            (call(f"{aten}_unsafe_view.default", ref(0), [one, two]),),
            (call(f"{aten}slice.Tensor", ref(0), one, two, -two, one),),
            (call("torch.max_pool1d", ref(0), one, two, one),),
            (call("torch.conv1d", ref(0), ref(0), None, one, two, one, two),),
            (call("torch.full", [3], one), call("torch.floor_divide", ref(1), two)),
        ):
            yield computing(observation, *calls)
    for text in ("", "->", "a" * 100_000, "a," * 10_000, "\0", "ijk->ijk->ijk", "...->" + "." * 9999, "[["):
        yield computing(observation, call("torch.einsum", text, ref(0), ref(0)))
        yield computing(observation, call("torch.nn.functional.pad", ref(0), [1, 1], text))
        yield computing(observation, call("torch.div", ref(0), 2, rounding_mode=text))
    for device in "cuda cuda:-1 xpu mps hpu xla vulkan privateuseone mkldnn fpga cpu:99999 meta".split():
        yield computing(observation, call("torch.zeros", 2, device=device))
        yield computing(observation, method("to", ref(0), device))
    far = (FAR, -FAR, 10**300, (None,) * 70, (..., ...), [FAR], [[FAR, -FAR]], ([0, FAR], [FAR, 0]), [True] * 99, "x")
    far += (slice(FAR, -FAR, FAR), slice(None, None, 0), torch.Size([FAR]), range(10**6), [0] * 100_000, [None])
    for index in far:
        yield computing(observation, call("operator.getitem", ref(0), index))
        yield computing(observation, call("operator.setitem", ref(0), index, ref(0)))
        held = call("torch.tensor", index) if isinstance(index, int | list) else call("torch.full", [3], -FAR)
        yield computing(observation, held, call("operator.setitem", ref(0), (ref(1), ref(1)), 1.0))
        yield computing(observation, held, call("torch.repeat_interleave", ref(0), ref(1), 0, output_size=3))


def compute_without_end(observation: JSON) -> Forged:
    """Make tensors larger than any memory, small results that take for ever to compute, and huge Python integers.

    Harm: the machine runs out of memory, or the class waits for one answer.
    """
    for sizes in ([2**40], [FAR], [2**32, 2**32], [2**33, 2**31, 2], [0, FAR], [2**63 - 1], [-1], [2**70]):
        yield computing(observation, call("torch.full", sizes, 1.0), method("clone", ref(1)))
        yield computing(observation, method("expand", ref(0), *sizes, 1, 1, 1), method("contiguous", ref(1)))
        yield computing(observation, method("repeat", ref(0), *sizes, 1, 1, 1))
    for many in (2**40, 2**63 - 1):
        for name, given in (("arange", ()), ("eye", ()), ("linspace", (0, 1)), ("repeat_interleave", (ref(0),))):
            yield computing(observation, call(f"torch.{name}", *given, many))
    doubled = [call("torch.cat", [ref(place), ref(place)]) for place in range(60)]
    yield with_graph(observation, placeholder(), *doubled, output([ref(place) for place in range(61)]))
    filled = [call("torch.ones", [1 << 22]) for _ in range(1000)]
    yield with_graph(observation, placeholder(), *filled, output([ref(place) for place in range(1001)]))
    products = [call("torch.matmul", ref(place), ref(1)) for place in range(1, 500)]
    yield computing(observation, call("torch.ones", [4000, 4000]), *products)
    sums = [method("cumsum", ref(place), 0) for place in range(1, 4000)]
    yield computing(observation, call("torch.rand", [20_000_000]), *sums)
    letters = "abcdefghijklmnopqrstuvwxyz"
    equation = f"{letters[:20]},{letters[6:]}->ab"
    yield computing(observation, call("torch.ones", [2] * 20), call("torch.einsum", equation, ref(1), ref(1)))
    huge = 10**18
    for name, given in (
        ("operator.pow", (10, huge)), ("operator.lshift", (1, huge)), ("builtins.pow", (7, huge, 10**300)),
        ("math.factorial", (10**7,)), ("math.comb", (10**9, 10**8)), ("builtins.list", (range(huge),)),
        ("builtins.sum", (range(huge),)), ("builtins.tuple", (range(0, -huge, -1),)), ("operator.mul", ("ab", huge)),
        ("operator.mul", ([1, 2], huge)), ("operator.contains", (range(huge), "x")),
        ("builtins.int", ("7" * 6_000_000,)), ("torch._assert", (False, "x" * 6_000_000)),
    ):  # fmt: skip
        yield computing(observation, call(name, *given))
    squares = [call("operator.mul", ref(place), ref(place)) for place in range(2, 60)]
    yield computing(observation, call("builtins.int", 2), call("operator.add", ref(1), 1), *squares)
    warns = [call("torch.add", ref(0), ref(0), out={"tensor": 0}) for _ in range(3000)]
    yield with_graph(observation, placeholder(), *warns, output(ref(1)), tensors=[tensor(1)])
