# Sourced by the other scripts: finds a Python and keeps the virtual environment they run in.
#
#   ensure_venv demo    what the demo needs: the project and its extra `cli`
#   ensure_venv dev     what the tests need: the project and the dependency group `dev`
#   help_if_asked "$@"  before it: print the comment at the top of the script, and end
#
# Sourcing it makes the project's root the current folder and $python the environment's interpreter.
# AGENTSLOT_VENV names another folder than .venv, AGENTSLOT_PYTHON another interpreter.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${AGENTSLOT_VENV:-$PWD/.venv}
python=$venv/bin/python

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

help_if_asked() {
  case ${1-} in
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/${0##*/}"
      exit 0
      ;;
  esac
}

# Does this interpreter exist, is it recent enough, and can it make environments?
_suits() {
  "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

_find_python() {
  local candidate
  if [ -n "${AGENTSLOT_PYTHON:-}" ]; then
    _suits "$AGENTSLOT_PYTHON" || die "AGENTSLOT_PYTHON=$AGENTSLOT_PYTHON is no Python 3.11 or newer with venv and pip."
    printf '%s\n' "$AGENTSLOT_PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11 python; do
    if _suits "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  die "no Python 3.11 or newer that can make virtual environments is on the PATH." \
    "Install one (on Debian: python3 and python3-venv), or name it: AGENTSLOT_PYTHON=/path/to/python3"
}

# What the environment is made from. Settings of the tools stand in the same file and do not count.
_fingerprint() {
  "$python" - "$1" <<'PYTHON'
import hashlib, json, pathlib, sys, tomllib

project = tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))
parts = [
    sys.argv[1],
    sys.version,
    str(pathlib.Path.cwd()),
    project["project"],
    project["dependency-groups"],
    project["build-system"],
]
print(hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest())
PYTHON
}

_install() {
  local -a requirements=(--editable ".[cli]")
  if [ "$1" = dev ]; then requirements=(--editable . --group dev); fi
  # Groups of dependencies came with pip 25.1.
  "$python" -m pip install -qq "pip>=25.1" &&
    "$python" -m pip install -qq "${requirements[@]}"
}

ensure_venv() {
  local purpose=$1 stamp=$venv/installed-for-$1 wanted interpreter
  # An environment whose interpreter is gone, or that was cut off while it was made, is made anew.
  if [ -e "$venv" ] && ! "$python" -m pip --version >/dev/null 2>&1; then
    [ -e "$venv/pyvenv.cfg" ] || die "$venv is there, and is no virtual environment. Name another folder, or remove it."
    say "$venv is broken; making it anew."
    rm -rf "$venv"
  fi
  if [ ! -e "$venv" ]; then
    interpreter=$(_find_python)
    say "Making $venv with $("$interpreter" --version) ($(command -v "$interpreter"))."
    "$interpreter" -m venv "$venv"
  fi
  wanted=$(_fingerprint "$purpose")
  # What the tests need includes what the demo needs.
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return; fi
  if [ "$purpose" = demo ] && [ "$(cat "$venv/installed-for-dev" 2>/dev/null)" = "$(_fingerprint dev)" ]; then return; fi

  say "Installing into $venv what $purpose needs (network; once, until the dependencies change)."
  if _install "$purpose"; then
    printf '%s\n' "$wanted" >"$stamp"
    say "Installed."
  elif [ -e "$stamp" ]; then
    say "Could not install (see above); going on with what $venv had before."
  else
    die "could not install (see above). The first run needs a package index that pip can reach."
  fi
}
