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
    described,
    full,
    method,
    node,
    of,
    output,
    placeholder,
    ref,
    tensor,
    with_graph,
    with_module,
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


_NORMS = """
    native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training cudnn_batch_norm batch_norm
    _batch_norm_with_update _batch_norm_no_update _native_batch_norm_legit_functional
"""
_STRIDED = """
    torch.as_strided torch.as_strided_ torch.as_strided_copy torch.Tensor.as_strided torch.ops.aten.as_strided
    torch.ops.aten.as_strided.default torch.ops.aten.as_strided_.default torch.ops.aten._reshape_alias.default
    torch.ops.aten.as_strided_scatter.default torch.ops.aten.set_.source_Storage_storage_offset torch.Tensor.set_
    torch.empty_strided torch.Tensor.resize_ torch.ops.aten.resize_.default torch._C._TensorBase.as_strided
"""
_INDEXED = """
    embedding_bag _embedding_bag index_select gather take put_ scatter_ index_put_ index_add_ index_copy_
    _index_put_impl_ _unsafe_index bincount max_unpool2d grid_sampler nll_loss nll_loss2d_forward segment_reduce
    searchsorted histc fractional_max_pool2d ormqr _unsafe_index_put _unsafe_masked_index lstm gru rnn_tanh cdist
    _sparse_coo_tensor_unsafe ctc_loss _ctc_loss
"""


def kernels_not_on_the_list(observation: JSON) -> Forged:
    """Call kernels, by all their names, that do not check the sizes, indices, strides and output tensors they get.

    Harm: the judge's memory is returned as numbers, or is overwritten.
    """
    one = [call("torch.zeros", [1, 8]), call("torch.zeros", 1), call("torch.ones", 8)]
    names = ["torch.batch_norm", "torch.nn.functional.batch_norm", "torch.native_batch_norm"]
    for name in _NORMS.split():
        names += [f"torch.ops.aten.{name}{overload}" for overload in ("", ".default", ".out", ".no_stats_out")]
    for name in names:
        yield computing(observation, *one, call(name, ref(1), None, None, ref(2), ref(3), True, 1.0, 0.0))
    for name in _STRIDED.split():
        yield computing(observation, call(name, ref(0), [4], [1 << 20], 0))
    for name in "as_strided as_strided_ set_ resize_ resize_as_ untyped_storage unfold new_empty_strided".split():
        yield computing(observation, method(name, ref(0), [4], [1 << 20], 0))
    made = [call("torch.zeros", [4, 1, 3]), call("torch.full", [8], 10**12)]
    for name in _INDEXED.split():
        for spelled in (f"torch.{name}", f"torch.ops.aten.{name}.default", f"torch.nn.functional.{name}"):
            given = ([4], [8], -7) if "ctc" in spelled else (0,)
            yield computing(observation, *made, call(spelled, ref(1), ref(2), *given))

    small = call("torch.zeros", 1)
    outs = "out Tensor_out Scalar_out names_out dim_out default_out grid_out _out self_out OUT"
    for name in "add cat sum matmul relu sort topk arange view expand native_dropout _softmax".split():
        for overload in outs.split():
            yield computing(observation, small, call(f"torch.ops.aten.{name}.{overload}", ref(0), ref(0), out=ref(1)))
        for spelled in (f"torch.{name}", f"torch.ops.aten.{name}"):
            for given in ((ref(0), ref(0)), (ref(0),), ([ref(0), ref(0)],)):
                yield computing(observation, small, call(spelled, *given, out=ref(1)))
    narrow, whole = call("operator.getitem", ref(0), (..., slice(0, 1))), call("torch.zeros", 0, dtype=torch.int64)
    yield computing(observation, narrow, whole, call("torch.max", ref(0), 0, out=(ref(1), ref(2))))
    lists = "t str left_t int bool enum any str_list int_list Dict_str self_int List int_int Scalar complex device"
    for operator in "add mul slice sort eq sum all min round select split pow len".split():
        for overload in (*lists.split(), "float_int", "hacked_twin", "generic", "prim_list"):
            for given in (([1, 2], [3]), ("ab", 10**9), ([["a"]], None), ([1.5, "x"], [None]), ({"dict": []}, 1)):
                yield computing(observation, call(f"torch.ops.aten.{operator}.{overload}", *given))


_METHODS = """
    __class__ __init__ __reduce__ __reduce_ex__ __getattribute__ __getattr__ __setattr__ __call__ __subclasses__
    __init_subclass__ __dir__ __format__ __repr__ __sizeof__ __setstate__ mro __torch_function__ __torch_dispatch__
    __array__ __dlpack__ __deepcopy__ __cuda_array_interface__ format format_map encode decode join translate numpy
    data_ptr storage untyped_storage apply_ map_ map2_ register_hook backward share_memory_ set_ to_sparse pin_memory
    append extend pop clear update setdefault sort copy index insert remove apply register_forward_hook
    load_state_dict state_dict get_submodule add_module to_folder recompile register_buffer compile _apply
    _load_from_state_dict __exit__ _call_impl eval
"""
_ATTRIBUTES = """
    __class__ __dict__ __globals__ __subclasses__ _base grad_fn _backward_hooks storage numpy shape.__class__ __doc__
    _version names grad __torch_function__
"""
_CALLERS = "builtins.max builtins.sum builtins.list builtins.any torch.add torch.cat torch.tensor torch.einsum".split()


@of(PASS)
def methods_and_attributes(observation: JSON) -> Forged:
    """Call the methods and fetch the attributes that lead from one Python object to others; pass methods as arguments.

    Harm: from a tensor, a text or a module, a graph reaches Python's internals.
    """
    for name in _METHODS.split():
        for receiver in (ref(0), "{0.__class__}", [1], {"dict": [["a", 1]]}, {"slice": [1, 2, 3]}, ref(1)):
            yield computing(observation, node("get_attr", "0"), method(name, receiver))
        yield computing(observation, node("get_attr", "0"), method(name, ref(1), ref(0), TOUCH))
    for name in (*_ATTRIBUTES.split(), "shape\0", "sha\u0440e", "", "data "):
        yield computing(observation, call("builtins.getattr", ref(0), name, None))
        yield computing(observation, call("operator.attrgetter", name), call("operator.call", ref(1), ref(0)))
        yield computing(observation, call("torch.Tensor.__getattribute__", ref(0), name))
        yield computing(observation, node("get_attr", name))
        yield computing(observation, call("operator.add", name[:2], name[2:]), call("builtins.getattr", ref(0), ref(1)))
    yield computing(observation, call("builtins.getattr", object=ref(0), name="__class__"))
    chain = [call("builtins.getattr", ref(place), "data") for place in range(200)]
    yield computing(observation, *chain, call("builtins.getattr", ref(200), "__class__"))
    for name in ("min", "max", "is_complex", "values"):
        bound = call("builtins.getattr", ref(0), name)
        for caller in _CALLERS:
            yield computing(observation, bound, call(caller, [ref(0), ref(0)], key=ref(1)))
            yield computing(observation, bound, call(caller, ref(1), ref(1)))
        yield computing(observation, bound, call("builtins.getattr", ref(1), "data"))


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

_CLASSES = """
    DataParallel LSTM MultiheadAttention TransformerEncoder LazyLinear ParameterList CTCLoss functional init utils
    Parameter modules.module.Module functional.os.system Buffer factory_kwargs . .. \u202eLinear Linear.__class__
    __builtins__ parallel.DistributedDataParallel
"""
_OTHERS = """
    torch.jit.ScriptModule torch.fx.GraphModule os._wrap_close subprocess.Popen torch.package.PackageImporter torch.nn
    builtins.type nn.Linear Linear torch.ao.nn.quantized.Linear torch.Tensor
"""
_RESERVED = """
    forward __class__ __call__ _parameters _modules named_parameters training graph recompile _graph code a.b T apply
    state_dict __dict__ __getattr__ _forward_hooks call_super_init T_destination dump_patches _call_impl compile
    shape_env meta _code extra_repr 0 -1 forward\0
"""


@of(PASS)
def modules_of_other_classes(observation: JSON) -> Forged:
    """Request modules of classes that are not on the list, and give submodules or tensors the names of Python methods.

    Harm: a class that runs code, opens files or starts processes is instantiated, or a method is replaced.
    """
    settings = {"args": TOUCH, "shell": True, "in_features": 10**18, "out_features": 10**18}
    for name in (*(f"torch.nn.{one}" for one in (*_CLASSES.split(), "", "Linear\0")), *_OTHERS.split()):
        yield with_module(observation, full(**{"class": name}, settings=settings))
    tensors = [tensor(4, parameter=True), tensor(4)]
    parts = (("children", 2), ("parameters", 0), ("buffers", [1, True]), ("attributes", 1), ("settings", "evil"))
    for name, (part, held) in itertools.product((*_RESERVED.split(), "", "x" * 1000), parts):
        evil = full(**{"class": "torch.nn.Identity"}, **{part: {name: held}})
        root = {} if part == "children" else {part: {name: held}}
        yield with_module(observation, evil, full(**{"class": "torch.nn.ReLU"}), root=root, tensors=tensors)


_SETTINGS = {
    "GELU": "approximate", "Softmax": "dim", "Dropout": "p", "Flatten": "start_dim", "Unflatten": "unflattened_size",
    "MaxPool1d": "kernel_size", "AvgPool1d": "stride", "LeakyReLU": "negative_slope", "Threshold": "threshold",
    "GLU": "dim", "AdaptiveAvgPool1d": "output_size", "ZeroPad1d": "padding", "Hardtanh": "min_val", "CELU": "alpha",
    "MaxPool2d": "dilation", "AvgPool2d": "divisor_override", "AlphaDropout": "inplace", "Module": "forward",
}  # fmt: skip
_LAYERS = {
    "Linear": {"in_features": 4, "out_features": 4},
    "Conv2d": {"in_channels": 4, "out_channels": 4, "kernel_size": 1, "groups": 3},
    "Embedding": {"num_embeddings": 10**12, "embedding_dim": 10**6},
    "GroupNorm": {"num_groups": 2, "num_channels": 4},
    "LayerNorm": {"normalized_shape": [4]},
    "PReLU": {"num_parameters": 4},
}
_EPS = {"num_features": 4, "eps": {"float": "1e-05"}, "momentum": {"float": "1.0"}}
_STATISTICS = {"running_mean": [1, True], "running_var": [1, True], "num_batches_tracked": [2, True]}


@of(PASS)
def layers_that_lie(observation: JSON) -> Forged:
    """Send layers with absurd settings, weights and buffers of sizes other than declared, and indices far out of range.

    Harm: their kernels trust the layer's settings, and read or write out of bounds.
    """
    values = ("evil", "reflect", "{0.__class__}", 10**18, -1, 0, None, True, {"float": "nan"}, {"float": "1e308"}, [])
    values += ([10**18, -1], {"tuple": [0, 0]}, {"dict": [["a", 1]]}, {"dtype": "int64"}, {"device": "meta"})
    for (name, setting), value in itertools.product(_SETTINGS.items(), values):
        yield with_module(observation, full(**{"class": f"torch.nn.{name}"}, settings={setting: value}))
    for (name, settings), shape in itertools.product(_LAYERS.items(), ([], [0], [1], [3], [4, 1], [1, 4, 1], [2] * 5)):
        held = {"weight": 0} if name in ("Embedding", "PReLU") else {"weight": 0, "bias": 0}
        evil = full(**{"class": f"torch.nn.{name}"}, settings=settings, parameters=held)
        yield with_module(observation, evil, tensors=[tensor(*shape, parameter=True)])
    for name, dtype in itertools.product(("BatchNorm1d", "BatchNorm2d"), ("float32", "float64", "int64")):
        for small, training in itertools.product((0, 1), (True, False)):
            held = {"parameters": {"weight": 0, "bias": 0}, "buffers": _STATISTICS, "settings": _EPS}
            tensors = [tensor(small, parameter=True), tensor(small, dtype=dtype), tensor(dtype="int64")]
            evil = {**full(**{"class": f"torch.nn.{name}"}, **held), "training": training}
            yield with_module(observation, evil, tensors=tensors)
    for index, pads in itertools.product((-1, -(2**40), 2, 10**9, FAR), (True, False)):
        settings = {"num_embeddings": 2, "embedding_dim": 4, "padding_idx": index if pads else None}
        rows = full(**{"class": "torch.nn.Embedding"}, settings=settings, parameters={"weight": 0})
        makes = call("torch.full", [3], index)
        yield with_module(observation, rows, before=[makes], tensors=[tensor(2, 4, parameter=True)])


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
    """Give kernels invalid sizes, equations, devices and indices; :mod:`fuzzing` generates many more.

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


def tensors_over_each_other(observation: JSON) -> Forged:
    """Mix meta tensors with others, view bytes as another type, write into views and into tensors that need gradients.

    Harm: a kernel reads or writes at address 0 or out of bounds, or autograd uses memory that was freed.
    """
    empty = call("torch.zeros", [2, 3, 4], device=torch.device("meta"))
    for name in "add matmul cat where dot bmm maximum lerp masked_fill outer".split():
        for one, two in ((ref(0), ref(1)), (ref(1), ref(0))):
            yield computing(observation, empty, call(f"torch.{name}", one, two))
            yield computing(observation, empty, call(f"torch.{name}", [one, two]))
        yield computing(observation, empty, call(f"torch.ops.aten.{name}_", ref(0), ref(1)))
    for name in "item tolist __bool__ __int__ clone cpu __len__ max sort".split():
        yield computing(observation, empty, method(name, ref(1)))
    for kind in (torch.bool, torch.int8, torch.int64, torch.complex128, torch.bfloat16, torch.uint16):
        odd = call("operator.getitem", ref(0), (..., slice(1, None, 2)))
        yield computing(observation, method("view", ref(0), kind))
        yield computing(observation, odd, method("view", ref(1), kind), method("clone", ref(2)))
        yield computing(observation, call("torch.ops.aten.view.dtype", ref(0), kind), method("add", ref(1), ref(1)))
    for name in "add_ mul_ copy_ sort cumsum_ fill_ masked_fill_ zero_ lerp_ exp_".split():
        wide = [method("reshape", ref(0), -1), method("select", ref(1), 0, 0), method("expand", ref(2), 1000, 1000)]
        yield computing(observation, *wide, method(name, ref(3), ref(3)))
        yield computing(observation, *wide, method("t", ref(3)), method(name, ref(3), ref(4)))
        shifted = [method("reshape", ref(0), -1), call("operator.getitem", ref(1), slice(1, None))]
        part = call("operator.getitem", ref(1), slice(None, -1))
        yield computing(observation, *shifted, part, method(name, ref(2), ref(3)))
    for (dtype, count), parameter in itertools.product({"float32": 4, "int64": 2, "bool": 16}.items(), (True, False)):
        held, tensors = {"tensor": 0}, [{**tensor(count, dtype=dtype, parameter=parameter), "requires_grad": True}]
        yield computing(observation, method("add_", held, 1), tensors=tensors)
        yield computing(observation, call("operator.setitem", held, 0, held), tensors=tensors)
        yield computing(observation, call("torch.detach_", held), method("mul_", held, held), tensors=tensors)


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


@of(BUILD)
def programs_without_end(observation: JSON) -> Forged:
    """Chain so many nodes, or nest arguments so deeply, that the program is too long or too deep for the compiler.

    Harm: the compiler overflows its stack in the judge, or uses up all time or memory.
    """
    yield computing(observation, *(call("operator.add", ref(at), ref(at)) for at in range(4000)))
    yield computing(observation, *({**call("torch.neg", ref(at)), "name": f"{'n' * 190}{at}"} for at in range(3000)))
    yield computing(observation, *({**call("torch.neg", ref(0)), "name": "same"} for _ in range(3000)))
    yield computing(observation, *(call("torch.neg", ref(0)) for _ in range(6000)))
    for value in ([1.5] * 200_000, ["\\" * 1_000_000], [10**4000] * 500):
        yield computing(observation, call("builtins.len", value))
    yield computing(observation, call("torch.relu", *([1] * 300_000)))
    yield computing(observation, call("torch.cat", [ref(0)] * 100_000))
    yield computing(observation, call("torch.relu", {"dict": [[str(at), at] for at in range(100_000)]}))
    yield computing(observation, *(call("torch.relu", {"foreign": f"f{at}", "erased": True}) for at in range(200)))
    many = {f"k{at}": at for at in range(300)}
    yield computing(observation, *(call("torch.add", ref(0), 1, **many) for _ in range(20)))
    for depth in (19, 21, 149, 900, 100_000):
        deep: JSON = 0
        tuples: JSON = 0
        for _ in range(depth):
            deep, tuples = [deep], {"tuple": [tuples]}
        yield computing(observation, {**call("torch.relu"), "args": deep})
        yield computing(observation, {**call("torch.relu"), "kwargs": {"dict": [["x", tuples]]}})


_ODD = (
    {"float": "1e999"}, {"float": "nan"}, {"float": "0x10"}, {"float": "9" * 100_000}, {"float": ""}, {"float": 1},
    {"complex": ["nan", "inf"]}, {"complex": ["1"]}, {"complex": "1j"}, {"range": [0, 10**300, 1]},
    {"range": [0, 1, 0]}, {"slice": [1, 2]}, {"slice": [{"slice": [1, 2, 3]}] * 3}, {"size": [-1, 2**63]},
    {"ellipsis": False}, {"dtype": "load"}, {"dtype": "float32\0"}, {"device": "privateuseone:99999"},
    {"layout": "sparse_coo"}, {"memory_format": "__class__"}, {"tensor": 10**300}, {"tensor": -1}, {"tensor": True},
    {"tensor": "0"}, {"node": -1}, {"node": 10**300}, {"node": True}, {"unknown": "x" * 10**6}, {"tuple": 5},
    {"dict": [[1]]}, {"dict": [[[1], 2]]}, {"dict": {"a": 1}}, {"node": 0, "tuple": []}, {},
    {"__class__": "x"}, {"pickle": "gASVAAAA"}, 10**4000, {"foreign": "x", "erased": 1},
)  # fmt: skip
_FOUR = tensor(1)["data"]
_TENSORS = (
    ("float32", [2**39, 2**39, 0], ""), ("float32", [2**63], _FOUR), ("float32", [-1], _FOUR), ("float64", [1], _FOUR),
    ("float32", [2**32, 2**32], ""), ("bool", [4], "AgP/gA=="), ("qint8", [4], _FOUR), ("quint4x2", [8], _FOUR),
    ("bits8", [4], _FOUR), ("float32", [1.0], _FOUR), ("float32", [True], _FOUR), ("float32", [1], "=" * 1_000_000),
    ("float32", [1], "AAAAAA==" * 100_000), ("float32", "1", _FOUR), ("__class__", [1], _FOUR),
)  # fmt: skip


def values_of_odd_kinds(observation: JSON) -> Forged:
    """Pass values with odd descriptions, and tensors whose shape, type and bytes are inconsistent.

    Harm: building them runs code, reads memory that was not sent, or uses up the judge's time or memory.
    """
    for value in _ODD:
        yield computing(observation, call("torch.add", ref(0), value))
        yield computing(observation, call("torch.zeros", [value]))
        yield computing(observation, call("operator.getitem", ref(0), value))
        yield computing(observation, {**call("torch.add"), "args": value})
        yield computing(observation, {**call("torch.add"), "kwargs": value})
    entries = [{"dtype": dtype, "shape": shape, "data": data} for dtype, shape, data in _TENSORS]
    for entry in (*entries, {"given": "weight"}, {"unknown": "x" * 1_000_000}, {"pickle": _FOUR}):
        told = {**entry, "parameter": False, "requires_grad": True}
        yield computing(observation, call("torch.add", {"tensor": 0}, {"tensor": 0}), tensors=[told])
        yield computing(observation, call("torch.add", {"tensor": 0}, 1), tensors=[entry] * 2)


@of(PASS)
def graphs_that_lead_nowhere(observation: JSON) -> Forged:
    """Send graphs that no front end makes: cycles, two outputs, no output, modules that contain themselves or others.

    Harm: the judge traverses them endlessly, or accepts one as a right answer.
    """
    x, out, negated = placeholder(), output(ref(1)), call("torch.neg", ref(0))
    below = {**placeholder("y"), "args": {"tuple": [ref(0)]}}
    for nodes in (
        (x, call("torch.neg", ref(1)), out), (x, call("torch.neg", ref(2)), call("torch.neg", ref(1)), output(ref(2))),
        (x, out), (x, negated, out, out, out), (x, negated), (out, negated, x), (x, node("output", "output"), out),
        ([placeholder() for _ in range(50)] + [output(ref(0))]), (), (placeholder("*x"), output(ref(0))),
        ({**placeholder("**x"), "name": "x"}, output(ref(0))), (x, below, out),
        ({**x, "args": {"tuple": [ref(1)]}}, negated, out),
    ):  # fmt: skip
        yield with_graph(observation, *nodes)
    targets = ("relu", {"function": "torch.relu"}, "0", {"unknown": "x"}, {}, {"function": "x", "unknown": "y"})
    ops = "root call_modul __class__ get_attr call_method call_function placeholder output"
    for op, target in itertools.product(ops.split(), targets):
        yield with_graph(observation, x, node(op, target, ref(0), name="odd"), out)
    sequential, root = {"class": "torch.nn.Sequential"}, full(**{"class": "torch.fx.GraphModule"}, children={"0": 1})
    for height, copies in ((40, 2), (99, 1), (1500, 1), (14, 3), (1, 1500)):
        tower = [full(**sequential, children={str(at): place + 2 for at in range(copies)}) for place in range(height)]
        tower.append(full(**{"class": "torch.nn.ReLU"}))
        yield with_wire(observation, lambda wire, all_=[root, *tower]: wire.update(modules=all_))
    for place in (0, 1, 2, -1, 10**300, True, "1", None, 1.0):
        ring = [root, full(**sequential, children={"0": place})]
        yield with_wire(observation, lambda wire, all_=ring: wire.update(modules=all_))
    twice = full(**{"class": "torch.fx.GraphModule"}, children={"0": 1, "1": 2})
    for first in ({"given": ""}, {"given": "0"}, {"like": ""}, {"class": "torch.nn.Module"}, {}, None, 5):
        yield with_wire(observation, lambda wire, one=first: wire.update(modules=[one, full(given="0")]))
        yield with_wire(observation, lambda wire, one=first: wire.update(modules=[twice, one, one]))
    yield with_wire(observation, lambda wire: wire.update(modules=[full(given="")] * 1999))
    yield with_wire(observation, lambda wire: wire.update(tensors=[{"given": "x"}] * 1_000_000))
