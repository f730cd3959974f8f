# Each target is one call of `python -m press`, which needs no make: see README.md.
PYTHON ?= python3

.PHONY: book test prove notebooks quick lab watch serve pdf epub bench

# `make quick FILE=book/chapters/03_replacement.md`; without FILE, whatever differs from what is printed.
quick:
	@$(PYTHON) -m press quick $(FILE)

# `make prove ROOM=site`: the tests that `make test` leaves out, of one room; without ROOM, of all rooms. With TORCH=2.15.0
# either command runs those that torch can change, with that torch in an environment of its own.
test prove:
	@$(PYTHON) -m press $@ $(if $(ROOM),--room $(ROOM)) $(if $(DRAW),--draw $(DRAW)) $(if $(TORCH),--torch $(TORCH))

book notebooks lab watch serve pdf epub bench:
	@$(PYTHON) -m press $@
