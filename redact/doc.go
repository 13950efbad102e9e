// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redact finds e-mail addresses and IBANs in text and replaces them,
// and whatever else a caller's regular expressions describe.
//
// Everything is found by one linear scan from anchors (an @, the check digits of
// an IBAN), which allocates nothing where nothing is found. An IBAN is known by
// its country, exact length, structure and check digits (ISO 13616), grouped or
// not, with any of the separators that word processors, web pages, URLs and
// JSON put between its groups. An e-mail address is known by the bounds of RFC
// 5321 and a top-level domain of letters; international ones (RFC 6531) and an
// @ written %40, &#64; or \u0040 count. French company numbers (SIREN, SIRET,
// VAT) are public and never touched.
//
// The same scan serves whole texts ([Redactor.String]), streams
// ([Redactor.Stream]), nested values ([Redactor.Value]), errors
// ([Redactor.Error]), writers ([NewWriter]) and logs ([NewHandler]).
//
// What it doesn't see: values in base64 or other encodings, an address broken
// over two lines, a quoted local part with spaces, an address spelled "alice at
// example dot com", a value without its top-level domain (root@localhost).
package redact
