"""Settings of bulk answering and of the HTTP service."""

from __future__ import annotations

from pydantic import Field

from finray.core.method_settings import Section


class BulkSettings(Section):
    """Bulk answering."""

    concurrency: int = Field(256, ge=1)
    """Questions in flight. Without a language model a worker gets two at a time: the current and the next one."""
    question_seconds: float = Field(0.0, ge=0)
    """Time limit of one question, also in `finray ask`; a longer one becomes an error. 0 means 300, or 3600 with a
    language model, for which hundreds of questions wait together."""
    flush_seconds: float = Field(5.0, gt=0)
    """Interval between writes of finished predictions."""
    max_question_characters: int = Field(8_000, ge=1)
    """A longer question is an error."""
    max_table_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """A larger table of questions (.csv, or .xlsx unpacked) is refused."""


class ServingSettings(Section):
    """The HTTP service."""

    keys: str = ""
    """File of API keys, local or s3://; empty for ``keys.json`` in the user's configuration folder."""
    max_body_bytes: int = Field(262_144, ge=1024)
    """A larger request is refused."""
    body_timeout_s: float = Field(10.0, gt=0)
    """Time for the body of a request to arrive."""
    max_question_characters: int = Field(2_000, ge=1)
    """A longer question is refused."""
    max_questions: int = Field(16, ge=1)
    """Questions in one request; use bulk answering for more."""
    questions_per_minute: float = Field(600.0, gt=0)
    """Rate limit of one key."""
    reads_per_minute: float = Field(3_000.0, gt=0)
    """Rate limit of one key for filings, pages, images and metrics."""
    max_concurrent: int = Field(16, ge=1)
    """Requests with questions in progress of one key in one replica; the same limit applies to its reads and to its
    images."""
    max_in_flight: int = Field(64, ge=1)
    """Questions in progress or waiting in one replica; more are refused at once (429)."""
    max_waiting_reads: int = Field(64, ge=1)
    """Reads that wait for a thread in one replica, and images that wait for a process."""
    read_threads: int = Field(4, ge=1)
    """Threads of a replica for filings and the text of pages. One key gets at most all but one."""
    image_processes: int = Field(2, ge=1)
    """Images that a replica renders at a time. One key gets at most all but one."""
    cache_bytes: int = Field(128 * 1024 * 1024, ge=0)
    """Memory of a replica for rendered images, and the same for their PDFs."""
    timeout_s: float = Field(120.0, gt=0)
    """Time limit of one request. If a question runs on after it, or after its client disconnects, the engine's process
    is killed."""
    grace_s: float = Field(5.0, ge=0)
    """Time before that for a question to stop: stages are not interrupted."""
    engines: int = Field(1, ge=1)
    """Engines in a replica, each in a process of its own, which takes about 1 GB."""
    watch_seconds: float = Field(5.0, gt=0)
    """Interval between checks for a new version of the index and for changed keys."""
    image_dpi: int = Field(110, ge=36, le=200)
    """Resolution of page images, unless the request says otherwise."""
    mcp: bool = False
    """Whether agents find an MCP server at ``/mcp``, with the same keys and limits. Needs the extra ``mcp``."""
    share_llm: bool = True
    """Whether holders of a key may ask the language model of the application at ``/llm/v1``, if it has one."""
    batches: str = ""
    """Folder or s3:// prefix for the files and batches of keys; empty for ``INDEX-batches``, beside the index."""
    max_file_bytes: int = Field(16 * 1024 * 1024, ge=1024)
    """A larger question file is refused."""
    file_timeout_s: float = Field(120.0, gt=0)
    """Time for a question file to arrive."""
    max_files: int = Field(200, ge=1)
    """Files that a key may keep, and the same for its batches."""
    max_batch_questions: int = Field(10_000, ge=1)
    """A batch with more questions fails."""
    max_running_batches: int = Field(2, ge=1)
    """Unfinished batches of one key."""
    batch_in_flight: int = Field(4, ge=1)
    """Questions of all batches in progress at a time. Questions of other requests wait behind at most these."""
