"""Teams: ordered sets of PEs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._array_interop import pe_number
from ._collectives import Collectives
from ._tracing import number_of, traceable

if TYPE_CHECKING:
    from ._world import Context, World


class Team(Collectives):
    """An ordered set of PEs of a world, with numbers of its own. Dropping one is local: it is destroyed when the world is
    left. destroy(), or leaving a `with`, destroys it at once, and is collective over its members."""

    def __init__(self, world: World, core: _core.Team) -> None:
        self.world = world
        """The world that it belongs to."""
        self._group = core
        self._number = number_of(self)
        self._size = core.n_pes if core.is_member else None
        self._number_in_team = core.my_pe if core.is_member else None

    def __bool__(self) -> bool:
        """Whether this PE is a member."""
        return self._group.is_member

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: Any, raised: BaseException | None, trace: Any) -> None:
        if raised is None:
            self.destroy()

    @traceable
    def _world(self) -> World:
        return self.world

    @traceable
    def _members(self) -> int:
        return self.n_pes if self._size is None else self._size

    @property
    @traceable
    def my_pe(self) -> int:
        """This PE's number in the team. *Errors* invalid_argument where it is no member."""
        return self._group.my_pe if self._number_in_team is None else self._number_in_team

    @property
    @traceable
    def n_pes(self) -> int:
        """How many members there are. *Errors* invalid_argument where this PE is none."""
        return self._group.n_pes if self._size is None else self._size

    @property
    def context(self) -> Context:
        """The argument of kernels whose operations take this team's numbers."""
        from ._world import Context

        return Context(self._group.context_bytes())

    def world_pe(self, pe: int) -> int:
        """The world's number of member `pe`."""
        return self._group.world_pe(pe_number(pe, "world_pe"))

    def translate_pe(self, pe: int, to: Team) -> int:
        """The number of member `pe` in another team of the world; -1 if it is no member there."""
        return self._group.translate_pe(pe_number(pe, "translate_pe"), to._group)

    def split_strided(self, start: int, stride: int, size: int) -> Team:
        """Collective over this team: members start, start + stride, and so on, `size` of them. Others get an empty team."""
        return Team(self.world, self._group.split_strided(start, stride, size))

    def split(self, color: int, key: int = 0) -> Team:
        """Collective over this team: members of the same color make a team, in the order of key, then of their number here. A
        negative color gets an empty one."""
        return Team(self.world, self._group.split(color, key))

    def split_list(self, members: Sequence[int]) -> Team:
        """Collective over this team: a team of these members, in this order."""
        return Team(self.world, self._group.split_list(list(members)))

    def create_group(self, members: Sequence[int], key: int, *, staged: bool = False) -> Team:
        """Collective over `members` alone, this team's numbers in the order of the new one. `key`, below 2**62, is the same on
        all of them, and differs from those of other groups that share a member. `staged`: 5 MiB of memory on each member make
        all-reduces of up to 2 MiB divided by the members faster, on GPUs that reach each other by load and store."""
        return Team(self.world, self._group.create_group(list(members), key, staged))

    def split_2d(self, x_range: int) -> tuple[Team, Team]:
        """Collective over this team: numbers its members row by row, `x_range` in a row; this PE's row and column."""
        row, column = self._group.split_2d(x_range)
        return Team(self.world, row), Team(self.world, column)

    def destroy(self) -> None:
        """Collective over its members: gives its memory back. Kernels and streams that use it must have ended."""
        self._group.destroy()
