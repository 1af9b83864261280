#!/bin/sh
# What the tests need besides Python: a Chromium, PostgreSQL's server, and strace. Installed where that can be done.
set -eu
wanted=""
have() { command -v "$1" >/dev/null 2>&1; }
have chromium || have chromium-browser || have google-chrome || [ -d "/Applications/Google Chrome.app" ] \
  || wanted="$wanted chromium fonts-dejavu-core"
have initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$wanted postgresql"
have strace || wanted="$wanted strace"
[ -n "$wanted" ] || exit 0
if have apt-get && [ "$(id -u)" = 0 ]; then
  echo "Installing what the tests need:$wanted"
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >/dev/null
else
  echo "Not found, so some tests will say so:$wanted. As root: apt install$wanted"
fi
