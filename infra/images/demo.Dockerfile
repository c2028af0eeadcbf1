# The demo for a browser: generates fictional filings, indexes them, answers questions, then serves the web page.
#   make image-demo      gives finray:0.1.0-demo, which is finray:0.1.0-cpu with another command
#   docker run --rm --init --shm-size 1g -p 127.0.0.1:8000:8000 finray:0.1.0-demo
# It prints a link with a key; what listens on 0.0.0.0 in the container is published on the loopback interface only.
ARG CPU_IMAGE=finray:0.1.0-cpu
FROM ${CPU_IMAGE}
WORKDIR /home/ray
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=300s --retries=3 \
    CMD ["wget", "--quiet", "--output-document=/dev/null", "http://127.0.0.1:8000/healthz"]
CMD ["finray", "demo", "--serve", "--host", "0.0.0.0", "--port", "8000"]
