"""The state of an out-of-order core between two parts of blocks: when the values of registers are ready, how much work is
queued for each port and unit, and when the front end, dispatch, retirement and commits have come so far.

A port takes the µops queued for it in the order of dispatch. The reorder buffer, the load buffer and the store buffer are left in
order, the reservation station when operands are ready. Of their occupants only those are kept that leave after the time
in which the buffer can be filled: before that there is always room.
"""
