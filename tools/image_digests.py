"""Pin container images to their current digests in the registry. Needs docker with buildx.

    python tools/image_digests.py bases       write infra/images/digests.env, which image builds need
    python tools/image_digests.py manifests   IMAGE:TAG becomes IMAGE:TAG@DIGEST in infra/kubernetes and infra/aws
    python tools/image_digests.py check       exit 1 if a manifest names an image only by tag

A tag can move; a digest identifies one image. Run it again to update the digests; commit the result.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BASE = re.compile(r"^FROM (?P<reference>\S+)@\$\{(?P<argument>\w+)\}", re.MULTILINE)
_USED = re.compile(
    r"^(?P<key>\s*(?:- )?(?:worker_)?image: )(?P<reference>[^\s@#]+)(?P<digest>@sha256:[0-9a-f]{64})?", re.MULTILINE
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["bases", "manifests", "check"])
    what = parser.parse_args(arguments).what
    manifests = [*sorted((root / "infra" / "kubernetes").rglob("*.yaml")), root / "infra" / "aws" / "cluster.yaml"]
    if what == "bases":
        write_bases(root / "infra" / "images")
    elif what == "manifests":
        pin(manifests)
    elif found := unpinned(manifests):
        sys.stderr.writelines(f"{line}\n" for line in found)
        return 1
    return 0


def write_bases(images: Path) -> None:
    """Write ``ARGUMENT=digest`` of every base image of the Dockerfiles in ``images`` to ``digests.env`` beside them."""
    files = sorted(images.glob("*.Dockerfile"))
    bases = {base["argument"]: base["reference"] for path in files for base in _BASE.finditer(path.read_text("utf-8"))}
    lines = [f"{argument}={digest_of(reference)}\n" for argument, reference in sorted(bases.items())]
    (images / "digests.env").write_text("".join(lines), encoding="utf-8")


def pin(manifests: list[Path]) -> None:
    """Pin every image in ``manifests`` to the current digest of its tag."""
    texts = {path: path.read_text(encoding="utf-8") for path in manifests}
    references = sorted({used["reference"] for text in texts.values() for used in _USED.finditer(text)})
    digests = {reference: digest_of(reference) for reference in references}
    for path, text in texts.items():
        pinned = _USED.sub(lambda used: f"{used['key']}{used['reference']}@{digests[used['reference']]}", text)
        path.write_text(pinned, encoding="utf-8")


def unpinned(manifests: list[Path]) -> list[str]:
    return [
        f"{path.name}: {used['reference']} has no digest; run `make pin-images`"
        for path in manifests
        for used in _USED.finditer(path.read_text(encoding="utf-8"))
        if not used["digest"]
    ]


def digest_of(reference: str) -> str:
    """The current digest of an image. Raises SystemExit if docker or the registry fails."""
    command = ["docker", "buildx", "imagetools", "inspect", reference, "--format", "{{json .Manifest.Digest}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        digest = str(json.loads(done.stdout))
    except FileNotFoundError as error:
        raise SystemExit(f"docker is not installed; it is needed to get the digest of {reference}") from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"no digest of {reference}: {error.stderr.strip() or f'exit code {error.returncode}'}"
        ) from error
    except ValueError as error:
        raise SystemExit(f"no digest of {reference}: docker printed {done.stdout[:200]!r}") from error
    if not _DIGEST.fullmatch(digest):
        raise SystemExit(f"no digest of {reference}: docker printed {digest[:200]!r}")
    return digest


if __name__ == "__main__":
    sys.exit(main())
