# A process of Eunoe's cluster: `eunoe worker` and every other command. tikv-client has wheels for
# CPython 3.11 on x86-64 alone, so the image is of that.

FROM python:3.11-slim-bookworm AS build
ARG EXTRAS="cluster"
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
# Elsewhere the lock's marker would leave tikv-client out without a word.
RUN test "$(uname -m)" = x86_64 || { echo "Build with --platform linux/amd64." >&2; exit 1; }
COPY deploy/locked.py pyproject.toml requirements.lock ./
# Of the lock only what these extras need; every file by its hash. jieba has no wheel: it is built
# with the setuptools that the lock names, so that nothing is downloaded without a hash.
# hadolint ignore=DL3013,SC2086
RUN python locked.py pyproject.toml requirements.lock $EXTRAS > needed.lock \
    && awk '/^[^ #]/ { build = /^(packaging|setuptools)==/ } build' needed.lock > build-tools.lock \
    && python -m venv --without-pip /opt/eunoe \
    && pip --python /opt/eunoe/bin/python install --no-deps --require-hashes -r build-tools.lock \
    && pip --python /opt/eunoe/bin/python install --no-deps --require-hashes \
        --no-build-isolation --use-pep517 -r needed.lock
COPY LICENSE README.md ./
COPY agents agents
COPY infra infra
COPY schemas schemas
COPY streams streams
COPY src src
# The folders are links in src/eunoe: a build follows them. Bytecode is made now, since nothing can
# be written later.
RUN pip --python /opt/eunoe/bin/python install --no-deps --no-build-isolation . \
    && /opt/eunoe/bin/python -m compileall -q /opt/eunoe/lib

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin eunoe
COPY --from=build /opt/eunoe /opt/eunoe
COPY deploy/healthy.py /opt/eunoe/healthy.py
# The root file system may be read-only: what a library wants to write goes to /tmp.
ENV PATH=/opt/eunoe/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    EUNOE_METRICS_PORT=9464
WORKDIR /tmp
USER 10001:10001
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=4 \
    CMD ["python", "/opt/eunoe/healthy.py"]
ENTRYPOINT ["eunoe"]
CMD ["worker"]
