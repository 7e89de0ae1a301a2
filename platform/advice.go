package platform

import (
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Advise returns the error of a failed call with what an operator does about it. Where waiting is all
// there is, it is the error as it was.
func Advise(err error) error {
	advice := ""
	switch StatusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden:
		advice = "the token is not this workspace's: choose Rotate in the Connect dialog, and paste the block anew or set MOLECULE_WORKSPACE_TOKEN"
	case http.StatusNotFound:
		advice = "look whether PLATFORM_URL leads to the platform, and WORKSPACE_ID is one of its workspaces"
	case 0:
		if _, away := errors.AsType[net.Error](err); away {
			advice = "look whether PLATFORM_URL is right, and whether this machine reaches it: runtime doctor"
		}
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, advice)
}
