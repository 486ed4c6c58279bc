#!/bin/sh -e



make check


