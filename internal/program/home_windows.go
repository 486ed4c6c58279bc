package program

// TakeHome does nothing: the system has no HOME.
func TakeHome() {}
