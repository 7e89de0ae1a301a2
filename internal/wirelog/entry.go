package wirelog

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// Format names the files of this package in their first line.
const Format = "molecule-codex-runtime/wire"

// OldSuffix ends the name of the file that a full one becomes.
const OldSuffix = ".1"

// Version is that of the format: it grows with what readers cannot skip.
const Version = 1

// The events of the record itself, and of the child. Those of the executor stand in jobs.go.
const (
	EventRun   = "run"   // Run: a program begins to record, or goes on in a new file
	EventChild = "child" // Child: codex was started
	EventEnd   = "end"   // it is gone: its status and why, as the driver says it
	EventLong  = "long"  // Lost: a line of codex was too long for us, or for the record
	EventLost  = "lost"  // Lost: entries that should stand here
	EventDone  = "done"  // the program has stopped in order
)

// A Run is the program that records.
type Run struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	Runtime   string `json:"runtime"`             // our version
	Codex     string `json:"codex"`               // the version that we are made for; the one that runs says so in its answer to initialize
	Continues bool   `json:"continues,omitempty"` // the beginning is in FILE.1, or was dropped
}

// A Child is a codex that was started.
type Child struct {
	Pid int `json:"pid"`
}

// A Lost is what is not in the record.
type Lost struct {
	Entries int   `json:"entries,omitempty"`
	Bytes   int64 `json:"bytes"`
}

// An Entry is a line of the file. One of Send, Receive, Noise and Event is set.
type Entry struct {
	Time    time.Time       `json:"time"`
	Send    json.RawMessage `json:"send"`    // what we said to codex
	Receive json.RawMessage `json:"receive"` // what codex said
	Noise   *string         `json:"noise"`   // what codex said, and is no JSON
	Event   string          `json:"event"`
	Data    json.RawMessage `json:"data"`
}

// appendEntry writes an entry: the value is JSON of one line.
func appendEntry(b []byte, at time.Time, name string, value []byte) []byte {
	b = append(b, `{"time":"`...)
	b = at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, `","`...)
	b = append(b, name...)
	b = append(b, `":`...)
	b = append(b, value...)
	return append(b, '}', '\n')
}

// appendEvent writes an event.
func appendEvent(b []byte, at time.Time, event string, data []byte) []byte {
	name, _ := json.Marshal(event) // a string always encodes
	if len(data) > 0 {
		name = append(append(name, `,"data":`...), data...)
	}
	return appendEntry(b, at, "event", name)
}

// quoted is a text as JSON, whatever bytes are in it.
func quoted(text string) []byte {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return encode(text)
}
