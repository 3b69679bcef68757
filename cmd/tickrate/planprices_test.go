package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
)

// The example that the README and --help name is read, and shows every key that there is.
func TestPricesOfTheExample(t *testing.T) {
	const path = "../../examples/plan/prices.toml"
	prices, err := readPrices(path)
	if err != nil {
		t.Fatal(err)
	}
	if prices == capacity.DefaultPrices() {
		t.Error("it says nothing but the defaults")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := 0, reflect.TypeFor[capacity.Prices](); i < kind.NumField(); i++ {
		if key := kind.Field(i).Tag.Get("toml"); !strings.Contains(string(text), "\n"+key+" = ") {
			t.Errorf("it lacks %s", key)
		}
	}
}
