package settings

import (
	"fmt"
	"strings"
	"testing"
)

func TestNetworks(t *testing.T) {
	for list, want := range map[string]string{
		"": "[]", " , ": "[]", "10.0.0.0/8": "[10.0.0.0/8]", "10.1.2.3/8, 127.0.0.1,fd00::/8": "[10.0.0.0/8 127.0.0.1/32 fd00::/8]",
	} {
		s := mustLoad(t, nil, "RUNTIME_ALLOW_NETWORKS="+list)
		if got := fmt.Sprint(s.AllowedNetworks); got != want || !s.Push {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
	for _, list := range []string{"10.0.0.0/33", "localhost", "10.0.0.0/8;127.0.0.0/8", "fe80::1%eth0"} {
		_, _, err := at(t, nil, "RUNTIME_ALLOW_NETWORKS="+list)
		if err == nil || !strings.Contains(err.Error(), "a list of networks such as 10.0.0.0/8") {
			t.Errorf("%q: %v", list, err)
		}
	}
	if mustLoad(t, nil, "RUNTIME_PUSH=0").Push {
		t.Error("push notifications were not switched off")
	}
}
