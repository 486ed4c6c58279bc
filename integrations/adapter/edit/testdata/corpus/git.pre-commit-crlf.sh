#!/bin/sh
npm run lint
