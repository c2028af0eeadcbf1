"""Questions about tagged facts in many wordings, split by company and by wording."""
