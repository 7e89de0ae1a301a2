package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// What all tests share: the program under test, and one Chromium, in which each page
// has cookies of its own.
var (
	binary   string
	chromium context.Context // of the browser
)

func TestMain(m *testing.M) {
	if os.Getenv(askerVar) != "" {
		serveAsker()
		return
	}
	flag.Parse()
	os.Exit(progtest.Main(func(built string) int {
		binary = built
		if testing.Short() {
			fmt.Println("browser: not under -short")
			return 0
		}
		stop, err := startChromium()
		if err != nil {
			fmt.Fprintln(os.Stderr, "browser:", err)
			return 1
		}
		defer stop()
		return m.Run()
	}))
}

// startChromium starts the browser that CHROMIUM names, or one that is in PATH.
func startChromium() (stop func(), err error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // which does not start as root, nor in most containers; the page is ours
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true), chromedp.WindowSize(1360, 850))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	browser, leave := chromedp.NewContext(allocator)
	stop = func() {
		_ = chromedp.Cancel(browser) // waits for its end
		leave()
		free()
	}
	if err := chromedp.Do(browser); err != nil {
		stop()
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	chromium = browser
	return stop, nil
}

func findChromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium in PATH: install it (Debian: apt-get install chromium), or name one in CHROMIUM; -short leaves these tests out")
}
