// Package words counts words.
package words

import "strings"

// Count returns how often each word occurs in a text.
func Count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	return counts
}
