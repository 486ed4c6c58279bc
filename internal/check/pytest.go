package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pytestBudget bounds one folder's tests, which take a minute or two. Of a test
// that takes longer than pytestPatience pytest tells where it hangs; at the end of
// the budget it is interrupted, so that the fixtures end their hubs.
const (
	pytestPatience = 2 * time.Minute
	pytestBudget   = 10 * time.Minute
	pytestGrace    = 30 * time.Second
)

// pytest runs the tests of the Python client and of the examples: the package as
// pip installs it, the executable as it is delivered.
func pytest(ctx context.Context, total *tally) (err error) {
	exe, err := pythonTools(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hubcli-pytest-")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("a program that the tests started seems to run on: %w", removeErr))
		}
	}()
	hubcli := filepath.Join(dir, "hubcli")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", hubcli, "./cmd/hubcli"); err != nil {
		return fmt.Errorf("go build ./cmd/hubcli: %w", err)
	}
	site := filepath.Join(dir, "site")
	if err := installPackage(ctx, exe, site); err != nil {
		return err
	}
	env := []string{
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "PYTHONPATH=" + site,
		"HUBCLI=" + hubcli, "HUB_DATA_ROOT=" + filepath.Join(dir, "data"), // nobody's own hub is touched
	}
	var failed error
	for _, folder := range pythonFolders {
		report := filepath.Join(dir, folder+".xml")
		if err := pytestFolder(ctx, exe, env, folder, report, total); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", folder, err))
		}
	}
	return failed
}

// pytestFolder runs the tests below folder with it as working folder, and adds
// what the report counts to the total. What the tests write lies beside the report.
func pytestFolder(ctx context.Context, exe string, env []string, folder, report string, total *tally) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pytestBudget, fmt.Errorf("the tests took longer than %v", pytestBudget))
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "-m", "pytest", "tests", "-q", "-ra", "-p", "no:cacheprovider",
		"-o", fmt.Sprintf("faulthandler_timeout=%g", pytestPatience.Seconds()),
		"--basetemp="+strings.TrimSuffix(report, ".xml"), "--junit-xml="+report)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = writer(ctx), writer(ctx)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = pytestGrace
	runErr := cmd.Run()
	interrupted := runErr != nil && ctx.Err() != nil
	if interrupted {
		runErr = context.Cause(ctx)
	}
	f, err := os.Open(report)
	if err != nil {
		return errors.Join(runErr, fmt.Errorf("pytest left no report: %w", err))
	}
	defer f.Close()
	var count tally
	if err := count.readJUnit(f); err != nil {
		return errors.Join(runErr, fmt.Errorf("reading pytest's report: %w", err))
	}
	if interrupted { // the report takes the test that was interrupted for passed
		count.passed, count.failed = max(count.passed-1, 0), count.failed+1
	}
	total.add(count)
	switch {
	case runErr != nil:
		return runErr
	case count.failed > 0:
		return errors.New("pytest succeeded, yet its report tells of failures")
	case count.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

// readJUnit counts the test cases of a report in JUnit's form. A case that could
// not be set up, torn down or even be collected is one that failed; one that
// failed as expected counts as skipped.
func (t *tally) readJUnit(report io.Reader) error {
	type testCase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	}
	var suites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Cases   []testCase `xml:"testsuite>testcase"`
	}
	if err := xml.NewDecoder(report).Decode(&suites); err != nil {
		return err
	}
	// A test that fails, and whose fixture fails after it, stands there twice.
	failed := map[[2]string]bool{}
	for _, c := range suites.Cases {
		switch {
		case c.Failure != nil || c.Error != nil:
			failed[[2]string{c.Class, c.Name}] = true
		case c.Skipped != nil:
			t.skip(strings.TrimSpace(c.Class+" "+c.Name), c.Skipped.Message)
		default:
			t.passed++
		}
	}
	t.failed += len(failed)
	for c := range failed {
		t.failures = append(t.failures, strings.TrimSpace(c[0]+" "+c[1]))
	}
	slices.Sort(t.failures)
	return nil
}
