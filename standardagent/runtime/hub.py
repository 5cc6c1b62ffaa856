"""Live events of one Session: publishing never waits, a slow subscriber loses previews first."""

from collections import deque
from collections.abc import Callable
from itertools import count
from weakref import ReferenceType, ref

import anyio

from agentslot.interaction import Event, EventStreamOverflow
from agentslot.session import SessionId

SUBSCRIBER_BUFFER = 1024
"""Events that one subscriber may lag behind."""

# Without a revision a reader shows what is outdated; without the question nobody answers it, and
# without the end of a Run its reader waits for good.
_MUST_ARRIVE = frozenset({"revision", "approval_requested", "run_finished"})


class Subscription:
    """The event stream of one subscriber.

    A preview that finds the buffer full is dropped. A revision, a call that waits for a person, or
    the end of a Run takes the place of the oldest preview then; if there is none the stream ends
    with EventStreamOverflow.
    """

    def __init__(self, session_id: SessionId, leave: Callable[["Subscription"], None]) -> None:
        self._session_id = session_id
        self._leave = leave
        self._events: deque[Event] = deque()
        self._awaited: anyio.Event | None = None
        self._closed = False
        self._overflowed = False

    def push(self, event: Event) -> None:
        """Take an event in; never waits."""
        if self._closed:
            return
        if len(self._events) >= SUBSCRIBER_BUFFER:
            if event.kind not in _MUST_ARRIVE:
                return
            if not self._drop_oldest_preview():
                self._overflowed = True
                self.end()
                return
        self._events.append(event)
        if self._awaited is not None:
            self._wake()

    def _drop_oldest_preview(self) -> bool:
        for position, event in enumerate(self._events):
            if event.kind not in _MUST_ARRIVE:
                del self._events[position]
                return True
        return False

    def end(self) -> None:
        """No more events will come; those that wait are still delivered."""
        self._closed = True
        self._leave(self)
        self._wake()

    def _wake(self) -> None:
        """Let the reader look, if it waits."""
        if self._awaited is not None:
            self._awaited.set()
            self._awaited = None

    async def receive(self) -> Event:
        """Wait for the next event; see EventStream."""
        while not self._events:
            if self._overflowed:
                raise EventStreamOverflow(self._session_id)
            if self._closed:
                raise anyio.EndOfStream
            self._awaited = self._awaited or anyio.Event()
            await self._awaited.wait()
        return self._events.popleft()

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Event:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Stop listening."""
        self._events.clear()
        self.end()


class EventHub:
    """Gives each event its sequence number and hands it to every subscriber.

    Subscribers are not kept alive: a stream that its reader has dropped is gone, closed or not.

    Attributes:
        listening: whether anybody would hear an event; if not, it need not be made.
        next_sequence: gives the number of the event that is made now.
    """

    def __init__(self, session_id: SessionId) -> None:
        self._session_id = session_id
        # Replaced and never changed, since one that overflows leaves while it is iterated.
        self._subscriptions: tuple[ReferenceType[Subscription], ...] = ()
        self.listening = False
        self.next_sequence = count(1).__next__

    def publish(self, event: Event) -> None:
        """Hand the event to every subscriber."""
        for reference in self._subscriptions:
            subscription = reference()
            if subscription is not None:
                subscription.push(event)

    def subscribe(self) -> Subscription:
        """A new subscriber, hearing what comes from now on."""
        subscription = Subscription(self._session_id, self._leave)
        self._subscriptions += (ref(subscription, self._forget),)
        self.listening = True
        return subscription

    def close(self) -> None:
        """End every stream."""
        for reference in self._subscriptions:
            subscription = reference()
            if subscription is not None:
                subscription.end()

    def _leave(self, subscription: Subscription) -> None:
        self._forget(ref(subscription))

    def _forget(self, gone: ReferenceType[Subscription]) -> None:
        self._subscriptions = tuple(known for known in self._subscriptions if known != gone)
        self.listening = bool(self._subscriptions)
