"""What an index job has to do, and how its filings are written: data files by any worker, commits by one."""
