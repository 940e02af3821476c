"""Frozen values that cost nothing to define: for the few modules that a person waits for at every start.

A dataclass would do, and everywhere else does. But loading ``dataclasses`` takes 4 to 7 ms (it brings ``inspect``) and
making each class another 0.3 ms, while all of ``lessonbook learned list`` is to take less than 30 ms (``make bench``).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """Return the class as it is: only type checkers want to know."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Value:
    """Base of a frozen value: its fields are its annotations, in order; those with a default may be left out.

    What a ``cached_property`` of it found is no field: two that are equal stay so.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._defaults = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}

    def __init__(self, *args: Any, **named: Any) -> None:
        """Take every field by position or name; ``TypeError`` for one that is missing, unknown or twice given."""
        values = self.__dict__
        if len(args) == len(self._fields) and not named:  # how those that come by the thousand are made
            values.update(zip(self._fields, args, strict=True))
            return
        values.update(self._defaults)
        values.update(zip(self._fields, args, strict=False))
        values.update(named)
        twice = args and named and not named.keys().isdisjoint(self._fields[: len(args)])
        if twice or len(args) > len(self._fields) or len(values) != len(self._fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}; not {args!r}, {named!r}")

    def but(self, **changes: Any) -> Self:
        """Return the same value with other fields changed."""
        return type(self)(**{**self.as_dict(), **changes})

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, in order."""
        return {name: vars(self)[name] for name in self._fields}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be removed")

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self)[name] for name in self._fields))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={vars(self)[name]!r}' for name in self._fields)})"
