// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// sampleFreezes is the sample register: a few entries made to be found, padded
// with invented ones to the size below which no register is believed.
var sampleFreezes = sync.OnceValue(func() []byte {
	data, err := sampleFiles.ReadFile("sample/lists/gels_avoirs.json")
	if err != nil {
		panic(err) // embedded
	}
	var file struct {
		Publications struct {
			Published string            `json:"DatePublication"`
			Entries   []json.RawMessage `json:"PublicationDetail"`
		} `json:"Publications"`
	}
	mustDecode(data, &file)
	for i := range minFreezeEntries {
		entry := fmt.Sprintf(`{"IdRegistre":%d,"Nature":"Personne physique","Nom":"INVENTE %04d","RegistreDetail":[]}`, 910000+i, i)
		file.Publications.Entries = append(file.Publications.Entries, json.RawMessage(entry))
	}
	data, err = json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return data
})

func serveFreezes(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(sampleFreezes()) // the client went away: nobody is left to tell
}

func serveFreezeDate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write([]byte("14/11/2026 09:12:31")) // Paris time of the register's DatePublication
}

// named is the sample company that bears exactly this legal name.
func named(name string) (sampleCompany, bool) {
	for _, c := range sampleSet() {
		if c.legal != "" && supplier.Fold(c.legal) == supplier.Fold(name) {
			return c, true
		}
	}
	return sampleCompany{}, false
}

func serveNews(w http.ResponseWriter, r *http.Request) {
	c, ok := named(r.URL.Query().Get("query"))
	switch {
	case ok && slices.Contains(c.down, "gdelt"):
		serveDown(w)
	case ok && c.files["gdelt"] != nil:
		serveJSON(w, http.StatusOK, json.RawMessage(c.files["gdelt"]))
	default:
		serveJSON(w, http.StatusOK, struct{}{})
	}
}

// serveLEIs answers the two filters that are asked: by national number and by
// legal name.
func serveLEIs(w http.ResponseWriter, r *http.Request) {
	number, name := r.URL.Query().Get("filter[entity.registeredAs]"), r.URL.Query().Get("filter[entity.legalName]")
	for _, c := range sampleSet() {
		hit := number != "" && (c.siren == number || c.lei.Attributes.Entity.RegisteredAs == number) ||
			name != "" && supplier.Normalize(c.legal).Equal(supplier.Normalize(name))
		switch {
		case hit && slices.Contains(c.down, "gleif"):
			serveDown(w)
			return
		case hit && c.files["gleif"] != nil:
			serveJSON(w, http.StatusOK, json.RawMessage(c.files["gleif"]))
			return
		}
	}
	serveJSON(w, http.StatusOK, map[string]any{
		"meta": map[string]any{"goldenCopy": map[string]string{"publishDate": "2026-11-15T00:00:00Z"}, "pagination": map[string]int{"total": 0}},
		"data": []any{},
	})
}

func serveLEI(w http.ResponseWriter, r *http.Request) {
	for _, c := range sampleSet() {
		if c.files["gleif"] == nil || c.lei.Attributes.LEI != r.PathValue("lei") {
			continue
		}
		var list struct {
			Meta json.RawMessage   `json:"meta"`
			Data []json.RawMessage `json:"data"`
		}
		mustDecode(c.files["gleif"], &list)
		serveJSON(w, http.StatusOK, map[string]any{"meta": list.Meta, "data": list.Data[0]})
		return
	}
	serveJSON(w, http.StatusNotFound, map[string]any{"errors": []map[string]string{{"status": "404", "title": "Not Found"}}})
}

// serveVAT says "valid" for the numbers that the sample registry publishes and
// for those with a document of their own.
func serveVAT(w http.ResponseWriter, r *http.Request) {
	country, number := r.PathValue("country"), r.PathValue("number")
	answer := map[string]any{
		"isValid": false, "requestDate": SampleDate, "userError": "INVALID", "name": "---", "address": "---",
		"requestIdentifier": "", "originalVatNumber": number, "vatNumber": number,
	}
	for _, c := range sampleSet() {
		if data := c.files["vies"]; data != nil && strings.Contains(string(data), `"`+number+`"`) {
			serveJSON(w, http.StatusOK, json.RawMessage(data))
			return
		}
		if !slices.Contains(c.unit.VAT, country+number) {
			continue
		}
		if slices.Contains(c.down, "vies") {
			serveDown(w)
			return
		}
		answer["isValid"], answer["userError"], answer["name"], answer["address"] = true, "VALID", c.legal, c.unit.HeadOffice.Address
	}
	serveJSON(w, http.StatusOK, answer)
}
