// SPDX-License-Identifier: BSD-3-Clause
//
// A connection in RESP2 that never reconnects and never sends a command twice, so its user knows what may have run.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// serverError is an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }

type connection struct {
	socket net.Conn
	reader *bufio.Reader
}

func dial(address string) (*connection, error) {
	socket, err := net.DialTimeout("tcp", address, dialLimit)
	if err != nil {
		return nil, err
	}
	return &connection{socket, bufio.NewReader(socket)}, nil
}

func (c *connection) close() { _ = c.socket.Close() }

// call sends the commands at once and returns a reply for each: nil, string, int64, []any or serverError. With an error
// of the connection some or all of them may have run.
func (c *connection) call(commands ...[]string) ([]any, error) {
	var request strings.Builder
	for _, words := range commands {
		fmt.Fprintf(&request, "*%d\r\n", len(words))
		for _, word := range words {
			fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	if err := c.socket.SetDeadline(time.Now().Add(replyLimit)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c.socket, request.String()); err != nil {
		return nil, err
	}
	replies := make([]any, len(commands))
	for i := range replies {
		var err error
		if replies[i], err = c.read(); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

func (c *connection) read() (any, error) {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, errors.New("a short line")
	}
	kind, text := line[0], line[1:len(line)-2]
	if kind == '+' {
		return text, nil
	}
	if kind == '-' {
		return serverError(text), nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || kind == ':' {
		return number, err
	}
	if number < 0 {
		return nil, nil
	}
	if kind == '$' {
		bytes := make([]byte, number+2)
		_, err = io.ReadFull(c.reader, bytes)
		return string(bytes[:number]), err
	}
	array := make([]any, number)
	for i := range array {
		if array[i], err = c.read(); err != nil {
			return nil, err
		}
	}
	return array, nil
}
