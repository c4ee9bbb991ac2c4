"""Which processor of a system executes next, and how time passes for those that wait."""

from fake_processor import PROCESSOR, FakeProcessor

from pfmon.engine.ia64._ia64 import AddressSpace
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor, next_processor
from pfmon.stream._stream import Consumer, Mark


class TimedProcessor(FakeProcessor):
    """Time passes up to a match of its timer, whose interrupt pends."""

    def advance_time(self, instructions: int) -> None:
        if self.next_timer is None:
            return
        self.next_timer -= instructions
        assert self.next_timer >= self.retired
        if self.next_timer == self.retired:
            self.next_timer, self.interrupt_pending = None, True


class Shared:
    def shut_down(self) -> None:
        raise AssertionError

    copy_code = has_memory = shut_down


def processors(number: int) -> list[LogicalProcessor]:
    space = AddressSpace()
    return [
        LogicalProcessor(n, TimedProcessor([], space), PROCESSOR, "montecito", Shared(), (0, 0))  # type: ignore[arg-type]
        for n in range(number)
    ]


def fake(one: LogicalProcessor) -> TimedProcessor:
    assert isinstance(one.processor, TimedProcessor)
    return one.processor


class Idle:
    """What is called when all wait."""

    def __init__(self) -> None:
        self.times: list[int] = []

    def __call__(self, time: int) -> None:
        self.times.append(time)


def chosen(all_of_them: list[LogicalProcessor], idle: Idle | None = None) -> int | None:
    found = next_processor(all_of_them, idle or Idle())
    return None if found is None else found.number


def test_the_one_whose_time_is_least_executes_and_the_first_of_several() -> None:
    all_of_them = processors(3)
    assert chosen(all_of_them) == 0
    fake(all_of_them[0]).retired = 100
    assert chosen(all_of_them) == 1
    fake(all_of_them[1]).retired = 200
    fake(all_of_them[2]).retired = 150
    assert chosen(all_of_them) == 0


def test_time_of_a_halted_processor_passes_up_to_that_of_the_one_that_executes() -> None:
    first, second = all_of_them = processors(2)
    second.halted = True
    fake(first).retired = 70_000
    assert chosen(all_of_them) == 0
    assert second.time == 70_000
    assert second.has_marks
    second.mark_halted(Consumer())
    assert fake(second).marks == [(Mark.HALTED_LONG, 1), (Mark.HALTED, 70_000 - 65_536)]


def test_a_timer_on_the_way_wakes_the_halted_processor_at_its_match() -> None:
    first, second = all_of_them = processors(2)
    second.halted = True
    fake(second).next_timer = 300
    fake(first).retired = 1000
    assert chosen(all_of_them) == 1
    assert (second.halted, second.time) == (False, 300)


def test_an_interrupt_wakes_a_halted_processor_at_once() -> None:
    first, second = all_of_them = processors(2)
    second.halted, fake(second).interrupt_pending = True, True
    fake(first).retired = 1000
    assert chosen(all_of_them) == 1
    assert second.time == 0


def test_if_all_wait_time_passes_to_the_first_timer() -> None:
    first, second = all_of_them = processors(2)
    first.halted = second.halted = True
    fake(first).next_timer, fake(second).next_timer = 900, 400
    idle = Idle()
    assert chosen(all_of_them, idle) == 1
    assert idle.times == [400]
    assert (first.time, second.time) == (400, 400)
    assert (first.halted, second.halted) == (True, False)


def test_nothing_wakes_processors_without_timers() -> None:
    first, second = all_of_them = processors(2)
    first.halted = True
    second.parked = True
    fake(second).next_timer = 100
    assert chosen(all_of_them) is None


def test_time_of_a_parked_processor_passes_without_being_halted() -> None:
    first, second = all_of_them = processors(2)
    second.parked = True
    fake(first).retired = 500
    assert chosen(all_of_them) == 0
    assert second.time == 500
    assert not second.has_marks


def test_each_has_its_number_and_its_id() -> None:
    for one in processors(3):
        assert fake(one).registers[33] == one.number
        assert fake(one).control[64] == one.number << 24
