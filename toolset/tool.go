package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A tool is one of the set.
type tool struct {
	name, description string
	schema            json.RawMessage
	limit             time.Duration
	acts              string // the argument that names the workspace which acts; "" if the tool is none's
	handle            func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// The deadlines of calls. The client bounds its own requests; these are for all that a
// tool does.
const (
	short   = time.Minute
	upload  = 6 * time.Minute
	install = 6 * time.Minute
	lookUp  = 10 * time.Second // of a peer's name
)

// define makes a tool of a handler. The schema is read off the type of its arguments.
func define[A any](name, description string, limit time.Duration, handle func(context.Context, A) (string, error), change ...func(*jsonschema.Schema)) tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic("toolset: " + name + ": " + err.Error()) // the types are ours, and a test makes all of them
	}
	schema.AdditionalProperties = nil // models add fields, and nobody is helped by a refusal
	for _, f := range change {
		f(schema)
	}
	text, err := json.Marshal(schema)
	if err != nil {
		panic("toolset: " + name + ": " + err.Error())
	}
	acts := "source_workspace_id"
	switch {
	case unowned[name]:
		acts = ""
	case isTarget[A]():
		acts = "workspace_id"
	}
	return tool{name: name, description: description, schema: text, limit: limit, acts: acts, handle: func(ctx context.Context, raw json.RawMessage) (string, error) {
		var arguments A
		if len(raw) > 0 && string(raw) != "null" {
			if err := json.Unmarshal(raw, &arguments); err != nil {
				return "", fmt.Errorf("the arguments of %s do not have the shape of its schema: %w", name, err)
			}
		}
		return handle(ctx, arguments)
	}}
}

// oneOf says which values a text may have.
func oneOf(property string, values ...any) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Properties[property].Enum = values }
}

// Own names the workspace that a call is for, where one runtime serves several.
type own struct {
	Source string `json:"source_workspace_id,omitempty" jsonschema:"the id of the workspace that acts; leave it out"`
}

// unowned are the tools that are the same whichever workspace acts.
var unowned = map[string]bool{ //nolint:gochecknoglobals // a constant
	"get_runtime_identity": true, "wait_for_message": true, "inbox_peek": true, "inbox_pop": true, "reply_to_message": true,
}

// isTarget reports whether arguments have a [target] in them.
func isTarget[A any]() bool {
	_, has := reflect.TypeFor[A]().FieldByName("target")
	return has
}

// Target is own under the name that other tools have for it.
type target struct {
	Workspace string `json:"workspace_id,omitempty" jsonschema:"the id of the workspace that acts; leave it out"`
}

// ours refuses a call in the name of a workspace that is not ours.
func (s *Set) ours(id string) error {
	if id = strings.TrimSpace(id); id == "" || strings.EqualFold(id, s.cfg.Workspace) {
		return nil
	}
	return fmt.Errorf("this runtime acts for the workspace %s only; leave that argument out", s.cfg.Workspace)
}

// The actions that roles grant, by the platform's names.
const (
	actDelegate = "delegate"
	actApprove  = "approve"
	actRecall   = "memory.read"
	actRemember = "memory.write"
)

// granted refuses what no role of the workspace grants.
func (s *Set) granted(action string) error {
	if s.cfg.May(action) {
		return nil
	}
	return fmt.Errorf("RBAC: no role of this workspace grants %s (rbac in its config.yaml), so it is not done; do not try again, but tell the user if it is needed", action)
}
