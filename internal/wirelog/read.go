package wirelog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Line is an entry with its place in the file, from 1.
type Line struct {
	Number int
	Entry
}

// What a file that is no record can be.
var (
	ErrEmpty   = errors.New("it is empty: nothing was recorded")
	ErrForeign = errors.New("it is no record of RUNTIME_DEBUG_WIRE: its first line does not say " + Format)
)

// A DamagedError is a line that cannot be read, with others behind it.
type DamagedError struct {
	Line int
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("line %d is damaged (%v): the record cannot be trusted behind it; cut the file there to play what comes before", e.Line, e.Err)
}

// Read reads a record to its end. A last line that was cut off, as by the end of the
// program that wrote it, is left out, and cut is its number; else cut is 0.
func Read(from io.Reader) (lines []Line, cut int, err error) {
	r := bufio.NewReaderSize(from, 1<<16)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			l := Line{Number: number}
			bad := json.Unmarshal(text, &l.Entry)
			if bad == nil {
				bad = l.check()
			}
			switch {
			case len(lines) == 0 && (bad != nil || !l.isRun()):
				return nil, 0, ErrForeign
			case len(lines) == 0:
				bad = l.readable()
				if bad != nil {
					return nil, 0, bad
				}
			case bad != nil && !whole:
				return lines, number, nil
			case bad != nil:
				return nil, 0, &DamagedError{number, bad}
			}
			lines = append(lines, l)
		}
		if !whole {
			break
		}
	}
	if len(lines) == 0 {
		return nil, 0, ErrEmpty
	}
	return lines, 0, nil
}

// check refuses what is no entry.
func (e *Entry) check() error {
	if e.Send == nil && e.Receive == nil && e.Noise == nil && e.Event == "" {
		return errors.New("it is no entry")
	}
	return nil
}

func (e *Entry) isRun() bool {
	var run Run
	return e.Event == EventRun && json.Unmarshal(e.Data, &run) == nil && run.Format == Format
}

func (e *Entry) readable() error {
	var run Run
	if err := json.Unmarshal(e.Data, &run); err != nil {
		return err
	}
	if run.Version > Version {
		return fmt.Errorf("it has version %d of the format, and this program reads %d: use that of the record, %s", run.Version, Version, run.Runtime)
	}
	return nil
}
