# Each target is one call of `python -m press`, which needs no make: see README.md.
PYTHON ?= python3

.PHONY: book test test-cold test-models notebooks quick lab watch serve pdf epub bench

# `make quick FILE=book/chapters/03_replacement.md`; without FILE, whatever differs from what is printed.
quick:
	@$(PYTHON) -m press quick $(FILE)

# `make test TORCH=2.15.0`: the tests that torch can change, with another torch in an environment of its own.
test:
	@$(PYTHON) -m press test $(if $(TORCH),--torch $(TORCH))

book test-cold test-models notebooks lab watch serve pdf epub bench:
	@$(PYTHON) -m press $@
