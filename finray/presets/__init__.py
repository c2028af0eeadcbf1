"""Settings that ship with finray, one TOML file each."""
