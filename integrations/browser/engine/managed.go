package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// folderOf returns the folder of all managed engines.
func folderOf(dataRoot string) string {
	return filepath.Join(dataRoot, "browsers", "chrome-headless-shell")
}

// executable returns the program of a managed engine.
func executable(dataRoot string, p *Pin) string {
	return filepath.Join(folderOf(dataRoot), p.Version+"-"+p.Platform, p.file())
}

// verify reports whether a managed engine is what its pin says.
func verify(dataRoot string, p *Pin) error {
	sum, err := sumOf(executable(dataRoot, p))
	if err != nil {
		return err
	}
	if p.ExecutableSHA256 != "" && sum != p.ExecutableSHA256 {
		return errors.New("its checksum is not the pinned one")
	}
	return nil
}

// sumOf returns the SHA-256 of a file in hexadecimal digits.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
