package platform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// A Pending is a file that the user has put on the platform for us.
type Pending struct {
	Type string // "" if the platform does not say
	Size int64
}

// PendingUpload writes the file into dst. A file of more than limit bytes is an error,
// and so is one that is cut off; what was written then is worth nothing. The request
// is repeated only while nothing has been written.
func (c *Client) PendingUpload(ctx context.Context, fileID string, dst io.Writer, limit int64) (Pending, error) {
	const op = "fetch an upload"
	var out Pending
	from := &source{}
	err := c.call(ctx, request{
		op: op, method: http.MethodGet, path: c.pending(fileID, "/content"),
		repeats: harmless, feature: featurePending, limit: uploadTimeout,
		raw: func(res *http.Response) error {
			if res.ContentLength > limit {
				return fmt.Errorf("%s: it has %d bytes, more than the %d that are taken", op, res.ContentLength, limit)
			}
			out.Type, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
			var err error
			from.Reader = res.Body
			out.Size, err = io.Copy(dst, io.LimitReader(from, limit+1))
			switch {
			case err != nil:
				return fmt.Errorf("%s: it is cut off after %d bytes: %w", op, out.Size, err)
			case out.Size > limit:
				return fmt.Errorf("%s: it has more than the %d bytes that are taken", op, limit)
			}
			return nil
		},
	})
	if err != nil && from.failed { // the next try may have all of it
		err = &transportError{op: op, cause: errors.Unwrap(err)}
	}
	return out, err
}

// A source remembers that reading from it has failed.
type source struct {
	io.Reader
	failed bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.failed = s.failed || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// AckUpload tells that the file has been fetched. That it is gone is as good.
func (c *Client) AckUpload(ctx context.Context, fileID string) error {
	err := c.call(ctx, request{
		op: "acknowledge an upload", method: http.MethodPost, path: c.pending(fileID, "/ack"),
		repeats: harmless, feature: featurePending,
	})
	if refused, ok := errors.AsType[*Error](err); ok && !refused.foreign && refused.Status == http.StatusNotFound {
		return nil
	}
	return err
}

func (c *Client) pending(fileID, what string) string {
	return c.own("/pending-uploads/" + url.PathEscape(fileID) + what)
}
