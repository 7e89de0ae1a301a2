package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestStateMetrics(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := testutil.CollectAndCount(NewState(s)); n != 6 {
		t.Errorf("%d metrics", n)
	}
}
