"""Wrong implementations of the wires, of attempts and of what they cost."""

from tests.mutations import Mutation

_ANTHROPIC = "tests/model/test_anthropic_encoder.py::"
_COMPATIBLE = "tests/model/test_openai_compatible.py::"
_OVER_WIRES = "tests/standardagent/test_tools_over_wires.py::"
_STREAMING = "tests/standardagent/test_streaming.py::"
_STRUCTURED = "tests/standardagent/test_structured_output.py::"

MUTATIONS = (
    Mutation(
        "bytes: arguments are written anew",
        "model/wires/anthropic_messages/messages.py",
        '"input":{object_arguments(call.arguments)}',
        '"input":{dumps(__import__("json").loads(call.arguments))}',
        f"{_ANTHROPIC}test_a_call_and_its_result_follow_their_message",
    ),
    Mutation(
        "bytes: arguments that were cut off count as complete",
        "model/wires/openai_completions/calls.py",
        "all(not call.text.strip() or _is_complete(call.text)",
        "all(True",
        "tests/model/test_decoder.py::"
        "test_done_without_a_finish_reason_does_not_complete_a_cut_call",
    ),
    Mutation(
        "bytes: the placeholder of arguments is their beginning",
        "model/wires/anthropic_messages/blocks.py",
        "        self._pieces = [as_text(start.get(self.member))]",
        "        self._pieces = [as_text(start.get(self.member))]\n"
        '        if self.kind == TOOL_USE and "input" in start:\n'
        '            self._pieces = [__import__("json").dumps(start["input"])]',
        "tests/model/test_anthropic_decoder.py::test_arguments_are_kept_as_the_model_wrote_them",
    ),
    Mutation(
        "bytes: made-up ids come from one counter",
        "model/wires/callids.py",
        '    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"',
        "    known = vars(make_call_id)\n"
        '    known["count"] = known.get("count", 0) + 1\n'
        "    return f\"call_{known['count']}\"",
        f"{_ANTHROPIC}test_what_was_sent_stays_as_it_was_while_the_conversation_grows",
    ),
    Mutation(
        "bytes: arguments that came as an object are written anew",
        "model/wires/openai_completions/calls.py",
        '    arguments = written.member("function", "arguments").text',
        '    arguments = __import__("json").dumps(_arguments(fragment))',
        f"{_OVER_WIRES}test_arguments_that_came_as_an_object_go_back_as_they_were_spelled",
    ),
    Mutation(
        "strict: what may be left out has to be written",
        "model/wires/outputschema.py",
        "    closed = is_closed(schema) and all(map(_requires_all, nodes(schema)))",
        "    closed = is_closed(schema)",
        "tests/model/test_strict_tools.py::"
        "test_a_schema_that_does_not_fit_goes_out_as_it_would_without_the_wish",
    ),
    Mutation(
        "caching: the marks of a gateway stay at the prompt",
        "model/wires/openai_completions/encode.py",
        "        if self._mark and ending.markable:",
        "        if False:",
        f"{_OVER_WIRES}test_the_cache_marks_move_on_with_the_conversation",
    ),
    Mutation(
        "usage: Anthropic's input is what was read fresh",
        "model/wires/anthropic_messages/usage.py",
        "            input=fresh + cached + written,",
        "            input=max(fresh, cached, written),",
        "tests/model/test_anthropic_decoder.py::"
        "test_the_last_figure_given_counts_and_what_was_cached_is_part_of_the_input",
    ),
    Mutation(
        "usage: cached tokens are paid twice",
        "model/price.py",
        "        fresh = usage.input - usage.cached_input - usage.cache_write",
        "        fresh = usage.input - usage.cache_write",
        "tests/model/test_price.py::test_each_token_of_the_input_is_paid_once_at_its_own_rate",
    ),
    Mutation(
        "usage: cached tokens are looked for in one place",
        "model/wires/openai_completions/usage.py",
        '        usage.get("prompt_cache_hit_tokens"),\n',
        "",
        "tests/model/test_decoder.py::test_cached_tokens_are_found_in_each_place",
    ),
    Mutation(
        "usage: Gemini's thoughts stand beside the output",
        "model/wires/google_generative_ai/usage.py",
        "    output = candidates + thoughts",
        "    output = candidates",
        "tests/model/test_google_decoder.py::"
        "test_thoughts_and_cached_tokens_are_inside_of_our_figures",
    ),
    Mutation(
        "usage: cached tokens are paid like all others",
        "model/price.py",
        "        cached = self.input if self.cached_input is None else self.cached_input",
        "        cached = self.input",
        "tests/model/test_price.py::test_each_token_of_the_input_is_paid_once_at_its_own_rate",
    ),
    Mutation(
        "headers: a field is deleted from its own layer alone",
        "model/endpoint.py",
        "        merged.update({name.lower(): value for name, value in layer.items()})",
        "        merged.update({n.lower(): v for n, v in layer.items() if v is not None})",
        f"{_COMPATIBLE}test_further_headers_are_sent_and_none_removes_one",
    ),
    Mutation(
        "headers: the bearer goes out as an API key",
        "model/wires/anthropic_messages/wire.py",
        "        return super().authorization(secret)",
        '        return {"x-api-key": secret}',
        f"{_ANTHROPIC}test_version_betas_and_key_are_header_fields",
    ),
    Mutation(
        "headers: a blank bearer is sent",
        "session/credential/lookup.py",
        "    if not token:\n",
        "    if token is None:\n",
        "tests/session/test_credentials.py::test_what_cannot_stand_in_a_header_is_not_given_out",
    ),
    Mutation(
        "retry: a long wait is shortened",
        "model/retry.py",
        "            return asked if asked <= self.max_retry_after_seconds else None",
        "            return min(asked, self.max_retry_after_seconds)",
        "tests/model/test_retry.py::test_the_providers_figure_wins_and_an_hour_is_not_waited_for",
    ),
    Mutation(
        "retry: what was shown is not taken back",
        "model/call.py",
        "                self._events.append(Reset(attempt.id))\n",
        "",
        f"{_COMPATIBLE}test_a_broken_stream_is_reset_and_tried_again",
    ),
    Mutation(
        "caching: a new message encodes all of them again",
        "model/wires/prefix.py",
        "            if newest and turn.final and turn.end <= inputs.lasting and not tail:",
        "            if False:",
        "tests/model/test_encoder.py::test_only_what_is_new_is_encoded",
    ),
    Mutation(
        "caching: a tool is known by its name",
        "model/wires/prefix.py",
        "            a is not b and a != b for a, b in zip(known, tools, strict=True)",
        "            a.name != b.name for a, b in zip(known, tools, strict=True)",
        "tests/model/test_steady_requests.py::test_a_tool_that_changed_is_written_anew",
    ),
    Mutation(
        "caching: the mark that moves counts as stable",
        "model/wires/anthropic_messages/encode.py",
        "len(body) - len(end)",
        "len(body)",
        f"{_ANTHROPIC}test_what_was_sent_stays_as_it_was_while_the_conversation_grows",
    ),
    Mutation(
        "events: a call does not end the text before it",
        "model/wires/openai_completions/decode.py",
        "                self._parts.close()\n",
        "",
        "tests/model/test_decoder.py::test_parts_keep_their_order_and_a_call_ends_a_text",
    ),
    Mutation(
        "events: half an event is delivered at the end",
        "model/wires/decoding.py",
        "        if self._failure is not None:\n            raise self._failure\n",
        "        if self._failure is not None:\n            raise self._failure\n"
        '        self.feed(b"\\n\\n")\n',
        "tests/model/test_decoder.py::test_an_event_that_the_end_cuts_off_is_not_taken",
    ),
    Mutation(
        "events: the body is read whole before it is decoded",
        "agentslot/_http.py",
        "            async for piece in self._pieces:\n                if piece:\n"
        "                    return piece\n",
        '            return b"".join([piece async for piece in self._pieces])\n',
        f"{_STREAMING}test_a_delta_is_heard_while_the_body_is_still_open",
    ),
    Mutation(
        "events: a buffered answer is handed on without a pause",
        "standardagent/runtime/pace.py",
        "        await anyio.lowlevel.checkpoint()\n",
        "",
        f"{_STREAMING}test_the_first_delta_is_heard_before_a_whole_buffered_answer_is_read",
    ),
    Mutation(
        "repair: results without their call are kept",
        "model/turns.py",
        "                if item.call_id in known:\n",
        "                if True:\n",
        "tests/model/test_encoder.py::"
        "test_a_stray_result_does_not_stand_for_the_one_that_is_awaited",
    ),
    Mutation(
        "repair: a call without result is left without one",
        "model/wires/openai_responses/messages.py",
        "self._result(*pair) for pair in zip(ids, turn.results, strict=True)]",
        "self._result(*pair) for pair in zip(ids, turn.results) if pair[1]]",
        "tests/model/test_responses_encoder.py::test_a_call_without_result_gets_one_that_says_so",
    ),
    Mutation(
        "repair: ids of the same model are replaced",
        "model/wires/callids.py",
        "            if owner != turn.message.id or",
        "            if owner or",
        f"{_ANTHROPIC}test_ids_that_repeat_are_renamed_on_both_sides_and_others_never",
    ),
    Mutation(
        "repair: thinking is sent to another model",
        "model/wires/replay.py",
        "    if state is None or (state.provider, state.model) != (provider, model):",
        "    if state is None:",
        f"{_ANTHROPIC}test_thinking_is_never_sent_to_another_model",
    ),
    Mutation(
        "output: a schema goes out as strict as it is written",
        "model/wires/outputschema.py",
        "    strict = strict_schema(schema_of(output))\n",
        "    strict = schema_of(output)\n",
        f"{_STRUCTURED}test_a_type_that_leaves_a_member_out_is_asked_for_in_full",
    ),
    Mutation(
        "output: the tool that brings the answer is called like any other",
        "model/structured.py",
        "return stream if tool is None else _AnswerStream(stream, tool)",
        "return stream",
        f"{_STRUCTURED}test_a_tool_that_nobody_runs_can_bring_the_answer",
    ),
    Mutation(
        "output: an early answer keeps the calls beside it from running",
        "model/structured.py",
        "    if others:\n",
        "    if not others and written:\n",
        f"{_STRUCTURED}test_tools_run_before_the_answer_is_given",
    ),
    Mutation(
        "cost: the service tier that was asked for sets the price",
        "model/wires/openai_completions/decode.py",
        "served_tier(tier) or self._tier",
        "self._tier",
        "tests/model/test_cost.py::test_the_tier_that_served_an_answer_sets_the_price",
    ),
    Mutation(
        "audio: a model hears over every wire",
        "model/provider.py",
        "reads = known.input_modalities & carried",
        "reads = known.input_modalities",
        "tests/standardagent/test_audio.py::test_a_model_that_does_not_hear_reads_what_was_there",
    ),
    Mutation(
        "audio: it counts for the letters in which it is sent",
        "model/estimate.py",
        """    if b'"input_audio"' in body or b'"audio/' in body:""",
        "    if False:",
        "tests/model/test_audio_tokens.py::test_a_wave_says_how_long_it_lasts",
    ),
)
