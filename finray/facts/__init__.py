"""Line items over years without a question: what filings print, where, and whether later filings restate it."""
