# run: the quickstart; test: everything that must hold; bench: the cost table. Each does its own set-up.

.PHONY: run test bench clients fuzz build plugins fmt lint release

run: build
	@sh scripts/quickstart.sh

test:
	@sh scripts/test.sh

bench:
	@sh tests/bench/bench.sh

# Clients that others wrote, through the proxy; not part of `test`: it installs some of them.
clients:
	@sh scripts/clients.sh

# Each fuzz target for a minute; needs a nightly compiler.
fuzz:
	@sh scripts/fuzz.sh

# The proxy and the shipped plugins, built for a quick start rather than for speed.
build:
	@sh scripts/setup.sh
	cargo build -p edgewright -p edgewright-echo
	@sh scripts/plugins.sh

# What ships: target/release/edgewright. Takes some minutes: the whole program is optimised at once.
release:
	@sh scripts/setup.sh
	cargo build --release -p edgewright
	@sh scripts/plugins.sh

plugins:
	@sh scripts/setup.sh
	@sh scripts/plugins.sh

fmt:
	cargo fmt --all

lint:
	cargo clippy --workspace --all-targets -- -D warnings
