#!/bin/sh
# Makes .venv with exactly the versions in requirements/dev.txt, and lessonbook itself in it.
# Uses uv where it is present, else (or where uv fails) the standard venv and pip. Installs nothing outside this checkout.
set -eu
python=$1
cd "$(dirname "$0")/.."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "lessonbook needs Python 3.11 or newer; set PYTHON=/path/to/python3" >&2
  exit 1
}
echo "setting up .venv (locked versions) ..."
with_uv() {
  uv venv --quiet --clear --python "$("$python" -c 'import sys; print(sys.executable)')" .venv &&
    uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements/dev.txt &&
    uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
}
with_pip() {
  "$python" -m venv --clear .venv &&
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt &&
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
}
if command -v uv >/dev/null 2>&1; then
  # uv knows nothing of a mirror or a certificate that only pip was told of.
  with_uv || { echo "uv could not do it; trying pip ..." >&2 && with_pip; }
else
  with_pip
fi
# As an installer does for what it copies: without it, every start of a checkout whose environment sets
# PYTHONDONTWRITEBYTECODE compiles the package anew, which takes several times as long as running it.
.venv/bin/python -m compileall -q src
