"""The referee of `credential.resolver/v1`: credentials for a moment, and never in a message.

```python
from agentslot.standardagent.conformance import CREDENTIAL_RESOLVER_SUITE, Resolving

@asynccontextmanager
async def resolving():
    vault = MyVault({"vendor": "not-a-real-key"})
    yield Resolving(vault, CredentialRef("vendor"), BearerToken("not-a-real-key"))

async def test_mine_is_a_credential_resolver() -> None:
    await CREDENTIAL_RESOLVER_SUITE.check(resolving)
```

Take a credential that opens nothing: a failure may tell what the resolver has raised.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

import anyio

from agentslot._conformance import Broken, Suite, check, demand
from agentslot.session.credential import (
    BearerToken,
    CredentialError,
    CredentialKind,
    CredentialKindMismatch,
    CredentialNotFound,
    CredentialRecord,
    CredentialRef,
    CredentialResolver,
    Material,
)
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)


@dataclass(frozen=True, slots=True)
class Resolving:
    """A resolver, and a credential that it has.

    Attributes:
        ref: leads to the credential.
        record: what it is.
    """

    resolver: CredentialResolver
    ref: CredentialRef
    record: CredentialRecord

    @property
    def kind(self) -> CredentialKind:
        """What the credential consists of."""
        bearer = isinstance(self.record, BearerToken)
        return CredentialKind.BEARER if bearer else CredentialKind.BASIC

    @property
    def secret(self) -> str:
        """What nobody may see."""
        record = self.record
        return record.token if isinstance(record, BearerToken) else record.password

    def resolve(self) -> AbstractAsyncContextManager[Material]:
        """Ask for the credential as most do: without naming a kind that goes without saying."""
        if self.kind is CredentialKind.BEARER:
            return self.resolver.resolve(self.ref)
        return self.resolver.resolve(self.ref, self.kind)

    def resolve_unknown(self) -> AbstractAsyncContextManager[Material]:
        """Ask for what nobody has."""
        return self.resolver.resolve(CredentialRef("nobody-knows-me"), self.kind)

    def resolve_other_kind(self) -> AbstractAsyncContextManager[Material]:
        """Ask for the credential as if it consisted of something else."""
        [other] = set(CredentialKind) - {self.kind}
        return self.resolver.resolve(self.ref, other)

    def demand_right(self, found: object) -> None:
        """Demand that it is the credential; the failure does not show which one it is instead."""
        if not isinstance(found, Material):
            raise Broken(f"it gave a {type(found).__name__}, which is no Material")
        demand(found.kind is self.kind, f"it gave {found.kind}, and {self.kind} is there")
        record = self.record
        if isinstance(record, BearerToken):
            demand(found.token == record.token, "it gave another token than is there")
        else:
            same = found.login == (record.username, record.password)
            demand(same, "it gave another name or password than is there")


OpenResolving = Callable[[], AbstractAsyncContextManager[Resolving]]
"""Opens a resolver; what it returns is entered once, and left when the check is over."""


@check
async def a_reference_leads_to_its_credential(open_resolving: OpenResolving) -> None:
    """To what is there, of the kind that was asked for: a token if nothing was said of it."""
    async with open_resolving() as resolving, resolving.resolve() as material:
        resolving.demand_right(material)


@check
async def material_is_empty_once_its_context_has_ended(open_resolving: OpenResolving) -> None:
    """However that has ended; what went wrong in it goes on."""
    async with open_resolving() as resolving:
        async with resolving.resolve() as material:
            pass
        demand(_is_empty(material), "it can be read after its context has ended")
        failure = CredentialNotFound("theirs", "it went wrong where the credential was used")
        raised: BaseException | None = None
        try:
            async with resolving.resolve() as material:
                raise failure
        except CredentialError as error:
            raised = error
        demand(raised is failure, f"of an error in the context came {raised!r}")
        demand(_is_empty(material), "it can be read after its context has failed")


def _is_empty(material: Material) -> bool:
    try:
        _ = material.token if material.kind is CredentialKind.BEARER else material.login
    except RuntimeError:
        return True
    return False


@check
async def each_context_has_material_of_its_own(open_resolving: OpenResolving) -> None:
    """One that ends takes nothing from the others."""
    async with open_resolving() as resolving, resolving.resolve() as material:
        async with resolving.resolve() as another:
            resolving.demand_right(another)
        demand(not _is_empty(material), "the end of another context has emptied it")
        resolving.demand_right(material)


@check
async def questions_at_the_same_time_do_not_disturb_each_other(
    open_resolving: OpenResolving,
) -> None:
    """One resolver is asked for all Sessions."""
    async with open_resolving() as resolving:

        async def ask() -> None:
            async with resolving.resolve() as material:
                resolving.demand_right(material)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(ask)


@check
async def a_fingerprint_stays_and_betrays_nothing(open_resolving: OpenResolving) -> None:
    """It may stand in logs, to tell whether the same credential was used twice."""
    async with open_resolving() as resolving:
        async with resolving.resolve() as first, resolving.resolve() as second:
            same = first.fingerprint == second.fingerprint
            betrayed = resolving.secret in f"{first.fingerprint} {first!r} {first}"
        demand(same, "the same credential has another fingerprint each time")
        demand(not betrayed, "the material shows the credential to whoever prints it")


@check
async def what_is_not_there_is_not_found(open_resolving: OpenResolving) -> None:
    """As a CredentialNotFound: whoever asks several resolvers goes on to the next one then."""
    async with open_resolving() as resolving:
        refusal = await _refusal(resolving.resolve_unknown())
        demand(
            isinstance(refusal, CredentialNotFound),
            f"a reference that nobody has is refused as {type(refusal).__name__}",
        )
        named = refusal.reference
        demand(named == "nobody-knows-me", f"the refusal is of {named!r}, and another was asked")


@check
async def another_kind_is_refused(open_resolving: OpenResolving) -> None:
    """As a CredentialKindMismatch: a login is no token, nor the other way round."""
    async with open_resolving() as resolving:
        refusal = await _refusal(resolving.resolve_other_kind())
        mismatch = isinstance(refusal, CredentialKindMismatch)
        demand(mismatch, f"another kind is refused as {type(refusal).__name__}")
        known, named = resolving.ref.id, refusal.reference
        demand(named == known, f"the refusal is of {named!r}, and {known!r} was asked")


@check
async def no_refusal_shows_the_credential(open_resolving: OpenResolving) -> None:
    """Not in its words, and not in those of what has caused it."""
    async with open_resolving() as resolving:
        for question in (resolving.resolve_unknown(), resolving.resolve_other_kind()):
            try:
                async with question:
                    pass
            except CredentialError as refusal:
                for error in _chain(refusal):
                    shown = f"{error} {error!r} {getattr(error, '__notes__', '')}"
                    name = type(error).__name__
                    demand(resolving.secret not in shown, f"the {name} of a refusal shows it")


async def _refusal(question: AbstractAsyncContextManager[Material]) -> CredentialError:
    try:
        async with question as material:
            given = f"it gave a credential of kind {material.kind}"
    except CredentialError as error:
        return error
    raise Broken(given)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that a traceback shows with it."""
    while error is not None:
        yield error
        before = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or before


@check
async def it_does_not_keep_the_event_loop(open_resolving: OpenResolving) -> None:
    """Files and keyrings are read in a thread: everybody shares the loop."""
    async with open_resolving() as resolving:
        await expect_no_blocking(partial(_use, resolving))


@check
async def a_question_that_is_cancelled_ends(open_resolving: OpenResolving) -> None:
    """The cancellation of a Run is let pass."""
    async with open_resolving() as resolving:
        await expect_end_when_cancelled(partial(_use, resolving))


async def _use(resolving: Resolving) -> None:
    async with resolving.resolve():
        pass


CREDENTIAL_RESOLVER_SUITE: Suite[OpenResolving] = Suite(
    "credential.resolver/v1",
    (
        a_reference_leads_to_its_credential,
        material_is_empty_once_its_context_has_ended,
        each_context_has_material_of_its_own,
        questions_at_the_same_time_do_not_disturb_each_other,
        a_fingerprint_stays_and_betrays_nothing,
        what_is_not_there_is_not_found,
        another_kind_is_refused,
        no_refusal_shows_the_credential,
        it_does_not_keep_the_event_loop,
        a_question_that_is_cancelled_ends,
    ),
)
