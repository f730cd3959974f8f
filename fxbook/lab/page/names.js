// How torch.fx names nodes: `_Namespace` and `_snake_case` of torch/fx/graph.py (2.13).

/** Names that a node never gets as they are: Python's keywords and builtins, and a few that the generated code uses. */
const RESERVED = new Set((
  "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError BufferError " +
  "BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError " +
  "DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup False FileExistsError " +
  "FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError " +
  "InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None NoneType " +
  "NotADirectoryError NotImplemented NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError " +
  "ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration " +
  "SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError UnicodeDecodeError " +
  "UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError " +
  "__build_class__ __debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ abs aiter all and anext any as ascii assert " +
  "async await bin bool break breakpoint bytearray bytes callable chr class classmethod compile complex continue copyright credits " +
  "def del delattr device dict dir divmod elif else enumerate eval except exec exit filter finally float for format from frozenset " +
  "fx_pytree getattr global globals hasattr hash help hex id if import in inf input int is isinstance issubclass iter lambda len " +
  "license list locals map max memoryview min nan next nonlocal not object oct open or ord pass pow print property pytree quit raise " +
  "range repr return reversed round set setattr slice sorted staticmethod str sum super torch try tuple type vars while with yield zip"
).split(" "));

/** @param {string} target @returns {string} */
export const snakeCase = target => target.replace(/(?<=[a-z])([A-Z])/g, "_$1").toLowerCase();

export class Namespace {
  /** @param {{used?: string[], counts?: Record<string, number>}} [state] the names that the graph has used so far */
  constructor({used = [], counts = {}} = {}) {
    this.used = new Set(used);
    /** @type {Map<string, number>} */
    this.counts = new Map(Object.entries(counts));
  }

  /** @param {string} candidate @returns {string} a name that nothing has had in this graph */
  create(candidate) {
    const split = text => /^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$/.exec(text);
    let match = split(candidate);
    if (!match) {
      candidate = candidate.replace(/[^0-9a-zA-Z_]+/g, "_") || "_unnamed";
      if (/^\d/.test(candidate)) candidate = `_${candidate}`;
      match = split(candidate);
    }
    const base = match[1];
    let number = Number(match[2]);
    if (match[2] === undefined || this.used.has(candidate)) {
      number = this.counts.get(base) || 0;
      if (RESERVED.has(candidate)) candidate = `${base}_${++number}`;
    }
    while (this.used.has(candidate)) candidate = `${base}_${++number}`;
    this.used.add(candidate);
    this.counts.set(base, number);
    return candidate;
  }
}
