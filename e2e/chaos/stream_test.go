package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// A reader follows one task by its streams and puts its texts together.
type reader struct {
	c     *client
	task  string // as soon as it is known
	last  string // the id of the last event
	texts map[string]string
	ended bool
	stall time.Duration // before the second event is read
}

// errCut is the end of a stream whose task goes on.
var errCut = errors.New("the stream broke off")

// follow reads one stream. begun is called when the task is known.
func (r *reader) follow(ctx context.Context, method string, params object, begun func(task string)) error {
	res, err := r.c.post(ctx, method, params, r.last)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return notStream(res)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	id := ""
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id:"); ok {
			id = strings.TrimSpace(v)
		}
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		event, err := result([]byte(data))
		if err != nil {
			return err
		}
		r.take(event)
		r.last = id
		if r.task != "" && begun != nil {
			begun(r.task)
			begun = nil
			pause(ctx, r.stall)
		}
	}
	if r.ended {
		return nil
	}
	return errCut
}

func notStream(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err == nil {
		_, err = result(body)
	}
	if err == nil {
		err = errCut
	}
	return err
}

// take reads one event of either version.
func (r *reader) take(event object) {
	update, status := event["artifactUpdate"], event["statusUpdate"]
	switch event["kind"] {
	case "artifact-update":
		update = event
	case "status-update":
		status = event
	}
	switch {
	case update != nil:
		r.artifact(update)
	case status != nil:
		_, r.ended = ending(status.(object))
	default: // result has unwrapped the task
		r.task, r.texts = str(event, "id"), texts(event)
		_, r.ended = ending(event)
	}
}

func (r *reader) artifact(update any) {
	id := str(update, "artifact", "artifactId")
	if at(update, "metadata", "void") == true {
		delete(r.texts, id)
		return
	}
	text := partsText(at(update, "artifact"))
	if at(update, "append") == true {
		text = r.texts[id] + text
	}
	r.texts[id] = text
}

// differs compares what was read with the task as it is kept.
func (r *reader) differs(task object) string {
	kept := texts(task)
	if maps.Equal(kept, r.texts) {
		return ""
	}
	read, _ := json.Marshal(r.texts)
	want, _ := json.Marshal(kept)
	return "read " + string(read) + ", kept " + string(want)
}
