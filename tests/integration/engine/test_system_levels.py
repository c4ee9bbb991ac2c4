"""Changes of the privilege level of images in system mode."""

import system_images
from command import pfmon


def test_each_change_of_level_leaves_one_and_enters_one() -> None:
    names = ["cpu_cpl_changes_all", *(f"cpu_cpl_changes_lvl{level}" for level in range(4))]
    levels = ",".join(["0123"] * len(names))
    image = str(system_images.image("levels"))
    ran = pfmon("--pmu=montecito", "--system", image, "-e", ",".join(names), f"--priv-levels={levels}")
    rows = [line.split() for line in ran.stdout.splitlines() if "CPU_CPL_CHANGES" in line]
    total, *each = (int(row[0]) for row in rows)
    assert 2 * total == sum(each) and min(each) > 0
