"""What a diagnostic answers."""

from dataclasses import dataclass, field

FINE, LOOK, ACT = "fine", "look", "act"


@dataclass(frozen=True)
class Finding:
    """One diagnostic's answer.

    Attributes
    ----------
    term : str
        The diagnostic.
    value : float
        The number it is judged by.
    shown : str
        That number in words, for the summary.
    reference : str
        What it is compared with.
    verdict : {"fine", "look", "act"}
    advice : str
        One sentence that says what to do.
    figures : dict
        {name: number} of further figures.
    detail : dict
        {column: list}, its own table; empty where it has none.
    """

    term: str
    value: float
    shown: str
    reference: str
    verdict: str
    advice: str
    figures: dict = field(default_factory=dict)
    detail: dict = field(default_factory=dict)


def graded(value, look, act):
    """The verdict on a value that is the worse the larger it is."""
    return ACT if value > act else LOOK if value > look else FINE


def of_p(p, look=0.05, act=0.01):
    """The verdict on a p value."""
    return ACT if p < act else LOOK if p < look else FINE
