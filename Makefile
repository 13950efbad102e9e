.PHONY: help run test lint bench

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

run: ## research the sample supplier
	go run ./cmd/duediligence "Transports Kervalec"

test: ## run all tests with the race detector
	go test -race -shuffle=on ./...

lint: ## run the linters (needs golangci-lint v2.15.0 on the PATH)
	golangci-lint run ./...

bench: ## print what the guards cost, as ratios measured in one run
	go test -run '^$$' -bench . -benchmem ./callbacks ./guards .
