package leaktest

import (
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

func TestLeft(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	if err := left(0); err == nil || !strings.Contains(err.Error(), "TestLeft") {
		t.Errorf("of a goroutine that goes on: %v", err)
	}
	time.AfterFunc(time.Second, func() { close(end) }) // longer than goleak looks
	if err := left(patience); err != nil {
		t.Errorf("of one that ends late: %v", err)
	}
}
