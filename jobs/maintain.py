"""Compact and tidy an index: ray job submit --working-dir . -- python jobs/maintain.py --index URI"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "maintain")
    main()
