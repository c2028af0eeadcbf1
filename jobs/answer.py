"""Answer questions on a Ray cluster:
ray job submit --working-dir . -- python jobs/answer.py QUESTIONS --index URI --out URI"""

import sys

from finray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "answer")
    main()
