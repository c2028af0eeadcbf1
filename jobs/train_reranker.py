"""Train the reranker: ray job submit --working-dir . -- python jobs/train_reranker.py --tatqa FILE --out FOLDER"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train", "reranker"]
    main()
