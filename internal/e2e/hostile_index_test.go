// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileCases are the 44 hostile inputs of the due-diligence paper and the tests
// that send them: "folder.TestName", or "TestName" for this one. A case without a
// test says why.
var hostileCases = []struct {
	number int
	input  string
	tests  string
	why    string
}{
	{1, "an instruction typed for a name", "pipeline/sources.TestNamesStayValues pipeline/report.TestANameNeverMovesTheScore TestTheSameCompanyUnderAnInstruction", ""},
	{2, "an instruction registered as a name", "pipeline/sources.TestTheInjectionPayloadIsAnOrdinaryCompany TestTheSameCompanyUnderAnInstruction", ""},
	{3, "an instruction in a headline", "pipeline/sources.TestInjectedNewsChangesNothing TestInjectedHeadlinesMoveNothing", ""},
	{4, "an image that leaks", "pipeline/report.TestHostileNamesInMarkdown pipeline/report.TestHostileStories pipeline/report.TestPageInABrowser", ""},
	{5, "javascript: and data: addresses", "pipeline/report.TestHostileStories pipeline/report.TestOnlyTheSourcesOwnPagesAreLinks pipeline/sources.TestInjectedNewsChangesNothing", ""},
	{6, "script, img and svg", "pipeline/report.TestHostileNamesInHTML pipeline/report.TestHostileStories", ""},
	{7, "terminal escapes", "pipeline/supplier.TestClean pipeline/report.TestHostileStories cmd/duediligence.TestRefusedInput", ""},
	{8, "bidirectional controls", "pipeline/supplier.TestParseQueryNotes pipeline/supplier.TestClean", ""},
	{9, "zero-width characters", "pipeline/supplier.TestParseQueryNotes pipeline/supplier.TestEqualNames", ""},
	{10, "mixed scripts", "pipeline/supplier.TestParseQueryNotes", ""},
	{11, "full width and ligatures", "pipeline/supplier.TestEqualNames", ""},
	{12, "a name of a megabyte", "pipeline/supplier.TestParseQueryRefuses pipeline/sources.TestRefusedInputAsksNobody cmd/duediligence.TestRefusedInput", ""},
	{13, "stacked marks", "pipeline/supplier.TestParseQueryRefuses", ""},
	{14, "invalid UTF-8, NUL", "pipeline/supplier.TestParseQueryRefuses cmd/duediligence.TestRefusedInput", ""},
	{15, "a filter in a name", "pipeline/sources.TestNamesStayValues pipeline/sources.TestOnlyDigitsReachTheFilter", ""},
	{16, "parameters and headers in a name", "pipeline/sources.TestNamesStayValues", ""},
	{17, "operators of the press search", "pipeline/sources.TestNewsQuery", ""},
	{18, "paths and flags for names", "cmd/duediligence.TestNamesThatLookLikeFlags pipeline/batch.TestANameIsNeverAPath", ""},
	{19, "formulas for a spreadsheet", "pipeline/report.TestCSV pipeline/batch.TestSummaryIsSortedByRisk", ""},
	{20, "Markdown in a table", "pipeline/report.TestHostileNamesInMarkdown", ""},
	{21, "templates of the framework", "TestAHostileNameChangesNothing TestTheSameCompanyUnderAnInstruction", ""},
	{22, "addresses of the inside", "pipeline/report.TestHostileStories TestInjectedHeadlinesMoveNothing", ""},
	{23, "base addresses of others", "cmd/duediligence.TestBaseAddressesAreTakenApart pipeline/sources.TestNonsenseOptions", ""},
	{24, "redirects and rebinding", "pipeline/sources.TestFaults pipeline/sources.TestPrivateAddressesAreRefused", ""},
	{25, "bombs and drips", "pipeline/sources.TestGzipBombAndDrip", ""},
	{26, "a login page", "pipeline/sources.TestFaults", ""},
	{27, "odd JSON", "pipeline/sources.TestOddJSON pipeline/sources.TestFaults pipeline/sources.FuzzRecherche pipeline/sources.FuzzNotices pipeline/sources.FuzzAccounts pipeline/sources.FuzzFreezes pipeline/sources.FuzzNews pipeline/sources.FuzzRegisters", ""},
	{28, "an answer about another company", "pipeline/sources.TestFaults pipeline/sources.TestOddJSON", ""},
	{29, "a list cut short, old or of tomorrow", "pipeline/sources.TestListThatMustNotBeScreened", ""},
	{30, "list entries without a name", "pipeline/sources.TestListNamesThatMatchNothing", ""},
	{31, "ten thousand stories", "pipeline/sources.TestStoriesAboutOthersOrDenialsAreForAPersonToRead", ""},
	{32, "a namesake abroad", "pipeline/sources.TestStoriesAboutOthersOrDenialsAreForAPersonToRead", ""},
	{33, "acquittals and denials", "pipeline/sources.TestStoriesAboutOthersOrDenialsAreForAPersonToRead", ""},
	{34, "figures, addresses and years that a model invents", "agents.TestCheckDraftFindsWhatIsWrong TestDraftsWithInventions", ""},
	{35, "a check that a model says was done", "agents.TestCheckDraftFindsWhatIsWrong TestDraftsWithInventions", ""},
	{36, "calls of other tools and about others", "TestToolCallsThatAreRefused TestForeignCallsUseUpTheBudget", ""},
	{37, "reviewers without a verdict", "TestAReviewerThatNeverApproves TestReviewersThatGiveNoVerdict TestDraftsWithInventions", ""},
	{38, "accounts that the supplier hands over", "", "no such input: the product reads no file of the supplier's; declared accounts are a later source"},
	{39, "a list of a million rows", "pipeline/batch.TestManyRowsAreStreamed pipeline/batch.TestRowsAreRead", ""},
	{40, "a cache edited by hand", "pipeline/sources.TestCacheBelievesNothingDoubtful pipeline/sources.TestAnEditedRecordingIsNotBelieved", ""},
	{41, "secrets in the environment and in errors", "cmd/duediligence.TestSecretsStayOut TestTheKeyIsInNoError", ""},
	{42, "Ctrl-C, a full disk, a read-only folder", "cmd/duediligence.TestInterrupted cmd/duediligence.TestAFullDiskKeepsTheOldReport cmd/duediligence.TestFullDisk cmd/duediligence.TestReadOnlyFolder cmd/duediligence.TestAnswersThatCannotBeKept pipeline/batch.TestAnInterruptedBatchGoesOn", ""},
	{43, "as-of dates past and to come", "cmd/duediligence.TestAsOf pipeline/sources.TestFactsAfterTheAsOfDateAreLeftOut", ""},
	{44, "two runs at once", "cmd/duediligence.TestTwoRunsAtOnce", ""},
}

// Every hostile case has tests, and they are there.
func TestEveryHostileCaseIsTested(t *testing.T) {
	require.Len(t, hostileCases, 44)
	tests := map[string]map[string]bool{}
	for i, c := range hostileCases {
		require.Equal(t, i+1, c.number)
		require.NotEqual(t, c.tests == "", c.why == "", "case %d", c.number)
		for _, name := range strings.Fields(c.tests) {
			folder, test := "", name
			if at := strings.LastIndexByte(name, '.'); at >= 0 {
				folder, test = name[:at], name[at+1:]
			}
			if tests[folder] == nil {
				tests[folder] = testsIn(t, folder)
				if folder == "" {
					maps.Copy(tests[folder], testsIn(t, "internal/e2e"))
				}
			}
			require.True(t, tests[folder][test], "case %d: %s has no %s", c.number, folder, test)
		}
	}
}

// testsIn lists the tests and fuzz targets of a package, by its source.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	found := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && (strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "Fuzz")) {
				found[fn.Name.Name] = true
			}
		}
	}
	return found
}
