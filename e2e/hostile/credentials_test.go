package hostile

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A credential is what a request shows, and what it should open by that.
type credential struct {
	name   string
	header []string
	query  string
	shows  string // the one true secret that it shows in the right way, or ""
	half   bool   // it is enough to end a session, and for nothing else
	unsure bool   // it may be taken or not: what it shows is right, and the way is odd
}

// credentials are those that a request may show to this world.
func (x *world) credentials() []credential {
	rows := []credential{
		{name: "none"},
		{name: "empty", header: []string{"Authorization:"}},
		{name: "empty bearer", header: []string{"Authorization: Bearer "}},
		{name: "wrong", header: []string{"Authorization: Bearer wrong-token-of-a-stranger"}},
		{name: "null", header: []string{"Authorization: Bearer null"}},
		{name: "long", header: []string{"Authorization: Bearer " + strings.Repeat("A", 40<<10)}},
		{name: "not ASCII", header: []string{"Authorization: Bearer \xff\xfe\u202e"}},
		{name: "the key", header: []string{"Authorization: Bearer " + theKey}},
		{name: "wrong cookie", header: []string{"Cookie: molecule_console=x; molecule_console_" + x.port() + "=x"}},
		{name: "many cookies", header: []string{"Cookie: " + strings.Repeat("molecule_console_"+x.port()+"=x; ", 500)}},
	}
	for _, secret := range []string{x.token, x.inbound, x.membersToken()} {
		if secret != "" {
			rows = append(rows, x.forms(secret)...)
		}
	}
	if x.cookie != "" {
		name, value, _ := strings.Cut(x.cookie, "=")
		key := "X-Console-Key: " + x.key
		rows = append(rows,
			credential{name: "session", header: x.session(), shows: x.cookie},
			credential{name: "session without its key", header: []string{"Cookie: " + x.cookie}, half: true},
			credential{name: "session with another key", header: []string{"Cookie: " + x.cookie, "X-Console-Key: " + value}, half: true},
			credential{name: "key alone", header: []string{key}},
			credential{name: "key as cookie", header: []string{key, "Cookie: " + name + "=" + x.key}},
			credential{name: "session as bearer", header: []string{"Authorization: Bearer " + value}},
			credential{name: "token as cookie", header: []string{"Cookie: " + name + "=" + x.token}},
			credential{name: "session of another port", header: []string{key, "Cookie: molecule_console_1=" + value}},
			credential{name: "session cut", header: []string{key, "Cookie: " + x.cookie[:len(x.cookie)-1]}},
		)
	}
	return rows
}

// forms are ways to show a secret, of which one is right.
func (x *world) forms(secret string) []credential {
	basic := func(text string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(text))
	}
	bearer := "Authorization: Bearer " + secret
	rows := []credential{
		{name: "bearer", header: []string{bearer}, shows: secret},
		{name: "lower case", header: []string{"authorization: bearer " + secret}, shows: secret},
		{name: "spaces", header: []string{"Authorization:   Bearer    " + secret + "  "}, shows: secret},
		{name: "right, then wrong", header: []string{bearer, "Authorization: Bearer wrong"}, shows: secret, unsure: true},
		{name: "wrong, then right", header: []string{"Authorization: Bearer wrong", bearer}},
		{name: "two in one", header: []string{"Authorization: Bearer wrong, Bearer " + secret}},
		{name: "two words", header: []string{bearer + " " + secret}},
		{name: "cut", header: []string{bearer[:len(bearer)-1]}},
		{name: "longer", header: []string{bearer + "x"}},
		{name: "upper case", header: []string{"Authorization: Bearer " + strings.ToUpper(secret)}},
		{name: "tab", header: []string{"Authorization: Bearer\t" + secret}},
		{name: "NUL", header: []string{bearer + "\x00"}},
		{name: "no scheme", header: []string{"Authorization: " + secret}},
		{name: "other scheme", header: []string{"Authorization: Token " + secret}},
		{name: "basic", header: []string{basic("user:" + secret)}},
		{name: "basic without user", header: []string{basic(":" + secret)}},
		{name: "folded", header: []string{"Authorization: Bearer\r\n " + secret}, shows: secret, unsure: true},
		{name: "spaced name", header: []string{"Authorization : Bearer " + secret}},
		{name: "other headers", header: []string{"X-Api-Key: " + secret, "X-Auth-Token: " + secret, "Proxy-Authorization: Bearer " + secret, "X-Authorization: Bearer " + secret}},
		{name: "underscores", header: []string{"HTTP_AUTHORIZATION: Bearer " + secret, "Authorization_: Bearer " + secret}},
		{name: "cookie", header: []string{"Cookie: token=" + secret + "; molecule_console_" + x.port() + "=" + secret}},
		{name: "query", query: "token=" + secret + "&access_token=" + secret + "&authorization=Bearer%20" + secret},
	}
	for i := range rows {
		rows[i].name = secret[len("planted-"):len("planted-")+7] + " " + rows[i].name
	}
	return rows
}

func (x *world) port() string { _, port, _ := strings.Cut(x.addr(), ":"); return port }

func (x *world) membersToken() string {
	if x.handle == nil {
		return ""
	}
	return theMembers
}

// lets says whether what a credential shows opens a route of this world.
func (x *world) lets(r route, shows string) bool {
	asked := x.token != "" || x.strict
	token, inbound := shows != "" && shows == x.token, shows != "" && shows == x.inbound
	switch r.who {
	case callers:
		return !asked || token || inbound
	case readers:
		return x.token == "" || token || inbound
	case thePeer:
		return inbound
	case members:
		return shows != "" && shows == x.membersToken()
	case visitors:
		return x.token == "" || shows == x.cookie
	case selfmade:
		return x.token == "" // then there is nothing to log in to
	case fileOwner:
		return false // the URL is a guess
	}
	return true
}

// An attempt is a route that is tried with a credential and a method.
type attempt struct {
	route  route
	as     credential
	method string
}

func (a attempt) String() string {
	return fmt.Sprintf("%s by %s with %q", a.route.pattern, a.method, a.as.name)
}

// attempts are every route with every credential, and with every other method.
func (x *world) attempts(rows []route) (all []attempt) {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "Post"}
	for _, row := range rows {
		for _, as := range x.credentials() {
			ends := as.half || x.cookie != "" && as.shows == x.cookie
			if !ends || row.pattern != "POST /console/logout" { // it would be the end of the session
				all = append(all, attempt{row, as, row.method()})
			}
		}
		for _, method := range methods {
			if !slices.ContainsFunc(rows, func(r route) bool { return r.is(method, row) }) {
				all = append(all, attempt{row, credential{name: "none"}, method})
			}
		}
	}
	return all
}

// is reports whether a route is another one with that method.
func (r route) is(method string, other route) bool {
	_, path, _ := strings.Cut(other.pattern, " ")
	return r.pattern == method+" "+path
}

func (r route) ofConsole() bool { return strings.HasPrefix(r.pattern, "GET /console") }

// try makes an attempt and looks at what came back.
func (x *world) try(t *testing.T, a attempt) {
	own := a.method == a.route.method() || a.method == "HEAD" && a.route.ofConsole() // whose mux gives GET and HEAD as one
	opens := own && x.lets(a.route, a.as.shows)
	mark := x.mark()
	if opens || own && a.as.unsure {
		mark = "granted-" + strings.NewReplacer("/", "-", " ", "-", ":", "-").Replace(a.route.pattern)
	}
	c := a.route.call(x, mark)
	c.method = a.method
	c.header = append(c.header, a.as.header...)
	if !own {
		c.header = append(c.header, "X-HTTP-Method-Override: "+a.route.method(), "X-Method-Override: "+a.route.method())
	}
	if a.as.query != "" {
		before, _, has := strings.Cut(c.path, "?")
		if has {
			c.path += "&" + a.as.query
		} else {
			c.path = before + "?" + a.as.query
		}
	}
	got := x.send(c)
	serving(t, a, got)
	shut := slices.Contains([]int{400, 401, 403, 404, 405, 429, 431, 501}, got.status)
	switch {
	case !opens && !a.as.unsure:
		clean(t, a, got)
		if !shut {
			t.Errorf("%v is let in: %s", a, got)
		}
	case opens && !a.as.unsure && (slices.Contains([]int{401, 403, 421}, got.status) || strings.Contains(got.body, "too many wrong tokens")):
		t.Errorf("%v is shut out: %s", a, got)
	default:
		clean(t, a, got, theWords) // which callers may read
	}
}

// matrix tries every route with every method and every credential, or every nth of these
// attempts.
func (x *world) matrix(t *testing.T, nth int) {
	x.write(x.Work+"/seen.txt", "seen")
	atOnce(some(x.attempts(table()), nth), func(a attempt) { x.try(t, a) })
	x.unharmed(t)
}
