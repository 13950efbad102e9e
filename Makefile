.PHONY: help run test core architecture soak lint bench mutate

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

run: ## research the sample supplier
	go run ./cmd/duediligence "Transports Kervalec"

test: ## run all tests with the race detector
	go test -race -shuffle=on ./...

core: ## print the size of Core and how long its tests take
	@go test -count=1 -v -run TestCoreStandsAlone ./internal/e2e | sed -n 's/.*\(core: .*\)/\1/p'
	@start=$$(date +%s); go test -count=1 ./callbacks/... ./redact >/dev/null && go test -count=1 -run 'CallBudget|Redact|Args|AllowTools|Journal|Stash' ./guards >/dev/null && echo "tests in $$(($$(date +%s) - start)) s"

architecture: ## print the figures of the architecture: exported names, places, tool kinds, files a flag touches, bytes kept
	@go test -count=1 -v -run 'Architecture|CoreStandsAlone' ./internal/e2e | sed -n 's/.*_test.go:[0-9]*: //p'

soak: ## try every fault at every position, 200,000 random programs, kill and resume 50 runs, serve for longer (many minutes)
	go test -count=1 -timeout 60m -v -run '^TestPrograms$$' ./guards -programs.n 200000 -programs.seed 0
	GARDEFOU_SOAK=50 go test -count=1 -timeout 60m -run 'ResumeAfterKill|Fault|Redis|Disk|TakesNothing|Twenty|Corruptions|Torn' -v ./cmd/duediligence ./pipeline/serve ./guards/journal | grep -E '^(---|ok|FAIL|panic)|live memory'

lint: ## run the linters (needs golangci-lint v2.15.0 on the PATH)
	golangci-lint run ./...

bench: ## print what the guards cost, as ratios measured in one run
	go test -run '^$$' -bench . -benchmem ./callbacks ./guards ./internal/e2e

mutate: ## change one thing at a time and list what no test notices (SAMPLE=0 for all)
	go run ./internal/mutate -sample $(or $(SAMPLE),100) -least 0.8 ./callbacks ./guards
