"""Fit the page model: ray job submit --working-dir . -- python jobs/train_page_ranker.py --questions F --index I"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train", "page-ranker"]
    main()
