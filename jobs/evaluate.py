"""Score predictions: ray job submit --working-dir . -- python jobs/evaluate.py PREDICTIONS... QUESTIONS"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "evaluate")
    main()
