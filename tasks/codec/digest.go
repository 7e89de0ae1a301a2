package codec

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// DigestOf digests what the parts say. Metadata and media types are left out:
// callers rewrite them when they send a message again, and another version of
// the protocol loses them.
func DigestOf(parts a2a.ContentParts) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		switch c := p.Content.(type) {
		case a2a.Text:
			field(h, "text", []byte(c))
		case a2a.Data:
			field(h, "data", Encode(c.Value))
		case a2a.Raw:
			field(h, "raw", c)
			field(h, "name", []byte(p.Filename))
		case a2a.URL:
			field(h, "url", []byte(c))
			field(h, "name", []byte(p.Filename))
		}
	}
	return [32]byte(h.Sum(nil))
}

func field(h hash.Hash, kind string, value []byte) {
	fmt.Fprintf(h, "%s %d ", kind, len(value))
	_, _ = h.Write(value) // a hash never fails
}
