package appserver

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// When the child is gone, what it wrote is read to the last byte, although
// somebody else still holds the pipe open.
func TestOutputEndsWithThePipe(t *testing.T) {
	o, w, err := outputPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()   // a grandchild, as it were
	defer o.f.Close() // only read from
	want := bytes.Repeat([]byte("x"), 60_000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := o.exited(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, err := io.ReadAll(o)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d of %d bytes, %v", len(got), len(want), err)
	}
	if took := time.Since(began); took > drainLimit {
		t.Errorf("reading took %v", took)
	}
}

func TestWaitingReaderIsWoken(t *testing.T) {
	o, w, err := outputPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()   // a grandchild, as it were
	defer o.f.Close() // only read from
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(o)
		ended <- err
	}()
	if err := o.exited(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the reader waits on")
	}
}
