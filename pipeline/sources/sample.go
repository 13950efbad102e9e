// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// SampleDate is the day of the sample set: what its answers are dated, and the
// day its companies are judged at unless [Options] says otherwise.
var SampleDate = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)

// sampleFiles holds one folder per fictional company, each document in the
// shape its source documents: company, bodacc, ratios, gdelt, gleif, vies. A
// missing document means that the source holds nothing; down.txt names the
// documents whose source answers 503. The register of asset freezes is shared.
//
//go:embed sample
var sampleFiles embed.FS

type sampleCompany struct {
	siren string // empty outside France
	legal string
	unit  rechercheUnit
	raw   json.RawMessage // unit as the registry writes it
	names []supplier.Name
	words map[string]bool // of names and address
	lei   gleifRecord
	files map[string][]byte
	down  []string
}

var sampleSet = sync.OnceValue(loadSample)

func loadSample() []sampleCompany {
	folders, err := fs.ReadDir(sampleFiles, "sample/companies")
	if err != nil {
		panic(err) // embedded
	}
	var set []sampleCompany
	for _, folder := range folders {
		set = append(set, loadCompany(path.Join("sample/companies", folder.Name())))
	}
	return set
}

// mustDecode panics on a broken document: the set is part of the program, and a
// test loads it whole.
func mustDecode(data []byte, v any) {
	if err := json.Unmarshal(data, v); err != nil {
		panic("sources: broken sample document: " + err.Error())
	}
}

func loadCompany(dir string) sampleCompany {
	c := sampleCompany{files: map[string][]byte{}, words: map[string]bool{}}
	entries, err := fs.ReadDir(sampleFiles, dir)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := sampleFiles.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			panic(err)
		}
		c.files[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = data
	}
	c.down = strings.Fields(string(c.files["down"]))
	if data, ok := c.files["gleif"]; ok {
		var l gleifList
		mustDecode(data, &l)
		c.lei = (*l.Data)[0]
		c.legal = cleanName(c.lei.Attributes.Entity.LegalName.Name)
	}
	if data, ok := c.files["company"]; ok {
		c.loadUnit(data)
	}
	return c
}

func (c *sampleCompany) loadUnit(data []byte) {
	var answer struct {
		Results []json.RawMessage `json:"results"`
	}
	mustDecode(data, &answer)
	c.raw = answer.Results[0]
	mustDecode(c.raw, &c.unit)
	c.siren, c.legal = c.unit.SIREN, c.unit.legalName()
	for _, n := range append([]string{c.unit.LegalName, c.unit.Acronym}, c.unit.tradeNames()...) {
		c.names = append(c.names, supplier.Normalize(n))
	}
	for _, w := range strings.Fields(supplier.Fold(c.unit.FullName + " " + c.unit.HeadOffice.Address)) {
		c.words[w] = true
	}
}

// answers reports whether a search for q would list the company: by one of its
// names, or by words of its name and address.
func (c sampleCompany) answers(q string) bool {
	n := supplier.Normalize(q)
	for _, name := range c.names {
		if supplier.CompareNames(n, name) != supplier.MatchNone {
			return true
		}
	}
	words := strings.Fields(supplier.Fold(q))
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !c.words[w] })
}

// passes reports whether the company passes the filters of a search.
func (c sampleCompany) passes(filters url.Values) bool {
	site := c.unit.HeadOffice
	for name, value := range map[string]string{"departement": site.Department, "code_postal": site.PostalCode, "nature_juridique": c.unit.LegalForm} {
		if want := filters.Get(name); want != "" && !slices.Contains(strings.Split(want, ","), value) {
			return false
		}
	}
	return true
}

// SampleNames returns the names of the fictional companies, sorted; a name that
// several of them bear appears once.
func SampleNames() []string {
	var names []string
	for _, c := range sampleSet() {
		names = append(names, c.legal)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// SampleHandler serves the sample set over HTTP in the shapes of the real
// sources, each under the path it has there. It is what ModeSample reads, and
// can stand in for all of them at once behind base URLs.
func SampleHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", serveSearch)
	mux.HandleFunc("GET /api/explore/v2.1/catalog/datasets/annonces-commerciales/records", serveNotices)
	mux.HandleFunc("GET /api/explore/v2.1/catalog/datasets/ratios_inpi_bce/records", serveRatios)
	mux.HandleFunc("GET "+freezePath+"derniere-publication-date", serveFreezeDate)
	mux.HandleFunc("GET "+freezePath+"derniere-publication-fichier-json", serveFreezes)
	mux.HandleFunc("GET /api/v2/doc/doc", serveNews)
	mux.HandleFunc("GET "+gleifPath, serveLEIs)
	mux.HandleFunc("GET "+gleifPath+"/{lei}", serveLEI)
	mux.HandleFunc("GET /taxation_customs/vies/rest-api/ms/{country}/vat/{number}", serveVAT)
	return mux
}

func serveJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client went away: nobody is left to tell
}

func serveDown(w http.ResponseWriter) {
	http.Error(w, "service unavailable", http.StatusServiceUnavailable)
}

// intParam reads a query parameter as a whole number between low and high.
func intParam(r *http.Request, name string, otherwise, low, high int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return otherwise
	}
	return min(max(n, low), high)
}

func serveSearch(w http.ResponseWriter, r *http.Request) {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if len([]rune(q)) < supplier.MinQueryLength {
		serveJSON(w, http.StatusBadRequest, map[string]string{"erreur": "3 caractères minimum pour les termes de la requête"})
		return
	}
	id, _ := supplier.ParseIdentifier(q) // what is no identifier is searched as a name, as the real source does
	hits := []json.RawMessage{}
	for _, c := range sampleSet() {
		if id.SIREN == "" && !c.passes(r.URL.Query()) {
			continue
		}
		if c.raw == nil || id.SIREN != "" && c.siren != id.SIREN || id.SIREN == "" && !c.answers(q) {
			continue
		}
		if slices.Contains(c.down, "company") {
			serveDown(w)
			return
		}
		hits = append(hits, c.raw)
	}
	page, per := intParam(r, "page", 1, 1, 1000), intParam(r, "per_page", 10, 1, 25)
	from := min((page-1)*per, len(hits))
	serveJSON(w, http.StatusOK, map[string]any{
		"results": hits[from:min(from+per, len(hits))], "total_results": len(hits),
		"page": page, "per_page": per, "total_pages": (len(hits) + per - 1) / per,
	})
}

var (
	whereSIREN  = regexp.MustCompile(`"([0-9]{9})"`)
	whereFamily = regexp.MustCompile(`familleavis="([a-z_]+)"`)
)

// sampleRecords finds the records of an Opendatasoft document for the SIREN in
// the request's filter.
func sampleRecords(r *http.Request, document string) (records []json.RawMessage, down bool) {
	records = []json.RawMessage{}
	m := whereSIREN.FindStringSubmatch(r.URL.Query().Get("where"))
	if m == nil {
		return records, false
	}
	for _, c := range sampleSet() {
		if c.siren != m[1] {
			continue
		}
		if slices.Contains(c.down, document) {
			return nil, true
		}
		var answer struct {
			Results []json.RawMessage `json:"results"`
		}
		if data, ok := c.files[document]; ok {
			mustDecode(data, &answer)
			records = append(records, answer.Results...)
		}
	}
	return records, false
}

func serveRecords(w http.ResponseWriter, r *http.Request, records []json.RawMessage) {
	offset, limit := intParam(r, "offset", 0, 0, 10000), intParam(r, "limit", 10, 1, 100)
	from := min(offset, len(records))
	serveJSON(w, http.StatusOK, map[string]any{
		"total_count": len(records), "results": records[from:min(from+limit, len(records))],
	})
}

func serveNotices(w http.ResponseWriter, r *http.Request) {
	records, down := sampleRecords(r, "bodacc")
	if down {
		serveDown(w)
		return
	}
	var families []string
	for _, m := range whereFamily.FindAllStringSubmatch(r.URL.Query().Get("where"), -1) {
		families = append(families, m[1])
	}
	records = slices.DeleteFunc(records, func(raw json.RawMessage) bool {
		var n bodaccNotice
		return json.Unmarshal(raw, &n) != nil || !slices.Contains(families, n.Family)
	})
	serveRecords(w, r, records)
}

func serveRatios(w http.ResponseWriter, r *http.Request) {
	records, down := sampleRecords(r, "ratios")
	if down {
		serveDown(w)
		return
	}
	serveRecords(w, r, records)
}
