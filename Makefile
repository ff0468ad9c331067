# Everything there is to run. Needs Node 20 or later, npm and make; the repository brings its own Node 24.

NODE := node_modules/.bin/node
RUN := npm run --silent

.DEFAULT_GOAL := help

.PHONY: help
help: ## List what there is to run
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# npm writes the hidden lock file last: where it is the newer one, what is installed is what the lock file says.
.PHONY: install
install: ## Install the dependencies, when package-lock.json is newer than the last installation
	@if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then \
		echo 'Installing dependencies ...'; \
		npm ci --loglevel=error >/dev/null; \
	fi

.PHONY: start
start: install ## Run everything in one process; needs no server of yours
	@$(NODE) infra/embedded/main.ts

.PHONY: services
services: install ## Run the five apps as processes on your own PostgreSQL, RabbitMQ and Redis
	@$(NODE) infra/local/main.ts

.PHONY: migrate
migrate: install ## Make or bring up to date database, roles and schemas (DATABASE_URL)
	@$(NODE) infra/migrate/main.ts

.PHONY: admin
admin: install ## Manage workspaces, users and API keys: make admin ARGS="workspace create --slug acme --name Acme"
	@$(RUN) admin -- $(ARGS)

.PHONY: test
test: install ## Run all tests; ARGS="-t pattern" or ARGS=path for some
	@$(RUN) test -- $(ARGS)

.PHONY: check
check: install ## Run the static checks: types, lint, format, boundaries, generated files
	@$(RUN) check

.PHONY: generate
generate: install ## Write the files that are made from the sources: API descriptions, event documents
	@$(RUN) generate

.PHONY: reset
reset: install ## Remove the data of make start
	@$(NODE) infra/embedded/reset.ts

.PHONY: clean
clean: ## Remove what was installed and measured
	@rm -rf node_modules gateway/node_modules services/*/node_modules shared/*/node_modules infra/node_modules coverage
