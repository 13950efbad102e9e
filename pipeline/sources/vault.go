// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"
)

// vaultVersion changes with the format of what is stored; older files are then
// as good as absent.
const vaultVersion = 1

// vault keeps answers in a folder, one file each, named by a hash of the
// request: no name of a supplier ever becomes a file name. Files are readable
// by their owner alone, appear whole or not at all, and are checked when read.
type vault struct{ root *os.Root }

// stored is the first line of a file; the body follows it.
type stored struct {
	Version     int       `json:"version"`
	URL         string    `json:"url"`
	RetrievedAt time.Time `json:"retrieved_at"`
	Status      int       `json:"status,omitempty"`
	ContentType string    `json:"content_type,omitempty"`
	Location    string    `json:"location,omitempty"`
	Failure     string    `json:"failure,omitempty"` // instead of an answer: a code of Failure
	SHA256      string    `json:"sha256"`            // of the body
}

func openVault(dir string, create bool) (*vault, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("sources: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoRecording, err)
	}
	if err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	return &vault{root}, nil
}

func requestKey(req *http.Request) string {
	sum := sha256.Sum256([]byte(req.Method + " " + req.URL.String()))
	return hex.EncodeToString(sum[:])
}

// load returns what is stored for req; ok is false when there is nothing, or
// something that cannot be trusted: another version or request, a changed body,
// a link.
func (v *vault) load(req *http.Request) (s stored, body []byte, ok bool) {
	name := requestKey(req)
	info, err := v.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return stored{}, nil, false
	}
	data, err := v.root.ReadFile(name)
	if err != nil {
		return stored{}, nil, false
	}
	head, body, found := bytes.Cut(data, []byte("\n"))
	if !found || json.Unmarshal(head, &s) != nil {
		return stored{}, nil, false
	}
	sum := sha256.Sum256(body)
	if s.Version != vaultVersion || s.URL != req.URL.String() || s.SHA256 != hex.EncodeToString(sum[:]) {
		return stored{}, nil, false
	}
	return s, body, true
}

func (v *vault) save(req *http.Request, s stored, body []byte) error {
	sum := sha256.Sum256(body)
	s.Version, s.URL, s.SHA256 = vaultVersion, req.URL.String(), hex.EncodeToString(sum[:])
	head, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("sources: %w", err)
	}
	return v.write(requestKey(req), append(append(head, '\n'), body...))
}

// write replaces a file in one step, so that a reader or a second run never
// sees half of it.
func (v *vault) write(name string, data []byte) error {
	temp := name + "." + rand.Text() + ".tmp"
	err := v.root.WriteFile(temp, data, 0o600)
	if err == nil {
		err = v.root.Rename(temp, name)
	}
	if err != nil {
		_ = v.root.Remove(temp) // whatever is left of it; the first error is the one to tell
		return fmt.Errorf("sources: %w", err)
	}
	return nil
}

// response is what is stored, as an HTTP answer that tells when it was
// retrieved.
func (s stored) response(req *http.Request, body []byte) *http.Response {
	h := http.Header{retrievedHeader: {s.RetrievedAt.Format(time.RFC3339)}}
	if s.ContentType != "" {
		h.Set("Content-Type", s.ContentType)
	}
	if s.Location != "" {
		h.Set("Location", s.Location)
	}
	return &http.Response{
		StatusCode: s.Status, Status: http.StatusText(s.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}

// retrievedHeader carries the time at which a stored answer was retrieved from
// the transports below to the envelope.
const retrievedHeader = "Gardefou-Retrieved-At"

// manifest is what a recording needs beside the answers.
type manifest struct {
	Version    int       `json:"version"`
	RecordedAt time.Time `json:"recorded_at"`
	AsOf       string    `json:"as_of"`
}

// ErrNoRecording is the error of a folder to replay that holds none.
var ErrNoRecording = errors.New("sources: the folder holds no recording")

const manifestName = "recording.json"

func (v *vault) readManifest() (manifest, error) {
	data, err := v.root.ReadFile(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, ErrNoRecording
	}
	if err != nil {
		return manifest{}, fmt.Errorf("sources: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil || m.Version != vaultVersion || m.RecordedAt.IsZero() {
		return manifest{}, errors.New("sources: the recording is unreadable or of another version")
	}
	if _, err := time.Parse(time.DateOnly, m.AsOf); err != nil {
		return manifest{}, errors.New("sources: the recording has no as-of date")
	}
	return m, nil
}

func (v *vault) writeManifest(m manifest) error {
	m.Version = vaultVersion
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("sources: %w", err)
	}
	return v.write(manifestName, append(data, '\n'))
}
