"""An AttemptRecorder between the executor and the Runtime's own."""

from agentslot.model.contract import AttemptOutcome, AttemptRecorder, TokenBudget
from agentslot.session import AttemptId


class PassingRecorder:
    """Passes everything on; a middleware changes the one thing that it is about."""

    def __init__(self, recorder: AttemptRecorder) -> None:
        self._recorder = recorder

    async def started(self) -> AttemptId:
        """Record the start of an attempt; see AttemptRecorder."""
        return await self._recorder.started()

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt; see AttemptRecorder."""
        await self._recorder.finished(attempt_id, outcome)

    def budget(self) -> TokenBudget:
        """The Run's tokens now."""
        return self._recorder.budget()
