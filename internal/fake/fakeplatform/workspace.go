package fakeplatform

import (
	"cmp"
	"encoding/json"
	"maps"
	"time"
)

// Workspace says what a workspace is, when it is made.
type Workspace struct {
	ID     string // "" makes one up
	Name   string
	Role   string
	Parent string // the id of another, "" for a root
	Status string // "" is provisioning

	// URL is where the platform's provisioner has put it. It stands against what the
	// workspace registers. "" for those that run elsewhere.
	URL string

	// Poll makes it one that asks for its messages.
	Poll bool

	// NoToken makes it one that gets its first token by registering.
	NoToken bool

	// Token and InboundSecret are the first ones; "" makes them up.
	Token, InboundSecret string

	// Reply makes the double play the workspace: it is online, and answers the text
	// of each message.
	Reply func(text string) string

	Instructions string
	Secrets      map[string]string
	Shared       []SharedFile
	MaxTasks     int // at once; 0 is 1
}

// A SharedFile is one that children may read.
type SharedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// A workspace is what the platform knows of one. The platform's lock guards it.
type workspace struct {
	Workspace
	provisioned  string // where the platform has put it, or ""
	status       string
	url          string
	token        string
	secret       string
	card         json.RawMessage
	deliveryMode string
	paused       bool
	deleted      bool

	beats    []Beat
	notices  []Notice
	rows     []*row
	queue    []*queued
	tasks    []*delegation
	memories []memory
	pending  map[string]*upload
	acked    int64
	asks     []*Ask
	chats    []chat
	lines    []ChatLine
	plugins  []string
	mute     bool              // the workspace must not talk to its user
	repeats  int               // so many rows at the front of a page stand there twice
	late     []json.RawMessage // replies that came when their caller waited no more
	alive    map[*time.Timer]bool
}

func newWorkspace(w Workspace) *workspace {
	ws := &workspace{Workspace: w, status: w.Status, url: w.URL, provisioned: w.URL, pending: map[string]*upload{}, alive: map[*time.Timer]bool{}, deliveryMode: "push"}
	if ws.ID == "" {
		ws.ID = newID()
	}
	if ws.Name == "" {
		ws.Name = "workspace-" + ws.ID[:min(8, len(ws.ID))]
	}
	if w.Poll {
		ws.deliveryMode = "poll"
	}
	if !w.NoToken {
		ws.token = cmp.Or(w.Token, newToken())
	}
	ws.MaxTasks = max(1, w.MaxTasks)
	ws.Secrets = maps.Clone(w.Secrets)
	if ws.status == "" {
		ws.status = "provisioning"
	}
	if w.Reply != nil {
		ws.status, ws.card = "online", json.RawMessage(`{"name":`+quote(ws.Name)+`,"skills":[]}`)
	}
	return ws
}

// activeLocked is how many tasks the workspace says to have.
func (ws *workspace) activeLocked() int {
	if len(ws.beats) == 0 {
		return 0
	}
	return ws.beats[len(ws.beats)-1].ActiveTasks
}

// nativeSessionLocked reports whether the workspace says to take messages at any time.
func (ws *workspace) nativeSessionLocked() bool {
	if len(ws.beats) == 0 {
		return false
	}
	var metadata struct {
		Capabilities struct {
			Session bool `json:"session"`
		} `json:"capabilities"`
	}
	_ = json.Unmarshal(ws.beats[len(ws.beats)-1].Metadata, &metadata)
	return metadata.Capabilities.Session
}

// removeLocked ends the workspace and its tokens; its row stays.
func (ws *workspace) removeLocked() { ws.status, ws.deleted, ws.token = "removed", true, "" }
