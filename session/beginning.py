"""What is intact of a Session in a database some of whose rows are damaged, and how to keep it."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from agentslot.session.codec import UnreadableError
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.facts import Fact, RunFact
from agentslot.session.forking import copy_of
from agentslot.session.history import History
from agentslot.session.identity import SessionId
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.rows import FactRow, SessionRow, decode, fact_of
from agentslot.session.rules.copying import fitting
from agentslot.session.state import SessionState
from agentslot.session.store import NewSession


@dataclass(frozen=True, slots=True)
class Beginning:
    """The facts of a Session up to the first that is damaged, missing, or out of place.

    Attributes:
        problem: what is wrong with the fact behind them, in words; empty if they are all.
        facts: how many are intact.
        kept: how many of them a new Session can begin with: they leave neither a call nor a request
            to a model open.
        state: the Session with the intact facts, and nothing else; None if no model is known.
    """

    problem: str
    facts: int
    kept: int
    state: SessionState | None

    def salvaged(self, session_id: SessionId) -> NewSession:
        """A new Session that begins with the facts that can be kept, as a fork of the old one.

        Raises:
            ClassifiedError: `invalid_input/nothing_intact`: there are none.
        """
        if self.state is None or not self.kept:
            raise ClassifiedError(
                ErrorKind.INVALID_INPUT, "nothing_intact", "no fact of it can be kept"
            )
        return copy_of(self.state, session_id, self.kept)


def beginning_of(session: SessionRow, rows: Iterable[FactRow], last: int) -> Beginning:
    """Look at every fact of a Session.

    Args:
        session: its row.
        rows: those of its facts, in order; an UnreadableError ends them.
        last: sequence of the last fact that its commits tell of.
    """
    facts: list[Fact] = []
    problem = _read(session.id, rows, facts)
    if not problem and len(facts) < last:
        problem = f"{_range(len(facts) + 1, last)} missing"
    config = _model_config(session)
    if config is None:
        problem = problem or "its model cannot be read"
        config = _last_config(facts)
    if config is None:
        return Beginning(problem, len(facts), 0, None)
    fit, settled, why = fitting(_state(session, config, []), facts)
    if why:
        problem = f"fact {fit + 1} does not fit those before it: {why}"
    return Beginning(problem, fit, settled, _state(session, config, facts[:fit]))


def _range(first: int, last: int) -> str:
    return f"fact {first} is" if first == last else f"facts {first} to {last} are"


def _read(session_id: SessionId, rows: Iterable[FactRow], facts: list[Fact]) -> str:
    """Put the facts of the rows behind `facts`, up to the first that is none; why it is none."""
    try:
        for row in rows:
            due = len(facts) + 1
            if row.sequence > due:
                return f"{_range(due, row.sequence - 1)} missing"
            facts.append(fact_of(session_id, row, due))
    except UnreadableError as error:
        return str(error)
    except ValueError as error:
        return f"fact {len(facts) + 1}: {error}"
    except (TypeError, AttributeError):  # a database keeps values of any type
        return f"fact {len(facts) + 1} has a value of another type than was written"
    return ""


def _model_config(session: SessionRow) -> ModelConfig | None:
    with suppress(UnreadableError, ValueError):
        return decode(ModelConfig, session.model_config_json)
    return None


def _last_config(facts: list[Fact]) -> ModelConfig | None:
    runs = (fact.payload for fact in reversed(facts) if isinstance(fact.payload, RunFact))
    return next((run.config for run in runs), None)


def _state(session: SessionRow, config: ModelConfig, facts: list[Fact]) -> SessionState:
    return SessionState(
        session.id,
        session.agent,
        session.workspace,
        max(session.revision, 1),
        History(facts),
        config,
        session.created_at,
        session.updated_at,
    )
