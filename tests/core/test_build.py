"""A build reports all that is wrong, changes nothing if it fails, and happens once."""

import pytest

from agentslot import (
    AgentSlotError,
    Application,
    Builder,
    BuilderFrozen,
    BuildFailed,
    DependencyCycle,
    DuplicateModule,
    InvalidApplication,
    InvalidContribution,
    InvalidRequirement,
    Module,
    One,
    Registrar,
    RequirementUnsatisfied,
    SlotConflict,
    SlotOccupied,
)
from tests.core.catalog import COUNT, GENERATOR, NAMES, TOOLS, WORDS, build, place, untyped


def test_every_kind_of_problem_is_reported_at_once() -> None:
    with pytest.raises(BuildFailed) as caught:
        Application(
            " padded",
            [
                Module("a", COUNT.set(untyped("text"))),
                Module("b"),
                Module("b"),
                Module("c", place("c").set_default(1), requires=[place("d").required()]),
                Module("d", place("d").set(1), requires=[place("c").required()]),
                Module("e", place("c").set_default(2), requires=[TOOLS.at_least(1)]),
            ],
            [NAMES.at_least(0), GENERATOR.required(), place("d").required()],
        ).build()

    assert [type(error) for error in caught.value.exceptions] == [
        InvalidApplication,
        InvalidContribution,
        DuplicateModule,
        SlotOccupied,
        InvalidRequirement,
        RequirementUnsatisfied,
        RequirementUnsatisfied,
        DependencyCycle,
    ]
    lines = str(caught.value).splitlines()
    assert lines[0] == "application ' padded' has 8 problems:"
    assert "  - no slot 'test.tool' (module 'e')" in lines
    assert len(lines) == 9
    assert all(isinstance(error, AgentSlotError) for error in caught.value.exceptions)


def test_of_many_problems_the_first_ten_are_printed() -> None:
    with pytest.raises(BuildFailed) as caught:
        Application("demo", [], [place(f"p{number}").required() for number in range(12)]).build()
    lines = str(caught.value).splitlines()
    assert (lines[0], lines[-1]) == ("application 'demo' has 12 problems:", "  - 2 more")
    assert len(lines) == 12


def test_members_of_the_group_can_be_caught_by_class() -> None:
    seen: list[BaseException] = []
    try:
        build(requires=[GENERATOR.required(), COUNT.required()])
    except* RequirementUnsatisfied as group:
        seen = [group, *group.exceptions]

    assert [type(error) for error in seen] == [
        BuildFailed,
        RequirementUnsatisfied,
        RequirementUnsatisfied,
    ]


def test_one_problem_is_raised_itself_with_the_name_of_the_application() -> None:
    with pytest.raises(RequirementUnsatisfied) as caught:
        build(requires=[GENERATOR.required()])

    assert caught.value.application == "test"


def test_what_a_refused_module_would_have_filled_is_not_reported_as_missing() -> None:
    with pytest.raises(InvalidContribution):
        build(
            Module("a", COUNT.set(1), NAMES.add("x", untyped(3)), WORDS.append("w")),
            Module("b", requires=[COUNT.required(), WORDS.at_least(1), NAMES.key("x")]),
        )


def test_an_error_names_the_place_of_the_module_in_the_list() -> None:
    second = Module("b", One[str]("test.count").set("x"))
    with pytest.raises(SlotConflict) as caught:
        build(Module("a", COUNT.set(1)), second)

    assert f"where: module 2 'b' ({second.where()}) in application 'test'" in str(caught.value)


def test_an_error_names_the_line_that_made_the_module_whoever_wrote_its_class() -> None:
    class Library(Module):
        def __init__(self, module_id: str) -> None:
            super().__init__(module_id)

    class Silent(Module):
        def __init__(self) -> None:
            self.id = "silent"  # and calls nothing

    here, library, silent = Module("here"), Library("library"), Silent()

    assert here.where().startswith(__file__)
    assert library.where().endswith(f", made at {here.where()}")
    assert silent.where().endswith(f", made at {here.where()}")


@pytest.mark.parametrize("arguments", [(Module("a"),), (None,), ([], COUNT.required())])
def test_an_application_of_a_single_thing_asks_for_brackets(arguments: tuple[object, ...]) -> None:
    with pytest.raises(InvalidApplication, match="which is no list") as caught:
        untyped(Application)("test", *arguments)

    assert "brackets" in caught.value.fix


@pytest.mark.parametrize("name", ["", " x", None])
def test_an_application_needs_a_name_when_it_is_built(name: str) -> None:
    application = Application(name, [])

    with pytest.raises(InvalidApplication):
        application.build()


def test_building_again_returns_the_same_assembly_and_registers_nothing_again() -> None:
    calls: list[str] = []

    class Counting(Module):
        id = "test.counting"

        def register(self, registrar: Registrar) -> None:
            calls.append("register")

    application = Application("test", [Counting()])

    assert application.build() is application.build()
    assert calls == ["register"]


class Flaky(Module):
    """Fails to register until it is told to work."""

    works = False

    def register(self, registrar: Registrar) -> None:
        registrar.contribute(WORDS.append(self.id), COUNT.set(1 if self.works else untyped(None)))


class Recorder(Module):
    def __init__(self, name: str, calls: list[str]) -> None:
        self.id = name
        self.calls = calls

    def register(self, registrar: Registrar) -> None:
        self.calls.append(self.id)
        registrar.contribute(WORDS.append(self.id))


def test_a_retry_keeps_what_was_registered_before_the_failure_and_the_order_of_the_list() -> None:
    calls: list[str] = []
    flaky = Flaky("flaky")
    application = Application("test", [Recorder("a", calls), flaky, Recorder("b", calls)])
    with pytest.raises(InvalidContribution):
        application.build()

    flaky.works = True
    assembly = application.build()

    # b was registered only to see whether it is right, so it registers once more in its place.
    assert calls == ["a", "b", "b"]
    assert assembly[WORDS] == ("a", "flaky", "b")
    assert [module.id for module in assembly.modules] == ["a", "flaky", "b"]


def test_a_builder_that_failed_takes_what_was_missing_and_builds() -> None:
    builder = Builder()
    builder.install(Module("a", requires=[COUNT.required()]))
    with pytest.raises(RequirementUnsatisfied):
        builder.build()

    builder.install(Module("b", COUNT.set(1)))

    assert builder.build([COUNT.required()])[COUNT] == 1


def test_a_builder_still_misses_what_it_refused_to_install() -> None:
    builder = Builder()
    with pytest.raises(InvalidContribution):
        builder.install(Module("a", COUNT.set(untyped(None))))

    with pytest.raises(RequirementUnsatisfied):
        builder.build([COUNT.required()])


def test_a_builder_that_has_built_is_frozen() -> None:
    builder = Builder()
    builder.build()

    with pytest.raises(BuilderFrozen):
        builder.build()
    with pytest.raises(BuilderFrozen):
        builder.install(Module("a"))


def test_the_lists_given_to_an_application_are_copied() -> None:
    modules = [Module("a")]
    requirements = [COUNT.optional()]
    application = Application("test", modules, requirements)
    modules.append(Module("b"))
    requirements.append(COUNT.required())

    assert [module.id for module in application.build().modules] == ["a"]


def test_making_an_application_calls_nothing() -> None:
    class Never(Module):
        id = "test.never"

        def register(self, registrar: Registrar) -> None:
            raise AssertionError("called")

    Application(untyped(None), [Never()], [NAMES.at_least(0)])
