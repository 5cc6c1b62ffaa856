"""What requests show the model, and which model that is."""

from agentslot.session.changes import SetContext, SetModelConfig
from agentslot.session.draft import Draft
from agentslot.session.facts import ModelConfigChanged
from agentslot.session.message import require_sound_copy
from agentslot.session.refusal import history_broken, invalid_change, run_active
from agentslot.session.sharedlist import SharedList
from agentslot.session.state import ContextRange, ContextView
from agentslot.session.text import require_unicode, text_digest


def set_context(draft: Draft, change: SetContext) -> None:
    """Record the next view of the active Run, prepared from this very revision.

    Whether the projection is a legal request is checked where it is projected, not here: a commit
    must not walk through History.
    """
    view = change.context
    run = draft.active(view.run_id)
    if view.config != run.config:
        raise history_broken(f"context {view.version} is for another model than run {run.id!r}")
    if view.source_revision != draft.revision:
        raise history_broken(
            f"context {view.version} was prepared from revision {view.source_revision}, "
            f"the Session is at {draft.revision}"
        )
    previous = draft.context
    due = previous.version + 1 if previous else 1
    if view.version != due:
        raise history_broken(f"the next context has version {due}, not {view.version}")
    _keep_texts(draft, change)
    _check_references(draft, view)
    if not change.retain_previous:
        if draft.retained_contexts:
            draft.retained_contexts = SharedList[ContextView]()
    elif previous is not None:
        draft.retained_contexts = draft.retained_contexts.appended((previous,))
    draft.context = view


def _keep_texts(draft: Draft, change: SetContext) -> None:
    if not change.texts:
        return
    for number, (digest, text) in enumerate(change.texts):
        require_unicode(text, f"$.texts[{number}][1]")
        if digest != text_digest(text):
            raise invalid_change(f"{digest!r} is not the digest of the text that it names")
    draft.texts = {**draft.texts, **dict(change.texts)}


def _check_references(draft: Draft, view: ContextView) -> None:
    for digest in (view.prompt, view.tools):
        if digest is not None and digest not in draft.texts:
            raise history_broken(f"context {view.version} names a text that is not here: {digest}")
    last = draft.history.last_sequence
    for number, item in enumerate(view.inputs):
        if not isinstance(item, ContextRange):
            require_sound_copy(item, f"$.context.inputs[{number}]")
        elif not 1 <= item.first <= item.last <= last:
            raise history_broken(
                f"context {view.version} shows facts {item.first} to {item.last} of {last}"
            )
    if view.step_id is not None:
        require_unicode(view.step_id, "$.context.step_id")
    if view.token_count < 0:
        raise invalid_change(f"a request cannot have {view.token_count} tokens")


def set_model_config(draft: Draft, change: SetModelConfig) -> None:
    """Switch an idle Session to another model and append the fact that says so, once a commit."""
    if draft.run is not None:
        raise run_active(draft.run.id, "the model can be switched when it has ended")
    if any(isinstance(fact.payload, ModelConfigChanged) for fact in draft.facts):
        raise invalid_change("one commit switches the model once")
    draft.append(ModelConfigChanged(draft.model_config, change.config), None)
    draft.model_config = change.config
