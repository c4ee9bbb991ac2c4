"""The replacement policies, by the name in a machine's ``CACHE.replacement``."""


REPLACEMENTS = {
    "lru": LruPolicy,
    "nru": NruPolicy,
    "plru": PlruPolicy,
    "random": RandomPolicy,
}


cpdef ReplacementPolicy replacement_policy(str name, sets, ways):
    """A policy for so many sets of so many ways; the loader has checked the name."""
    return REPLACEMENTS[name](sets, ways)
