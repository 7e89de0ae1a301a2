package fakeplatform

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// An upload is a file that waits on the platform for its workspace.
type upload struct {
	name, kind string
	content    []byte
	acked      bool
}

// AddPending puts a file on the platform for the workspace, with the row that tells of
// it, and returns its id. Its URI is platform-pending:<workspace>/<id>.
func (h *Handle) AddPending(name, kind string, content []byte) (fileID string) {
	h.p.locked(func() { fileID = h.p.holdLocked(h.ws, name, kind, content) })
	return fileID
}

// holdLocked keeps a file for a workspace that fetches its files.
func (k *world) holdLocked(ws *workspace, name, kind string, content []byte) (fileID string) {
	fileID = newID()
	ws.pending[fileID] = &upload{name: name, kind: kind, content: content}
	k.logLocked(ws, row{
		Type: "a2a_receive", Method: "chat_upload_receive", Target: maybe(ws.ID), Status: "ok", Summary: "chat_upload_receive: " + name,
		RequestBody: []byte(`{"uri":"platform-pending:` + ws.ID + `/` + fileID + `","name":` + quote(name) + `,"mimeType":` + quote(kind) +
			`,"file_id":"` + fileID + `","size":` + strconv.Itoa(len(content)) + `}`),
	})
	return fileID
}

// PendingAcked reports whether the workspace has acknowledged the file.
func (h *Handle) PendingAcked(fileID string) bool {
	return look(h, func(w *workspace) bool { return w.pending[fileID] != nil && w.pending[fileID].acked })
}

// pendingFile is the file of the request, or nil if it is gone; that is answered.
func (p *Platform) pendingFile(w http.ResponseWriter, r *http.Request, ws *workspace) *upload {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := ws.pending[r.PathValue("file")]
	if file == nil || file.acked {
		refuse(w, http.StatusNotFound, "pending upload not found")
		return nil
	}
	return file
}

func (p *Platform) pendingContent(w http.ResponseWriter, r *http.Request, ws *workspace) {
	if file := p.pendingFile(w, r, ws); file != nil {
		w.Header().Set("Content-Type", file.kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(file.content)))
		_, _ = w.Write(file.content)
	}
}

func (p *Platform) pendingAck(w http.ResponseWriter, r *http.Request, ws *workspace) {
	if file := p.pendingFile(w, r, ws); file != nil {
		p.locked(func() {
			file.acked = true
			p.tell()
		})
		answer(w, http.StatusOK, object{"acked": true})
	}
}

// upload takes the user's files, or the workspace's own. The newer platform hands them
// to the workspace while the one who sent them waits, and keeps them for one that polls.
func (p *Platform) upload(w http.ResponseWriter, r *http.Request, ws *workspace) {
	most := int64(50 << 20)
	if p.era >= JUN {
		most = 100 << 20
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	p.mu.Lock()
	polls := p.era >= JUN && ws.deliveryMode == "poll"
	p.mu.Unlock()
	if p.era >= JUN && ws.Reply == nil && !polls {
		p.relay(w, r, ws)
		return
	}
	form, err := r.MultipartReader()
	if err != nil {
		refuse(w, http.StatusBadRequest, "multipart form expected")
		return
	}
	files := []object{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(part)
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || int64(len(content)) > most/2 {
			refuse(w, http.StatusRequestEntityTooLarge, "file too large")
			return
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, "invalid multipart form")
			return
		}
		file := stored(part, len(content))
		if polls {
			p.locked(func() {
				id := p.holdLocked(ws, part.FileName(), part.Header.Get("Content-Type"), content)
				file["uri"] = "platform-pending:" + ws.ID + "/" + id
			})
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		refuse(w, http.StatusBadRequest, "no files")
		return
	}
	answer(w, http.StatusOK, object{"files": files})
}

func stored(part *multipart.Part, size int) object {
	return object{
		"uri":  "workspace:/workspace/.molecule/chat-uploads/" + strings.ReplaceAll(newID(), "-", "") + "-" + part.FileName(),
		"name": part.FileName(), "mimeType": part.Header.Get("Content-Type"), "size": size,
	}
}

// relay streams the form to the workspace, and its answer back.
func (p *Platform) relay(w http.ResponseWriter, r *http.Request, ws *workspace) {
	p.mu.Lock()
	url, secret := ws.url, ws.secret
	p.mu.Unlock()
	if url == "" {
		refuse(w, http.StatusServiceUnavailable, "workspace has no URL")
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, strings.TrimRight(url, "/")+"/internal/chat/uploads/ingest", r.Body)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "workspace cannot be reached")
		return
	}
	req.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	req.Header.Set("Authorization", "Bearer "+secret)
	req.ContentLength = r.ContentLength
	p.through(w, req)
}

// UserUploads is the user's browser: the files go to the workspace.
func (h *Handle) UserUploads(contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(h.p.ctx, http.MethodPost, h.p.URL+"/workspaces/"+h.ID()+"/chat/uploads", body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+h.Token())
	return h.p.agent.Do(req)
}
