"""The plain script that benchmarks/index_speed.py compares with: LangChain's PDF loader and splitter, MiniLM, Chroma.

    benchmarks/.venv-langchain/bin/python benchmarks/langchain_baseline.py FOLDER_OF_PDFS CHROMA_FOLDER MODEL_FOLDER

It has its own environment (requirements-langchain.txt) and is written as a user would write it, with the libraries'
defaults and chunks as long as finray's. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from langchain_chroma import Chroma
from langchain_community.document_loaders import PyMuPDFLoader
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter


def main(folder: Path, persist: Path, model: Path) -> None:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1024, chunk_overlap=30)
    store = Chroma(
        collection_name="filings",
        embedding_function=HuggingFaceEmbeddings(model_name=str(model)),
        persist_directory=str(persist),
    )
    filings = pages = chunks = 0
    for path in sorted(folder.glob("*.pdf")):
        documents = PyMuPDFLoader(str(path)).load()
        pieces = splitter.split_documents(documents)
        store.add_documents(pieces)
        filings += 1
        pages += len(documents)
        chunks += len(pieces)
    print(json.dumps({"indexed": filings, "pages": pages, "chunks": chunks}))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
