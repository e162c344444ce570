# Two stages: the first installs, the second carries no build tools and runs as a user without rights.
FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY requirements.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.lock

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 PORT=7860 STATE_DIR=/state \
    LOG_FORMAT=json GRADIO_ANALYTICS_ENABLED=False ALIBABA_CLOUD_ECS_METADATA_DISABLED=true
RUN useradd --system --create-home desk && install -d -o desk /state
WORKDIR /app
COPY --from=build /venv /venv
COPY --chown=root:root . .
USER desk
VOLUME /state
EXPOSE 7860
# A server of its own (CHROMA_URL) or the embedded one: the index is made or refreshed before the first question.
CMD ["sh", "-c", "python -m retrieval build; exec python app.py"]
HEALTHCHECK --interval=10s --timeout=3s --start-period=90s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
