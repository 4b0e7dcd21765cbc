#!/bin/sh
# Put a chromium on this machine for the browser tests if there is none and apt can install one: its headless shell,
# which is quicker, where there is a package of it.
command -v chromium-headless-shell >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing chromium for the browser tests"
  apt-get update -qq >/dev/null 2>&1
  for package in chromium-headless-shell chromium; do
    command -v chromium >/dev/null 2>&1 && [ $package = chromium ] && exit 0
    apt-get install -y -qq --no-install-recommends $package >/dev/null 2>&1 && exit 0
  done
fi
command -v chromium >/dev/null 2>&1 && exit 0
echo "NOT RUN: browser tests (no chromium here, and it cannot be installed without root and apt)"
exit 0
