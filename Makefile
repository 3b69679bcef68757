# Go and make are enough for build, run and test. `make` alone lists what there is.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

FUZZTIME  ?= 10s
BENCH     ?= .
COUNT     ?= 6
BENCHTIME ?= 0.2s
PKG       ?= ./...
ARGS      ?=

SLOW      ?= snapshot=10%
ROUNDS    ?= 6

.DEFAULT_GOAL := help
.PHONY: help gate gate-selftest build run test race fuzz blast oracle bench bench-report gen kernels lint vet nofma clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: ARGS (run), PKG (what to test), FUZZTIME, BENCH, COUNT, BENCHTIME, BASE and ROUNDS (gate), SLOW."

# The version comes through ldflags, so that a tree without git (an archive) builds too; hence no stamp by go itself.
build: ## compile bin/tickrate
	$(GO) build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/tickrate ./cmd/tickrate

run: build ## find how many players this machine carries: report/index.html within two minutes
	bin/tickrate plan $(ARGS)

test: ## all tests
	$(GO) test $(PKG)

race: ## all tests under the race detector
	$(GO) test -race $(PKG)

# Lists the fuzz targets of every package ("FuzzX" lines, then "ok package"), then runs one after the other.
fuzz: ## every fuzz target for FUZZTIME (10s) each
	@set -e; list=$$($(GO) test -list '^Fuzz' $(PKG)); \
	printf '%s\n' "$$list" | awk '/^Fuzz/ { f[n++] = $$1 } /^(ok|\?)/ { for (i = 0; i < n; i++) print $$2, f[i]; n = 0 }' | \
	while read -r pkg target; do \
		echo "== $$pkg $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; \
	done

blast: ## 10^8 bad datagrams at a server, outside the fuzzer's engine (TICKRATE_BLAST: how many)
	TICKRATE_BLAST=$${TICKRATE_BLAST:-100000000} $(GO) test -run '^TestBlast$$' -count 1 -timeout 30m -v ./netio/netcode

oracle: ## 10^8 rays and spheres against a float64 oracle (TICKRATE_ORACLE: how many)
	TICKRATE_ORACLE=$${TICKRATE_ORACLE:-100000000} $(GO) test -run '^TestOracle$$' -count 1 -timeout 30m -v ./lagcomp/internal/kernel

bench: ## all benchmarks, once
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

# The first lines are file configuration in Go's benchmark format: the results carry their own machine and commit.
bench-report: build ## all benchmarks COUNT (6) times; rewrites BENCHMARKS.md
	@mkdir -p report
	@{ echo "commit: $(VERSION)"; \
	   echo "date: $$(date -u +%Y-%m-%d)"; \
	   echo "go: $$($(GO) env GOVERSION)"; \
	   echo "kernel: $$(uname -sr)"; \
	   echo "cores: $$(getconf _NPROCESSORS_ONLN)"; \
	   echo "seed: fixed in each benchmark"; \
	   echo "command: go test -run '^\$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -benchtime $(BENCHTIME) $(PKG)"; \
	 } > report/bench-go.txt
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -benchtime $(BENCHTIME) -timeout 60m $(PKG) >> report/bench-go.txt || \
		{ grep -n -e FAIL -e panic report/bench-go.txt; exit 1; }
	bin/tickrate bench-report --in report/bench-go.txt --out BENCHMARKS.md

# Two builds on one machine, a round of each at a time, so that the machine's moods meet both. BASE must know "plan rounds".
gate: build ## compare with another commit (BASE, default HEAD): fails if something takes longer
	@set -e; base=$$(git rev-parse --verify '$(or $(BASE),HEAD)^{commit}'); dir=$$(mktemp -d); \
	trap 'git worktree remove --force "$$dir/base" >/dev/null 2>&1 || true; rm -rf "$$dir"' EXIT; trap 'exit 1' INT TERM; \
	git worktree add --quiet --detach "$$dir/base" "$$base"; \
	(cd "$$dir/base" && $(GO) build -trimpath -buildvcs=false -ldflags "-X main.version=$$base" -o "$$dir/old" ./cmd/tickrate); \
	"$$dir/old" plan rounds --help >/dev/null 2>&1 || { echo "$$base has no plan rounds: it cannot be compared" >&2; exit 2; }; \
	i=0; while [ $$i -lt $(ROUNDS) ]; do \
		if [ $$((i % 2)) = 0 ]; then pair="old new"; else pair="new old"; fi; \
		for side in $$pair; do \
			bin="$$dir/old"; [ $$side = old ] || bin=bin/tickrate; \
			"$$bin" plan rounds --out "$$dir/$$side.json" >/dev/null; \
		done; \
		i=$$((i + 1)); echo "round $$i of $(ROUNDS)"; \
	done; \
	bin/tickrate plan --baseline "$$dir/old.json" --against "$$dir/new.json"

gate-selftest: build ## prove the gate here: an equal pair passes, a planted slowdown (SLOW) does not
	bin/tickrate plan selftest --slow $(SLOW)

gen: ## generated files; leaves git clean if they were up to date
	$(GO) generate ./...

kernels: ## only the assembly, of lagcomp's kernels and sim/move's; gen does so too, and CI checks that it changes nothing
	$(GO) generate ./lagcomp/internal/kernel ./sim/move

lint: vet nofma ## gofmt, go vet, staticcheck (pinned), no fused multiply-add
	@bad=$$(gofmt -l .); \
	if [ -n "$$bad" ]; then echo "gofmt these:" >&2; echo "$$bad" >&2; exit 1; fi
	$(GO) run $(STATICCHECK) ./...

vet:
	$(GO) vet ./...

# The simulation computes the same bits on every processor only if no compiler fuses a*b + c. amd64 never does on its
# own; arm64 does wherever the source lets it, across statements and inlined calls, so its code tells where that is.
NOFMA ?= ./ecs/geom ./ecs/tick ./lagcomp/... ./sim/...
nofma: ## no product is fused into a sum where prediction needs equal bits
	@out=$$(GOARCH=arm64 $(GO) build -trimpath=false -gcflags=-S $(NOFMA) 2>&1) || { GOARCH=arm64 $(GO) build $(NOFMA); exit 1; }; \
	bad=$$(printf '%s\n' "$$out" | awk '/\tFN?M(ADD|SUB)[SD]\t/ { sub(/^.*\(/, ""); sub(/\).*$$/, ""); print }' | \
		grep -F "$(CURDIR)/" | sort -u); \
	if [ -n "$$bad" ]; then echo "fused multiply-add: convert the product where it is made, float32(a*b)" >&2; echo "$$bad" >&2; exit 1; fi

clean: ## remove bin and report
	rm -rf bin report
