"""Index filings on a Ray cluster: ray job submit --working-dir . -- python jobs/index.py SOURCE... --index URI"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "index")
    main()
