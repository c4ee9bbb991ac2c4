"""The machine: pipeline, caches, TLBs and predictors, as data in config/*.toml plus one mechanism per file."""
