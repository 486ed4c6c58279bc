package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// postScript times the posts of the Python client.
//
//go:embed post.py
var postScript string

// python measures one agent's posts through the Python client, and turn by turn
// those of the standard library's bare connection to the same hub.
func (r *run) python(ctx context.Context) (results []Result, err error) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		return nil, fmt.Errorf("the figure needs Python: %w", err)
	}
	hub, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	defer hub.Kill()
	root, err := target.ModuleRoot(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, interpreter, "-B", "-c", postScript,
		"http://"+hub.Addr, strconv.Itoa(r.Rounds), strconv.FormatFloat(r.Round.Seconds(), 'f', -1, 64))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "python", "src"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, &stderr)
	}
	var timed []struct{ Client, Bare float64 }
	if err := json.Unmarshal(out, &timed); err != nil {
		return nil, fmt.Errorf("the script's report: %w", err)
	}
	var clients, bares []float64
	for _, t := range timed {
		clients, bares = append(clients, t.Client), append(bares, t.Bare)
	}
	return []Result{absolute("post through the Python client, median", stat.Median(clients), atMost(1.5, "ms"),
		fmt.Sprintf("the standard library's bare connection to the same hub: %.3f ms", stat.Median(bares)))}, nil
}
