package appserver

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver/schema"
)

// A Protocol is what of a codex's protocol the runtime goes by.
type Protocol struct {
	Used    map[string]string // what each thing that is used may be, by a name such as "turn/start: input.text"
	Missing []Missing         // what is used and not there
}

// A Missing is one thing that a codex does not have.
type Missing struct {
	What   string // such as "turn/steer", or "turn/start: sandboxPolicy"
	Lesser string // what the runtime does less for it; empty where no turn can do without
}

// ReadProtocol reads the protocol of a codex from the folder of schemas that it has written of itself
// (`codex app-server generate-json-schema --experimental`).
func ReadProtocol(files fs.FS) (Protocol, error) {
	r := protocolReader{schema.Open(files), Protocol{Used: map[string]string{}}}
	err := errors.Join(
		r.messages("ClientRequest", promisedCalls()),
		r.messages("ServerNotification", promisedNotes()),
		r.messages("ServerRequest", promisedRequests()),
		r.words(),
	)
	return r.Protocol, err
}

type protocolReader struct {
	files *schema.Folder
	Protocol
}

// messages reads those of one kind.
func (r *protocolReader) messages(kind string, ours []promise) error {
	there, err := r.files.Methods(kind)
	if err != nil {
		return err
	}
	if len(there) == 0 || kind == "ClientRequest" && !slices.Contains(there, "initialize") { // each codex has that
		return fmt.Errorf("%s is in a form that is not known", kind)
	}
	for _, p := range ours {
		if !slices.Contains(there, p.method) {
			r.Missing = append(r.Missing, Missing{p.method, p.lesser})
			continue
		}
		r.Used[p.method] = ""
		if err := errors.Join(r.members(p.method, p.params, p.lesser), r.members("the answer to "+p.method, p.answer, p.lesser)); err != nil {
			return err
		}
	}
	return nil
}

// members reads what is used of one type.
func (r *protocolReader) members(of string, t typed, lesser string) error {
	if t.name == "" {
		return nil
	}
	there, err := r.files.Type(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		r.Missing = append(r.Missing, Missing{of, lesser})
		return nil
	}
	if err != nil {
		return err
	}
	found, missing := there.Uses(reflect.TypeOf(t.uses))
	for path, shape := range found {
		r.Used[of+": "+path] = shape
	}
	for _, path := range missing {
		r.Missing = append(r.Missing, Missing{of + ": " + path, lesser})
	}
	return nil
}

// words reads what values the strings may have that the runtime writes, or tells apart.
func (r *protocolReader) words() error {
	for _, w := range promisedWords() {
		there, err := r.files.Type(w.in)
		if err != nil {
			return err
		}
		values := there.Values(w.at...)
		for _, word := range w.ours {
			name := w.of + " " + word
			if !slices.Contains(values, word) {
				r.Missing = append(r.Missing, Missing{name, w.lesser})
				continue
			}
			r.Used[name] = ""
		}
	}
	return nil
}
