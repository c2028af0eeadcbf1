# finray with vLLM on NVIDIA GPUs: the service of serve-gpu.yaml, and answer jobs with llm.backend = "vllm".
#   make image-digests; make image-llm      gives finray:0.1.0-llm
# Versions: vLLM 0.29.0 is what the extra `llm` of Ray 2.60.0 pins; replicas run it through ray.serve.llm.
# Driver: PyPI's torch 2.13 is built for CUDA 13.0, which needs an NVIDIA driver of 580 or later on the machine. GPUs of
# compute capability 8.0 (Ampere) or later, for bfloat16. The image has no CUDA toolkit: the driver comes from the machine,
# kernels come compiled.
# Compiler: torch.compile and Triton compile host code when the engine starts, hence g++, gcc and libc6-dev at run time.
# Local files stay out: .dockerignore lists what the build may see. The base image is pinned by digest. There is no
# default on purpose; `make image-digests` writes yours to infra/images/digests.env.
ARG PYTHON_DIGEST
FROM python:3.11-slim-bookworm@${PYTHON_DIGEST} AS build
# PyPI's torch brings the CUDA libraries; the driver comes from the machine, through the NVIDIA container toolkit.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH
WORKDIR /src
RUN python -m venv /opt/venv
# Locked requirements first: this layer is rebuilt only if they change. Everything but torch has hashes, so pip resolves
# nothing; torch comes last, with the libraries that its build requires.
COPY requirements.in requirements-vllm.lock ./
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install --require-hashes --no-deps -r requirements-vllm.lock \
    && pip install "$(grep '^torch==' requirements.in)"
COPY pyproject.toml README.md LICENSE ./
COPY finray finray
COPY serve serve
RUN pip install --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm@${PYTHON_DIGEST}
# wget: KubeRay's probes of Ray pods; rsync: `ray up`; bubblewrap: confines model-written programs;
# tesseract-ocr: data for OCR of scanned pages.
# FlashInfer's sampler would compile with nvcc, so vLLM's own is used.
# The line in profile.d is for login shells, which KubeRay and `ray up` use: they reset PATH.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap g++ gcc libc6-dev rsync tesseract-ocr wget \
    && rm -rf /var/lib/apt/lists/* \
    && echo 'export PATH=/opt/venv/bin:$PATH' > /etc/profile.d/finray.sh \
    && useradd --uid 1000 --create-home --shell /bin/bash ray
COPY --from=build /opt/venv /opt/venv
COPY jobs /opt/finray/jobs
ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 \
    RAY_USAGE_STATS_ENABLED=0 \
    CC=gcc VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_NO_USAGE_STATS=1 \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000
WORKDIR /opt/finray
# 6379: Ray between pods; 8265: dashboard and jobs; 8000: HTTP service.
EXPOSE 6379 8000 8265
HEALTHCHECK --interval=60s --timeout=20s --start-period=60s --retries=3 CMD ["ray", "health-check"]
CMD ["finray", "--help"]
