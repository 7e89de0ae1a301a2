// Package bench measures what the runtime costs: the built program, on the real
// codex with a scripted model, or on a codex that does nothing where only the
// runtime is of interest. What is compared is interleaved in one run, so that a
// machine that slows down slows both sides down. Every benchmark checks that
// the text came back right. Run it with make bench; README.md has the methods,
// docs/benchmarks.md the numbers.
package bench
