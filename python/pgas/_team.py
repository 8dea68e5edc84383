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
    """An ordered set of PEs of a world, with its own PE numbers. Dropping a team object is local; the team is destroyed
    when the PE leaves the world. destroy(), or the end of a `with` block, destroys the team immediately, and is
    collective over the team's members."""

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
        """This PE's number in the team. *Errors* invalid_argument if this PE is not a member."""
        return self._group.my_pe if self._number_in_team is None else self._number_in_team

    @property
    @traceable
    def n_pes(self) -> int:
        """The number of members. *Errors* invalid_argument if this PE is not a member."""
        return self._group.n_pes if self._size is None else self._size

    @property
    def context(self) -> Context:
        """The context for kernels whose operations take this team's PE numbers."""
        from ._world import Context

        return Context(self._group.context_bytes())

    def world_pe(self, pe: int) -> int:
        """The number of member `pe` in the world."""
        return self._group.world_pe(pe_number(pe, "world_pe"))

    def translate_pe(self, pe: int, to: Team) -> int:
        """The number of member `pe` in another team of the world; -1 if the PE is not a member of that team."""
        return self._group.translate_pe(pe_number(pe, "translate_pe"), to._group)

    def split_strided(self, start: int, stride: int, size: int) -> Team:
        """Collective over this team: creates a team of the `size` members start, start + stride, and so on. All other
        members get an empty team."""
        return Team(self.world, self._group.split_strided(start, stride, size))

    def split(self, color: int, key: int = 0) -> Team:
        """Collective over this team: members with the same color form a team, ordered by key, then by their number in
        this team. A member with a negative color gets an empty team."""
        return Team(self.world, self._group.split(color, key))

    def split_list(self, members: Sequence[int]) -> Team:
        """Collective over this team: creates a team of these members, in this order."""
        return Team(self.world, self._group.split_list(list(members)))

    def create_group(self, members: Sequence[int], key: int, *, staged: bool = False) -> Team:
        """Collective over `members` only: creates a team of these members of this team, in this order. `key`, below
        2**62, is equal on all members, and differs from the keys of other groups that share a member. `staged`:
        allocates 5 MiB of memory on each member. On GPUs that are load/store accessible to each other, this memory
        makes small all-reduces faster. An all-reduce is small if its data is at most 2 MiB divided by the number of
        members."""
        return Team(self.world, self._group.create_group(list(members), key, staged))

    def split_2d(self, x_range: int) -> tuple[Team, Team]:
        """Collective over this team: creates a team for each row and each column, and returns the teams of this PE's
        row and column. The members are numbered row by row, with `x_range` members in a row."""
        row, column = self._group.split_2d(x_range)
        return Team(self.world, row), Team(self.world, column)

    def destroy(self) -> None:
        """Collective over the members: destroys the team and frees its memory. Kernels and streams that use the team
        must have ended."""
        self._group.destroy()
