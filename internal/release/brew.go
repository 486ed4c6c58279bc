package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// formula makes the formula of Homebrew from the archives in the folder. It is empty without a site, since a
// formula consists of addresses.
func (r *release) formula(builds []built) (string, error) {
	if r.place.site == "" {
		return "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "class Hubcli < Formula\n  desc %q\n  homepage %q\n  version %q\n", description, r.place.url(r.version, ""), r.version)
	for _, system := range []struct{ goos, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var archives strings.Builder
		for _, made := range builds {
			if made.goos != system.goos {
				continue
			}
			name := made.archive(r.version)
			data, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				return "", err
			}
			block := map[string]string{"amd64": "on_intel", "arm64": "on_arm"}[made.goarch]
			fmt.Fprintf(&archives, "    %s do\n      url %q\n      sha256 \"%x\"\n    end\n", block, r.place.url(r.version, name), sha256.Sum256(data))
		}
		if archives.Len() > 0 {
			fmt.Fprintf(&b, "\n  %s do\n%s  end\n", system.block, archives.String())
		}
	}
	b.WriteString(formulaEnd)
	return b.String(), nil
}

const formulaEnd = `
  def install
    bin.install "hubcli"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/hubcli.bash" => "hubcli"
    zsh_completion.install "completions/_hubcli"
    fish_completion.install "completions/hubcli.fish"
  end

  def caveats
    <<~EOS
      Go to a repository of yours and call: hubcli init
      Before you remove this formula, call: hubcli adapter uninstall --all && hubcli stop
    EOS
  end

  test do
    assert_match "hubcli #{version}", shell_output("#{bin}/hubcli --version")
  end
end
`
