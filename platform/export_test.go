package platform

import "time"

// PauseRenewals sets what passes between a registration anew that failed and the next.
func (c *Client) PauseRenewals(d time.Duration) { c.renewal.pause = d }
