package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path/filepath"
	"strings"
)

// A File is what is uploaded. Open is called for each attempt, when its turn comes;
// what it returns is closed, and must hold Size bytes.
type File struct {
	Name string
	Type string // "" is found by the name
	Size int64
	Open func() (io.ReadCloser, error)
}

// Upload puts files where the user can have them, and returns what to name them by in
// [Client.Notify], in the same order. All of them, or none: an answer that does not
// name every file is an error. Newer platforms hand them on to our own
// /internal/chat/uploads/ingest while we wait here.
func (c *Client) Upload(ctx context.Context, files ...File) ([]Attachment, error) {
	if len(files) == 0 {
		return nil, nil
	}
	body, err := newMultipart(files)
	if err != nil {
		return nil, fmt.Errorf("upload files: %w", err)
	}
	var out struct {
		Files []Attachment `json:"files"`
	}
	err = c.call(ctx, request{
		op: "upload files", method: http.MethodPost, path: c.own("/chat/uploads"), upload: body,
		out: &out, limit: uploadTimeout,
	})
	if err != nil {
		return nil, err
	}
	if len(out.Files) != len(files) {
		return nil, fmt.Errorf("upload files: the platform took %d of %d", len(out.Files), len(files))
	}
	for i, file := range out.Files {
		if file.URI == "" {
			return nil, fmt.Errorf("upload files: the platform names no place for %q", files[i].Name)
		}
	}
	return out.Files, nil
}

// A multipartBody is a form with files, whose length is known and which is read from
// where the files are.
type multipartBody struct {
	boundary string
	heads    [][]byte // of each file, and the form's end
	files    []File
	size     int64
}

func newMultipart(files []File) (*multipartBody, error) {
	var buffer bytes.Buffer
	form := multipart.NewWriter(&buffer)
	m := &multipartBody{boundary: form.FormDataContentType(), files: files}
	next := func() {
		m.heads = append(m.heads, bytes.Clone(buffer.Bytes()))
		m.size += int64(buffer.Len())
		buffer.Reset()
	}
	for _, file := range files {
		if file.Size < 0 || file.Open == nil {
			return nil, fmt.Errorf("%q cannot be read", file.Name)
		}
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", multipart.FileContentDisposition("files", file.Name))
		header.Set("Content-Type", typeOf(file))
		if _, err := form.CreatePart(header); err != nil {
			return nil, err
		}
		next()
		m.size += file.Size
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	next()
	return m, nil
}

func typeOf(file File) string {
	if file.Type != "" && !strings.ContainsAny(file.Type, "\r\n") {
		return file.Type
	}
	if known := mime.TypeByExtension(filepath.Ext(file.Name)); known != "" {
		return known
	}
	return "application/octet-stream"
}

func (m *multipartBody) attach(req *http.Request) {
	req.Header.Set("Content-Type", m.boundary)
	req.ContentLength = m.size
	req.GetBody = func() (io.ReadCloser, error) { return m.open(), nil }
	req.Body = m.open()
}

func (m *multipartBody) open() io.ReadCloser {
	r := &formReader{}
	for i, head := range m.heads {
		r.parts = append(r.parts, bytes.NewReader(head))
		if i < len(m.files) {
			r.parts = append(r.parts, &fileReader{file: m.files[i]})
		}
	}
	return r
}

// A formReader reads its parts one after the other.
type formReader struct{ parts []io.Reader }

func (r *formReader) Read(p []byte) (int, error) {
	for len(r.parts) > 0 {
		n, err := r.parts[0].Read(p)
		if errors.Is(err, io.EOF) {
			r.parts = r.parts[1:]
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

func (r *formReader) Close() error {
	var errs []error
	for _, part := range r.parts {
		if file, ok := part.(*fileReader); ok {
			errs = append(errs, file.close())
		}
	}
	r.parts = nil
	return errors.Join(errs...)
}

// A fileReader opens its file when it is read, and closes it at its end.
type fileReader struct {
	file File
	open io.ReadCloser
	read int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.open == nil {
		var err error
		if r.open, err = r.file.Open(); err != nil {
			return 0, fmt.Errorf("open %q: %w", r.file.Name, err)
		}
	}
	n, err := r.open.Read(p)
	r.read += int64(n)
	switch {
	case r.read > r.file.Size, errors.Is(err, io.EOF) && r.read < r.file.Size:
		return 0, errors.Join(fmt.Errorf("%q changed while it was read", r.file.Name), r.close())
	case err != nil:
		return n, errors.Join(err, r.close())
	}
	return n, nil
}

func (r *fileReader) close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}
