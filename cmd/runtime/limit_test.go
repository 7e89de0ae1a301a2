package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Setenv("GOMEMLIMIT", "off")
	if limitMemory(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("a limit although GOMEMLIMIT says that there is none")
	}
	t.Setenv("GOMEMLIMIT", "")
	if limitMemory(); debug.SetMemoryLimit(-1) > 256<<20 {
		t.Error("no limit")
	}
}
