// Package pfmon marks regions of a program for pfmon (docs/regions.md). Copy its files into a folder of your module:
//
//	sort := pfmon.Name("sort")
//	pfmon.Start(sort)
//	...
//	pfmon.Stop(sort)
//
// `pfmon --region sort ./program` counts what is between. A mark is a nop in a function of its own. Regions belong to
// threads: call runtime.LockOSThread before Start if the goroutine may change its thread before Stop.
package pfmon

// Region is the name of a region, with the 0 that ends it.
type Region []byte

// Name makes the name of a region.
func Name(name string) Region {
	return append([]byte(name), 0)
}

// Start lets the running thread enter a region.
func Start(region Region) {
	start(&region[0])
}

// Stop lets the running thread leave a region.
func Stop(region Region) {
	stop(&region[0])
}
