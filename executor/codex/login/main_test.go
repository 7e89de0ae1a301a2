package login

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) {
	fakecodex.Child()
	leaktest.Main(m)
}
