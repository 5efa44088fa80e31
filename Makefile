# The project's commands. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run test lint bench docs fmt

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

docs: ## write the documentation that is made of the code
	DOORWARD_WRITE_DOCS=1 cargo test --test it docs::

fmt: ## format the sources
	cargo fmt --all
