// Package bench measures what the runtime costs over the bare app-server, both
// in one run, interleaved turn by turn, on the same scripted model and with the
// same overrides. Run it with make bench; README.md has the method.
package bench
