// SPDX-License-Identifier: GPL-2.0-only

// Goroutines: locks one (16 of them and one mutex) or locks pool (16 that have next to nothing to do).
package main

import (
	"os"
	"sync"
	"time"
)

func main() {
	var mutex sync.Mutex
	var sum int
	work := func() {
		mutex.Lock()
		for i := 0; i < 100000; i++ {
			sum += i ^ sum
		}
		mutex.Unlock()
	}
	jobs := make(chan int)
	for i := 0; i < 16; i++ {
		go func() {
			if os.Args[1] == "one" {
				for {
					work()
				}
			}
			for range jobs {
				work()
			}
		}()
	}
	for {
		time.Sleep(50 * time.Millisecond)
		if os.Args[1] == "pool" {
			jobs <- 1
		}
	}
}
