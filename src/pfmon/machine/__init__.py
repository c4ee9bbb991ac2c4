"""The machine: pipeline, caches, TLBs and predictors, as data in configs/*.toml plus one mechanism per file."""
