package hostile

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A frame is a request as it stands on the wire. TOKEN is the header line of a caller who
// may, ADDR the program's address, and INNER a whole request of one who may not, which has
// a message with the mark in it.
type frame struct{ name, text string }

// opening begins a request of a caller who may.
const opening = "POST / HTTP/1.1\r\nHost: ADDR\r\nTOKEN\r\nContent-Type: application/json\r\n"

// frames are requests that a proxy and we might cut into pieces at different places, and
// some that nothing should take.
func frames() []frame {
	rows := []frame{
		{"both lengths", opening + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nINNER"},
		{"both lengths, the other first", opening + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nINNER"},
		{"a body of GET", "GET /healthz HTTP/1.1\r\nHost: ADDR\r\nContent-Length: LENGTH\r\n\r\nINNER"},
		{"an undeclared body", "GET /healthz HTTP/1.1\r\nHost: ADDR\r\n\r\nINNER"},
		{"a length of nothing", opening + "Content-Length: 0\r\n\r\nINNER"},
		{"a token in the trailer", "POST / HTTP/1.1\r\nHost: ADDR\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\nCHUNKTOKEN\r\n\r\n"},
		{"a token of the one before", "GET /tasks HTTP/1.1\r\nHost: ADDR\r\nTOKEN\r\n\r\nINNER"},
		{"an upgrade", "GET / HTTP/1.1\r\nHost: ADDR\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\nINNER"},
		{"a WebSocket", "GET / HTTP/1.1\r\nHost: ADDR\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\nINNER"},
		{"a tunnel", "CONNECT ADDR HTTP/1.1\r\nHost: ADDR\r\n\r\nINNER"},
		{"a tunnel to a path", "CONNECT / HTTP/1.1\r\nHost: ADDR\r\n\r\nINNER"},
		{"the asterisk", "OPTIONS * HTTP/1.1\r\nHost: ADDR\r\n\r\nINNER"},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nINNER"},
		{"HTTP/0.9", "GET /tasks\r\nINNER"},
		{"an expectation", opening + "Expect: 200-ok\r\nContent-Length: LENGTH\r\n\r\nINNER"},
		{"ten thousand headers", opening + strings.Repeat("A: b\r\n", 10_000) + "\r\nINNER"},
		{"a header of 70 KiB", opening + "X-Long: " + strings.Repeat("x", 70<<10) + "\r\n\r\nINNER"},
		{"a path of 70 KiB", "GET /" + strings.Repeat("x", 70<<10) + " HTTP/1.1\r\nHost: ADDR\r\n\r\nINNER"},
		{"noise", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03INNER"},
		{"nothing but lines", "\r\n\r\n\r\n\r\nINNER"},
	}
	for _, length := range []string{"-1", "+4", "0x4", "4, 5", "4\r\nContent-Length: 5", "99999999999999999999", "4 4", "4;", "", "４"} {
		rows = append(rows, frame{"length " + length, opening + "Content-Length: " + length + "\r\n\r\nnullINNER"})
	}
	for _, coding := range []string{"xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked\r\nTransfer-Encoding: identity", "\x0bchunked", "chunked;q=1", "\"chunked\"", "cow"} {
		rows = append(rows, frame{"coding " + coding, opening + "Transfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\nINNER"})
	}
	for _, chunk := range []string{"-1\r\n", "FFFFFFFFFFFFFFFFF\r\n", "8000000000000000\r\n", "0x4\r\nnull\r\n0\r\n\r\n", "4\nnull\n0\n\n", "4 \r\nnullX\r\n", "4\r\nnullnull\r\n", "4;" + strings.Repeat("x", 20<<10) + "\r\nnull\r\n0\r\n\r\n", "\r\n\r\n", "zz\r\n"} {
		rows = append(rows, frame{fmt.Sprintf("chunk %.20q", chunk), opening + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "INNER"})
	}
	for name, line := range map[string]string{
		"a space before the colon": "Content-Length : 4", "no colon": "Content-Length 4", "no name": ": 4", "NUL": "X: a\x00b", "a bare CR": "X: a\rTransfer-Encoding: chunked",
		"a bare LF": "X: a\nTransfer-Encoding: chunked", "a folded line": "X: a\r\n Transfer-Encoding: chunked", "a name that is none": "Content Length: 4", "a tab in front": "\tX: a",
	} {
		rows = append(rows, frame{name, opening + line + "\r\n\r\n0\r\n\r\nINNER"})
	}
	for _, version := range []string{"HTTP/1.2", "HTTP/9.9", "HTTP/3", "http/1.1", "HTTP/1.1x", "HTTP/01.1", "FTP/1.1"} {
		rows = append(rows, frame{"version " + version, strings.Replace(opening, "HTTP/1.1", version, 1) + "Content-Length: 4\r\n\r\nnullINNER"})
	}
	return rows
}

// frame sends each of the frames and looks whether its inner request was carried out.
func (x *world) frames(t *testing.T) {
	atOnce(frames(), func(row frame) {
		mark := x.mark()
		message := strings.ReplaceAll(callV1, "MARK", mark)
		inner := "POST / HTTP/1.1\r\nHost: " + x.addr() + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + fmt.Sprint(len(message)) + "\r\n\r\n" + message
		text := strings.NewReplacer("ADDR", x.addr(), "TOKEN\r\n", "Authorization: Bearer "+theToken+"\r\n", "LENGTH", fmt.Sprint(len(inner)), "INNER", inner,
			"CHUNK", fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(message), message)).Replace(row.text)
		for _, got := range x.exchange(t, row.name, text) {
			serving(t, row.name, got)
			clean(t, row.name, got, theWords) // the outer request's may be GET /tasks of who may
			if got.status < 300 && strings.Contains(got.body, mark) {
				t.Errorf("%s: the inner request was carried out: %s", row.name, got)
			}
		}
	})
	x.unharmed(t)
}

// exchange sends text, says that no more comes, and reads all answers.
func (x *world) exchange(t *testing.T, what, text string) (answers []answer) {
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(t.Context(), "tcp", x.addr())
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err == nil {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	for from := bufio.NewReader(conn); len(answers) < 9; {
		got := read(from, false, "")
		if got.status == 0 {
			return answers // the connection has ended
		}
		answers = append(answers, got)
	}
	return answers
}

// stalls opens connections that begin a request and do not go on.
func (x *world) stalls(t *testing.T) {
	begun := strings.NewReplacer("ADDR", x.addr(), "TOKEN\r\n", "").Replace(opening)
	for i := range 200 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", x.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		text := []string{"", "P", begun, begun + "Content-Length: 1000000\r\n\r\n{", begun + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"}[i%5]
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	x.unharmed(t)
}

// bodies are messages that a parser may stumble over: what is sent with the right token,
// and is refused.
func bodies() []frame {
	with := func(metadata string) string {
		return strings.Replace(callV1, `"parts"`, `"metadata":`+metadata+`,"parts"`, 1)
	}
	return []frame{
		{"nothing", " "}, {"no object", `"MARK"`}, {"a batch", "[" + callV1 + "," + callV1 + "]"}, {"two", callV1 + callV1}, {"cut", callV1[:len(callV1)-3]},
		{"a mark of order", "\ufeff" + callV1}, {"UTF-16", "\xff\xfe{\x00}\x00"}, {"no UTF-8", strings.Replace(callV1, "say MARK", "say MARK \xff\xc0\xaf", 1)},
		{"half a pair", strings.Replace(callV1, "say MARK", "say MARK \xed\xa0\x80", 1)},
		{"the method twice", strings.Replace(callV1, `"method"`, `"method":"GetTask","method"`, 1)},
		{"the text twice", strings.Replace(callV1, `"text"`, `"text":"innocent","text"`, 1)},
		{"the message twice", strings.Replace(callV1, `"message":`, `"message":{},"message":`, 1)},
		{"another case", strings.Replace(callV1, `"parts"`, `"Parts"`, 1)},
		{"deep metadata", with(strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000))},
		{"deep and open", strings.Repeat("[", 1<<20)}, {"a huge number", with(`{"a":1e999999}`)}, {"a long number", with(`{"a":` + strings.Repeat("9", 1<<20) + `e999}`)},
		{"17 MiB", strings.Replace(callV1, "say MARK", "say MARK"+strings.Repeat("x", 17<<20), 1)},
	}
}

func (x *world) bodies(t *testing.T) {
	atOnce(bodies(), func(row frame) {
		got := x.send(x.ours(strings.ReplaceAll(row.text, "MARK", x.mark())))
		if !strings.Contains(got.body, `"error"`) || !slices.Contains([]int{200, 400, 413}, got.status) {
			t.Errorf("%s: %s", row.name, got)
		}
	})
	x.unharmed(t)
}
