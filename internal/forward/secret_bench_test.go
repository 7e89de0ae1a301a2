package forward

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkCover is what looking for the key costs: a delta has some 200 bytes.
func BenchmarkCover(b *testing.B) {
	delta := []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"word \"}\n\n")
	for name, c := range map[string]struct {
		key   string
		piece []byte
	}{
		"delta":          {"sk-proj-" + strings.Repeat("aB3_x", 32), delta},
		"delta/slashes":  {strings.Repeat("aB3/x+", 32), delta},
		"piece":          {"sk-proj-" + strings.Repeat("aB3_x", 32), bytes.Repeat(delta, 50)},
		"delta/endsAlik": {"sk-proj-" + strings.Repeat("aB3_x", 32), bytes.Repeat([]byte("aB3_x"), 30)},
	} {
		b.Run(name, func(b *testing.B) {
			s := newSecret(c.key)
			for b.Loop() {
				s.coverPiece(c.piece)
			}
		})
	}
}
