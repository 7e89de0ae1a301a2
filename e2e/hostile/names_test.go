package hostile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lay puts files and links into the working directory that lead elsewhere, and returns
// paths by which one may try to read what must not be read.
func (x *world) lay(t *testing.T) (paths []string) {
	t.Helper()
	outside := filepath.Join(x.outside, "file.txt")
	links := map[string]string{
		"link.txt": outside, "folder": x.outside, "chain.txt": "link.txt", "up": "..", "root": "/", "loop": "loop", "proc": "/proc/self", "state": x.State, "home": x.Home,
		"relative.txt": "../" + filepath.Base(x.outside) + "/file.txt",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(x.Work, name)); err != nil {
			t.Fatal(err)
		}
	}
	// Other names of what is hidden.
	hard := map[string]string{hardState: filepath.Join(x.State, "state.db")}
	if x.configs != "" {
		hard["hard-token.txt"] = filepath.Join(x.configs, ".auth_token")
	}
	for name, target := range hard {
		if err := os.Link(target, filepath.Join(x.Work, name)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, name, x.Work+"/"+name)
	}
	if err := syscall.Mkfifo(filepath.Join(x.Work, "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := fmt.Sprint(x.Pid())
	relative := []string{
		"link.txt", "folder/file.txt", "chain.txt", "relative.txt", "up/" + filepath.Base(x.outside) + "/file.txt", "root" + outside, "loop", "proc/environ", "proc/root" + outside, "state/state.db",
		"home/auth.json", "home/config.toml", "pipe.txt", "../" + filepath.Base(x.outside) + "/file.txt", "./../" + filepath.Base(x.outside) + "/file.txt", "folder/../" + filepath.Base(x.outside) + "/file.txt",
		"link.txt/", "link.txt/.", "link.txt\x00.png", "%2e%2e/" + filepath.Base(x.outside) + "/file.txt", "..%2f" + filepath.Base(x.outside) + "%2ffile.txt", `..\` + filepath.Base(x.outside) + `\file.txt`,
		"．．/" + filepath.Base(x.outside) + "/file.txt", "", ".", "..", strings.Repeat("../", 60) + outside[1:],
	}
	for _, path := range relative {
		paths = append(paths, x.Work+"/"+path, path)
	}
	paths = append(paths,
		outside, "/"+outside, "//"+outside, outside+"/", "/./"+outside, "/workspace/../"+outside, "/proc/self/root"+outside, "/proc/"+pid+"/root"+outside, "/proc/"+pid+"/environ", "/proc/self/environ",
		"/proc/self/cwd/link.txt", "/proc/self/fd/3", "/dev/stdin", "/dev/fd/0", "/dev/zero", "/dev/random", "/etc/passwd", "/etc/shadow", "~/file.txt", "$HOME/file.txt",
		x.State+"/state.db", x.State+"/state.db-wal", x.Home+"/auth.json", x.Home+"/config.toml", x.Home+"/history.jsonl", x.Work+"-other/file.txt", x.outside, x.Work, "/",
		strings.Repeat("a", 5000), "/"+strings.Repeat("a/", 3000)+"b",
	)
	if x.configs == "" {
		return paths
	}
	for _, name := range []string{".auth_token", ".AUTH_TOKEN", ".auth_token ", ".auth_token.", ".auth_token/", "./.auth_token", ".auth_token\x00", "%2eauth_token", ".platform_inbound_secret", "x/../.auth_token", "secrets.d/KEY", "SECRETS.D/KEY"} {
		paths = append(paths, x.configs+"/"+name)
	}
	return paths
}

// reads has the platform ask for each of the paths as a file to be shown.
func (x *world) reads(t *testing.T, paths []string) {
	t.Helper()
	x.write(filepath.Join(x.Work, "seen.txt"), "seen")
	atOnce(paths, func(path string) {
		for _, query := range []string{url.QueryEscape(path), url.QueryEscape("file://" + path), url.QueryEscape("workspace:" + path), url.QueryEscape(url.PathEscape(path)), url.QueryEscape(path) + "&path=" + url.QueryEscape(x.Work+"/seen.txt")} {
			c := call{method: "GET", path: "/internal/file/read?path=" + query, header: []string{"Authorization: Bearer " + theInbound}}
			got := x.send(c)
			what := fmt.Sprintf("reading %.200q", query)
			serving(t, what, got)
			clean(t, what, got)
			if got.status == 200 && got.body != "seen" {
				t.Errorf("%s: %s", what, got)
			}
		}
	})
}

// hardState is another name of the journal.
const hardState = "hard-state.txt"

// uploads has the platform bring files under names that lead elsewhere.
func (x *world) uploads(t *testing.T) {
	t.Helper()
	before := x.files(t)
	names := []string{
		"../up.txt", "../../../../tmp/up.txt", "/up.txt", x.outside + "/up.txt", `..\up.txt`, `C:\up.txt`, "folder/up.txt", "up/up.txt", ".auth_token", "..", ".", "", "a\x00.txt", "a\r\nX-Injected: 1", `a"; filename="b.txt`,
		strings.Repeat("n", 9000), "\u202egpj.exe", "CON", "nul.txt", "-rf", "$(touch up)", "`touch up`", "~", "a%2f..%2fup.txt", "=?utf-8?q?=2e=2e=2fup?=", ".part-up", ".gitignore", ".gitignore ", "．．／up.txt",
	}
	atOnce(names, func(name string) {
		for _, disposition := range []string{
			`filename="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`, `filename=` + name, "filename*=UTF-8''" + url.PathEscape(name), `filename="ok.txt"; filename*=UTF-8''` + url.PathEscape(name),
		} {
			got := x.send(call{
				method: "POST", path: "/internal/chat/uploads/ingest", body: "--b\r\nContent-Disposition: form-data; name=\"files\"; " + disposition + "\r\n\r\ntext\r\n--b--\r\n",
				header: []string{"Authorization: Bearer " + theInbound, "Content-Type: multipart/form-data; boundary=b"},
			})
			what := fmt.Sprintf("an upload with %.100q", disposition)
			serving(t, what, got)
			clean(t, what, got)
			if got.header.Get("X-Injected") != "" {
				t.Errorf("%s: the name became a header", what)
			}
		}
	})
	for path, size := range x.files(t) {
		was, known := before[path]
		if inside := strings.HasPrefix(path, filepath.Join(x.Work, ".molecule/chat-uploads")+"/"); !inside && (!known || was != size) {
			t.Errorf("an upload got to %s", path)
		}
	}
	unread(t, filepath.Join(x.Work, ".molecule/chat-uploads"), func(path string, info fs.FileInfo) bool {
		return info.Mode().IsRegular() && !strings.ContainsAny(filepath.Base(path), "\x00\r\n/")
	})
}

// files are those in the directories of the world that no turn writes, with their sizes.
func (x *world) files(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, root := range []string{x.Work, x.outside, x.configs} {
		unread(t, root, func(path string, info fs.FileInfo) bool {
			if info.Name() != hardState { // the journal grows with what it knows of uploads
				all[path] = info.Size()
			}
			return true
		})
	}
	return all
}

// unread walks a directory and fails the test for each entry that is not as it should be.
func unread(t *testing.T, root string, good func(path string, info fs.FileInfo) bool) {
	t.Helper()
	if root == "" {
		return
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && !good(path, info) {
			t.Errorf("there is %q", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// attachments has callers name files of ours as the files of their messages.
func (x *world) attachments(t *testing.T, paths []string) {
	t.Helper()
	var rows []string
	for _, path := range paths {
		rows = append(rows, "workspace:"+path, "file://"+path)
	}
	for _, path := range paths[:min(len(paths), 6)] {
		rows = append(rows, path, "file:"+path, "FILE://"+path, "file://localhost/"+path, "file:////"+path, "platform-pending:"+theWorkspace+"/"+url.PathEscape(path), "platform-pending:../../"+path, "data:text/plain;base64,AAAA", "kept:x/y")
	}
	// One message has many: each is judged for itself.
	for i := 0; i < len(rows); i += 10 {
		batch := rows[i:min(i+10, len(rows))]
		v1, v0 := []object{{"text": "say got them"}}, []object{{"kind": "text", "text": "say got them"}}
		for _, uri := range batch {
			v1 = append(v1, object{"url": uri, "filename": "a.txt", "mediaType": "text/plain"})
			v0 = append(v0, object{"kind": "file", "file": object{"uri": uri, "name": "a.txt", "mimeType": "text/plain"}})
		}
		for method, message := range map[string]object{
			"SendMessage":  {"messageId": fmt.Sprintf("attached-1-%d", i), "role": "ROLE_USER", "parts": v1},
			"message/send": {"messageId": fmt.Sprintf("attached-0-%d", i), "role": "user", "parts": v0},
		} {
			got := x.send(x.ours(rpc(method, object{"message": message})))
			serving(t, batch, got)
			clean(t, batch, got)
		}
	}
}

// mentions has replies name files of ours.
func (x *world) mentions(t *testing.T, paths []string) {
	t.Helper()
	for i := 0; i < len(paths); i += 8 {
		var said strings.Builder
		for _, path := range paths[i:min(i+8, len(paths))] {
			path = strings.NewReplacer("\x00", "", "\n", "").Replace(path)
			if len(path) < 4000 {
				fmt.Fprintf(&said, " %s `%s` [it](%s) [it](<%s>) [it](file://%s) %s:1", path, path, path, path, path, path)
			}
		}
		for method, message := range map[string]object{
			"SendMessage":  {"messageId": fmt.Sprintf("named-1-%d", i), "role": "ROLE_USER", "parts": []object{{"text": "say see" + said.String()}}},
			"message/send": {"messageId": fmt.Sprintf("named-0-%d", i), "role": "user", "parts": []object{{"kind": "text", "text": "say see" + said.String()}}},
		} {
			got := x.send(x.ours(rpc(method, object{"message": message})))
			serving(t, i, got)
			clean(t, i, got)
			var answer any
			if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
				t.Errorf("%v: %s", err, got)
			}
			for _, part := range handed(answer) {
				t.Errorf("a reply that names %.600s hands out %v", said.String(), part)
			}
		}
	}
}

// handed are the file parts in an answer.
func handed(v any) (parts []any) {
	switch v := v.(type) {
	case object:
		if v["raw"] != nil || v["url"] != nil || v["file"] != nil {
			parts = append(parts, v)
		}
		for _, member := range v {
			parts = append(parts, handed(member)...)
		}
	case []any:
		for _, member := range v {
			parts = append(parts, handed(member)...)
		}
	}
	return parts
}

// uncopied fails the test if a file that must not be read has got to where codex, or a
// caller, can read it, or to the model.
func (x *world) uncopied(t *testing.T) {
	t.Helper()
	for _, root := range []string{x.Work, x.State, x.Home} {
		unread(t, root, func(path string, info fs.FileInfo) bool {
			if !info.Mode().IsRegular() || strings.HasPrefix(info.Name(), "hard") {
				return true
			}
			text, _ := os.ReadFile(path)
			for _, secret := range []string{theFile, theInbound, theMembers, theKey} {
				if strings.Contains(string(text), secret) {
					t.Errorf("%s has %s in it", path, secret)
				}
			}
			return true
		})
	}
	for _, request := range x.model.Requests() {
		for _, secret := range []string{theFile, theInbound, theMembers, theKey, "root:x:0"} {
			if i := strings.Index(string(request.Body), secret); i >= 0 {
				t.Errorf("the model was shown …%.200s", request.Body[max(0, i-100):])
			}
		}
	}
}

func (x *world) names(t *testing.T) {
	paths := x.lay(t)
	if x.inbound != "" {
		x.reads(t, paths)
		x.uploads(t)
	}
	x.write(filepath.Join(x.Work, "fine.txt"), "fine")
	if got := x.send(x.ours(message("fine", "say see "+x.Work+"/fine.txt"))); !strings.Contains(got.body, `"filename":"fine.txt"`) {
		t.Errorf("a reply hands out nothing at all: %s", got)
	}
	x.attachments(t, some(paths, 2))
	x.mentions(t, some(paths, 2))
	x.uncopied(t)
	x.unharmed(t)
}
