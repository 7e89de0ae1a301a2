package adapter

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// An Identity is what the agent says of itself.
type Identity struct {
	Name        string // empty is "codex"
	Description string // empty is a sentence on what codex does
	Version     string // of the runtime; empty is "dev"
	Sandbox     string // read-only, workspace-write or danger-full-access
	SandboxNote string // why, in a few words
	Scripted    bool   // the built-in scripted model answers
	Codex       string // the version of codex that runs; empty while none does
	CodexNote   string // what is to be known of it
	Token       bool   // callers must show a bearer token
	Push        bool   // push notifications are made
	Files       bool   // files that replies name are handed out
	// Extensions are those of A2A that the server has.
	Extensions []a2a.AgentExtension
}

// Card returns the agent card of a runtime that callers reach under url. The
// interfaces of A2A 1.0 come first, because a client takes the first one it
// can; the one of 0.3 is what the union form of the card is made from.
func Card(id Identity, url string) *a2a.AgentCard {
	base := strings.TrimRight(url, "/")
	root := base + "/"
	card := &a2a.AgentCard{
		Name:        id.name(),
		Description: id.description(),
		Version:     cmp.Or(id.Version, "dev"),
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(root, a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(base, a2a.TransportProtocolHTTPJSON),
			{URL: root, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: id.Push, Extensions: id.Extensions},
		DefaultInputModes:  inputModes(),
		DefaultOutputModes: id.outputModes("text/plain", "application/json", "text/x-diff"),
		Skills:             id.skills(),
	}
	if id.Token {
		const scheme a2a.SecuritySchemeName = "bearer"
		card.SecuritySchemes = a2a.NamedSecuritySchemes{scheme: a2a.HTTPAuthSecurityScheme{
			Scheme: "Bearer", Description: "The token that the operator has set.",
		}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{scheme: {}}}
	}
	return card
}

func (id Identity) name() string {
	name := cmp.Or(id.Name, "codex")
	if id.Scripted {
		name += " (scripted model)"
	}
	return name
}

func (id Identity) description() string {
	text := cmp.Or(strings.TrimSpace(id.Description), "Codex: reads and writes code, runs commands and answers questions in a working directory of its own.")
	var more []string
	if id.Scripted {
		more = append(more, "Answers come from the built-in scripted model, which is not intelligent: no credential is configured.")
	}
	if id.Codex != "" {
		runs := "Runs codex " + id.Codex
		if id.CodexNote != "" {
			runs += " (" + id.CodexNote + ")"
		}
		more = append(more, runs+".")
	}
	if id.Sandbox != "" {
		where := "Sandbox: " + id.Sandbox
		if id.SandboxNote != "" {
			where += " (" + id.SandboxNote + ")"
		}
		more = append(more, where+".")
	}
	if last, _ := utf8.DecodeLastRuneInString(text); len(more) > 0 && !unicode.Is(unicode.Sentence_Terminal, last) {
		text += "."
	}
	return strings.Join(append([]string{text}, more...), " ")
}

// inputModes are the types that messages may bring: texts and data, pictures that the
// model sees as such, and any other file, which is put on the disk and named.
func inputModes() []string {
	return []string{"text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp", anyFile}
}

// anyFile stands for files of every type: RFC 2046 has it so for those that nothing more
// is known of.
const anyFile = "application/octet-stream"

// outputModes are those, and files, if they are handed out.
func (id Identity) outputModes(modes ...string) []string {
	if id.Files {
		modes = append(modes, "image/png", anyFile)
	}
	return modes
}

func (id Identity) skills() []a2a.AgentSkill {
	return []a2a.AgentSkill{
		{
			ID: "code", Name: "Write and change code",
			Description: "Implements, fixes, refactors and tests code in the working directory; the changes come back as a unified diff.",
			Tags:        []string{"code", "refactoring", "tests", "debugging"},
			OutputModes: id.outputModes("text/plain", "application/json", "text/x-diff"),
			Examples:    []string{"Fix the failing test in ./parser and explain the cause.", "Add a --json flag to the list command."},
		},
		{
			ID: "explain", Name: "Read and explain",
			Description: "Answers questions about a code base, reviews changes and plans work.",
			Tags:        []string{"code-review", "explanation", "planning"},
			OutputModes: []string{"text/plain", "application/json"},
			Examples:    []string{"How does a request get from the router to the database here?", "Review the last commit."},
		},
		{
			ID: "shell", Name: "Run commands",
			Description: "Runs commands in its sandbox, watches them and reports what they say.",
			Tags:        []string{"shell", "automation"},
			OutputModes: id.outputModes("text/plain", "application/json"),
			Examples:    []string{"Run the benchmarks and compare them with the results in bench.txt."},
		},
	}
}
