// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/gardefou/gardefou/internal/text"
)

// A host is an address that a run was begun with, and how it is named again: no host is taken
// from a folder, since whatever wrote it would get the prompts, the look-ups and the key.
type host struct {
	address string
	flag    string
	given   bool // again
}

// hosts are those of a kept run, but for the ledger's; c is what is given now. The model's server
// may have moved.
func (c *config) hosts(kept config, given given) []host {
	var all []host
	if base := kept.model.BaseURL; base != "" {
		all = append(all, host{base, c.named(&c.model.BaseURL) + " " + quotedAddress(base), given.has(c, &c.model.BaseURL)})
	}
	if plain := kept.model.AllowHTTP; plain != "" {
		all = append(all, host{plain, c.named(&c.model.AllowHTTP) + " " + quotedAddress(plain), given.has(c, &c.model.AllowHTTP)})
	}
	for _, s := range namedSources {
		if url := kept.sourceURLs[s.name]; url != "" {
			flag := c.named(&c.sourceURLs) + " " + quotedAddress(s.name+"="+url)
			all = append(all, host{url, flag, c.sourceURLs[s.name] == url})
		}
	}
	if kept.sources.AllowPrivateHosts && len(kept.sourceURLs) > 0 {
		all = append(all, host{"", c.named(&c.sources.AllowPrivateHosts), c.sources.AllowPrivateHosts})
	}
	return all
}

// restoreHosts refuses a run whose hosts are not all named again.
func (c *config) restoreHosts(kept config, given given) error {
	var addresses, flags []string
	for _, h := range c.hosts(kept, given) {
		if h.given {
			continue
		}
		flags = append(flags, h.flag)
		if h.address != "" {
			addresses = append(addresses, h.address)
		}
	}
	if len(flags) == 0 {
		return nil
	}
	return refuseIn(text.Lang(kept.options.Lang), text.ResumeHost, strings.Join(addresses, ", "), strings.Join(flags, " "))
}

// quoted is a path as a shell takes it.
func quoted(path string) string { return quotedBut(path, "._/-") }

// quotedAddress is an address as a shell takes it.
func quotedAddress(s string) string { return quotedBut(s, "._/-:=@") }

func quotedBut(s, plain string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
