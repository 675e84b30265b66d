// SPDX-License-Identifier: Apache-2.0

// How long grafana's parser takes for the events that it knows, from opening the file on:
//
//	grafana_jfr PASSES FILE		prints CPU seconds and events of each pass
//	grafana_jfr pprof FILE OUT	from reading the file to a profile on disk
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/grafana/jfr-parser/parser"
	"github.com/grafana/jfr-parser/pprof"
)

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func parse(path string) (events int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	p := parser.NewParser(data, parser.Options{})
	for err == nil {
		if _, err = p.ParseEvent(); err == nil {
			events++
		}
	}
	if err == io.EOF {
		err = nil
	}
	return events, err
}

func toPprof(path, out string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	profiles, err := pprof.ParseJFR(data, &pprof.ParseInput{SampleRate: 100}, nil)
	if err != nil {
		return err
	}
	for i, profile := range profiles.Profiles {
		bytes, err := profile.Profile.MarshalVT()
		if err != nil {
			return err
		}
		if err := os.WriteFile(out+strconv.Itoa(i), bytes, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func run(what, path string) error {
	if what == "pprof" {
		return toPprof(path, os.Args[3])
	}
	passes, err := strconv.Atoi(what)
	for i := 0; err == nil && i < passes; i++ {
		var events int
		before := cpuSeconds()
		events, err = parse(path)
		fmt.Println(cpuSeconds()-before, events)
	}
	return err
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
