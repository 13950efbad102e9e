// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

// leaseHeap has the lease that ends first on top. It implements heap.Interface.
type leaseHeap []*entry

func (h leaseHeap) Len() int           { return len(h) }
func (h leaseHeap) Less(i, j int) bool { return h[i].expires < h[j].expires }

func (h leaseHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].lease, h[j].lease = i, j
}

func (h *leaseHeap) Push(x any) {
	e := x.(*entry)
	e.lease = len(*h)
	*h = append(*h, e)
}

func (h *leaseHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}
