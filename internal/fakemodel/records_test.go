package fakemodel

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	body := `{"model":"` + strings.Repeat("m", 400) + `","input":[]}`
	for _, test := range []struct {
		name, seqs string
		keep       int
	}{
		{"none", "", 0}, {"the-last-two", "34", 1000}, {"the-last-even-if-too-big", "4", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := newServer(Echo, test.keep)
			for range 4 {
				server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(body)))
			}
			var seqs string
			for _, r := range server.Requests() {
				seqs += string(rune('0' + r.Seq))
			}
			if seqs != test.seqs {
				t.Errorf("requests %q are kept, want %q", seqs, test.seqs)
			}
		})
	}
}
