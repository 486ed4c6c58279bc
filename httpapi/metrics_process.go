package httpapi

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"
)

// writeRuntime adds the metrics of Go's runtime, under the names of Prometheus' own library.
// Nothing in it stops the program.
func writeRuntime(p *metricsPage) {
	p.family("go_info", "gauge", "The version of Go that built the program.")
	p.value("go_info", fmt.Sprintf("{version=%q}", runtime.Version()), 1)
	rows := []struct{ name, kind, help, read string }{
		{"go_goroutines", "gauge", "Goroutines.", "/sched/goroutines:goroutines"},
		{"go_sched_gomaxprocs_threads", "gauge", "Threads that may run Go code at a time.", "/sched/gomaxprocs:threads"},
		{"go_gc_cycles_total", "counter", "Collections of garbage.", "/gc/cycles/total:gc-cycles"},
		{"go_memstats_alloc_bytes_total", "counter", "Bytes that were allocated, freed ones included.", "/gc/heap/allocs:bytes"},
		{"go_memstats_mallocs_total", "counter", "Objects that were allocated, freed ones included.", "/gc/heap/allocs:objects"},
		{"go_memstats_frees_total", "counter", "Objects that were freed.", "/gc/heap/frees:objects"},
		{"go_memstats_heap_objects", "gauge", "Objects of the heap.", "/gc/heap/objects:objects"},
		{"go_memstats_heap_alloc_bytes", "gauge", "Bytes of the heap's objects.", "/memory/classes/heap/objects:bytes"},
		{"go_memstats_heap_released_bytes", "gauge", "Bytes of the heap that the system has back.", "/memory/classes/heap/released:bytes"},
		{"go_memstats_stack_inuse_bytes", "gauge", "Bytes of stacks.", "/memory/classes/heap/stacks:bytes"},
		{"go_memstats_next_gc_bytes", "gauge", "Bytes of the heap at which garbage is collected.", "/gc/heap/goal:bytes"},
		{"go_memstats_sys_bytes", "gauge", "Bytes that the runtime has from the system.", "/memory/classes/total:bytes"},
	}
	samples := make([]runtimemetrics.Sample, len(rows))
	for i := range rows {
		samples[i].Name = rows[i].read
	}
	runtimemetrics.Read(samples)
	for i, row := range rows {
		if samples[i].Value.Kind() == runtimemetrics.KindUint64 {
			p.one(row.name, row.kind, row.help, float64(samples[i].Value.Uint64()))
		}
	}
}

// ticksPerSecond is the unit of processor times in /proc: a hundredth of a second for every
// program, whatever the kernel uses itself.
const ticksPerSecond = 100

// writeProcess adds what Linux tells of the process. Other systems have no such files, and
// the page has no such metrics there.
func writeProcess(p *metricsPage) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	_, after, _ := bytes.Cut(stat, []byte(") ")) // the name of the program may hold blanks
	f := strings.Fields(string(after))
	field := func(number int) float64 { // as proc(5) counts them; the first behind the name is 3
		if i := number - 3; i < len(f) {
			v, _ := strconv.ParseFloat(f[i], 64)
			return v
		}
		return 0
	}
	p.one("process_cpu_seconds_total", "counter", "Processor time, of the user and of the system.", (field(14)+field(15))/ticksPerSecond)
	p.one("process_virtual_memory_bytes", "gauge", "Size of the virtual memory.", field(23))
	p.one("process_resident_memory_bytes", "gauge", "Size of the resident memory.", field(24)*float64(os.Getpagesize()))
	if booted := bootTime(); booted > 0 {
		p.one("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", booted+field(22)/ticksPerSecond)
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.one("process_open_fds", "gauge", "Open files and sockets.", float64(len(open)-1)) // one is the folder itself
	}
	if most := openLimit(); most > 0 {
		p.one("process_max_fds", "gauge", "Open files and sockets that the system allows.", most)
	}
}

// bootTime is when the system started, in seconds since 1970; 0: it is not told.
func bootTime() float64 {
	return lineOf("/proc/stat", "btime ")
}

// openLimit is how many files and sockets the process may have open; 0: it is not told.
func openLimit() float64 {
	return lineOf("/proc/self/limits", "Max open files")
}

// lineOf returns the first number behind the beginning of a line, or 0.
func lineOf(file, begin string) float64 {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			v, _ := strconv.ParseFloat(number, 64)
			return v
		}
	}
	return 0
}
