# finray on NVIDIA GPUs: Ray head and workers, jobs, and the HTTP service.
#   make image-digests; make image-gpu      gives finray:0.1.0-gpu
# Nothing of a machine's own goes in: .dockerignore lists what the build may see. The base is named by digest: one image,
# whatever the tag stands for today. There is no default on purpose; infra/images/digests.env has yours.
ARG PYTHON_DIGEST
FROM python:3.11-slim-bookworm@${PYTHON_DIGEST} AS build
# The torch of the package index brings the CUDA libraries; the driver comes from the machine, through the NVIDIA
# container toolkit.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH
WORKDIR /src
RUN python -m venv /opt/venv
# Pins first: this layer is built again only when they change. Everything but torch is pinned with its hashes, so pip
# resolves nothing; torch goes last, with what its own build asks for besides.
COPY requirements.in requirements.lock ./
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install --require-hashes --no-deps -r requirements.lock \
    && pip install "$(grep '^torch==' requirements.in)"
COPY pyproject.toml README.md LICENSE ./
COPY finray finray
COPY serve serve
RUN pip install --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm@${PYTHON_DIGEST}
# wget: KubeRay's probes of Ray pods; rsync: `ray up`; bubblewrap: contains the programs that a language model writes;
# tesseract-ocr: its data reads scanned pages.
# Login shells, which both use, start from the system's PATH.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap rsync tesseract-ocr wget \
    && rm -rf /var/lib/apt/lists/* \
    && echo 'export PATH=/opt/venv/bin:$PATH' > /etc/profile.d/finray.sh \
    && useradd --uid 1000 --create-home --shell /bin/bash ray
COPY --from=build /opt/venv /opt/venv
COPY jobs /opt/finray/jobs
ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 \
    RAY_USAGE_STATS_ENABLED=0 \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000
WORKDIR /opt/finray
# Ray's ports between pods; 8265 dashboard and jobs; 8000 the HTTP service.
EXPOSE 6379 8000 8265
HEALTHCHECK --interval=60s --timeout=20s --start-period=60s --retries=3 CMD ["ray", "health-check"]
CMD ["finray", "--help"]
