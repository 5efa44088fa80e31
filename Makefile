# The project's commands. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run test lint bench fmt

help: ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: ## build and start Doorward with a demo realm, on http://localhost:8080
	@.ci/prerequisites build
	cargo run --profile fast -- serve --dev

test: ## every test, on SQLite and on PostgreSQL, with a real browser
	@.ci/test

lint: ## formatting, clippy, licences and duplicate dependencies
	@.ci/lint

bench: ## requests/s, p50, p99 and CPU per request, embedded and on PostgreSQL, into k6/results/
	@.ci/bench

fmt: ## format the sources
	cargo fmt --all
