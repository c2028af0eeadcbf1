from hypothesis import settings

# How long one example takes depends on what else the machine does.
settings.register_profile("filings", deadline=None)
settings.load_profile("filings")
