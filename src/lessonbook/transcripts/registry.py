"""The readers we have: one line per agent."""

from __future__ import annotations

from lessonbook.core.ports import TranscriptReader
from lessonbook.transcripts.atif import AtifReader
from lessonbook.transcripts.claude import ClaudeReader
from lessonbook.transcripts.codex import CodexReader
from lessonbook.transcripts.gemini import GeminiReader
from lessonbook.transcripts.hermes import HermesReader
from lessonbook.transcripts.inspect_ai import InspectReader
from lessonbook.transcripts.miniswe import MiniSweAgentReader
from lessonbook.transcripts.opencode import OpencodeReader
from lessonbook.transcripts.pi import OmpReader, PiReader
from lessonbook.transcripts.ramabana import RamabanaReader
from lessonbook.transcripts.sweagent import SweAgentReader

READERS: tuple[TranscriptReader, ...] = (
    ClaudeReader(),
    CodexReader(),
    GeminiReader(),
    OpencodeReader(),
    PiReader(),
    OmpReader(),
    HermesReader(),
    RamabanaReader(),
    SweAgentReader(),
    MiniSweAgentReader(),
    InspectReader(),
    AtifReader(),
)


def reader_of(path: str, head: bytes) -> TranscriptReader | None:
    """Return the reader whose agent wrote this file, judged by its first bytes; ``None`` where it is none of ours."""
    return next((reader for reader in READERS if reader.matches(path, head)), None)
