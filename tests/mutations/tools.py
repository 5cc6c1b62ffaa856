"""Wrong implementations of the tools."""

from tests.mutations import Mutation

_EDIT = "tests/tool/test_edit.py::"
_BROWSE = "tests/tool/test_browse.py::"
_GUARD = "tests/tool/test_web_guard.py::"
_IMAGES = "tests/tool/test_images.py::"
_MIDDLEWARE = "tests/standardagent/test_tool_middleware.py::"
_WORKSPACES = "tests/standardagent/test_workspace_tools.py::"
_DEFERRED = "tests/standardagent/test_deferred_tools.py::"
_LATE = "tests/model/test_late_tools.py::"
_HISTORY = "tests/standardagent/test_session_history.py::"

MUTATIONS = (
    Mutation(
        "files: only the .gitignore at the top counts",
        "tool/files/walk.py",
        '            if ".gitignore" in files:',
        '            if ".gitignore" in files and base == "":',
        f"{_BROWSE}test_the_rules_of_a_folder_hold_below_it_and_outweigh_those_above",
    ),
    Mutation(
        "files: rules leak into a nested repository",
        "tool/files/walk.py",
        "                layers = tuple(layer.at(base) for layer in self.start.everywhere) + own",
        "                layers += own",
        f"{_BROWSE}test_the_rules_of_a_repository_stop_at_a_nested_one",
    ),
    Mutation(
        "files: the first of several occurrences is replaced",
        "tool/files/edit.py",
        "    if len(spans) > 1:",
        "    if len(spans) > COUNTED:",
        f"{_EDIT}test_overlapping_occurrences_count_as_two",
    ),
    Mutation(
        "files: occurrences that overlap are counted once",
        "tool/files/match.py",
        "        start = text.find(needle, start + 1)",
        "        start = text.find(needle, start + (len(needle) if start >= 0 else 1))",
        f"{_EDIT}test_overlapping_occurrences_count_as_two",
    ),
    Mutation(
        "files: the folded text is written",
        "tool/files/edit.py",
        "    changed = encoding.from_utf8(_edit_text(encoding.to_utf8(content), edits))",
        "    changed = encoding.from_utf8(_edit_text(encoding.to_utf8(content), edits))\n"
        '    changed = changed.replace("“".encode(), b\'"\')',
        f"{_EDIT}test_typography_of_lines_that_did_not_change_is_kept",
    ),
    Mutation(
        "files: indentation is folded",
        "tool/files/fold.py",
        '        return line.rstrip(" \\t\\r\\n")',
        '        return line.strip(" \\t\\r\\n")',
        f"{_EDIT}test_indentation_is_never_folded",
    ),
    Mutation(
        "files: half of a list of edits is applied",
        "tool/files/edit.py",
        "    for index, spans in enumerate(found):\n        _require_one",
        "    edits = [edit for spans, edit in zip(found, edits) if len(spans) == 1]\n"
        "    found = [spans for spans in found if len(spans) == 1]\n"
        "    for index, spans in enumerate(found):\n        _require_one",
        f"{_EDIT}test_one_absent_text_refuses_the_whole_list_and_is_named",
    ),
    Mutation(
        "files: an edit sees what an earlier one wrote",
        "tool/files/edit.py",
        "    whole = memoryview(text)",
        "    if len(edits) > 1:\n"
        "        return _edit_text(_edit_text(text, edits[:1]), edits[1:])\n"
        "    whole = memoryview(text)",
        f"{_EDIT}test_every_edit_sees_the_original_text",
    ),
    Mutation(
        "guard: mapped addresses are not unmapped",
        "tool/web/addresses.py",
        "        plain = plain.ipv4_mapped or plain\n    for network",
        "        pass\n    for network",
        f"{_GUARD}test_public_addresses_pass",
    ),
    Mutation(
        "guard: only the first address is looked at",
        "tool/web/guard.py",
        "        for address in addresses:\n            self._require_allowed",
        "        for address in addresses[:1]:\n            self._require_allowed",
        f"{_GUARD}test_a_name_with_one_inner_address_is_refused_whole",
    ),
    Mutation(
        "guard: the connected address is not looked at",
        "tool/web/guard.py",
        "        self._require_allowed(address, address)",
        "        pass",
        f"{_GUARD}test_a_peer_that_is_not_the_checked_address_gets_no_byte",
    ),
    Mutation(
        "guard: the scheme of a redirect is not looked at",
        "tool/web/fetch.py",
        "        target = self.guard.target(location, query.target)",
        "        from urllib.parse import urljoin\n"
        "        from agentslot.tool.web.guard import parse_url\n"
        "        target = parse_url(urljoin(query.target.url, location))",
        "tests/tool/test_web_tls.py",
    ),
    Mutation(
        "guard: headers travel to other origins",
        "tool/web/fetch.py",
        "            moved = replace(moved, headers=travelling)",
        "            del travelling",
        f"{_GUARD}test_headers_stay_at_their_origin_and_do_not_come_back_after_a_return",
    ),
    Mutation(
        "guard: a body is cut after it was read whole",
        "tool/web/body.py",
        "        if len(content) > max_bytes or received > max_bytes:\n            break",
        "        if len(content) > 10 * max_bytes and received < 0:\n            break",
        f"{_GUARD}test_an_endless_body_is_read_to_its_cap_and_the_connection_is_closed",
    ),
    Mutation(
        "guard: a compressed body is not bounded",
        "tool/web/body.py",
        "            return self._state.decompress(piece, room)",
        "            return self._state.decompress(piece)[: room - 1]",
        f"{_GUARD}test_a_small_body_that_unpacks_hugely_is_cut_at_the_cap",
    ),
    Mutation(
        "search: what is optional counts as text that every match holds",
        "tool/search/literal.py",
        '        if text in {"*", "?"}:',
        '        if text == "*":',
        "tests/tool/test_literal.py",
    ),
    Mutation(
        "search: a letter beyond ASCII never equals one within",
        "tool/search/worker.py",
        "        if self._low and content.isascii():",
        "        if self._low:",
        "tests/tool/test_literal.py::test_a_letter_beyond_ascii_can_equal_one_within",
    ),
    Mutation(
        "search: case is a plain switch",
        "tool/search/tool.py",
        "        if case_sensitive is None:\n",
        "        case_sensitive = bool(case_sensitive)\n        if case_sensitive is None:\n",
        "tests/tool/test_search.py::test_case_matters_only_if_the_pattern_says_so",
    ),
    Mutation(
        "search: what ripgrep ignores is not searched",
        "tool/search/tool.py",
        "            if location.is_file():",
        '            if location.is_file() and not location.name.startswith("."):',
        "tests/tool/test_search.py::test_one_file_can_be_searched_although_it_is_hidden",
    ),
    Mutation(
        "images: the budget is that of the bytes",
        "tool/images/normalize.py",
        "    return -(-len(content) // 3) * 4 <= MAX_BASE64_BYTES",
        "    return len(content) <= MAX_BASE64_BYTES",
        f"{_IMAGES}test_the_budget_is_that_of_the_base64_text",
    ),
    Mutation(
        "images: one that conforms is encoded again",
        "tool/images/normalize.py",
        "            if _fits(content) and max(width, height) <= MAX_SIDE:",
        "            if not content:",
        f"{_IMAGES}test_an_image_that_conforms_stays_byte_for_byte",
    ),
    Mutation(
        "images: animated PNG passes",
        "tool/images/problem.py",
        '        if kind == b"acTL":',
        '        if kind == b"none":',
        f"{_IMAGES}test_an_image_that_providers_refuse_is_named",
    ),
    Mutation(
        "images: what is transparent becomes black",
        "tool/images/normalize.py",
        '    white = pillow.new("RGBA", image.size, "white")',
        '    white = pillow.new("RGBA", image.size, "black")',
        f"{_IMAGES}test_what_is_transparent_becomes_white_where_it_has_to_become_a_jpeg",
    ),
    Mutation(
        "images: one that cannot be read is dropped",
        "tool/images/normalize.py",
        'and is passed on as it is", media_type)\n        return content, media_type',
        'and is dropped", media_type)\n        return b"", media_type',
        f"{_IMAGES}test_what_cannot_be_read_comes_back_as_it_was",
    ),
    Mutation(
        "images: a huge claim is decoded",
        "tool/images/normalize.py",
        "            if width * height > MAX_PIXELS:",
        "            if width * height < 0:",
        f"{_IMAGES}test_a_huge_claim_is_not_decoded",
    ),
    Mutation(
        "sandbox: a broken promise is passed over",
        "tool/environment/verify.py",
        "    if report.broken:",
        "    if report.broken and not report.confines:\n        return\n    if False:",
        "tests/tool/test_environments.py::test_every_broken_promise_is_found",
    ),
    Mutation(
        "middleware: a tool runs as often as a middleware goes on",
        "standardagent/runtime/toolexecution.py",
        "        if self._spent:",
        "        if self._spent and self._running is None and self.was_left:",
        f"{_MIDDLEWARE}test_a_tool_runs_once_however_often_a_middleware_goes_on",
    ),
    Mutation(
        "middleware: one that fails is passed over",
        "standardagent/runtime/toolexecution.py",
        '            log.exception("tool middleware %r failed on call %s", middleware, call.id)\n'
        "            return self._broken_middleware()",
        "            return await self._from(place + 1)",
        f"{_MIDDLEWARE}test_a_middleware_that_fails_before_the_tool_keeps_it_from_running",
    ),
    Mutation(
        "middleware: the tool gets what a middleware has decoded",
        "standardagent/runtime/toolexecution.py",
        "        self._shown = replace(invocation, decoded=None) if middleware else invocation",
        "        self._shown = invocation",
        f"{_MIDDLEWARE}test_the_tool_gets_the_arguments_that_policy_has_seen",
    ),
    Mutation(
        "middleware: the last of the chain is the outermost",
        "standardagent/runtime/toolexecution.py",
        "        self._middleware = middleware\n",
        "        self._middleware = tuple(reversed(middleware))\n",
        f"{_MIDDLEWARE}test_the_first_of_the_chain_is_the_outermost_and_the_description_says_so",
    ),
    Mutation(
        "middleware: every result is cached",
        "tool/middleware/resultcache.py",
        "        if proceed.effect is not Effect.PURE and call.name not in self._also:",
        "        if proceed.effect is None:",
        f"{_MIDDLEWARE}test_what_has_effects_is_not_cached_unless_it_is_named",
    ),
    Mutation(
        "workspaces: the boundary of another scope is taken",
        "standardagent/runtime/components.py",
        "        require_boundary(boundary, scope)\n",
        "",
        f"{_WORKSPACES}test_a_boundary_of_another_scope_or_a_broken_manager_opens_nothing",
    ),
    Mutation(
        "workspaces: what cannot be worked on is recovered first",
        "standardagent/gateway/access.py",
        "                boundary = await components.boundary(stored.agent, stored.workspace)\n",
        "",
        f"{_WORKSPACES}test_a_session_whose_workspace_is_gone_is_not_resumed_nor_changed",
    ),
    Mutation(
        "workspaces: the first folder serves them all",
        "tool/workspace.py",
        "        owners = self._owners.get(folder)",
        "        owners = next(iter(self._owners.values()), None)",
        f"{_WORKSPACES}test_each_session_reads_and_writes_in_its_own_workspace",
    ),
    Mutation(
        "deferred: a tool that was not found runs",
        "standardagent/runtime/toolbatch.py",
        "        if tool is None or (tool.deferred and call.name not in self._found()):",
        "        if tool is None:",
        f"{_DEFERRED}test_a_tool_that_was_found_runs_and_one_that_was_not_says_what_to_do",
    ),
    Mutation(
        "deferred: what was found is sorted by name",
        "standardagent/runtime/toolset.py",
        "            late = [self._tools[name].definition for name in found]",
        "            late = [self._tools[name].definition for name in sorted(found)]",
        f"{_DEFERRED}test_what_is_found_is_shown_behind_in_the_order_of_finding",
    ),
    Mutation(
        "deferred: a later use moves a tool",
        "standardagent/runtime/toolset.py",
        "        self._found.update(",
        "        self._found = {n: None for n in self._found if n not in names}\n"
        "        self._set = None\n"
        "        self._found.update(",
        f"{_DEFERRED}test_what_is_found_is_shown_behind_in_the_order_of_finding",
    ),
    Mutation(
        "deferred: all tools wait for a search",
        "standardagent/runtime/toolset.py",
        "    if len(deferred) == len(exposed):",
        "    if not exposed:",
        f"{_DEFERRED}test_without_a_stable_tool_every_tool_is_shown_and_there_is_no_search",
    ),
    Mutation(
        "deferred: History is read from its beginning each time",
        "standardagent/runtime/toolset.py",
        "            self._seen = len(history)",
        "            self._seen = 0",
        f"{_DEFERRED}test_a_further_request_looks_at_no_result_twice_and_shows_the_same_set",
    ),
    Mutation(
        "deferred: the cache mark stands behind a late tool",
        "model/wires/prefix.py",
        "        stable = len(tools) - request.late_tools",
        "        stable = len(tools)",
        f"{_LATE}test_the_mark_stands_behind_the_last_tool_that_every_request_has",
    ),
    Mutation(
        "deferred: a new tool has all of them written anew",
        "model/wires/prefix.py",
        "        if known is None or (known[0] is not tool and known[0] != tool):",
        "        if True:",
        f"{_LATE}test_only_the_tool_that_comes_is_serialized",
    ),
    Mutation(
        "deferred: the record forgets which tools came late",
        "standardagent/context/rebuild.py",
        '        sum("late" in tool for tool in described),\n',
        "        0,\n",
        f"{_DEFERRED}test_every_recorded_request_can_be_made_again_with_its_late_tools",
    ),
    Mutation(
        "history: the step that asks is shown to itself",
        "tool/history/tool.py",
        "    before = start.sequence if start else _place_of(history, invocation.call.id)",
        "    before = start.sequence if start else 0",
        f"{_HISTORY}test_the_past_is_read_beyond_what_the_context_still_shows",
    ),
    Mutation(
        "history: a search goes on behind the whole step",
        "tool/history/tool.py",
        "        stop = start.sequence - 1 if start else _end_of_past(history, invocation.call.id)",
        "        stop = _end_of_past(history, invocation.call.id)\n"
        "        if start:\n"
        "            facts = history_page(history, before_sequence=start.sequence)[0]\n"
        "            stop = facts[-1].sequence if facts else 0",
        f"{_HISTORY}test_a_search_goes_on_where_it_stopped",
    ),
    Mutation(
        "history: earlier looks are found again",
        "tool/history/tool.py",
        "        if entry is None or entry.is_own:",
        "        if entry is None:",
        f"{_HISTORY}test_looks_into_the_past_are_neither_repeated_nor_found",
    ),
    Mutation(
        "history: any text is a cursor",
        "tool/history/cursor.py",
        "    if place is None or raw[:_CHECKED] != _check(raw[_CHECKED:]):",
        "    if place is None:",
        f"{_HISTORY}test_a_cursor_names_its_place_and_no_other_text_does",
    ),
    Mutation(
        "policy: a place that cannot be told is allowed",
        "standardagent/policy/places.py",
        "    return not fits or any(fits)",
        "    return any(fits)",
        "tests/standardagent/test_rulebook.py::test_a_denied_place_is_denied_in_every_spelling",
    ),
    Mutation(
        "policy: of two readings of a path one is enough to allow it",
        "standardagent/policy/places.py",
        "        return bool(fits) and all(fits)",
        "        return any(fits)",
        "tests/standardagent/test_rulebook.py::"
        "test_of_a_path_in_two_roots_the_stricter_reading_counts",
    ),
)
