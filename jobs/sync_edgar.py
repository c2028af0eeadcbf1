"""Fetch what is new on EDGAR and index it, on a Ray cluster:
ray job submit --working-dir . -- python jobs/sync_edgar.py --raw URI --index URI --since DATE"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "sync")
    main()
