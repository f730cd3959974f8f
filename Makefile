# Each target is one call of `python -m press`, which needs no make: see README.md.
PYTHON ?= python3

.PHONY: book test test-cold notebooks lab watch serve bench

book test test-cold notebooks lab watch serve bench:
	@$(PYTHON) -m press $@
