package pfmon

//go:noescape
func start(name *byte)

//go:noescape
func stop(name *byte)
