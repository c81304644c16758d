"""Where commands print: results on the standard output, everything about them on the other."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from hkcanto_tasks.commands import console, output
from hkcanto_tasks.commands.output import format_of, write, write_files
from hkcanto_tasks.errors import DataNotFound, OptionError
from hkcanto_tasks.results.reports.blocks import Note, Report, TableBlock

from .reports.sample_report import report, scores, section


def answering(*blocks: Note | TableBlock) -> Report:
    notes = [
        Note("Base leads.", "verdict", "Who leads"),
        Note("Two logs are left out.", "warning"),
        Note("Look closer:", "next", "What next", "hkcanto compare LOGS --gate 2"),
        Note("An aside."),
    ]
    return report(section(*notes, *blocks))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Console:
    """A terminal of 60 columns and 40 lines in the place of the standard output."""
    made = console._SafeConsole(
        force_terminal=True, width=60, height=40, color_system=None
    )
    for module in (console, output):
        monkeypatch.setattr(module, "out", made)
    return made


def printed(
    capsys: pytest.CaptureFixture[str], *arguments: object, **options: object
) -> tuple[str, str]:
    write(*arguments, **options)  # type: ignore[arg-type]
    captured = capsys.readouterr()
    return captured.out, captured.err


# ---------------------------------------------------------------------- reports


def test_commands_to_paste_have_the_users_logs_and_choice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs = ["base=runs/a b", "tuned"]
    choice = ["--task", "hong kong"]
    text, _ = printed(capsys, answering(), None, None, logs=logs, choice=choice)
    # As a shell needs them.
    command = "hkcanto compare 'base=runs/a b' tuned --task 'hong kong' --gate 2"
    assert f"  {command}\n" in text
    plain, _ = printed(capsys, answering(), None, None)
    assert "  hkcanto compare LOGS --gate 2\n" in plain


def test_a_file_has_the_report_and_the_output_its_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "x.md"
    text, errors = printed(capsys, answering(scores()), file, "md")
    written = file.read_text("utf-8")
    assert "GPT-4o" in written
    assert "GPT-4o" not in text
    for part in ("Base leads.", "Two logs are left out.", "Look closer:"):
        assert part in text
    assert "An aside." not in text
    size = len(written.encode()) / 1000
    assert " ".join(errors.split()) == f"Written: {file} ({size:.0f} kB)"


def test_csv_has_its_warnings_on_the_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, errors = printed(capsys, answering(scores()), None, "csv")
    assert errors == "Warning: Two logs are left out.\n"
    assert "left out" not in text
    for form in ("md", "json", "github"):
        text, errors = printed(capsys, answering(scores()), None, form)
        assert errors == ""
        assert "Two logs are left out." in text


@pytest.mark.usefixtures("terminal")
def test_a_report_longer_than_the_terminal_ends_in_its_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short, _ = printed(capsys, answering(), None, None)
    assert short.count("Base leads.") == 1
    notes = [Note(f"Note {number}.") for number in range(40)]
    long, _ = printed(capsys, answering(*notes), None, None)
    assert long.count("Base leads.") == 2
    end = long[long.index("Note 39.") :]
    assert "Look closer:" in end
    assert "Two logs are left out." not in end


def test_a_reader_that_closes_the_pipe_early_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    with (tmp_path / "out").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(output, "echo", closed)
        write(answering(), None, "md")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("name", "chosen", "form"),
    [
        ("x.html", None, "html"),
        ("x.HTML", None, "html"),
        ("x.csv", None, "csv"),
        ("x.txt", "md", "md"),
        ("x.md", "github", "github"),
    ],
)
def test_the_ending_says_the_format_unless_it_is_chosen(
    tmp_path: Path, name: str, chosen: output.Format | None, form: str
) -> None:
    assert format_of(tmp_path / name, chosen) == form


def test_a_format_without_a_file_is_the_chosen_one() -> None:
    assert format_of(None, None) is None
    assert format_of(None, "csv") == "csv"


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path) -> None:
    known = r"\.html, \.md, \.json, \.csv, or choose"
    with pytest.raises(OptionError, match=f"end the name in {known}"):
        format_of(tmp_path / "x.github", None)


def test_files_are_written_into_new_folders_and_nothing_else_is_left(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a" / "b"
    write_files({"x.txt": "粵", "c/y.txt": "1"}, folder)
    write_files({"c/y.txt": "2"}, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert [path.relative_to(folder).as_posix() for path in files] == [
        "c/y.txt",
        "x.txt",
    ]
    assert [path.read_text("utf-8") for path in files] == ["2", "粵"]
    assert sorted(path.name for path in folder.iterdir()) == ["c", "x.txt"]


def test_a_file_in_the_place_of_a_folder_is_named_before_the_work(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").write_text("", "utf-8")
    with pytest.raises(DataNotFound, match="taken is a file, or not yours"):
        output.check_folder(tmp_path / "taken" / "site")
    output.check_folder(tmp_path / "new" / "site")
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------- lines


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_a_text_is_wrapped_beside_its_head(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console.print_row(Text("head: "), "word " * 20)
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("head: word word")
    assert len(others) == 1
    assert others[0].startswith(" " * 6 + "word")


def test_in_a_pipe_a_text_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "out", console._SafeConsole(width=30))
    console.print_row(Text("head: "), "[bold] " * 20)
    assert capsys.readouterr().out == f"head: {'[bold] ' * 20}\n"


@pytest.mark.parametrize(("is_terminal", "lines"), [(False, 1), (True, 4)])
def test_an_error_is_wrapped_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, lines: int
) -> None:
    stream = io.StringIO()
    made = Console(file=stream, width=40, force_terminal=is_terminal, color_system=None)
    monkeypatch.setattr(console, "err", made)
    console.print_error(OptionError("[x] " + "word " * 25))
    text = stream.getvalue()
    assert text.startswith("OptionError: [x] word")
    assert text.count("\n") == lines


def test_a_text_of_others_is_made_printable_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console.echo("a\x07b")
    console.echo("c\x07d", to_err=True)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("a\x07b\n", "c\x07d\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    console.echo("a\x07b")
    assert capsys.readouterr().out == "a␇b\n"


def test_a_full_report_has_all_its_sections(capsys: pytest.CaptureFixture[str]) -> None:
    made = report(
        section(Note("Summary.")), section(Note("Details."), is_summary=False)
    )
    text, _ = printed(capsys, made, None, None)
    assert "Details." not in text
    text, _ = printed(capsys, made, None, None, full=True)
    assert "Details." in text


def test_answers_to_questions_begin_in_one_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes = [Note("Base.", "verdict", "Who"), Note("By 2.", "verdict", "How certain")]
    text, _ = printed(capsys, report(section(*notes)), None, None)
    lines = text.splitlines()
    (first,) = [line for line in lines if "Base." in line]
    (second,) = [line for line in lines if "By 2." in line]
    assert first.index("Base.") == second.index("By 2.")
    # A label has 12 characters or more, and two spaces after it.
    assert second.index("By 2.") == 14
    long = Note("Base.", "verdict", "What is in it?")
    text, _ = printed(capsys, report(section(long)), None, None)
    assert "What is in it?  Base.\n" in text
