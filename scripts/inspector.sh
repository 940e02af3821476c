#!/bin/sh
# Puts the command line of the MCP inspector, which tests/real/test_inspector.py drives our server with, into .inspector.
# Does nothing where there is no npm; the tests are skipped then. Installs nothing outside this checkout.
set -eu
version=1.0.3
cd "$(dirname "$0")/.."
command -v npm >/dev/null 2>&1 || {
  echo "no npm here: the tests with the MCP inspector will be skipped" >&2
  exit 0
}
[ "$(cat .inspector/version 2>/dev/null)" = "$version" ] && exit 0
echo "setting up .inspector (the MCP inspector, from npm) ..."
rm -rf .inspector && mkdir .inspector
# No scripts: what is installed runs nothing before it is called. It works with Node 20, whatever it asks for.
npm install --prefix .inspector --ignore-scripts --no-save --no-fund --no-audit --loglevel=error --engine-strict=false \
  "@modelcontextprotocol/inspector@$version"
echo "$version" >.inspector/version
