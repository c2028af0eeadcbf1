"""Train the page scorer:
ray job submit --working-dir . -- python jobs/train_page_scorer.py --questions FILE --index URI --out FOLDER"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train", "page-scorer"]
    main()
