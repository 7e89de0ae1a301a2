package wire

import (
	"strconv"
	"time"
)

// The headers that name the runtime that asks.
const (
	// HeaderRuntime has the id of a runtime: letters, digits and dashes, 64 at most. It lasts as long as its state.
	HeaderRuntime = "Machine-Runtime"
	// HeaderEpoch has the time since which the machine works for the runtime: that of the start of its process, or of the
	// last loss of the machine, in nanoseconds since 1970. What the runtime has running of an earlier epoch is ended
	// by the first request of a later one; a request of an earlier one is refused with [CodeSuperseded].
	HeaderEpoch = "Machine-Epoch"
	// HeaderHead has the commit that a place's branch stands at, with a bundle.
	HeaderHead = "Machine-Head"
	// HeaderLeft has what is not in the commit of a bundle, as [Left.Text] writes it; without it nothing was left out.
	HeaderLeft = "Machine-Left"
	// HeaderExec has the exec-server that a WebSocket leads to, as [ExecOf] has it: with another one what ran before is gone.
	HeaderExec = "Machine-Exec"
)

// ExecOf names an exec-server, of a life of a machine.
func ExecOf(life string, number int) string { return life + "/" + strconv.Itoa(number) }

// Beat is how often a watch has a line at least; Silence is after how long without one each side takes the other for gone:
// the runtime ends the turns that it has on the machine, and the machine ends what runs for the runtime.
const (
	Beat    = time.Second
	Silence = 4 * time.Second
)

// MostAhead is how far an epoch may be ahead of the machine's clock: with one of the distant future a runtime could not
// come back.
const MostAhead = 24 * time.Hour

// A Status is how a machine stands, as one runtime sees it.
type Status struct {
	Name   string            `json:"name"` // by which conversations are kept on it; unique among those of a runtime
	Life   string            `json:"life"` // of the process: another one has nothing of what ran before
	Exec   int               `json:"exec"` // of the exec-server that runs for the runtime: later ones have higher numbers, and with another number its commands are gone; 0 before the first
	Labels map[string]string `json:"labels,omitempty"`
	Files  []string          `json:"files"` // what places it has: [FilesShared], [FilesGit]
	Roots  []string          `json:"roots"` // below which its folders lie

	Runtime string `json:"runtime"` // the version of this program on it
	Codex   string `json:"codex"`   // the version of codex on it

	Turns    int  `json:"turns"`    // that may run on it at a time, of all runtimes
	Taken    int  `json:"taken"`    // that run
	Mine     int  `json:"mine"`     // those of the runtime that asks
	Runtimes int  `json:"runtimes"` // that the machine works for
	Draining bool `json:"draining"` // no new ones are taken

	CPUs     int     `json:"cpus"`
	Load     float64 `json:"load"`              // of the last minute, as the system has it; 0 where that is not known
	Memory   int64   `json:"memory"`            // in bytes; 0 where that is not known
	FreeDisk int64   `json:"freeDisk"`          // in bytes, below the first root
	Trouble  string  `json:"trouble,omitempty"` // why it takes no turns although it does not drain, and what to do
}

// What places a machine can have.
const (
	FilesShared = "shared" // a folder that all machines see, and the runtime
	FilesGit    = "git"    // a worktree of its own for each conversation
)

// Staged is the folder in a place of [FilesGit] for what messages bring. It is in no commit.
const Staged = ".attachments"

// A Turn says that a turn begins. Its name in the path is that of no turn before: both its begin and its end may be said
// more than once, and in any order.
type Turn struct {
	Place  string `json:"place"`
	Thread string `json:"thread"` // of codex, if it is known
}

// A Want asks for a place.
type Want struct {
	Files string `json:"files"`
	Dir   string `json:"dir,omitempty"` // of [FilesShared]: where the conversation works, as the runtime names it
	// Branch is that of the conversation, as bundles have it. Of [FilesGit].
	Branch string `json:"branch,omitempty"`
}

// A Place is a folder of a conversation.
type Place struct {
	Dir  string `json:"dir"`            // absolute, without symlinks
	Head string `json:"head,omitempty"` // of [FilesGit]: the commit that its branch stands at; empty if there is none yet
	// Has are commits that the machine's clone has, with which a bundle is smaller. Of [FilesGit].
	Has []string `json:"has,omitempty"`
}

// A File is one of a place that is read.
type File struct {
	Size int64         // in bytes; -1 if the machine does not say
	Age  time.Duration // for how long it has not been changed, by the machine's clock, to the second
}

// A Commit asks for what has changed in a place.
type Commit struct {
	Message string `json:"message"`
	Author  string `json:"author"` // "Name <address>"
	Since   string `json:"since"`  // the commit that the runtime has already
}

// Commands are commands that codex has started.
type Commands struct {
	Commands []Command `json:"commands"`
}

// A Command is a process, by what codex writes into its environment.
type Command struct {
	Pid       int    `json:"pid"`
	ThreadID  string `json:"thread"`
	SessionID string `json:"session"`
	CallID    string `json:"call"`
}

// A Drain says whether a machine drains.
type Drain struct {
	Draining bool `json:"draining"`
}

// A Refusal says why a request is refused, and what to do.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Epoch   int64  `json:"epoch,omitempty"` // with [CodeSuperseded]: the one that the machine knows
}

// The codes of refusals.
const (
	CodeToken      = "token"      // 401
	CodeFull       = "full"       // 409: as many turns run as may
	CodeDraining   = "draining"   // 409
	CodeSuperseded = "superseded" // 409: the runtime has said a later epoch
	CodeTrouble    = "trouble"    // 503: see [Status.Trouble]
	CodePath       = "path"       // 403: a path that leads out of the place
	CodeMissing    = "missing"    // 404
	CodeFiles      = "files"      // 400: a place that the machine does not have
	CodeInvalid    = "invalid"    // 400
	CodeTooLarge   = "large"      // 413
	CodeFailed     = "failed"     // 500
)
