"""What the scripts here ask."""

from typing import Literal

import pydantic

QUESTION = "What does a sluice gate do when the river rises?"

# One red pixel as PNG, in base64.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


class Keeper(pydantic.BaseModel):
    name: str
    on_duty: bool


class Level(pydantic.BaseModel):
    """A structured answer: a text, a number, one of a few words, a list, an object inside."""

    gate: str
    height_cm: int
    trend: Literal["rising", "falling", "steady"]
    warnings: list[str]
    keeper: Keeper
