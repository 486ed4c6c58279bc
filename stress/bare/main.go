// Command bare is what the hub's short commands are measured beside: a program that makes one
// HTTP call with Go's own library, and nothing else. It also runs the programs that are
// measured, because a system counts the memory of the process that starts another one among
// the memory of the other one, and this one is small.
//
//	bare call METHOD URL [BODY]       makes the call
//	bare run FILE PROGRAM [ARG…]      runs the program and writes into FILE what it used
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// used is what a program has used.
type used struct {
	CPU    int64 `json:"cpu_us"`     // of the user and of the system
	Memory int64 `json:"memory_kib"` // resident at the peak; 0: the system does not tell
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) >= 3 && args[0] == "call":
		err = call(args[1], args[2], strings.Join(args[3:], " "))
	case len(args) >= 3 && args[0] == "run":
		err = run(args[1], args[2:])
	default:
		err = fmt.Errorf("bare: the arguments are call METHOD URL [BODY] or run FILE PROGRAM [ARG…]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func call(method, url, body string) error {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s\n%s", res.Status, text)
	}
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	return err
}

func run(file string, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	text, err := json.Marshal(used{
		CPU:    (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds(),
		Memory: peak(cmd.ProcessState),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
