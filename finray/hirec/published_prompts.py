"""The prompts of HiREC as published: tables 17 to 20 of arXiv 2505.20368, appendix D, word for word.

The paper's line breaks and Python indentation are lost in its PDF and restored here. Texts of filings and users are
filled in without angle brackets, so that they cannot open or close a part of a chat template; the published prompts
have no fences around them. Table 16, the prompt of cover summaries, is in ``finray.retrieval.cover_summaries``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from finray.models.chat import Message
from finray.models.fences import unfenced


@dataclass(frozen=True, slots=True)
class Titled:
    """A passage with the title of its filing, the input of tables 18 to 20."""

    title: str
    content: str


_TRANSFORM = """\
You are an AI that rewrites user questions about financial topics into concise meta-focused queries.
1) Identify the key financial terms or metrics in the question.
2) Determine which type of documents typically contain those terms.
3) Transform the user’s question into a short query referencing the financial terms and the relevant documents.
4) Do not reveal the transformation process or provide examples.
5) Output only the final rewritten query.
## Question: {Question}
### Output format
## Query: {Rewritten query}"""

_CURATE = """\
### Instruction
You are a financial expert. Evaluate the provided context to determine if it contains enough information to answer the \
given question.
1. Read the context carefully and decide if it contains enough information to answer the question.
2. If it is answerable, set ’is_answerable: answerable’ and provide the answer in ’answer’.
3. If it is not answerable, set ’is_answerable: unanswerable’. Then:
- List the relevant document IDs in ’answerable_doc_ids’ in order of relevance (from most to least relevant).
- Explain what specific information is missing in ’missing_information’.
- Provide a concise question in ’refined_query’ to search for exactly that missing information.
4. Output your result strictly in the specified format below using ’##’ headers.
###Inputs
Context:
{Context}
Question: {question}
### Output format
## is_answerable: answerable or unanswerable
## missing_information: If ’unanswerable’, specify the details or data needed; if ’answerable’, None
## answer: If ’answerable’, provide the answer; if ’unanswerable’, then None
## answerable_doc_ids: Provide a list of document IDs that contain relevant information (e.g., [1, 2]). If none, use []
## refined_query: If ’unanswerable’, provide a refined question to obtain the missing information;"""

_PROGRAM_SYSTEM = """\
You are a financial expert, you are supposed to generate a Python program to answer the given question based on the \
provided financial document context. The returned value of the program is supposed to be the answer.
```python
def solution():
    # Define variables name and value based on the given context
    guarantees = 210
    total_exposure = 716

    # Do math calculation to get the answer
    answer = (guarantees / total_exposure) * 100

    # return answer
    return answer
```"""

_PROGRAM_USER = """\
Context:
{Context}
Question: {question}
Please generate a Python program to answer the given question. The format of the program should be the following:
```python
def solution():
    # Define variables name and value based on the given context
    ...
    # Do math calculation to get the answer
    ...
    # return answer
    return answer
```
Continue the program to answer the question. The returned value of the program is supposed to be the answer:
```python
def solution():
    # Define variables name and value based on the given context
```"""

_CHAIN_SYSTEM = """\
You are a financial expert, and you are supposed to answer the given question based on the provided financial document \
context. You need to first think through the problem step by step, documenting each necessary step. Then, you are \
required to conclude your response with the final answer in your last sentence as "Therefore, the answer is final \
answer."""

_CHAIN_USER = """\
Context:
{Context}
Question: {question}
Let’s think step by step to answer the given question."""

_PLACE = re.compile(r"\{(Question|question|Context)\}")


def transform_prompt(question: str) -> list[Message]:
    """Table 17."""
    return [Message("user", _filled(_TRANSFORM, question))]


def curation_prompt(question: str, passages: Iterable[Titled]) -> list[Message]:
    """Table 18. The ids of ``passages`` count from 1."""
    lines = (f"Context{n} (ID: {n}): Title is {p.title}. Content is {p.content}" for n, p in enumerate(passages, 1))
    return [Message("user", _filled(_CURATE, question, lines))]


def program_prompt(question: str, passages: Iterable[Titled]) -> list[Message]:
    """Table 19, program of thought."""
    return [Message("system", _PROGRAM_SYSTEM), Message("user", _filled(_PROGRAM_USER, question, _sources(passages)))]


def chain_prompt(question: str, passages: Iterable[Titled]) -> list[Message]:
    """Table 20, chain of thought."""
    return [Message("system", _CHAIN_SYSTEM), Message("user", _filled(_CHAIN_USER, question, _sources(passages)))]


def _sources(passages: Iterable[Titled]) -> Iterable[str]:
    return (f"Sources: {passage.title} - {passage.content}" for passage in passages)


def _filled(template: str, question: str, context: Iterable[str] = ()) -> str:
    """``template`` with its places filled in one pass, so that no text can name another place."""
    values = {"Context": unfenced("\n".join(context)), "question": unfenced(question)}
    values["Question"] = values["question"]
    return _PLACE.sub(lambda match: values[match[1]], template)
