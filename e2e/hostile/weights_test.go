package hostile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// mostBeside is how much a message may have beside what its parts say.
const mostBeside = 64 << 10

// A weight is a message that has that many bytes beside its parts, in one place.
type weight struct {
	wish
	size int
}

func (w weight) String() string {
	return fmt.Sprintf("%d KiB as %s by %s", w.size>>10, w.place, w.door)
}

// weights are by every door in every place that it has. MARK is for the bytes.
func weights(size int) (rows []weight) {
	for _, door := range []string{"1.0", "0.3", "REST 1.0", "REST 0.3", "console"} {
		for _, place := range []string{"message", "params", "part", "extensions", "referenceTaskIds", "file name", "file type", "file URL"} {
			forms := []string{`"MARK"`}
			switch {
			case place == "message", place == "params", place == "part":
				forms = []string{`{"x":"MARK"}`, `{"MARK":1}`, `{"x":[{"y":["MARK"]}]}`}
			case place == "file URL":
				forms = []string{`"https://receiver.example/MARK"`, `"workspace:/MARK"`, `"data:text/plain,MARK"`}
			case door == "REST 0.3" && place == "referenceTaskIds":
				continue // there is no such field, and what stands there is let go of
			}
			for _, form := range forms {
				rows = append(rows, weight{wish{form, place, door}, size})
			}
		}
	}
	return rows
}

// weighs sends one of them, and looks whether it is taken where it may be and else refused.
func (x *world) weighs(t *testing.T, row weight) {
	allowed := row.size < mostBeside
	mark := x.mark()
	if allowed {
		mark = fmt.Sprintf("weighed-%d-", x.refused.Add(1))
	}
	row.metadata = strings.Replace(row.metadata, "MARK", mark+strings.Repeat("x", row.size), 1)
	got := x.send(row.call(x, mark, "say "+mark+"done"))
	serving(t, row, got)
	clean(t, row, got)
	code, status := `"code":-32602`, 200
	if strings.HasPrefix(row.door, "REST") {
		code, status = `"code":400`, 400
	}
	refused := strings.Contains(got.body, "bytes of metadata")
	switch {
	case !allowed && (!refused || got.status != status || !strings.Contains(got.body, code)):
		t.Errorf("%v is taken, or refused as something else: %s", row, got)
	case allowed && refused:
		t.Errorf("%v is refused: %s", row, got)
	case allowed && row.place != "file URL" && !strings.Contains(got.body, mark+"done"):
		t.Errorf("%v is not answered: %s", row, got)
	}
}

func (x *world) weights(t *testing.T) {
	rows := append(some(weights(mostBeside-1<<10), 7), some(weights(mostBeside+1), 3)...)
	atOnce(rows, func(row weight) { x.weighs(t, row) })
	for i, row := range some(weights(15<<20), 20) {
		if i%4 == 0 { // one by one: several at once are refused for another reason
			x.weighs(t, row)
		}
	}
	x.unharmed(t)
	if peak := progtest.PeakMemory(t, x.Pid()); peak > most {
		t.Errorf("the program came to %d MiB", peak>>20)
	}
}
