# Few targets; each is one command that also runs without make.

GO ?= go

.PHONY: build test check format bench fuzz release

# The executable, as it is delivered: static, without cgo.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/hubcli ./cmd/hubcli

# Everything: the static checks, the builds for all platforms, all tests in Go
# under the race detector in random order, all tests in Python, and other people's
# programs from npm where Node.js is there.
test:
	$(GO) run ./internal/check

# The static checks alone, for between edits.
check:
	$(GO) run ./internal/check format vet staticcheck lint python

format:
	$(GO) run ./internal/check reformat

# The figures of the hub beside those of a server that only decodes and answers.
bench:
	$(GO) run ./stress bench

# Archives for all platforms, the wheel of the Python client and checksums, into dist.
release:
	$(GO) run ./internal/release

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 20s
fuzz:
	FUZZTIME=$(FUZZTIME) $(GO) run ./internal/check fuzz
