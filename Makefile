# The verbs of Mercator's users and developers on top of CMake; `make help` lists them.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= 2
FUZZ_SECONDS ?= 600
# The tests that start threads, by name, for ThreadSanitizer.
THREADED_TESTS ?= thread|run|search|resume|property

configure = sh tools/configure.sh
compile = cmake --build
.PHONY: build run test test-web sanitize faults coverage bench fuzz install clean help

build: ## build the program (build/mercator) and the libraries
	@$(configure) "$(BUILD)" -DCMAKE_INSTALL_PREFIX="$(PREFIX)" || \
	    { sh tools/install-packages.sh --name run; exit 1; }
	@$(compile) "$(BUILD)" -j $(JOBS) --target product

run: ## install what is missing, build, and show what Mercator does
	@sh tools/install-packages.sh run
	@$(MAKE) --no-print-directory build
	@"$(BUILD)/mercator" demo

test: ## install what is missing, build, and run every test
	@sh tools/install-packages.sh test
	@$(configure) "$(BUILD)" -DMERCATOR_TESTS=ON -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	@$(compile) "$(BUILD)" -j $(JOBS)
	@sh tools/run-tests.sh "$(BUILD)" -j $(JOBS)

test-web: ## install chromium if missing and test the report page in it
	@sh tools/install-packages.sh run
	@sh tools/install-packages.sh web
	@$(MAKE) --no-print-directory build
	@sh tools/run-web-test.sh "$(BUILD)/mercator"

sanitize: ## run the tests under address, undefined-behaviour and thread sanitizers
	@sh tools/install-packages.sh test
	@$(configure) build-asan -DMERCATOR_TESTS=ON -DMERCATOR_SANITIZE=address,undefined
	@$(compile) build-asan -j $(JOBS)
	@sh tools/run-tests.sh build-asan -j $(JOBS)
	@$(configure) build-tsan -DMERCATOR_TESTS=ON -DMERCATOR_SANITIZE=thread
	@$(compile) build-tsan -j $(JOBS)
	@sh tools/run-tests.sh build-tsan -j $(JOBS) -R '$(THREADED_TESTS)'

faults: ## fail every allocation, open, write, fsync and rename of every verb, one after the other (about half an hour)
	@sh tools/install-packages.sh test
	@$(configure) "$(BUILD)" -DMERCATOR_TESTS=ON -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	@$(compile) "$(BUILD)" -j $(JOBS) --target mercator fault_shim
	@sh tools/run-faults.sh "$(BUILD)" $(JOBS)

coverage: ## run the tests and say which share of the lines and branches of src they run
	@sh tools/install-packages.sh coverage
	@sh tools/coverage.sh build-coverage $(JOBS)

bench: ## measure: one `name value unit` per line
	@sh tools/install-packages.sh run >&2
	@$(configure) "$(BUILD)" -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >&2
	@$(compile) "$(BUILD)" -j $(JOBS) --target bench >&2
	@for program in bench/bench_*.c; do \
	    [ -e "$$program" ] || continue; \
	    MERCATOR="$(BUILD)/mercator" "$(BUILD)/bench/$$(basename "$$program" .c)" || exit 1; \
	done

fuzz: ## fuzz every parser for FUZZ_SECONDS (600) of the processor, JOBS at once; findings go to tests/fuzz/corpus
	@sh tools/install-packages.sh fuzz
	@CC=clang $(configure) build-fuzz -DMERCATOR_FUZZ=ON
	@$(compile) build-fuzz -j $(JOBS) --target fuzzers
	@sh tools/run-fuzzers.sh build-fuzz "$(FUZZ_SECONDS)" $(JOBS)

install: build ## install under PREFIX (/usr/local); DESTDIR is respected
	@cmake --install "$(BUILD)"

clean: ## remove the build folders
	rm -rf "$(BUILD)" build-asan build-tsan build-fuzz build-coverage

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
