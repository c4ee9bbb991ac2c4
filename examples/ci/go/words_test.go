package words

import (
	"strings"
	"testing"
)

var text = strings.Repeat("to be or not to be ", 40)

func BenchmarkCount(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if Count(text)["be"] != 80 {
			b.Fatal("be")
		}
	}
}
