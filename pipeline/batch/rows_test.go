// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
)

// A batch that is interrupted ends at whatever row comes next, one that can't be read
// included.
func TestAnInterruptedBatchEndsAtAnyRow(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, next := range map[string]string{
		"a line far too long": long + "\n" + long + "\n",
		"a quote left open":   "\"Transports\n\"Transports\n",
		"an empty row":        ",Quimper\n,Quimper\n",
		"another supplier":    "Conserverie des Embruns,\n",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := options(t, t.TempDir())
			o.Jobs = 1
			o.Done = func(batch.Row) { cancel() }
			_, err := batch.Run(ctx, strings.NewReader("name,city\nTransports Kervalec,Quimper\n"+next+next+next+"Transports Kervalec,\n"), o)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// A cell with line breaks is one cell: no line of an address is a supplier.
func TestALineOfACellIsNoSupplier(t *testing.T) {
	const address = "\"1 rue du Port\nConserverie des Embruns\n29000 Quimper\""
	for name, file := range map[string]string{
		"with a header":       "name,address\n\"Transports Kervalec\"," + address + "\n",
		"without one":         "\"Transports Kervalec\"," + address + "\n",
		"CR LF":               strings.ReplaceAll("name,address\n\"Transports Kervalec\","+address+"\n", "\n", "\r\n"),
		"a name in two lines": "address,name\n" + address + ",\"Transports\nKervalec\"\n",
		"a quote left open":   "name,address\nTransports Kervalec,\"29000 Quimper\"\nAtelier Nordet,\"1 rue du Port\nConserverie des Embruns\n29000 Quimper\n",
		"a quote in a cell":   "name,address\nTransports Kervalec,x\nAtelier Nordet,\"1 rue \"du\" Port\nConserverie des Embruns, Brest\n29000 Quimper\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got, err := batch.Run(t.Context(), strings.NewReader(file), options(t, dir))
			require.NoError(t, err)
			require.Equal(t, 1, got.Done, got)
			require.FileExists(t, filepath.Join(dir, "999991011", "report.json"))
			require.NoDirExists(t, filepath.Join(dir, "999991037"))
		})
	}
}

// The tables that spreadsheets write are read, whatever their encoding and separator.
func TestTablesOfSpreadsheets(t *testing.T) {
	const table = "Code\tRaison sociale\tSIREN\tMontant\r\n" +
		"1\tBâtisseurs du Menhir\t999991029\t1,5\r\n\r\n2\tSociété Inconnue de l’Étoile\t\t2,5\r\n\t\t\t\r\n3\t\"Transports\nKervalec\"\t=\"999991011\"\t3,5\r\n"
	encodings := map[string]encoding.Encoding{
		"UTF-8":           encoding.Nop,
		"UTF-8, BOM":      unicode.UTF8BOM,
		"UTF-16 LE, BOM":  unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"UTF-16 BE, BOM":  unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		"UTF-16 LE, bare": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"UTF-16 BE, bare": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"Windows-1252":    charmap.Windows1252,
	}
	for name, e := range encodings {
		for _, sep := range []string{"\t", ";", ","} {
			t.Run(fmt.Sprintf("%s, %q", name, sep), func(t *testing.T) {
				plain := table
				if sep == "," {
					plain = strings.ReplaceAll(plain, ",5", ".5")
				}
				file, err := e.NewEncoder().String(strings.ReplaceAll(plain, "\t", sep))
				require.NoError(t, err)
				dir := t.TempDir()
				o := options(t, dir)
				o.Found = func(f batch.Found) {
					require.True(t, strings.HasPrefix(name, f.Encoding), f.Encoding)
					require.Equal(t, sep, f.Separator)
					require.Equal(t, []string{"Raison sociale", "SIREN"}, f.Columns)
				}
				got, err := batch.Run(t.Context(), strings.NewReader(file), o)
				require.NoError(t, err)
				require.Equal(t, batch.Summary{Done: 2, Failed: 1}, got)
				rows := summary(t, dir)
				require.Len(t, rows, 5)
				for i, status := range []string{"done", "blank", "not_found", "blank", "done"} {
					require.Equal(t, strconv.Itoa(i+2), rows[i]["row"], "as a spreadsheet counts")
					require.Equal(t, status, rows[i]["status"])
				}
				require.Equal(t, "Bâtisseurs du Menhir", rows[0]["Raison sociale"])
				require.Equal(t, "Société Inconnue de l’Étoile", rows[2]["Raison sociale"])
				require.Equal(t, "999991011", rows[4]["folder"])
			})
		}
	}
}

// A blank row comes out where it stands, so that the columns of the summary fit beside the
// sheet; empty lines above the header and at the end are no rows.
func TestBlankRowsComeOut(t *testing.T) {
	const none, done = "blank", "done"
	for name, x := range map[string]struct {
		file  string
		first int
		want  []string
	}{
		"separators":              {"name;siren\n;;\nTransports Kervalec;\n;\n", 2, []string{none, done, none}},
		"an empty line":           {"name;siren\n\nTransports Kervalec;\n\n\n;999991011\n\n\n", 2, []string{none, done, none, none, done}},
		"quotes":                  {"name;siren\nTransports Kervalec;\n\"\";\"\"\n;999991011\n", 2, []string{done, none, done}},
		"one column":              {"name\nTransports Kervalec\n\"\"\n\n", 2, []string{done, none}},
		"many":                    {"name\n" + strings.Repeat("\n", 500) + "Transports Kervalec", 2, append(slices.Repeat([]string{none}, 500), done)},
		"above the header":        {"\n;\nname;siren\nTransports Kervalec;\n", 4, []string{done}},
		"above all, no header":    {"\nTransports Kervalec\n", 1, []string{none, done}},
		"blanks within the quote": {"name;siren\n\" \n \";\nTransports Kervalec;\n", 2, []string{none, done}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := options(t, dir)
			o.Done = func(r batch.Row) { require.NoError(t, r.Err) }
			got, err := batch.Run(t.Context(), strings.NewReader(x.file), o)
			require.NoError(t, err)
			require.Equal(t, batch.Summary{Done: 1, Repeated: strings.Count(x.file, "999991011")}, got)
			rows := summary(t, dir)
			require.Len(t, rows, len(x.want))
			for i, row := range rows {
				require.Equal(t, strconv.Itoa(x.first+i), row["row"])
				require.Equal(t, x.want[i], row["status"], row)
				if row["status"] == none {
					require.Empty(t, row["error"]+row["next_step"]+row["name"]+row["siren"]+row["legal_name"])
				}
			}
			table, _ := overviewRows(t, dir)
			require.Len(t, table, 2, "the overview has the suppliers and no blank row")
		})
	}
}

// ASCII says nothing about an encoding: the first other bytes do, however late they come.
func TestAnEncodingThatShowsLate(t *testing.T) {
	for _, e := range []encoding.Encoding{encoding.Nop, charmap.Windows1252} {
		late, err := e.NewEncoder().String("Bâtisseurs du Menhir\n")
		require.NoError(t, err)
		dir := t.TempDir()
		_, err = batch.Run(t.Context(), strings.NewReader("name\n"+strings.Repeat("ab\n", 30_000)+late), options(t, dir))
		require.NoError(t, err)
		require.DirExists(t, filepath.Join(dir, "999991029"))
	}
}

// What can't be read as a table of suppliers is refused before anything is written or
// asked, in words that say what to do.
func TestFilesThatAreRefused(t *testing.T) {
	mac, err := charmap.Macintosh.NewEncoder().String("nom\nSociété Générale de Bâtiment\n")
	require.NoError(t, err)
	dos, err := charmap.CodePage850.NewEncoder().String("nom\nSociété Générale de Bâtiment\n")
	require.NoError(t, err)
	for name, x := range map[string]struct {
		file    string
		columns []string
		want    text.Key
	}{
		"nothing":                    {"", nil, text.BatchEmpty},
		"blank lines":                {"\n;;\n \n", nil, text.BatchEmpty},
		"a byte order mark":          {"\ufeff", nil, text.BatchEmpty},
		"a header":                   {"name;siren\r\n", nil, text.BatchHeaderOnly},
		"a header and blanks":        {"name;siren\r\n;\r\n\r\n", nil, text.BatchHeaderOnly},
		"an unknown header":          {"Kontrahent\nTransports Kervalec\n", nil, text.BatchUnknownHeader},
		"several unknown headers":    {"Kontrahent;Ort\nTransports Kervalec;Quimper\n", nil, text.BatchUnknownHeader},
		"a header of several words":  {"Nombre del proveedor;Ciudad\nTransports Kervalec;Quimper\n", nil, text.BatchUnknownHeader},
		"a code and an address":      {"Code fournisseur;Ville\n12;Quimper\n", nil, text.BatchUnknownHeader},
		"a column that is not there": {"name;city\nTransports Kervalec;Quimper\n", []string{"Vendor"}, text.BatchNoColumn},
		"a column too far":           {"Transports Kervalec;Quimper\n", []string{"3"}, text.BatchNoColumn},
		"a workbook":                 {"PK\x03\x04\x14\x00", nil, text.BatchWorkbook},
		"an old Mac's text":          {mac, nil, text.BatchEncoding},
		"a DOS text":                 {dos, nil, text.BatchEncoding},
	} {
		for _, lang := range []text.Lang{text.English, text.French} {
			dir := filepath.Join(t.TempDir(), "out")
			o := options(t, dir)
			o.Columns, o.Pipeline.Lang = x.columns, string(lang)
			_, err := batch.Run(t.Context(), strings.NewReader(x.file), o)
			var refused *batch.InputError
			require.ErrorAs(t, err, &refused, name)
			start, _, _ := strings.Cut(text.Get(lang, x.want), "%")
			require.True(t, strings.HasPrefix(refused.Text, start), "%s: %s", name, refused.Text)
			require.NotContains(t, refused.Text, "%!")
			require.NoDirExists(t, dir, name)
		}
	}
}

// The columns that say who is meant may have any header.
func TestColumnsThatAreNamed(t *testing.T) {
	for name, x := range map[string]struct {
		file    string
		columns []string
		want    batch.Summary
	}{
		"by an unknown header":        {"Nr;Kontrahent\n12;Transports Kervalec\n", []string{"kontrahent"}, batch.Summary{Done: 1}},
		"a name and a number":         {"Kontrahent;Kennung\nTransports Kervalec;999991011\n", []string{"Kontrahent", "Kennung"}, batch.Summary{Done: 1}},
		"that disagree":               {"Kontrahent;Kennung\nTransports Kervalec;999991029\n", []string{"Kontrahent", "Kennung"}, batch.Summary{Failed: 1}},
		"two names":                   {"A;B\nTransports Kervalec;Atelier Nordet\n", []string{"A", "B"}, batch.Summary{Failed: 1}},
		"by place, without a header":  {"12;Quimper;Kervalec Transports\n", []string{"3"}, batch.Summary{Done: 1}},
		"a known one of no concern":   {"name;TVA\nTransports Kervalec;20,00\n", []string{"name"}, batch.Summary{Done: 1}},
		"in German":                   {"Lieferant;USt-IdNr.\nTransports Kervalec;FR16999991011\n", nil, batch.Summary{Done: 1}},
		"in French":                   {"Code fournisseur;Nom du fournisseur;N° SIRET;N° TVA intracommunautaire\n1;Transports Kervalec;;FR 16 999 991 011\n", nil, batch.Summary{Done: 1}},
		"in two lines":                {"\"Raison\nsociale\";Ville\nTransports Kervalec;Quimper\n", nil, batch.Summary{Done: 1}},
		"said by Excel's first line":  {"sep=;\nname;siren\nTransports Kervalec;999991011\n", nil, batch.Summary{Done: 1}},
		"the number first, no header": {"999991011,Transports Kervalec\n999991029,Transports Kervalec\n", nil, batch.Summary{Done: 1, Failed: 1}},
		"a comma in the only column":  {"name\nKervalec, Transports\n", nil, batch.Summary{Done: 1}},
		"a comma that is not quoted":  {"name,city\nTransports Kervalec, SARL,Quimper\n", nil, batch.Summary{Failed: 1}},
	} {
		o := options(t, t.TempDir())
		o.Columns = x.columns
		got, err := batch.Run(t.Context(), strings.NewReader(x.file), o)
		require.NoError(t, err, name)
		require.Equal(t, x.want, got, name)
	}
}

// No row is researched as a company that it does not name, however it says who is meant.
func TestARowIsAboutTheCompanyItNames(t *testing.T) {
	const file = "vendor;Fournisseur;SIREN;TVA;LEI\n" +
		"V1;Conserverie des Embruns;;FR70999991029;\n" +
		"V2;Conserverie des Embruns;999991029;;\n" +
		"V3;Conserverie des Embruns;;;9695FICTIF0000000303\n" +
		"V4;Conserverie des Embruns;;;5299FICTIF0000000205\n" +
		"V5;;999991037;FR70999991029;\n" +
		"V6;;999991029;;9695FICTIF0000000303\n" +
		"V7;Conserverie des Embruns;n/a;-;\n" +
		"V8;Conserverie des Embruns;Quimper;;\n" +
		"V9;Conserverie des Embruns;9,99991E+13;;\n"
	for lang, word := range map[string]string{"en": "belong", "fr": "appartien"} {
		dir := t.TempDir()
		o := options(t, dir)
		o.Pipeline.Lang = lang
		got, err := batch.Run(t.Context(), strings.NewReader(file), o)
		require.NoError(t, err)
		require.Equal(t, batch.Summary{Done: 1, Failed: 8}, got)
		for i, row := range summary(t, dir) {
			require.Equal(t, "V"+strconv.Itoa(i+1), row["vendor"])
			if row["vendor"] == "V7" {
				require.Equal(t, "999991037", row["folder"])
				continue
			}
			require.Equal(t, "refused", row["status"], row)
			require.Empty(t, row["rating"]+row["folder"]+row["legal_name"])
			if i < 6 {
				require.Contains(t, row["error"], word)
			}
		}
		rows := summary(t, dir)
		require.Contains(t, rows[0]["error"], "BATISSEURS DU MENHIR, ", "the owner of the number is named")
		require.Contains(t, rows[8]["error"], map[string]string{"en": "spreadsheet", "fr": "tableur"}[lang])
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 3)
	}
}

// A row that fails says why in the language of the batch, without codes; one that may
// mean several companies lists them.
func TestRowsSayWhyTheyFail(t *testing.T) {
	const file = "name,city\nAtelier Nordet,\nZorglub,\n\"Transports\" Kervalec,\nab,\nPhare du Raz Négoce,\n,Quimper\nA,b,c\n"
	for lang, want := range map[string][]string{
		"en": {"several active companies bear this name; give the number of one: ATELIER NORDET", "no company bears this name", "text follows a closing quote", "at least 3 characters", "does not answer", "names nobody", "3 cells, the header 2"},
		"fr": {"plusieurs entreprises actives portent ce nom ; donner le numéro de l'une d'elles : ATELIER NORDET", "aucune entreprise ne porte ce nom", "du texte suit un guillemet", "au moins 3 caractères", "ne répond pas", "ne nomme personne", "3 cellules, l'en-tête 2"},
	} {
		dir := t.TempDir()
		o := options(t, dir)
		o.Pipeline.Lang = lang
		var said []string
		o.Done = func(r batch.Row) {
			var why *batch.RowError
			require.ErrorAs(t, r.Err, &why)
			said = append(said, why.Text)
		}
		_, err := batch.Run(t.Context(), strings.NewReader(file), o)
		require.NoError(t, err)
		rows := summary(t, dir)
		require.Len(t, rows, len(want))
		for i, row := range rows {
			require.Contains(t, row["error"], want[i], lang)
			require.Contains(t, said, row["error"])
			require.NotEmpty(t, row["status"])
		}
		for _, number := range []string{"999991060", "999991078", "999991086"} {
			require.Contains(t, rows[0]["error"], number)
		}
		require.Equal(t, "ambiguous", rows[0]["status"])
		require.Equal(t, "not_found", rows[1]["status"])
		require.Equal(t, "unreadable", rows[2]["status"])
	}
}

// As many rows come out as go in, in the order of the file, each with its own cells; a
// repeated supplier points to its first row, whichever was researched first.
func TestEveryRowComesOut(t *testing.T) {
	const n = 500
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	subjects := []struct{ name, number, folder string }{
		{"Transports Kervalec", "", "999991011"},
		{"", "999991011", "999991011"},
		{"Bâtisseurs du Menhir", "FR70999991029", "999991029"},
		{"Conserverie des Embruns", "", "999991037"},
		{"", "999991052", "999991052"},
		{"Nordwick Maschinenbau", "5299FICTIF0000000205", "5299FICTIF0000000205"},
		{"Transports Kervalec", "999991029", ""},
		{"Atelier Nordet", "", ""},
		{"Zorglub", "", ""},
		{"", "", ""},
		{"=1+1", "", ""},
	}
	var file strings.Builder
	file.WriteString("ref;siren;Raison sociale;note\n")
	want := make([]string, n)
	for i := range n {
		s := subjects[r.IntN(len(subjects))]
		want[i] = s.folder
		fmt.Fprintf(&file, "R%d;%s;%s;\"a;b\n%d\"\n", i, s.number, s.name, i)
	}
	dir := t.TempDir()
	o := options(t, dir)
	o.Jobs = 8
	got, err := batch.Run(t.Context(), strings.NewReader(file.String()), o)
	require.NoError(t, err)
	require.Equal(t, n, got.Done+got.Repeated+got.Failed)
	rows := summary(t, dir)
	require.Len(t, rows, n)
	first := map[string]string{}
	for i, row := range rows {
		require.Equal(t, strconv.Itoa(i+2), row["row"])
		require.Equal(t, "R"+strconv.Itoa(i), row["ref"])
		require.Equal(t, fmt.Sprintf("a;b\n%d", i), row["note"])
		require.Equal(t, want[i], row["folder"])
		require.NotEmpty(t, row["status"])
		if want[i] == "" {
			require.NotEmpty(t, row["error"])
			require.Empty(t, row["same_as"])
			continue
		}
		require.NotEmpty(t, row["rating"])
		require.NotEmpty(t, row["next_step"])
		require.Equal(t, first[want[i]], row["same_as"])
		if first[want[i]] == "" {
			first[want[i]] = row["row"]
		}
	}
}

// A row over the limit, and one whose bytes are no text, cost themselves.
func TestARowCostsItself(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, row := range map[string]string{
		"a long line":             long + ",x\n",
		"a long cell":             "Nordet,\"" + strings.Repeat("x\n", 40<<10) + "\"\n",
		"a long line in a cell":   "Nordet,\"a\n" + long + "\nb\"\n",
		"bytes that are no UTF-8": "Bâtisseurs du Menhir \xff,x\n",
		"a quote left open":       "\"Nordet,x\n",
		"text after a quote":      "\"Nordet\" x,x\n",
		"an odd quote":            "\"Nordet\" 5\",x\n",
	} {
		dir := t.TempDir()
		got, err := batch.Run(t.Context(), strings.NewReader("name,city\nConserverie des Embruns,é\n"+row+"Transports Kervalec,Quimper\n"), options(t, dir))
		require.NoError(t, err)
		require.Equal(t, 2, got.Done, name)
		require.Positive(t, got.Failed, name)
		require.Equal(t, "Transports Kervalec", summary(t, dir)[got.Done+got.Failed-1]["name"], name)
	}
}
