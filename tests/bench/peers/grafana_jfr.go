// SPDX-License-Identifier: Apache-2.0

// How long grafana's parser takes for the events that it knows, from opening the file on:
//
//	grafana_jfr PASSES FILE		prints CPU seconds and events of each pass, which it only reads
//	grafana_jfr profile PASSES FILE	the same and samples, of profiles that it makes of them in memory
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

func parseProfiles(path string) (*pprof.Profiles, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return pprof.ParseJFR(data, &pprof.ParseInput{SampleRate: 100}, nil)
}

func profile(path string) (samples int, err error) {
	profiles, err := parseProfiles(path)
	if err != nil {
		return 0, err
	}
	for _, p := range profiles.Profiles {
		samples += len(p.Profile.Sample)
	}
	return samples, nil
}

func toPprof(path, out string) error {
	profiles, err := parseProfiles(path)
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

func passes(n string, pass func(string) (int, error), path string) error {
	left, err := strconv.Atoi(n)
	for ; err == nil && left > 0; left-- {
		var made int
		before := cpuSeconds()
		made, err = pass(path)
		fmt.Println(cpuSeconds()-before, made)
	}
	return err
}

func run(args []string) error {
	switch args[0] {
	case "pprof":
		return toPprof(args[1], args[2])
	case "profile":
		return passes(args[1], profile, args[2])
	}
	return passes(args[0], parse, args[1])
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
