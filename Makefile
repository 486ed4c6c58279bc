# Few targets; each is one command that also runs without make.

GO ?= go
CHECK = $(GO) run ./internal/check

.PHONY: build test test-bare test-race test-slow test-outside check format bench fuzz mutate release

# The executable, as it is delivered: static, without cgo, and with the whole program within a small one.
build:
	CGO_ENABLED=0 $(GO) run ./internal/pack -o bin/hubcli

# Every promise once: the static checks, the types for all platforms, all tests in
# Go in random order and all tests in Python. It takes minutes.
test:
	@echo "make test: compiling the checks"
	@$(CHECK)

# All tests in Go under the race detector.
test-race:
	@$(CHECK) race

# Planted mistakes, each of which a test must notice, a release that is installed, a
# program without the parts that a build may leave out, and the builds for all platforms. FAULTS_PART=K/N takes every N-th mistake.
test-slow:
	@$(CHECK) cross install omitted faults

# What "make test" says of a machine that has nothing but Go, git, Python and a C compiler.
test-bare:
	@echo "make test-bare: compiling the checks"
	@$(CHECK) bare

# Other people's programs from npm, the console as its sources give it and in a browser, and
# pages in each browser engine, where these are there.
test-outside:
	@$(CHECK) console outside outside-turns browser engines

# The static checks alone, for between edits.
check:
	@$(CHECK) format vet lint staticcheck platforms python

format:
	@$(CHECK) reformat

# The figures of the hub beside those of a server that only decodes and answers.
bench:
	$(GO) run ./stress bench

# Archives for all platforms, the wheel of the Python client and checksums, into dist.
release:
	$(GO) run ./internal/release

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 20s
fuzz:
	@FUZZTIME=$(FUZZTIME) $(CHECK) fuzz

# Changes of one package that no test of it notices: make mutate MUTATE=./hub
mutate:
	@MUTATE=$(MUTATE) $(CHECK) mutate
