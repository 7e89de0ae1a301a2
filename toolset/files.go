package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Files opens files of the workspace that a message to the user names. It decides
// which of them the user may have.
type Files interface {
	Open(path string) (platform.File, error)
}

// An attachment is a path, or an object that names a file.
type attachment struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Size     int64  `json:"size"`
	Path     string `json:"path"`
	FilePath string `json:"file_path"`
}

// UnmarshalJSON takes both forms.
func (a *attachment) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &a.Path) == nil {
		return nil
	}
	type object attachment
	if err := json.Unmarshal(text, (*object)(a)); err != nil {
		return errors.New("an attachment is a path, or an object with a path or a uri")
	}
	return nil
}

// attachmentForms says both forms in the schema.
func attachmentForms(s *jsonschema.Schema) {
	text := &jsonschema.Schema{Type: "string"}
	s.Properties["attachments"].Types, s.Properties["attachments"].Type = nil, "array"
	s.Properties["attachments"].Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Description: "a path of this workspace"},
		{Type: "object", Properties: map[string]*jsonschema.Schema{
			"path": text, "file_path": text, "uri": text, "name": text, "mimeType": text, "size": {Type: "integer"},
		}},
	}}
}

// mostAttachments bounds the files of one message.
const mostAttachments = 20

// attach uploads what is here, and returns what to name all of it by, in order.
func (s *Set) attach(ctx context.Context, wanted []attachment) ([]platform.Attachment, error) {
	if len(wanted) > mostAttachments {
		return nil, fmt.Errorf("a message takes at most %d attachments", mostAttachments)
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out := make([]platform.Attachment, len(wanted))
	var files []platform.File
	var places []int // of the files, in out
	for i, a := range wanted {
		local := a.local()
		if local == "" {
			if a.URI == "" {
				return nil, fmt.Errorf("attachment %d names no file", i+1)
			}
			if !handsOut(a.URI) {
				return nil, fmt.Errorf("attachment %d: a uri is one of the platform's (workspace:, platform-pending:) or a web address (https:, http:); give a file of the workspace by its path", i+1)
			}
			out[i] = platform.Attachment{URI: a.URI, Name: a.name(a.URI), MimeType: a.MimeType, Size: a.Size}
			continue
		}
		if s.cfg.Files == nil {
			return nil, errors.New("this runtime has no files to attach")
		}
		file, err := s.cfg.Files.Open(local)
		if err != nil {
			return nil, fmt.Errorf("attachment %q: %w", local, err)
		}
		file.Name = a.name(local)
		if a.MimeType != "" {
			file.Type = a.MimeType
		}
		files, places = append(files, file), append(places, i)
	}
	uploaded, err := s.cfg.Platform.Upload(ctx, files...)
	if err != nil {
		return nil, err
	}
	if len(uploaded) != len(files) {
		return nil, fmt.Errorf("the platform took %d of %d files", len(uploaded), len(files))
	}
	for i, at := range places {
		out[at] = uploaded[i]
	}
	return out, nil
}

// local is the path of a file that is to be uploaded; "" if the platform has it.
func (a attachment) local() string {
	for _, p := range []string{a.Path, a.FilePath} {
		if p = strings.TrimSpace(p); p != "" && !strings.Contains(p, "://") && !strings.HasPrefix(p, "workspace:") {
			return p
		} else if p != "" {
			return fromURI(p)
		}
	}
	return fromURI(a.URI)
}

// fromURI is the path that a URI of a file of ours means. What stands elsewhere is
// not ours to upload.
func fromURI(uri string) string {
	if p, ok := strings.CutPrefix(uri, "file://"); ok {
		return p
	}
	if p, ok := strings.CutPrefix(uri, "workspace:"); ok && !strings.Contains(p, "/.molecule/chat-uploads/") {
		return p
	}
	if strings.HasPrefix(uri, "/") {
		return uri
	}
	return ""
}

// handsOut reports whether the user may be shown a URI: the page that shows it makes
// a link of it, and what a link of another scheme does there is not known.
func handsOut(uri string) bool {
	scheme, _, named := strings.Cut(uri, ":")
	return named && slices.ContainsFunc([]string{"workspace", "platform-pending", "https", "http"}, func(one string) bool { return strings.EqualFold(one, scheme) })
}

func (a attachment) name(of string) string {
	if name := path.Base(strings.ReplaceAll(strings.TrimSpace(a.Name), "\\", "/")); a.Name != "" && name != "." && name != "/" {
		return name
	}
	return path.Base(of)
}
