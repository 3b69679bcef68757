# Go and make are enough for build, run and test. `make` alone lists what there is.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

FUZZTIME  ?= 10s
BENCH     ?= .
COUNT     ?= 6
BENCHTIME ?= 1s
PKG       ?= ./...
ARGS      ?=

SLOW      ?= snapshot=3%
ROUNDS    ?= 16

.DEFAULT_GOAL := help
.PHONY: arena dist help deadcode gate gate-selftest predict-check build run test race e2e peers fuzz blast oracle exact duels hours dst mutation bench bench-once bench-report gen kernels lint vet nofma same arm64 fleet clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: ARGS (run), PKG (what to test), FUZZTIME, BENCH, COUNT, BENCHTIME, BASE, ROUNDS and GATE_LIVE (gate), SLOW, SEED and DRAWS (predict-check)."

# The version comes through ldflags, so that a tree without git (an archive) builds too; hence no stamp by go itself.
build: ## compile bin/tickrate
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/tickrate ./cmd/tickrate

dist: ## binaries of all systems in bin/dist, with checksums, bills of materials and licences
	$(GO) run ./deploy/dist -version $(VERSION)

run: build ## find how many players this machine carries: report/index.html within two minutes
	bin/tickrate plan $(ARGS)

# Ctrl-C ends both. ARGS goes to the server, BOTS is how many bots play.
MAP  ?= arena-16
BOTS ?= 8
arena: build ## check a map (MAP), then a server and bots (BOTS) on it; the live page is at 127.0.0.1:7914
	bin/tickrate map check --players 0 $(MAP)
	@bin/tickrate serve --map $(MAP) $(ARGS) & server=$$!; trap 'kill $$server 2>/dev/null; wait $$server' EXIT INT TERM; \
	sleep 1; bin/tickrate swarm --players $(BOTS)

test: ## all tests
	$(GO) test $(PKG)
	$(GO) -C peers test ./...

race: ## all tests under the race detector
	$(GO) test -race $(PKG)

# A module of its own. Chromium is what it needs beyond Go; .ci/browser finds it, or installs Debian's where it may, or says how.
e2e: ## the report and the live page in a headless Chromium, at both widths, dark and light (SHOTS: where to leave pictures)
	@.ci/browser
	TICKRATE_E2E=1 $(GO) -C e2e test . -count 1 -timeout 10m $(if $(SHOTS),-shots $(abspath $(SHOTS)))

# A module of its own. Needs Debian's openarena-server and ddnet-server; .ci/peers finds or installs them where it may, or says how.
# About nine minutes; two: ARGS='-turns 1 -sizes 16,64 -window 4s'.
peers: build ## OpenArena's and DDNet's servers beside ours, same players and rates: report/peers.md
	@.ci/peers
	$(GO) -C peers run . $(ARGS)

# Lists the fuzz targets of every package ("FuzzX" lines, then "ok package") of both modules, then runs one after the other.
# PKG limits the packages; those of peers are fuzzed where it is the default.
fuzz: ## every fuzz target for FUZZTIME (10s) each
	@set -e; for module in . $(if $(filter ./...,$(PKG)),peers); do \
		list=$$($(GO) -C $$module test -list '^Fuzz' $(PKG)); \
		printf '%s\n' "$$list" | awk '/^Fuzz/ { f[n++] = $$1 } /^(ok|\?)/ { for (i = 0; i < n; i++) print $$2, f[i]; n = 0 }' | \
		while read -r pkg target; do \
			echo "== $$pkg $$target"; \
			$(GO) -C $$module test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; \
		done; \
	done

blast: ## 10^8 bad datagrams at a server, outside the fuzzer's engine (TICKRATE_BLAST: how many)
	TICKRATE_BLAST=$${TICKRATE_BLAST:-100000000} $(GO) test -run '^TestBlast$$' -count 1 -timeout 30m -v ./netio/netcode

oracle: ## 10^8 rays and spheres against a float64 oracle (TICKRATE_ORACLE: how many)
	TICKRATE_ORACLE=$${TICKRATE_ORACLE:-100000000} $(GO) test -run '^TestOracle$$' -count 1 -timeout 30m -v ./lagcomp/internal/kernel

hours: ## ten virtual hours on a clean link, without a misprediction
	$(GO) test ./bench/lobbysim -run '^TestRow41HoursWithoutAMisprediction$$' -count 1 -timeout 60m -v -hours 10

# Seeds are drawn at random; the base that they are drawn from is printed. What breaks is made smaller and printed as the line
# that plays it again: add that to bench/dst/seeds/regressions.txt, and the hours to docs/experiments/simulated-lobby-hours.md.
DSTFOR ?= 10m
dst: build ## simulated lobbies with attackers and faults, of random seeds, for DSTFOR (10m)
	bin/tickrate sim dst --for $(DSTFOR)

mutation: ## test the simulator: each of the bugs in bench/dst/mutation is found within 200 seeds
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; trap 'exit 1' INT TERM; \
	overlay=$$($(GO) run ./bench/dst/mutation/overlay "$$dir"); \
	$(GO) test -overlay "$$overlay" -tags mutation -run '^TestMutations$$' -count 1 -timeout 60m -v ./bench/dst

exact: ## 10^6 shots held to their shooters' own views (TICKRATE_EXACT: how many)
	TICKRATE_EXACT=$${TICKRATE_EXACT:-1000000} $(GO) test -run '^TestRow47WhatYouSawIsWhatYouHit$$' -count 1 -timeout 60m -v ./bench/lobbysim

duels: ## 10,000 duels of honest shooters and of each kind of liar (TICKRATE_DUELS: how many)
	TICKRATE_DUELS=$${TICKRATE_DUELS:-10000} $(GO) test -run '^TestDuels$$' -count 1 -timeout 60m -v ./server

# The output of benchmarks is checked: nothing failed, and all units are ones that benchstat scales.
# bench-run runs them with flags, prints what they print, and leaves it in report/bench-go.txt.
BENCHALL = $(if $(filter .,$(BENCH)),$(if $(filter ./...,$(PKG)),-all))
define bench-run
	@mkdir -p report; rm -f report/bench.rc
	@{ $(GO) test -vet=off -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m $(1) $(PKG) 2>&1; echo $$? > report/bench.rc; } | \
		tee report/bench-go.txt; test "$$(cat report/bench.rc)" = 0
	$(GO) run ./bench/benchreport -check $(BENCHALL) -in report/bench-go.txt
endef

bench: BENCHTIME = 100ms
bench: ## all benchmarks (BENCH, PKG) of 100 ms (BENCHTIME), at most 12 minutes
	$(call bench-run,-benchtime $(BENCHTIME))

bench-once: ## each benchmark for one iteration, at most 3 minutes: none fails, all units are right
	$(call bench-run,-benchtime 1x)

# Rounds of all benchmarks of the page, so that both lines of a ratio meet the same disturbances. The
# first lines are file configuration in Go's benchmark format: the results carry their own machine and
# commit. Stages of the running server come from plans of the sizes in LIVE (scenario:size, as of --sizes).
LIVE ?= one-lobby:200 wide:200 mobile:100 duels:20
bench-report: BENCHTIME = 300ms
bench-report: build ## the benchmarks of BENCHMARKS.md COUNT (6) times for BENCHTIME (300 ms); at most 40 minutes
	@test -z "$$(git status --porcelain)" || { echo "bench-report: expected a tree without changes:" >&2; git status --short >&2; exit 1; }
	@mkdir -p report
	@{ echo "commit: $(VERSION)"; \
	   echo "date: $$(date -u +%Y-%m-%d)"; \
	   echo "go: $$($(GO) env GOVERSION)"; \
	   echo "kernel: $$(uname -sr)"; \
	   echo "cores: $$(getconf _NPROCESSORS_ONLN)"; \
	   echo "benchtime: $(BENCHTIME)"; \
	 } > report/bench-go.txt
	@set -e; for s in $(LIVE); do \
		echo "plan $$s"; rc=0; \
		bin/tickrate plan --scenario "$${s%%:*}" --sizes "$${s##*:}" --repeat $$(($(COUNT) - 1)) --out "report/$${s%%:*}" >/dev/null || rc=$$?; \
		[ $$rc = 0 ] || [ $$rc = 3 ] || exit $$rc; \
		grep -v '^BenchmarkPlan' "report/$${s%%:*}/bench.txt" >> report/bench-go.txt; \
	done
	@set -e; $(GO) build -o report/benchreport ./bench/benchreport; report/benchreport -list > report/bench-jobs.txt; \
	round=1; while [ $$round -le $(COUNT) ]; do \
		while read -r pkg names; do \
			echo "round $$round of $(COUNT): $$pkg"; \
			$(GO) test -vet=off -run '^$$' -bench "$$names" -benchmem -benchtime $(BENCHTIME) -timeout 10m "$$pkg" \
				>> report/bench-go.txt || { grep -n -e FAIL -e panic report/bench-go.txt; exit 1; }; \
		done < report/bench-jobs.txt; round=$$((round + 1)); \
	done
	@test "$$(git describe --tags --always --dirty)" = "$(VERSION)" || { echo "bench-report: the tree has changed meanwhile" >&2; exit 1; }
	report/benchreport -in report/bench-go.txt -out BENCHMARKS.md

# Two builds on one machine, a round of each at a time, so that both meet the same disturbances. Where the
# linker places functions changes a stage by up to 7 %, so each side is linked in LAYOUTS random orders, which
# take turns. With GATE_LIVE=200 a round has a server of 200 players on sockets, too, and takes half a minute.
LAYOUTS ?= 8
gate: ## compare with another commit (BASE, default HEAD): fails if something takes longer; about five minutes
	@set -e; base=$$(git rev-parse --verify '$(or $(BASE),HEAD)^{commit}'); dir=$$(mktemp -d); \
	trap 'git worktree remove --force "$$dir/base" >/dev/null 2>&1 || true; rm -rf "$$dir"' EXIT; trap 'exit 1' INT TERM; \
	git worktree add --quiet --detach "$$dir/base" "$$base"; \
	i=0; while [ $$i -lt $(LAYOUTS) ]; do \
		(cd "$$dir/base" && $(GO) build -trimpath -buildvcs=false -ldflags "-X main.version=$$base -randlayout=$$((2 * i + 1))" -o "$$dir/old$$i" ./cmd/tickrate); \
		$(GO) build -trimpath -buildvcs=false -ldflags "-X main.version=$(VERSION) -randlayout=$$((2 * i + 2))" -o "$$dir/new$$i" ./cmd/tickrate; \
		i=$$((i + 1)); \
	done; \
	i=0; while [ $$i -lt $(ROUNDS) ]; do \
		if [ $$((i % 2)) = 0 ]; then pair="old new"; else pair="new old"; fi; \
		for side in $$pair; do \
			"$$dir/$$side$$((i % $(LAYOUTS)))" bench record --out "$$dir/$$side.json" $(if $(GATE_LIVE),--live $(GATE_LIVE)) >/dev/null; \
		done; \
		i=$$((i + 1)); echo "round $$i of $(ROUNDS)"; \
	done; \
	"$$dir/new0" bench compare "$$dir/old.json" "$$dir/new.json"

predict-check: build ## predictions of DRAWS (10) scenarios of SEED (6), and of the built-in ones, beside live runs
	bin/tickrate plan check --seed $(or $(SEED),6) --count $(or $(DRAWS),10) --repeats 3 --prices examples/plan/prices.toml

gate-selftest: build ## prove the gate here: an equal pair passes, a slowdown on purpose (SLOW) does not
	bin/tickrate bench selftest --slow $(SLOW)

gen: ## generated files; leaves git clean if they were up to date
	$(GO) generate ./...

deadcode: ## functions that no command reaches are listed in deadcode.txt, each with its reason
	TICKRATE_DEADCODE=1 $(GO) test -run '^TestDeadcode$$' -count 1 .

kernels: ## only the assembly of lagcomp's kernels; gen does so too, and CI checks that it changes nothing
	$(GO) generate ./lagcomp/internal/kernel

lint: vet nofma ## gofmt, go vet, staticcheck (pinned), no fused multiply-add
	@bad=$$(gofmt -l .); \
	if [ -n "$$bad" ]; then echo "gofmt these:" >&2; echo "$$bad" >&2; exit 1; fi
	$(GO) run $(STATICCHECK) ./...
	cd e2e && $(GO) run $(STATICCHECK) ./...
	cd peers && $(GO) run $(STATICCHECK) ./...

# e2e is a module of its own, so that users of the library do not inherit a browser's driver; peers is one, too.
vet:
	$(GO) vet ./...
	$(GO) -C e2e vet ./...
	$(GO) -C peers vet ./...

# The simulation computes the same bits on every processor only if no compiler fuses a*b + c. amd64 never does on its
# own; arm64 does wherever the source lets it, across statements and inlined calls, so its code tells where that is.
NOFMA ?= ./ecs/geom ./ecs/tick ./lagcomp/... ./sim/...
nofma: ## no product is fused into a sum where prediction needs equal bits
	@out=$$(GOARCH=arm64 $(GO) build -trimpath=false -gcflags=-S $(NOFMA) 2>&1) || { GOARCH=arm64 $(GO) build $(NOFMA); exit 1; }; \
	bad=$$(printf '%s\n' "$$out" | awk '/\tFN?M(ADD|SUB)[SD]\t/ { sub(/^.*\(/, ""); sub(/\).*$$/, ""); print }' | \
		grep -F "$(CURDIR)/" | sort -u); \
	if [ -n "$$bad" ]; then echo "fused multiply-add: convert the product where it is made, float32(a*b)" >&2; echo "$$bad" >&2; exit 1; fi

# The five minutes of both modes in sim/testdata: with one, two and four workers, in batches and one by one, with assembly and
# without, and on arm64 where qemu-user runs it (apt-get install qemu-user-static).
SAME = -run 'Row42|Row56|Row75' -count 1 ./sim
same: arm64 ## the pinned matches of sim/testdata, whole, in every build
	TICKRATE_SAME=1 $(GO) test $(SAME)
	TICKRATE_SAME=1 $(GO) test -tags noasm $(SAME)

QEMU ?= $(shell command -v qemu-aarch64-static || command -v qemu-aarch64)
arm64: ## their first minute, and sweeps of lag compensation, on arm64 by qemu-user; skipped where there is none
	@if [ -z "$(QEMU)" ]; then echo "left out: no qemu-aarch64; apt-get install qemu-user-static"; else \
		export GOARCH=arm64 CGO_ENABLED=0; \
		$(GO) test -exec "$(QEMU)" -short -run 'Batch|Sweep' -count 1 ./lagcomp && \
		$(GO) test -exec "$(QEMU)" -short -run 'Row56MatchesArePinned|Walk|Trajectories|Row68' -count 1 ./sim ./sim/move ./sim/anim; fi

fleet: ## a whole fleet on this machine: directors, hosts, Agones' stand-in, the autoscaler, 200 players; some are killed
	TICKRATE_FLEET=1 $(GO) test ./cmd/tickrate -run '^TestWholeFleet$$' -count 1 -v -timeout 3m

clean: ## remove bin and report
	rm -rf bin report
