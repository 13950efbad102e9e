// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/ledger"
)

// Transient reports whether a model call that failed with err may go well if it is made
// again: an HTTP status of 408, 429, 500, 502, 503 or 504, a time-out, a broken
// connection, no answer at all, a retry of the client's own that was stopped
// ([ErrClientRetry]), and a response that is no answer ([answer.Error]) where it is
// empty or its error code names one of the former or a fault of the provider. What a
// provider blocked, cut at its limit of tokens or could not read comes out the same again.
// What was decided is never transient: a refusal, a budget, an approval, a cancelled run.
//
// Look at the call's context first: where it is done the error can be that of another call,
// since net/http returns the cause of the cancellation.
func Transient(err error) bool {
	if err == nil || decided(err) {
		return false
	}
	var fault *answer.Error
	if errors.As(err, &fault) {
		return fault.Fault == answer.Empty || fault.Fault == answer.Failed && transientCodes[strings.ToUpper(fault.Reason)]
	}
	if status := statusOf(err); status > 0 {
		return slices.Contains(transientStatus, status)
	}
	var timeout net.Error
	return errors.Is(err, answer.ErrNone) || errors.Is(err, ErrClientRetry) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

var transientStatus = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// transientCodes are the error codes of a response that may go well again: the names of
// google.rpc.Code and genai's word for no reason in particular, and HTTP statuses.
var transientCodes = map[string]bool{
	"DEADLINE_EXCEEDED": true, "RESOURCE_EXHAUSTED": true, "INTERNAL": true, "UNAVAILABLE": true, "ABORTED": true, "UNKNOWN": true,
	string(genai.FinishReasonOther): true, "408": true, "429": true, "500": true, "502": true, "503": true, "504": true,
}

// decided reports an error that says what somebody decided, not what went wrong.
func decided(err error) bool {
	var refusal *callbacks.Refusal
	return errors.As(err, &refusal) || errors.Is(err, callbacks.ErrFailed) || errors.Is(err, context.Canceled) ||
		errors.Is(err, tool.ErrConfirmationRequired) || errors.Is(err, tool.ErrConfirmationRejected) ||
		errors.Is(err, ledger.ErrBudgetExceeded) || errors.Is(err, ledger.ErrNeedsApproval) || errors.Is(err, counters.ErrUnavailable)
}

// statusOf finds the HTTP status a provider answered with; 0 where there is none. Errors
// of OpenAI's SDK are known by their field StatusCode: this package imports no SDK but
// genai.
func statusOf(err error) int {
	var api genai.APIError
	if errors.As(err, &api) {
		return api.Code
	}
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.ValueOf(err)
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct {
			if f := v.FieldByName("StatusCode"); f.IsValid() && f.Kind() == reflect.Int {
				return int(f.Int())
			}
		}
	}
	return 0
}

// askedDelay is how long the provider asks to wait; 0 where it does not say. See
// google.rpc.RetryInfo in the error details of Google's APIs.
func askedDelay(err error) time.Duration {
	var api genai.APIError
	if !errors.As(err, &api) {
		return 0
	}
	for _, d := range api.Details {
		kind, _ := d["@type"].(string)
		delay, _ := d["retryDelay"].(string)
		if strings.HasSuffix(kind, "google.rpc.RetryInfo") {
			if wait, err := time.ParseDuration(delay); err == nil {
				return wait
			}
		}
	}
	return 0
}
