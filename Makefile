GO   ?= go
SEED ?= 1
FOR  ?= 1m
CASES ?= 8000

.DEFAULT_GOAL := help
.PHONY: help build check test race bench fuzz fuzz-native exhaustive orders same-traces releases release-differences upstream-tests upstream-mends mutations kill-matrix model-matrix race-to-bugs lint dist live fleet-test browser golden cover ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/preemptcheck
	$(GO) build -o bin/preemptcheck ./cmd/preemptcheck

check: ## check the corpus against model and scheduler
	$(GO) run ./cmd/preemptcheck check corpus/cases

test: ## run all tests
	$(GO) test ./...

race: ## run the tests of packages with goroutines under the race detector
	$(GO) test -race -short -skip '^(TestReadHugeInput|TestReadTooLarge|TestReuseNeverLeaks.*|Test.*RoundTrip)$$' ./reference/... ./corpus
	$(GO) test -race -run 'Interrupted|ProcessDies$$|CheckCorpus' ./cmd/preemptcheck/app ./cmd/preemptcheck/campaigns
	$(GO) test -race -run 'Nothing|Worker|Canary' ./internal/campaign
	$(GO) test -race ./internal/campaign/fleet ./internal/store
	$(GO) test -race -run 'WorkersWork|SearchLeaves|Interrupted' ./corpus/minimize

bench: ## measure the cost of a case
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## check generated clusters: make fuzz FOR=5m SEED=42
	$(GO) run ./cmd/preemptcheck fuzz --for $(FOR) --seed $(SEED)

fuzz-native: ## let go's own fuzzing vary clusters by what they reach in the scheduler: make fuzz-native FOR=5m
	$(GO) test -c -o bin/properties.test -gcflags=k8s.io/kubernetes/pkg/scheduler/...=-d=libfuzzer -gcflags=./model=-d=libfuzzer ./properties
	cd properties && ../bin/properties.test -test.run '^$$' -test.fuzz '^FuzzPreemption$$' -test.fuzztime $(FOR) -test.fuzzminimizetime 1x \
		-test.fuzzcachedir "$$($(GO) env GOCACHE)/fuzz/github.com/preemptcheck/preemptcheck/properties"

exhaustive: ## check every small cluster, each once up to symmetry; goes on where it was interrupted
	$(GO) run ./cmd/preemptcheck exhaustive --state exhaustive.json

orders: ## run all orders of events in small timelines, as long ones as 30 minutes suffice for
	$(GO) run ./internal/orders --for 30m

same-traces: ## run all timelines of the corpus, and some that are drawn, 1,000 times each: the same trace each time
	PREEMPTCHECK_TIMES=100 $(GO) test -count=1 -timeout 2h -v -run '^TestSameTrace$$' ./reference/life

releases: ## build the schedulers of all releases, and check the corpus with them, and each against its own dialect
	$(GO) run ./cmd/preemptcheck references --build all
	$(GO) run ./internal/dialects -twice -clusters 5000 v1.37.1
	$(GO) run ./cmd/preemptcheck check --reference all corpus/cases
	for release in v1.34.4 v1.35.4 v1.36.3 v1.37.0; do $(GO) run ./cmd/preemptcheck check --reference $$release corpus/timelines || exit 1; done
	$(GO) run ./internal/dialects all
	$(GO) run ./cmd/preemptcheck diff --from v1.36.3 --to v1.37.1 corpus/cases/group-goes-as-a-whole.yaml | grep 'pod groups count'

release-differences: ## write docs/release-differences.md: what each release decides differently; builds the schedulers of all
	$(GO) build -o bin/preemptcheck ./cmd/preemptcheck
	bin/preemptcheck references --build all
	bin/preemptcheck diff --from v1.13.0 --to v1.37.1 --each --cases $(CASES) --seed 1 -o markdown >bin/release-differences.md || test $$? = 1
	mv bin/release-differences.md docs/release-differences.md
	bin/preemptcheck diff --from v1.36.3 --to v1.37.1 --cases $(CASES) --seed 1 --feature-gates GenericWorkload=true --timelines 0 -o markdown >bin/release-differences-groups.md || test $$? = 1
	mv bin/release-differences-groups.md docs/release-differences-groups.md

upstream-tests: ## show that the tests of docs/findings fail in the scheduler's own packages
	$(GO) run ./internal/upstreamtests/run

upstream-mends: ## show that the changes of docs/findings/reports make these tests pass, and no other of their packages fail
	$(GO) run ./internal/upstreamtests/run -mends

mutations: ## plant bugs in the scheduler's preemption, one at a time, and show that a campaign finds each
	$(GO) run ./internal/upstreammutants

# Survivors make the exit status 1: that is what these are for. Of 2 the page stays as it is.
kill-matrix: ## plant small bugs in upstream by rule, and write docs/kill-matrix.md: a sample of SAMPLE, 300 if it is not said, takes an hour on 2 cores; SAMPLE=0 is all, a night
	$(GO) build -o bin/preemptcheck ./cmd/preemptcheck
	rm -rf bin/mutants && bin/preemptcheck mutate --sample $(or $(SAMPLE),300) --seed 24 --for 60s --out bin/mutants || [ $$? = 1 ]
	bin/preemptcheck mutate bin/mutants -o markdown >bin/kill-matrix.md || [ $$? = 1 ]
	mv bin/kill-matrix.md docs/kill-matrix.md

model-matrix: ## the same for the model, in docs/kill-matrix-of-the-model.md: all of them, by its tests alone, take half an hour on 2 cores; SAMPLE=120 BY=tests,corpus,campaign is a sample by all three
	$(GO) build -o bin/preemptcheck ./cmd/preemptcheck
	rm -rf bin/model-mutants && bin/preemptcheck mutate --model --columns $(or $(BY),tests) --sample $(or $(SAMPLE),0) --seed 8 --for 15s --out bin/model-mutants || [ $$? = 1 ]
	bin/preemptcheck mutate bin/model-mutants -o markdown >bin/kill-matrix-of-the-model.md || [ $$? = 1 ]
	mv bin/kill-matrix-of-the-model.md docs/kill-matrix-of-the-model.md

race-to-bugs: ## how fast a campaign kills a fixed sample of 200 mutants: median and CPU, to compare generators by
	$(GO) build -o bin/preemptcheck ./cmd/preemptcheck
	rm -rf bin/race && bin/preemptcheck mutate --sample 200 --seed 20 --columns campaign --out bin/race || [ $$? = 1 ]

lint: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

dist: ## build what is released into dist/, for all platforms: make dist VERSION=v1.2.3
	$(GO) run ./internal/dist $(if $(VERSION),-version $(VERSION)) $(if $(PLATFORMS),-platforms $(PLATFORMS))

live: ## run what reads a live cluster against a real etcd and kube-apiserver, 5,000 nodes and 50,000 pods included; builds both
	$(GO) test -count=1 -tags controlplane -timeout 30m -v -run 'LiveCluster|RoleIsWhatIsUsed|ControlPlane' ./cmd/preemptcheck/app

fleet-test: ## as root: run a real Kubernetes with two nodes and object storage on loopback, preempt there, and break parts of it under a fleet
	PREEMPTCHECK_SEED=$(SEED) $(GO) test -count=1 -tags realcluster -p 1 -timeout 3h -v $(if $(RUN),-run '$(RUN)') ./internal/realcluster ./internal/realcluster/realtest; \
	status=$$?; $(GO) run ./internal/realcluster/run -clean && exit $$status

browser: ## test the pages in a real Chromium (Debian's package chromium, or CHROMIUM=path); pictures go to PICTURES=folder
	mkdir -p bin/axe
	cd bin/axe && npm pack --silent axe-core@4.14.1 && tar xzf axe-core-4.14.1.tgz
	AXE=$(CURDIR)/bin/axe/package/axe.min.js $(GO) test -count=1 -timeout 30m -tags browser ./internal/page/browser

golden: ## write the golden files of the tests anew
	$(GO) test ./corpus ./corpus/share ./cmd/preemptcheck/app ./cmd/preemptcheck/campaigns ./properties/contract ./internal/campaign/record ./internal/findingsdoc ./internal/propertiesdoc ./properties/releasediff -update

cover: ## show the test coverage of each package
	$(GO) test -coverprofile cover.out -coverpkg ./... ./...
	$(GO) tool cover -func cover.out | tail -1

ci: ## run what the continuous integration runs
	.ci/run
	$(MAKE) race
