package fakeplatform

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
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
	asks     []Ask
	plugins  []string
	mute     bool              // the workspace must not talk to its user
	repeats  int               // so many rows at the front of a page stand there twice
	late     []json.RawMessage // replies that came when nobody waited any more
	alive    map[*time.Timer]bool
}

// A Handle is how a test sees and changes a workspace.
type Handle struct {
	p  *Platform
	ws *workspace
}

// Add makes a workspace.
func (p *Platform) Add(w Workspace) *Handle {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := newWorkspace(w)
	if p.era >= JUN {
		ws.secret = cmp.Or(w.InboundSecret, newToken())
	}
	p.keep(ws)
	return &Handle{p, ws}
}

// keep has the platform know the workspace. The lock is held.
func (p *Platform) keep(ws *workspace) {
	if p.workspaces[ws.ID] == nil {
		p.workspaces[ws.ID] = ws
		p.order = append(p.order, ws.ID)
	}
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

func quote(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// find returns a workspace that is not removed, or nil. The lock is held.
func (p *Platform) find(id string) *workspace {
	if ws := p.workspaces[id]; ws != nil && !ws.deleted {
		return ws
	}
	return nil
}

// mayTalk is the platform's rule: siblings, parents and children, and, in the older
// one, all that stand above and below. The lock is held.
func (p *Platform) mayTalk(a, b *workspace) bool {
	switch {
	case a == b, a.Parent == b.Parent, a.Parent == b.ID, b.Parent == a.ID:
		return true
	}
	return p.era == APR && (p.above(a, b) || p.above(b, a))
}

func (p *Platform) above(a, b *workspace) bool {
	for range len(p.workspaces) {
		if b = p.workspaces[b.Parent]; b == nil {
			return false
		}
		if b == a {
			return true
		}
	}
	return false
}

// authorized returns the workspace if the request has its token; else it is refused.
func (p *Platform) authorized(w http.ResponseWriter, r *http.Request, id string) *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.workspaces[id]
	switch bearer := bearerOf(r); {
	case bearer == "":
		refuse(w, http.StatusUnauthorized, "missing workspace auth token")
	case ws == nil || ws.token == "" || bearer != ws.token:
		refuse(w, http.StatusUnauthorized, "invalid workspace auth token")
	default:
		return ws
	}
	return nil
}
