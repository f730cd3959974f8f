"""Hand in bytes that no encoding has, that several have, and that begin as other files do.

Harm: the reader guesses, and opens what it should not.
"""

import zlib

STARTS = (
    b"\x80\x04\x95",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x7fELF",
    b"#!/bin/sh\n",
    b"MZ",
    b"\0" * 64,
)
STARTS += (
    b"\xff\xfe\x00\xd8",
    b"+AHs-",
    b"\x93NUMPY",
    b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
)


def handed_in():
    for start in STARTS:
        for suffix in ("py", "ipynb", "PY", "", "ipynb.py", "zip"):
            yield f"x.{suffix}", start + b'{"cells": []}'
            yield f"x.{suffix}", start + bytes(range(256)) * 100
    yield "x.ipynb", zlib.compress(bytes(10_000_000))
    yield "x.ipynb", bytes(5_000_000)
    yield "x.py", b"\r" * 3_000_000
