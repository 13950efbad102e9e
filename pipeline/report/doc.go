// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report turns facts and a score into a file a buyer can keep: one
// [Report] value, written as JSON, Markdown, one HTML page or a CSV row, in
// English or French. The JSON is the source of the others.
//
// Writing is deterministic: no clock, no map order, no random number; the same
// facts and as-of date give the same bytes. Every statement cites evidence by
// id, and "nothing found", "could not look" and "does not apply" are three
// different sentences everywhere.
//
// Everything that came from a source is escaped for the format it is written
// in, and only addresses on the fixed hosts of the sources become links.
package report
