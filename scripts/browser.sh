#!/bin/sh
# Make sure there is a Chromium for the browser tests; without one they skip and say so.
set -eu
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ -d "/Applications/Google Chrome.app" ]; then exit 0; fi
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
else
  echo "No Chromium found: the browser tests will be skipped. Install one (apt install chromium, or Chrome) to run them."
fi
