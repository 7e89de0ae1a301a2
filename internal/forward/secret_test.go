package forward

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

// TestFormsOfAKey: an endpoint quotes what it got in what it has, and that quotes others.
func TestFormsOfAKey(t *testing.T) {
	for _, key := range []string{key, "sk-proj-" + strings.Repeat("Ab3_", 40), `a/b+c=<d>&"e"\f%g*h#i~j^k|l`, "Bearer twice-is-no-more-than-once"} {
		s := newSecret(key)
		bare := strings.TrimPrefix(key, "Bearer ")
		quoted, _ := json.Marshal("Bearer " + bare)
		inside, _ := json.Marshal(string(quoted))
		for form, text := range map[string]string{
			"bare": bare, "header": "Bearer " + bare + "\r\n", "JSON": string(quoted), "slashes": strings.ReplaceAll(string(quoted), "/", `\/`),
			"JSON in JSON": string(inside), "query": "?key=" + url.QueryEscape(bare), "path": "/" + url.PathEscape(bare) + "/",
			"lower digits": lowerEscapes(url.QueryEscape(bare)), "twice": bare + bare,
			"%q": fmt.Sprintf("%q", bare),
		} {
			if form == "JSON in JSON" && strings.ContainsAny(bare, `"\<&`) {
				continue // two layers of escapes are no form of ours
			}
			got := s.text("…" + text + "…")
			if strings.Contains(got, bare[3:len(bare)-3]) || strings.Count(got, string(s.sign)) < len(bare) || len(got) != len("…"+text+"…") {
				t.Errorf("%s of %s: %s", form, key, got)
			}
		}
		for before := range 4 {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := encoding.EncodeToString([]byte(strings.Repeat("u", before) + bare + ":p"))
				got := s.text(text)
				if strings.Count(got, string(s.sign)) < len(bare)*4/3-4 {
					t.Errorf("base64 of %s behind %d: %s", key, before, got)
				}
			}
		}
	}
}

// TestWordsAreNoKeys: what is no key stays, and what is too short for one.
func TestWordsAreNoKeys(t *testing.T) {
	for _, short := range []string{"", "x", "none", "Bearer x"} {
		if s := newSecret(short); len(s.forms) > 0 || s.text("none x") != "none x" {
			t.Errorf("%q: %q", short, s.forms)
		}
	}
	if newSecret("sk-no-key-required").telling || !newSecret(strings.Repeat("k", 20)).telling {
		t.Error("which keys a model may say")
	}
	s := newSecret(key)
	for _, text := range []string{"", key[1:], key[:len(key)-1], strings.ToUpper(key), "sk-", base64.StdEncoding.EncodeToString([]byte("another text"))} {
		if got := s.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A split is an answer that comes in pieces that others have chosen.
type split struct {
	text []byte
	cuts []byte
}

func (s *split) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := len(s.text)
	if len(s.cuts) > 0 {
		n, s.cuts = min(int(s.cuts[0])%64, n), s.cuts[1:]
	}
	n = copy(p, s.text[:n])
	s.text = s.text[n:]
	return n, nil
}

func FuzzCover(f *testing.F) {
	f.Add(key, []byte("data: Bearer "+key+"\n\n"), []byte{7, 9, 1, 0, 1, 1}, uint16(3))
	f.Add("aXaXaXaXaX", []byte("aXaXaXaXaXaXaXaXaX aXaX"), []byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, uint16(0))
	f.Add(`a/b+c=<d>&"*#~^`, []byte(`{"m":"a\/b+c=<d>&\"*#~^ a%2Fb%2bc"}`), []byte{9, 9, 9}, uint16(9))
	f.Add("short", []byte("short and other words"), []byte{2}, uint16(2))
	f.Add("abcabcabcabc", []byte("YWJjYWJjYWJjYWJj abcabcabcab"), []byte{3, 3, 3, 3, 3, 3}, uint16(4))
	f.Fuzz(func(t *testing.T, key string, text, cuts []byte, at uint16) {
		s := newSecret(key)
		if s.within[s.sign] || s.longest > 1<<10 || len(text) > 16<<10 {
			t.Skip("every sign stands in the key, or they are long for nothing")
		}
		// The key is put somewhere, for it seldom comes by itself.
		where := min(int(at), len(text))
		if len(s.forms) > 0 {
			text = bytes.Join([][]byte{text[:where], s.forms[int(at)%len(s.forms)], text[where:]}, nil)
		}
		got, err := io.ReadAll(s.body(io.NopCloser(&split{bytes.Clone(text), cuts}), func() {}))
		if err != nil || len(got) != len(text) {
			t.Fatalf("%d of %d bytes, %v", len(got), len(text), err)
		}
		quoted := make([]bool, len(text)) // what stands in a form
		for _, form := range s.forms {
			if bytes.Contains(got, form) {
				t.Fatalf("there is %q in %q", form, got)
			}
			for i := range text {
				if bytes.HasPrefix(text[i:], form) {
					for j := range form {
						quoted[i+j] = true
					}
				}
			}
		}
		for i := range text {
			if got[i] != text[i] && (got[i] != s.sign || !quoted[i]) {
				t.Fatalf("at %d of %q stands %q", i, text, got)
			}
		}
	})
}

// TestPiecesThatWait: a piece goes on but for an end that may begin the key, and that
// goes on when it did not, also where the answer breaks off.
func TestPiecesThatWait(t *testing.T) {
	s := newSecret(key)
	pieces, send := io.Pipe()
	body := s.body(pieces, func() {})
	next := func() string {
		p := make([]byte, 100)
		n, err := body.Read(p)
		return fmt.Sprintf("%s %v", p[:n], err)
	}
	for _, c := range []struct{ piece, want string }{
		{"data: 1\n\n", "data: 1\n\n <nil>"}, {"a sk-", "a  <nil>"}, {"xyz\n", "sk-xyz\n <nil>"},
		{"b " + key[:9], "b  <nil>"}, {key[9:] + " c\n", strings.Repeat("*", len(key)) + " c\n <nil>"},
		{"d " + key[:3], "d  <nil>"},
	} {
		go func() { _, _ = io.WriteString(send, c.piece) }()
		if got := next(); got != c.want {
			t.Errorf("behind %q comes %q, want %q", c.piece, got, c.want)
		}
	}
	_ = send.CloseWithError(io.ErrUnexpectedEOF)
	if got := next(); got != key[:3]+" <nil>" {
		t.Errorf("what has waited: %q", got)
	}
	if got := next(); got != " unexpected EOF" {
		t.Errorf("then: %q", got)
	}
}

// TestLongAnswers has pieces of each size read into buffers of each size.
func TestLongAnswers(t *testing.T) {
	s := newSecret(key)
	text := strings.Repeat("words "+key+" and "+key[:7]+"\n", 2000)
	want := strings.ReplaceAll(text, key, strings.Repeat("*", len(key)))
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
		"halves": iotest.HalfReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if got, err := io.ReadAll(iotest.OneByteReader(s.body(io.NopCloser(from), func() {}))); string(got) != want || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
