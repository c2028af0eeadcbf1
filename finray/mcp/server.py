"""The tools and resources as an MCP server of the official SDK."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedToolError,
)
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, Resource, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from finray.api.access import ANONYMOUS
from finray.api.envelope import context_of
from finray.api.errors import ApiError
from finray.api.requests import MAX_NAMES, Name, Year
from finray.core.filing_filter import FilingFilter
from finray.core.records import adapter, to_json
from finray.mcp import reading
from finray.mcp.marking import RULE, short
from finray.mcp.reading import SCHEME
from finray.mcp.records import (
    AnswerResult,
    FactsResult,
    FilingsResult,
    PageResult,
    PassagesResult,
    TableResult,
)
from finray.mcp.tools import Caller, Tools

INSTRUCTIONS = (
    "SEC filings in an index, with answers that cite their page. Ask with `ask` first: it computes figures from cells, "
    "and refuses if the filings lack the answer. Check it with `read_page` and `read_table`, or gather figures over "
    "years with `look_up_line_items`. Cite every figure by the `citation` that comes with it. Pages count from 0 in "
    f"arguments, from 1 in citations. {RULE}"
)
_MAX_LOOKED_UP = 20
_LISTED = 200
Companies = Annotated[
    list[Name], Field(max_length=MAX_NAMES, description="Only these companies: names, aliases, tickers or CIKs.")
]
Forms = Annotated[list[Name], Field(max_length=MAX_NAMES, description="Only these forms, such as 10-K, 10-Q, 8-K.")]
Years = Annotated[
    list[Year], Field(max_length=MAX_NAMES, description="Only these fiscal years, as the companies count them.")
]
FilingId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$", description="As in citations and in list_filings.")]
PageNumber = Annotated[int, Field(ge=0, le=100_000, description="From 0: `page` of a citation.")]


def mcp_server(tools: Tools) -> MCPServer[Any]:
    server = _Server(
        tools,
        "finray",
        title="finray",
        version=version("finray"),
        description="Questions over SEC filings, answered with evidence",
        instructions=INSTRUCTIONS,
        tools=[_tool(*each) for each in _described(tools)],
        subscriptions=False,
    )
    _add_resources(server, tools)
    return server


class _Server(MCPServer[Any]):
    """Errors of tools are one line. Lists the first filings as resources; the template reaches all."""

    def __init__(self, over: Tools, *args: Any, **kwargs: Any) -> None:
        quiet = logging.NullHandler()
        logging.root.addHandler(quiet)  # else the SDK configures the logging of the process
        super().__init__(*args, **kwargs)
        logging.root.removeHandler(quiet)
        self._over = over

    async def list_resources(self) -> list[Resource]:
        found = await _found(self._over.read(Caller(), reading.list_filings, FilingFilter(), "", _LISTED))
        return [
            Resource(uri=each.resource, name=each.doc_name, title=each.citation, mime_type="application/json")
            for each in found.filings
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as invalid:
                    first = invalid.errors(include_url=False, include_input=False)[0]
                    where = short(".".join(map(str, first["loc"])))
                    raise ToolError(f"{where}: {first['msg']}") from error
                case ToolError() as own:
                    raise own from None
            raise


def _described(tools: Tools) -> list[tuple[str, Callable[..., Awaitable[Any]], type]]:
    """Title, function and result of each tool."""

    async def ask(
        context: Context[Any, Any],
        question: Annotated[
            str, Field(min_length=1, description="One question; name the company, the metric and the fiscal year.")
        ],
        companies: Companies = [],  # noqa: B006
        forms: Forms = [],  # noqa: B006
        fiscal_years: Years = [],  # noqa: B006
    ) -> AnswerResult:
        """Answer one question from the filings: with the value, the arithmetic, the cells and passages that it rests
        on, and a confidence; or refuse, with what the filings lack. Takes a second or, with a language model, more."""
        return await tools.ask(_caller(context), question, _narrowed(companies, forms, fiscal_years))

    async def search_passages(
        context: Context[Any, Any],
        query: Annotated[
            str, Field(min_length=1, description="A question or keywords, with company and year if known.")
        ],
        companies: Companies = [],  # noqa: B006
        forms: Forms = [],  # noqa: B006
        fiscal_years: Years = [],  # noqa: B006
        limit: Annotated[int, Field(ge=1, le=50, description="Passages, at most.")] = 10,
    ) -> PassagesResult:
        """Find passages of the filings, best first, each with its page. For text; figures are better asked for, or
        looked up as line items."""
        return await tools.search(_caller(context), query, _narrowed(companies, forms, fiscal_years), limit)

    async def list_filings(
        context: Context[Any, Any],
        companies: Companies = [],  # noqa: B006
        forms: Forms = [],  # noqa: B006
        fiscal_years: Years = [],  # noqa: B006
        cursor: Annotated[str, Field(max_length=200, description="`next_cursor` of the previous call.")] = "",
        limit: Annotated[int, Field(ge=1, le=_LISTED, description="Filings, at most.")] = 50,
    ) -> FilingsResult:
        """List the filings of the index with their cover facts: company, form, fiscal period, dates, pages."""
        return await tools.read(
            _caller(context), reading.list_filings, _narrowed(companies, forms, fiscal_years), cursor, limit
        )

    async def read_page(
        context: Context[Any, Any],
        filing_id: FilingId,
        page: PageNumber,
        start: Annotated[int, Field(ge=0, description="`next_start` of the previous call, for a long page.")] = 0,
    ) -> PageResult:
        """Read one page of a filing as text, with the titles of its tables."""
        return await tools.read(_caller(context), reading.read_page, filing_id, page, start)

    async def read_table(
        context: Context[Any, Any],
        filing_id: FilingId,
        page: PageNumber,
        table: Annotated[int, Field(ge=1, le=1_000, description="From 1, as read_page numbers them.")] = 1,
    ) -> TableResult:
        """Read one table of a page as Markdown, with the heads of its columns, periods and units."""
        return await tools.read(_caller(context), reading.read_table, filing_id, page, table)

    async def look_up_line_items(
        context: Context[Any, Any],
        companies: Annotated[
            list[Name], Field(min_length=1, max_length=_MAX_LOOKED_UP, description="Names, tickers or CIKs.")
        ],
        items: Annotated[
            list[Name],
            Field(
                min_length=1,
                max_length=_MAX_LOOKED_UP,
                description="Names (revenue, capex, net income), XBRL tags (us-gaap:Goodwill) or labels of rows.",
            ),
        ],
        fiscal_years: Annotated[
            list[Year], Field(max_length=_MAX_LOOKED_UP, description="By default all with an annual report.")
        ] = [],  # noqa: B006
        every_filing: Annotated[
            bool, Field(description="One fact for each filing that prints it: restatements side by side.")
        ] = False,
    ) -> FactsResult:
        """Look up line items of companies over fiscal years: value, unit, the cell that prints it, its page and tag,
        and whether it was restated later. What is missing comes with the reason."""
        return await tools.read(_caller(context), reading.look_up, companies, items, fiscal_years, every_filing)

    return [
        ("Ask a question", ask, AnswerResult),
        ("Search passages", search_passages, PassagesResult),
        ("List filings", list_filings, FilingsResult),
        ("Read a page", read_page, PageResult),
        ("Read a table", read_table, TableResult),
        ("Look up line items", look_up_line_items, FactsResult),
    ]


def _tool(title: str, function: Callable[..., Awaitable[Any]], result: type) -> Tool:
    """A read-only tool that publishes the schema of ``result`` and refuses unknown arguments."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> CallToolResult:
        try:
            found = to_json(await function(*args, **kwargs)).decode()
        except ApiError as error:
            raise ToolError(str(error)) from error
        return CallToolResult(content=[TextContent(text=found)], structured_content=json.loads(found))

    annotations = ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    description = " ".join((function.__doc__ or "").split())
    tool = Tool.from_function(
        call, title=title, description=description, annotations=annotations, structured_output=False
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    tool.fn_metadata.output_schema = adapter(result).json_schema(mode="serialization")
    return tool


def _add_resources(server: MCPServer[Any], tools: Tools) -> None:
    @server.resource(SCHEME + "/{filing_id}", title="Filing", mime_type="application/json")
    async def filing(context: Context[Any, Any], filing_id: str) -> str:
        """Cover facts of a filing, and what each of its pages is."""
        return to_json(await _found(tools.read(_caller(context), reading.read_filing, filing_id))).decode()

    @server.resource(SCHEME + "/{filing_id}/pages/{page}", title="Page", mime_type="text/plain")
    async def page(context: Context[Any, Any], filing_id: str, page: str) -> str:
        """The text of a page between tags that mark it as data, below its citation; pages count from 0."""
        if not page.isdecimal() or len(page) > 6:
            raise ResourceNotFoundError(f"{page[:40]!r} is not a page; pages count from 0")
        read = await _found(tools.read(_caller(context), reading.read_page, filing_id, int(page), 0))
        rest = "" if read.next_start is None else f"\n… the tool read_page has the rest, from {read.next_start}"
        return f"{read.citation.text}\n{read.text}{rest}"


async def _found(work: Awaitable[Any]) -> Any:
    """The result of ``work``. Raises ResourceError for its ApiError."""
    try:
        return await work
    except ApiError as error:
        raise (ResourceNotFoundError if error.status == 404 else ResourceError)(str(error)) from error


def _caller(context: Context[Any, Any]) -> Caller:
    """The sender of an HTTP request; an anonymous caller for other transports."""
    request = context.request_context.request
    if request is None:
        return Caller()
    return Caller(context_of(request.scope).key or ANONYMOUS, f"{request.url.scheme}://{request.url.netloc}")


def _narrowed(companies: list[str], forms: list[str], years: list[int]) -> FilingFilter:
    return FilingFilter(tuple(companies), tuple(forms), tuple(years))
