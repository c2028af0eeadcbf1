"""Index filings on a Ray cluster: ray job submit --working-dir . -- python jobs/index.py SOURCE... --index
URI"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from finray.cluster.index_job import index_filings
from finray.cluster.runtime import ClusterError
from finray.console import describe, index_progress
from finray.errors import ModelUnavailableError, UsageError
from finray.settings import load_settings


def main() -> int:
    """0 done, 1 done with failures, 2 could not run."""
    parser = argparse.ArgumentParser(description="Index filings into LanceDB tables.")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="folder, file, glob or s3:// prefix")
    parser.add_argument("--index", required=True, metavar="URI", help="folder or s3:// location of the index")
    parser.add_argument("--preset", default="local", help="local, paper, or a TOML file")
    parser.add_argument("--retry-failed", action="store_true", help="try files again that failed before")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    arguments = parser.parse_args()
    try:
        settings = load_settings(arguments.preset)
        with index_progress() as progress:
            summary = index_filings(
                arguments.sources,
                arguments.index,
                settings,
                progress=progress,
                retry_failed=arguments.retry_failed,
            )
    except (UsageError, ModelUnavailableError, ClusterError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(asdict(summary)) if arguments.json else describe(summary))
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
