package platform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// rowOf reads the first row of a page of which so many bytes have been read.
func rowOf(ctx context.Context, page string, read int) (Row, error) {
	read = min(read, len(page))
	text, cut, err := shorten(ctx, []byte(page[:read]), strings.NewReader(page[read:]))
	if err != nil {
		return Row{}, err
	}
	flatten(text)
	var rows list[looseRow]
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) != 1 {
		return Row{}, cmp.Or(err, errNoRow)
	}
	row := Row(rows[0])
	row.Cut = cut
	return row, nil
}

// TestLargeRow: of a row that is too large there is what is short, in whatever order it comes.
func TestLargeRow(t *testing.T) {
	longtest.Mark(t)
	long := strings.Repeat(`\u003c\"]}`, mostMember)
	const id, rest = `"id":"r1"`, `"seq":7,"source_id":"p","method":"message/send","created_at":"2026-11-24T05:00:00Z"`
	body := `"request_body":{"params":{"message":{"parts":[{"text":"` + long + `"}]}}}`
	for name, c := range map[string]struct {
		page string
		cut  string // joined
		want string // id, source and method
	}{
		"id-first":      {`[{` + id + `,` + rest + `,` + body + `}]`, "request_body", "r1 p message/send"},
		"body-first":    {" [\n{ " + body + " , " + rest + ` , "id" : "r1" } ] `, "request_body", "r1 p message/send"},
		"body-between":  {`[{` + id + `,` + body + `,` + rest + `}]`, "request_body", "r1 p message/send"},
		"small-pieces":  {`[{` + id + `,"request_body":` + listOf(3*mostMember, `"<<<"`) + `,` + rest + `}]`, "request_body", "r1 p message/send"},
		"long-number":   {`[{` + id + `,` + rest + `,"duration_ms":` + strings.Repeat("1", 2*mostMember) + `}]`, "duration_ms", "r1 p message/send"},
		"others":        {`[{` + id + `,` + rest + `,"extra":[` + body[strings.Index(body, "{"):] + `],"":0}]`, "", "r1 p message/send"},
		"long-name":     {`[{` + id + `,"` + long + `":1,` + rest + `}]`, "", "r1 p message/send"},
		"long-sender":   {`[{` + id + `,` + rest + `,"source_id":"` + long + `"}]`, "source_id", "r1   message/send"},
		"long-id":       {`[{` + rest + `,"id":"` + long + `"}]`, "id", " p message/send"},
		"no-id":         {`[{` + rest + `,` + body + `}]`, "request_body", " p message/send"},
		"no-sender":     {`[{` + id + `,"method":"notify",` + body + `}]`, "request_body", "r1  notify"},
		"twice":         {`[{"id":"r0",` + body + `,"ID":"r2","\u0069d":"r1","id":null,` + rest + `,"request_body":{}}]`, "", "r1 p message/send"},
		"twice-long":    {`[{"request_body":{},` + id + `,` + rest + `,` + body + `}]`, "request_body", "r1 p message/send"},
		"deep":          {`[{` + id + `,` + rest + `,"response_body":` + nested(9_900, "[", "", "]") + `,` + body + `}]`, "request_body", "r1 p message/send"},
		"rows-behind":   {`[{` + id + `,` + rest + `,` + body + `},{"id":"r2"},` + long, "request_body", "r1 p message/send"},
		"many-members":  {`[{` + strings.Repeat(`"a":0,`, 50_000) + id + `,` + rest + `}]`, "", "r1 p message/send"},
		"of-odd-types":  {`[{"seq":"7","id":"r1","method":3,"source_id":[1],` + body + `}]`, "request_body", "r1   "},
		"empty-members": {`[{,,` + id + `,,` + rest + `,` + body + `,}]`, "request_body", "r1 p message/send"},
	} {
		for _, read := range []int{0, 1, 100, mostMember} {
			row, err := rowOf(t.Context(), c.page, read)
			if got := row.ID + " " + row.Source + " " + row.Method; err != nil || got != c.want || strings.Join(row.Cut, " ") != c.cut {
				t.Errorf("%s, %d bytes at first: %q without %q, %v", name, read, got, row.Cut, err)
			}
			if len(row.RequestBody) > mostMember {
				t.Errorf("%s: %d bytes of its body", name, len(row.RequestBody))
			}
		}
	}
}

// TestFirstRow: what has come whole is taken as it is, whatever follows it.
func TestFirstRow(t *testing.T) {
	body := `{"text":"` + strings.Repeat("]},", mostMember) + `"}`
	for _, behind := range []string{`]`, ` ]` + strings.Repeat(" ", mostMember), `,{"id":"r2"`, ` , 7`} {
		page := `[{"id":"r1","request_body":` + body + `}` + behind
		row, err := rowOf(t.Context(), page, len(page))
		if err != nil || row.ID != "r1" || string(row.RequestBody) != body || row.Cut != nil {
			t.Errorf("%.20q behind it: %.100v, %v", behind, row, err)
		}
	}
}

// TestBrokenRow: what is no row, or is cut off, is no row.
func TestBrokenRow(t *testing.T) {
	begin := `[{"id":"r1","request_body":"` + strings.Repeat("x", 2*mostMember)
	for _, page := range []string{
		begin, begin + `\`, begin + `"`, begin + `",`, begin + `","method"`, begin + `","method":`, begin + `","method":"a`, begin + `","seq":1`,
		begin + `"}`, begin + `"}x`, begin + `"]`, begin + `" "seq" 1}]`, begin + `","seq" 1}]`, begin + `","seq":}]`, begin + `","summary":{"a"}}]`, begin + `",7:1}]`,
		`7`, `"[{`, `{"id":"r1"`, `[7`, `[[{`, ``, `[`,
	} {
		if row, err := rowOf(t.Context(), page, 50); err == nil {
			t.Errorf("%.30s… to …%s is read as %.100v", page, page[max(0, len(page)-20):], row)
		}
	}
}

// repeated is a text without end.
type repeated string

func (r repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], r)
	}
	return n, nil
}

// TestRowWithoutEnd: it is given up, in little memory, and what has come of it is taken where
// that has its id. Who has sent it is not known then, and is not said to be the user.
func TestRowWithoutEnd(t *testing.T) {
	longtest.Mark(t)
	for name, c := range map[string]struct {
		begin, again, id string
		response         bool // was what came without end
	}{
		"text":     {`[{"id":"r1","request_body":"`, `\u003c`, "r1", false},
		"objects":  {`[{"id":"r1","request_body":[`, `{"":1},`, "r1", false},
		"members":  {`[{"id":"r1","method":"notify","x":0`, `,"a":"b"`, "r1", false},
		"blanks":   {`[{"id":"r1"`, "        ", "r1", false},
		"response": {`[{"id":"r1","request_body":{},"response_body":"`, "xxxxxxxx", "r1", true},
		"no-id":    {`[{"seq":1,"request_body":"`, "xxxxxxxx", "", false},
	} {
		var text []byte
		var cut []string
		var err error
		made := allocated(func() { text, cut, err = shorten(t.Context(), []byte(c.begin), &endless{repeated(c.again), 8 << 20}) })
		if made > 1<<20 {
			t.Errorf("%s: it takes %d bytes", name, made)
		}
		if c.id == "" {
			if !errors.Is(err, errEndless) {
				t.Errorf("%s: %s, %v", name, text, err)
			}
			continue
		}
		var rows list[looseRow]
		if err != nil || json.Unmarshal(text, &rows) != nil || len(rows) != 1 || rows[0].ID != "r1" || rows[0].Source != noName {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if slices.Contains(cut, "request_body") == c.response || slices.Contains(cut, "response_body") != c.response || !slices.Contains(cut, "source_id") {
			t.Errorf("%s: without %q", name, cut)
		}
	}
}

// TestRowInLittle: what is made of a large row is little, also where it has come to its end.
func TestRowInLittle(t *testing.T) {
	longtest.Mark(t)
	const size = 64 << 20
	in := io.MultiReader(strings.NewReader(`[{"id":"r1","request_body":["`), io.LimitReader(repeated("12345678"), size), strings.NewReader(`"],"source_id":"p"}]`))
	var text []byte
	var err error
	if made := allocated(func() { text, _, err = shorten(t.Context(), nil, in) }); made > 1<<20 || err != nil {
		t.Errorf("%d bytes, %v", made, err)
	}
	if got := string(text); got != `[{"id":"r1","source_id":"p","request_body":{}}]` {
		t.Errorf("%s", got)
	}
}
