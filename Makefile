# The commands of the repository. Needs Node 20 or later, npm and make; Node 24 is installed as a dependency.

NODE := node_modules/.bin/node
RUN := npm run --silent

# Compiled sources are kept between starts: a process starts faster, and does not load the compiler, which takes memory.
export NODE_COMPILE_CACHE ?= $(CURDIR)/node_modules/.cache/node

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install
install: ## Install all dependencies that are missing; make start installs those that it needs
	@node infra/installation/install.mjs

.PHONY: installed
installed:
	@node infra/installation/install.mjs run

# New objects get 24 MiB at most instead of 48, as in the images.
.PHONY: start
start: installed ## Run all apps in one process; needs no other servers
	@$(NODE) --max-semi-space-size=8 --import ./infra/embedded/tracing.ts infra/embedded/main.ts

.PHONY: receiver
receiver: installed ## Receive, check and print the webhooks of the sample workspace of a running make start
	@$(NODE) infra/demo/receiver/main.ts

.PHONY: services
services: installed ## Run each app as a process on your own PostgreSQL, RabbitMQ and Redis; REPLICAS=2: as two
	@$(NODE) infra/processes/main.ts

.PHONY: cluster
cluster: install ## Run two processes of each app on three servers of each engine, on this machine; needs root
	@$(NODE) infra/verification/cluster/main.ts

.PHONY: migrate
migrate: installed ## Create or update the database, roles and schemas (DATABASE_URL)
	@$(NODE) infra/migrate/main.ts

.PHONY: admin
admin: installed ## Manage workspaces, users and API keys: make admin ARGS="workspace create --slug acme --name Acme"
	@$(RUN) admin -- $(ARGS)

# Tests wait for timers and each other's processes: two processors are busy with these numbers of workers. Each needs up
# to 17 of the 100 connections that a new PostgreSQL allows.
.PHONY: test
test: install ## Run the tests of the first tier, or some with ARGS="-t pattern" or ARGS=path
	@TOCSIN_TEST_WORKERS=$${TOCSIN_TEST_WORKERS:-5} $(RUN) test -- $(ARGS) --ignoreProjects system attacks

.PHONY: test-system
test-system: install ## Run the tests of whole systems, the second tier, or some
	@TOCSIN_TEST_WORKERS=$${TOCSIN_TEST_WORKERS:-5} $(RUN) test -- $(ARGS) --selectProjects system

.PHONY: test-attacks
test-attacks: install ## Run the short attacks by themselves, the third tier
	@$(RUN) test -- --selectProjects attacks

.PHONY: bench
bench: install ## Measure Tocsin beside one bare process on the same tables (ARGS="--only get --rounds 3"; PEERS=1)
	@$(RUN) bench -- $(if $(PEERS),--peers) $(ARGS)

.PHONY: attacks
attacks: install ## Attack a running system, and show what other workspaces notice (ARGS="--only large-pages")
	@$(RUN) attacks -- $(ARGS)

.PHONY: soak
soak: install ## Break a running system for an hour, and check all that its clients saw (ARGS="--minutes 3 --seed 1")
	@$(RUN) soak -- $(ARGS)

.PHONY: compat
compat: install ## Run the last release and these sources together, each app in turn (ARGS="--against HEAD~1")
	@$(RUN) compat -- $(ARGS)

.PHONY: release-dry-run
release-dry-run: install ## Build all of a release that this machine can build, with a manifest (ARGS="--out DIR --no-image")
	@$(RUN) release:dry-run -- $(ARGS)

.PHONY: check
check: install ## Run the static checks: types, lint, format, boundaries, generated files
	@$(RUN) check

.PHONY: generate
generate: install ## Generate API descriptions and event documents from the sources
	@$(RUN) generate

.PHONY: backup
backup: installed ## Write the data of make start into a file, also while it runs: make backup FILE=tocsin.backup
	@$(NODE) infra/backup/backup.ts

.PHONY: restore
restore: installed ## Restore such a file for make start: make restore FILE=tocsin.backup; FORCE=1 keeps existing data aside
	@$(NODE) infra/backup/restore.ts

.PHONY: reset
reset: installed ## Remove the data of make start, after a question; FORCE=1 answers it
	@$(NODE) infra/embedded/reset.ts

.PHONY: clean
clean: ## Remove installed dependencies and coverage reports
	@rm -rf node_modules gateway/node_modules services/*/node_modules shared/*/node_modules infra/node_modules coverage
