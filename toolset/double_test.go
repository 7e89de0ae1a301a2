package toolset_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// self is the workspace that the tools of these tests act for.
const self = "11111111-1111-4111-8111-111111111111"

// A double is a platform whose answers a test sets. What it is not told to do it
// does well.
type double struct {
	peers       []platform.Peer
	info        string
	send        func(ctx context.Context, target string, m platform.Message) (platform.Reply, error)
	delegate    func(platform.Task) (platform.Delegated, error)
	delegations func() []platform.Delegation
	broadcast   func() (int, error)
	rows        []platform.Row
	upload      func(files []platform.File) ([]platform.Attachment, error)
	refuse      error // by all that change something
	memories    []platform.Memory
	hidden      bool // memories of other scopes have pushed older ones off the page
	asked       platform.Asked

	mu   sync.Mutex // guards done and log
	done []any
	log  []platform.Event
}

func (d *double) did(what any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, what)
}

func (d *double) logged(e platform.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, e)
}

func (d *double) Peers(context.Context) ([]platform.Peer, error) { return d.peers, nil }

func (d *double) Workspace(context.Context) (platform.Info, error) {
	return platform.Info{Raw: json.RawMessage(d.info)}, nil
}

func (d *double) UpdateCard(_ context.Context, card any) error {
	d.did(card)
	return d.refuse
}

func (d *double) Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error) {
	d.did(m)
	return d.send(ctx, target, m)
}

func (d *double) Delegate(_ context.Context, task platform.Task) (platform.Delegated, error) {
	d.did(task)
	return d.delegate(task)
}

func (d *double) Delegations(context.Context) ([]platform.Delegation, error) {
	return d.delegations(), nil
}

func (d *double) Broadcast(_ context.Context, message string) (int, error) {
	d.did(message)
	return d.broadcast()
}

func (d *double) ActivityRows(_ context.Context, q platform.RowQuery) ([]platform.Row, error) {
	d.did(q)
	return slices.Clone(d.rows[max(0, len(d.rows)-q.Limit):]), nil
}

func (d *double) Upload(_ context.Context, files ...platform.File) ([]platform.Attachment, error) {
	if len(files) == 0 {
		return nil, nil
	}
	d.did(files)
	return d.upload(files)
}

// A notice is what the user was told.
type notice struct {
	Text  string
	Files []platform.Attachment
}

func (d *double) Notify(_ context.Context, message string, files ...platform.Attachment) error {
	d.did(notice{message, files})
	return d.refuse
}

func (d *double) CreateRequest(_ context.Context, ask platform.Ask) (platform.Asked, error) {
	d.did(ask)
	return cmp.Or(d.asked, platform.Asked{ID: "r1", Status: "pending"}), d.refuse
}

func (d *double) InstallPlugin(_ context.Context, source string) (platform.Installed, error) {
	d.did(source)
	return platform.Installed{Plugin: "p"}, d.refuse
}

func (d *double) CommitMemory(_ context.Context, m platform.Memory) (platform.Memory, error) {
	d.did(m)
	m.ID = "m1"
	return m, d.refuse
}

func (d *double) RecallMemory(_ context.Context, r platform.Recall) ([]platform.Memory, bool, error) {
	d.did(r)
	return d.memories, d.hidden, d.refuse
}

// disk has one file.
type disk struct{}

func (disk) Open(path string) (platform.File, error) {
	if path != "/workspace/report.pdf" {
		return platform.File{}, errors.New("there is no such file")
	}
	return platform.File{Name: path, Size: 1, Open: func() (io.ReadCloser, error) { return nil, nil }}, nil
}

// tools returns the tools over a double.
func tools(t *testing.T, d *double, change func(*toolset.Config)) *toolset.Set {
	t.Helper()
	cfg := toolset.Config{Platform: d, Workspace: self, Files: disk{}, Log: d.logged}
	if change != nil {
		change(&cfg)
	}
	return toolset.New(cfg)
}

// call calls a tool and returns what the model reads.
// call is a call of a tool, and its result without the numbers of the marks in it. Every
// mark must have one, the two of a text the same.
func call(t *testing.T, s *toolset.Set, name, arguments string) toolset.Result {
	t.Helper()
	result := s.Call(t.Context(), toolset.Call{Tool: name, Arguments: json.RawMessage(arguments)})
	marks := numbered.FindAllStringSubmatch(result.Text, -1)
	seen := map[string]bool{}
	for i := 0; i+1 < len(marks); i += 2 {
		if number := marks[i][2]; marks[i][1] != "" || marks[i+1][1] != "/" || marks[i+1][2] != number || seen[number] {
			t.Errorf("the marks %q and %q do not go together, or stand there twice", marks[i][0], marks[i+1][0])
		}
		seen[marks[i][2]] = true
	}
	if len(marks)%2 != 0 || strings.Count(result.Text, "A2A_RESULT_FROM_PEER") != len(marks) {
		t.Errorf("%d marks in %.200q", len(marks), result.Text)
	}
	result.Text = numbered.ReplaceAllString(result.Text, "[/ ${1}A2A_RESULT_FROM_PEER]")
	return result
}

var numbered = regexp.MustCompile(`\[/ (/?)A2A_RESULT_FROM_PEER ([0-9a-f]{16})\]`)
