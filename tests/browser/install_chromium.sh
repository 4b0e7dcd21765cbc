#!/bin/sh
# Put a chromium on this machine for the browser tests if there is none and apt can install one.
command -v chromium >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing chromium for the browser tests"
  apt-get update -qq >/dev/null 2>&1
  apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 && exit 0
fi
echo "NOT RUN: browser tests (no chromium here, and it cannot be installed without root and apt)"
exit 0
